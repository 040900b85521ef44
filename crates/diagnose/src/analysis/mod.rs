//! The queries about a traced run that the mechanisms use.

mod at_once;
mod build;
mod call_extrapolation;
mod call_model;
mod fault_cost;
mod index;
mod library_cost;
mod lookup;
mod median;
mod on_path;
mod oversubscription;
mod profile;
mod programs;
mod recursion;
mod small_calls;
mod tally;
mod untraced_io;
mod wait_ends;
mod warnings;

use std::collections::HashMap;
use std::sync::OnceLock;

use fathom_model::{Exit, Run, TimeAccount, TimeCategory};
use fathom_trace::{Cause, OffCpuRow, Tier, Trace};

pub(crate) use on_path::OnPath;
pub(crate) use oversubscription::is_runnable;
pub(crate) use small_calls::{PiecesOf, Small};
pub(crate) use tally::Tally;
pub(crate) use wait_ends::WaitEnds;

use call_extrapolation::CallExtrapolation;
use index::Index;
use untraced_io::Untraced;

use crate::calls;
use crate::critical_path::CriticalPath;
use crate::descriptors::Descriptors;
use crate::entry_exit_overhead::EntryExitOverhead;
use crate::lock_waits::LockWaits;
use crate::mechanisms::per_item::library_work::Kinds;
use crate::numbers::time;
use crate::observation::Observation;
use crate::runtimes::Works;
use crate::thread_times::ThreadTimes;
use crate::thresholds as t;
use crate::whereabouts::{Entries, Routes};

/// An observation, with everything that is derived from it.
pub(crate) struct Analysis<'a> {
    pub observation: &'a Observation,
    /// The untraced runs: those of the observation, or some of them.
    pub timed: &'a [Run],
    pub trace: &'a Trace,
    pub descriptors: Descriptors<'a>,
    /// The category of each off-CPU row of the trace.
    off_spent: Vec<TimeCategory>,
    /// How often a poll's time limit expired while an answer was awaited, and how long these polls took in
    /// the traced run, in ns.
    pub unanswered: (u64, u64),
    pub threads: Vec<ThreadTimes>,
    /// The parts of the trace that are the work of a runtime rather than of the program.
    pub works: Works,
    index: Index<'a>,
    pub path: CriticalPath,
    /// The breakdown of [`Analysis::timed_ns`], and the only account that is shown and quoted.
    pub account: TimeAccount,
    /// The factors that turn the parts of the traced run's account into those of [`Analysis::account`].
    factors: HashMap<TimeCategory, f64>,
    /// The median wall time of the untraced runs, or the trace's own if there are none: the denominator of
    /// every reported share.
    pub timed_ns: f64,
    /// The same wall time, without the part in which other programs had the CPU. It is used only to decide
    /// whether something is worth reporting, so that other programs don't affect the decision.
    pub wall_ns: f64,
    /// The part of the traced run in which no other program had the CPU, 0 to 1.
    pub quiet: f64,
    /// The wall time of the traced run, without the part in which other programs had the CPU.
    traced_ns: f64,
    /// The median CPU time of the untraced runs.
    pub cpu_ns: f64,
    /// What the tracer added to each call, as far as the CPU times show it, in ns.
    pub overhead_ns: f64,
    /// The cost of calls and faults outside their timed parts, without tracing.
    pub entry_exit: EntryExitOverhead,
    /// The actual cost of tracing a page fault as a part of the measured cost, 0 to 1.
    pub fault_tracing: f64,
    /// The reads and writes that the kernel counted but that weren't traced.
    untraced_io: [Untraced; 2],
    /// Estimates about calls that weren't traced.
    extrapolation: CallExtrapolation,
    /// Streams that are read or written in small pieces, computed on first use.
    small_calls: OnceLock<Vec<Small>>,
    /// The routes to the trace's stacks, computed on first use.
    routes: OnceLock<Routes>,
    /// The functions that make calls, computed on first use.
    entries: OnceLock<Entries>,
    /// The samples of each kind of library work that can be avoided, computed on first use.
    pub library_kinds: OnceLock<Kinds>,
    /// What threads wait for in calls for locks.
    pub lock_waits: LockWaits,
}

