//! What does a trace of the whole pipeline say of each stage? Pure.

use std::collections::HashMap;

use fathom_model::{Exit, PipeRound, PipeState, PipeStretch, StageRun};
use fathom_trace::{Cause, End, GroupTrace, Interval, MemberEnd, OffCpuRow, Tier, Trace};

use super::modelled::Phases;
use super::sweep::{self, Doing, Life, Span};

/// Cells of time into which a picture divides the pipeline's life.
const CELLS: u64 = 480;

/// The names under which the trace knows the pipes between the stages, in their order.
#[derive(Debug, Clone)]
pub struct Links(pub Vec<String>);

/// An observed round.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The stages.
    pub round: PipeRound,
    /// How each stage's own time lies around its input; empty where first and last bytes are not seen.
    pub phases: Vec<Phases>,
    /// Own time of each stage, nanoseconds: neither waiting for a neighbour nor for a CPU.
    pub own_ns: Vec<u64>,
    /// What the tier could not see.
    pub not_visible: Vec<String>,
    /// What was seen and could not be kept.
    pub lost: Vec<String>,
    /// A run that was ended by its time limit or by the user says nothing of the whole.
    pub cut_short: bool,
}

/// Reads calls that wait for bytes, by name.
const READS: [&str; 9] = [
    "read", "readv", "pread64", "preadv", "preadv2", "recvfrom", "recvmsg", "splice", "tee",
];
/// And those that wait for room. Of `sendfile` the first argument is where it writes to.
const WRITES: [&str; 9] = [
    "write", "writev", "pwrite64", "pwritev", "pwritev2", "sendto", "sendmsg", "sendfile",
    "vmsplice",
];
/// Of both: calls between two descriptors, whose bytes the trace gives to no file.
const UNFILED: [&str; 4] = ["splice", "tee", "sendfile", "vmsplice"];
/// Calls that wait for one of several descriptors: which one is not seen.
const POLLS: [&str; 8] = [
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "io_uring_enter",
];
/// Of a stage's wall time; below that it is not worth a sentence.
const WORTH_SAYING: f64 = 0.05;

/// What the trace says.
pub fn seen(group: &GroupTrace, links: &Links) -> Seen {
    let trace = &group.trace;
    let view = View::of(group, links);
    let mut result = Seen {
        round: PipeRound {
            wall_ns: trace.duration_ns,
            stages: Vec::new(),
            left_behind: 0,
        },
        phases: Vec::new(),
        own_ns: Vec::new(),
        not_visible: trace.not_visible.clone(),
        lost: losses(trace),
        cut_short: group.members.iter().any(|member| member.end.cut_short),
    };
    let ends = (0..group.members.len()).map(|stage| view.end_of(stage));
    if let Some(last) = ends.max() {
        result.round.wall_ns = last;
    }
    for (stage, member) in group.members.iter().enumerate() {
        let (run, phases, own) = view.stage(stage, member, result.round.wall_ns);
        result.round.stages.push(run);
        result.phases.extend(phases);
        result.own_ns.push(own);
    }
    if result.phases.len() < group.members.len() {
        result.phases.clear();
    }
    result.not_visible.extend(view.polls());
    result
}

/// The trace, by stage.
struct View<'a> {
    trace: &'a Trace,
    members: &'a [MemberEnd],
    links: &'a [String],
    stage_of: HashMap<u32, usize>,
    names: HashMap<(u32, i32), &'a [String]>,
    intervals: HashMap<usize, Vec<&'a Interval>>,
    /// Bytes that a process read from and wrote to what has this name.
    moved: HashMap<(u32, &'a str), (u64, u64)>,
}

