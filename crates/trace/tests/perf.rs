//! Tests the kernel's records of switches on real programs with known behaviour.

mod common;

use std::process::Command;
use std::time::Duration;

use common::{available, helper, quiet, run};
use fathom_trace::{Cause, Losses, Target, Tier, TimelineOptions, TraceOptions, attach, trace};

#[test]
fn every_process_is_seen_with_its_program_however_short_it_lives() {
    if !available(Tier::Perf) {
        return;
    }
    let script = "i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done";
    let t = run(Tier::Perf, &["sh", "-c", script]);
    assert_eq!(t.lost, Losses::default());
    assert_eq!(t.processes.len(), 101);
    let root = t.processes[0].pid;
    for child in &t.processes[1..] {
        assert_eq!(child.parent, Some(root));
        let programs: Vec<&str> = child.execs.iter().map(|exec| exec.path.as_str()).collect();
        let [program] = programs[..] else {
            panic!("{programs:?}");
        };
        // /bin/true may be a link, for example to a multi-call binary.
        let real = std::fs::canonicalize("/bin/true").expect("it is there");
        assert_eq!(std::path::Path::new(program), real);
        let ended = child.ended_ns.expect("its end is recorded");
        assert!(child.started_ns < child.execs[0].at_ns && child.execs[0].at_ns <= ended);
    }
    assert_eq!(t.threads.len(), 101);
    assert!(t.threads.iter().all(|thread| thread.ended_ns.is_some()));
}

#[test]
fn what_runs_already_is_sampled_though_the_time_is_over() {
    for tier in [Tier::Perf, Tier::Sample] {
        if !available(tier) {
            continue;
        }
        let mut child = Command::new("sleep").arg("1000").spawn().expect("starts");
        let stat = format!("/proc/{}/stat", child.id());
        let sleeps = || std::fs::read_to_string(&stat).is_ok_and(|it| it.contains(" (sleep) S "));
        while !sleeps() {
            std::thread::yield_now();
        }
        let target = Target::find(child.id()).expect("ours");
        let seen = attach(&target, Duration::ZERO, tier, &TraceOptions::default());
        child.kill().expect("killed");
        child.wait().expect("ended");
        let rows = seen.expect("observed").off_cpu;
        let calls: Vec<_> = rows.iter().map(|row| row.call.as_deref()).collect();
        assert_eq!(calls, [Some("clock_nanosleep")], "{tier:?}");
    }
}

#[test]
fn a_wait_has_its_length_its_place_and_its_call() {
    if !available(Tier::Perf) {
        return;
    }
    let options = TraceOptions {
        timeline: Some(TimelineOptions::default()),
        ..TraceOptions::default()
    };
    let command = quiet(&["sh", "-c", "sleep 0.3 | cat; exit 5"]);
    let t = trace(&command, Tier::Perf, &options).expect("traced");
    let waits = |call: &str| {
        let rows = t.off_cpu.iter();
        let mut rows = rows.filter(|row| row.call.as_deref() == Some(call));
        rows.find(|row| row.total_ns >= 300_000_000).cloned()
    };
    let sleep = waits("clock_nanosleep").expect("it slept");
    assert_eq!((sleep.cause, sleep.fd), (Cause::Asleep, None));
    assert!(sleep.longest_ns.is_some_and(|ns| ns >= 300_000_000));
    let timeline = t.timeline.expect("it was asked for");
    let of = |call: &str| {
        let found = timeline.iter().find(|interval| {
            interval.call.as_deref() == Some(call)
                && interval.to_ns - interval.from_ns > 200_000_000
        });
        found.unwrap_or_else(|| panic!("{call}: {timeline:?}"))
    };
    // A sleep is never shorter than requested.
    let slept = of("clock_nanosleep");
    assert!(slept.to_ns - slept.from_ns >= 300_000_000);
    let read = of("read");
    assert_eq!(read.fd, Some(0));
    // On a busy machine, the reader may get its CPU too late for the waker to be certain.
    assert!(read.woken_by.is_none_or(|tid| tid == slept.tid), "{read:?}");
    assert_eq!(t.end.code, Some(5));
}

#[test]
fn a_life_is_on_a_cpu_waiting_or_able_to_run() {
    if !available(Tier::Perf) {
        return;
    }
    let t = run(
        Tier::Perf,
        &[
            "dd",
            "if=/dev/zero",
            "of=/dev/null",
            "bs=64k",
            "count=20000",
        ],
    );
    let thread = &t.threads[0];
    let lived = thread.ended_ns.expect("it ended") - thread.started_ns;
    let on_cpu = thread.on_cpu_ns.expect("it is recorded");
    let waited: u64 = t.off_cpu.iter().map(|row| row.total_ns).sum();
    assert!(on_cpu > 0 && on_cpu + waited <= lived, "{thread:?}");
    let able = lived - on_cpu - waited;
    assert!(
        thread.ready_ns.is_some_and(|ready| ready >= able),
        "{thread:?}"
    );
}

#[test]
fn switches_are_counted_by_thread() {
    if !available(Tier::Perf) {
        return;
    }
    let t = trace(&helper("helper_naps"), Tier::Perf, &TraceOptions::default()).expect("traced");
    let nappers: Vec<_> = t.threads.iter().filter(|t| t.name == "napper").collect();
    assert_eq!(nappers.len(), 3);
    for thread in nappers {
        assert!(thread.voluntary_switches.expect("counted") >= NAPS);
        let rows = t.off_cpu.iter().filter(|row| row.tid == thread.tid);
        let waits: u64 = rows.map(|row| row.total_ns).sum();
        assert!(waits >= NAPS * 2_000_000, "{thread:?}");
        assert!(thread.ended_ns.is_some());
    }
}

const NAPS: u64 = 20;

/// Not a separate test: the program that `switches_are_counted_by_thread` traces.
#[test]
fn helper_naps() {
    if std::env::var_os("FATHOM_TEST_HELPER").is_none() {
        return;
    }
    let naps = || (0..NAPS).for_each(|_| std::thread::sleep(Duration::from_millis(2)));
    let spawn = |_| {
        std::thread::Builder::new()
            .name("napper".to_owned())
            .spawn(naps)
    };
    let threads: Vec<_> = (0..3).map(|at| spawn(at).expect("starts")).collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().expect("ends"));
}
