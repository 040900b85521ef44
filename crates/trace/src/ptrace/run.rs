//! Handles the stops of a command and its descendants.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::entry::EntryStop;
use super::execed;
use super::requests::{self, SyscallStop};
use super::stacks::CallStacks;
use super::table::{Entered, Table, is_reported, memory_of};
use crate::calls;
use crate::collect::Collector;
use crate::command::TraceOptions;
use crate::error::{TraceError, system};
use crate::inherited;
use crate::name_maps::NameMaps;
use crate::paths;
use crate::records::{CallKey, Executed, Exited, Record, Who, until_zero};
use crate::result::{StopReading, Trace};
use crate::spawn::Held;
use crate::watch::now;

/// The limitation that is reported for a run that is stopped at its calls.
pub const TIMES_HOLD_STOPS: &str = "how much of a call's time was spent waiting: a call's time also includes its work and the stops themselves, so \
     it is shown as unaccounted";

const STOP_AT_CALL: i32 = libc::SIGTRAP | 0x80;

/// The most of the time between two stops that counts as spent. In a longer time without a stop, the command
/// computes or waits as it does untraced.
const MOST_OF_A_STOP: Duration = Duration::from_millis(1);

/// Number of stops of a process between two readings of its clock.
const STOPS_A_READING: u64 = 32;

/// State of the traced threads.
pub(super) struct Run {
    root: u32,
    tracees: HashMap<u32, Tracee>,
    table: Table,
    collector: Collector,
    examined: u64,
    most: u64,
    /// When the tracer handled the previous stop.
    previous: Instant,
    /// How much of the budget of time is spent, and the budget.
    spent: Duration,
    may_spend: Duration,
    /// The total time for which the command was held at milestones, while its clock stood still, ns.
    held: u64,
    start: u64,
    stops: u64,
    /// The last reading of each process, with the number of its stops so far.
    reading: HashMap<u32, StopReading>,
    readings: Vec<StopReading>,
    only_milestones: bool,
    letting_go: bool,
    begun: bool,
    /// Set-uid programs that ran without their privileges because they were traced.
    without_rights: Vec<String>,
    stacks: Option<CallStacks>,
}

#[derive(Clone, Copy)]
struct Tracee {
    who: Who,
    call: Option<Entered>,
    entry: Option<EntryStop>,
}

impl Tracee {
    fn new(who: Who) -> Self {
        Self {
            who,
            call: None,
            entry: None,
        }
    }
}

impl Run {
    /// Creates the state for a held command. `start` is in ns of the monotonic clock.
    pub(super) fn new(root: u32, start: u64, options: &TraceOptions) -> Self {
        let who = Who {
            tid: root,
            pid: root,
        };
        Self {
            root,
            tracees: HashMap::from([(root, Tracee::new(who))]),
            table: Table::default(),
            collector: Collector::new(start, &[root], None),
            examined: 0,
            most: options.most_stops,
            previous: Instant::now(),
            spent: Duration::ZERO,
            may_spend: options.stops_time,
            held: 0,
            start,
            stops: 0,
            reading: HashMap::new(),
            readings: Vec::new(),
            only_milestones: options.only_milestones,
            letting_go: false,
            begun: false,
            without_rights: Vec::new(),
            stacks: options.stacks.as_ref().map(CallStacks::new),
        }
    }

    /// Names the command's initial descriptors.
    pub(super) fn name_descriptors(&mut self, labels: &[(String, String)]) {
        inherited::name_descriptors(&mut self.collector.names, self.root, labels);
    }

    /// Receives the ids of processes that may write maps of names.
    pub(super) fn name_maps(&mut self, maps: Option<Arc<NameMaps>>) {
        self.collector.name_maps = maps;
    }

