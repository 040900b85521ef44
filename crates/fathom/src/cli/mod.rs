//! Parses, dispatches and prints, without measuring. There is one folder or file for each verb, and for what
//! they share.

mod bench;
mod bisect;
mod changes;
mod compare;
mod completions;
mod differs;
mod explain;
mod export;
mod failure;
mod fleet;
mod gate;
mod given_commands;
mod history;
mod import;
mod init;
mod last_run;
mod machine;
mod machine_changed;
mod man;
mod mcp;
mod mistakes;
mod options;
mod out;
mod panics;
mod parameters;
mod path_conflicts;
mod pipe;
mod quantities;
mod redacted;
mod report;
mod revision_progress;
mod rights;
mod run;
mod run_options;
mod saving;
mod screen;
mod serve;
mod setup;
mod startup;
mod status_line;
mod store;
mod suite_name;
mod target;
mod ui;
mod unused_input;
mod versions;
mod why;
mod write;

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::{Arg, Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use failure::Failure;

/// A performance laboratory for whole programs whose numbers are true, and which says why.
#[derive(Debug, Parser)]
#[command(name = "fathom", version, max_term_width = 100)]
#[command(after_help = "Examples:
  fathom bench 'gzip -k -c big.txt' 'zstd -c big.txt'
  fathom why -- ./my-program input.txt
  fathom pipe -- 'cat access.log | gzip -1 | wc -c'
  fathom startup --cold ./tool 'python3 tool.py'
  fathom versions v1.0..v2.0 --build 'make' -- ./my-program input.txt
  fathom serve -- node server.js {port}
  fathom machine --check
  fathom run --list
  fathom compare main HEAD
  fathom explain unbuffered-output

'fathom VERB --help' explains a verb, with examples of its own. Results go to standard output, progress and \
warnings to standard error.

Exit codes: 0 done, 1 a gate, claim or budget failed, 2 wrong arguments, 3 a measured command failed, \
4 the measurement can't be trusted, 130 interrupted.")]
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
    /// Run an experiment file: programs, inputs, claims, verdicts
    Run(Box<run::Arguments>),
    /// Time programs from exec to their first byte of output, warm and cold
    Startup(Box<startup::Arguments>),
    /// Measure servers: cold start, load, latency, and which side was the limit
    Serve(Box<serve::Arguments>),
    /// Account for a pipeline: who waits for whom, and which stage is the bottleneck
    Pipe(Box<pipe::Arguments>),
    /// Follow a command over the versions of a program
    Versions(Box<versions::Arguments>),
    /// Find the revision that changed the time of a command
    Bisect(Box<bisect::Arguments>),
    /// Measure what this machine can do at most, and whether it is quiet enough for measuring
    Machine(machine::Arguments),
    /// Make this folder a project: a suite to run, and a place for measurements
    Init(init::Arguments),
    /// Show measurements over time: values, changes, plots
    History(history::Arguments),
    /// Compare measurements made at different times
    Compare(compare::Arguments),
    /// Manage stored measurements: size, names, pruning, bundles
    Store(store::Arguments),
    /// Decide whether a suite of benchmarks is worse than before, so that merges can depend on it
    Gate(Box<gate::Arguments>),
    /// Find where series of measurements changed their level permanently
    Changes(changes::Arguments),
    /// Show measurements as a page or a site: values, changes, pictures
    Report(report::Arguments),
    /// Show the store in a browser, live
    Ui(ui::Arguments),
    /// Read results of other tools: Go, criterion, pytest-benchmark, JMH, hyperfine, k6 and more
    Import(import::Arguments),
    /// Write records in formats that other tools read: hyperfine, benchstat, Prometheus and more
    Export(export::Arguments),
    /// Show the state of jobs that were submitted with --on
    Jobs(fleet::Arguments),
    /// Show what the kernel tier of `why` needs on this machine, and how this program gets it
    Setup(setup::Arguments),
    /// Explain a word used in the output: a finding, a metric, a warning, a tier
    Explain(explain::Arguments),
    /// Serve an agent over standard input and output (Model Context Protocol)
    Mcp(mcp::Arguments),
    /// Print the script that a shell needs to complete options
    Completions(completions::Arguments),
    /// Write manual pages
    Man(man::Arguments),
}

/// Builds the command. Some verbs take a single command, so their help omits how options apply to several.
fn command() -> Command {
    const SEVERAL: &str = ". Once for all commands or once for each";
    let of_one = |arg: Arg| {
        let without = |text: &StyledStr| StyledStr::from(text.to_string().replace(SEVERAL, ""));
        let (short, long) = (
            arg.get_help().map(without),
            arg.get_long_help().map(without),
        );
        let arg = match short {
            Some(short) => arg.help(short),
            None => arg,
        };
        match long {
            Some(long) => arg.long_help(long),
            None => arg,
        }
    };
    let verbs = ["versions", "bisect"].into_iter();
    verbs.fold(Cli::command(), |command, name| {
        command.mut_subcommand(name, |verb| verb.mut_args(of_one))
    })
}

