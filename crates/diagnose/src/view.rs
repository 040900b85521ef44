//! The questions that rules ask of a traced run.

mod crowd;
mod ends;
mod index;
mod library;
mod modelled;
mod own_code;
mod programs;
mod tally;
mod unseen;
mod warnings;

use std::collections::HashMap;

use fathom_model::{Exit, Run, Spent, TimeAccount};
use fathom_trace::{Cause, OffCpuRow, Tier, Trace};

pub(crate) use crowd::{busy_threads, hungry};
use crowd::{crowded, ready_share};
pub(crate) use ends::Ends;
use index::Index;
pub(crate) use tally::Tally;
use unseen::Unseen;

use crate::account::{self, Life};
use crate::classify::Classifier;
use crate::descriptors::Descriptors;
use crate::edges::{self, Edges};
use crate::path::{self, CriticalPath};
use crate::thresholds as t;
use crate::untraced::{self, Divided, Known};
use crate::{Observation, classify, faults, ticks};

/// A subject with everything that is worked out of it.
pub(crate) struct View<'a> {
    pub subject: &'a Observation,
    pub trace: &'a Trace,
    pub descriptors: Descriptors<'a>,
    /// What each off-CPU row of the trace counts as.
    off_spent: Vec<Spent>,
    /// How often the time limit of a poll came where an answer was awaited, and how long these took, ns, as traced.
    pub unanswered: (u64, u64),
    pub lives: Vec<Life>,
    index: Index<'a>,
    pub path: CriticalPath,
    /// Where [`View::timed_ns`] goes: the one account that is shown and quoted.
    pub account: TimeAccount,
    /// By what the parts of the traced run's account became those of [`View::account`].
    factors: HashMap<Spent, f64>,
    /// Median wall time of the untraced runs, or the trace's own if there are none: the whole of every
    /// share that is told.
    pub timed_ns: f64,
    /// The same without the part in which other programs had the CPU. Only whether something is
    /// worth telling is held against it, or the neighbours would decide.
    pub wall_ns: f64,
    /// Part of the traced run in which no other program had the CPU, 0 to 1.
    pub quiet: f64,
    /// The traced run's, likewise.
    traced_ns: f64,
    /// Their median CPU time.
    pub cpu_ns: f64,
    /// What the tracer added to each call, as far as CPU times tell.
    pub overhead_ns: f64,
    /// What calls and faults take beside their timed parts, when nobody looks.
    pub edges: Edges,
    /// Part of what tracing a page fault was measured to cost that it did cost, 0 to 1.
    pub fault_tracing: f64,
    /// What is taken of calls that nobody looked at.
    unseen: Unseen,
}

fn median(mut values: Vec<u64>) -> Option<f64> {
    values.sort_unstable();
    let n = values.len();
    let middle = values.get(n / 2)?;
    Some(match n % 2 {
        1 => *middle as f64,
        _ => (*middle as f64 + values[n / 2 - 1] as f64) / 2.0,
    })
}

/// Part of the runs' wall time that was spent ready, waiting for a CPU; 0 where it isn't known.
fn queued_share(timed: &[Run]) -> f64 {
    let waits = timed.iter().filter_map(|run| run.run_queue_wait_ns);
    let walls = timed.iter().map(|run| run.wall_ns);
    match (median(waits.collect()), median(walls.collect())) {
        (Some(wait), Some(wall)) if wall > 0.0 => (wait / wall).clamp(0.0, 1.0),
        _ => 0.0,
    }
}

/// The untraced runs' CPU time divided by the traced run's own. Ticks of short runs and caches shared
/// with neighbours move it by less than a half.
fn cpu_factor(untraced_ns: f64, traced_ns: f64) -> f64 {
    if untraced_ns <= 0.0 || traced_ns <= 0.0 {
        return 1.0;
    }
    (untraced_ns / traced_ns).min(1.5)
}

