//! Explanations of recorded runs, computed by the function that `fathom why` calls. They are the same on
//! every machine.

// Each test binary and the example use a different part of this module.
#![allow(dead_code)]

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use fathom_diagnose::{Observation, Subject};
use fathom_model::{
    AccountPart, Environment, Estimate, Explanation, ObservedProcess, Stretch, TimeAccount,
    TimeCategory,
};
use flate2::read::GzDecoder;

pub(crate) mod hostile;
pub(crate) mod paths;
pub(crate) mod tree;

/// A million nanoseconds.
pub(crate) const MS: u64 = 1_000_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../diagnose/tests/recorded")
}

/// Returns the names of all recorded runs: `FINDING.PROGRAM.SIDE.KIND`.
pub(crate) fn names() -> Vec<String> {
    let entries = fs::read_dir(folder()).expect("traces are recorded");
    let names = entries.filter_map(|entry| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        Some(name.strip_suffix(".json.gz")?.to_owned())
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Returns the explanation of a recorded run.
pub(crate) fn recorded(name: &str) -> Explanation {
    let observation = observation(name);
    // Large traces were recorded without their arguments.
    let program = name.split('.').nth(1).unwrap_or(name);
    let subject = Subject {
        command: format!("./{program} words.txt"),
        arguments: vec![format!("./{program}"), "words.txt".to_owned()],
        started_at: "2026-11-21T06:25:46Z".to_owned(),
        environment: environment(),
        floor: observation.floor_seconds.map(estimate),
    };
    fathom_diagnose::explanation(subject, &observation)
}

/// Returns the recording of this name.
pub(crate) fn observation(name: &str) -> Observation {
    let file = File::open(folder().join(format!("{name}.json.gz"))).expect("it is recorded");
    let mut text = Vec::new();
    let mut unpacked = GzDecoder::new(file);
    unpacked.read_to_end(&mut text).expect("it is compressed");
    // Don't parse from the reader: reading byte by byte takes several times as long in a debug build.
    serde_json::from_slice(&text).expect("a recorded trace is an observation")
}

/// An estimate with a relative half width of 0.5 %.
fn estimate(value: f64) -> Estimate {
    Estimate {
        value,
        low: value * 0.995,
        high: value * 1.006,
        level: 0.95,
    }
}

pub(crate) fn environment() -> Environment {
    Environment {
        kernel: "Linux 6.18.44".into(),
        architecture: "x86_64".into(),
        cpu_model: Some("AMD EPYC 9R14".into()),
        cpus: 2,
        memory_bytes: Some(16 << 30),
        host: Some("lab".into()),
        governor: None,
        virtual_machine: Some(true),
        load_average: Some(0.12),
        fingerprint: None,
    }
}

/// A single process that only computes: no findings.
pub(crate) fn clean() -> Explanation {
    recorded("clock-calls.c-vdso.fast.kernel")
}

/// A Python program that sleeps, and writes each piece with a separate call.
pub(crate) fn findings() -> Explanation {
    recorded("sleeping.python-two.slow.kernel")
}

/// A server that was already running, observed for two seconds.
pub(crate) fn attached() -> Explanation {
    let mut explanation = clean();
    explanation.process = Some(ObservedProcess {
        pid: 4120,
        name: "app\u{1b}[2J".to_owned(),
        ended: false,
        listens: true,
    });
    explanation.timed = fathom_diagnose::timed_runs(&[], None);
    explanation.explaining.slowdown = 1.0;
    explanation.explaining.times_are_quoted = true;
    explanation.explaining.wall_ns = 2_000 * MS;
    let part = |spent, ns| AccountPart { spent, ns };
    explanation.account = TimeAccount {
        wall_ns: 2_000 * MS,
        parts: vec![
            part(TimeCategory::WaitingForEvents, 1_500 * MS),
            part(TimeCategory::UserCode, 500 * MS),
        ],
    };
    explanation.phases.clear();
    explanation
}

pub(crate) fn stretch(
    tid: u32,
    from_ns: u64,
    to_ns: u64,
    spent: TimeCategory,
    detail: Option<&str>,
) -> Stretch {
    Stretch {
        pid: 4120,
        tid,
        from_ns,
        to_ns,
        spent,
        detail: detail.map(str::to_owned),
    }
}
