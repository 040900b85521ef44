//! How much of the CPUs did other programs take?

use std::fs;

use fathom_load::clock::{now, process_cpu};
use fathom_trace::allowed_cpus;

/// The CPU time of everybody up to a moment.
pub(super) struct Busy {
    at: u64,
    busy_ns: u64,
    own_ns: u64,
    cpus: Vec<usize>,
}

impl Busy {
    pub(super) fn now() -> Busy {
        // Of the whole machine: servers may use other CPUs than this thread.
        let cpus = machine_cpus();
        Busy {
            at: now(),
            busy_ns: busy_ns(&cpus),
            own_ns: process_cpu(),
            cpus,
        }
    }

    /// CPU time of this process since then.
    pub(super) fn own_since(&self) -> u64 {
        process_cpu().saturating_sub(self.own_ns)
    }

    /// CPU time of all but those who used `own_ns` since then, as a share of all CPUs' time.
    pub(super) fn others_since(&self, own_ns: u64) -> f64 {
        let busy = busy_ns(&self.cpus).saturating_sub(self.busy_ns);
        let time = now().saturating_sub(self.at) * self.cpus.len() as u64;
        busy.saturating_sub(own_ns) as f64 / time.max(1) as f64
    }
}

fn machine_cpus() -> Vec<usize> {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let numbers = text.lines().filter_map(|line| {
        let word = line.split_ascii_whitespace().next()?;
        word.strip_prefix("cpu")?.parse().ok()
    });
    let all: Vec<usize> = numbers.collect();
    match all.is_empty() {
        true => allowed_cpus(),
        false => all,
    }
}

/// Time in which these CPUs were not idle, as the kernel counts it: in ticks.
fn busy_ns(cpus: &[usize]) -> u64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let of = |cpu: &usize| -> u64 {
        let name = format!("cpu{cpu} ");
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name.as_str()));
        let fields: Vec<u64> = line
            .unwrap_or_default()
            .split_ascii_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        // user, nice, system, idle, iowait, irq, softirq, steal; guests are in user.
        let busy = [0, 1, 2, 5, 6, 7];
        busy.iter().filter_map(|field| fields.get(*field)).sum()
    };
    let ticks: u64 = cpus.iter().map(of).sum();
    ticks * 10_000_000
}
