//! The records of `machine`.

use fathom_machine::remembered::identity;
use fathom_machine::{CheckReport, ProbeResult, environment};
use fathom_measure::now_rfc3339;
use fathom_model::{CheckRecord, MachineHead, MachineRecord, SCHEMA_VERSION};

fn head() -> MachineHead {
    MachineHead {
        schema_version: SCHEMA_VERSION,
        fathom_version: env!("CARGO_PKG_VERSION").to_owned(),
        written_at: now_rfc3339(),
        environment: environment(),
        machine: identity(),
    }
}

pub(super) fn figures(profile: &str, complete: bool, results: Vec<ProbeResult>) -> MachineRecord {
    MachineRecord {
        head: head(),
        kind: "machine".to_owned(),
        profile: profile.to_owned(),
        complete,
        results,
    }
}

pub(super) fn check(complete: bool, report: CheckReport) -> CheckRecord {
    CheckRecord {
        head: head(),
        kind: "machine_check".to_owned(),
        complete,
        report,
    }
}
