//! Tests the callers of sampled code on programs with a known call tree.

mod common;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use common::{available, built, quiet};
use fathom_trace::{
    Activity, StackPool, StackRow, Stacks, Target, Tier, Trace, TraceOptions, attach, trace,
};

/// `often` is called three times as often as `seldom`. One function, which `main` calls, calls both.
const TREE: &str = r#"
#include <stdlib.h>
volatile unsigned long sink = 1;
__attribute__((noinline)) static void spin(long times) {
    for (long i = 0; i < times; i++) sink = sink * 2862933555777941757UL + 3037000493UL;
    __asm__ volatile("");
}
__attribute__((noinline)) void often(void) { spin(300000); __asm__ volatile(""); }
__attribute__((noinline)) void seldom(void) { spin(100000); __asm__ volatile(""); }
__attribute__((noinline)) void work(long rounds) {
    for (long i = 0; i < rounds; i++) { often(); seldom(); }
    __asm__ volatile("");
}
__attribute__((noinline)) void deep(int left, long rounds) {
    volatile char room[512];
    room[0] = 1;
    if (left > 0) deep(left - 1, rounds); else work(rounds);
    room[1] = room[0];
}
int main(int argc, char **argv) {
    (void)argc;
    deep(atoi(argv[1]), atol(argv[2]));
    return 0;
}
"#;

/// Traces the command with samples under this tier.
fn sampled(tier: Tier, argv: &[&str], pool: &StackPool) -> Trace {
    let options = TraceOptions {
        profile: Some(Duration::from_millis(1)),
        stacks: Some(pool.clone()),
        ..TraceOptions::default()
    };
    trace(&quiet(argv), tier, &options).expect("traced")
}

/// Returns the names of a row's frames, innermost first.
fn path<'a>(stacks: &'a Stacks, row: &StackRow) -> Vec<&'a str> {
    let frames = row.node.map(|node| stacks.tree.path(node));
    frames
        .into_iter()
        .flatten()
        .map(|frame| frame.function.as_deref().unwrap_or("?"))
        .collect()
}

/// Returns the total time of own code whose path contains this function.
fn below(stacks: &Stacks, function: &str) -> u64 {
    let rows = stacks.rows.iter();
    let own = rows.filter(|row| row.activity == Activity::OwnCode);
    own.filter(|row| path(stacks, row).contains(&function))
        .map(|row| row.ns)
        .sum()
}

#[test]
fn own_code_has_its_callers_up_to_main() {
    let folder = tempfile::tempdir().expect("a folder");
    for flags in [
        &["-O1", "-g"][..],
        &["-O2", "-fomit-frame-pointer"],
        &["-O2", "-fno-omit-frame-pointer"],
    ] {
        let Some(program) = built(folder.path(), TREE, flags) else {
            return;
        };
        for tier in [Tier::Kernel, Tier::Perf] {
            if !available(tier) {
                continue;
            }
            let pool = StackPool::default();
            let command = [program.to_str().expect("UTF-8"), "3", "300"];
            let seen = sampled(tier, &command, &pool);
            let stacks = pool.named(&seen).expect("stacks");
            let own = |row: &&StackRow| row.activity == Activity::OwnCode;
            let all: u64 = stacks.rows.iter().filter(own).map(|row| row.ns).sum();
            let whole = below(&stacks, "main") as f64 / all as f64;
            assert!(stacks.taken > 20, "{tier:?}: {stacks:?}");
            assert!(whole > 0.9, "{tier:?}: {stacks:?}");
            let (often, seldom) = (below(&stacks, "often"), below(&stacks, "seldom"));
            let share = often as f64 / (often + seldom) as f64;
            assert!((0.6..0.9).contains(&share), "{tier:?}: {share}");
            // The profile has the same samples by their innermost function.
            let profile = seen.profile.as_ref().expect("a profile");
            let samples: u64 = profile.functions.iter().map(|row| row.samples).sum();
            let of_stacks: u64 = stacks.rows.iter().filter(own).map(|row| row.samples).sum();
            assert_eq!(samples, of_stacks);
        }
    }
}