impl Analysis<'_> {
    /// Returns the routes to the rows of the trace's stacks.
    pub(crate) fn routes(&self) -> &Routes {
        let routes = || Routes::new(self.trace, &self.works);
        self.routes.get_or_init(routes)
    }

    /// Returns the part of the untraced runs' wall time, 0 to 1: the reported share.
    pub(crate) fn of_wall(&self, ns: f64) -> f64 {
        (ns / self.timed_ns).clamp(0.0, 1.0)
    }

    /// Formats the same share in percent.
    pub(crate) fn percent(&self, ns: f64) -> String {
        let share = 100.0 * self.of_wall(ns);
        // On a busy machine, small parts of the wall time may also be reported.
        let digits = usize::from(share < 9.95);
        format!("{share:.digits$} %")
    }

    /// Formats a time with its share, as is done at the end of statements.
    pub(crate) fn time_and_share(&self, ns: f64) -> String {
        format!("{}, {} of the wall time", time(ns), self.percent(ns))
    }

    /// Returns how many times as long the traced run took as the untraced runs.
    pub(crate) fn slowdown(&self) -> f64 {
        self.trace.duration_ns as f64 / self.timed_ns
    }

    /// Reports whether times can only be modelled for an untraced run, because the traced run took a
    /// different time or its calls weren't timed.
    pub(crate) fn is_modelled(&self) -> bool {
        // Rounded to two digits, as shown.
        let shown = (self.slowdown() * 100.0).round() / 100.0;
        self.by_stops() || !(t::LEAST_LIKE_UNTRACED..=t::MOST_LIKE_UNTRACED).contains(&shown)
    }

    /// Reports whether a time limit ended a run, and so determined its duration.
    pub(crate) fn is_cut_off(&self) -> bool {
        let late = |run: &Run| run.exit == Exit::TimedOut;
        self.trace.end.cut_short || self.timed.iter().any(late)
    }

    /// Returns the part of the wall time, 0 to 1, after the part of other programs is excluded from it. This
    /// decides what is worth reporting; [`Analysis::of_wall`] is what is reported.
    pub(crate) fn share(&self, ns: f64) -> f64 {
        (ns / self.wall_ns).clamp(0.0, 1.0)
    }

    /// Scales a time so that its share is that of the command's own part of the account: without waits for a CPU,
    /// which other programs lengthen, and without what isn't known.
    pub(crate) fn in_own_part(&self, ns: f64) -> f64 {
        let others = [
            TimeCategory::Ready,
            TimeCategory::Stolen,
            TimeCategory::Unaccounted,
        ];
        let own_ns = self.timed_ns - self.spent_on(&others);
        match self.is_oversubscribed() {
            true => ns,
            false => ns * (self.wall_ns / own_ns.max(1.0)).max(1.0),
        }
    }

    /// Returns the time in this category on the critical path, scaled to an untraced run.
    pub(crate) fn spent_ns(&self, spent: TimeCategory) -> f64 {
        self.account.ns(spent) as f64
    }

    /// Returns the time in several categories together.
    pub(crate) fn spent_on(&self, parts: &[TimeCategory]) -> f64 {
        parts.iter().map(|part| self.spent_ns(*part)).sum()
    }

    /// Returns the time in all kernel categories.
    pub(crate) fn in_kernel_ns(&self) -> f64 {
        let parts = self.account.parts.iter();
        let kernel = parts.filter(|part| part.spent.is_in_kernel());
        kernel.map(|part| part.ns).sum::<u64>() as f64
    }

    /// Scales a time of the traced run to an untraced run in which it has the same share of the wall time. A
    /// trace that was quicker than the timed runs isn't stretched.
    pub(crate) fn untraced(&self, ns: f64) -> f64 {
        (ns * (self.wall_ns / self.traced_ns).min(1.0)).min(self.timed_ns)
    }

    /// Returns the part of this thread's on-CPU time that is on the critical path.
    pub(crate) fn weight(&self, tid: u32) -> f64 {
        self.path.weight(tid)
    }

    /// Returns the factor that scales this category of the traced run to an untraced run.
    fn factor(&self, spent: TimeCategory) -> f64 {
        self.factors.get(&spent).copied().unwrap_or(1.0)
    }

    /// Limits a cost in CPU time to the total CPU time: a part can't cost more than the whole.
    pub(crate) fn within_cpu(&self, ns: f64) -> f64 {
        ns.min(0.97 * self.cpu_ns.min(self.wall_ns))
    }

    /// Returns the off-CPU time on the critical path, scaled to an untraced run, and the number of waits
    /// there, if known. A sampler doesn't know the number, because it sees a long wait many times and a short
    /// one not at all.
    pub(crate) fn off(&self, fits: impl Fn(&OffCpuRow) -> bool) -> (f64, Option<u64>) {
        let rows = self.trace.off_cpu.iter().enumerate();
        let rows = rows.filter(|(_, row)| fits(row));
        let (ns, count) = rows.fold((0.0, 0.0), |(ns, count), (at, row)| {
            let (spent, of_row) = self.wait_of_row(at);
            let weight = self.path.wait_weight(row.tid, spent);
            (ns + of_row, count + row.count as f64 * weight)
        });
        let count = if ns > 0.0 { count.max(1.0) } else { 0.0 };
        (ns, self.counts_waits().then_some(count.round() as u64))
    }

    /// Returns the category of an off-CPU row, and its time on the critical path, scaled to an untraced run.
    pub(crate) fn wait_of_row(&self, at: usize) -> (TimeCategory, f64) {
        let (row, spent) = (&self.trace.off_cpu[at], self.off_spent[at]);
        let on_path = row.total_ns as f64 * self.path.wait_weight(row.tid, spent);
        (spent, on_path * self.factor(spent))
    }

    /// Returns the number of waits in this category, by any thread; `None` if unknown.
    pub(crate) fn waits_for(&self, spent: TimeCategory) -> Option<u64> {
        let rows = self.trace.off_cpu.iter().zip(&self.off_spent);
        let rows = rows.filter(|(_, counts_as)| **counts_as == spent);
        let count = rows.map(|(row, _)| row.count).sum();
        self.counts_waits().then_some(count)
    }

    /// Reports whether calls and waits are known only from samples, in which case it is unknown who ended a
    /// wait.
    pub(crate) fn only_samples(&self) -> bool {
        self.trace.tier.is_some_and(Tier::only_samples)
    }

    /// Reports whether the trace counts waits.
    pub(crate) fn counts_waits(&self) -> bool {
        self.trace.tier != Some(Tier::Sample)
    }

    /// Returns the cost of the cheapest call into the kernel and back.
    pub(crate) fn call_ns(&self) -> f64 {
        let seconds = self.observation.limits.syscall_seconds;
        seconds.unwrap_or(t::CALL_SECONDS) * 1e9
    }

    /// Returns the cost of the first access to a page.
    pub(crate) fn first_touch_ns(&self) -> f64 {
        let seconds = self.observation.limits.page_fault_seconds;
        seconds.unwrap_or(t::PAGE_FAULT_SECONDS) * 1e9
    }

    pub(crate) fn spawn_ns(&self) -> f64 {
        let seconds = self.observation.limits.spawn_seconds;
        seconds.unwrap_or(t::SPAWN_SECONDS) * 1e9
    }

    /// Returns the traced CPU time of all threads.
    pub(crate) fn traced_cpu_ns(&self) -> f64 {
        self.threads.iter().map(|times| times.on_cpu_ns).sum()
    }

    /// Returns the traced CPU time of a process's threads.
    pub(crate) fn cpu_of(&self, pid: u32) -> f64 {
        self.threads_of(pid).map(|times| times.on_cpu_ns).sum()
    }

    /// Returns the longest wait on this standard descriptor if the wait may be due to the start-up of the
    /// program at the other end, which says nothing about that program's pace.
    pub(crate) fn partners_start_ns(&self, fd: i32) -> f64 {
        let rows = self.trace.off_cpu.iter().filter(|row| {
            let call = row.call.as_deref().unwrap_or_default();
            let waits = row.fd == Some(fd) || calls::is_poll(call);
            waits && row.cause == Cause::Asleep && self.weight(row.tid) > 0.0
        });
        let longest = rows.filter_map(|row| row.longest_ns).max().unwrap_or(0) as f64;
        if longest <= t::PARTNERS_START_NS {
            longest
        } else {
            0.0
        }
    }

    /// Returns a process and its descendants. The depth is limited.
    pub(crate) fn tree(&self, pid: u32) -> Vec<u32> {
        let mut tree = vec![pid];
        for at in 0..=self.trace.processes.len() {
            let Some(parent) = tree.get(at).copied() else {
                break;
            };
            tree.extend(self.children_of(parent).map(|p| p.pid));
        }
        tree
    }

    /// Returns the traced CPU time of a process and its descendants.
    pub(crate) fn tree_cpu(&self, pid: u32) -> f64 {
        self.tree(pid).into_iter().map(|pid| self.cpu_of(pid)).sum()
    }

    /// Returns the name of a descriptor. If it referred to several files, the name is that of the file
    /// responsible.
    pub(crate) fn name_of(&self, pid: u32, fd: i32) -> Option<String> {
        self.descriptors.describe(pid, fd)
    }

    /// Returns how often a thread waited for locks in memory; 0 if unknown.
    pub(crate) fn lock_waits(&self, tid: u32) -> u64 {
        self.waits_in(tid, calls::is_lock)
    }

    /// Returns how often a thread waited for locks on files; 0 if unknown.
    pub(crate) fn file_lock_waits(&self, tid: u32) -> u64 {
        self.waits_in(tid, calls::is_file_lock)
    }

    /// Returns how often a thread slept in such calls; 0 if unknown.
    pub(crate) fn waits_in(&self, tid: u32, is: impl Fn(&str) -> bool) -> u64 {
        if !self.counts_waits() {
            return 0;
        }
        let waits = self.off_rows_of(tid).filter(|row| {
            let call = row.call.as_deref();
            row.cause == Cause::Asleep && call.is_some_and(&is) && !self.is_pause(call, row.object)
        });
        waits.map(|row| row.count).sum()
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

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
        assert_eq!(finding.id, FindingId::UnbufferedInput);
        // 200,000 calls of 245 ns are 49 of 800 ms, however little of that time the program had a CPU.
        let share = diagnosis.account.share(TimeCategory::KernelIo);
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
        let observation = fake.observation(&[]);
        let rows = crate::io::io_rows(&Analysis::new(&observation));
        let counts: Vec<_> = rows.iter().map(|row| (row.reads, row.writes)).collect();
        assert_eq!(counts, [(10, 0)]);
    }
}
