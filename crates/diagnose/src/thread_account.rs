//! Determines where the time of each thread went.

use std::collections::HashMap;

use fathom_model::{ThreadAccount, TimeCategory};
use fathom_trace::{Cause, Tier, Trace};

use crate::calls;
use crate::classify::Classifier;
use crate::entry_exit_overhead::{EntryExitOverhead, cpu_in_calls};
use crate::faults;
use crate::sums::Sums;
use crate::thread_times::ThreadTimes;

/// Returns the share of the time "on a CPU" that the hypervisor gave to others, which is the time according
/// to context switches minus the time charged by the kernel. A share below 2 % is due to interrupts and
/// rounding; above 30 %, the switches are not reliable.
fn stolen_share(trace: &Trace) -> f64 {
    let on_cpu: f64 = trace
        .threads
        .iter()
        .filter_map(|t| {
            t.on_cpu_ns.map(|ns| {
                ns.min(
                    t.ended_ns
                        .unwrap_or(trace.duration_ns)
                        .saturating_sub(t.started_ns),
                )
            })
        })
        .map(|ns| ns as f64)
        .sum();
    let charged = (trace.accounts.user_ns + trace.accounts.system_ns) as f64;
    // While the host takes the CPU from a running thread, the thread's clock advances but its CPU time
    // doesn't.
    let by_the_clock = matches!(trace.tier, Some(Tier::Kernel | Tier::Perf));
    if !by_the_clock || on_cpu <= 0.0 || charged <= 0.0 {
        return 0.0;
    }
    let share = 1.0 - charged / on_cpu;
    if (0.02..0.3).contains(&share) {
        share
    } else {
        0.0
    }
}

/// Inputs that the trace of one run doesn't show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Estimates {
    /// The cost of calls and faults outside their timed parts.
    pub entry_exit: EntryExitOverhead,
    /// The kernel's part of the CPU time, 0 to 1, if no calls are traced.
    pub kernel_share: f64,
}

/// Returns the times of all threads, in the trace's order.
pub(crate) fn times(
    trace: &Trace,
    classifier: &Classifier<'_>,
    estimates: Estimates,
) -> Vec<ThreadTimes> {
    let Estimates {
        entry_exit,
        kernel_share,
    } = estimates;
    let stolen = stolen_share(trace);
    let mut in_calls: HashMap<u32, Sums> = HashMap::new();
    let mut ready_in_calls: HashMap<u32, Sums> = HashMap::new();
    for row in &trace.syscalls {
        let spent = calls::on_cpu(&row.name);
        let of =
            |sums: &mut HashMap<u32, Sums>, ns| sums.entry(row.tid).or_default().add(spent, ns);
        of(&mut in_calls, cpu_in_calls(row, entry_exit.call_ns));
        of(&mut ready_in_calls, row.ready_ns.unwrap_or(0) as f64);
    }
    let mut off: HashMap<u32, Sums> = HashMap::new();
    let mut running: HashMap<u32, f64> = HashMap::new();
    for row in &trace.off_cpu {
        if row.cause == Cause::Running {
            *running.entry(row.tid).or_default() += row.total_ns as f64;
            continue;
        }
        let spent = classifier.row(row);
        off.entry(row.tid)
            .or_default()
            .add(spent, row.total_ns as f64);
    }
    let times = |thread: &fathom_trace::Thread| {
        let mut sums = off.remove(&thread.tid).unwrap_or_default();
        let to_ns = thread
            .ended_ns
            .unwrap_or(trace.duration_ns)
            .max(thread.started_ns);
        let life_ns = (to_ns - thread.started_ns) as f64;
        let on_cpu = thread.on_cpu_ns.map(|ns| ns as f64);
        let on_cpu = on_cpu.or(running.get(&thread.tid).copied()).unwrap_or(0.0);
        // Samples show what was waited for, but for the total, the kernel's own counters are more accurate.
        let ready = thread.ready_ns.map(|ns| ns as f64);
        let ready = ready.filter(|_| trace.tier.is_some_and(Tier::only_samples));
        if let Some(ready) = ready {
            sums.stretch_to((life_ns - on_cpu - ready).max(0.0));
        }
        let taken_up = charged_before_switch(trace, thread, &mut sums);
        let on_cpu = on_cpu + taken_up.ns;
        if let (Some(calls), Some(ready)) = (
            in_calls.get_mut(&thread.tid),
            ready_in_calls.get(&thread.tid),
        ) {
            calls.add_scaled(ready, taken_up.share);
        }
        // If a switch was missed, a clock reading remains in the sum; a thread can't run longer than it lives
        // minus its time off the CPU.
        let on_cpu = on_cpu.min((life_ns - sums.total()).max(0.0));
        let ran = on_cpu * (1.0 - stolen);
        sums.add(TimeCategory::Stolen, on_cpu - ran);
        let faults =
            faults::traced_ns(trace, thread, entry_exit.fault_ns).unwrap_or(0.0) * (1.0 - stolen);
        match in_calls
            .get(&thread.tid)
            .filter(|calls| calls.total() > 0.0)
        {
            Some(calls) => {
                let total = calls.total() * (1.0 - stolen);
                let fit = if total > ran && total > 0.0 {
                    ran / total
                } else {
                    1.0
                };
                sums.add_scaled(calls, fit * (1.0 - stolen));
                let outside = ran - total.min(ran);
                let in_faults = faults.min(outside);
                sums.add(TimeCategory::PageFaults, in_faults);
                sums.add(TimeCategory::UserCode, outside - in_faults);
            }
            None => {
                let in_faults = faults.min(ran);
                sums.add(TimeCategory::PageFaults, in_faults);
                sums.add(
                    TimeCategory::UserCode,
                    (ran - in_faults) * (1.0 - kernel_share),
                );
                sums.add(TimeCategory::Kernel, ran * kernel_share);
                // The thread was either running or ready, so time that the accounts don't count as running
                // was spent waiting.
                let looked = running.get(&thread.tid).copied().unwrap_or(0.0);
                sums.add(TimeCategory::Ready, ready.unwrap_or(looked - on_cpu));
            }
        }
        ThreadTimes {
            pid: thread.pid,
            tid: thread.tid,
            from_ns: thread.started_ns,
            to_ns,
            on_cpu_ns: ran,
            truly_ready: 1.0 - taken_up.share,
            sleeps: thread.voluntary_switches,
            of_runtime: false,
            sums,
        }
    };
    trace.threads.iter().map(times).collect()
}