const BEAT: &str = include_str!("common/beat.c");

#[test]
fn a_program_that_keeps_time_with_the_samples_is_seen_everywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = built(folder.path(), BEAT, &["-O1"]) else {
        return;
    };
    let program = program.to_str().expect("UTF-8");
    // The clock that takes the samples is that of each CPU or that of the thread.
    for (tier, clock) in [(Tier::Kernel, "machine"), (Tier::Perf, "cpu")] {
        if !available(tier) {
            continue;
        }
        let pool = StackPool::default();
        let seen = sampled(tier, &[program, clock, "1000000", "500"], &pool);
        let stacks = pool.named(&seen).expect("stacks");
        let (more, less) = (below(&stacks, "more"), below(&stacks, "less"));
        let share = more as f64 / (more + less) as f64;
        let own = f64::from(seen.end.code.expect("it ended")) / 100.0;
        if !(0.4..0.75).contains(&own) {
            fathom_test_log::skipped("the program can't keep time on a machine as slow as this");
            continue;
        }
        assert!((share - own).abs() < 0.2, "{tier:?}: {share}, not {own}");
    }
}

const CALLS: &str = r#"
#include <unistd.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
__attribute__((noinline)) void ask(void) { getppid(); __asm__ volatile(""); }
__attribute__((noinline)) void look(void) {
    struct stat of;
    stat("/etc/hostname", &of);
    __asm__ volatile("");
}
int main(void) {
    for (int i = 0; i < 3000; i++) { ask(); look(); ask(); ask(); }
    return 0;
}
"#;

#[test]
fn calls_at_stops_have_who_made_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = built(folder.path(), CALLS, &["-O1", "-g"]) else {
        return;
    };
    if !available(Tier::Ptrace) {
        return;
    }
    let pool = StackPool::default();
    let options = TraceOptions {
        stacks: Some(pool.clone()),
        stops_time: Duration::from_secs(3600),
        ..TraceOptions::default()
    };
    let command = quiet(&[program.to_str().expect("UTF-8")]);
    let seen = trace(&command, Tier::Ptrace, &options).expect("traced");
    let stacks = pool.named(&seen).expect("stacks");
    let calls = |function: &str| -> u64 {
        let rows = stacks.rows.iter();
        let rows = rows.filter(|row| row.activity == Activity::Call);
        let of_it = rows.filter(|row| {
            let path = path(&stacks, row);
            path.contains(&function) && path.contains(&"main")
        });
        of_it.map(|row| row.calls).sum()
    };
    // There are 3,000 and 9,000 calls, and a stack for one in eight.
    assert!(
        (2_400..=3_600).contains(&calls("look")),
        "{}",
        calls("look")
    );
    assert!((8_000..=10_000).contains(&calls("ask")), "{}", calls("ask"));
    let looks = stacks
        .rows
        .iter()
        .filter(|row| path(&stacks, row).contains(&"look"));
    for row in looks {
        assert_eq!(row.path.as_deref(), Some("/etc/hostname"));
        assert_eq!(row.ns, 0);
    }
}

/// Opens two files in sequence with the same descriptor number.
const FILES: &str = r#"
#include <fcntl.h>
#include <unistd.h>
__attribute__((noinline)) void load(const char *path) {
    char byte;
    int fd = open(path, O_RDONLY);
    for (int i = 0; i < 12; i++) read(fd, &byte, 1);
    close(fd);
}
int main(void) { load("/etc/passwd"); load("/etc/group"); return 0; }
"#;

