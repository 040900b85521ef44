//! Tests stacks and paths of calls, waits and page faults (kernel tier).

mod common;

use std::io::{Read, Write};
use std::time::Duration;

use common::{available, built, helper, quiet, run, sum};
use fathom_trace::{Activity, StackPool, StackRow, Tier, Trace, TraceCommand, TraceOptions, trace};

/// Number of calls made by the helper that looks up one file.
const ASKED: u64 = 20_000;

fn traced(name: &str) -> Trace {
    traced_command(helper(name))
}

fn traced_command(command: TraceCommand) -> Trace {
    let pool = StackPool::default();
    let options = TraceOptions {
        // Records of mappings only come with samples of own code.
        profile: Some(Duration::from_millis(4)),
        stacks: Some(pool.clone()),
        call_stacks: Some(Duration::from_micros(50)),
        ..TraceOptions::default()
    };
    let trace = trace(&command, Tier::Kernel, &options).expect("the command is traced");
    Trace {
        stacks: pool.named(&trace),
        ..trace
    }
}

/// Returns the total time of the rows below a function.
fn ns_below(trace: &Trace, function: &str, is: impl Fn(&StackRow) -> bool) -> u64 {
    let stacks = trace.stacks.as_ref().expect("stacks were taken");
    let is_below = |row: &&StackRow| {
        let path = row.node.map(|node| stacks.tree.path(node));
        path.into_iter()
            .flatten()
            .any(|frame| frame.function.as_deref() == Some(function))
    };
    let rows = stacks.rows.iter().filter(|row| is(row));
    rows.filter(is_below).map(|row| row.ns).sum()
}

fn is_helper() -> bool {
    std::env::var_os("FATHOM_TEST_HELPER").is_some()
}

#[test]
fn calls_have_the_functions_that_made_them_by_their_time() {
    if !available(Tier::Kernel) {
        return;
    }
    let t = traced("helper_calls");
    let is_call =
        |row: &StackRow| row.activity == Activity::Call && row.call.as_deref() == Some("getppid");
    let [all, often, seldom] = [
        "helper_calls_both",
        "helper_calls_often",
        "helper_calls_seldom",
    ]
    .map(|function| ns_below(&t, function, is_call) as f64);
    assert!(
        (often / all - 0.75).abs() < 0.05,
        "{often} and {seldom} of {all}"
    );
    assert!(
        (seldom / all - 0.25).abs() < 0.05,
        "{often} and {seldom} of {all}"
    );
    let stacks = t.stacks.as_ref().expect("stacks were taken");
    let rows = stacks.rows.iter().filter(|row| is_call(row));
    let calls: u64 = rows.map(|row| row.calls).sum();
    assert!(
        (calls as f64 / 400_000.0 - 1.0).abs() < 0.3,
        "{calls} calls"
    );
    // The rows represent the time that the calls took.
    let took = t.syscalls.iter().filter(|row| row.name == "getppid");
    let took: u64 = took.map(|row| row.total_ns).sum();
    assert!((all / took as f64 - 1.0).abs() < 0.1, "{all} of {took}");
    assert_eq!(t.lost.stacks, 0);
}

#[test]
fn a_long_wait_has_the_function_that_waited() {
    if !available(Tier::Kernel) {
        return;
    }
    let t = traced("helper_waits");
    let slept = |row: &StackRow| {
        row.activity == Activity::Wait && row.call.as_deref() == Some("clock_nanosleep")
    };
    let ns = ns_below(&t, "helper_waits_a_while", slept);
    assert!(ns >= WAIT.as_nanos() as u64 * 9 / 10, "{ns}");
    let read =
        |row: &StackRow| row.activity == Activity::Wait && row.path.as_deref() == Some("pipe");
    assert!(ns_below(&t, "helper_waits_for_a_pipe", read) >= WAIT.as_nanos() as u64 * 9 / 10);
    let stacks = t.stacks.as_ref().expect("stacks were taken");
    let locks = stacks
        .rows
        .iter()
        .filter(|row| row.call.as_deref() == Some("futex"));
    let ended: Vec<_> = locks.filter(|row| row.activity == Activity::Wait).collect();
    assert!(
        ended
            .iter()
            .any(|row| row.woken_by.is_some_and(|tid| tid != row.tid)),
        "{ended:?}"
    );
}