    /// Returns the total time for which the command was held at milestones, ns.
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// Handles stops until the command has ended; then ends the remaining processes.
    pub(super) fn handle_stops(
        &mut self,
        child: &mut Held,
    ) -> Result<(i32, libc::rusage, u64), TraceError> {
        let mut ending = None;
        while !self.tracees.is_empty() || ending.is_none() {
            if ending.is_some() {
                // Don't wait for threads that no longer exist: the guardian, which is also a child of this
                // process, lives as long as this process.
                self.tracees.retain(|tid, _| is_traced(*tid));
                if self.tracees.is_empty() {
                    break;
                }
            }
            let mut status = 0;
            // SAFETY: an all-zero rusage is valid.
            let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
            let flags = libc::__WALL | libc::__WNOTHREAD;
            // SAFETY: both pointers are to live values.
            let tid = unsafe { libc::wait4(-1, &raw mut status, flags, &raw mut usage) };
            if tid == -1 {
                let error = io::Error::last_os_error();
                if error.kind() == io::ErrorKind::Interrupted {
                    continue;
                }
                if let Some(ending) = ending {
                    return Ok(ending);
                }
                return Err(system("waiting for the command")(error));
            }
            let stopped = now();
            let since = self.previous.elapsed();
            self.previous += since;
            self.spent += since.min(MOST_OF_A_STOP);
            let (tid, time) = (tid as u32, stopped - self.held);
            if libc::WIFSTOPPED(status) {
                self.stopped(tid, status, time);
                continue;
            }
            self.gone(tid, status, time);
            if tid == self.root {
                ending = Some((status, usage, time));
                child.reaped();
                for tid in self.tracees.keys() {
                    // SAFETY: a traced thread keeps its id until it is reaped here.
                    unsafe { libc::kill(*tid as i32, libc::SIGKILL) };
                }
            }
        }
        ending.ok_or_else(|| system("waiting for the command")(io::ErrorKind::NotFound.into()))
    }

    /// Counts a stop of this process.
    fn count(&mut self, pid: u32, time: u64) {
        self.stops += 1;
        let reading = self.reading.entry(pid).or_default();
        reading.stops += 1;
        if reading.stops.is_multiple_of(STOPS_A_READING) {
            self.read_clock(pid, time);
        }
    }

    fn read_clock(&mut self, pid: u32, time: u64) {
        let reading = self.reading.entry(pid).or_default();
        if let Some(cpu_ns) = cpu_ns(pid) {
            (reading.pid, reading.cpu_ns) = (pid, cpu_ns);
            reading.at_ns = time.saturating_sub(self.start);
            self.readings.push(*reading);
        }
    }

    fn gone(&mut self, tid: u32, status: i32, time: u64) {
        let Some(tracee) = self.tracees.remove(&tid) else {
            // The thread was released before; only the end of the command itself is still needed.
            if tid == self.root {
                let who = Who { tid, pid: tid };
                self.collector.apply(exit(who, status, time));
            }
            return;
        };
        if let Some(call) = tracee.call {
            self.table.cut_off(tracee.who, &call, time);
        }
        self.collector.apply(exit(tracee.who, status, time));
    }

    fn stopped(&mut self, tid: u32, status: i32, time: u64) {
        if !self.tracees.contains_key(&tid) {
            self.add(tid, time);
        }
        if let Some(tracee) = self.tracees.get(&tid) {
            self.count(tracee.who.pid, time);
        }
        let (signal, event) = (libc::WSTOPSIG(status), status >> 16);
        let mut deliver = 0;
        match event {
            0 if signal == STOP_AT_CALL => self.at_call(tid, time),
            0 if signal == libc::SIGTRAP && self.entered(tid, time) => {}
            0 => deliver = signal,
            libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK => {
                if let Ok(new) = requests::event_message(tid) {
                    self.announced(new, time);
                }
            }
            libc::PTRACE_EVENT_EXEC => self.exec(tid, time),
            libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP && !self.letting_go => {
                // This is a job-control stop, and the thread must stay stopped. The request only fails if the
                // thread was killed in the meantime.
                let _ = requests::listen(tid);
                return;
            }
            _ => {}
        }
        if !self.letting_go && (self.examined >= self.most || self.spent >= self.may_spend) {
            self.let_go();
        }
        // Before the command's first program begins, its clock doesn't count. The clock is read before the
        // command continues, because the command may take this CPU and run to its end.
        if self.only_milestones && self.begun {
            self.held += now() - self.held - time;
        }
        // Both requests fail only if the thread was killed in the meantime; its end is reported next.
        if self.letting_go {
            let entry = self.tracees.get(&tid).and_then(|tracee| tracee.entry);
            entry.iter().for_each(|entry| entry.take_out(tid));
            if requests::detach(tid, deliver).is_ok() {
                let tracee = self.tracees.remove(&tid);
                if let Some(Tracee {
                    who,
                    call: Some(call),
                    ..
                }) = tracee
                {
                    self.table.cut_off(who, &call, time);
                }
            }
        } else if self.only_milestones {
            let _ = requests::to_next_event(tid, deliver);
        } else {
            let _ = requests::to_next_call(tid, deliver);
        }
    }

