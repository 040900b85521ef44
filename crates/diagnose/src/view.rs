//! The questions that rules ask of a traced run.

use fathom_model::{Run, Spent, TimeAccount};
use fathom_trace::{Cause, OffCpuRow, Process, SyscallRow, Tier, Trace};

use crate::account::{self, Life, cpu_in_calls};
use crate::descriptors::Descriptors;
use crate::path::{self, CriticalPath};
use crate::thresholds as t;
use crate::{Language, Subject, classify, faults};

/// What a call costs beside the time between the tracer's clock readings: entry, exit and the
/// function around it, less what the tracer itself does between them. 45 ns with 2.9 million
/// writes of `ppbert` 0.8.3, whose whole CPU time falls by 1.04 s without them.
const AROUND_CALL_NS: f64 = 45.0;

/// A subject with everything that is worked out of it.
pub(crate) struct View<'a> {
    pub subject: &'a Subject<'a>,
    pub trace: &'a Trace,
    pub descriptors: Descriptors<'a>,
    /// What each off-CPU row of the trace counts as.
    off_spent: Vec<Spent>,
    pub lives: Vec<Life>,
    pub path: CriticalPath,
    pub account: TimeAccount,
    /// Median wall time of the untraced runs, or the trace's own if there are none, without the
    /// part in which other programs had the CPU.
    pub wall_ns: f64,
    /// Part of the traced run in which no other program had the CPU, 0 to 1.
    pub quiet: f64,
    /// The traced run's, likewise.
    traced_ns: f64,
    /// Their median CPU time.
    pub cpu_ns: f64,
    /// What the tracer added to each call, as far as CPU times tell.
    pub overhead_ns: f64,
    /// What a call costs on average where only the kernel's ticks tell; 0 elsewhere.
    each_by_ticks_ns: f64,
}

/// Calls added up.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Tally {
    pub calls: u64,
    pub errors: u64,
    pub would_block: u64,
    pub bytes: u64,
    pub sizes: [u64; 8],
    /// Of the calls: by the part of their threads' time that is on the critical path.
    on_path: f64,
    /// CPU time in the kernel on the critical path, in time of an untraced run. Modelled.
    pub cost_ns: f64,
    /// Time from entry to return as traced, waits included.
    pub total_ns: f64,
    pub pid: Option<u32>,
}

impl Tally {
    pub(crate) fn bytes_per_call(&self) -> f64 {
        self.bytes as f64 / (self.calls.max(1)) as f64
    }

