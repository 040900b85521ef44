//! The whole result of `why` as one record: the timing, observation and diagnosis of a command.

use fathom_model::{
    Environment, Estimate, Exit, Explaining, Explanation, Metric, ObservedProcess, Run,
    SCHEMA_VERSION, TimedRuns,
};
use fathom_trace::{End, Losses, Tier, Trace};

use crate::observation::Observation;
use crate::thresholds as t;
use crate::{diagnose, phases, process_rows, timeline};

/// The maximum number of intervals in the timeline, which is more than a chart can show; the page merges
/// intervals that are shorter than a pixel.
const TIMELINE_STRETCHES: usize = 50_000;

/// Facts about the command other than the observation.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The command as given.
    pub command: String,
    /// The command's arguments, starting with the program.
    pub arguments: Vec<String>,
    /// The time at which timing began, as RFC 3339 in UTC.
    pub started_at: String,
    /// The environment.
    pub environment: Environment,
    /// The median wall time of the empty program in seconds.
    pub floor: Option<Estimate>,
}

/// Explains an observation. This function is pure: the same observation gives the same explanation.
pub fn explanation(subject: Subject, observation: &Observation) -> Explanation {
    let trace = &observation.trace;
    let diagnosis = diagnose(observation);
    let timed = timed_runs(&observation.timed, subject.floor);
    let slowdown = slowdown(&timed, trace);
    Explanation {
        schema_version: SCHEMA_VERSION,
        kind: "why".to_string(),
        fathom_version: env!("CARGO_PKG_VERSION").to_string(),
        started_at: subject.started_at,
        environment: subject.environment,
        command: subject.command,
        arguments: subject.arguments,
        process: trace.attached.as_ref().map(|attached| ObservedProcess {
            pid: attached.pid,
            name: attached.name.clone(),
            ended: attached.ended,
            listens: !attached.listening.is_empty(),
        }),
        end: end_of(&observation.timed, trace),
        timed,
        explaining: Explaining {
            tier: trace.tier.map_or("none", Tier::name).to_string(),
            wall_ns: trace.duration_ns,
            slowdown,
            times_are_quoted: is_quotable(slowdown),
            added: None,
            names_by: None,
            not_visible: trace.not_visible.clone(),
            lost: losses(&trace.lost),
        },
        account: diagnosis.account,
        whereabouts: diagnosis.whereabouts,
        paths: diagnosis.paths,
        threads: diagnosis.threads,
        io: diagnosis.io,
        calls: diagnosis.calls,
        own_code: diagnosis.own_code,
        processes: process_rows(trace),
        phases: phases(trace),
        findings: diagnosis.findings,
        timeline: timeline(trace, TIMELINE_STRETCHES),
        warnings: diagnosis.warnings,
    }
}

/// Summarizes the runs. `floor` is the median wall time of the empty program in seconds.
pub fn timed_runs(runs: &[Run], floor: Option<Estimate>) -> TimedRuns {
    let summary = |metric: Metric| {
        let values: Vec<f64> = runs.iter().filter_map(|run| metric.of(run)).collect();
        fathom_stats::median_interval(&values, 0.95).unwrap_or(NOTHING)
    };
    TimedRuns {
        runs: runs.len(),
        wall: summary(Metric::Wall),
        cpu: summary(Metric::Cpu),
        peak_memory: summary(Metric::PeakMemory),
        floor,
    }
}

/// The summary of zero runs.
const NOTHING: Estimate = Estimate {
    value: 0.0,
    low: 0.0,
    high: 0.0,
    level: 0.0,
};

/// Reports whether observed times are quoted at this slowdown, which is the observed time divided by the
/// timed time, with two digits, as shown. At larger slowdowns, only modelled times are quoted.
pub fn is_quotable(slowdown: f64) -> bool {
    (slowdown * 100.0).round() <= t::MOST_LIKE_UNTRACED * 100.0
}

/// Returns how many times as long the observed run took as the median of the timed ones. Waits for a CPU are
/// included in both, so this is the quotient that a reader would compute.
fn slowdown(timed: &TimedRuns, trace: &Trace) -> f64 {
    match timed.wall.value {
        timed if timed > 0.0 => trace.duration_ns as f64 / 1e9 / timed,
        _ => 1.0,
    }
}

/// Describes how the timed runs ended, if any of them failed; otherwise describes how the observed run ended.
fn end_of(runs: &[Run], trace: &Trace) -> String {
    let bad: Vec<&Run> = runs.iter().filter(|run| !run.exit.is_success()).collect();
    let Some(first) = bad.first() else {
        return match end_in_words(&trace.end) {
            how if how.is_empty() || trace.attached.is_some() => how,
            how => format!("{how} in the observed run"),
        };
    };
    let how = match first.exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
        Exit::TimedOut => "ended by --timeout".to_string(),
    };
    format!("{how} in {} of {} runs", bad.len(), runs.len())
}

/// Describes how an observed run ended; empty if it succeeded.
pub fn end_in_words(end: &End) -> String {
    match end {
        End {
            cut_short: true, ..
        } => "ended by --timeout".to_owned(),
        End {
            signal: Some(signal),
            ..
        } => format!("signal {signal}"),
        End {
            code: Some(code), ..
        } if *code != 0 => format!("exit code {code}"),
        _ => String::new(),
    }
}

/// Describes what was lost.
fn losses(lost: &Losses) -> Vec<String> {
    lost_in_words([
        (
            lost.calls,
            "calls were lost because the table of calls was full",
        ),
        (lost.off_cpu, "waits were lost because their table was full"),
        (
            lost.records,
            "opens, forks, execs or exits were lost because the ring was full",
        ),
        (lost.threads, "threads could not be followed"),
        (lost.names, "file names were not kept"),
        (lost.intervals, "waits are not in the timeline"),
    ])
}

/// Returns a sentence for each kind that has losses.
pub(crate) fn lost_in_words<const N: usize>(kinds: [(u64, &str); N]) -> Vec<String> {
    kinds
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_as_the_limit_is_within_it() {
        assert!(is_quotable(0.9));
        assert!(is_quotable(1.1049));
        assert!(!is_quotable(1.1051));
    }
}