    /// Returns whether the thread has reached its program's own first instruction.
    fn entered(&mut self, tid: u32, time: u64) -> bool {
        let Some(tracee) = self.tracees.get_mut(&tid) else {
            return false;
        };
        let reached = tracee.entry.take_if(|entry| entry.reached(tid));
        if let Some(entry) = reached {
            let (who, loaded) = (tracee.who, entry.is_loaded());
            self.collector.apply(Record::Entered { time, who, loaded });
            self.read_clock(who.pid, time);
        }
        reached.is_some()
    }

    /// Requests that all threads stop. Each is released once it has stopped.
    fn let_go(&mut self) {
        self.letting_go = true;
        for tid in self.tracees.keys() {
            // This fails if the thread has ended or is already stopped, which is fine.
            let _ = requests::interrupt(*tid);
        }
    }

    fn announced(&mut self, new: u32, time: u64) {
        // The new thread may have stopped and been released, or it may have ended, before this event.
        if !self.tracees.contains_key(&new) && is_traced(new) {
            self.add(new, time);
        }
    }

    fn add(&mut self, tid: u32, time: u64) {
        let pid = status_number(tid, "Tgid:").unwrap_or(tid);
        let parent = match pid == tid {
            true => status_number(tid, "PPid:").unwrap_or(self.root),
            false => pid,
        };
        let who = Who { tid, pid };
        if pid == tid {
            self.stacks
                .iter_mut()
                .for_each(|stacks| stacks.changed(pid));
        }
        let parent = Who {
            tid: parent,
            pid: parent,
        };
        self.collector.apply(Record::Fork {
            time,
            parent,
            child: who,
        });
        self.tracees.insert(tid, Tracee::new(who));
    }

    fn exec(&mut self, tid: u32, time: u64) {
        self.begun = true;
        self.stacks
            .iter_mut()
            .for_each(|stacks| stacks.changed(tid));
        let old_tid = requests::event_message(tid).unwrap_or(tid);
        let call = self.tracees.get(&old_tid).and_then(|tracee| tracee.call);
        if let Some(mut tracee) = self.tracees.remove(&old_tid) {
            tracee.who.tid = tid;
            tracee.entry = EntryStop::set(tid);
            self.tracees.insert(tid, tracee);
        }
        let path = fs::read_link(format!("/proc/{tid}/exe"));
        let path = path.map_or_else(|_| String::new(), |p| p.to_string_lossy().into_owned());
        if execed::lacks_rights(tid, &path) && !self.without_rights.contains(&path) {
            self.without_rights.push(path.clone());
        }
        let asked = execed::asked(tid).unwrap_or_default();
        let mut arguments = fs::read(format!("/proc/{tid}/cmdline")).unwrap_or_default();
        let arguments_cut = arguments.len() > 512;
        arguments.truncate(512);
        self.collector.apply(Record::Exec(Executed {
            time,
            who: Who { tid, pid: tid },
            called: call.map_or(0, |call| call.at),
            old_tid,
            path: path.as_bytes(),
            asked: asked.as_os_str().as_bytes(),
            arguments: &arguments,
            arguments_cut,
        }));
    }

    fn at_call(&mut self, tid: u32, time: u64) {
        let Some(tracee) = self.tracees.get_mut(&tid) else {
            return;
        };
        match requests::syscall(tid) {
            // The calls with which the held child itself waits are not part of the command.
            Ok(Some(SyscallStop::Entry { nr, .. })) if !self.begun && !is_execve(nr) => {}
            Ok(Some(SyscallStop::Entry { nr, args })) => {
                self.begun = true;
                self.examined += 1;
                let memory = |at, len| requests::memory(tid, at, len);
                let call = Entered::new(nr, args, time, memory);
                tracee.call = Some(call);
                if let Some(stacks) = &mut self.stacks {
                    let names = &self.collector.names;
                    let on = || names.kind(tracee.who.pid, call.fd);
                    stacks.entered(tracee.who, &call, time, on);
                }
            }
            Ok(Some(SyscallStop::Exit { result })) => {
                if let Some(call) = tracee.call.take() {
                    let who = tracee.who;
                    self.returned(who, &call, result, time);
                }
            }
            // The thread was killed between the stop and the request.
            Ok(None) | Err(_) => {}
        }
    }

