//! Tests Go's mutex waits, which no call and no switch shows. This test program has a function with the name
//! of the one in which Go's runtime waits, and is itself the traced program.

mod common;

use std::thread;
use std::time::Duration;

use common::available;
use fathom_trace::{Tier, TraceCommand, TraceOptions, trace};

const ASKED: &str = "FATHOM_TEST_WAITS";
const WAITS: u64 = 20;
const EACH: Duration = Duration::from_millis(3);

#[unsafe(export_name = "sync.runtime_SemacquireMutex")]
#[inline(never)]
extern "C" fn wait(milliseconds: u64) {
    thread::sleep(Duration::from_millis(milliseconds));
}

/// The traced program.
#[test]
fn waits_if_it_is_asked_to() {
    if std::env::var_os(ASKED).is_some() {
        for _ in 0..WAITS {
            wait(std::hint::black_box(EACH.as_millis() as u64));
        }
    }
}

#[test]
fn each_wait_for_a_mutex_is_seen() {
    if !available(Tier::Kernel) || cfg!(not(target_arch = "x86_64")) {
        return;
    }
    let own = std::env::current_exe().expect("it runs");
    let mut command = TraceCommand::new([own.as_os_str(), "waits_if_it_is_asked_to".as_ref()]);
    let asked = [(ASKED.into(), "1".into())];
    command.env = Some(std::env::vars_os().chain(asked).collect());
    let options = TraceOptions {
        mutexes_of: Some(own),
        ..TraceOptions::default()
    };
    let seen = trace(&command, Tier::Kernel, &options).expect("it is allowed");
    assert_eq!(seen.end.code, Some(0));
    let [row] = seen.mutexes[..] else {
        // The kernel may lack uprobes, or a container may hide them.
        let reported = |sentence: &String| sentence.starts_with("how goroutines waited");
        assert!(seen.not_visible.iter().any(reported), "{:?}", seen.mutexes);
        fathom_test_log::skipped("no uprobes here");
        return;
    };
    assert_eq!((row.waits, row.pid), (WAITS, seen.processes[0].pid));
    let least = (EACH * WAITS as u32).as_nanos() as u64;
    assert!(
        row.total_ns >= least && row.contended_ns >= least,
        "{row:?}"
    );
    assert!(row.longest_ns >= EACH.as_nanos() as u64, "{row:?}");
}

#[test]
fn a_program_without_such_places_is_traced_all_the_same() {
    if !available(Tier::Kernel) {
        return;
    }
    let command = TraceCommand::new(["true"]);
    let options = TraceOptions {
        mutexes_of: Some("/bin/true".into()),
        ..TraceOptions::default()
    };
    let seen = trace(&command, Tier::Kernel, &options).expect("it is allowed");
    assert_eq!((seen.end.code, seen.mutexes.len()), (Some(0), 0));
}
