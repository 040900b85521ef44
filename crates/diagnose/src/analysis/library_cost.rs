//! Estimates how much of the program's own time is spent in the code of the language's library around each
//! system call.

use std::collections::{BTreeMap, HashMap};

use fathom_model::{ThreadRole, TimeCategory};
use fathom_trace::SyscallRow;

use super::Analysis;
use crate::calls;
use crate::runtimes::{Around, Habit, Runtime};
use crate::thread_times::ThreadTimes;
use crate::whereabouts::Entries;

/// The calls of one process, and the library's work around them.
struct Done {
    runtime: &'static Runtime,
    times: f64,
    ns: f64,
    of_own: f64,
}

impl Done {
    fn by(runtime: &'static Runtime) -> Self {
        Self {
            runtime,
            times: 0.0,
            ns: 0.0,
            of_own: 0.0,
        }
    }

    fn add(&mut self, times: f64, around: Around) {
        self.times += times;
        self.ns += times * around.ns;
        self.of_own += times * around.of_own;
    }

    /// Returns the library's time, which is limited to the given time of the process's own code.
    fn ns_of(&self, own_ns: f64) -> f64 {
        self.ns.min(own_ns * self.of_own / self.times.max(1.0))
    }
}

impl Analysis<'_> {
    /// Returns the modelled library time around the matching calls, in ns on the critical path of an untraced
    /// run.
    pub(crate) fn library_ns(&self, fits: impl Fn(&SyscallRow) -> bool) -> f64 {
        let mut done: BTreeMap<(u32, bool), (Done, f64)> = BTreeMap::new();
        let is_alone = |row: &SyscallRow| !calls::moves_bytes(&row.name);
        for row in self.trace.syscalls.iter().filter(|row| fits(row)) {
            let by = || (Done::by(self.runtime(Some(row.pid))), 0.0);
            let of_process = done.entry((row.pid, is_alone(row))).or_insert_with(by);
            let around = of_process.0.runtime.library.around(&row.name, row.fd);
            of_process.0.add(self.calls_on_path(row), around);
            of_process.1 += self.cost_ns(row);
        }
        let around = done.iter().map(|((pid, alone), (done, in_kernel_ns))| {
            let model = done.ns_of(self.own_code_ns(*pid));
            match self.in_entries_ns(*pid, |row| fits(row) && is_alone(row) == *alone) {
                None => model,
                // Functions that open or query a file do little else, so they take at most about as much time
                // as the kernel does.
                Some(sampled) if *alone => sampled.min(in_kernel_ns.max(model)),
                // Functions that move bytes also work on a buffer.
                Some(sampled) => sampled.min(model),
            }
        });
        around.sum()
    }

    /// Returns the calls that a runtime makes for work of this role, by their index in the trace. Each comes
    /// with the part of it that belongs to the role, 0 to 1. Thread names decide, or stacks where they are
    /// available.
    pub(crate) fn calls_of_role(&self, role: ThreadRole) -> Vec<(usize, f64)> {
        let mut known: HashMap<(u32, &str), (f64, f64)> = HashMap::new();
        let stacks = self.trace.stacks.iter().flat_map(|stacks| &stacks.rows);
        for (at, row) in stacks.enumerate() {
            let Some(call) = row.call.as_deref() else {
                continue;
            };
            let weight = if row.ns > 0 { row.ns } else { row.calls } as f64;
            let work = self.works.of_stack(at);
            let (of_role, all) = known.entry((row.tid, call)).or_default();
            *all += weight;
            if work.is_some_and(|(work, _)| work.role == role) {
                *of_role += weight;
            }
        }
        let rows = self.trace.syscalls.iter().enumerate();
        let parts = rows.map(|(at, row)| {
            let of_thread = self.works.of_thread(row.tid).map(|work| work.role);
            let part = match known.get(&(row.tid, row.name.as_str())) {
                _ if of_thread == Some(role) => 1.0,
                Some((of_role, all)) => of_role / all.max(1.0),
                None => 0.0,
            };
            (at, part)
        });
        parts.filter(|(_, part)| *part > 0.0).collect()
    }

    /// Returns the time of a process's own code that samples found in the library functions that make the
    /// matching calls. It is in ns on the critical path of an untraced run, and is an upper limit for the
    /// work around the calls. Returns `None` if stacks don't show it.
    fn in_entries_ns(&self, pid: u32, fits: impl Fn(&SyscallRow) -> bool) -> Option<f64> {
        if self.runtime(Some(pid)).has(Habit::Interprets) || self.trace.stacks.is_none() {
            return None;
        }
        let mut calls: BTreeMap<u32, Vec<&SyscallRow>> = BTreeMap::new();
        for row in self.rows_of_process(pid).filter(|row| fits(row)) {
            calls.entry(row.tid).or_default().push(row);
        }
        let each = calls.iter().filter_map(|(tid, calls)| {
            let part = self.entries().part(*tid, calls)?;
            Some(part * self.as_untraced(self.thread(*tid)?, TimeCategory::UserCode))
        });
        each.fold(None, |sum, ns| Some(sum.unwrap_or(0.0) + ns))
    }

    /// Returns the time of a process's own code that samples found in the library functions by which it opens
    /// one of these paths. It is in ns on the critical path of an untraced run; 0 if stacks don't show it.
    pub(crate) fn in_openers_ns(&self, pid: u32, paths: &[String]) -> f64 {
        let each = self.threads_of(pid).filter_map(|times| {
            let part = self.entries().part_of_openers(times.tid, paths)?;
            Some(part * self.as_untraced(times, TimeCategory::UserCode))
        });
        each.sum()
    }

    /// Returns the time that the libraries of the parent processes need to start the programs that these
    /// processes run, in ns on the critical path of an untraced run.
    pub(crate) fn library_of_starts_ns(&self, pids: impl Iterator<Item = u32>) -> f64 {
        let mut done: BTreeMap<u32, Done> = BTreeMap::new();
        let processes = pids.filter_map(|pid| self.process(pid));
        let programs = processes.filter(|process| !process.execs.is_empty());
        for parent in programs.filter_map(|process| process.parent) {
            let of_parent = self.done_by(&mut done, parent);
            of_parent.add(1.0, of_parent.runtime.library.around_start());
        }
        let around = done.iter();
        let around = around.map(|(pid, done)| done.ns_of(self.own_code_ns(*pid)));
        around.sum()
    }

    /// Returns the time of all threads' own code in an untraced run, in ns, on the critical path or not. The
    /// library time for creating the threads is subtracted: process `pid` created `made` of them.
    pub(crate) fn work_of_threads_ns(&self, pid: Option<u32>, made: u64) -> f64 {
        let threads = self.threads.iter();
        let own = threads.map(|times| {
            times.sums.get(TimeCategory::UserCode) * self.factor(TimeCategory::UserCode)
        });
        let own: f64 = own.sum();
        let mut making = Done::by(self.runtime(pid));
        making.add(made as f64, making.runtime.library.around_thread());
        own - making.ns_of(own)
    }

    /// Returns the time that a thread computes in an untraced run, on the critical path or not. What samples
    /// found in the library functions that make the matching calls is subtracted.
    pub(crate) fn work_ns(&self, times: &ThreadTimes, fits: impl Fn(&SyscallRow) -> bool) -> f64 {
        let calls = self.rows_of(times.tid).filter(|row| fits(row));
        let within = self.entries().part(times.tid, &calls.collect::<Vec<_>>());
        let own = times.sums.get(TimeCategory::UserCode) * self.factor(TimeCategory::UserCode);
        own * (1.0 - within.unwrap_or(0.0))
    }

    fn entries(&self) -> &Entries {
        let entries = || Entries::new(self.trace, self.routes());
        self.entries.get_or_init(entries)
    }

    /// Returns the entry of a process. Its runtime is looked up only once, because that is slow for thousands
    /// of processes.
    fn done_by<'d>(&self, done: &'d mut BTreeMap<u32, Done>, pid: u32) -> &'d mut Done {
        done.entry(pid)
            .or_insert_with(|| Done::by(self.runtime(Some(pid))))
    }

    fn own_code_ns(&self, pid: u32) -> f64 {
        let threads = self.threads_of(pid);
        let own = threads.map(|times| self.as_untraced(times, TimeCategory::UserCode));
        own.sum()
    }

    /// Returns the time of a process's own code and its memory on the critical path, in ns of an untraced
    /// run.
    pub(crate) fn own_ns(&self, pid: u32) -> f64 {
        let threads = self.threads_of(pid);
        let parts = [TimeCategory::UserCode, TimeCategory::PageFaults];
        let ran = threads.flat_map(|times| parts.map(|spent| self.as_untraced(times, spent)));
        ran.sum()
    }

    fn as_untraced(&self, times: &ThreadTimes, spent: TimeCategory) -> f64 {
        times.sums.get(spent) * self.weight(times.tid) * self.factor(spent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use crate::runtimes::Language;

    fn of_reads(calls: u64, language: Option<Language>) -> f64 {
        let mut fake = Fake::new(1000);
        fake.language = language;
        fake.calls("read", Some(0), calls, 1, 500);
        let timed = [fake.run()];
        let observation = fake.observation(&timed);
        Analysis::new(&observation).library_ns(|row| row.name == "read")
    }

    #[test]
    fn a_call_takes_what_its_language_takes() {
        assert_eq!(of_reads(100_000, Some(Language::Python)), 30e6);
        assert_eq!(of_reads(100_000, Some(Language::C)), 2e6);
        assert_eq!(of_reads(100_000, None), 0.0);
    }

    #[test]
    fn node_puts_what_it_prints_through_its_streams() {
        let of_writes = |fd| {
            let mut fake = Fake::new(1000);
            fake.language = Some(Language::Node);
            fake.calls("write", Some(fd), 100_000, 5_000_000, 500);
            let timed = [fake.run()];
            let observation = fake.observation(&timed);
            Analysis::new(&observation).library_ns(|row| row.name == "write")
        };
        assert_eq!(of_writes(1), 150e6);
        assert_eq!(of_writes(20), 30e6);
    }

    #[test]
    fn no_more_goes_with_calls_than_the_code_has() {
        // The program's own code around 1,600,000 calls of 545 ns takes 128 ms.
        let most = of_reads(1_600_000, Some(Language::Python));
        assert!((most - 0.4 * 128e6).abs() < 1e6, "{most}");
    }

    #[test]
    fn only_starts_of_programs_have_a_library() {
        let mut fake = Fake::new(1000);
        fake.language = Some(Language::Python);
        (0..100).for_each(|i| fake.child(200 + i, 0, 900, 1));
        let of = |fake: &Fake| {
            let timed = [fake.run()];
            let observation = fake.observation(&timed);
            Analysis::new(&observation).library_of_starts_ns(200..300)
        };
        assert_eq!(of(&fake), 20e6);
        (1..=100).for_each(|i| fake.trace.processes[i].execs.clear());
        assert_eq!(of(&fake), 0.0);
    }
}
