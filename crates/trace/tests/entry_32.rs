//! Tests calls through the 32-bit entry of x86, made by a 64-bit program. They are the same as those of a
//! 32-bit program, which not every machine can build.
#![cfg(target_arch = "x86_64")]

mod common;

use std::ffi::CStr;

use common::{available, helper, sum};
use fathom_trace::{Losses, Tier, Trace, TraceOptions, trace};

/// Numbers of the 32-bit table.
const WRITE: u64 = 4;
const OPEN: u64 = 5;
const CLOSE: u64 = 6;
const SOCKETCALL: u64 = 102;

/// Makes a call; only the lower half of each argument counts.
fn call(number: u64, first: u64, second: u64, third: u64) -> i64 {
    let result: i64;
    // SAFETY: `rbx` is restored, and the kernel may clobber the other registers that are named. The caller
    // guarantees the pointers.
    unsafe {
        std::arch::asm!(
            "xchg rbx, {first}",
            "int 0x80",
            "xchg rbx, {first}",
            first = inout(reg) first => _,
            inlateout("rax") number => result,
            in("rcx") second,
            in("rdx") third,
            lateout("r8") _, lateout("r9") _, lateout("r10") _, lateout("r11") _,
        );
    }
    result
}

/// Returns the address of a page with these bytes; the address fits into 32 bits.
fn low_page(bytes: &CStr) -> u64 {
    let bytes = bytes.to_bytes_with_nul();
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_32BIT;
    // SAFETY: creates a new mapping placed by the kernel, to which the bytes are copied; it is never
    // unmapped.
    unsafe {
        let at = libc::mmap(std::ptr::null_mut(), 4096, access, kind, -1, 0);
        assert_ne!(at, libc::MAP_FAILED);
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), at.cast(), bytes.len());
        at as u64
    }
}

/// Not a test of its own: the program that the tests trace.
#[test]
fn helper_calls_through_the_32_bit_entry() {
    if std::env::var_os("FATHOM_TEST_HELPER").is_none() {
        return;
    }
    let there = low_page(c"/dev/null");
    assert!(call(OPEN, low_page(c"/nonexistent/fathom-32"), 0, 0) < 0);
    for _ in 0..2 {
        let file = call(OPEN, there, libc::O_WRONLY as u64, 0) as u64;
        for _ in 0..50 {
            assert_eq!(call(WRITE, file, there, 7), 7);
        }
        assert_eq!(call(CLOSE, file, 0, 0), 0);
    }
    // An invalid socket call.
    assert!(call(SOCKETCALL, 99, 0, 0) < 0);
}

/// Returns the trace of the helper; `None` if this kernel lacks the entry and killed the helper for using it.
fn traced(tier: Tier) -> Option<Trace> {
    if !available(tier) {
        return None;
    }
    let options = TraceOptions {
        most_stops: 1_000_000,
        ..TraceOptions::default()
    };
    let command = helper("helper_calls_through_the_32_bit_entry");
    let trace = trace(&command, tier, &options).expect("traced");
    if trace.end.signal == Some(libc::SIGSEGV) {
        fathom_test_log::skipped("this kernel has no 32-bit entry");
        return None;
    }
    assert_eq!(trace.end.code, Some(0));
    assert_eq!(trace.lost, Losses::default());
    Some(trace)
}

fn is_seen_as_what_it_is(t: &Trace) {
    let of_32 = |name: &str| {
        let rows = t.syscalls.iter().filter(|row| row.by_32_bit_entry());
        rows.filter(|row| row.name == name)
            .map(|row| (row.fd, row.calls, row.bytes, row.errors))
            .collect::<Vec<_>>()
    };
    let [(Some(file), 100, 700, 0)] = of_32("write")[..] else {
        panic!("{:?}", of_32("write"));
    };
    let (opens, closes) = (of_32("open"), of_32("close"));
    let total =
        |rows: &[(Option<i32>, u64, u64, u64)]| -> u64 { rows.iter().map(|row| row.1).sum() };
    assert_eq!((total(&opens), total(&closes)), (3, 2));
    assert_eq!(of_32("socketcall (32-bit)"), [(None, 1, 0, 1)]);
    // These come in addition to the calls of the program's own runtime.
    assert!(sum(t, "write", Some(1)).calls > 0 && file > 2);

    let written = t
        .files
        .iter()
        .find(|f| f.name == "/dev/null" && f.written_bytes >= 700);
    let written = written.expect("the file has its name and its bytes");
    assert!(written.opens >= 2, "{written:?}");
    let missing = t.failed_lookups.iter();
    let missing = missing.filter(|lookup| lookup.path == "/nonexistent/fathom-32");
    assert_eq!(
        missing
            .map(|lookup| (lookup.errno, lookup.calls))
            .collect::<Vec<_>>(),
        [(libc::ENOENT, 1)]
    );
}

#[test]
fn the_kernel_tier_sees_them_as_what_they_are() {
    if let Some(trace) = traced(Tier::Kernel) {
        is_seen_as_what_it_is(&trace);
    }
}

#[test]
fn the_stops_tier_sees_them_as_what_they_are() {
    if let Some(trace) = traced(Tier::Ptrace) {
        is_seen_as_what_it_is(&trace);
    }
}