/// How the CPU time of the whole tree was divided in the traced run, without what the tracer added to calls, which counts
/// as computing, and to faults.
fn divided(lives: &[Life], in_calls_ns: f64, in_faults_ns: f64) -> Divided {
    let of = |fits: fn(Spent) -> bool| lives.iter().map(|life| life.sums.of(fits)).sum::<f64>();
    Divided {
        own: (of(|spent| spent == Spent::UserCode) - in_calls_ns).max(0.0),
        kernel: (of(Spent::is_in_kernel) - in_faults_ns).max(0.0),
    }
}

/// Calls by the part of their threads' time that is on the critical path.
fn calls_on_path(trace: &Trace, path: &CriticalPath) -> f64 {
    let rows = trace.syscalls.iter();
    rows.map(|row| row.calls as f64 * path.weight(row.tid))
        .sum()
}

/// Part of the CPU time of all threads that is on the critical path.
fn part_on_path(traced: &TimeAccount, lives: &[Life]) -> f64 {
    let all: f64 = lives.iter().map(|life| life.on_cpu_ns).sum();
    (untraced::on_cpu_ns(traced) / all.max(1.0)).min(1.0)
}

/// What the CPU time takes at least: its own length where one thread has it all, else the part of it
/// that the CPUs allow.
fn least_wall_ns(lives: &[Life], cpu_ns: f64, cpus: usize) -> f64 {
    let all: f64 = lives.iter().map(|life| life.on_cpu_ns).sum();
    let most = lives.iter().map(|life| life.on_cpu_ns).fold(0.0, f64::max);
    let alone = most >= 0.9 * all;
    cpu_ns / if alone { 1.0 } else { cpus.max(1) as f64 }
}

