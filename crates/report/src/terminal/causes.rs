//! Where the wall time went, and what went wrong.

use std::collections::BTreeMap;

use fathom_model::Exit;

use crate::line::{Page, Tone};
use crate::quantity::{counted, format_count, format_share};
use crate::session::Subject;

/// From this share of the wall time on, waiting for a CPU is worth a word.
const BUSY_FROM: f64 = 0.01;

/// Divides the wall time into running, waiting for a CPU and waiting for anything else.
///
/// The three are known exactly where undisturbed time is: for one thread without children. The sums
/// over all such runs are divided, so that the shares add up to the whole.
pub(super) fn where_time_went(page: &mut Page, subject: &Subject) {
    let known: Vec<_> = subject
        .runs
        .iter()
        .filter(|run| run.undisturbed_ns.is_some())
        .collect();
    let total = |of: &dyn Fn(&fathom_model::Run) -> u64| {
        known.iter().map(|run| of(run) as f64).sum::<f64>()
    };
    let wall = total(&|run| run.wall_ns);
    if wall <= 0.0 {
        return several_threads(page, subject);
    }
    let cpu = (total(&|run| run.cpu_ns) / wall).min(1.0);
    let wait =
        total(&|run| run.run_queue_wait_ns.unwrap_or(0) + run.harness_wait_ns.unwrap_or(0)) / wall;
    let wait = wait.min(1.0 - cpu);
    let other = (1.0 - cpu - wait).max(0.0);
    let text = format!(
        "{} on CPU, {} waiting for a CPU, {} other waits",
        format_share(cpu),
        format_share(wait),
        format_share(other)
    );
    page.field("time went", Tone::Plain, &text);
    if wait > BUSY_FROM {
        let text = format!(
            "the runs waited {} of their time for a CPU; undisturbed time leaves that out",
            format_share(wait)
        );
        page.field("busy machine", Tone::Notice, &text);
    }
}

/// Where waits can't be divided: how many CPUs were busy, and what the main thread waited.
fn several_threads(page: &mut Page, subject: &Subject) {
    let total = |of: &dyn Fn(&fathom_model::Run) -> u64| {
        subject.runs.iter().map(|run| of(run) as f64).sum::<f64>()
    };
    let wall = total(&|run| run.wall_ns);
    if wall <= 0.0 {
        return;
    }
    let busy = total(&|run| run.cpu_ns) / wall;
    let text = format!(
        "{busy:.2} CPUs busy on average; several threads or processes, so waits can't be told apart"
    );
    page.field("time went", Tone::Plain, &text);
    let wait = total(&|run| run.run_queue_wait_ns.unwrap_or(0)) / wall;
    if wait > BUSY_FROM {
        let text = format!(
            "the main thread waited {} of the time for a CPU",
            format_share(wait)
        );
        page.field("busy machine", Tone::Notice, &text);
    }
}

/// Runs that did not end with success, by the way they ended.
pub(super) fn failures(page: &mut Page, subject: &Subject) {
    let mut ways: BTreeMap<String, u64> = BTreeMap::new();
    for run in &subject.runs {
        let way = match run.exit {
            Exit::Code(0) => continue,
            Exit::Code(code) => format!("with status {code}"),
            Exit::Signal(signal) => format!("by signal {signal}"),
            Exit::TimedOut => "by the time-out".to_owned(),
        };
        *ways.entry(way).or_default() += 1;
    }
    let failed: u64 = ways.values().sum();
    if failed == 0 {
        return;
    }
    let list: Vec<String> = ways
        .iter()
        .map(|(way, count)| format!("{} ended {way}", format_count(*count as f64)))
        .collect();
    let all = counted(subject.runs.len() as u64, "run", "runs");
    page.field(
        "failures",
        Tone::Bad,
        &format!(
            "{} of {all}: {}",
            format_count(failed as f64),
            list.join(", ")
        ),
    );
}

/// Processes that the command left running.
pub(super) fn left_behind(page: &mut Page, subject: &Subject) {
    let processes: u64 = subject
        .runs
        .iter()
        .map(|run| u64::from(run.left_behind))
        .sum();
    if processes == 0 {
        return;
    }
    let runs = subject
        .runs
        .iter()
        .filter(|run| run.left_behind > 0)
        .count();
    let text = format!(
        "{} outlived the command in {} of {}: what they used is not counted",
        counted(processes, "process", "processes"),
        format_count(runs as f64),
        counted(subject.runs.len() as u64, "run", "runs")
    );
    page.field("left behind", Tone::Notice, &text);
}
