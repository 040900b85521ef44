//! Stacks and paths of calls, waits and page faults (kernel tier).

mod common;

use std::time::Duration;

use common::{available, helper, run, sum};
use fathom_trace::{Tier, Trace, TraceOptions, trace};

/// Calls of the helper that asks for one file.
const ASKED: u64 = 20_000;

fn traced(name: &str) -> Trace {
    let options = TraceOptions {
        call_stacks: Some(Duration::from_micros(50)),
        ..TraceOptions::default()
    };
    trace(&helper(name), Tier::Kernel, &options).expect("the command is traced")
}

#[test]
fn a_file_that_is_asked_for_again_and_again_has_its_calls() {
    if !available(Tier::Kernel) {
        return;
    }
    let t = traced("helper_asks_for_one_file");
    let asked = sum(&t, "statx", None);
    let rows: Vec<_> = t.paths.iter().filter(|row| row.call == "statx").collect();
    let calls: u64 = rows.iter().map(|row| row.calls).sum();
    assert!(calls.abs_diff(asked.calls) <= rows.len() as u64, "{rows:?}");
    let first = rows.first().expect("a path");
    assert_eq!(first.path, "/proc/self/status");
    assert!(first.calls.abs_diff(ASKED) * 100 <= ASKED, "{first:?}");
    assert_eq!(t.lost.stacks, 0);
}

#[test]
fn calls_that_were_stopped_at_have_their_paths_with_exact_numbers() {
    if !available(Tier::Ptrace) {
        return;
    }
    let script = "cd /proc/self; i=0; while [ $i -lt 50 ]; do : < status; i=$((i+1)); done";
    let t = run(Tier::Ptrace, &["sh", "-c", script]);
    let status = t.paths.iter().find(|row| row.path == "/proc/self/status");
    let status = status.expect("it was opened");
    assert_eq!((status.calls, status.samples), (50, 50));
    let cd = t.paths.iter().find(|row| row.call == "chdir");
    assert_eq!(cd.map(|row| row.path.as_str()), Some("/proc/self"));
    let opened: u64 = t
        .syscalls
        .iter()
        .filter(|row| row.name == status.call)
        .map(|row| row.calls)
        .sum();
    let rows = t.paths.iter().filter(|row| row.call == status.call);
    assert_eq!(rows.map(|row| row.calls).sum::<u64>(), opened);
}

#[test]
fn helper_asks_for_one_file() {
    if std::env::var_os("FATHOM_TEST_HELPER").is_none() {
        return;
    }
    for _ in 0..ASKED {
        std::fs::metadata("/proc/self/status").expect("it is there");
    }
}
