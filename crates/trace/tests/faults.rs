//! Tests page faults under the in-kernel tier: they are counted and timed, and nothing is left behind.

mod common;

use std::collections::HashSet;

use common::available;
use fathom_trace::{Tier, Trace, TraceOptions, trace};

const PAGE: usize = 4096;
/// Number of pages, far more than are touched at startup.
const PAGES: usize = 8192;

/// Traces one of the helpers below.
fn helper(name: &str, options: &TraceOptions) -> Trace {
    trace(&common::helper(name), Tier::Kernel, options).expect("traced")
}

fn is_helper() -> bool {
    std::env::var_os("FATHOM_TEST_HELPER").is_some()
}

/// Returns untouched memory.
fn fresh_memory() -> &'static mut [u8] {
    let len = PAGES * PAGE;
    // SAFETY: creates a private mapping placed by the kernel, which is zeroed when it is touched and never
    // unmapped.
    unsafe {
        let at = libc::mmap(
            std::ptr::null_mut(),
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        assert_ne!(at, libc::MAP_FAILED);
        libc::madvise(at, len, libc::MADV_NOHUGEPAGE);
        std::slice::from_raw_parts_mut(at.cast(), len)
    }
}

/// Not a test of its own: touches pages from two threads.
#[test]
fn helper_touches() {
    if !is_helper() {
        return;
    }
    let touch = || {
        let memory = fresh_memory();
        memory.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
        memory[0]
    };
    let threads = [std::thread::spawn(touch), std::thread::spawn(touch)];
    for thread in threads {
        assert_eq!(thread.join().expect("ends"), 1);
    }
}

/// Not a test of its own: lets the kernel touch the pages within a call.
#[test]
fn helper_reads_into_fresh_memory() {
    if !is_helper() {
        return;
    }
    let mut zero = std::fs::File::open("/dev/zero").expect("opens");
    std::io::Read::read_exact(&mut zero, fresh_memory()).expect("reads");
}

/// Returns sums over all threads: the number of faults of all kinds, the number of timed faults and their
/// time.
fn faults(t: &Trace) -> (u64, u64, u64) {
    let sum = |of: fn(&fathom_trace::Thread) -> Option<u64>| t.threads.iter().filter_map(of).sum();
    let all: u64 = sum(|thread| Some(thread.minor_faults? + thread.major_faults?));
    (all, sum(|thread| thread.timed_faults), sum(|t| t.fault_ns))
}

#[test]
fn faults_of_own_code_are_timed_by_thread() {
    if !available(Tier::Kernel) || !cfg!(target_arch = "x86_64") {
        return;
    }
    let t = helper("helper_touches", &TraceOptions::default());
    let (all, timed, _) = faults(&t);
    assert!(
        timed >= 2 * PAGES as u64 && timed <= all,
        "{timed} of {all}"
    );
    let touchers = t
        .threads
        .iter()
        .filter(|thread| thread.timed_faults >= Some(PAGES as u64));
    assert_eq!(touchers.clone().count(), 2);
    for thread in touchers {
        let (faults, on_cpu) = (thread.fault_ns, thread.on_cpu_ns);
        assert!(faults > Some(0) && faults <= on_cpu, "{thread:?}");
    }
    assert!(t.fault_overhead.is_some());
}

#[test]
fn faults_within_a_call_are_the_calls() {
    if !available(Tier::Kernel) || !cfg!(target_arch = "x86_64") {
        return;
    }
    let t = helper("helper_reads_into_fresh_memory", &TraceOptions::default());
    let (all, timed, _) = faults(&t);
    assert!(all >= timed + PAGES as u64, "{timed} of {all}");
}

#[test]
fn the_tracer_does_not_trace_itself() {
    if !available(Tier::Kernel) {
        return;
    }
    let t = helper("helper_touches", &TraceOptions::default());
    let tree: HashSet<u32> = t.processes.iter().map(|process| process.pid).collect();
    assert!(!tree.contains(&std::process::id()));
    assert!(t.threads.iter().all(|thread| tree.contains(&thread.pid)));
    assert!(t.syscalls.iter().all(|row| tree.contains(&row.pid)));
    assert!(t.off_cpu.iter().all(|row| tree.contains(&row.pid)));
}

#[test]
fn who_does_not_ask_gets_no_times() {
    if !available(Tier::Kernel) {
        return;
    }
    let options = TraceOptions {
        fault_times: false,
        ..TraceOptions::default()
    };
    let t = helper("helper_touches", &options);
    assert_eq!(t.fault_overhead, None);
    assert!(t.threads.iter().all(|thread| thread.fault_ns.is_none()));
    assert!(faults(&t).0 >= 2 * PAGES as u64, "they are counted");
}
