//! Parsing and calling, no measuring: one folder or file per verb, and what verbs share.

mod bench;
mod command_words;
mod failure;
mod machine;
mod parameters;
mod pipe;
mod quantities;
mod run_options;
mod screen;
mod target;
mod why;
mod write;

use clap::{Parser, Subcommand};
use failure::Failure;

/// A performance laboratory for whole programs whose numbers are true, and which says why.
#[derive(Debug, Parser)]
#[command(name = "fathom", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Time commands and compare them
    Bench(Box<bench::Arguments>),
    /// Account for a program's time and name the cause of what is slow
    Why(Box<why::Arguments>),
    /// Account for a pipeline: who waits for whom, and which stage is the bottleneck
    Pipe(Box<pipe::Arguments>),
    /// What this machine can do at most, and whether it is quiet enough to measure on
    Machine(machine::Arguments),
}

/// Does what the command line asks for; returns the exit code.
pub fn run() -> i32 {
    let cli = Cli::parse();
    let outcome = match cli.verb {
        Verb::Bench(arguments) => bench::run(*arguments),
        Verb::Why(arguments) => why::run(*arguments),
        Verb::Pipe(arguments) => pipe::run(&arguments),
        Verb::Machine(arguments) => machine::run(&arguments),
    };
    outcome.unwrap_or_else(|failure: Failure| failure.tell())
}
