//! Synthetic traces for tests: a process, its threads, calls and waits.

use fathom_model::{Exit, Finding, Run};
use fathom_stacks::Frame;
use fathom_trace::{
    Activity, Cause, DescriptorRow, End, Exec, FileRow, FunctionRow, Interval, Limited, LookupRow,
    OffCpuRow, Process, Profile, StackRow, SyscallRow, Thread, Tier, Trace,
};

use crate::observation::{Languages, Limits, Observation};
use crate::runtimes::Language;

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const ROOT: u32 = 100;

/// Checks the text of a variant that doesn't occur in any recorded trace. It is compared with a snapshot next
/// to those of the recorded traces.
pub(crate) fn hold_words(variant: &str, finding: &Finding) {
    let names = finding.evidence.iter();
    let names: Vec<String> = names
        .map(|it| format!("{} ({})", it.name, it.unit))
        .collect();
    let words = format!(
        "{}\nadvice: {}\nevidence: {}\nlimit: {}",
        finding.statement,
        finding.advice,
        names.join(", "),
        finding.limit.as_deref().unwrap_or("none"),
    );
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots");
    insta::with_settings!({ snapshot_path => folder, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(format!("made_up__{}__{variant}", finding.id), words);
    });
}

/// A trace under construction.
pub(crate) struct Fake {
    pub trace: Trace,
    pub language: Option<Language>,
    pub languages: Languages,
    pub unbuffered_by_variable: bool,
    pub limits: Limits,
    pub cpus: usize,
    pub cpu_limit: Option<f64>,
}

impl Fake {
    /// Creates a single-threaded command that runs for this time and computes all the time, except during the
    /// waits that are added.
    pub(crate) fn new(milliseconds: u64) -> Self {
        let duration_ns = milliseconds * MS;
        let trace = Trace {
            tier: Some(Tier::Kernel),
            duration_ns,
            end: End {
                code: Some(0),
                ..End::default()
            },
            ..Trace::default()
        };
        let mut fake = Self {
            trace,
            language: None,
            languages: Languages::new(),
            unbuffered_by_variable: false,
            limits: Limits::default(),
            cpus: 2,
            cpu_limit: None,
        };
        fake.process(ROOT, None, "program", 0, milliseconds);
        fake.thread(ROOT, ROOT, 0, milliseconds, milliseconds);
        fake
    }

    /// Adds a process; its threads are added separately.
    pub(crate) fn process(
        &mut self,
        pid: u32,
        parent: Option<u32>,
        name: &str,
        from: u64,
        to: u64,
    ) {
        let exec = Exec {
            at_ns: from * MS,
            path: format!("/bin/{name}"),
            ..Exec::default()
        };
        self.trace.processes.push(Process {
            pid,
            parent,
            started_ns: from * MS,
            ended_ns: Some(to * MS),
            end: Some(self.trace.end),
            execs: vec![exec],
            first_output_ns: None,
        });
    }

    /// Adds a thread, given its beginning, its end and its CPU time in milliseconds.
    pub(crate) fn thread(&mut self, pid: u32, tid: u32, from: u64, to: u64, cpu: u64) {
        self.trace.threads.push(Thread {
            pid,
            tid,
            name: "worker".to_owned(),
            started_ns: from * MS,
            ended_ns: Some(to * MS),
            on_cpu_ns: Some(cpu * MS),
            minor_faults: Some(0),
            ..Thread::default()
        });
    }

    /// Adds stacks of the command's first thread, with the outermost frame first: one stack per ms, for
    /// `samples` ms.
    pub(crate) fn stack(
        &mut self,
        activity: Activity,
        call: Option<&str>,
        frames: impl IntoIterator<Item = Frame>,
        milliseconds: u64,
    ) {
        let stacks = self.trace.stacks.get_or_insert_default();
        stacks.rows.push(StackRow {
            pid: ROOT,
            tid: ROOT,
            activity,
            call: call.map(str::to_owned),
            fd: None,
            path: None,
            woken_by: None,
            node: stacks.tree.add(frames),
            samples: milliseconds,
            calls: 0,
            ns: milliseconds * MS,
        });
    }

