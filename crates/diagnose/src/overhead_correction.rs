//! Where does the time of an untraced run go, by the account of a traced one?
//!
//! Tracing makes calls and computing longer, and no sleep, no timer and no wait for somebody
//! outside the tree. So those waits stay as they were traced, the tracer's own work is taken out,
//! and CPU time becomes that of the untraced runs. What is then missing to their wall time is, in
//! this order:
//!
//! - what they waited for a CPU, as far as the kernel counted that, and of it what the CPU limit of
//!   their control group took;
//! - CPU time that the kernel charged them and that is in no part yet: too much was taken for the
//!   tracer's;
//! - waits for somebody outside, as far as nobody in the tree can have been on a CPU: who sets the
//!   pace is waited for longer by one who is quicker himself;
//! - unaccounted, and no less of that than the tracer left.

use std::collections::HashMap;

use fathom_model::{TimeAccount, TimeCategory};

use crate::cpu_split::CpuSplit;
use crate::sums::Sums;

/// What is known of the untraced runs, and of the tracer. All in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// Median wall time.
    pub wall_ns: f64,
    /// Their CPU time divided by the traced run's, the tracer's work left out.
    pub cpu_factor: f64,
    /// By what the program's own part is to be multiplied beyond that, and the kernel's.
    pub parts: CpuSplit,
    /// What the tracer added to the calls on the critical path.
    pub tracing_ns: f64,
    /// What it added to the page faults there, which their time holds.
    pub tracing_faults_ns: f64,
    /// Part of the traced run's waits for a CPU in which the tracer held it back, 0 to 1.
    pub held_back: f64,
    /// What one thread of theirs waited for a CPU; 0 if that isn't known.
    pub queued_ns: f64,
    /// For how long the CPU limit of their control group stopped them; 0 without one.
    pub throttled_ns: f64,
    /// CPU time of all their processes.
    pub cpu_ns: f64,
    /// Part of it that is on the critical path, 0 to 1, if it is as in the traced run.
    pub on_path: f64,
}

/// Nobody outside the tree gets slower when it is traced.
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

/// By how much waits for others may be longer in the timed runs, as a part of them: for a disk of a
/// virtual machine they were 5 to 20 % in most hours, and 46 % where neighbours were at it.
const PACE_SCATTER: f64 = 0.5;

/// How long these waits are is decided outside of the tree, and may differ from run to run.
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

/// Where only calls are traced: what the kernel charged the untraced runs and how long it stopped
/// them for their group's limit, and nothing else of what they waited for.
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

/// All parts of an account that are time on a CPU.
pub(crate) fn on_cpu_ns(account: &TimeAccount) -> f64 {
    let parts = account.parts.iter();
    let on_cpu = parts.filter(|part| takes_cpu(part.spent));
    on_cpu.map(|part| part.ns).sum::<u64>() as f64
}

/// The account of an untraced run, and the factor by which each part of the traced one became its.
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
    // The tracer works outside of the times of calls: as if the program itself had computed. Only
    // what is more than the program ever computed was in the calls.
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
    // CPU time is what the kernel charged; how long locks and disks were waited for depends on who
    // else was at them.
    let on_cpu: Vec<(TimeCategory, f64)> = of(&takes_cpu).into_iter().map(cpu).collect();
    for parts in [of(&keeps_its_length), on_cpu, of(&bends)] {
        let total: f64 = parts.iter().map(|(_, ns)| ns).sum();
        let fit = (room / total.max(1.0)).min(1.0);
        for (spent, ns) in parts {
            sums.add(spent, ns * fit);
        }
        room -= total * fit;
    }
    // Never more than was measured, in either kind of run.
    let queued = known.queued_ns.max(known.throttled_ns);
    let traced_ready = ns(TimeCategory::Ready) * (1.0 - known.held_back);
    let ready = traced_ready.max(queued).min(room);
    let throttled = known.throttled_ns.min(ready);
    sums.add(TimeCategory::Throttled, throttled);
    sums.add(TimeCategory::Ready, ready - throttled);
    room -= ready + ns(TimeCategory::Unaccounted);
    let traced_cpu: f64 = of(&takes_cpu).iter().map(|part| part.1).sum();
    // Where the observed run had more of it, as threads have that search for work longer, that may
    // have been beside the path.
    let on_path = match known.cpu_factor < 1.0 {
        true => known
            .on_path
            .max(traced_cpu / known.cpu_ns.max(1.0))
            .min(1.0),
        false => known.on_path,
    };
    let most = (traced_cpu * known.cpu_factor.max(1.0)).min(known.cpu_ns * on_path);
    room -= sums.lengthen(takes_cpu, room.min(most - sums.of(takes_cpu)));
    // Nobody in the tree was on a CPU for at least so long. It waited for others for as much longer
    // as it was quicker, and somewhat more: their pace is not the same in each run.
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
        // Of one thread alone nothing more is known than what it was charged.
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
        // Where it is no quicker, nobody knows what it was, but for half of what others took.
        let slow = Known {
            tracing_ns: 0.0,
            cpu_ns: 400.0,
            ..known(1400.0)
        };
        assert_eq!(
            self::account(&traced, slow).0.ns(TimeCategory::Unaccounted),
            100
        );
        // Nor where others of the tree may have been on a CPU meanwhile.
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
        // Several CPUs were stopped at once: no more than the path can have waited.
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