/// Parses the command line.
///
/// # Errors
/// Only errors that clap can't explain; it prints all others itself, and exits.
fn parse() -> Result<Cli, Failure> {
    let mut command = command();
    command.build();
    let arguments = run_options::with_named_shells(std::env::args_os());
    let parsed = command.try_get_matches_from_mut(&arguments);
    let parsed = parsed.and_then(|matches| Cli::from_arg_matches(&matches));
    let words: Vec<OsString> = arguments.iter().skip(1).cloned().collect();
    let mistake = match &parsed {
        Ok(_) => mistakes::swallowed(&command, &words),
        Err(error) => mistakes::explain(&command, error, &words),
    };
    match (mistake, parsed) {
        (Some(text), _) => Err(Failure::Usage(text)),
        (None, Ok(cli)) => Ok(cli),
        (None, Err(error)) => {
            out::of_clap(&error).map_err(write::to_stdout)?;
            std::process::exit(error.exit_code())
        }
    }
}

/// Executes the command line; returns the exit code.
pub(crate) fn run() -> i32 {
    panics::turn_into_errors();
    completions::answer(command);
    let outcome = parse().and_then(|mut cli| {
        fleet::within()?;
        let elsewhere = cli.verb.remote()?.map(fleet::elsewhere).transpose()?;
        match elsewhere.flatten() {
            Some(code) => Ok(code),
            None => cli.verb.run(),
        }
    });
    fathom_measure::end_what_hooks_left();
    unused_input::check();
    outcome.unwrap_or_else(|failure: Failure| failure.print())
}

/// Returns the gate arguments, if these words are a `gate` command line.
fn gate_of(arguments: &[String]) -> Option<gate::Arguments> {
    let words = std::iter::once("fathom").chain(arguments.iter().map(String::as_str));
    match Cli::try_parse_from(words).ok()?.verb {
        Verb::Gate(arguments) => Some(*arguments),
        _ => None,
    }
}

impl Verb {
    /// Returns what is needed to run the subcommand as a job, if it can be a job.
    fn remote(&mut self) -> Result<Option<fleet::Remote<'_>>, Failure> {
        macro_rules! remote {
            ($arguments:expr, $plan:expr, $parts:expr, [$($file:expr),*]) => {
                fleet::Remote {
                    plan: $plan,
                    parts: $parts,
                    on: &$arguments.on,
                    json: &mut $arguments.json,
                    files: vec![$(&mut $file),*],
                    saving: &$arguments.saving,
                }
            };
        }
        Ok(Some(match self {
            Verb::Bench(arguments) => remote!(
                arguments,
                arguments.plan.plan,
                Vec::new(),
                [
                    arguments.html,
                    arguments.export_json,
                    arguments.export_csv,
                    arguments.export_markdown,
                    arguments.export_asciidoc,
                    arguments.export_orgmode
                ]
            ),
            Verb::Run(arguments) => {
                let parts = run::parts(arguments)?;
                remote!(
                    arguments,
                    arguments.plan,
                    parts,
                    [arguments.html, arguments.export_markdown]
                )
            }
            Verb::Versions(arguments) => {
                let parts = versions::parts(arguments)?;
                remote!(arguments, arguments.plan.plan, parts, [])
            }
            Verb::Bisect(arguments) => remote!(arguments, arguments.plan.plan, Vec::new(), []),
            Verb::Gate(arguments) => {
                let parts = gate::parts(arguments)?;
                remote!(
                    arguments,
                    arguments.plan.plan,
                    parts,
                    [
                        arguments.forms.markdown,
                        arguments.forms.junit,
                        arguments.forms.github,
                        arguments.forms.gitlab
                    ]
                )
            }
            _ => return Ok(None),
        }))
    }

    /// Executes the subcommand here; returns the exit code.
    fn run(self) -> Result<i32, Failure> {
        match self {
            Verb::Bench(arguments) => bench::run(*arguments),
            Verb::Why(arguments) => why::run(*arguments),
            Verb::Run(arguments) => run::run(&arguments),
            Verb::Startup(arguments) => startup::run(*arguments),
            Verb::Serve(arguments) => serve::run(&arguments),
            Verb::Pipe(arguments) => pipe::run(&arguments),
            Verb::Versions(arguments) => versions::run(&arguments),
            Verb::Bisect(arguments) => bisect::run(&arguments),
            Verb::Machine(arguments) => machine::run(&arguments),
            Verb::Init(arguments) => init::run(&arguments),
            Verb::History(arguments) => history::run(&arguments),
            Verb::Compare(arguments) => compare::run(&arguments),
            Verb::Store(arguments) => store::run(&arguments),
            Verb::Gate(arguments) => gate::run(*arguments),
            Verb::Changes(arguments) => changes::run(arguments),
            Verb::Report(arguments) => report::run(&arguments),
            Verb::Ui(arguments) => ui::run(arguments),
            Verb::Import(arguments) => import::run(&arguments),
            Verb::Export(arguments) => export::run(&arguments),
            Verb::Jobs(arguments) => fleet::run(&arguments),
            Verb::Setup(arguments) => setup::run(&arguments),
            Verb::Explain(arguments) => explain::run(&arguments),
            Verb::Mcp(arguments) => mcp::run(&arguments),
            Verb::Completions(arguments) => completions::run(&arguments),
            Verb::Man(arguments) => man::run(&arguments, command()),
        }
    }
}