    pub(crate) fn each_ns(&self) -> f64 {
        self.cost_ns / self.on_path.max(1.0)
    }
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

/// Whether the command itself has more busy threads than there are CPUs.
pub(crate) fn crowded(lives: &[Life], cpus: usize, trace: &Trace) -> bool {
    let busy = lives.iter().filter(|life| hungry(life, trace));
    busy.map(Life::ns).sum::<f64>() / trace.duration_ns.max(1) as f64
        > t::CROWD_PER_CPU * cpus.max(1) as f64
}

/// A thread that wanted a CPU for half of its life, and lived long enough to count.
pub(crate) fn hungry(life: &Life, trace: &Trace) -> bool {
    let wants = life.on_cpu_ns + life.sums.get(Spent::Ready);
    wants >= 0.5 * life.ns() && life.ns() >= 0.2 * trace.duration_ns as f64
}

/// What the command is written in: the name of what it runs tells for interpreters.
fn language(subject: &Subject<'_>, trace: &Trace) -> Option<Language> {
    let last = trace
        .processes
        .first()
        .and_then(|process| process.execs.last());
    let by_name = last.and_then(|exec| Language::from_program_name(&exec.path));
    by_name.or(subject.language)
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
    pub(crate) fn new(subject: &'a Subject<'a>) -> Self {
        let trace = subject.trace;
        let descriptors = Descriptors::new(trace);
        let classifier = account::classifier(trace, &descriptors);
        let lives = account::lives(trace, &classifier);
        let pools = [Some(Language::Go), Some(Language::Node)].contains(&language(subject, trace));
        let path = path::find(trace, &lives, &classifier, pools);
        let off_spent = trace
            .off_cpu
            .iter()
            .map(|row| classifier.row(row))
            .collect();
        let account = path.sums.clone().into_account(trace.duration_ns);
        // On a busy machine all CPU time is stretched by waiting for a CPU: told apart, or shares
        // would shrink with every neighbour.
        let ready = account.share(Spent::Ready);
        let quiet = if crowded(&lives, subject.cpus, trace) {
            1.0
        } else if trace.tier == Some(Tier::Stops) {
            // It sees no waits; the timed runs know how long they waited for a CPU.
            1.0 - queued_share(subject.timed).min(0.95)
        } else {
            1.0 - ready.min(0.95)
        };
        let of = |value: fn(&Run) -> u64| median(subject.timed.iter().map(value).collect());
        let traced_cpu = (trace.accounts.user_ns + trace.accounts.system_ns) as f64;
        let cpu_ns = of(|run| run.cpu_ns).unwrap_or(traced_cpu);
        let timed_wall = of(|run| run.wall_ns)
            .unwrap_or(trace.duration_ns as f64)
            .max(1.0);
        // The timed runs may have had less of the neighbours than the observed one: no run is
        // shorter than its work takes.
        let least_wall = least_wall_ns(&lives, cpu_ns, subject.cpus).min(timed_wall);
        let calls: u64 = trace.syscalls.iter().map(|row| row.calls).sum();
        let mut view = Self {
            subject,
            trace,
            descriptors,
            off_spent,
            lives,
            path,
            account,
            wall_ns: (timed_wall * quiet).max(least_wall),
            quiet,
            cpu_ns,
            traced_ns: trace.duration_ns.max(1) as f64 * quiet,
            // More than 1 us per call is not the tracer but another load of the machine.
            overhead_ns: ((traced_cpu - faults::tracer_ns(trace) - cpu_ns) / calls.max(1) as f64)
                .clamp(0.0, 1000.0),
            each_by_ticks_ns: 0.0,
        };
        if view.by_stops() {
            view.each_by_ticks_ns = view.average_call_ns();
        }
        view
    }

    /// Part of the wall time, 0 to 1.
    pub(crate) fn share(&self, ns: f64) -> f64 {
        (ns / self.wall_ns).clamp(0.0, 1.0)
    }

    /// Time on the critical path spent on this, in time of an untraced run.
    pub(crate) fn spent_ns(&self, spent: Spent) -> f64 {
        self.untraced(self.account.ns(spent) as f64)
    }

    /// A time of the traced run in an untraced one: the same share of the wall time. A trace that
    /// was quicker than the timed runs isn't stretched.
    pub(crate) fn untraced(&self, ns: f64) -> f64 {
        ns * (self.wall_ns / self.traced_ns).min(1.0)
    }

    /// Part of this thread's time on a CPU that is on the critical path.
    pub(crate) fn weight(&self, tid: u32) -> f64 {
        self.path.weight(tid)
    }

    /// Whether the calls were seen by stopping at each: then their times hold the stops, and those
    /// after the budget was spent are missing.
    fn by_stops(&self) -> bool {
        self.trace.calls_from.or(self.trace.tier) == Some(Tier::Stops)
    }

    /// By how much a row's calls are to be multiplied: where only the first calls were seen, the
    /// kernel's own count of an untraced run tells how many reads and writes there were.
    fn missed(&self, row: &SyscallRow) -> f64 {
        let of_run = |count: fn(&fathom_model::IoCounts) -> u64| {
            let runs = self.subject.timed.iter();
            median(runs.filter_map(|run| run.io.as_ref().map(count)).collect())
        };
        let seen = |is: fn(&str) -> bool| {
            let rows = self.trace.syscalls.iter().filter(|row| is(&row.name));
            rows.map(|row| row.calls).sum::<u64>().max(1) as f64
        };
        let all = match &row.name {
            name if !self.by_stops() || name.starts_with("recv") || name.starts_with("send") => {
                None
            }
            name if classify::is_read(name) => {
                of_run(|io| io.read_calls).map(|all| all / seen(classify::is_read))
            }
            name if classify::is_write(name) => {
                of_run(|io| io.write_calls).map(|all| all / seen(classify::is_write))
            }
            _ => None,
        };
        all.unwrap_or(1.0).max(1.0)
    }

    /// What the calls of a row cost an untraced run.
    fn cost_ns(&self, row: &SyscallRow) -> f64 {
        if self.by_stops() {
            let each = self
                .subject
                .limits
                .syscall_seconds
                .unwrap_or(t::CALL_SECONDS)
                * 1e9;
            let modelled = each + AROUND_CALL_NS;
            return row.calls as f64 * self.missed(row) * modelled.max(self.each_by_ticks_ns);
        }
        let calls = row.calls.max(1) as f64;
        let least = self.subject.limits.syscall_seconds.unwrap_or(0.0) * 1e9;
        let measured = cpu_in_calls(row) / calls + AROUND_CALL_NS;
        self.weight(row.tid) * calls * measured.max(least).max(0.0)
    }

    /// What a call of a run costs on average by the kernel's own ticks, page faults taken off: for calls
    /// whose times are the stops'. 0 where there are too few ticks, or so few calls that they are a start's.
    fn average_call_ns(&self) -> f64 {
        let rows = self.trace.syscalls.iter();
        let calls: f64 = rows.map(|row| row.calls as f64 * self.missed(row)).sum();
        let of = |value: fn(&Run) -> u64| median(self.subject.timed.iter().map(value).collect());
        let faults = of(|run| run.minor_faults).unwrap_or(0.0) * t::PAGE_FAULT_SECONDS * 1e9;
        let system = of(|run| run.system_ns).unwrap_or(0.0) - faults;
        if system < t::ENOUGH_TICKS_NS || calls < t::CALLS_TO_DIVIDE_BY {
            return 0.0;
        }
        (system / calls).min(t::DEAREST_SMALL_CALL_NS)
    }

    /// Adds up the calls that fit.
    pub(crate) fn tally(&self, fits: impl Fn(&SyscallRow) -> bool) -> Tally {
        let mut sum = Tally::default();
        let mut most = 0.0;
        for row in self.trace.syscalls.iter().filter(|row| fits(row)) {
            let cost = self.cost_ns(row);
            if cost > most || sum.pid.is_none() {
                most = cost;
                sum.pid = Some(row.pid);
            }
            let missed = self.missed(row);
            let all = |n: u64| (n as f64 * missed).round() as u64;
            sum.calls += all(row.calls);
            sum.on_path += match self.by_stops() {
                true => row.calls as f64 * missed,
                false => row.calls as f64 * self.weight(row.tid),
            };
            sum.errors += row.errors;
            sum.would_block += row.would_block;
            sum.bytes += all(row.bytes);
            sum.cost_ns += cost;
            sum.total_ns += row.total_ns as f64;
            sum.sizes
                .iter_mut()
                .zip(row.sizes)
                .for_each(|(sum, n)| *sum += all(n));
        }
        // A part can't cost more CPU than the whole.
        sum.cost_ns = sum.cost_ns.min(0.97 * self.cpu_ns.min(self.wall_ns));
        sum
    }

    /// Adds up the calls of these names.
    pub(crate) fn tally_calls(&self, is: impl Fn(&str) -> bool) -> Tally {
        self.tally(|row| is(&row.name))
    }

    /// Off-CPU time on the critical path, in time of an untraced run, and the number of waits where
    /// that is known: a sampler sees one long wait many times and a short one not at all.
    pub(crate) fn off(&self, fits: impl Fn(&OffCpuRow) -> bool) -> (f64, Option<u64>) {
        let rows = self.trace.off_cpu.iter().zip(&self.off_spent);
        let rows = rows.filter(|(row, _)| fits(row));
        let (ns, count) = rows.fold((0.0, 0), |(ns, count), (row, spent)| {
            let weight = self.path.wait_weight(row.tid, *spent);
            (
                ns + self.untraced(row.total_ns as f64 * weight),
                count + row.count,
            )
        });
        (ns, self.counts_waits().then_some(count))
    }

    /// Whether the trace tells how often something was waited for.
    pub(crate) fn counts_waits(&self) -> bool {
        self.trace.tier != Some(Tier::Sample)
    }

    pub(crate) fn spawn_ns(&self) -> f64 {
        self.subject
            .limits
            .spawn_seconds
            .unwrap_or(t::SPAWN_SECONDS)
            * 1e9
    }

    pub(crate) fn process(&self, pid: u32) -> Option<&'a Process> {
        self.trace.processes.iter().find(|p| p.pid == pid)
    }

