//! What this machine can do at best, as far as it has been measured.

use fathom_diagnose::Limits;
use fathom_machine::{ProbeResult, remembered};
use serde::{Deserialize, Serialize};

use super::cache;

const FILE: &str = "limits.json";

/// The figures that an explanation is held against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Measured {
    /// Seconds of the cheapest call.
    syscall_seconds: Option<f64>,
    /// Bytes that one thread reads from memory in a second.
    memory_bandwidth: Option<f64>,
}

/// What was measured since this machine was started; `measure` takes 3 s if nothing was. `floor` is
/// the empty program's time in seconds, of this very session.
pub fn limits(measure: bool, floor: Option<f64>) -> Limits {
    let stamp = cache::machine_stamp();
    let known = cache::load(FILE, &stamp)
        .or_else(of_profile)
        .or_else(|| measure.then(|| probe(&stamp)));
    let known: Measured = known.unwrap_or_default();
    Limits {
        syscall_seconds: known.syscall_seconds,
        memory_bandwidth: known.memory_bandwidth,
        spawn_seconds: floor,
        ..Limits::default()
    }
}

/// What `fathom machine` measured and keeps.
fn of_profile() -> Option<Measured> {
    let profile = remembered::load(&remembered::default_folder()?)?;
    Some(figures(&profile.results))
}

fn probe(stamp: &str) -> Measured {
    let results = fathom_machine::quick(&fathom_machine::Options::default(), &mut |_| ());
    let measured = figures(&results);
    cache::store(FILE, stamp, &measured);
    measured
}

/// Only what the probes themselves believe.
fn figures(results: &[ProbeResult]) -> Measured {
    let value = |id: &str| {
        results
            .iter()
            .find(|result| result.id == id)
            .and_then(|r| r.value)
    };
    Measured {
        syscall_seconds: value("system_call").map(|ns| ns / 1e9),
        memory_bandwidth: value("read_bandwidth_1").map(|gigabytes| gigabytes * 1e9),
    }
}
