//! The command has one CPU.

use fathom_machine::allowed_cpus;
use fathom_model::FindingId;

use crate::interventions::{Case, Change, Intervention, Takes};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "one-cpu",
    takes_away: "all CPUs but one: threads that wake each other do so on the spot",
    needs: "two CPUs or more",
    can_break: "it may take longer, as it has less to compute with",
    findings: &[
        FindingId::WakeupStorm,
        FindingId::LockContention,
        FindingId::BusyPolling,
    ],
    takes: Takes::Some,
    looks: 0,
    arrange,
};

fn arrange(_: &Case<'_>) -> Result<Change, String> {
    let cpus = allowed_cpus();
    match cpus.len() {
        0 | 1 => Err("there is one CPU".to_owned()),
        several => Ok(Change {
            cpus: vec![cpus[several - 1]],
            ..Change::default()
        }),
    }
}