impl<'a> View<'a> {
    fn of(group: &'a GroupTrace, links: &'a Links) -> View<'a> {
        let trace = &group.trace;
        let roots = group.members.iter().enumerate();
        let mut stage_of: HashMap<u32, usize> = roots.map(|(at, one)| (one.pid, at)).collect();
        // In the order in which they began: a parent comes before its children.
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
        let mut moved: HashMap<(u32, &str), (u64, u64)> = HashMap::new();
        for file in &trace.files {
            let sums = moved.entry((file.pid, file.name.as_str())).or_default();
            sums.0 += file.read_bytes;
            sums.1 += file.written_bytes;
        }
        View {
            trace,
            moved,
            members: &group.members,
            links: &links.0,
            stage_of,
            names,
            intervals,
        }
    }

    fn is(&self, stage: usize, pid: u32) -> bool {
        self.stage_of.get(&pid) == Some(&stage)
    }

    fn input(&self, stage: usize) -> Option<&str> {
        self.links.get(stage.checked_sub(1)?).map(String::as_str)
    }

    fn output(&self, stage: usize) -> Option<&str> {
        self.links.get(stage).map(String::as_str)
    }

    /// Whether the descriptor was this pipe. A number that was several things in turn counts only in a
    /// process that moved bytes through the pipe: that a descriptor is closed unused is not told.
    fn leads_to(&self, pid: u32, fd: Option<i32>, link: Option<&str>) -> bool {
        let (Some(fd), Some(link)) = (fd, link) else {
            return false;
        };
        let names = self.names.get(&(pid, fd));
        let leads = names.is_some_and(|names| names.iter().any(|name| name == link));
        leads && (names.is_some_and(|names| names.len() == 1) || self.moved(pid, link) != (0, 0))
    }

    fn moved(&self, pid: u32, link: &str) -> (u64, u64) {
        self.moved.get(&(pid, link)).copied().unwrap_or_default()
    }

    fn doing(
        &self,
        stage: usize,
        pid: u32,
        call: Option<&str>,
        fd: Option<i32>,
        cause: Cause,
    ) -> Doing {
        let call = call.unwrap_or("");
        match cause {
            Cause::Preempted | Cause::Ready => Doing::Ready,
            Cause::Running => Doing::Running,
            Cause::Disk | Cause::Stopped => Doing::WaitsForOther,
            Cause::Asleep | Cause::Uninterruptible => {
                if READS.contains(&call) && self.leads_to(pid, fd, self.input(stage)) {
                    Doing::WaitsForInput
                } else if WRITES.contains(&call) && self.leads_to(pid, fd, self.output(stage)) {
                    Doing::WaitsForReader
                } else {
                    Doing::WaitsForOther
                }
            }
        }
    }

    /// When it was about to execute its program.
    fn start_of(&self, stage: usize) -> u64 {
        let member = &self.members[stage];
        let process = self.trace.processes.iter().find(|p| p.pid == member.pid);
        process.map_or(member.started_ns, |process| process.started_ns)
    }

    fn end_of(&self, stage: usize) -> u64 {
        let member = &self.members[stage];
        let process = self.trace.processes.iter().find(|p| p.pid == member.pid);
        let told = process.and_then(|process| process.ended_ns);
        told.unwrap_or(member.ended_ns)
    }

    fn lives(&self, stage: usize, end: u64) -> Vec<Life> {
        let mut lives: HashMap<u32, Life> = HashMap::new();
        for thread in self.trace.threads.iter().filter(|t| self.is(stage, t.pid)) {
            let life = lives.entry(thread.tid).or_default();
            life.from = match life.to {
                0 => thread.started_ns,
                _ => life.from.min(thread.started_ns),
            };
            life.to = life.to.max(thread.ended_ns.unwrap_or(end).min(end));
        }
        for interval in self.intervals.get(&stage).into_iter().flatten() {
            let call = interval.call.as_deref();
            let doing = self.doing(stage, interval.pid, call, interval.fd, interval.cause);
            let Some(life) = lives.get_mut(&interval.tid) else {
                continue;
            };
            let woken = interval.woken_ns.unwrap_or(interval.to_ns);
            let woken = woken.clamp(interval.from_ns, interval.to_ns);
            life.off.push(Span {
                from: interval.from_ns,
                to: woken,
                doing,
            });
            life.off.push(Span {
                from: woken,
                to: interval.to_ns,
                doing: Doing::Ready,
            });
        }
        lives.into_values().collect()
    }

    fn stage(
        &self,
        stage: usize,
        member: &MemberEnd,
        wall: u64,
    ) -> (StageRun, Option<Phases>, u64) {
        let (start, end) = (self.start_of(stage), self.end_of(stage));
        let lives = self.lives(stage, end);
        let spans = sweep::stage(&lives, start, end);
        let total = |doing| sweep::time_of(&spans, doing, start, end);
        let exact = (lives.len() == 1).then(|| self.exact(stage)).flatten();
        let (input, reader, other, ready) = exact.unwrap_or_else(|| {
            (
                total(Doing::WaitsForInput),
                total(Doing::WaitsForReader),
                total(Doing::WaitsForOther),
                total(Doing::Ready),
            )
        });
        let life = end.saturating_sub(start);
        let able = life.saturating_sub(input + reader + other + ready);
        let cpu = member.accounts.user_ns + member.accounts.system_ns;
        let sampled = self.trace.tier == Some(Tier::Sample);
        // Samples can't tell running from ready; the accounts tell how much of it was running.
        let (running, ready) = match sampled && lives.len() == 1 && able > cpu {
            true => (cpu, ready + able - cpu),
            false => (able, ready),
        };
        let moved = self.traffic(stage);
        let run = StageRun {
            start_ns: start,
            first_in_ns: moved.first_in,
            last_in_ns: moved.last_in,
            first_out_ns: moved.first_out,
            end_ns: end,
            cpu_ns: cpu,
            running_ns: Some(running),
            wait_input_ns: Some(input),
            wait_output_ns: Some(reader),
            other_wait_ns: Some(other + ready),
            no_cpu_ns: (!sampled || lives.len() == 1).then_some(ready),
            bytes_in: moved.bytes_in,
            bytes_out: moved.bytes_out,
            peak_memory_bytes: member.accounts.peak_memory_bytes,
            io: None,
            exit: exit(member.end),
            stretches: stretches(&spans, wall),
        };
        let phases = self.phases(&run, &spans, running + other);
        (run, phases, running + other)
    }

    /// The waits of a stage of one thread, none of them too short to be counted: for input, for the
    /// reader, for other things, for a CPU. Only where the tier counts every wait.
    fn exact(&self, stage: usize) -> Option<(u64, u64, u64, u64)> {
        if self.trace.tier != Some(Tier::Kernel) {
            return None;
        }
        let rows = self.trace.off_cpu.iter().filter(|r| self.is(stage, r.pid));
        let mut sums = [0u64; 5];
        for row in rows {
            let OffCpuRow { pid, fd, cause, .. } = row;
            let doing = self.doing(stage, *pid, row.call.as_deref(), *fd, *cause);
            sums[doing as usize] += row.total_ns;
        }
        let of = |doing: Doing| sums[doing as usize];
        Some((
            of(Doing::WaitsForInput),
            of(Doing::WaitsForReader),
            of(Doing::WaitsForOther),
            of(Doing::Ready),
        ))
    }

    fn traffic(&self, stage: usize) -> Moved {
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
            if READS.contains(&name) && self.leads_to(row.pid, row.fd, input) {
                moved.first_in = earlier(moved.first_in, row.first_moved_ns);
                moved.last_in = moved.last_in.max(row.last_moved_ns);
                if UNFILED.contains(&name) {
                    moved.bytes_in = moved.bytes_in.map(|bytes| bytes + row.bytes);
                }
            }
            if WRITES.contains(&name) && self.leads_to(row.pid, row.fd, output) {
                moved.first_out = earlier(moved.first_out, Some(row.first_ns));
                if UNFILED.contains(&name) {
                    moved.bytes_out = moved.bytes_out.map(|bytes| bytes + row.bytes);
                }
            }
        }
        moved
    }

    /// How the own time lies around the input.
    fn phases(&self, run: &StageRun, spans: &[Span], own_ns: u64) -> Option<Phases> {
        if self.trace.tier != Some(Tier::Kernel) {
            return None;
        }
        let until = |to: u64| {
            let own = [Doing::Running, Doing::WaitsForOther];
            let sums = own.map(|doing| sweep::time_of(spans, doing, run.start_ns, to));
            sums.iter().sum::<u64>() as f64
        };
        // Short waits are in no span: the spans' sum is a little more than the own time.
        let scale = own_ns as f64 / until(run.end_ns).max(1.0);
        let at = |to: u64| until(to) * scale / 1e9;
        let whole = own_ns as f64 / 1e9;
        Some(Phases {
            first_in: run.first_in_ns.map(at),
            last_in: run.last_in_ns.map(at),
            first_out: run.first_out_ns.map(at),
            whole,
            cpu: run.cpu_ns as f64 / 1e9,
            start: run.start_ns as f64 / 1e9,
        })
    }

    /// Says of which stages waits could not be told apart.
    fn polls(&self) -> Option<String> {
        let mut stages = Vec::new();
        for stage in 0..self.members.len() {
            let rows = self
                .trace
                .off_cpu
                .iter()
                .filter(|row| self.is(stage, row.pid));
            let polled = rows.filter(|row| {
                let call = row.call.as_deref().unwrap_or("");
                row.cause == Cause::Asleep && POLLS.contains(&call)
            });
            let ns: u64 = polled.map(|row| row.total_ns).sum();
            let life = self.end_of(stage).saturating_sub(self.start_of(stage));
            if ns as f64 > WORTH_SAYING * life as f64 {
                stages.push((stage + 1).to_string());
            }
        }
        (!stages.is_empty()).then(|| {
            format!(
                "stage {} waits in poll, select or epoll: for which descriptor is not seen, so such \
                 waits are among the other waits",
                stages.join(", ")
            )
        })
    }
}

