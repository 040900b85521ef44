//! Restricts the command to one CPU.

use fathom_machine::allowed_cpus;
use fathom_model::{FindingId, Metric};

use crate::interventions::{Case, Change, Intervention, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "one-cpu",
    takes_away: "all CPUs but one: threads wake each other on the same CPU",
    needs: "at least two CPUs",
    can_break: "it may take longer, because it has less computing power",
    findings: &[
        FindingId::WakeupStorm,
        FindingId::LockContention,
        FindingId::BusyPolling,
    ],
    metric: Some(Metric::Wall),
    arrange,
    ..USUAL
};

fn arrange(_: &Case<'_>) -> Result<Change, String> {
    let cpus = allowed_cpus();
    match cpus.len() {
        0 | 1 => Err("the machine has only one CPU".to_owned()),
        several => Ok(Change {
            cpus: vec![cpus[several - 1]],
            ..Change::default()
        }),
    }
}