impl<'a> View<'a> {
    pub(crate) fn new(subject: &'a Observation) -> Self {
        let trace = &subject.trace;
        let descriptors = Descriptors::new(trace);
        let classifier = Classifier::new(trace, &descriptors);
        let of = |value: fn(&Run) -> u64| median(subject.timed.iter().map(value).collect());
        let traced_cpu = (trace.accounts.user_ns + trace.accounts.system_ns) as f64;
        let cpu_ns = of(|run| run.cpu_ns).unwrap_or(traced_cpu);
        // A few hundred faults before the run told what tracing one costs; all of it together can't be more
        // than the CPU time that the traced run took beyond the others.
        let estimate = faults::tracer_ns(trace);
        let faults_tracer_ns = match subject.timed[..] {
            [] => estimate,
            _ => estimate.min((traced_cpu - cpu_ns).max(0.0)),
        };
        let fault_tracing = faults_tracer_ns / estimate.max(1.0);
        let calls: u64 = trace.syscalls.iter().map(|row| row.calls).sum();
        // More than 1 us per call is not the tracer but another load of the machine.
        let overhead_ns =
            ((traced_cpu - faults_tracer_ns - cpu_ns) / calls.max(1) as f64).clamp(0.0, 1000.0);
        let own_cpu = traced_cpu - faults_tracer_ns - overhead_ns * calls as f64;
        let factor = cpu_factor(cpu_ns, own_cpu);
        let edges = edges::of(trace, &subject.timed, fault_tracing, own_cpu, factor);
        let estimates = account::Estimates {
            edges,
            kernel_share: ticks::kernel_share(trace, &subject.timed),
        };
        let lives = account::lives(trace, &classifier, estimates);
        let index = Index::new(trace, &lives);
        let pools = programs::pools(subject);
        let path = path::find(trace, &lives, &classifier, &pools);
        let unanswered = classifier.unanswered();
        let off_spent = trace
            .off_cpu
            .iter()
            .map(|row| classifier.row(row))
            .collect();
        let traced = path.sums.clone().into_account(trace.duration_ns);
        // On a busy machine all CPU time is stretched by waiting for a CPU: told apart, or shares
        // would shrink with every neighbour.
        let of_pool = trace
            .processes
            .first()
            .is_some_and(|root| pools.contains(&root.pid));
        let ready = match of_pool {
            true => traced.share(Spent::Ready).min(ready_share(&lives)),
            false => traced.share(Spent::Ready),
        };
        let quiet = if crowded(&lives, subject.cpus, trace) {
            1.0
        } else if trace.tier == Some(Tier::Stops) {
            // It sees no waits; the timed runs know how long they waited for a CPU.
            1.0 - queued_share(&subject.timed).min(0.95)
        } else {
            1.0 - ready.min(0.95)
        };
        let timed_wall = of(|run| run.wall_ns)
            .unwrap_or(trace.duration_ns as f64)
            .max(1.0);
        // The timed runs may have had less of the neighbours than the observed one: no run is
        // shorter than its work takes.
        let least_wall = least_wall_ns(&lives, cpu_ns, subject.cpus).min(timed_wall);
        let observed = divided(&lives, overhead_ns * calls as f64, faults_tracer_ns);
        let known = Known {
            wall_ns: timed_wall,
            cpu_factor: factor,
            parts: untraced::parts(observed, edges::unsure(trace, fault_tracing), factor),
            tracing_ns: calls_on_path(trace, &path) * overhead_ns,
            tracing_faults_ns: fault_tracing * faults::tracer_on_path_ns(trace, &path),
            queued_ns: match trace.threads.len() {
                1 => queued_share(&subject.timed) * timed_wall,
                _ => 0.0,
            },
            cpu_ns,
            on_path: part_on_path(&traced, &lives),
        };
        let (account, factors) = match trace.tier {
            Some(Tier::Stops) => {
                let in_kernel = ticks::Ticks::of_runs(&subject.timed).system_share();
                let charged = untraced::charged(timed_wall, cpu_ns, in_kernel);
                (charged, HashMap::new())
            }
            _ => untraced::account(&traced, known),
        };
        let mut view = Self {
            subject,
            trace,
            descriptors,
            off_spent,
            unanswered,
            lives,
            index,
            path,
            account,
            factors,
            timed_ns: timed_wall,
            wall_ns: (timed_wall * quiet).max(least_wall),
            quiet,
            cpu_ns,
            traced_ns: trace.duration_ns.max(1) as f64 * quiet,
            overhead_ns,
            edges,
            fault_tracing,
            unseen: Unseen::NOTHING,
        };
        view.unseen = view.look_for_unseen();
        view
    }

    /// Part of the untraced runs' wall time, 0 to 1: the share that is told.
    pub(crate) fn of_wall(&self, ns: f64) -> f64 {
        (ns / self.timed_ns).clamp(0.0, 1.0)
    }

    /// How much longer the traced run took than the untraced ones.
    pub(crate) fn slowdown(&self) -> f64 {
        self.trace.duration_ns as f64 / self.timed_ns
    }

    /// Whether times can only be told as a model of an untraced run: the traced one took another
    /// time, or its calls were timed by nobody.
    pub(crate) fn is_modelled(&self) -> bool {
        // As it is shown, with two digits.
        let shown = (self.slowdown() * 100.0).round() / 100.0;
        self.by_stops() || !(t::LEAST_LIKE_UNTRACED..=t::MOST_LIKE_UNTRACED).contains(&shown)
    }

    /// Whether a time limit ended a run, and so decided how long it took.
    pub(crate) fn is_cut_off(&self) -> bool {
        let late = |run: &Run| run.exit == Exit::TimedOut;
        self.trace.end.cut_short || self.subject.timed.iter().any(late)
    }

    /// Part of the wall time without the neighbours' part, 0 to 1: what is worth telling is held
    /// against this, and [`View::of_wall`] is told.
    pub(crate) fn share(&self, ns: f64) -> f64 {
        (ns / self.wall_ns).clamp(0.0, 1.0)
    }

    /// Time on the critical path spent on this, in time of an untraced run.
    pub(crate) fn spent_ns(&self, spent: Spent) -> f64 {
        self.account.ns(spent) as f64
    }