    /// Adds samples that found a thread in a function, one per ms.
    pub(crate) fn in_function(&mut self, tid: u32, file: &str, function: &str, samples: u64) {
        let pid = self.pid_of(tid);
        let profile = self.trace.profile.get_or_insert_with(|| Profile {
            period_ns: 997_000,
            functions: Vec::new(),
            lost: 0,
        });
        profile.functions.push(FunctionRow {
            pid,
            tid,
            file: file.to_owned(),
            function: (!function.is_empty()).then(|| function.to_owned()),
            samples,
            spins: 0,
        });
    }

    /// Adds a child with one thread.
    pub(crate) fn child(&mut self, pid: u32, from: u64, to: u64, cpu: u64) {
        self.process(pid, Some(ROOT), "child", from, to);
        self.thread(pid, pid, from, to, cpu);
    }

    /// Adds calls of the main thread, each of which takes this much CPU time.
    pub(crate) fn calls(
        &mut self,
        name: &str,
        fd: Option<i32>,
        calls: u64,
        bytes: u64,
        ns: u64,
    ) -> &mut SyscallRow {
        self.calls_of(ROOT, name, fd, calls, bytes, ns)
    }

    pub(crate) fn calls_of(
        &mut self,
        tid: u32,
        name: &str,
        fd: Option<i32>,
        calls: u64,
        bytes: u64,
        ns: u64,
    ) -> &mut SyscallRow {
        let pid = self.pid_of(tid);
        let mut sizes = [0; 8];
        let limits = fathom_trace::SIZE_LIMITS;
        sizes[limits.iter().position(|most| bytes <= *most).unwrap_or(7)] = calls;
        self.trace.syscalls.push(SyscallRow {
            pid,
            tid,
            name: name.to_owned(),
            fd,
            calls,
            bytes: bytes * calls,
            total_ns: ns * calls,
            blocked_ns: Some(0),
            ready_ns: Some(0),
            sizes,
            ..SyscallRow::default()
        });
        self.trace.syscalls.last_mut().expect("just pushed")
    }

    /// Adds waits of the main thread, all of the same length in microseconds. They reduce the CPU time.
    pub(crate) fn waits(
        &mut self,
        call: Option<&str>,
        fd: Option<i32>,
        cause: Cause,
        count: u64,
        us: u64,
    ) {
        self.waits_of(ROOT, call, fd, cause, count, us);
    }

    pub(crate) fn waits_of(
        &mut self,
        tid: u32,
        call: Option<&str>,
        fd: Option<i32>,
        cause: Cause,
        count: u64,
        us: u64,
    ) {
        let (pid, each) = (self.pid_of(tid), us * 1000);
        let mut by_length = vec![0; 26];
        let class = (each as f64 / 1024.0).log2().floor() as usize + 1;
        by_length[class.min(25)] = count as u32;
        self.trace.off_cpu.push(OffCpuRow {
            pid,
            tid,
            call: call.map(str::to_owned),
            fd,
            cause,
            count,
            total_ns: each * count,
            longest_ns: Some(each),
            by_length,
            object: None,
            limited: Limited::default(),
        });
        if let Some(thread) = self.trace.threads.iter_mut().find(|t| t.tid == tid) {
            let cpu = thread.on_cpu_ns.unwrap_or(0);
            thread.on_cpu_ns = Some(cpu.saturating_sub(each * count));
        }
    }

