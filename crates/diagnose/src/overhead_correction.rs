//! Derives where the time of an untraced run goes from the account of a traced run.
//!
//! Tracing makes calls and computing take longer, but not sleeps, timers or waits for something outside the
//! tree. Therefore those waits stay as they were traced, the tracer's own work is subtracted, and CPU time is
//! scaled to that of the untraced runs. The remainder of their wall time is assigned, in this order, to:
//!
//! - waiting for a CPU, as far as the kernel counted it; this includes the time taken by the CPU limit of
//!   their control group;
//! - CPU time that the kernel charged to the runs and that is not in any part yet, because too much was
//!   attributed to the tracer;
//! - waits for something outside, as far as no process of the tree can have been on a CPU: if the other side
//!   sets the pace, a faster run waits longer for it;
//! - unaccounted time, which is at least as much as the tracer left.

use std::collections::HashMap;

use fathom_model::{TimeAccount, TimeCategory};

use crate::cpu_split::CpuSplit;
use crate::sums::Sums;

/// What is known about the untraced runs and the tracer, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// Median wall time.
    pub wall_ns: f64,
    /// The untraced runs' CPU time divided by the traced run's, without the tracer's work.
    pub cpu_factor: f64,
    /// Additional factors for the program's own part and for the kernel's part.
    pub parts: CpuSplit,
    /// Time that the tracer added to the calls on the critical path.
    pub tracing_ns: f64,
    /// Time that the tracer added to the page faults on the critical path; it is included in their times.
    pub tracing_faults_ns: f64,
    /// Fraction of the traced run's waits for a CPU that the tracer caused, 0 to 1.
    pub held_back: f64,
    /// How long one thread of the untraced runs waited for a CPU; 0 if unknown.
    pub queued_ns: f64,
    /// How long the CPU limit of their control group stopped the untraced runs; 0 without a limit.
    pub throttled_ns: f64,
    /// The CPU time of all processes of an untraced run.
    pub cpu_ns: f64,
    /// The fraction of `cpu_ns` that is on the critical path, 0 to 1, assuming that it is the same as in the
    /// traced run.
    pub on_path: f64,
}

/// Returns whether tracing leaves the length of these waits unchanged, because they are for something outside
/// the tree.
fn keeps_its_length(spent: TimeCategory) -> bool {
    matches!(
        spent,
        TimeCategory::Sleeping
            | TimeCategory::Network
            | TimeCategory::WaitingForInput
            | TimeCategory::WaitingForOutput
            | TimeCategory::WaitingForChild
            | TimeCategory::WaitingForEvents
            | TimeCategory::Signals
            | TimeCategory::OtherWait
    )
}

/// How much longer waits for others may be in the timed runs, as a fraction. For the disk of a virtual
/// machine, it was 5 to 20 % in most hours, and 46 % while neighbours used the disk.
const PACE_SCATTER: f64 = 0.5;

/// Returns whether the length of these waits depends on something outside the tree and may therefore differ
/// from run to run.
fn is_paced_outside(spent: TimeCategory) -> bool {
    matches!(
        spent,
        TimeCategory::Network
            | TimeCategory::Disk
            | TimeCategory::WaitingForInput
            | TimeCategory::WaitingForOutput
            | TimeCategory::WaitingForEvents
            | TimeCategory::OtherWait
    )
}

/// Returns the account if only calls are traced. It consists of what the kernel charged to the untraced runs
/// and of how long it stopped them because of their group's limit; their other waits are unknown.
pub(crate) fn charged(known: Known, in_kernel: f64) -> TimeAccount {
    let wall_ns = known.wall_ns;
    let busy_ns = known.cpu_ns.min(wall_ns);
    let mut sums = Sums::default();
    let throttled = known.throttled_ns.min(wall_ns - busy_ns);
    sums.add(TimeCategory::Throttled, throttled);
    sums.add(TimeCategory::UserCode, busy_ns * (1.0 - in_kernel));
    sums.add(TimeCategory::Kernel, busy_ns * in_kernel);
    sums.into_account(wall_ns.round() as u64)
}

pub(crate) fn takes_cpu(spent: TimeCategory) -> bool {
    spent == TimeCategory::UserCode || spent.is_in_kernel()
}