    /// All of the kernel's parts of that.
    pub(crate) fn in_kernel_ns(&self) -> f64 {
        let parts = self.account.parts.iter();
        let kernel = parts.filter(|part| part.spent.is_in_kernel());
        kernel.map(|part| part.ns).sum::<u64>() as f64
    }

    /// A time of the traced run in an untraced one: the same share of the wall time. A trace that
    /// was quicker than the timed runs isn't stretched.
    pub(crate) fn untraced(&self, ns: f64) -> f64 {
        (ns * (self.wall_ns / self.traced_ns).min(1.0)).min(self.timed_ns)
    }

    /// Part of this thread's time on a CPU that is on the critical path.
    pub(crate) fn weight(&self, tid: u32) -> f64 {
        self.path.weight(tid)
    }

    /// By what this part of the traced run is to be multiplied for an untraced one.
    fn factor(&self, spent: Spent) -> f64 {
        self.factors.get(&spent).copied().unwrap_or(1.0)
    }

    /// Of a cost in CPU time, as much as there is: a part can't cost more than the whole.
    pub(crate) fn within_cpu(&self, ns: f64) -> f64 {
        ns.min(0.97 * self.cpu_ns.min(self.wall_ns))
    }

    /// Off-CPU time on the critical path, in time of an untraced run, and the number of waits there, where
    /// that is known: a sampler sees one long wait many times and a short one not at all.
    pub(crate) fn off(&self, fits: impl Fn(&OffCpuRow) -> bool) -> (f64, Option<u64>) {
        let rows = self.trace.off_cpu.iter().zip(&self.off_spent);
        let rows = rows.filter(|(row, _)| fits(row));
        let (ns, count) = rows.fold((0.0, 0.0), |(ns, count), (row, spent)| {
            let weight = self.path.wait_weight(row.tid, *spent);
            let factor = self.factor(*spent);
            (
                ns + row.total_ns as f64 * weight * factor,
                count + row.count as f64 * weight,
            )
        });
        let count = if ns > 0.0 { count.max(1.0) } else { 0.0 };
        (ns, self.counts_waits().then_some(count.round() as u64))
    }

    /// How often something was waited for that counts as this, by whichever thread; `None` where that isn't known.
    pub(crate) fn waits_for(&self, spent: Spent) -> Option<u64> {
        let rows = self.trace.off_cpu.iter().zip(&self.off_spent);
        let rows = rows.filter(|(_, counts_as)| **counts_as == spent);
        let count = rows.map(|(row, _)| row.count).sum();
        self.counts_waits().then_some(count)
    }

    /// Whether the trace tells how often something was waited for.
    pub(crate) fn counts_waits(&self) -> bool {
        self.trace.tier != Some(Tier::Sample)
    }

    /// The cheapest call into the kernel and back.
    pub(crate) fn call_ns(&self) -> f64 {
        let seconds = self.subject.limits.syscall_seconds;
        seconds.unwrap_or(t::CALL_SECONDS) * 1e9
    }

    /// The first touch of a page.
    pub(crate) fn first_touch_ns(&self) -> f64 {
        let seconds = self.subject.limits.page_fault_seconds;
        seconds.unwrap_or(t::PAGE_FAULT_SECONDS) * 1e9
    }

    pub(crate) fn spawn_ns(&self) -> f64 {
        self.subject
            .limits
            .spawn_seconds
            .unwrap_or(t::SPAWN_SECONDS)
            * 1e9
    }

    /// CPU time of a process's threads as traced.
    pub(crate) fn cpu_of(&self, pid: u32) -> f64 {
        self.lives_of(pid).map(|life| life.on_cpu_ns).sum()
    }

