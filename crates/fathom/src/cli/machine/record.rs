//! The JSON of `fathom machine`.

use fathom_machine::remembered::Identity;
use fathom_machine::{CheckReport, ProbeResult, environment};
use fathom_measure::now_rfc3339;
use fathom_model::{Environment, SCHEMA_VERSION};
use serde::Serialize;

/// What stands at the head of each record.
#[derive(Debug, Serialize)]
struct Head {
    schema_version: u32,
    kind: &'static str,
    fathom_version: &'static str,
    /// RFC 3339, UTC.
    written_at: String,
    environment: Environment,
    machine: Identity,
}

impl Head {
    fn of(kind: &'static str) -> Head {
        Head {
            schema_version: SCHEMA_VERSION,
            kind,
            fathom_version: env!("CARGO_PKG_VERSION"),
            written_at: now_rfc3339(),
            environment: environment(),
            machine: Identity::here(),
        }
    }
}

/// Figures.
#[derive(Debug, Serialize)]
pub struct Profile<'a> {
    #[serde(flatten)]
    head: Head,
    /// `quick`, `default`, `full` or `only`.
    profile: &'static str,
    /// False if it was interrupted.
    complete: bool,
    results: &'a [ProbeResult],
}

impl<'a> Profile<'a> {
    /// Of `results`.
    pub fn new(profile: &'static str, complete: bool, results: &'a [ProbeResult]) -> Profile<'a> {
        Profile {
            head: Head::of("machine"),
            profile,
            complete,
            results,
        }
    }
}

/// A check.
#[derive(Debug, Serialize)]
pub struct Check<'a> {
    #[serde(flatten)]
    head: Head,
    /// False if it was interrupted.
    complete: bool,
    #[serde(flatten)]
    report: &'a CheckReport,
}

impl<'a> Check<'a> {
    /// Of `report`.
    pub fn new(complete: bool, report: &'a CheckReport) -> Check<'a> {
        Check {
            head: Head::of("machine_check"),
            complete,
            report,
        }
    }
}
