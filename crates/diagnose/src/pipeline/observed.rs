//! Derives what each stage did from a trace of the whole pipeline.

use fathom_measure::pipeline::TracedRound;
use fathom_model::{Exit, PipeRound, PipeState, StageRun};
use fathom_trace::{Cause, End, MemberEnd, Tier, Trace};

use super::by_stage::ByStage;
use super::modelled::{Moment, Phases};
use super::picture::stretches;
use super::timeline::{self, Span};
use crate::calls::is_poll;
use crate::explanation::lost_in_words;

/// One observed round of a pipeline.
#[derive(Debug, Clone)]
pub struct ObservedRound {
    /// What each stage did in the round.
    pub round: PipeRound,
    /// How each stage's own time is distributed around its input; empty if the first and last bytes are
    /// unknown.
    pub phases: Vec<Phases>,
    /// Own time of each stage in nanoseconds, without waiting for a neighbour or a CPU.
    pub own_ns: Vec<u64>,
    /// Sentences on what the tier could not observe.
    pub not_visible: Vec<String>,
    /// Sentences on observed data that was lost.
    pub lost: Vec<String>,
    /// Whether the time limit or the user ended the run, in which case it isn't representative.
    pub cut_short: bool,
}

/// The share of a stage's wall time below which a sentence about it isn't worthwhile.
const WORTH_SAYING: f64 = 0.05;

