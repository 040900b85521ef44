//! Answers which command is faster.

use fathom_model::quantity::counted;
use fathom_model::{BenchRecord, Metric, StopReason, Verdict};
use fathom_report::{bench_sentences, format_metric};
use serde::Serialize;

use super::{Answer, Interval, record, warned, warnings};
use crate::bounded::{bare_name, name, sentence, text};

/// The result of `bench`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Bench {
    /// The answer in one sentence, with the commands by their numbers from 1.
    answer: String,
    /// The recommended next step.
    next: Option<String>,
    /// The commands, as requested.
    commands: Vec<Command>,
    /// Each other command compared with the first.
    comparisons: Vec<Compared>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Command {
    command: String,
    runs: usize,
    /// Number of failed runs.
    failed: usize,
    /// The metric of the answer: `wall`, or `cpu_wait_free` if other programs competed for the CPUs.
    metric: String,
    /// `seconds`, `bytes` or `count`.
    unit: String,
    median: Interval,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Compared {
    /// Number of the command, from 1.
    command: usize,
    /// Number of the command that it is compared with, from 1.
    than: usize,
    metric: String,
    /// `faster`, `slower`, `same` (any difference is within the margin) or `undecided`. For metrics other
    /// than time, `faster` means less.
    verdict: String,
    /// Factor relative to the other command.
    ratio: Interval,
    /// The largest difference that counts as none, as a fraction.
    margin: f64,
}

/// Builds the answer from a record.
///
/// # Errors
/// If the bytes are not such a record.
pub(crate) fn bench(bytes: &[u8]) -> Result<Answer, String> {
    let record: BenchRecord = record(bytes)?;
    let outcome = record.outcome.as_ref().ok_or("nothing was measured")?;
    let first = outcome.comparisons.first();
    let metric = first.map_or_else(|| clock(&record), |comparison| comparison.metric);
    let commands: Vec<Command> = outcome
        .results
        .iter()
        .filter_map(|result| {
            let of_metric = |wanted| result.summaries.iter().find(|one| one.metric == wanted);
            let summary = of_metric(metric).or(of_metric(Metric::Wall))?;
            Some(Command {
                command: bare_name(&record.benchmarks.get(result.benchmark)?.command),
                runs: summary.runs,
                failed: result.failures,
                metric: summary.metric.name().to_owned(),
                unit: summary.metric.unit().name().to_owned(),
                median: (&summary.median).into(),
            })
        })
        .collect();
    let comparisons: Vec<Compared> = outcome
        .comparisons
        .iter()
        .map(|one| Compared {
            command: one.subject + 1,
            than: one.reference + 1,
            metric: one.metric.name().to_owned(),
            verdict: one.verdict.word().to_owned(),
            ratio: (&one.ratio).into(),
            margin: one.margin,
        })
        .collect();
    let mut lines: Vec<String> = bench_sentences(&record)
        .iter()
        .map(|one| sentence(one))
        .collect();
    if outcome.stop == StopReason::Interrupted {
        lines
            .push("The measurement was cut short: these are the runs up to that point.".to_owned());
    }
    let listed = commands.iter().enumerate().map(|(at, one)| {
        let failed = match one.failed {
            0 => String::new(),
            failed => format!(", {failed} failed"),
        };
        format!(
            "{}: {} takes {} ({} % interval {} to {}, {}{failed})",
            at + 1,
            name(&one.command),
            format_metric(metric, one.median.value),
            (100.0 * one.median.level).floor(),
            format_metric(metric, one.median.low),
            format_metric(metric, one.median.high),
            counted(one.runs as u64, "run", "runs"),
        )
    });
    lines.extend(listed);
    let answer = lines.first().cloned().unwrap_or_default();
    let warnings = warnings(outcome.warnings.iter().map(|one| one.message.as_str()));
    lines.extend(warned(&warnings));
    let next = next(&record);
    let text = text(&lines, next.as_deref().unwrap_or_default());
    Answer::new(
        text,
        &Bench {
            answer,
            next,
            commands,
            comparisons,
            warnings,
        },
    )
}

/// Returns the metric for a single command.
fn clock(record: &BenchRecord) -> Metric {
    record
        .conditions
        .metrics
        .first()
        .map_or(Metric::Wall, |asked| asked.metric)
}

fn next(record: &BenchRecord) -> Option<String> {
    let comparisons = &record.outcome.as_ref()?.comparisons;
    let is = |verdict| comparisons.iter().find(|one| one.verdict == verdict);
    if let Some(undecided) = is(Verdict::Undecided) {
        let more = undecided.more_rounds.map_or(String::new(), |more| {
            format!(" (about {} more rounds)", more.0)
        });
        return Some(format!(
            "run bench again with time_s 60 or more, which may give a verdict{more}"
        ));
    }
    let differs = is(Verdict::Slower).or(is(Verdict::Faster));
    match (differs, comparisons.is_empty()) {
        (Some(one), _) => {
            let (more, less) = match one.verdict {
                Verdict::Slower => (one.subject + 1, one.reference + 1),
                _ => (one.reference + 1, one.subject + 1),
            };
            Some(format!(
                "run why with command {more} as command and {less} as compared_with to see what takes longer"
            ))
        }
        (None, true) => Some("run why to see where its time goes".to_owned()),
        (None, false) => None,
    }
}
