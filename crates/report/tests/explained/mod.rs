//! Explanations of recorded runs, by the function that `fathom why` calls: the same on every
//! machine.

// Each test binary and the example use another part of it.
#![allow(dead_code)]

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use fathom_diagnose::{Observation, Subject};
use fathom_model::{Environment, Estimate, Explanation, Stretch, TimeCategory};
use flate2::read::GzDecoder;

pub(crate) mod hostile;
pub(crate) mod tree;

/// A million nanoseconds.
pub(crate) const MS: u64 = 1_000_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../diagnose/tests/recorded")
}

/// The names of all recorded runs: `FINDING.PROGRAM.SIDE.KIND`.
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

/// The explanation of a recorded run.
pub(crate) fn recorded(name: &str) -> Explanation {
    let file = File::open(folder().join(format!("{name}.json.gz"))).expect("it is recorded");
    let observation: Observation =
        serde_json::from_reader(GzDecoder::new(file)).expect("a recorded trace is an observation");
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

/// One process that only computes: no finding.
pub(crate) fn clean() -> Explanation {
    recorded("clock-calls.c-vdso.fast.kernel")
}

/// Python that sleeps, and writes each piece with a call of its own.
pub(crate) fn findings() -> Explanation {
    recorded("sleeping.python-two.slow.kernel")
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