/// Evaluates the trace of a round.
pub fn observed_round(traced: &TracedRound) -> ObservedRound {
    let group = &traced.group;
    let trace = &group.trace;
    let by_stage = ByStage::of(traced);
    let mut result = ObservedRound {
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
    let ends = (0..group.members.len()).map(|stage| by_stage.end_of(stage));
    if let Some(last) = ends.max() {
        result.round.wall_ns = last;
    }
    let mut spans = Vec::new();
    for (stage, member) in group.members.iter().enumerate() {
        let (run, did, own) = by_stage.stage(stage, member, result.round.wall_ns);
        result.round.stages.push(run);
        spans.push(did);
        result.own_ns.push(own);
    }
    if trace.tier == Some(Tier::Kernel) {
        let phases = |(stage, spans): (usize, &Vec<Span>)| by_stage.phases(stage, &result, spans);
        result.phases = spans.iter().enumerate().map(phases).collect();
    }
    result.not_visible.extend(by_stage.polls());
    let stages = result.round.stages.iter().enumerate();
    let unknown = stages.filter(|(_, run)| run.wait_input_ns.is_none());
    let unknown: Vec<String> = unknown.map(|(stage, _)| (stage + 1).to_string()).collect();
    if !unknown.is_empty() {
        result.not_visible.push(format!(
            "no wait of stage {} was sampled, so it is not known what it waited for",
            unknown.join(", ")
        ));
    }
    result
}

impl ByStage<'_> {
    fn stage(&self, stage: usize, member: &MemberEnd, wall: u64) -> (StageRun, Vec<Span>, u64) {
        let (start, end) = (self.start_of(stage), self.end_of(stage));
        let threads = self.threads(stage, end);
        let spans = timeline::of_stage(&threads, start, end);
        let total = |state| timeline::time_in(&spans, state, start, end);
        let exact = (threads.len() == 1)
            .then(|| self.exact(stage, total(PipeState::NoCpu)))
            .flatten();
        let (input, reader, other, ready) = exact.unwrap_or_else(|| {
            (
                total(PipeState::WaitingForInput),
                total(PipeState::WaitingForReader),
                total(PipeState::OtherWait),
                total(PipeState::NoCpu),
            )
        });
        let lasted = end.saturating_sub(start);
        let able = lasted.saturating_sub(input + reader + other + ready);
        let cpu = member.accounts.user_ns + member.accounts.system_ns;
        let sampled = self.trace.tier == Some(Tier::Sample);
        // Samples can't distinguish running from ready; the kernel's accounts show how much of the time was
        // running.
        let (running, ready) = match sampled && threads.len() == 1 && able > cpu {
            true => (cpu, ready + able - cpu),
            false => (able, ready),
        };
        let moved = self.traffic(stage);
        let unknown = self.unknown_ns(stage);
        // If not, no kind of wait gets a figure, because the missing time could belong to any of them.
        let is_known = unknown as f64 <= WORTH_SAYING * lasted as f64;
        let run = StageRun {
            start_ns: start,
            first_in_ns: moved.first_in,
            last_in_ns: moved.last_in,
            first_out_ns: moved.first_out,
            end_ns: end,
            cpu_ns: cpu,
            running_ns: Some(running),
            wait_input_ns: is_known.then_some(input),
            wait_output_ns: is_known.then_some(reader),
            other_wait_ns: is_known.then_some(other + ready),
            no_cpu_ns: (!sampled || threads.len() == 1).then_some(ready),
            bytes_in: moved.bytes_in,
            bytes_out: moved.bytes_out,
            peak_memory_bytes: member.accounts.peak_memory_bytes,
            io: None,
            exit: exit(member.end),
            stretches: match is_known {
                true => stretches(&spans, wall),
                false => Vec::new(),
            },
        };
        (run, spans, running + other.saturating_sub(unknown))
    }

    /// Determines how a stage's own time is distributed around its input and output.
    fn phases(&self, stage: usize, observed: &ObservedRound, spans: &[Span]) -> Phases {
        let stages = &observed.round.stages;
        let run = &stages[stage];
        let until = |to: u64| {
            let own = [PipeState::Running, PipeState::OtherWait];
            let sums = own.map(|state| timeline::time_in(spans, state, run.start_ns, to));
            sums.iter().sum::<u64>() as f64
        };
        // Short waits are not in any span, so the sum of the spans slightly exceeds the own time.
        let scale = observed.own_ns[stage] as f64 / until(run.end_ns).max(1.0);
        let at = |to: u64| {
            let own = until(to) * scale;
            Moment {
                own: own / 1e9,
                waited: (to.saturating_sub(run.start_ns) as f64 - own).max(0.0) / 1e9,
            }
        };
        let before = stage.checked_sub(1).map(|before| stages[before].end_ns);
        // The last byte had arrived by then. A stage that had already ended didn't wait for the end of its
        // input.
        let input_end = before.map(|end| end.max(run.last_in_ns.unwrap_or(0)));
        let input_end = input_end.filter(|end| *end <= run.end_ns && self.reads(stage));
        // The writer can't see bytes that the next stage left in the pipe.
        let next = stages.get(stage + 1).and_then(|next| next.last_in_ns);
        let last_out = match (self.traffic(stage).last_out, next) {
            (Some(written), Some(read)) => Some(written.min(read)),
            (written, _) => written,
        };
        Phases {
            first_in: run.first_in_ns.map(at),
            last_in: run.last_in_ns.map(at),
            input_end: input_end.map(at),
            first_out: run.first_out_ns.map(at),
            last_out: last_out.map(at),
            whole: observed.own_ns[stage] as f64 / 1e9,
            cpu: run.cpu_ns as f64 / 1e9,
            start: run.start_ns as f64 / 1e9,
        }
    }

    /// Lists the stages for which it is unknown which descriptor they waited for.
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
                row.cause == Cause::Asleep && is_poll(call)
            });
            let ns: u64 = polled.map(|row| row.total_ns).sum();
            let lasted = self.end_of(stage).saturating_sub(self.start_of(stage));
            if ns as f64 > WORTH_SAYING * lasted as f64 {
                stages.push((stage + 1).to_string());
            }
        }
        (!stages.is_empty()).then(|| {
            format!(
                "stage {} waits in poll, select or epoll: it is not known for which descriptor, so such waits count \
                 as other waits",
                stages.join(", ")
            )
        })
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