#[test]
fn page_faults_have_the_function_that_touched_the_memory() {
    if !available(Tier::Kernel) || !cfg!(target_arch = "x86_64") {
        return;
    }
    let t = traced("helper_touches");
    let is_fault = |row: &StackRow| row.activity == Activity::Fault;
    let stacks = t.stacks.as_ref().expect("stacks were taken");
    let all: u64 = stacks
        .rows
        .iter()
        .filter(|row| is_fault(row))
        .map(|row| row.ns)
        .sum();
    let touched = ns_below(&t, "helper_touches_pages", is_fault);
    assert!(touched as f64 > all as f64 * 0.8, "{touched} of {all}");
    let took: u64 = t.threads.iter().filter_map(|one| one.fault_ns).sum();
    assert!(
        (all as f64 / took as f64 - 1.0).abs() < 0.1,
        "{all} of {took}"
    );
}

/// Touches each page of every kind of memory, each in a separate function.
const TOUCHES: &str = r#"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#define SIZE (16L << 20)
static char data[SIZE];
#define TOUCH(name) __attribute__((noinline)) void name(volatile char *at) { \
    for (long i = 0; i < SIZE; i += 4096) at[i] = 1; \
    __asm__ volatile(""); }
TOUCH(touch_data)
TOUCH(touch_heap)
TOUCH(touch_mapping)
TOUCH(touch_file)
__attribute__((noinline)) void touch_stack(int left) {
    volatile char room[8192];
    room[0] = 1;
    if (left > 0) touch_stack(left - 1);
    room[1] = room[0];
}
int main(int argc, char **argv) {
    (void)argc;
    touch_data(data);
    // The first piece of the heap has no name yet when the kernel records it.
    sbrk(4096);
    touch_heap(sbrk(SIZE));
    touch_mapping(mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    int file = open(argv[1], O_RDONLY);
    touch_file(mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0));
    touch_stack(500);
    return 0;
}
"#;

#[test]
fn page_faults_say_what_was_touched() {
    if !available(Tier::Kernel) || !cfg!(target_arch = "x86_64") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = built(folder.path(), TOUCHES, &["-O1"]) else {
        return;
    };
    let file = folder.path().join("file");
    let data = std::fs::File::create(&file).expect("made");
    data.set_len(16 << 20).expect("made longer");
    let path = file.to_str().expect("UTF-8");
    let t = traced_command(quiet(&[program.to_str().expect("UTF-8"), path]));
    assert_eq!(t.end.code, Some(0));
    for (function, object) in [
        ("touch_data", "data of tree"),
        ("touch_heap", "heap"),
        ("touch_mapping", "anonymous mapping"),
        ("touch_file", path),
        ("touch_stack", "stack"),
    ] {
        let is_fault = |row: &StackRow| row.activity == Activity::Fault;
        let all = ns_below(&t, function, is_fault);
        let touched = ns_below(&t, function, |row| {
            is_fault(row) && row.path.as_deref() == Some(object)
        });
        assert!(touched > 0, "{function}");
        assert!(touched * 10 >= all * 9, "{function}: {touched} of {all}");
    }
}

#[test]
fn a_wait_for_a_child_says_which() {
    if !available(Tier::Kernel) {
        return;
    }
    let t = traced_command(quiet(&["sh", "-c", "sleep 0.02; exit 0"]));
    let stacks = t.stacks.as_ref().expect("stacks were taken");
    let waited = |row: &&StackRow| {
        row.activity == Activity::Wait
            && row
                .call
                .as_deref()
                .is_some_and(|call| call.starts_with("wait"))
    };
    let wait = stacks
        .rows
        .iter()
        .find(waited)
        .expect("it is longer than the distance");
    assert_eq!(
        (wait.pid, wait.woken_by),
        (t.processes[0].pid, Some(t.processes[1].pid))
    );
}

