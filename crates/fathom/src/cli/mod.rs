//! Parsing and calling, no measuring: one folder or file per verb, and what verbs share.

mod bench;
mod command_words;
mod failure;
mod parameters;
mod quantities;
mod run_options;

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
}

/// Does what the command line asks for; returns the exit code.
pub fn run() -> i32 {
    let cli = Cli::parse();
    let outcome = match cli.verb {
        Verb::Bench(arguments) => bench::run(*arguments),
    };
    outcome.unwrap_or_else(|failure: Failure| failure.tell())
}