    /// Adds one wait to the timeline, given its start, its wake-up and the return to a CPU in milliseconds.
    /// It reduces the CPU time.
    pub(crate) fn wait_for(
        &mut self,
        tid: u32,
        call: &str,
        fd: Option<i32>,
        (from, woken, to): (u64, u64, u64),
        woken_by: Option<u32>,
    ) {
        self.waits_of(tid, Some(call), fd, Cause::Asleep, 1, (woken - from) * 1000);
        if to > woken {
            self.waits_of(tid, Some(call), fd, Cause::Ready, 1, (to - woken) * 1000);
        }
        let interval = Interval {
            pid: self.pid_of(tid),
            tid,
            from_ns: from * MS,
            woken_ns: Some(woken * MS),
            to_ns: to * MS,
            cause: Cause::Asleep,
            call: Some(call.to_owned()),
            fd,
            woken_by,
            object: None,
        };
        let timeline = self.trace.timeline.get_or_insert_default();
        timeline.push(interval);
    }

    fn pid_of(&self, tid: u32) -> u32 {
        self.trace
            .threads
            .iter()
            .find(|t| t.tid == tid)
            .map_or(ROOT, |t| t.pid)
    }

    /// Sets what a descriptor of the command refers to.
    pub(crate) fn descriptor(&mut self, fd: i32, name: &str) {
        self.descriptor_of(ROOT, fd, name);
    }

    pub(crate) fn descriptor_of(&mut self, pid: u32, fd: i32, name: &str) {
        let names = vec![name.into()];
        self.trace.descriptors.push(DescriptorRow {
            pid,
            fd,
            names,
            more_names: 0,
        });
    }

    pub(crate) fn file(&mut self, name: &str, opens: u64, reads: u64, read_bytes: u64, at: u64) {
        self.trace.files.push(FileRow {
            pid: ROOT,
            name: name.into(),
            opens,
            reads,
            read_bytes,
            first_ns: at,
            ..FileRow::default()
        });
    }

    pub(crate) fn misses(&mut self, call: &str, path: &str, calls: u64) {
        self.trace.failed_lookups.push(LookupRow {
            pid: ROOT,
            call: call.to_owned(),
            path: path.to_owned(),
            errno: 2,
            calls,
            first_ns: 0,
        });
    }

    /// Returns an untraced run as long as the trace.
    pub(crate) fn run(&self) -> Run {
        let cpu = self.trace.threads.iter().filter_map(|t| t.on_cpu_ns).sum();
        run(self.trace.duration_ns, cpu)
    }

    /// Adds CPU times and an untraced run as long as the trace, and returns the findings.
    pub(crate) fn findings(&mut self) -> Vec<Finding> {
        let cpu: u64 = self.trace.threads.iter().filter_map(|t| t.on_cpu_ns).sum();
        self.trace.accounts.user_ns = cpu;
        let timed = [self.run()];
        crate::diagnose(&self.observation(&timed)).findings
    }

    pub(crate) fn ids(&mut self) -> Vec<&'static str> {
        self.findings()
            .into_iter()
            .map(|finding| finding.id.as_str())
            .collect()
    }

    pub(crate) fn observation(&self, timed: &[Run]) -> Observation {
        Observation {
            trace: self.trace.clone(),
            timed: timed.to_vec(),
            floor_seconds: None,
            cpus: self.cpus,
            limits: self.limits.clone(),
            cpu_limit: self.cpu_limit,
            language: self.language,
            languages: self.languages.clone(),
            unbuffered_by_variable: self.unbuffered_by_variable,
            more_samples: None,
        }
    }
}

/// Returns a successful timed run.
pub(crate) fn run(wall_ns: u64, cpu_ns: u64) -> Run {
    Run {
        benchmark: 0,
        round: 0,
        position: 0,
        started_ns: 0,
        wall_ns,
        spawn_ns: 0,
        cpu_ns,
        user_ns: cpu_ns,
        system_ns: 0,
        run_queue_wait_ns: None,
        harness_wait_ns: None,
        undisturbed_ns: None,
        peak_memory_bytes: 0,
        minor_faults: 0,
        major_faults: 0,
        voluntary_switches: 0,
        involuntary_switches: 0,
        io: None,
        steal_ns: None,
        throttled_ns: None,
        delayed_ns: None,
        left_behind: 0,
        exit: Exit::Code(0),
    }
}
