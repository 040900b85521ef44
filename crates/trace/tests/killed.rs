//! Tests that a killed tracer leaves neither a program in the kernel nor a process.

mod common;

use std::collections::HashSet;
use std::fs;
use std::process::{Child, Command, Stdio};

use common::{available, quiet};
use fathom_trace::{Tier, TraceOptions, trace};

/// Not a separate test: the tracer that is killed.
#[test]
fn helper_traces() {
    if std::env::var_os("FATHOM_TEST_HELPER").is_none() {
        return;
    }
    let command = quiet(&["sh", "-c", "sleep 98765 & sleep 98765"]);
    trace(&command, Tier::Kernel, &TraceOptions::default()).expect("traced");
}

fn tracer() -> Child {
    Command::new(std::env::current_exe().expect("this test program"))
        .args(["--exact", "helper_traces"])
        .env("FATHOM_TEST_HELPER", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts")
}

/// Returns the ids of the kernel programs that the process holds.
fn programs(pid: u32) -> HashSet<u32> {
    let infos = fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter();
    let texts = infos.flatten().flatten();
    let texts = texts.filter_map(|entry| fs::read_to_string(entry.path()).ok());
    let number = |text: String| {
        let line = text.lines().find_map(|line| line.strip_prefix("prog_id:"));
        line?.trim().parse().ok()
    };
    texts.filter_map(number).collect()
}

/// Returns all descendants of the process, including those created by threads.
fn descendants(pid: u32) -> HashSet<u32> {
    let mut found = HashSet::new();
    let mut open = vec![pid];
    while let Some(parent) = open.pop() {
        let tasks = fs::read_dir(format!("/proc/{parent}/task")).into_iter();
        for task in tasks.flatten().flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            for child in children.split_whitespace().filter_map(|c| c.parse().ok()) {
                if found.insert(child) {
                    open.push(child);
                }
            }
        }
    }
    found
}

/// Returns whether the kernel still has the program.
fn is_loaded(program: u32) -> bool {
    const GET_FD_BY_ID: i32 = 13;
    let mut attr = [program, 0, 0];
    // SAFETY: `attr` is a live prefix of `union bpf_attr` and has the given size.
    let fd = unsafe {
        let size = std::mem::size_of_val(&attr);
        libc::syscall(libc::SYS_bpf, GET_FD_BY_ID, attr.as_mut_ptr(), size)
    };
    if fd >= 0 {
        // SAFETY: the kernel has just returned this descriptor to us.
        unsafe { libc::close(fd as i32) };
    }
    fd >= 0
}

/// Returns whether the process exists and isn't a zombie.
fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.as_bytes()[0]);
    state.is_some_and(|state| state != b'Z' && state != b'X')
}

/// Waits until none of these is left: the kernel only frees programs and ends processes after the kill. If a
/// test hangs here, one was left behind.
fn await_none(all: &HashSet<u32>, is_there: fn(u32) -> bool) {
    while all.iter().any(|one| is_there(*one)) {
        std::thread::yield_now();
    }
}

/// Kills the tracer as soon as it holds at least `least_programs` programs and `least_processes` descendants.
fn kill_at(least_programs: usize, least_processes: usize) {
    let mut tracer = tracer();
    let (mut loaded, mut below) = (HashSet::new(), HashSet::new());
    while loaded.len() < least_programs || below.len() < least_processes {
        loaded.extend(programs(tracer.id()));
        below.extend(descendants(tracer.id()));
        let ended = tracer.try_wait().expect("it is ours");
        assert_eq!(ended, None, "the tracer ended by itself");
    }
    tracer.kill().expect("it can be killed");
    tracer.wait().expect("it is ours");
    await_none(&loaded, is_loaded);
    await_none(&below, is_alive);
}

#[test]
fn kill_9_at_any_moment_leaves_nothing() {
    if !available(Tier::Kernel) {
        return;
    }
    // Kill it while it loads programs, when all are loaded, when the child is held, and when a tree of three
    // processes is running.
    for (programs, processes) in [(1, 0), (3, 0), (8, 0), (8, 1), (8, 2), (8, 4)] {
        kill_at(programs, processes);
    }
}
