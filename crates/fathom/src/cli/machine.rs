//! `fathom machine`: what this machine can do at most, and whether it is quiet enough.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use fathom_machine::{Fitness, Options, table};

use crate::cli::failure::Failure;
use crate::cli::{screen, write};

/// See the help texts.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 done, 1 --check found the machine unfit, 2 wrong arguments.")]
pub struct Arguments {
    /// Measure everything (15 to 30 s), not only the fingerprint (3 s)
    #[arg(long, conflicts_with = "check")]
    pub full: bool,

    /// Is it quiet and steady enough to measure on? What disturbs, what that does, what mends it
    #[arg(long)]
    pub check: bool,

    /// Say how each figure was measured
    #[arg(long, conflicts_with = "check")]
    pub methods: bool,

    /// Draw the curves
    #[arg(long, conflicts_with = "check")]
    pub curves: bool,

    /// Folder on the disk that is to be measured
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// Write everything as JSON; '-' is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Measures or checks, and prints. Returns the exit code.
///
/// # Errors
/// When a file can't be written.
pub fn run(arguments: &Arguments) -> Result<i32, Failure> {
    write::check(arguments.json.as_deref())?;
    let mut options = Options::default();
    if let Some(directory) = &arguments.directory {
        if !directory.is_dir() {
            return Err(Failure::Usage(format!(
                "--directory: {} is not a directory",
                directory.display()
            )));
        }
        options.directory.clone_from(directory);
    }
    if arguments.check {
        return check(arguments, &options);
    }
    let draws = screen::can_draw();
    let mut progress = |what: &str| {
        if draws {
            // A line that can't be drawn is no reason to stop.
            let _ = write!(std::io::stderr(), "\r{what} …\x1b[K");
        }
    };
    let results = match arguments.full {
        true => fathom_machine::full(&options, &mut progress),
        false => fathom_machine::quick(&options, &mut progress),
    };
    if draws {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    let detail = table::Detail {
        methods: arguments.methods,
        curves: arguments.curves,
    };
    finish(arguments, &results, &table::render(&results, detail))?;
    Ok(0)
}

fn check(arguments: &Arguments, options: &Options) -> Result<i32, Failure> {
    let report = fathom_machine::check(Duration::from_secs(1), &options.directory, None);
    finish(arguments, &report, &table::render_check(&report))?;
    Ok(i32::from(report.fitness == Fitness::Unfit))
}

fn finish(arguments: &Arguments, value: &impl serde::Serialize, text: &str) -> Result<(), Failure> {
    if let Some(path) = &arguments.json {
        let mut json = serde_json::to_vec_pretty(value).map_err(|error| Failure::Write {
            path: path.clone(),
            error: error.into(),
        })?;
        json.push(b'\n');
        write::export(path, json)?;
        if write::is_stdout(path) {
            return Ok(());
        }
    }
    write::print(text.as_bytes())
}