#[derive(Debug, Default)]
struct Moved {
    first_in: Option<u64>,
    last_in: Option<u64>,
    first_out: Option<u64>,
    bytes_in: Option<u64>,
    bytes_out: Option<u64>,
}

fn earlier(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

fn exit(end: End) -> Exit {
    match (end.code, end.signal) {
        _ if end.cut_short => Exit::TimedOut,
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Code(0),
    }
}

/// What the stage did in each cell of the picture, whatever it did most of it; neighbours that are
/// alike are one.
fn stretches(spans: &[Span], wall: u64) -> Vec<PipeStretch> {
    let cell = (wall / CELLS).max(1);
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
        return Vec::new();
    };
    let mut stretches: Vec<PipeStretch> = Vec::new();
    let mut from = first.from;
    let mut at = 0;
    while from < last.to {
        let to = ((from / cell + 1) * cell).min(last.to);
        while at < spans.len() && spans[at].to <= from {
            at += 1;
        }
        let mut times = [0u64; 5];
        for span in spans[at..].iter().take_while(|span| span.from < to) {
            times[span.doing as usize] += span.to.min(to).saturating_sub(span.from.max(from));
        }
        let state = most(&times);
        match stretches.last_mut() {
            Some(last) if last.state == state => last.to_ns = to,
            _ => stretches.push(PipeStretch {
                from_ns: from,
                to_ns: to,
                state,
            }),
        }
        from = to;
    }
    stretches
}