#[test]
fn calls_at_stops_say_which_file_a_number_was_then() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = built(folder.path(), FILES, &["-O1"]) else {
        return;
    };
    if !available(Tier::Ptrace) {
        return;
    }
    // In the kernel's tiers, the sampled run has no calls: the calls come from the run with stops.
    for sampled_first in [false, true].map(|first| first && available(Tier::Perf)) {
        let pool = StackPool::default();
        let command = [program.to_str().expect("UTF-8")];
        let first = sampled_first.then(|| sampled(Tier::Perf, &command, &pool));
        let stopped = sampled(Tier::Ptrace, &command, &pool);
        let seen = first.as_ref().unwrap_or(&stopped);
        let stacks = pool.named(seen).expect("stacks");
        let of_load = |row: &&StackRow| {
            row.call.as_deref() == Some("read") && path(&stacks, row).contains(&"load")
        };
        let rows = stacks.rows.iter().filter(of_load);
        let mut paths: Vec<&str> = rows.filter_map(|row| row.path.as_deref()).collect();
        paths.sort_unstable();
        assert_eq!(paths, ["/etc/group", "/etc/passwd"], "{stacks:?}");
        assert!(
            stacks
                .rows
                .iter()
                .all(|row| row.pid == seen.processes[0].pid)
        );
        // The work of Fathom's own child before it executes the program is excluded.
        let called = |row: &StackRow| row.call.as_deref() == Some("execve");
        assert!(!stacks.rows.iter().any(called));
    }
}

/// Each function has more on the stack than is copied. The program touches all of it, because nothing is
/// copied of a missing page, and the first caller of a call isn't known if none of its callers' pages is
/// present.
const ROOMY: &str = r#"
#include <unistd.h>
#include <fcntl.h>
#include <sys/stat.h>
__attribute__((noinline)) void ask(void) {
    volatile char room[60000];
    struct stat of;
    for (int i = 0; i < 60000; i += 1024) room[i] = 1;
    for (int i = 0; i < 600; i++) stat("/etc/hostname", &of);
    room[1] = room[0];
}
__attribute__((noinline)) void outer(void) {
    volatile char room[60000];
    for (int i = 0; i < 60000; i += 1024) room[i] = 1;
    ask();
    room[1] = room[0];
}
int main(void) { outer(); return 0; }
"#;

#[test]
fn calls_have_callers_beyond_the_copy_by_frame_pointers() {
    let folder = tempfile::tempdir().expect("a folder");
    let flags = [
        "-O1",
        "-fno-omit-frame-pointer",
        "-fno-stack-clash-protection",
    ];
    let Some(program) = built(folder.path(), ROOMY, &flags) else {
        return;
    };
    for tier in [Tier::Kernel, Tier::Ptrace] {
        if !available(tier) {
            continue;
        }
        let pool = StackPool::default();
        let options = TraceOptions {
            profile: Some(Duration::from_millis(4)),
            stacks: Some(pool.clone()),
            // There are more stacks than the ring holds: the program is held back until they are read.
            call_stacks: Some(Duration::from_micros(1)),
            ..TraceOptions::default()
        };
        let command = quiet(&[program.to_str().expect("UTF-8")]);
        let seen = trace(&command, tier, &options).expect("traced");
        let stacks = pool.named(&seen).expect("stacks");
        // Page faults don't hold it back, and a slow machine has many.
        let lost = seen.lost.stacks;
        assert!(lost * 2 <= stacks.taken, "{tier:?}: {lost} lost");
        let of_stat = |row: &&StackRow| row.call.as_deref() == Some("newfstatat");
        let rows: Vec<&StackRow> = stacks.rows.iter().filter(of_stat).collect();
        let samples = |rows: &mut dyn Iterator<Item = &&StackRow>| -> u64 {
            rows.map(|row| row.samples).sum()
        };
        let asked = samples(
            &mut rows
                .iter()
                .filter(|row| path(&stacks, row).contains(&"ask")),
        );
        let whole = |row: &&&StackRow| {
            let path = path(&stacks, row);
            path.contains(&"outer") && path.contains(&"main")
        };
        let whole = samples(&mut rows.iter().filter(whole));
        assert!(asked > 10, "{tier:?}: {stacks:?}");
        assert!(whole * 10 >= asked * 9, "{tier:?}: {whole} of {asked}");
    }
}

