//! Memory nodes, and how much slower the memory of other nodes is.

use std::path::Path;
use std::time::Duration;

use crate::affinity::Pinned;
use crate::chase::{Cycle, Layout};
use crate::context::Context;
use crate::cpu_gate::CpuOf;
use crate::mapping::Pages;
use crate::reported::parse_cpu_list;
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict};
use crate::samples::quantile;
use crate::track::sample;

const HEADING: Heading = Heading {
    id: "memory_nodes",
    title: "memory nodes",
    unit: "nodes",
    method: "the nodes that the kernel reports, with their CPUs; with more than one, the latency of a random chase from \
         this CPU through memory that each node's CPU touched first.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[HEADING];

/// Runs the probe.
pub(crate) fn run(context: &Context) -> ProbeResult {
    let nodes = nodes(Path::new("/"));
    if nodes.is_empty() {
        return HEADING.not_measurable("the kernel reports no memory nodes");
    }
    let mut result = HEADING.blank(Estimator::Derived, ProbeVerdict::Ok);
    result.value = Some(nodes.len() as f64);
    result.n = nodes.len();
    if nodes.len() == 1 {
        result.add_note("as reported by the kernel; there is nothing to compare");
        return result;
    }
    let points: Vec<(f64, f64)> = nodes
        .iter()
        .filter_map(|(node, cpus)| {
            let cpu = cpus
                .iter()
                .copied()
                .find(|cpu| context.cpus.contains(cpu))?;
            Some((*node as f64, latency(context, cpu)?))
        })
        .collect();
    let far = nodes.len() - points.len();
    if far > 0 {
        result.add_note(format!("{far} nodes have no CPU that may be used here"));
    }
    result.set_points("(node)", "ns", points);
    result
}

/// Returns ns per load through memory that `cpu` touched first.
fn latency(context: &Context, cpu: usize) -> Option<f64> {
    let slots = context.memory_set() / 64;
    let mut cycle = std::thread::spawn(move || {
        let _pinned = Pinned::to(cpu);
        let mut cycle = Cycle::new(slots, Layout::every(64), Pages::Huge, 5).ok()?;
        cycle.grow(slots);
        Some(cycle)
    })
    .join()
    .ok()??;
    let mut chunk = || cycle.load_ns(30);
    let samples = sample(CpuOf::Thread, Duration::from_millis(40), &mut chunk);
    (samples.values.len() >= 5)
        .then(|| quantile(&samples.values, 0.5))
        .flatten()
}

/// Returns the nodes with their CPUs, as listed by sysfs.
fn nodes(root: &Path) -> Vec<(usize, Vec<usize>)> {
    let Ok(entries) = std::fs::read_dir(root.join("sys/devices/system/node")) else {
        return Vec::new();
    };
    let mut nodes: Vec<(usize, Vec<usize>)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let node = entry
                .file_name()
                .to_str()?
                .strip_prefix("node")?
                .parse()
                .ok()?;
            let list = std::fs::read_to_string(entry.path().join("cpulist")).ok()?;
            Some((node, parse_cpu_list(&list)))
        })
        .collect();
    nodes.sort();
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_listed_with_their_cpus() {
        let root = tempfile::tempdir().unwrap();
        for (node, list) in [
            ("node1", "2-3\n"),
            ("node0", "0-1\n"),
            ("possible", "0-1\n"),
        ] {
            let dir = root.path().join("sys/devices/system/node").join(node);
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("cpulist"), list).unwrap();
        }
        assert_eq!(nodes(root.path()), [(0, vec![0, 1]), (1, vec![2, 3])]);
        assert!(nodes(Path::new("/nonexistent")).is_empty());
    }
}
