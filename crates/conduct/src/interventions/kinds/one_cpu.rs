//! The command has one CPU.

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
    arrange,
};

fn arrange(_: &Case<'_>) -> Result<Change, String> {
    let cpus = allowed();
    match cpus.len() {
        0 | 1 => Err("there is one CPU".to_owned()),
        several => Ok(Change {
            cpus: vec![cpus[several - 1]],
            ..Change::default()
        }),
    }
}

/// The CPUs that this process may use.
fn allowed() -> Vec<usize> {
    // SAFETY: an all-zero set is an empty one; the call fills it up to its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        match libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) {
            0 => (0..libc::CPU_SETSIZE as usize)
                .filter(|cpu| libc::CPU_ISSET(*cpu, &set))
                .collect(),
            _ => Vec::new(),
        }
    }
}
