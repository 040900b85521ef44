//! Tests the tiers available to any user on real programs with known behaviour.

mod common;

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use common::{available, quiet, run, sum};
use fathom_trace::{Cause, Tier, TraceOptions, trace};

#[test]
fn stops_count_exactly_up_to_the_end() {
    if !available(Tier::Ptrace) {
        return;
    }
    let options = TraceOptions {
        stops_time: Duration::from_secs(3600),
        ..TraceOptions::default()
    };
    let command = quiet(&["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=300"]);
    let t = trace(&command, Tier::Ptrace, &options).expect("traced");
    let (read, write) = (sum(&t, "read", Some(0)), sum(&t, "write", Some(1)));
    assert_eq!((read.calls, read.sizes[1], write.bytes), (300, 300, 300));
    let zero = t
        .files
        .iter()
        .find(|f| f.name == "/dev/zero")
        .expect("a file");
    assert_eq!((zero.opens, zero.read_bytes), (1, 300));
    let faults = t.threads.iter().map(|t| (t.minor_faults, t.timed_faults));
    assert!(
        faults.into_iter().all(|known| known == (None, None)),
        "what a stop does not show is not 0"
    );
    assert_eq!(t.end.code, Some(0));
}

#[test]
fn stops_let_go_when_their_budget_is_spent() {
    if !available(Tier::Ptrace) {
        return;
    }
    let options = TraceOptions {
        most_stops: 200,
        stops_time: Duration::from_secs(3600),
        ..TraceOptions::default()
    };
    let command = quiet(&["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=200000"]);
    let t = trace(&command, Tier::Ptrace, &options).expect("traced");
    let seen: u64 = t.syscalls.iter().map(|r| r.calls + r.unfinished).sum();
    assert_eq!(seen, 200);
    assert_eq!(t.end.code, Some(0));
    assert!(
        t.not_visible
            .iter()
            .any(|n| n.contains("the calls after the first 200"))
    );
}

#[test]
fn time_without_stops_takes_nothing_of_their_budget() {
    if !available(Tier::Ptrace) {
        return;
    }
    // A stop takes at most a millisecond of the budget, and this command stops some hundred times.
    let options = TraceOptions {
        stops_time: Duration::from_secs(2),
        ..TraceOptions::default()
    };
    let command = quiet(&["sh", "-c", "sleep 1; sleep 1.5; kill -0 $$"]);
    let t = trace(&command, Tier::Ptrace, &options).expect("traced");
    assert!(!t.calls_cut, "{:?}", t.not_visible);
    assert_eq!(t.signals.len(), 1, "{:?}", t.signals);
}

#[test]
fn stops_follow_children_and_execs() {
    if !available(Tier::Ptrace) {
        return;
    }
    let options = TraceOptions {
        most_stops: 1_000_000,
        stops_time: Duration::from_secs(3600),
        ..TraceOptions::default()
    };
    let command = quiet(&["sh", "-c", "/bin/true | /bin/true; /bin/false"]);
    let t = trace(&command, Tier::Ptrace, &options).expect("traced");
    assert_eq!(t.processes.len(), 4);
    let codes = t.processes.iter().map(|p| p.end.and_then(|e| e.code));
    assert_eq!(codes.flatten().sum::<i32>(), 2, "{:?}", t.processes);
    assert!(t.processes.iter().all(|p| p.execs.len() == 1));
}

#[test]
fn stops_say_what_was_asked_for_beside_what_came_of_it() {
    if !available(Tier::Ptrace) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let here = std::fs::canonicalize(folder.path()).unwrap();
    let script = |name: &str, interpreter: &str| {
        let path = here.join(name);
        std::fs::write(&path, format!("#!{interpreter}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let wrapper = script("wrapper", "/bin/sh");
    let inner = script("inner", &wrapper);
    let command = quiet(&[
        "sh",
        "-c",
        "cd \"$0\" && exec ./inner",
        here.to_str().unwrap(),
    ]);
    for only_milestones in [false, true] {
        let options = TraceOptions {
            only_milestones,
            stops_time: Duration::from_secs(3600),
            ..TraceOptions::default()
        };
        let t = trace(&command, Tier::Ptrace, &options).expect("traced");
        let execs = &t.processes[0].execs;
        assert_eq!(execs.len(), 2, "{execs:?}");
        assert_eq!(execs[1].asked.as_ref(), Some(&inner));
        let shell = std::fs::canonicalize("/bin/sh").unwrap();
        assert_eq!(execs[1].path, shell.to_str().unwrap());
    }
}

#[test]
fn stops_name_who_ran_without_its_rights() {
    // SAFETY: geteuid only returns this process's user id.
    if unsafe { libc::geteuid() } != 0 || !available(Tier::Ptrace) {
        fathom_test_log::skipped("only root can make a set-uid program of another user");
        return;
    }
    // The folder is on the disk that holds the build: elsewhere, set-id bits may have no effect.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = folder.path().join("true");
    std::fs::copy("/bin/true", &program).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o4755)).unwrap();
    // Root traces, so the program gets its privileges.
    let t = common::run(Tier::Ptrace, &[program.to_str().unwrap()]);
    assert_eq!(t.without_rights, Vec::<String>::new());
}

#[test]
fn stops_that_let_go_with_children_alive_still_end() {
    if !available(Tier::Ptrace) {
        return;
    }
    let script = "for i in 1 2 3 4 5 6 7 8 9; do (exec /bin/true) & done; wait";
    for most_stops in (20..400).step_by(40) {
        let options = TraceOptions {
            most_stops,
            stops_time: Duration::from_secs(3600),
            ..TraceOptions::default()
        };
        let t = trace(&quiet(&["sh", "-c", script]), Tier::Ptrace, &options).expect("traced");
        assert_eq!(t.end.code, Some(0), "after {most_stops} stops");
    }
}

#[test]
fn samples_name_the_call_and_descriptor_that_is_waited_for() {
    if !available(Tier::Sample) {
        return;
    }
    let t = run(Tier::Sample, &["sh", "-c", "sleep 0.5 | cat; exit 5"]);
    let asleep = |call: &str, fd: Option<i32>| {
        let mut rows = t.off_cpu.iter();
        rows.any(|o| {
            o.call.as_deref() == Some(call) && o.fd == fd && o.cause == Cause::Asleep && o.count > 0
        })
    };
    assert!(asleep("clock_nanosleep", None), "{:?}", t.off_cpu);
    assert!(asleep("read", Some(0)), "{:?}", t.off_cpu);
    assert_eq!(t.end.code, Some(5));
    assert!(t.sampling.expect("it sampled").ticks > 0);
    let paths: Vec<_> = t
        .processes
        .iter()
        .flat_map(|p| &p.execs)
        .map(|e| &e.arguments)
        .collect();
    assert!(paths.iter().any(|a| **a == ["sleep", "0.5"]), "{paths:?}");
}

#[test]
fn unprivileged_tiers_end_what_never_ends() {
    for tier in [Tier::Perf, Tier::Sample, Tier::Ptrace] {
        if !available(tier) {
            continue;
        }
        let mut command = quiet(&["sh", "-c", "sleep 1000 & sleep 1000"]);
        command.timeout = Some(Duration::from_millis(60));
        let t = trace(&command, tier, &TraceOptions::default()).expect("traced");
        assert!(t.end.cut_short, "{tier:?}");
        assert_eq!(t.end.signal, Some(libc::SIGKILL), "{tier:?}");
    }
}
