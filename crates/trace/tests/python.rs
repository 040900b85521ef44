//! Tests the Python functions in which threads were sampled, on a program with a known call tree.

mod common;
#[path = "common/pythons.rs"]
mod pythons;

use std::path::PathBuf;
use std::time::Duration;

use common::{available, quiet};
use fathom_stacks::Frame;
use fathom_trace::{Activity, StackPool, Stacks, Tier, TraceOptions, trace};

/// Each part of this program uses enough CPU time to be sampled on any machine.
const PROGRAM: &str = r"import re, threading, time

def spin(until):
    while time.thread_time() < until:
        for i in range(500): pass

class Worker:
    def work(self, until):
        spin(until)

def squares(until):
    while time.thread_time() < until:
        yield sum(i * i for i in range(300))

def consume(until):
    for _ in squares(until): pass

def search(until):
    while time.thread_time() < until:
        re.findall('a+b|a+c', 'a' * 3000)

def thread():
    spin(0.1)

def main():
    Worker().work(time.thread_time() + 0.1)
    consume(time.thread_time() + 0.1)
    search(time.thread_time() + 0.1)
    exec('spin(time.thread_time() + 0.1)')
    other = threading.Thread(target=thread)
    other.start()
    other.join()

main()
";

fn interpreters() -> Vec<PathBuf> {
    let found = pythons::found([]);
    if found.is_empty() {
        fathom_test_log::skipped("no Python 3.11 to 3.14 is here");
    }
    found
}

/// Returns the frames of each row with this activity and call, innermost first.
fn paths<'s>(stacks: &'s Stacks, activity: Activity, call: Option<&str>) -> Vec<Vec<&'s Frame>> {
    let all = stacks.rows.iter();
    all.filter(|row| row.activity == activity && row.call.as_deref() == call)
        .filter_map(|row| Some(stacks.tree.path(row.node?).collect()))
        .collect()
}

/// Returns whether a stack has these functions, innermost first, with only library functions in between.
fn holds(path: &[&Frame], file: &str, wanted: &[&str]) -> bool {
    let own = path
        .iter()
        .filter(|frame| frame.source_file.as_deref() == Some(file));
    let names: Vec<&str> = own.filter_map(|frame| frame.function.as_deref()).collect();
    names.windows(wanted.len()).any(|names| names == wanted)
}

/// A method makes calls, and a function waits.
const CALLS: &str = r"import os, sys, time

class Store:
    def load(self):
        fd = os.open(__file__, os.O_RDONLY)
        for _ in range(50): os.pread(fd, 10, 0)
        os.close(fd)

def nap():
    time.sleep(0.002)

def main():
    for _ in range(int(sys.argv[1])):
        Store().load()
        nap()

main()
";

#[test]
fn calls_and_waits_have_functions_of_python() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("calls.py");
    std::fs::write(&file, CALLS).expect("written");
    let file = file.to_str().expect("UTF-8");
    for interpreter in interpreters() {
        for tier in [Tier::Kernel, Tier::Ptrace] {
            if !available(tier) {
                continue;
            }
            let mut wanted = vec![(
                Activity::Call,
                "pread64",
                &["Store.load", "main", "<module>"][..],
            )];
            if tier == Tier::Kernel {
                let nap = &["nap", "main", "<module>"];
                wanted.push((Activity::Wait, "clock_nanosleep", nap));
            }
            // Names are read from the running process: on a slow machine, the first one ends before that.
            for rounds in ["20", "1000"] {
                let options = TraceOptions {
                    profile: Some(Duration::from_millis(4)),
                    call_stacks: Some(Duration::from_micros(8)),
                    stacks: Some(StackPool::default()),
                    stops_time: Duration::from_secs(3600),
                    ..TraceOptions::default()
                };
                let command = quiet(&[interpreter.to_str().expect("UTF-8"), file, rounds]);
                let seen = trace(&command, tier, &options).expect("traced");
                let pool = options.stacks.expect("was given");
                let stacks = pool.named(&seen).expect("stacks");
                wanted.retain(|(activity, call, functions)| {
                    let paths = paths(&stacks, *activity, Some(call));
                    !paths.iter().any(|path| holds(path, file, functions))
                });
                if wanted.is_empty() {
                    break;
                }
            }
            assert!(
                wanted.is_empty(),
                "{interpreter:?}, {tier:?}: no {wanted:?}"
            );
        }
    }
}

#[test]
fn functions_of_python_have_names_files_and_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("known.py");
    std::fs::write(&file, PROGRAM).expect("written");
    let file = file.to_str().expect("UTF-8");
    for interpreter in interpreters() {
        for tier in [Tier::Kernel, Tier::Perf] {
            if !available(tier) {
                continue;
            }
            let options = TraceOptions {
                profile: Some(Duration::from_millis(1)),
                stacks: Some(StackPool::default()),
                ..TraceOptions::default()
            };
            let command = quiet(&[interpreter.to_str().expect("UTF-8"), file]);
            let seen = trace(&command, tier, &options).expect("traced");
            let stacks = options
                .stacks
                .and_then(|pool| pool.named(&seen))
                .expect("stacks");
            let paths = paths(&stacks, Activity::OwnCode, None);
            for wanted in [
                &["spin", "Worker.work", "main", "<module>"][..],
                &["squares", "consume", "main"],
                &["search", "main"],
                &["spin", "main"],
                &["spin", "thread"],
            ] {
                assert!(
                    paths.iter().any(|path| holds(path, file, wanted)),
                    "{interpreter:?}, {tier:?}: {wanted:?} of {paths:#?}"
                );
            }
            let lines = |function: &str| -> Vec<u32> {
                let frames = paths.iter().flatten();
                let named = frames.filter(|frame| {
                    let of_file = frame.source_file.as_deref() == Some(file);
                    of_file && frame.function.as_deref() == Some(function)
                });
                named.filter_map(|frame| frame.line).collect()
            };
            assert!(lines("spin").iter().all(|line| (3..=5).contains(line)));
            assert!(
                lines("Worker.work")
                    .iter()
                    .all(|line| (8..=9).contains(line))
            );
            assert!(lines("main").iter().all(|line| (25..=32).contains(line)));
        }
    }
}
