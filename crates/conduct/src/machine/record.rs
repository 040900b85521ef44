//! The records of `machine`.

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
pub struct MachineRecord {
    #[serde(flatten)]
    head: Head,
    /// `quick`, `default`, `full` or `only`.
    profile: &'static str,
    /// False if it was interrupted.
    pub complete: bool,
    /// What was measured.
    pub results: Vec<ProbeResult>,
}

impl MachineRecord {
    pub(super) fn new(profile: &'static str, complete: bool, results: Vec<ProbeResult>) -> Self {
        MachineRecord {
            head: Head::of("machine"),
            profile,
            complete,
            results,
        }
    }

    /// The machine.
    pub fn environment(&self) -> &Environment {
        &self.head.environment
    }

    /// RFC 3339, UTC.
    pub fn written_at(&self) -> &str {
        &self.head.written_at
    }

    /// The version of Fathom.
    pub fn fathom_version(&self) -> &str {
        self.head.fathom_version
    }
}

/// A check.
#[derive(Debug, Serialize)]
pub struct CheckRecord {
    #[serde(flatten)]
    head: Head,
    /// False if it was interrupted.
    pub complete: bool,
    /// What was found.
    #[serde(flatten)]
    pub report: CheckReport,
}

impl CheckRecord {
    pub(super) fn new(complete: bool, report: CheckReport) -> Self {
        CheckRecord {
            head: Head::of("machine_check"),
            complete,
            report,
        }
    }
}
