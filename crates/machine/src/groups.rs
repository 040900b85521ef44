//! The groups of probes beyond the fingerprint, and how long each may take.

use std::time::{Duration, Instant};

use crate::context::Context;
use crate::deadline;
use crate::probes::{
    address_cache, bandwidth, branches, cache_levels, cache_line, chains, core_clock, core_to_core,
    energy, files, hand_over, hypervisor, line_distance, line_sharing, line_slots, loaded_latency,
    mapped_file, nodes, page_fault, parallelism, read_bandwidth, throughput,
};
use crate::result::{Heading, ProbeResult, cut_short};

/// Probes that run together within a separate time limit.
pub(crate) struct Group {
    /// Title shown while the group runs.
    pub title: &'static str,
    /// The probes, to report those that were not reached.
    pub probes: &'static [&'static [Heading]],
    /// Time limit in seconds: about three times the duration on a quiet machine.
    pub seconds: f32,
    /// Whether each figure comes from passes that agree, so that it stays valid if later passes are cut
    /// short. An incomplete curve is not valid.
    pub of_passes: bool,
    /// Runs the probes.
    pub run: fn(&Context) -> Vec<ProbeResult>,
}

/// All groups, in display order.
pub(crate) const GROUPS: [Group; 14] = [
    Group {
        title: "cache line",
        probes: &[
            cache_line::HEADINGS,
            line_distance::HEADINGS,
            line_slots::HEADINGS,
            line_sharing::HEADINGS,
        ],
        seconds: 4.0,
        of_passes: false,
        run: cache_line::run,
    },
    Group {
        title: "caches, address cache, huge pages",
        probes: &[cache_levels::HEADINGS, address_cache::HEADINGS],
        seconds: 8.0,
        of_passes: false,
        run: |context| {
            let addresses = address_cache::run(context);
            let mut results = cache_levels::run(context, &addresses);
            results.extend(addresses);
            results
        },
    },
    Group {
        title: "memory-level parallelism",
        probes: &[parallelism::HEADINGS],
        seconds: 3.0,
        of_passes: false,
        run: |context| vec![parallelism::run(context)],
    },
    Group {
        title: "branches",
        probes: &[branches::HEADINGS],
        seconds: 2.5,
        of_passes: false,
        run: |_| branches::run(),
    },
    Group {
        title: "chains and throughput",
        probes: &[chains::HEADINGS, throughput::HEADINGS],
        seconds: 2.5,
        of_passes: false,
        run: |_| {
            let mut results = chains::run();
            results.extend(throughput::run());
            results
        },
    },
    Group {
        title: "clock with wide vectors",
        probes: &[core_clock::HEADINGS],
        seconds: 1.0,
        of_passes: true,
        run: |_| vec![core_clock::beside_vectors()],
    },
    Group {
        title: "core to core",
        probes: &[core_to_core::HEADINGS],
        seconds: 2.0,
        of_passes: false,
        run: |context| vec![core_to_core::run(context)],
    },
    Group {
        title: "bandwidth by threads",
        probes: &[bandwidth::HEADINGS, read_bandwidth::HEADINGS],
        seconds: 6.0,
        of_passes: true,
        run: |context| {
            let mut results = bandwidth::run(context);
            results.push(read_bandwidth::by_words(context));
            results
        },
    },
    Group {
        title: "latency beside readers",
        probes: &[loaded_latency::HEADINGS],
        seconds: 4.0,
        of_passes: false,
        run: |context| vec![loaded_latency::run(context)],
    },
    Group {
        title: "page faults",
        probes: &[page_fault::HEADINGS, mapped_file::HEADINGS],
        seconds: 2.5,
        of_passes: true,
        run: page_fault::run,
    },
    Group {
        title: "threads, processes, pipes, sockets",
        probes: &[hand_over::HEADINGS],
        seconds: 4.0,
        of_passes: true,
        run: hand_over::run,
    },
    Group {
        title: "files",
        probes: &[files::HEADINGS],
        seconds: 4.0,
        of_passes: true,
        run: files::run,
    },
    Group {
        title: "hypervisor",
        probes: &[hypervisor::HEADINGS],
        seconds: 1.0,
        of_passes: false,
        run: |_| vec![hypervisor::run()],
    },
    Group {
        title: "nodes, energy",
        probes: &[nodes::HEADINGS, energy::HEADINGS],
        seconds: 2.0,
        of_passes: false,
        run: |context| vec![nodes::run(context), energy::run()],
    },
];

impl Group {
    /// Returns the headings of its probes.
    pub(crate) fn headings(&self) -> impl Iterator<Item = Heading> {
        self.probes.iter().copied().flatten().copied()
    }

    /// Runs the group within its own limit, and never beyond `until`. Starts nothing if no time is left.
    pub(crate) fn run_until(&self, context: &Context, until: Instant) -> Vec<ProbeResult> {
        let now = Instant::now();
        if now >= until {
            return self.not_reached();
        }
        let own = now + Duration::from_secs_f32(self.seconds);
        match deadline::within(own.min(until), || (self.run)(context)) {
            (results, false) => results,
            (results, true) => results
                .into_iter()
                .map(|result| match (self.of_passes, result.value) {
                    (true, Some(_)) => result,
                    _ => cut_short(result),
                })
                .collect(),
        }
    }

    fn not_reached(&self) -> Vec<ProbeResult> {
        self.headings().map(Heading::not_reached).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Estimator, ProbeVerdict};

    #[test]
    fn without_time_every_probe_is_named_and_none_has_a_figure() {
        let context = Context::new(std::env::temp_dir());
        for group in &GROUPS {
            let named = group.run_until(&context, Instant::now());
            // Without any time, each loop ends immediately.
            let (ran, _) = deadline::within(Instant::now(), || (group.run)(&context));
            let ids = |results: &[ProbeResult]| {
                let mut ids: Vec<String> = results.iter().map(|r| r.id.clone()).collect();
                ids.sort();
                ids
            };
            assert_eq!(ids(&named), ids(&ran), "{}", group.title);
            for result in named {
                assert_eq!(
                    (result.value, result.note.as_deref()),
                    (None, Some(ProbeResult::NOT_REACHED))
                );
            }
        }
    }

    #[test]
    fn a_probe_that_was_cut_short_has_no_figure() {
        fn half(_: &Context) -> Vec<ProbeResult> {
            deadline::passed();
            let head = Heading {
                id: "a",
                title: "a",
                unit: "ns",
                method: "m",
            };
            let mut result = head.blank(Estimator::Derived, ProbeVerdict::Ok);
            result.value = Some(1.0);
            vec![result]
        }
        let group = Group {
            title: "half",
            probes: &[],
            seconds: 0.0,
            of_passes: false,
            run: half,
        };
        let far = Instant::now() + Duration::from_secs(60);
        let found = group.run_until(&Context::bare(), far);
        assert_eq!(
            (found[0].value, found[0].verdict),
            (None, ProbeVerdict::NoAnswer)
        );
        // Figures that rest on passes stay valid.
        let group = Group {
            of_passes: true,
            ..group
        };
        let found = group.run_until(&Context::bare(), far);
        assert_eq!(found[0].value, Some(1.0));
    }
}
