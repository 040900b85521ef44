//! Divides the trace by stage: determines the owner of each process, the pipe of each descriptor, and the
//! kind of each wait.

use std::borrow::Cow;
use std::collections::HashMap;

use fathom_measure::pipeline::TracedRound;
use fathom_model::PipeState;
use fathom_trace::{Cause, DescriptorKind, Interval, MemberEnd, OffCpuRow, Tier, Trace};

use super::timeline::{STATES, Span, ThreadTimeline};
use crate::calls;
use crate::intervals::woken_ns;

fn takes(call: &str) -> bool {
    calls::is_read(call) || calls::takes_within_kernel(call)
}

fn puts(call: &str) -> bool {
    calls::is_write(call) || calls::puts_within_kernel(call)
}

/// The trace, divided by stage.
pub(super) struct ByStage<'a> {
    pub trace: &'a Trace,
    pub members: &'a [MemberEnd],
    links: &'a [String],
    stage_of: HashMap<u32, usize>,
    names: HashMap<(u32, i32), &'a [DescriptorKind]>,
    intervals: HashMap<usize, Vec<&'a Interval>>,
    /// The numbers of bytes that a process read from and wrote to the object of this name.
    moved: HashMap<(u32, Cow<'a, str>), (u64, u64)>,
}

impl<'a> ByStage<'a> {
    pub(super) fn of(traced: &'a TracedRound) -> ByStage<'a> {
        let group = &traced.group;
        let trace = &group.trace;
        let roots = group.members.iter().enumerate();
        let mut stage_of: HashMap<u32, usize> = roots.map(|(at, one)| (one.pid, at)).collect();
        // Processes are in the order of their start, so a parent comes before its children.
        for process in &trace.processes {
            if let Some(stage) = process
                .parent
                .and_then(|parent| stage_of.get(&parent))
                .copied()
            {
                stage_of.entry(process.pid).or_insert(stage);
            }
        }
        let rows = trace.descriptors.iter();
        let names = rows
            .map(|row| ((row.pid, row.fd), row.names.as_slice()))
            .collect();
        let mut intervals: HashMap<usize, Vec<&Interval>> = HashMap::new();
        for interval in trace.timeline.iter().flatten() {
            if let Some(stage) = stage_of.get(&interval.pid) {
                intervals.entry(*stage).or_default().push(interval);
            }
        }
        let mut moved: HashMap<(u32, Cow<'_, str>), (u64, u64)> = HashMap::new();
        for file in &trace.files {
            let sums = moved.entry((file.pid, file.name.text())).or_default();
            sums.0 += file.read_bytes;
            sums.1 += file.written_bytes;
        }
        ByStage {
            trace,
            moved,
            members: &group.members,
            links: &traced.links,
            stage_of,
            names,
            intervals,
        }
    }

    pub(super) fn is(&self, stage: usize, pid: u32) -> bool {
        self.stage_of.get(&pid) == Some(&stage)
    }

    pub(super) fn input(&self, stage: usize) -> Option<&str> {
        self.links.get(stage.checked_sub(1)?).map(String::as_str)
    }

    pub(super) fn output(&self, stage: usize) -> Option<&str> {
        self.links.get(stage).map(String::as_str)
    }

    /// Returns whether the descriptor was this pipe. A descriptor number that was used for several objects
    /// counts only in a process that transferred bytes through the pipe, because closing an unused descriptor
    /// leaves no row.
    pub(super) fn leads_to(&self, pid: u32, fd: Option<i32>, link: Option<&str>) -> bool {
        let (Some(fd), Some(link)) = (fd, link) else {
            return false;
        };
        let names = self.names.get(&(pid, fd));
        let leads = names.is_some_and(|names| names.iter().any(|name| *name == *link));
        leads && (names.is_some_and(|names| names.len() == 1) || self.moved(pid, link) != (0, 0))
    }

    pub(super) fn moved(&self, pid: u32, link: &str) -> (u64, u64) {
        self.moved
            .get(&(pid, link.into()))
            .copied()
            .unwrap_or_default()
    }

    pub(super) fn state(
        &self,
        stage: usize,
        pid: u32,
        call: Option<&str>,
        fd: Option<i32>,
        cause: Cause,
    ) -> PipeState {
        let call = call.unwrap_or("");
        match cause {
            Cause::Preempted | Cause::Ready => PipeState::NoCpu,
            Cause::Running => PipeState::Running,
            Cause::Disk | Cause::Stopped | Cause::Unseen => PipeState::OtherWait,
            Cause::Asleep | Cause::Uninterruptible => {
                if takes(call) && self.leads_to(pid, fd, self.input(stage)) {
                    PipeState::WaitingForInput
                } else if puts(call) && self.leads_to(pid, fd, self.output(stage)) {
                    PipeState::WaitingForReader
                } else {
                    PipeState::OtherWait
                }
            }
        }
    }

    /// Returns when the stage was about to execute its program.
    pub(super) fn start_of(&self, stage: usize) -> u64 {
        let member = &self.members[stage];
        let process = self.trace.processes.iter().find(|p| p.pid == member.pid);
        process.map_or(member.started_ns, |process| process.started_ns)
    }

    pub(super) fn end_of(&self, stage: usize) -> u64 {
        let member = &self.members[stage];
        let process = self.trace.processes.iter().find(|p| p.pid == member.pid);
        let ended = process.and_then(|process| process.ended_ns);
        ended.unwrap_or(member.ended_ns)
    }

    pub(super) fn threads(&self, stage: usize, end: u64) -> Vec<ThreadTimeline> {
        let mut timelines: HashMap<u32, ThreadTimeline> = HashMap::new();
        for thread in self.trace.threads.iter().filter(|t| self.is(stage, t.pid)) {
            let timeline = timelines.entry(thread.tid).or_default();
            timeline.from = match timeline.to {
                0 => thread.started_ns,
                _ => timeline.from.min(thread.started_ns),
            };
            timeline.to = timeline.to.max(thread.ended_ns.unwrap_or(end).min(end));
        }
        let unnamed = self.unnamed(stage);
        for interval in self.intervals.get(&stage).into_iter().flatten() {
            let state = match self.is_unnamed(interval) {
                true => unnamed
                    .get(&interval.tid)
                    .copied()
                    .unwrap_or(PipeState::OtherWait),
                false => self.interval_state(stage, interval),
            };
            let Some(timeline) = timelines.get_mut(&interval.tid) else {
                continue;
            };
            let woken = woken_ns(interval);
            timeline.off.push(Span {
                from: interval.from_ns,
                to: woken,
                state,
            });
            timeline.off.push(Span {
                from: woken,
                to: interval.to_ns,
                state: PipeState::NoCpu,
            });
        }
        timelines.into_values().collect()
    }

    fn interval_state(&self, stage: usize, interval: &Interval) -> PipeState {
        let call = interval.call.as_deref();
        self.state(stage, interval.pid, call, interval.fd, interval.cause)
    }

    /// Returns whether no sample fell into the wait, so that its time is known but its cause isn't.
    fn is_unnamed(&self, interval: &Interval) -> bool {
        let is_perf = self.trace.tier == Some(Tier::Perf);
        is_perf && interval.call.is_none() && interval.cause == Cause::Asleep
    }

    /// Returns what most of each thread's unnamed waits were for. The rows hold all of the thread's waits,
    /// and the timeline names some of them; the difference is the unnamed ones. For `wc` behind `gzip`, nine
    /// in ten waits are shorter than the sampling interval; when they were counted as running, 6 ms of work
    /// became 86 ms.
    fn unnamed(&self, stage: usize) -> HashMap<u32, PipeState> {
        let mut left: HashMap<u32, [u64; STATES]> = HashMap::new();
        let rows = self.trace.off_cpu.iter();
        for row in rows.filter(|row| self.is(stage, row.pid) && row.call.is_some()) {
            let state = self.state(stage, row.pid, row.call.as_deref(), row.fd, row.cause);
            left.entry(row.tid).or_default()[state as usize] += row.total_ns;
        }
        let named = self.intervals.get(&stage).into_iter().flatten();
        for interval in named.filter(|interval| !self.is_unnamed(interval)) {
            if let Some(sums) = left.get_mut(&interval.tid) {
                let sum = &mut sums[self.interval_state(stage, interval) as usize];
                *sum = sum.saturating_sub(interval.to_ns - interval.from_ns);
            }
        }
        let waits = [
            PipeState::WaitingForInput,
            PipeState::WaitingForReader,
            PipeState::OtherWait,
        ];
        let most =
            |sums: [u64; STATES]| waits.into_iter().max_by_key(|state| sums[*state as usize]);
        let all = left.into_iter();
        all.filter_map(|(tid, sums)| Some((tid, most(sums)?)))
            .collect()
    }

    /// Returns the total time of waits with unknown cause, for threads with no sample in any of their waits.
    pub(super) fn unknown_ns(&self, stage: usize) -> u64 {
        let rows = self
            .trace
            .off_cpu
            .iter()
            .filter(|row| self.is(stage, row.pid));
        let unknown = rows.filter(|row| row.cause == Cause::Asleep && row.call.is_none());
        match self.trace.tier {
            Some(Tier::Perf) => unknown.map(|row| row.total_ns).sum(),
            _ => 0,
        }
    }

    /// Returns whether the stage tried to read from the stage before, even if it got nothing.
    pub(super) fn reads(&self, stage: usize) -> bool {
        let input = self.input(stage);
        let rows = self.trace.syscalls.iter();
        let mut asked = rows.filter(|row| self.is(stage, row.pid));
        asked.any(|row| takes(&row.name) && self.leads_to(row.pid, row.fd, input))
    }

    /// Returns the waits of a single-threaded stage, including the shortest ones: for input, for the reader,
    /// for other things, and for a CPU. They are only available if the tier counts every wait. The perf tier
    /// has the time that was ready without a CPU (`ready_ns`) in its timeline only.
    pub(super) fn exact(&self, stage: usize, ready_ns: u64) -> Option<(u64, u64, u64, u64)> {
        let is_perf = match self.trace.tier {
            Some(Tier::Kernel) => false,
            Some(Tier::Perf) => true,
            _ => return None,
        };
        let rows = self.trace.off_cpu.iter().filter(|r| self.is(stage, r.pid));
        let mut sums = [0u64; STATES];
        for row in rows {
            let OffCpuRow { pid, fd, cause, .. } = row;
            let state = self.state(stage, *pid, row.call.as_deref(), *fd, *cause);
            sums[state as usize] += row.total_ns;
        }
        let of = |state: PipeState| sums[state as usize];
        Some((
            of(PipeState::WaitingForInput),
            of(PipeState::WaitingForReader),
            of(PipeState::OtherWait),
            match is_perf {
                true => ready_ns,
                false => of(PipeState::NoCpu),
            },
        ))
    }

    pub(super) fn traffic(&self, stage: usize) -> Moved {
        let mut moved = Moved::default();
        if self.trace.tier != Some(Tier::Kernel) {
            return moved;
        }
        let (input, output) = (self.input(stage), self.output(stage));
        let pids = || {
            self.stage_of
                .iter()
                .filter(|(_, of)| **of == stage)
                .map(|(pid, _)| *pid)
        };
        moved.bytes_in = input.map(|link| pids().map(|pid| self.moved(pid, link).0).sum());
        moved.bytes_out = output.map(|link| pids().map(|pid| self.moved(pid, link).1).sum());
        for row in self.trace.syscalls.iter().filter(|r| self.is(stage, r.pid)) {
            let name = row.name.as_str();
            if takes(name) && self.leads_to(row.pid, row.fd, input) {
                moved.first_in = earlier(moved.first_in, row.first_moved_ns);
                moved.last_in = moved.last_in.max(row.last_moved_ns);
                if calls::takes_within_kernel(name) {
                    moved.bytes_in = moved.bytes_in.map(|bytes| bytes + row.bytes);
                }
            }
            if puts(name) && self.leads_to(row.pid, row.fd, output) {
                moved.first_out = earlier(moved.first_out, Some(row.first_ns));
                moved.last_out = moved.last_out.max(row.last_moved_ns);
                if calls::puts_within_kernel(name) {
                    moved.bytes_out = moved.bytes_out.map(|bytes| bytes + row.bytes);
                }
            }
        }
        moved
    }
}

/// The bytes that went through a stage's two pipes, and when.
#[derive(Debug, Default)]
pub(super) struct Moved {
    pub first_in: Option<u64>,
    pub last_in: Option<u64>,
    pub first_out: Option<u64>,
    pub last_out: Option<u64>,
    pub bytes_in: Option<u64>,
    pub bytes_out: Option<u64>,
}

fn earlier(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
