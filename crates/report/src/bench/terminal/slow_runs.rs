//! Slow runs and their causes. No run is dropped.

use fathom_model::Run;

use super::causes::Fact;
use crate::TimeUnit;
use crate::distribution::{quantile, slow_fence, sorted};
use crate::line::Tone;
use crate::quantity::{counted, decimals_for, format_count, format_time};
use crate::session::Subject;
use crate::text::JOIN;

/// What distinguishes a slow run from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Throttled,
    WaitedForCpu,
    Steal,
    MajorFaults,
    InvoluntarySwitches,
    Unexplained,
}

impl Cause {
    const ALL: [Cause; 6] = [
        Cause::Throttled,
        Cause::WaitedForCpu,
        Cause::Steal,
        Cause::MajorFaults,
        Cause::InvoluntarySwitches,
        Cause::Unexplained,
    ];

    fn words(self) -> &'static str {
        match self {
            Cause::Throttled => "throttled",
            Cause::WaitedForCpu => "waited for a CPU",
            Cause::Steal => "CPU steal",
            Cause::MajorFaults => "read pages from storage",
            Cause::InvoluntarySwitches => "preempted more often",
            Cause::Unexplained => "unexplained",
        }
    }
}

/// The usual values of a benchmark's runs.
struct Usual {
    wall_ns: f64,
    throttled_ns: f64,
    wait_ns: f64,
    major_faults: f64,
    /// The maximum number of involuntary switches of a normal run.
    most_switches: f64,
}

impl Usual {
    fn of(runs: &[&Run]) -> Usual {
        let sample = |of: &dyn Fn(&Run) -> f64| sorted(runs.iter().map(|run| of(run)).collect());
        let median = |of: &dyn Fn(&Run) -> f64| quantile(&sample(of), 0.5);
        let switches = sample(&|run| run.involuntary_switches as f64);
        Usual {
            wall_ns: median(&|run| run.wall_ns as f64),
            throttled_ns: median(&throttled_ns),
            wait_ns: median(&wait_ns),
            major_faults: median(&|run| run.major_faults as f64),
            most_switches: slow_fence(&switches).unwrap_or(f64::INFINITY),
        }
    }

    /// Returns the first cause that explains the run's excess. A time must make up at least half of the
    /// excess. The two counts have no time of their own, so they must be unusual, and they are checked last.
    /// The kernel also counts throttled time as waiting for a CPU, so throttling is checked first.
    fn cause_of(&self, run: &Run) -> Cause {
        let half = (run.wall_ns as f64 - self.wall_ns) / 2.0;
        if throttled_ns(run) - self.throttled_ns >= half {
            Cause::Throttled
        } else if wait_ns(run) - self.wait_ns >= half {
            Cause::WaitedForCpu
        } else if run.steal_ns.unwrap_or(0) as f64 >= half {
            Cause::Steal
        } else if run.major_faults as f64 > self.major_faults {
            Cause::MajorFaults
        } else if run.involuntary_switches as f64 > self.most_switches {
            Cause::InvoluntarySwitches
        } else {
            Cause::Unexplained
        }
    }
}

fn throttled_ns(run: &Run) -> f64 {
    run.throttled_ns.unwrap_or(0) as f64
}

fn wait_ns(run: &Run) -> f64 {
    run.run_queue_wait_ns.unwrap_or(0) as f64 + run.harness_wait_ns.unwrap_or(0) as f64
}

/// Describes how many runs are above the fence of `times` (ascending, seconds), and why.
pub(crate) fn fact(subject: &Subject, times: &[f64], unit: Option<TimeUnit>) -> Option<Fact> {
    let fence = slow_fence(times)?;
    let slow: Vec<&Run> = subject
        .runs
        .iter()
        .copied()
        .filter(|run| run.wall_ns as f64 / 1e9 > fence)
        .collect();
    if slow.is_empty() {
        return None;
    }
    let usual = Usual::of(&subject.runs);
    let causes: Vec<Cause> = slow.iter().map(|run| usual.cause_of(run)).collect();
    let list = listed(&causes);
    let unit = unit.unwrap_or_else(|| TimeUnit::fitting(fence));
    let above = format_time(fence, Some(unit), decimals_for(fence / unit.seconds(), 3))
        .replace(' ', &JOIN.to_string());
    let all = counted(subject.runs.len() as u64, "run", "runs");
    let tone = if causes.contains(&Cause::Unexplained) {
        Tone::Notice
    } else {
        Tone::Plain
    };
    let slow = format_count(slow.len() as f64);
    let text = format!("{slow} of {all} took over {above}: {list}");
    Some(("slow runs", tone, text))
}

/// Lists each cause with its number of runs; a single cause needs no number.
fn listed(causes: &[Cause]) -> String {
    let counts = Cause::ALL.map(|cause| {
        (
            cause,
            causes.iter().filter(|found| **found == cause).count(),
        )
    });
    let present: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
    match present[..] {
        [(cause, 1)] => cause.words().to_owned(),
        [(cause, _)] => format!("all{JOIN}{}", cause.words()),
        _ => {
            let parts = present.iter().map(|(cause, count)| {
                format!("{}{JOIN}{}", format_count(*count as f64), cause.words())
            });
            parts.collect::<Vec<_>>().join(", ")
        }
    }
}