fn most(times: &[u64; 5]) -> PipeState {
    let of = |doing: Doing| times[doing as usize];
    let states = [
        (PipeState::NoCpu, of(Doing::Ready)),
        (PipeState::OtherWait, of(Doing::WaitsForOther)),
        (PipeState::WaitingForReader, of(Doing::WaitsForReader)),
        (PipeState::WaitingForInput, of(Doing::WaitsForInput)),
        (PipeState::Running, of(Doing::Running)),
    ];
    let most = states.into_iter().max_by_key(|(_, time)| *time);
    most.map_or(PipeState::OtherWait, |(state, _)| state)
}

fn losses(trace: &Trace) -> Vec<String> {
    let lost = &trace.lost;
    let kinds = [
        (lost.calls, "calls found the table of calls full"),
        (lost.off_cpu, "waits found their table full"),
        (lost.records, "waits, forks or exits found the ring full"),
        (lost.threads, "threads could not be followed"),
        (lost.intervals, "waits are counted but not in the picture"),
    ];
    kinds
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_trace::{DescriptorRow, FileRow, Process, SyscallRow, Thread};

    const MS: u64 = 1_000_000;

    fn asleep(pid: u32, from: u64, to: u64, call: &str, fd: i32) -> Interval {
        Interval {
            pid,
            tid: pid,
            from_ns: from * MS,
            woken_ns: Some(to * MS),
            to_ns: to * MS,
            cause: Cause::Asleep,
            call: Some(call.to_string()),
            fd: Some(fd),
            woken_by: None,
        }
    }

    fn row(interval: &Interval) -> OffCpuRow {
        OffCpuRow {
            pid: interval.pid,
            tid: interval.tid,
            call: interval.call.clone(),
            fd: interval.fd,
            cause: interval.cause,
            count: 1,
            total_ns: interval.to_ns - interval.from_ns,
            longest_ns: None,
            by_length: Vec::new(),
        }
    }

    /// A writer of 10 ms that sleeps first, and a reader that waits for it.
    fn group() -> GroupTrace {
        let intervals = vec![
            asleep(1, 1, 7, "clock_nanosleep", -1),
            asleep(2, 1, 8, "read", 0),
        ];
        let thread = |pid: u32, end: u64| Thread {
            pid,
            tid: pid,
            ended_ns: Some(end * MS),
            ..Thread::default()
        };
        let process = |pid: u32, end: u64| Process {
            pid,
            ended_ns: Some(end * MS),
            ..Process::default()
        };
        let pipe = |pid: u32, fd: i32| DescriptorRow {
            pid,
            fd,
            names: vec!["pipe:[9]".to_string()],
            more_names: 0,
        };
        let call = |pid: u32, name: &str, fd: i32, first: u64| SyscallRow {
            pid,
            tid: pid,
            name: name.to_string(),
            fd: Some(fd),
            bytes: 100,
            first_ns: first * MS,
            first_moved_ns: Some(8 * MS),
            last_moved_ns: Some(8 * MS),
            ..SyscallRow::default()
        };
        let file = |pid: u32, read_bytes: u64, written_bytes: u64| FileRow {
            pid,
            name: "pipe:[9]".to_string(),
            read_bytes,
            written_bytes,
            ..FileRow::default()
        };
        GroupTrace {
            trace: Trace {
                tier: Some(Tier::Kernel),
                duration_ns: 11 * MS,
                processes: vec![process(1, 10), process(2, 11)],
                threads: vec![thread(1, 10), thread(2, 11)],
                off_cpu: intervals.iter().map(row).collect(),
                syscalls: vec![call(1, "write", 1, 7), call(2, "read", 0, 1)],
                descriptors: vec![pipe(1, 1), pipe(2, 0)],
                files: vec![file(1, 0, 100), file(2, 100, 0)],
                timeline: Some(intervals),
                ..Trace::default()
            },
            members: [1, 2]
                .map(|pid| MemberEnd {
                    pid,
                    ..MemberEnd::default()
                })
                .to_vec(),
        }
    }

    #[test]
    fn waiting_for_the_pipe_is_told_from_sleeping() {
        let seen = seen(&group(), &Links(vec!["pipe:[9]".to_string()]));
        let [writer, reader] = &seen.round.stages[..] else {
            panic!("two stages");
        };
        assert_eq!(writer.other_wait_ns, Some(6 * MS));
        assert_eq!(
            (writer.wait_input_ns, writer.wait_output_ns),
            (Some(0), Some(0))
        );
        assert_eq!(reader.wait_input_ns, Some(7 * MS));
        assert_eq!(reader.running_ns, Some(4 * MS));
        assert_eq!(
            (reader.first_in_ns, reader.bytes_in),
            (Some(8 * MS), Some(100))
        );
        assert_eq!((writer.first_out_ns, writer.bytes_in), (Some(7 * MS), None));
        assert_eq!(seen.round.wall_ns, 11 * MS);
        assert_eq!(seen.own_ns, [10 * MS, 4 * MS]);
    }

    #[test]
    fn the_picture_has_no_gap() {
        let seen = seen(&group(), &Links(vec!["pipe:[9]".to_string()]));
        for stage in &seen.round.stages {
            let joined = stage.stretches.windows(2);
            assert!(
                joined
                    .into_iter()
                    .all(|pair| pair[0].to_ns == pair[1].from_ns)
            );
            assert_eq!(stage.stretches[0].from_ns, stage.start_ns);
            assert_eq!(stage.stretches.last().unwrap().to_ns, stage.end_ns);
        }
        let waits = seen.round.stages[1].stretches.iter();
        assert_eq!(
            waits
                .filter(|s| s.state == PipeState::WaitingForInput)
                .count(),
            1
        );
    }

    #[test]
    fn a_number_that_led_elsewhere_later_counts_only_with_bytes_through_the_pipe() {
        let links = Links(vec!["pipe:[9]".to_string()]);
        let mut mixed = group();
        mixed.trace.descriptors[1]
            .names
            .push("/lib/x.so".to_string());
        assert_eq!(
            seen(&mixed, &links).round.stages[1].first_in_ns,
            Some(8 * MS)
        );
        mixed.trace.files.pop();
        let reader = &seen(&mixed, &links).round.stages[1];
        assert_eq!((reader.first_in_ns, reader.bytes_in), (None, Some(0)));
    }

    #[test]
    fn another_pipe_on_the_same_number_is_not_the_pipeline() {
        let seen = seen(&group(), &Links(vec!["pipe:[10]".to_string()]));
        let reader = &seen.round.stages[1];
        assert_eq!(reader.wait_input_ns, Some(0));
        assert_eq!(reader.other_wait_ns, Some(7 * MS));
        assert_eq!(reader.bytes_in, Some(0));
    }
}