    fn returned(&mut self, who: Who, call: &Entered, result: i64, time: u64) {
        if let Some(stacks) = &mut self.stacks {
            stacks.returned(who, call);
        }
        let memory = |at, len| requests::memory(who.tid, at, len);
        self.table.returned(who, call, result, time, memory);
        if self.examined * 2 >= self.most || self.spent * 2 >= self.may_spend {
            self.table.was_late(who, call);
        }
        let Entered { nr, args, at, .. } = *call;
        let flags = calls::flags(nr);
        // After a successful exec, the caller's memory no longer exists.
        let stays = flags & calls::REPLACES == 0;
        let has_path = stays && flags & (calls::PATH0 | calls::PATH1) != 0;
        let reported = is_reported(nr, &args, result);
        if !reported && !has_path {
            return;
        }
        let payload = match flags {
            f if f & calls::CLOSE0 != 0 => self.table.totals(who, nr, args[0] as i32),
            f if f & calls::CLOSE1 != 0 => self.table.totals(who, nr, args[1] as i32),
            _ => memory_of(nr, &args)
                .map_or_else(Vec::new, |(at, len)| requests::memory(who.tid, at, len)),
        };
        if reported {
            self.collector.apply(Record::Call {
                time,
                who,
                nr,
                result,
                args: [args[0], args[1], args[2]],
                payload: &payload,
            });
        }
        if has_path {
            let took = time - at;
            self.collector.apply(Record::Object {
                time,
                who,
                nr,
                fd: call.fd,
                directory: args[0],
                path: until_zero(&payload),
                ns: took,
                took,
                has_stack: false,
            });
        }
    }

    pub(super) fn trace(mut self, end: u64) -> Trace {
        if let Some(stacks) = self.stacks.take() {
            stacks.finish();
        }
        let rows = std::mem::take(&mut self.table.rows);
        self.collector.end(rows, Vec::new(), &[], end);
        let mut trace = self.collector.trace();
        paths::mark(&mut trace);
        for row in &mut trace.syscalls {
            (row.blocked_ns, row.ready_ns) = (None, None);
            let who = Who {
                tid: row.tid,
                pid: row.pid,
            };
            let key = CallKey {
                who,
                nr: row.number,
                fd: row.fd.unwrap_or(-1),
            };
            row.late_calls = self.table.second_half.get(&key).copied().unwrap_or(0);
        }
        for thread in &mut trace.threads {
            (thread.on_cpu_ns, thread.minor_faults, thread.major_faults) = (None, None, None);
            (thread.voluntary_switches, thread.involuntary_switches) = (None, None);
        }
        trace.not_visible.push(TIMES_HOLD_STOPS.to_owned());
        trace.without_rights = self.without_rights;
        let lacking = trace.rights_not_visible();
        trace.not_visible.extend(lacking);
        trace.calls_cut = self.letting_go;
        (trace.stops, trace.stop_readings) = (self.stops, self.readings);
        if self.letting_go {
            trace.not_visible.push(format!(
                "the calls after the first {}: from then on, the command ran untraced",
                self.examined
            ));
        }
        trace
    }
}

fn is_execve(nr: u32) -> bool {
    i64::from(nr & !calls::ENTRY_32) == libc::SYS_execve
}

fn exit(who: Who, status: i32, time: u64) -> Record<'static> {
    Record::Exit(Exited {
        time,
        who,
        code: status,
        ..Exited::default()
    })
}

/// Returns the CPU time of all threads of a process, ns.
fn cpu_ns(pid: u32) -> Option<u64> {
    let mut clock = 0;
    // SAFETY: the pointer is to a live value.
    if unsafe { libc::clock_getcpuclockid(pid as i32, &raw mut clock) } != 0 {
        return None;
    }
    // SAFETY: an all-zero timespec is valid, and the pointer is to a live value.
    let mut time: libc::timespec = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    let known = unsafe { libc::clock_gettime(clock, &raw mut time) } == 0;
    known.then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Returns whether a thread exists and is traced; a dead one that has not been reaped counts.
fn is_traced(tid: u32) -> bool {
    status_number(tid, "TracerPid:").is_some_and(|tracer| tracer != 0)
}

/// Returns a number from `/proc/TID/status`.
fn status_number(tid: u32, key: &str) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    crate::sample::parse::status_number(&status, key)
}
