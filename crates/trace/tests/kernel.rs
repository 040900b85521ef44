//! Tests the in-kernel tier on real programs with known behaviour.

mod common;

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::time::Duration;

use common::{available, helper, quiet, run, sum};
use fathom_trace::{
    Cause, Losses, OffCpuRow, Tier, TimelineOptions, Trace, TraceCommand, TraceError, TraceOptions,
    trace,
};

const ZEROS: [&str; 5] = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=100000"];

#[test]
fn every_one_byte_call_is_counted() {
    if !available(Tier::Kernel) {
        return;
    }
    let t = run(Tier::Kernel, &ZEROS);
    let (read, write) = (sum(&t, "read", Some(0)), sum(&t, "write", Some(1)));
    assert_eq!(
        (read.calls, read.bytes, read.sizes[1]),
        (100_000, 100_000, 100_000)
    );
    assert_eq!(
        (write.calls, write.bytes, write.sizes[1]),
        (100_000, 100_000, 100_000)
    );
    assert_eq!(t.lost, Losses::default());
    assert_eq!(t.end.code, Some(0));
    let pid = t.processes[0].pid;
    let zero = t
        .files
        .iter()
        .find(|f| f.name == "/dev/zero")
        .expect("a file");
    assert_eq!((zero.pid, zero.reads, zero.opens), (pid, 100_000, 1));
}

#[test]
fn time_on_and_off_the_cpu_adds_up_to_the_life_of_the_thread() {
    if !available(Tier::Kernel) {
        return;
    }
    let t = run(Tier::Kernel, &ZEROS);
    let on_cpu = t.threads[0].on_cpu_ns.expect("the kernel knows");
    let off: u64 = t.off_cpu.iter().map(|o| o.total_ns).sum();
    let thread = &t.threads[0];
    let lived = thread.ended_ns.expect("it ended") - thread.started_ns;
    let unaccounted = lived.abs_diff(on_cpu + off);
    assert!(
        unaccounted * 100 <= lived,
        "{on_cpu} + {off} is not {lived}"
    );
    for row in &t.syscalls {
        let waited = row.blocked_ns.unwrap_or(0) + row.ready_ns.unwrap_or(0);
        assert!(waited <= row.total_ns, "{row:?}");
    }
}