    /// The longest wait on this standard descriptor if it may be the start of the program at the
    /// other end: starting isn't a pace.
    pub(crate) fn partners_start_ns(&self, fd: i32) -> f64 {
        let rows = self.trace.off_cpu.iter().filter(|row| {
            let call = row.call.as_deref().unwrap_or_default();
            let waits = row.fd == Some(fd) || classify::is_poll(call);
            waits && row.cause == Cause::Asleep && self.weight(row.tid) > 0.0
        });
        let longest = rows.filter_map(|row| row.longest_ns).max().unwrap_or(0) as f64;
        if longest <= t::PARTNERS_START_NS {
            longest
        } else {
            0.0
        }
    }

    /// A process and its descendants. Bounded like the tree's depth.
    pub(crate) fn tree(&self, pid: u32) -> Vec<u32> {
        let mut tree = vec![pid];
        let mut at = 0;
        while let Some(parent) = tree.get(at).copied() {
            tree.extend(self.children_of(parent).map(|p| p.pid));
            at += 1;
            if at > self.trace.processes.len() {
                break;
            }
        }
        tree
    }

    /// CPU time of a process and its descendants as traced.
    pub(crate) fn tree_cpu(&self, pid: u32) -> f64 {
        self.tree(pid).into_iter().map(|pid| self.cpu_of(pid)).sum()
    }

    /// The name of a descriptor: of the file at fault if it was several.
    pub(crate) fn name_of(&self, pid: u32, fd: i32) -> Option<String> {
        self.descriptors.told(pid, fd)
    }

    /// How often a thread waited for locks in memory; 0 where that isn't known.
    pub(crate) fn lock_waits(&self, tid: u32) -> u64 {
        self.waits_in(tid, classify::is_lock)
    }

    /// How often a thread waited for locks on files; 0 where that isn't known.
    pub(crate) fn file_lock_waits(&self, tid: u32) -> u64 {
        self.waits_in(tid, classify::is_file_lock)
    }

    /// How often a thread slept in such calls; 0 where that isn't known.
    pub(crate) fn waits_in(&self, tid: u32, is: impl Fn(&str) -> bool) -> u64 {
        if !self.counts_waits() {
            return 0;
        }
        let waits = self.off_rows_of(tid).filter(|row| {
            let call = row.call.as_deref();
            row.cause == Cause::Asleep && call.is_some_and(&is)
        });
        waits.map(|row| row.count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_and_the_account_have_shares_of_the_same_wall_time() {
        let mut fake = crate::fake::Fake::new(400);
        fake.calls("read", Some(0), 200_000, 1, 200);
        fake.waits(None, None, Cause::Preempted, 100, 3_000);
        fake.trace.accounts.user_ns = 100_000_000;
        let mut run = crate::fake::run(800_000_000, 100_000_000);
        run.run_queue_wait_ns = Some(700_000_000);
        let timed = [run];
        let diagnosis = crate::diagnose(&fake.observation(&timed));
        let finding = &diagnosis.findings[0];
        assert_eq!(finding.id, "unbuffered-input");
        // 200,000 calls of 245 ns are 49 ms of 800, however little of them the program had a CPU.
        let share = diagnosis.account.share(Spent::KernelIo);
        assert!((finding.share - 0.061).abs() < 0.001, "{}", finding.share);
        assert!((finding.share - share).abs() < 0.001, "{share}");
        assert!(
            finding.statement.contains("6.1 % of the wall time"),
            "{}",
            finding.statement
        );
        assert_eq!(diagnosis.account.wall_ns, 800_000_000);
    }

    #[test]
    fn listing_a_folder_reads_no_file() {
        let mut fake = crate::fake::Fake::new(400);
        fake.calls("getdents64", Some(3), 4_000, 256, 500);
        fake.calls("read", Some(3), 10, 832, 500);
        let subject = fake.observation(&[]);
        let rows = crate::io::io_rows(&View::new(&subject));
        let seen: Vec<_> = rows.iter().map(|row| (row.reads, row.writes)).collect();
        assert_eq!(seen, [(10, 0)]);
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(median(vec![4, 1, 3, 2]), Some(2.5));
        assert_eq!(median(vec![9]), Some(9.0));
        assert_eq!(median(vec![]), None);
    }
}