#[test]
fn who_calls_vfork_is_known_though_nothing_of_the_call_is_on_the_stack() {
    let available = available(Tier::Kernel);
    let t = available
        .then(|| traced_command(quiet(&["sh", "-c", "for i in 1 2 3; do /bin/true; done"])));
    let Some(stacks) = t.and_then(|t| t.stacks) else {
        return;
    };
    // Some shells use `fork` instead.
    let made = stacks
        .rows
        .iter()
        .filter(|row| row.call.as_deref() == Some("vfork"));
    for row in made {
        let frames = row.node.map_or(0, |node| stacks.tree.path(node).count());
        assert!(frames > 1, "{row:?}");
    }
}

#[test]
fn a_first_call_has_its_stack_however_short() {
    if !available(Tier::Kernel) {
        return;
    }
    let t = traced("helper_waits");
    let stacks = t.stacks.as_ref().expect("stacks were taken");
    let is_pipe = |row: &&StackRow| {
        row.call
            .as_deref()
            .is_some_and(|call| call.starts_with("pipe"))
    };
    assert!(stacks.rows.iter().any(|row| is_pipe(&row)));
}

/// Duration of each wait of the helper.
const WAIT: Duration = Duration::from_millis(30);

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn helper_calls_often() -> i32 {
    // SAFETY: getppid takes no arguments and changes nothing.
    (0..3_000)
        .map(|_| unsafe { libc::syscall(libc::SYS_getppid) } as i32 & 1)
        .sum()
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn helper_calls_seldom() -> i32 {
    // SAFETY: getppid takes no arguments and changes nothing.
    (0..1_000)
        .map(|_| unsafe { libc::syscall(libc::SYS_getppid) } as i32 & 1)
        .sum()
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn helper_calls_both() -> i32 {
    (0..100)
        .map(|_| helper_calls_often() + helper_calls_seldom())
        .sum()
}

#[test]
fn helper_calls() {
    if is_helper() {
        assert!(helper_calls_both() >= 0);
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn helper_waits_a_while() -> bool {
    std::thread::sleep(WAIT);
    std::hint::black_box(true)
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn helper_waits_for_a_pipe() -> usize {
    let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
    let late = std::thread::spawn(move || {
        std::thread::sleep(WAIT);
        writer.write_all(b"x").expect("written");
    });
    let mut byte = [0];
    let read = reader.read(&mut byte).expect("read");
    late.join().expect("ends");
    std::hint::black_box(read)
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn helper_waits_for_a_lock() -> bool {
    static LOCK: std::sync::Mutex<bool> = std::sync::Mutex::new(false);
    let held = LOCK.lock().expect("nobody panicked");
    let waiter = std::thread::spawn(|| *LOCK.lock().expect("nobody panicked"));
    std::thread::sleep(WAIT);
    drop(held);
    std::hint::black_box(waiter.join().expect("ends"))
}

#[test]
fn helper_waits() {
    if is_helper() {
        assert!(helper_waits_a_while());
        assert_eq!(helper_waits_for_a_pipe(), 1);
        assert!(!helper_waits_for_a_lock());
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn helper_touches_pages() -> usize {
    let mut pages = vec![0u8; 64 << 20];
    pages.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
    std::hint::black_box(pages.len())
}

#[test]
fn helper_touches() {
    if is_helper() {
        assert_eq!(helper_touches_pages(), 64 << 20);
    }
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
    if !is_helper() {
        return;
    }
    for _ in 0..ASKED {
        std::fs::metadata("/proc/self/status").expect("it is there");
    }
}