#[test]
fn all_children_are_followed_with_their_programs_and_ends() {
    if !available(Tier::Kernel) {
        return;
    }
    let script = "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true a b; done; /bin/false; exit 7";
    let mut command = quiet(&["sh", "-c", script]);
    // With an empty environment, the stack ends right after the arguments.
    command.env = Some(Vec::new());
    let t = trace(&command, Tier::Kernel, &TraceOptions::default()).expect("traced");
    assert_eq!(t.processes.len(), 12);
    let root = &t.processes[0];
    assert_eq!(
        (root.parent, root.end.and_then(|e| e.code)),
        (None, Some(7))
    );
    let mut codes = Vec::new();
    for child in &t.processes[1..] {
        assert_eq!(child.parent, Some(root.pid));
        assert_eq!(child.execs.len(), 1);
        codes.extend(child.end.and_then(|e| e.code));
    }
    assert_eq!(codes, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    let exec = &t.processes[1].execs[0];
    assert_eq!(
        (exec.path.as_str(), exec.arguments_cut),
        ("/bin/true", false)
    );
    assert_eq!(exec.arguments, ["/bin/true", "a", "b"]);
}

#[test]
fn a_program_is_seen_to_leave_its_loader_and_to_begin() {
    // Kernels of other processors don't show where page faults begin.
    if !available(Tier::Kernel) || !cfg!(target_arch = "x86_64") {
        return;
    }
    let t = run(Tier::Kernel, &["sh", "-c", "exec cat /dev/null"]);
    let root = &t.processes[0];
    let ended = root.ended_ns.expect("it ended");
    let mut before = 0;
    assert_eq!(root.execs.len(), 2);
    for exec in &root.execs {
        let entered = exec
            .entered
            .expect("its first instruction was not in memory");
        assert!(entered.loaded, "{exec:?}");
        assert!(
            before < exec.at_ns && exec.at_ns < entered.at_ns,
            "{exec:?}"
        );
        before = entered.at_ns;
    }
    assert!(before < ended, "{before} and {ended}");
}

#[test]
fn more_processes_than_the_tables_hold_lose_nothing() {
    if !available(Tier::Kernel) {
        return;
    }
    let script = "i=0; while [ $i -lt 1500 ]; do /bin/true; i=$((i+1)); done";
    let options = TraceOptions {
        // A third of the rows that 1500 processes leave behind.
        most_rows: 12_000,
        ..TraceOptions::default()
    };
    let t = trace(&quiet(&["sh", "-c", script]), Tier::Kernel, &options).expect("traced");
    assert_eq!(t.lost, Losses::default());
    assert_eq!(t.processes.len(), 1501);
    assert_eq!(sum(&t, "execve", None).calls, 1501);
    assert_eq!(sum(&t, "exit_group", None).unfinished, 1501);
}

#[test]
fn files_and_failed_lookups_have_their_names() {
    if !available(Tier::Kernel) {
        return;
    }
    let file = std::env::temp_dir().join(format!("fathom-trace-{}", std::process::id()));
    fs::write(&file, vec![b'x'; 70_000]).expect("a file to read");
    let name = file.to_str().expect("a plain path");
    let t = run(Tier::Kernel, &["cat", name, "/nonexistent/fathom"]);
    fs::remove_file(&file).expect("the file is there");
    let read = t.files.iter().find(|f| f.name == name).expect("the file");
    assert_eq!((read.opens, read.read_bytes), (1, 70_000));
    let missing = t
        .failed_lookups
        .iter()
        .find(|l| l.path == "/nonexistent/fathom");
    let missing = missing.expect("the lookup");
    assert_eq!((missing.errno, missing.calls), (libc::ENOENT, 1));
    assert_eq!(t.end.code, Some(1));
    let output = t
        .descriptors
        .iter()
        .find(|d| d.fd == 1)
        .expect("standard output");
    assert_eq!(output.names, ["/dev/null"]);
}

#[test]
fn waiting_has_its_call_descriptor_and_cause() {
    if !available(Tier::Kernel) {
        return;
    }
    let options = TraceOptions {
        timeline: Some(TimelineOptions::default()),
        ..TraceOptions::default()
    };
    let waits = |t: &Trace, call: &str, fd: Option<i32>| {
        let is_it = |o: &&OffCpuRow| o.call.as_deref() == Some(call) && o.fd == fd;
        let mut asleep = t.off_cpu.iter().filter(is_it);
        asleep
            .find(|o| o.cause == Cause::Asleep)
            .map_or(0, |o| o.count)
    };
    // On a slow machine, the writer may end before the reader begins to wait.
    let seen = ["0.03", "1", "30"].into_iter().find_map(|seconds| {
        let command = quiet(&["sh", "-c", &format!("sleep {seconds} | cat")]);
        let t = trace(&command, Tier::Kernel, &options).expect("traced");
        assert_eq!(waits(&t, "clock_nanosleep", None), 1);
        (waits(&t, "read", Some(0)) > 0).then_some(t)
    });
    let t = seen.expect("a wait of the reader");
    let timeline = t.timeline.as_ref().expect("it was asked for");
    let sleep = timeline
        .iter()
        .find(|i| i.call.as_deref() == Some("clock_nanosleep"));
    let sleep = sleep.expect("longer than 20 us");
    assert!(sleep.from_ns < sleep.woken_ns.expect("it was woken") && sleep.to_ns <= t.duration_ns);
}

#[test]
fn threads_are_distinguished() {
    if !available(Tier::Kernel) {
        return;
    }
    let t = trace(
        &helper("helper_reads"),
        Tier::Kernel,
        &TraceOptions::default(),
    )
    .expect("traced");
    let readers: Vec<_> = t.syscalls.iter().filter(|r| r.sizes[1] >= 1000).collect();
    let calls: Vec<u64> = readers.iter().map(|r| r.calls).collect();
    assert_eq!(calls, [1000, 1000, 1000]);
    let tids: HashSet<u32> = readers.iter().map(|r| r.tid).collect();
    assert_eq!(tids.len(), 3);
    assert!(
        t.threads
            .iter()
            .filter(|th| tids.contains(&th.tid))
            .all(|th| th.ended_ns.is_some())
    );
}

/// Not a separate test: the program that `threads_are_distinguished` traces.
#[test]
fn helper_reads() {
    if std::env::var_os("FATHOM_TEST_HELPER").is_none() {
        return;
    }
    let reader = || {
        let mut zero = fs::File::open("/dev/zero").expect("opens");
        let mut byte = [1u8];
        for _ in 0..1000 {
            zero.read_exact(&mut byte).expect("reads");
        }
        byte
    };
    let threads: Vec<_> = (0..3).map(|_| std::thread::spawn(reader)).collect();
    for thread in threads {
        assert_eq!(thread.join().expect("ends"), [0]);
    }
}

#[test]
fn a_program_that_never_ends_is_cut_short_and_its_call_is_kept() {
    if !available(Tier::Kernel) {
        return;
    }
    let mut command = quiet(&["sleep", "1000"]);
    // A slow machine takes more than a second to start the program.
    for seconds in [1, 8, 64] {
        command.timeout = Some(Duration::from_secs(seconds));
        let t = trace(&command, Tier::Kernel, &TraceOptions::default()).expect("traced");
        assert!(t.end.cut_short);
        assert_eq!(t.end.signal, Some(libc::SIGKILL));
        let sleep = sum(&t, "clock_nanosleep", None);
        assert_eq!(sleep.calls, 0);
        if sleep.unfinished == 1 {
            return;
        }
    }
    panic!("the program began no call within 64 s");
}

#[test]
fn helper_closes_descriptors_that_are_not_there() {
    if std::env::var_os("FATHOM_TEST_HELPER").is_none() {
        return;
    }
    for descriptor in 100_000..130_000 {
        // SAFETY: the descriptor isn't in use.
        unsafe { libc::close(descriptor) };
    }
}

#[test]
fn calls_on_more_descriptors_than_the_table_holds_are_counted() {
    if !available(Tier::Kernel) {
        return;
    }
    let options = TraceOptions {
        most_rows: 1_000,
        ..TraceOptions::default()
    };
    let command = helper("helper_closes_descriptors_that_are_not_there");
    let t = trace(&command, Tier::Kernel, &options).expect("traced");
    assert_eq!(t.lost, Losses::default());
    let failed = t.syscalls.iter().filter(|row| row.name == "close");
    assert_eq!(failed.map(|row| row.errors).sum::<u64>(), 30_000);
    let none = sum(&t, "close", None);
    assert!((29_000..30_000).contains(&none.errors), "{none:?}");
    let said = |line: &String| line.starts_with("the descriptors and bytes of 29");
    assert!(t.not_visible.iter().any(said), "{:?}", t.not_visible);
}

/// Not a separate test: looks up 20,000 files that don't exist.
#[test]
fn helper_looks_for_files() {
    if std::env::var_os("FATHOM_TEST_HELPER").is_none() {
        return;
    }
    let name = format!("/nonexistent/{}", "x".repeat(200));
    for _ in 0..20_000 {
        assert!(fs::metadata(&name).is_err());
    }
}

#[test]
fn a_program_that_does_more_than_can_be_read_waits_and_loses_nothing() {
    if !available(Tier::Kernel) {
        return;
    }
    let options = TraceOptions {
        // This has space for a fiftieth of the program's records.
        ring_bytes: 128 << 10,
        ..TraceOptions::default()
    };
    let t = trace(&helper("helper_looks_for_files"), Tier::Kernel, &options).expect("traced");
    assert_eq!(t.lost, Losses::default());
    let lookups = t.failed_lookups.iter();
    assert_eq!(lookups.map(|one| one.calls).max(), Some(20_000));
    assert!(t.held_back_ns > 0);
    // The time for which it was held back is accounted as a wait for a CPU, and not as the program's own
    // time.
    for thread in t.threads.iter().filter(|one| one.ended_ns.is_some()) {
        let own = t.off_cpu.iter().filter(|row| row.tid == thread.tid);
        let waited = own.clone().filter(|row| row.cause == Cause::Preempted);
        let off: u64 = own.map(|row| row.total_ns).sum();
        let lived = thread.ended_ns.expect("it ended") - thread.started_ns;
        let on_cpu = thread.on_cpu_ns.expect("the kernel knows");
        assert!((on_cpu + off).abs_diff(lived) * 50 <= lived, "{thread:?}");
        if t.threads.len() == 1 {
            assert!(waited.map(|row| row.total_ns).sum::<u64>() >= t.held_back_ns);
        }
    }
}

#[test]
fn what_does_not_fit_is_counted_as_lost() {
    if !available(Tier::Kernel) {
        return;
    }
    let script = "i=0; while [ $i -lt 400 ]; do : < /dev/null; i=$((i+1)); done";
    let complete = run(Tier::Kernel, &["sh", "-c", script]);
    let options = TraceOptions {
        most_rows: 8,
        ..TraceOptions::default()
    };
    let command = quiet(&["sh", "-c", script]);
    let t = trace(&command, Tier::Kernel, &options).expect("traced");
    let calls = |t: &Trace| t.syscalls.iter().map(|r| r.calls).sum::<u64>();
    assert!(t.lost.calls > 0 && calls(&t) < calls(&complete));
    // Calls that the exit cuts off are also lost: exit_group has no row here.
    let unfinished: u64 = complete.syscalls.iter().map(|r| r.unfinished).sum();
    assert_eq!(
        calls(&t) + t.lost.calls,
        calls(&complete) + unfinished,
        "{:?}",
        complete.syscalls
    );
}

#[test]
fn a_command_that_cannot_run_is_an_error_that_names_it() {
    if !available(Tier::Kernel) {
        return;
    }
    let attempt = |argv: &[&str]| trace(&quiet(argv), Tier::Kernel, &TraceOptions::default());
    let missing = attempt(&["fathom-no-such-program"]).expect_err("not there");
    assert_eq!(
        missing.to_string(),
        "`fathom-no-such-program` was not found in PATH"
    );
    let not_a_program = attempt(&["/dev/null"]).expect_err("not a program");
    assert!(
        matches!(not_a_program, TraceError::NotStarted { .. }),
        "{not_a_program}"
    );
    let none = trace(
        &TraceCommand::default(),
        Tier::Kernel,
        &TraceOptions::default(),
    );
    assert!(matches!(none, Err(TraceError::NoCommand)));
}

#[test]
fn a_deadly_signal_is_reported() {
    if !available(Tier::Kernel) {
        return;
    }
    let t = run(Tier::Kernel, &["sh", "-c", "kill -TERM $$"]);
    assert_eq!((t.end.code, t.end.signal), (None, Some(libc::SIGTERM)));
    assert_eq!(
        t.processes[0].end.and_then(|e| e.signal),
        Some(libc::SIGTERM)
    );
}

#[test]
fn a_trace_survives_its_json_form() {
    if !available(Tier::Kernel) {
        return;
    }
    let t = run(Tier::Kernel, &["true"]);
    let json = serde_json::to_string(&t).expect("writes");
    let back: fathom_trace::Trace = serde_json::from_str(&json).expect("reads");
    assert_eq!(back, t);
}

#[test]
fn polls_say_what_ended_them() {
    if !available(Tier::Kernel) {
        return;
    }
    let script = "import select, os, threading, time\n\
                  r, w = os.pipe()\n\
                  for i in range(3): select.select([r], [], [], 0.01)\n\
                  os.write(w, b'x')\n\
                  for i in range(5): select.select([r], [], [], 10)\n";
    let t = run(Tier::Kernel, &["python3", "-c", script]);
    let polls: Vec<_> = t.syscalls.iter().filter_map(|row| row.polls).collect();
    let limits: u64 = polls.iter().map(|ends| ends.by_limit).sum();
    let ns: u64 = polls.iter().map(|ends| ends.by_limit_ns).sum();
    assert_eq!(limits, 3);
    assert!(ns >= 30_000_000, "three times 10 ms: {ns}");
    assert!(polls.iter().all(|ends| ends.by_limit_ns <= ends.total_ns));
}

/// The same descriptor number is first a pipe, and then a socket whose peer doesn't respond.
const REUSED: &str = "import os, select, socket
def wait(fd):
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    poll.poll(30)
sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sink.bind(('127.0.0.1', 0))
deaf = socket.socket()
deaf.bind(('127.0.0.1', 0))
fd, other = os.pipe()
wait(fd)
os.close(fd)
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
assert client.fileno() == fd
client.connect(sink.getsockname())
wait(fd)
for _ in range(2):
    with socket.socket() as refused:
        assert refused.connect_ex(deaf.getsockname()) != 0
os.kill(os.getpid(), 0)
";

#[test]
fn a_wait_is_for_what_its_number_was_then() {
    if !available(Tier::Kernel) {
        return;
    }
    let command = quiet(&["python3", "-c", REUSED]);
    let options = TraceOptions {
        timeline: Some(TimelineOptions::default()),
        ..TraceOptions::default()
    };
    let t = trace(&command, Tier::Kernel, &options).expect("it runs");
    assert_eq!(t.end.code, Some(0));
    let polls = t.off_cpu.iter().filter(|row| {
        matches!(row.call.as_deref(), Some("poll" | "ppoll")) && row.cause == Cause::Asleep
    });
    let named = polls.filter_map(|row| {
        let object = &t.objects[row.object? as usize];
        Some((object.to_string(), row.limited.calls))
    });
    let named: Vec<(String, u64)> = named.collect();
    let limited = |begin: &str| {
        let row = named.iter().find(|(name, _)| name.starts_with(begin));
        row.map(|(_, limited)| *limited)
    };
    assert_eq!(limited("pipe"), Some(1), "{named:?}");
    assert_eq!(limited("socket to 127.0.0.1:"), Some(1), "{named:?}");
    let refused = &t.refused[0];
    assert_eq!((refused.errno, refused.calls), (libc::ECONNREFUSED, 2));
    let mut asked = t.signals.iter().filter(|row| row.signal == 0);
    let to_itself = |row: &fathom_trace::SignalRow| row.target == Some(row.pid);
    assert!(asked.any(to_itself), "{:?}", t.signals);
}
