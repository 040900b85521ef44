//! Tests the functions of own code, in the kernel and the perf tier.

mod common;

use std::time::Duration;

use common::{available, helper, quiet};
use fathom_trace::{FunctionRow, Tier, Trace, TraceOptions, trace};

/// CPU time that the helpers use, ns: about a hundred samples, even if many are missed.
const CPU_NS: u64 = 200_000_000;

fn is_helper() -> bool {
    std::env::var_os("FATHOM_TEST_HELPER").is_some()
}

fn cpu_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call fills a live struct.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Performs divisions, each of which depends on the result of the one before.
#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn helper_divides(mut number: u64) -> u64 {
    let mut left = 400_000;
    while left > 0 {
        number = ((number ^ 0x9e37_79b9_7f4a_7c15) / left) | (1 << 63);
        left -= 1;
    }
    number
}

/// Not a separate test: computes in a function with a name.
#[test]
fn helper_computes() {
    if !is_helper() {
        return;
    }
    let mut number = 1;
    while cpu_ns() < CPU_NS {
        number = helper_divides(number);
    }
    assert_ne!(number, 1);
}

/// Not a separate test: one thread waits for another's store, without a call.
#[test]
fn helper_spins() {
    use std::sync::atomic::{AtomicBool, Ordering};
    static READY: AtomicBool = AtomicBool::new(false);
    if !is_helper() {
        return;
    }
    let waiter = std::thread::spawn(|| {
        while !READY.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
    });
    while cpu_ns() < CPU_NS {
        helper_divides(1);
    }
    READY.store(true, Ordering::Release);
    waiter.join().expect("ends");
}

fn profiled(tier: Tier, name: &str) -> Trace {
    let options = TraceOptions {
        profile: Some(Duration::from_millis(1)),
        ..TraceOptions::default()
    };
    trace(&helper(name), tier, &options).expect("traced")
}

fn rows(trace: &Trace) -> &[FunctionRow] {
    &trace.profile.as_ref().expect("it was asked for").functions
}

fn samples<'a>(rows: impl IntoIterator<Item = &'a FunctionRow>) -> u64 {
    rows.into_iter().map(|row| row.samples).sum()
}

#[test]
fn the_function_that_computes_is_named() {
    for tier in [Tier::Kernel, Tier::Perf] {
        if !available(tier) {
            continue;
        }
        let seen = profiled(tier, "helper_computes");
        let all = samples(rows(&seen));
        let named = |row: &&FunctionRow| row.function.as_deref() == Some("helper_divides");
        let there = samples(rows(&seen).iter().filter(named));
        assert!(all > 20, "{tier:?}: {all} samples");
        assert!(there * 10 > all * 6, "{tier:?}: {:?}", rows(&seen));
        // This is a loop, but it doesn't wait for a thread.
        let spins: u64 = rows(&seen).iter().map(|row| row.spins).sum();
        assert!(spins * 10 < all, "{tier:?}: {:?}", rows(&seen));
    }
}

#[test]
fn a_thread_that_spins_is_distinguished_from_one_that_works() {
    for tier in [Tier::Kernel, Tier::Perf] {
        if !available(tier) {
            continue;
        }
        let seen = profiled(tier, "helper_spins");
        let spins = |row: &&FunctionRow| row.spins > 0;
        let spinning = rows(&seen).iter().filter(spins);
        let first = spinning
            .max_by_key(|row| row.spins)
            .expect("somebody spins");
        let works = |row: &&FunctionRow| row.function.as_deref() == Some("helper_divides");
        let worker = rows(&seen).iter().find(works).expect("somebody works");
        assert_ne!(first.tid, worker.tid, "{:?}", rows(&seen));
        assert!(first.spins * 2 > first.samples, "{first:?}");
    }
}

#[test]
fn without_being_asked_for_there_is_no_profile() {
    for tier in [Tier::Kernel, Tier::Perf, Tier::Sample] {
        if available(tier) {
            let seen = trace(&quiet(&["true"]), tier, &TraceOptions::default());
            assert_eq!(seen.expect("traced").profile, None);
        }
    }
}
