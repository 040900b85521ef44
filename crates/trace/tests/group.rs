//! Tests several concurrent commands, such as the stages of a pipeline.

mod common;

use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use common::available;
use fathom_trace::{
    Cause, GroupTrace, Io, Member, Tier, TimelineOptions, TraceCommand, TraceError, TraceOptions,
    trace_group,
};

fn pipe() -> (OwnedFd, OwnedFd, String) {
    let (read, write) = std::io::pipe().expect("a pipe");
    let link = std::fs::read_link(format!("/proc/self/fd/{}", read.as_raw_fd()));
    let link = link.expect("a link").to_string_lossy().into_owned();
    (read.into(), write.into(), link)
}

/// Returns whether a process has `argument` among its arguments.
fn runs(argument: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let mut words = lines.flat_map(|line| {
        let words: Vec<_> = line.split(|b| *b == 0).map(<[u8]>::to_vec).collect();
        words
    });
    words.any(|word| word == argument.as_bytes())
}

fn member(argv: &[&str], stdin: Io, stdout: Io) -> Member {
    Member {
        command: TraceCommand {
            stdin,
            stdout,
            stderr: Io::Null,
            ..TraceCommand::new(argv.iter().copied())
        },
        delay: Duration::ZERO,
    }
}

fn options(link: &str) -> TraceOptions {
    TraceOptions {
        timeline: Some(TimelineOptions::default()),
        labels: vec![(link.to_string(), "between".to_string())],
        ..TraceOptions::default()
    }
}

/// Traces a writer that sleeps for 0.2 s, and a reader.
fn slow_writer(tier: Tier) -> GroupTrace {
    let (read, write, link) = pipe();
    let members = vec![
        member(
            &["sh", "-c", "sleep 0.2; echo hello"],
            Io::Null,
            Io::Fd(write),
        ),
        member(&["cat"], Io::Fd(read), Io::Null),
    ];
    trace_group(members, tier, &options(&link)).expect("both are traced")
}

#[test]
fn a_reader_is_seen_waiting_for_the_labelled_pipe() {
    for tier in [Tier::Kernel, Tier::Perf, Tier::Sample] {
        if !available(tier) {
            continue;
        }
        let group = slow_writer(tier);
        let reader = group.members[1].pid;
        let waited: u64 = group
            .trace
            .off_cpu
            .iter()
            .filter(|row| row.pid == reader && row.cause == Cause::Asleep)
            .filter(|row| row.call.as_deref() == Some("read") && row.fd == Some(0))
            .map(|row| row.total_ns)
            .sum();
        assert!(waited >= 100_000_000, "{tier:?}: {waited}");
        let names = group.trace.descriptors.iter();
        let named = names.filter(|d| d.names.iter().any(|name| name == "between"));
        let pids: Vec<u32> = named.map(|d| d.pid).collect();
        assert!(pids.contains(&reader) && pids.contains(&group.members[0].pid));
        let placed = group.trace.timeline.as_ref().expect("a timeline");
        assert!(
            placed
                .iter()
                .any(|i| i.pid == reader && i.to_ns - i.from_ns >= 100_000_000)
        );
        assert!(
            group
                .members
                .iter()
                .all(|member| member.end.code == Some(0))
        );
        let roots = group.trace.processes.iter().filter(|p| p.parent.is_none());
        assert_eq!(roots.count(), 2);
    }
}

#[test]
fn the_kernel_says_when_bytes_first_and_last_moved() {
    if !available(Tier::Kernel) {
        return;
    }
    let group = slow_writer(Tier::Kernel);
    let reader = group.members[1].pid;
    let rows = group.trace.syscalls.iter();
    let mut reads = rows.filter(|r| r.pid == reader && r.name == "read" && r.fd == Some(0));
    let row = reads.next().expect("it reads");
    let (first, last) = (
        row.first_moved_ns.expect("moved"),
        row.last_moved_ns.expect("moved"),
    );
    assert!(first >= 200_000_000 && last >= first, "{row:?}");
    assert!(row.first_ns < first, "it called before anything came");
}

#[test]
fn a_member_is_let_go_at_its_time_and_holds_up_no_pipe_before() {
    for tier in [Tier::Kernel, Tier::Perf, Tier::Sample] {
        if !available(tier) {
            continue;
        }
        let (read, write, link) = pipe();
        let mut late = member(&["true"], Io::Null, Io::Null);
        late.delay = Duration::from_millis(400);
        let members = vec![
            member(&["echo", "hello"], Io::Null, Io::Fd(write)),
            member(&["cat"], Io::Fd(read), Io::Null),
            late,
        ];
        let group = trace_group(members, tier, &options(&link)).expect("all are traced");
        let [_, reader, late] = &group.members[..] else {
            panic!("three members");
        };
        // Delays are relative to the release of the first command; points in time are relative to its start,
        // slightly later.
        assert!(late.started_ns >= 200_000_000, "{tier:?}: {late:?}");
        assert!(
            reader.ended_ns < late.started_ns,
            "{tier:?}: its input ended before"
        );
    }
}

#[test]
fn a_member_that_cannot_be_run_ends_all() {
    let tier = Tier::Sample;
    if !available(tier) {
        return;
    }
    let (read, write, link) = pipe();
    let members = vec![
        member(&["sleep", "98766.5"], Io::Null, Io::Fd(write)),
        member(&["/dev/null"], Io::Fd(read), Io::Null),
    ];
    let mut options = options(&link);
    options.stop = None;
    let limited = members.into_iter().map(|mut member| {
        member.command.timeout = Some(Duration::from_millis(300));
        member
    });
    let error = trace_group(limited.collect(), tier, &options).expect_err("it is not a program");
    assert!(matches!(error, TraceError::NotStarted { .. }), "{error}");
    assert!(!runs("98766.5"), "the other member is ended");
}

#[test]
fn stopping_at_every_call_is_refused_for_a_group() {
    let error = trace_group(Vec::new(), Tier::Ptrace, &TraceOptions::default());
    assert!(matches!(error, Err(TraceError::Group)));
}