/// Not a separate test: shows what another user sees of a program.
#[test]
fn helper_samples() {
    let Some(program) = std::env::var_os("FATHOM_TEST_PROGRAM") else {
        return;
    };
    let pool = StackPool::default();
    let command = [program.to_str().expect("UTF-8"), "20", "300"];
    let seen = sampled(Tier::Perf, &command, &pool);
    let stacks = pool.named(&seen).expect("stacks");
    let all: u64 = stacks.rows.iter().map(|row| row.ns).sum();
    // Twenty frames of half a KiB are deeper than the initial copy.
    assert!(stacks.cut_off * 2 > stacks.taken, "{stacks:?}");
    let more = sampled(Tier::Perf, &command, &pool);
    let stacks = pool.named(&more).expect("stacks");
    assert!(below(&stacks, "main") * 10 > all * 5, "{stacks:?}");
    assert!(stacks.whole * 10 > stacks.taken * 9, "{stacks:?}");
}

#[test]
fn any_user_has_callers_and_more_is_copied_where_stacks_were_deeper() {
    // SAFETY: geteuid only returns this process's user id.
    if unsafe { libc::geteuid() } != 0 || !available(Tier::Perf) {
        fathom_test_log::skipped("only root can become another user, who may use perf events");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("readable");
    // With frame pointers, no stack would be cut off.
    let flags = ["-O1", "-g", "-fomit-frame-pointer"];
    let Some(program) = built(folder.path(), TREE, &flags) else {
        return;
    };
    let me = folder.path().join("me");
    std::fs::copy(std::env::current_exe().expect("this test program"), &me).expect("copied");
    let output = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(&me)
        .args(["--exact", "helper_samples", "--nocapture"])
        .env("FATHOM_TEST_PROGRAM", program)
        .current_dir("/")
        .output();
    let Ok(output) = output else {
        fathom_test_log::skipped("no setpriv");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("NotAllowed") {
        fathom_test_log::skipped("other users may not use perf events");
        return;
    }
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{errors}"
    );
}

#[test]
fn a_process_that_runs_already_has_callers() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = built(folder.path(), TREE, &["-O1", "-g"]) else {
        return;
    };
    for tier in [Tier::Kernel, Tier::Perf] {
        if !available(tier) {
            continue;
        }
        let mut child = Command::new(&program)
            .args(["3", "1000000000"])
            .spawn()
            .expect("starts");
        let pool = StackPool::of_one_run();
        let options = TraceOptions {
            profile: Some(Duration::from_millis(1)),
            stacks: Some(pool.clone()),
            ..TraceOptions::default()
        };
        let target = Target::find(child.id()).expect("ours");
        // The number of CPUs isn't known, so repeat until there are enough samples.
        let seen = loop {
            let seen = attach(&target, Duration::from_millis(100), tier, &options);
            let seen = seen.expect("observed");
            if pool.samples() >= 20 {
                break seen;
            }
            let ended = child.try_wait().expect("asked");
            assert!(ended.is_none(), "the program ended by itself: {ended:?}");
        };
        child.kill().expect("killed");
        child.wait().expect("ended");
        let stacks = pool.named(&seen).expect("stacks");
        let own = |row: &&StackRow| row.activity == Activity::OwnCode;
        let all: u64 = stacks.rows.iter().filter(own).map(|row| row.ns).sum();
        assert!(
            below(&stacks, "main") * 10 > all * 9,
            "{tier:?}: {stacks:?}"
        );
    }
}

/// While it computes, its stack pointer first points to no memory, then to memory that isn't a stack.
#[cfg(target_arch = "x86_64")]
const ASTRAY: &str = r#"
static char data[1 << 16] __attribute__((aligned(16)));
__attribute__((noinline)) void astray(void *stack) {
    __asm__ volatile(
        "mov %%rsp, %%r15\n mov %0, %%rsp\n mov $100000000, %%rcx\n"
        "1: dec %%rcx\n jnz 1b\n mov %%r15, %%rsp\n"
        : : "r"(stack) : "rcx", "r15", "memory");
}
int main(void) {
    for (int i = 0; i < (1 << 16); i++) data[i] = (char)(i * 7);
    astray((void *)0x10);
    astray((void *)-0x1000L);
    astray(data + 4096);
    return 0;
}
"#;

