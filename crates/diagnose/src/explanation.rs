//! The whole answer of `why`: what was timed and observed of a command, as one record.

use fathom_model::{
    Environment, Estimate, Exit, Explaining, Explanation, Metric, ObservedProcess, Run,
    SCHEMA_VERSION, TimedRuns,
};
use fathom_trace::{End, Losses, Tier, Trace};

use crate::observation::Observation;
use crate::thresholds as t;
use crate::{diagnose, phases, process_rows, timeline};

/// More than a picture can show; the page merges what is shorter than a pixel.
const TIMELINE_STRETCHES: usize = 50_000;

/// What is known of the command beside what was observed.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The command as it was given.
    pub command: String,
    /// Its arguments, program first.
    pub arguments: Vec<String>,
    /// When timing began, RFC 3339, UTC.
    pub started_at: String,
    /// Where.
    pub environment: Environment,
    /// Median wall time of the empty program in seconds.
    pub floor: Option<Estimate>,
}

/// Explains what was observed. Pure: the same observation has the same explanation.
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

/// The runs in a few numbers. `floor`: median wall time of the empty program in seconds.
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

/// Of no run at all.
const NOTHING: Estimate = Estimate {
    value: 0.0,
    low: 0.0,
    high: 0.0,
    level: 0.0,
};

/// Whether times are quoted that were observed at this slow-down (observed time by timed time), as
/// it is shown: with two digits. Beyond that they are only quoted as modelled.
pub fn is_quotable(slowdown: f64) -> bool {
    (slowdown * 100.0).round() <= t::MOST_LIKE_UNTRACED * 100.0
}

/// How much longer the observed run took than the median of the timed ones, waiting for a CPU
/// included in both: what a reader gets who divides the two.
fn slowdown(timed: &TimedRuns, trace: &Trace) -> f64 {
    match timed.wall.value {
        timed if timed > 0.0 => trace.duration_ns as f64 / 1e9 / timed,
        _ => 1.0,
    }
}

/// How the timed runs ended, if not all of them ended well; else how the observed one did.
fn end_of(runs: &[Run], trace: &Trace) -> String {
    let bad: Vec<&Run> = runs.iter().filter(|run| !run.exit.is_success()).collect();
    let Some(first) = bad.first() else {
        return match end_in_words(&trace.end) {
            how if how.is_empty() || trace.attached.is_some() => how,
            how => format!("{how} in the explaining run"),
        };
    };
    let how = match first.exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
        Exit::TimedOut => "ended by --timeout".to_string(),
    };
    format!("{how} in {} of {} runs", bad.len(), runs.len())
}

/// How an observed run ended; empty if well.
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

/// What was lost, in words.
fn losses(lost: &Losses) -> Vec<String> {
    lost_in_words([
        (
            lost.calls,
            "calls were lost because the table of calls was full",
        ),
        (lost.off_cpu, "waits found their table full"),
        (
            lost.records,
            "opens, forks, execs or exits found the ring full",
        ),
        (lost.threads, "threads could not be followed"),
        (lost.names, "file names are not kept"),
        (lost.intervals, "waits are not in the timeline"),
    ])
}

/// A sentence for each kind of which anything was lost.
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