fn losses(trace: &Trace) -> Vec<String> {
    let lost = &trace.lost;
    lost_in_words([
        (
            lost.calls,
            "calls were lost because the table of calls was full",
        ),
        (lost.off_cpu, "waits were lost because their table was full"),
        (
            lost.records,
            "waits, forks or exits were lost because the ring was full",
        ),
        (lost.threads, "threads could not be followed"),
        (lost.intervals, "waits were counted but are not drawn"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_trace::{
        DescriptorRow, FileRow, GroupTrace, Interval, Limited, OffCpuRow, Process, SyscallRow,
        Thread,
    };

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
            object: None,
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
            object: None,
            limited: Limited::default(),
        }
    }

    const PIPE: &str = "pipe:[9]";

    /// Returns a writer that lives 10 ms and sleeps first, and a reader that waits for it.
    fn traced() -> TracedRound {
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
            names: vec![PIPE.into()],
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
            name: PIPE.into(),
            read_bytes,
            written_bytes,
            ..FileRow::default()
        };
        let group = GroupTrace {
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
        };
        TracedRound {
            group,
            links: vec![PIPE.to_string()],
        }
    }

    #[test]
    fn waiting_for_the_pipe_is_no_sleep() {
        let observed = observed_round(&traced());
        let [writer, reader] = &observed.round.stages[..] else {
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
        assert_eq!(observed.round.wall_ns, 11 * MS);
        assert_eq!(observed.own_ns, [10 * MS, 4 * MS]);
    }

    /// Returns the same round as recorded by the perf tier: waits without a sample have no name in the
    /// timeline, while the rows hold all of them.
    fn recorded() -> TracedRound {
        let mut traced = traced();
        let trace = &mut traced.group.trace;
        trace.tier = Some(Tier::Perf);
        for interval in trace.timeline.iter_mut().flatten() {
            (interval.call, interval.fd, interval.woken_ns) = (None, None, None);
        }
        traced
    }

    #[test]
    fn short_waits_without_a_name_are_no_running() {
        let observed = observed_round(&recorded());
        let reader = &observed.round.stages[1];
        assert_eq!(reader.wait_input_ns, Some(7 * MS));
        assert_eq!(reader.running_ns, Some(4 * MS));
        assert_eq!(observed.own_ns, [10 * MS, 4 * MS]);
        let waits = reader.stretches.iter();
        let drawn: u64 = waits
            .filter(|stretch| stretch.state == PipeState::WaitingForInput)
            .map(|stretch| stretch.to_ns - stretch.from_ns)
            .sum();
        assert!(drawn.abs_diff(7 * MS) <= MS / 10, "{drawn}");
    }

    #[test]
    fn waits_of_which_no_sample_saw_any_have_no_figure() {
        let mut traced = recorded();
        for row in &mut traced.group.trace.off_cpu {
            (row.call, row.fd) = (None, None);
        }
        let observed = observed_round(&traced);
        for run in &observed.round.stages {
            let waits = [run.wait_input_ns, run.wait_output_ns, run.other_wait_ns];
            assert_eq!(waits, [None; 3]);
            assert!(run.stretches.is_empty());
        }
        assert_eq!(observed.own_ns, [4 * MS, 4 * MS]);
        let said = observed.not_visible.join("; ");
        assert!(said.contains("no wait of stage 1, 2 was sampled"), "{said}");
    }

    #[test]
    fn what_is_done_while_the_writer_ends_lies_before_the_end_of_the_input() {
        let observed = observed_round(&traced());
        let [writer, reader] = &observed.phases[..] else {
            panic!("two stages");
        };
        let at = |own: f64, waited: f64| Some(Moment { own, waited });
        assert_eq!((writer.first_in, writer.input_end), (None, None));
        assert_eq!(
            (writer.first_out, writer.last_out),
            (at(0.007, 0.0), at(0.008, 0.0))
        );
        assert_eq!(
            (reader.last_in, reader.input_end),
            (at(0.001, 0.007), at(0.003, 0.007))
        );
        let mut ended = traced();
        ended.group.trace.processes[0].ended_ns = Some(20 * MS);
        let reader = &observed_round(&ended).phases[1];
        assert_eq!(reader.input_end, None, "it did not wait for that");
    }

    #[test]
    fn the_picture_has_no_gap() {
        let observed = observed_round(&traced());
        for stage in &observed.round.stages {
            let joined = stage.stretches.windows(2);
            assert!(
                joined
                    .into_iter()
                    .all(|pair| pair[0].to_ns == pair[1].from_ns)
            );
            assert_eq!(stage.stretches[0].from_ns, stage.start_ns);
            assert_eq!(stage.stretches.last().unwrap().to_ns, stage.end_ns);
        }
        let waits = observed.round.stages[1].stretches.iter();
        assert_eq!(
            waits
                .filter(|s| s.state == PipeState::WaitingForInput)
                .count(),
            1
        );
    }

    #[test]
    fn a_number_that_led_elsewhere_later_counts_only_with_bytes_through_the_pipe() {
        let mut mixed = traced();
        mixed.group.trace.descriptors[1]
            .names
            .push("/lib/x.so".into());
        assert_eq!(
            observed_round(&mixed).round.stages[1].first_in_ns,
            Some(8 * MS)
        );
        mixed.group.trace.files.pop();
        let reader = &observed_round(&mixed).round.stages[1];
        assert_eq!((reader.first_in_ns, reader.bytes_in), (None, Some(0)));
    }

    #[test]
    fn another_pipe_on_the_same_number_is_not_the_pipeline() {
        let mut other = traced();
        other.links = vec!["pipe:[10]".to_string()];
        let observed = observed_round(&other);
        let reader = &observed.round.stages[1];
        assert_eq!(reader.wait_input_ns, Some(0));
        assert_eq!(reader.other_wait_ns, Some(7 * MS));
        assert_eq!(reader.bytes_in, Some(0));
    }
}