#[test]
#[cfg(target_arch = "x86_64")]
fn a_stack_pointer_that_leads_nowhere_costs_only_the_callers() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = built(folder.path(), ASTRAY, &["-O1", "-g"]) else {
        return;
    };
    for tier in [Tier::Kernel, Tier::Perf] {
        if !available(tier) {
            continue;
        }
        let pool = StackPool::default();
        let seen = sampled(tier, &[program.to_str().expect("UTF-8")], &pool);
        assert_eq!(seen.end.code, Some(0));
        let stacks = pool.named(&seen).expect("stacks");
        let own = |row: &&StackRow| row.activity == Activity::OwnCode;
        let all: u64 = stacks.rows.iter().filter(own).map(|row| row.ns).sum();
        assert!(
            below(&stacks, "astray") * 10 > all * 8,
            "{tier:?}: {stacks:?}"
        );
    }
}

/// Produces garbage, which Go's runtime handles on separate stacks.
const GARBAGE: &str = r#"
package main

import "runtime"

var kept [][]*int

//go:noinline
func make_garbage(rounds int) {
	for round := 0; round < rounds; round++ {
		list := make([]*int, 0, 4)
		for i := 0; i < 20000; i++ {
			number := i
			list = append(list, &number)
		}
		kept = append(kept[len(kept)/2:], list)
		runtime.GC()
	}
}

func main() { make_garbage(400) }
"#;

#[test]
fn what_go_does_on_a_stack_of_its_own_has_its_callers() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("garbage.go"), GARBAGE).expect("written");
    let build = ["build", "-o", "garbage", "garbage.go"];
    let built = Command::new("go")
        .args(build)
        .current_dir(folder.path())
        .output();
    let Ok(built) = built else {
        fathom_test_log::skipped("there is no Go");
        return;
    };
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let program = folder.path().join("garbage");
    for tier in [Tier::Kernel, Tier::Perf] {
        if !available(tier) {
            continue;
        }
        let pool = StackPool::default();
        let seen = sampled(tier, &[program.to_str().expect("UTF-8")], &pool);
        let stacks = pool.named(&seen).expect("stacks");
        let switched = |row: &&StackRow| path(&stacks, row).contains(&"runtime.systemstack");
        let ends_there =
            |row: &&StackRow| path(&stacks, row).last() == Some(&"runtime.systemstack");
        let samples = |rows: &mut dyn Iterator<Item = &StackRow>| -> u64 {
            rows.map(|row| row.samples).sum()
        };
        let all = samples(&mut stacks.rows.iter().filter(switched));
        let without = samples(&mut stacks.rows.iter().filter(ends_there));
        // A sample at the instructions that switch stacks has no caller.
        assert!(all > 0, "{tier:?}");
        assert!(without * 20 <= all, "{tier:?}: {without} of {all}");
    }
}

#[test]
fn own_code_of_several_runs_is_that_of_one_on_the_average() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = built(folder.path(), TREE, &["-O1", "-g"]) else {
        return;
    };
    if !available(Tier::Perf) {
        return;
    }
    let pool = StackPool::default();
    let program = program.to_str().expect("UTF-8");
    let one = sampled(Tier::Perf, &[program, "3", "100"], &pool);
    let two = sampled(Tier::Perf, &[program, "3", "300"], &pool);
    let own = |trace: &Trace| -> u64 {
        let profile = trace.profile.as_ref().expect("a profile");
        let samples: u64 = profile.functions.iter().map(|row| row.samples).sum();
        samples * profile.period_ns
    };
    let of_stacks = || {
        let stacks = pool.named(&two).expect("stacks");
        let ns: u64 = stacks.rows.iter().map(|row| row.ns).sum();
        (ns, stacks.rows.len() as u64)
    };
    let (ns, rows) = of_stacks();
    let mean = (own(&one) + own(&two)) / 2;
    assert!(ns.abs_diff(mean) <= rows, "{ns} {mean}");
    // This run turns out to be of a different kind.
    pool.forget(&one);
    assert_eq!(of_stacks().0, own(&two));
}