    /// Path of the program that a process runs: its own last one, or that of whom it is a copy of.
    pub(crate) fn program_of(&self, pid: u32) -> Option<&'a str> {
        let mut process = self.process(pid)?;
        for _ in 0..self.trace.processes.len() {
            if let Some(exec) = process.execs.last() {
                return Some(&exec.path);
            }
            process = self.process(process.parent?)?;
        }
        None
    }

    /// What a process is written in: the caller's word for the command, the name of the program
    /// for interpreters.
    pub(crate) fn language(&self, pid: Option<u32>) -> Option<Language> {
        let root = self.trace.processes.first().map(|p| p.pid);
        let process = self.process(pid.or(root)?);
        let by_name = process
            .and_then(|p| p.execs.last())
            .and_then(|exec| Language::from_program_name(&exec.path));
        by_name.or(self.subject.language)
    }

    /// CPU time of a process's threads as traced.
    pub(crate) fn cpu_of(&self, pid: u32) -> f64 {
        let own = self.lives.iter().filter(|life| life.pid == pid);
        own.map(|life| life.on_cpu_ns).sum()
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
            self.untraced(longest)
        } else {
            0.0
        }
    }

    /// CPU time of a process and its descendants as traced. Bounded like the tree's depth.
    pub(crate) fn tree_cpu(&self, pid: u32) -> f64 {
        let mut tree = vec![pid];
        let mut at = 0;
        while let Some(parent) = tree.get(at).copied() {
            let children = self
                .trace
                .processes
                .iter()
                .filter(|p| p.parent == Some(parent));
            tree.extend(children.map(|p| p.pid));
            at += 1;
            if at > self.trace.processes.len() {
                break;
            }
        }
        tree.into_iter().map(|pid| self.cpu_of(pid)).sum()
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
        let rows = self.trace.off_cpu.iter();
        let waits = rows.filter(|row| {
            let call = row.call.as_deref();
            row.tid == tid && row.cause == Cause::Asleep && call.is_some_and(&is)
        });
        waits.map(|row| row.count).sum()
    }

    /// What must be known to trust the answer.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut told = Vec::new();
        let waits: Vec<u64> = self
            .subject
            .timed
            .iter()
            .filter_map(|run| run.run_queue_wait_ns)
            .collect();
        if let Some(wait) = median(waits)
            && self.share(wait) >= t::NEIGHBOURS_SHARE
        {
            told.push(format!(
                "The timed runs waited {:.0} % of their time for a CPU that others had; run again on a quiet machine.",
                100.0 * self.share(wait)
            ));
        }
        if self.trace.tier == Some(Tier::Sample)
            && self.account.share(Spent::Unaccounted) >= t::UNSEEN_SHARE
        {
            told.push(format!(
                "The samples missed {:.0} % of the time: the run is too short for them, or the machine too busy. The account says little.",
                100.0 * self.account.share(Spent::Unaccounted)
            ));
        }
        if !self.trace.lost.is_none() {
            told.push("Parts of the trace were lost; its counts are lower limits.".to_owned());
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(median(vec![4, 1, 3, 2]), Some(2.5));
        assert_eq!(median(vec![9]), Some(9.0));
        assert_eq!(median(vec![]), None);
    }

    #[test]
    fn stops_take_the_cost_of_a_call_from_the_kernels_ticks() {
        use crate::fake::Fake;
        let cost = |system_ms: u64| {
            let mut fake = Fake::new(1000);
            fake.trace.tier = Some(Tier::Stops);
            fake.calls("getrusage", None, 20_000, 0, 90_000);
            let timed = [Run {
                system_ns: system_ms * 1_000_000,
                ..fake.run()
            }];
            let subject = fake.subject(&timed);
            View::new(&subject).tally_calls(classify::is_clock).cost_ns
        };
        // 20 ms of ticks are too few: 0.25 us and 45 ns around each call.
        assert_eq!(cost(20).round(), 5_900_000.0);
        assert_eq!(cost(60).round(), 20_000.0 * 1_600.0);
    }
}