/// Returns the sum of an account's parts that are time on a CPU.
pub(crate) fn on_cpu_ns(account: &TimeAccount) -> f64 {
    let parts = account.parts.iter();
    let on_cpu = parts.filter(|part| takes_cpu(part.spent));
    on_cpu.map(|part| part.ns).sum::<u64>() as f64
}

/// Returns the account of an untraced run, and the factor that scales each part of the traced account to it.
pub(crate) fn account(
    traced: &TimeAccount,
    known: Known,
) -> (TimeAccount, HashMap<TimeCategory, f64>) {
    let mut room = known.wall_ns;
    let mut sums = Sums::default();
    let ns = |spent: TimeCategory| traced.ns(spent) as f64;
    let of = |wanted: &dyn Fn(TimeCategory) -> bool| -> Vec<(TimeCategory, f64)> {
        let parts = traced.parts.iter().filter(|part| wanted(part.spent));
        parts.map(|part| (part.spent, part.ns as f64)).collect()
    };
    // The tracer's work outside the times of calls looks as if the program itself had computed. Only the
    // excess over the program's computing was in the calls.
    let in_kernel: f64 = of(&TimeCategory::is_in_kernel)
        .iter()
        .map(|part| part.1)
        .sum();
    let too_much = (known.tracing_ns - ns(TimeCategory::UserCode)).clamp(0.0, in_kernel);
    let kernel_factor =
        known.cpu_factor * known.parts.kernel * (1.0 - too_much / in_kernel.max(1.0));
    let own_factor = known.cpu_factor * known.parts.own;
    let cpu = |(spent, ns): (TimeCategory, f64)| match spent {
        TimeCategory::UserCode => (spent, (ns - known.tracing_ns).max(0.0) * own_factor),
        TimeCategory::PageFaults => (
            spent,
            (ns - known.tracing_faults_ns).max(0.0) * kernel_factor,
        ),
        _ => (spent, ns * kernel_factor),
    };
    let bends = |spent: TimeCategory| {
        let fills = matches!(spent, TimeCategory::Ready | TimeCategory::Unaccounted);
        !keeps_its_length(spent) && !takes_cpu(spent) && !fills
    };
    // CPU time is what the kernel charged. The length of waits for locks and disks depends on what else was
    // using them.
    let on_cpu: Vec<(TimeCategory, f64)> = of(&takes_cpu).into_iter().map(cpu).collect();
    for parts in [of(&keeps_its_length), on_cpu, of(&bends)] {
        let total: f64 = parts.iter().map(|(_, ns)| ns).sum();
        let fit = (room / total.max(1.0)).min(1.0);
        for (spent, ns) in parts {
            sums.add(spent, ns * fit);
        }
        room -= total * fit;
    }
    // This is never more than was measured in either kind of run.
    let queued = known.queued_ns.max(known.throttled_ns);
    let traced_ready = ns(TimeCategory::Ready) * (1.0 - known.held_back);
    let ready = traced_ready.max(queued).min(room);
    let throttled = known.throttled_ns.min(ready);
    sums.add(TimeCategory::Throttled, throttled);
    sums.add(TimeCategory::Ready, ready - throttled);
    room -= ready + ns(TimeCategory::Unaccounted);
    let traced_cpu: f64 = of(&takes_cpu).iter().map(|part| part.1).sum();
    // If the observed run used more CPU time, for example because threads spun longer in search of work, the
    // excess may have been off the critical path.
    let on_path = match known.cpu_factor < 1.0 {
        true => known
            .on_path
            .max(traced_cpu / known.cpu_ns.max(1.0))
            .min(1.0),
        false => known.on_path,
    };
    let most = (traced_cpu * known.cpu_factor.max(1.0)).min(known.cpu_ns * on_path);
    room -= sums.lengthen(takes_cpu, room.min(most - sums.of(takes_cpu)));
    // For at least this long, no process of the tree was on a CPU. The run waited for others longer by as
    // much as it was quicker, and somewhat more, because the pace of others differs between runs.
    let waited = known.wall_ns - known.cpu_ns - ready;
    let wants_cpu = |spent| matches!(spent, TimeCategory::Ready | TimeCategory::Throttled);
    let reported = sums.of(|spent| !takes_cpu(spent) && !wants_cpu(spent));
    let quicker = traced_cpu - sums.of(takes_cpu);
    let longer = quicker.max(PACE_SCATTER * sums.of(is_paced_outside));
    sums.lengthen(is_paced_outside, room.min(waited - reported).min(longer));
    let factors = traced.parts.iter().map(|part| {
        let factor = sums.get(part.spent) / (part.ns as f64).max(1.0);
        (part.spent, factor)
    });
    let factors = factors.collect();
    (sums.into_account(known.wall_ns.round() as u64), factors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::AccountPart;

    fn traced(parts: &[(TimeCategory, u64)]) -> TimeAccount {
        TimeAccount {
            wall_ns: parts.iter().map(|part| part.1).sum(),
            parts: parts
                .iter()
                .map(|&(spent, ns)| AccountPart { spent, ns })
                .collect(),
        }
    }

    fn known(wall_ns: f64) -> Known {
        Known {
            wall_ns,
            cpu_factor: 1.0,
            parts: CpuSplit {
                own: 1.0,
                kernel: 1.0,
            },
            tracing_ns: 0.0,
            tracing_faults_ns: 0.0,
            held_back: 0.0,
            queued_ns: 0.0,
            throttled_ns: 0.0,
            cpu_ns: 0.0,
            on_path: 1.0,
        }
    }

    #[test]
    fn what_the_observed_run_burnt_beside_the_path_is_not_missing_on_it() {
        let traced_cpu = traced(&[(TimeCategory::UserCode, 320), (TimeCategory::Ready, 0)]);
        let known = Known {
            cpu_factor: 0.67,
            cpu_ns: 384.0,
            on_path: 0.57,
            ..known(318.0)
        };
        let (account, _) = account(&traced_cpu, known);
        assert_eq!(account.ns(TimeCategory::UserCode), 318);
        // With a single thread, the only known figure is the time that it was charged.
        let alone = Known {
            cpu_ns: 214.0,
            on_path: 1.0,
            ..known
        };
        let (account, _) = super::account(&traced_cpu, alone);
        assert_eq!(account.ns(TimeCategory::UserCode), 214);
    }

    #[test]
    fn a_sleep_keeps_its_length_and_computing_gives_way() {
        let traced = traced(&[
            (TimeCategory::Sleeping, 80_140),
            (TimeCategory::UserCode, 100_000),
        ]);
        let (account, _) = account(&traced, known(150_000.0));
        assert_eq!(account.ns(TimeCategory::Sleeping), 80_140);
        assert_eq!(account.ns(TimeCategory::UserCode), 69_860);
        assert_eq!(account.wall_ns, 150_000);
    }

    #[test]
    fn what_the_tracer_held_back_is_no_wait_of_the_programs() {
        let traced = traced(&[(TimeCategory::UserCode, 100), (TimeCategory::Ready, 400)]);
        let with = Known {
            held_back: 0.75,
            ..known(300.0)
        };
        let (account, _) = account(&traced, with);
        assert_eq!(account.ns(TimeCategory::Ready), 100);
        assert_eq!(account.ns(TimeCategory::Unaccounted), 100);
    }

    #[test]
    fn what_the_tracer_did_is_not_the_programs_own_code() {
        let traced = traced(&[(TimeCategory::UserCode, 900), (TimeCategory::KernelIo, 500)]);
        let with = Known {
            tracing_ns: 700.0,
            ..known(700.0)
        };
        let (account, _) = account(&traced, with);
        assert_eq!(account.ns(TimeCategory::UserCode), 200);
        assert_eq!(account.ns(TimeCategory::KernelIo), 500);
    }

    #[test]
    fn what_the_tracer_did_in_calls_is_not_the_calls_own() {
        let traced = traced(&[(TimeCategory::UserCode, 100), (TimeCategory::KernelIo, 500)]);
        let with = Known {
            tracing_ns: 350.0,
            ..known(250.0)
        };
        let (account, factors) = account(&traced, with);
        assert_eq!(account.ns(TimeCategory::KernelIo), 250);
        assert_eq!(factors[&TimeCategory::KernelIo], 0.5);
    }

    #[test]
    fn a_run_that_was_quicker_than_the_others_explains_no_more_than_it_saw() {
        let traced = traced(&[(TimeCategory::UserCode, 70)]);
        let with = Known {
            queued_ns: 50.0,
            cpu_ns: 90.0,
            ..known(160.0)
        };
        let (account, _) = account(&traced, with);
        assert_eq!(account.ns(TimeCategory::UserCode), 70);
        assert_eq!(account.ns(TimeCategory::Ready), 50);
        assert_eq!(account.ns(TimeCategory::Unaccounted), 40);
    }

    #[test]
    fn no_more_is_taken_for_the_tracers_than_the_kernel_charged_too_much() {
        let traced = traced(&[(TimeCategory::UserCode, 10), (TimeCategory::KernelIo, 500)]);
        let with = Known {
            tracing_ns: 300.0,
            cpu_ns: 390.0,
            ..known(400.0)
        };
        let (account, factors) = account(&traced, with);
        assert_eq!(account.ns(TimeCategory::KernelIo), 390);
        assert_eq!(factors[&TimeCategory::KernelIo], 0.78);
        assert_eq!(account.ns(TimeCategory::Unaccounted), 10);
    }

    #[test]
    fn who_is_quicker_waits_longer_for_a_slow_writer() {
        let traced = traced(&[
            (TimeCategory::WaitingForInput, 600),
            (TimeCategory::UserCode, 400),
        ]);
        let with = Known {
            tracing_ns: 300.0,
            cpu_ns: 100.0,
            ..known(1000.0)
        };
        let (account, _) = account(&traced, with);
        assert_eq!(account.ns(TimeCategory::WaitingForInput), 900);
        assert_eq!(account.ns(TimeCategory::UserCode), 100);
        // If the run isn't quicker, the time is unaccounted, except for half of the waits for others.
        let slow = Known {
            tracing_ns: 0.0,
            cpu_ns: 400.0,
            ..known(1400.0)
        };
        assert_eq!(
            self::account(&traced, slow).0.ns(TimeCategory::Unaccounted),
            100
        );
        // The same applies if other processes of the tree may have been on a CPU meanwhile.
        let (account, _) = self::account(
            &traced,
            Known {
                cpu_ns: 300.0,
                cpu_factor: 0.25,
                tracing_ns: 0.0,
                ..with
            },
        );
        assert_eq!(account.ns(TimeCategory::WaitingForInput), 700);
        assert_eq!(account.ns(TimeCategory::UserCode), 300);
    }

    #[test]
    fn what_the_groups_limit_took_is_no_wait_for_others() {
        let traced = traced(&[(TimeCategory::UserCode, 400), (TimeCategory::Ready, 500)]);
        let limited = Known {
            throttled_ns: 450.0,
            cpu_ns: 400.0,
            ..known(900.0)
        };
        let (parts, _) = account(&traced, limited);
        assert_eq!(parts.ns(TimeCategory::Throttled), 450);
        assert_eq!(parts.ns(TimeCategory::Ready), 50);
        // Several CPUs were throttled at the same time, so no more is counted than the critical path can have
        // waited.
        let more = Known {
            throttled_ns: 2000.0,
            ..limited
        };
        let (parts, _) = account(&traced, more);
        assert_eq!(parts.ns(TimeCategory::Throttled), 500);
        assert_eq!(parts.ns(TimeCategory::Ready), 0);
        let parts = charged(limited, 0.25);
        let of = |spent| parts.ns(spent);
        assert_eq!(of(TimeCategory::Kernel), 100);
        assert_eq!(of(TimeCategory::Throttled), 450);
        assert_eq!(of(TimeCategory::Unaccounted), 50);
    }

    #[test]
    fn without_tracing_nothing_changes() {
        let traced = traced(&[
            (TimeCategory::UserCode, 500),
            (TimeCategory::Ready, 300),
            (TimeCategory::Disk, 150),
            (TimeCategory::Unaccounted, 50),
        ]);
        assert_eq!(account(&traced, known(1000.0)).0, traced);
    }
}
