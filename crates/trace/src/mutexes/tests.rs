//! Tests which processes the probes trap. This program has a function with the name of the one in which Go's
//! runtime waits.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::*;

const ASKED: &str = "FATHOM_TEST_UNIT_WAITS";
const WAITS: u64 = 5;
/// The instruction with which the kernel replaces the probed one.
const TRAP: u8 = 0xcc;

#[unsafe(export_name = "sync.runtime_SemacquireMutex")]
#[inline(never)]
extern "C" fn wait(number: u64) {
    std::hint::black_box(number);
}

/// Runs in the processes that the tests start: prints the function's position, and continues when it reads a
/// line.
#[test]
fn waits_if_it_is_asked_to() {
    if std::env::var_os(ASKED).is_some() {
        let place = wait as *const () as u64;
        writeln!(std::io::stdout(), "\nat {place}").unwrap();
        std::io::stdin().read_line(&mut String::new()).unwrap();
        for number in 0..WAITS {
            wait(std::hint::black_box(number));
        }
        // Keep running, so that this process's memory can be read.
        std::io::stdin().read_line(&mut String::new()).unwrap();
    }
}

/// The probes of one test would trap the processes of another.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Waiting {
    child: Child,
    said: BufReader<std::process::ChildStdout>,
    at: u64,
}

impl Waiting {
    fn start() -> Self {
        let name = "mutexes::tests::waits_if_it_is_asked_to";
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([name, "--exact", "--nocapture"])
            .env(ASKED, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let at = loop {
            let mut line = String::new();
            assert_ne!(said.read_line(&mut line).unwrap(), 0, "it has ended");
            if let Some(at) = line.strip_prefix("at ") {
                break at.trim().parse().unwrap();
            }
        };
        Self { child, said, at }
    }

    fn is_trapped(&self) -> bool {
        let memory = fs::File::open(format!("/proc/{}/mem", self.child.id())).unwrap();
        let mut first = [0];
        memory.read_exact_at(&mut first, self.at).unwrap();
        first == [TRAP]
    }

    /// Makes the process wait and exit.
    fn run(mut self) {
        self.child.stdin.take().unwrap().write_all(b"\n\n").unwrap();
        std::io::copy(&mut self.said, &mut std::io::sink()).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

fn may_probe(probes: io::Result<Mutexes>) -> Option<Mutexes> {
    match probes {
        Ok(probes) => Some(probes),
        Err(error) => {
            fathom_test_log::skipped(&format!("no uprobes here: {error}"));
            None
        }
    }
}

fn with(probes: Probes) -> Mutexes {
    Mutexes {
        probes,
        file: file(Path::new("/proc/self/exe")).unwrap(),
        hits: Vec::new(),
        lost: 0,
    }
}

fn own() -> (CString, Vec<places::Place>) {
    let program = std::env::current_exe().unwrap();
    let path = CString::new(program.as_os_str().as_bytes()).unwrap();
    (path, places::of(&program))
}

/// Returns each process with the number of its waits.
fn rows(probes: Mutexes, of: impl Fn(u32) -> bool) -> Vec<(u32, u64)> {
    let (rows, lost) = probes.finish(of);
    assert_eq!(lost, 0);
    rows.iter().map(|row| (row.pid, row.waits)).collect()
}

#[test]
#[cfg(target_arch = "x86_64")]
fn only_processes_of_the_tree_are_trapped() {
    let _alone = alone();
    let (observed, later, other) = (Waiting::start(), Waiting::start(), Waiting::start());
    let (one, two) = (observed.child.id(), later.child.id());
    let (path, places) = own();
    let probes = OfProcesses::begin(path, &places, &[one]);
    let Some(mut probes) = may_probe(probes.map(|it| with(Probes::OfProcesses(it)))) else {
        return;
    };
    let trapped = |all: &[&Waiting]| all.iter().map(|it| it.is_trapped()).collect::<Vec<_>>();
    assert_eq!(trapped(&[&observed, &later, &other]), [true, false, false]);
    // One process of the tree executes the same file, another one a different file.
    probes.executed(two);
    probes.executed(1);
    assert_eq!(trapped(&[&observed, &later, &other]), [true, true, false]);
    for process in [other, later, observed] {
        process.run();
    }
    let mut seen = rows(probes, |_| true);
    seen.sort_unstable();
    let mut expected = [(one, WAITS), (two, WAITS)];
    expected.sort_unstable();
    assert_eq!(seen, expected);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn before_linux_6_6_what_others_record_is_dropped() {
    let _alone = alone();
    let (observed, other) = (Waiting::start(), Waiting::start());
    let one = observed.child.id();
    let (path, places) = own();
    let probes = Everywhere::begin(&path, &places);
    let Some(probes) = may_probe(probes.map(|it| with(Probes::Everywhere(it)))) else {
        return;
    };
    other.run();
    observed.run();
    assert_eq!(rows(probes, |pid| pid == one), [(one, WAITS)]);
}
