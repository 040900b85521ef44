//! `fathom pipe`: who waits for whom in a pipeline.

mod arguments;
mod conclude;
mod explaining;
mod keeping;
mod line;
mod progress;
mod stages;

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use arguments::Arguments;
use fathom_measure::pipeline::{self, HowMany, PipePlan, Staging, conduct};
use fathom_measure::{interrupt, now_rfc3339};
use fathom_model::{PipeRecord, StopReason};
use fathom_report as report;
use keeping::Keeper;
use progress::Progress;
use stages::Stages;

use crate::cli::failure::Failure;
use crate::cli::{apart, fingerprint, screen, write};

/// Enough for medians of short pipelines; what takes longer is run `FEWEST` times.
const PATIENCE: Duration = Duration::from_secs(5);
const FEWEST: u32 = 5;
const MOST: u32 = 30;
/// Most memory that staged inputs may take unless the user says more.
const MOST_STAGED: u64 = 1 << 30;

/// Measures, observes, prints. Returns the exit code.
///
/// # Errors
/// Everything that keeps a result from being printed.
pub fn run(arguments: &Arguments) -> Result<i32, Failure> {
    if arguments.rounds == Some(0) {
        return Err(Failure::Usage(
            "zero rounds measure nothing; give at least 1".into(),
        ));
    }
    let files = [&arguments.html, &arguments.json];
    let written = || files.into_iter().filter_map(|path| path.as_deref());
    write::check(written())?;
    let stages = stages::prepare(arguments)?;
    apart::check(&stages.commands, written())?;
    let plan = plan(arguments, &stages)?;
    let tier = explaining::tier(arguments)?;
    fingerprint::take();
    let begun = conclude::begun(&plan, stages, now_rfc3339());
    interrupt::catch();
    let json = arguments.json.as_deref();
    let mut keeper = Keeper::new(Progress::new(&plan), json, &begun)?;
    let session = conduct(&plan, &mut keeper);
    keeper.progress.clear();
    let session = session?;
    let explained = match session.stop {
        StopReason::Interrupted => explaining::Explained::none(),
        _ => explaining::explain(arguments, &plan, &session, tier, &mut keeper)?,
    };
    keeper.progress.clear();
    let interrupted = interrupt::received().is_some();
    let record = conclude::conclude(conclude::Parts {
        plan: &plan,
        record: begun,
        session,
        explained,
        interrupted,
    });
    show(arguments, &record)?;
    Ok(match record.stop {
        StopReason::Interrupted => 130,
        _ => 0,
    })
}

fn plan(arguments: &Arguments, stages: &Stages) -> Result<PipePlan, Failure> {
    if let Some(folder) = &arguments.keep_staged {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::Usage(format!("--keep-staged {}: {error}", folder.display()))
        })?;
    }
    Ok(PipePlan {
        names: stages
            .described
            .iter()
            .map(|stage| stage.name.clone())
            .collect(),
        delays: stages::delays(&arguments.delay, &stages.described)?,
        staging: (!arguments.no_stage).then(|| Staging {
            limit_bytes: arguments.stage_limit.unwrap_or_else(usual_limit),
            keep: arguments.keep_staged.clone(),
        }),
        rounds: match arguments.rounds {
            Some(count) => HowMany::Exactly(count),
            None => HowMany::Until {
                minimum: FEWEST,
                maximum: MOST,
                soft: PATIENCE,
            },
        },
        timeout: arguments.run_options.timeout,
        pin: arguments.run_options.pin.clone().unwrap_or_default(),
        show_output: arguments.run_options.show_output,
        seed: arguments.seed.unwrap_or_else(fresh_seed),
        ignore_failure: arguments.ignore_failure,
        prepare: stages.prepare.clone(),
        stages: stages.commands.clone(),
    })
}

/// A quarter of the memory that is free, at most 1 GiB.
fn usual_limit() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.map_or(MOST_STAGED / 4, |kib| (kib * 1024 / 4).min(MOST_STAGED))
}

fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(1, |time| time.as_nanos() as u64)
}

fn show(arguments: &Arguments, record: &PipeRecord) -> Result<(), Failure> {
    let json_to_stdout = arguments.json.as_deref().is_some_and(write::is_stdout);
    if !json_to_stdout {
        let options = report::PipeOptions {
            width: screen::stdout_width(),
            color: screen::stdout_has_colour(),
            unicode: screen::speaks_unicode(),
        };
        write::print(report::pipe_terminal(record, &options).as_bytes())?;
    }
    if let Some(path) = &arguments.json {
        let mut bytes = Vec::new();
        report::pipe_json(record, &mut bytes).map_err(|error| Failure::Write {
            path: path.clone(),
            error,
        })?;
        write::export(path, bytes)?;
    }
    if let Some(path) = &arguments.html {
        write::export(path, report::pipe_html(record))?;
        told(path);
    }
    Ok(())
}

fn told(path: &Path) {
    if !write::is_stdout(path) {
        anstream::eprintln!(
            "the chart is in {}",
            report::escape(&path.display().to_string())
        );
    }
}

/// Bytes that a pipe holds, asked once.
fn pipe_capacity() -> u64 {
    pipeline::capacity()
}