/// Time on a CPU that was recorded as waiting for a CPU.
#[derive(Debug, Clone, Copy, Default)]
struct TakenUp {
    ns: f64,
    /// The fraction of the recorded waiting, 0 to 1.
    share: f64,
}

/// Removes from the waits for a CPU the time that the kernel itself counts as running. When an idle CPU picks
/// up a thread, the switch is reported some microseconds after the kernel began to charge the thread. On the
/// virtual machine where this was developed, that was 12 µs for each wait, or 4 % of a program that reads
/// from its disk.
fn charged_before_switch(trace: &Trace, thread: &fathom_trace::Thread, sums: &mut Sums) -> TakenUp {
    let Some(queued) = thread.ready_ns.filter(|_| trace.tier == Some(Tier::Kernel)) else {
        return TakenUp::default();
    };
    let ready = sums.get(TimeCategory::Ready);
    let ns = sums.take(TimeCategory::Ready, ready - queued as f64);
    TakenUp {
        ns,
        share: ns / ready.max(1.0),
    }
}

/// Returns the accounts of all threads for the explanation.
pub(crate) fn all(trace: &Trace, threads: &[ThreadTimes]) -> Vec<ThreadAccount> {
    let account = |(thread, times): (&fathom_trace::Thread, &ThreadTimes)| ThreadAccount {
        pid: times.pid,
        tid: times.tid,
        name: thread.name.clone(),
        from_ns: times.from_ns,
        to_ns: times.to_ns,
        account: times.sums.clone().into_account(times.to_ns - times.from_ns),
    };
    trace.threads.iter().zip(threads).map(account).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptors::Descriptors;
    use crate::entry_exit_overhead::ENTRY_EXIT_NS;
    use crate::fake::{Fake, MS};

    const ESTIMATES: Estimates = Estimates {
        entry_exit: EntryExitOverhead {
            call_ns: ENTRY_EXIT_NS,
            fault_ns: 0.0,
        },
        kernel_share: 0.0,
    };

    #[test]
    fn what_the_kernel_charged_before_the_switch_is_work_of_the_call() {
        let mut fake = Fake::new(100);
        fake.waits(Some("pread64"), Some(3), Cause::Disk, 40, 1_000);
        fake.waits(Some("pread64"), Some(3), Cause::Ready, 10, 1_000);
        let calls = fake.calls("pread64", Some(3), 40, 4096, 250_000);
        (calls.blocked_ns, calls.ready_ns) = (Some(0), Some(10 * MS));
        calls.total_ns = 20 * MS;
        fake.trace.threads[0].ready_ns = Some(2 * MS);
        let descriptors = Descriptors::new(&fake.trace);
        let threads = times(
            &fake.trace,
            &Classifier::new(&fake.trace, &descriptors),
            ESTIMATES,
        );
        let ms = |spent| (threads[0].sums.get(spent) / MS as f64).round() as u64;
        let reported = [
            TimeCategory::Disk,
            TimeCategory::Ready,
            TimeCategory::KernelIo,
            TimeCategory::UserCode,
        ]
        .map(ms);
        // According to their times, 10 ms of the calls were on a CPU; in fact, 8 ms more were.
        assert_eq!(reported, [40, 2, 18, 40]);
    }

    #[test]
    fn the_kernels_counts_say_how_long_what_samples_saw_took() {
        let mut fake = Fake::new(100);
        fake.trace.tier = Some(Tier::Sample);
        fake.waits(Some("nanosleep"), None, Cause::Asleep, 40, 1_000);
        let thread = &mut fake.trace.threads[0];
        (thread.on_cpu_ns, thread.ready_ns) = (Some(30 * MS), Some(20 * MS));
        let descriptors = Descriptors::new(&fake.trace);
        let threads = times(
            &fake.trace,
            &Classifier::new(&fake.trace, &descriptors),
            ESTIMATES,
        );
        let account = threads[0].sums.clone().into_account(100 * MS);
        let reported: Vec<_> = account
            .parts
            .iter()
            .map(|part| (part.spent, part.ns / MS))
            .collect();
        let all = [
            (TimeCategory::Sleeping, 50),
            (TimeCategory::UserCode, 30),
            (TimeCategory::Ready, 20),
        ];
        assert_eq!(reported, all);
    }

    #[test]
    fn samples_do_not_show_who_of_another_process_released_a_lock() {
        let locks = |tier| {
            let mut fake = Fake::new(1000);
            fake.trace.tier = Some(tier);
            for pid in [201, 202] {
                fake.child(pid, 0, 990, 300);
                fake.wait_for(pid, "futex", None, (10, 700, 700), None);
            }
            let descriptors = Descriptors::new(&fake.trace);
            let classifier = Classifier::new(&fake.trace, &descriptors);
            let threads = times(&fake.trace, &classifier, ESTIMATES);
            (threads[1].sums.get(TimeCategory::Locks) / MS as f64).round() as u64
        };
        assert!(locks(Tier::Perf) > 0);
        assert_eq!(locks(Tier::Kernel), 0, "a time limit ended them");
    }
}
