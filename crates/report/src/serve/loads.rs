//! Results under load: one row for each server and load.

use fathom_model::{Doubt, LoadResult, ServeRecord};

use super::words;
use crate::quantity::{counted, fixed, format_count, format_share};
use crate::text::bounded;

/// Returns all loads with the index of their server.
pub(super) fn all(record: &ServeRecord) -> Vec<(usize, &LoadResult)> {
    let servers = record.servers.iter().enumerate();
    let of = servers.flat_map(|(index, server)| server.load.iter().map(move |load| (index, load)));
    of.collect()
}

/// Returns the title above the loads.
pub(super) fn title(record: &ServeRecord) -> String {
    let conditions = &record.conditions;
    let rounds = counted(u64::from(conditions.rounds), "round", "rounds");
    let decimals = usize::from(conditions.step_seconds.fract() != 0.0);
    format!(
        "Under load ({rounds} of {} s; response times of good answers)",
        fixed(conditions.step_seconds, decimals)
    )
}

/// The reason why a closed loop has no verdict on latency.
pub(super) const CLOSED: &str =
    "A closed loop hardly notices a stall; an open loop counts it in full.";

/// Returns the reasons not to trust the figures of one load.
pub(super) fn doubts(load: &LoadResult) -> Vec<String> {
    let mut said = Vec::new();
    for verdict in &load.verdicts {
        said.push(match verdict {
            Doubt::GeneratorBound => format!(
                "generator-bound: the generator used {} of its CPU, the server {}",
                format_share(load.generator_cpu_share),
                load.server_cpus_used
                    .map_or("an unknown part".to_string(), |cpus| {
                        format!("{} CPUs", fixed(cpus, 2))
                    })
            ),
            Doubt::Lagging => format!(
                "the generator was late: the p99 of its lag was {}",
                load.generator_lag_us
                    .p99
                    .map_or("n/a".to_string(), words::us)
            ),
            // Reported once for all loads.
            Doubt::Neighbours => continue,
            Doubt::Little => format!(
                "Little's law does not hold: {} instead of 1",
                load.little
                    .map_or("?".to_string(), |little| fixed(little, 3))
            ),
            Doubt::NotSteady => {
                "not steady: the CPU time per request drifts over the rounds".to_string()
            }
        });
    }
    if load.errors + load.dropped > 0 {
        let kinds = load.errors_by_kind.iter();
        let kinds: Vec<String> = kinds
            .map(|(kind, count)| format!("{} {}", format_count(*count as f64), bounded(kind, 80)))
            .collect();
        let dropped = match load.dropped {
            0 => String::new(),
            dropped => format!("; {} were never answered", format_count(dropped as f64)),
        };
        said.push(format!(
            "{} of {} requests failed{}{}{dropped}",
            format_count(load.errors as f64),
            format_count(load.scheduled as f64),
            if kinds.is_empty() { "" } else { ": " },
            kinds.join(", ")
        ));
    }
    said
}

/// Returns the smallest and the largest CPU time taken by other programs, if it was too much under any load.
pub(super) fn neighbours(loads: &[(usize, &LoadResult)]) -> Option<String> {
    let disturbed = |load: &LoadResult| load.verdicts.contains(&Doubt::Neighbours);
    if !loads.iter().any(|(_, load)| disturbed(load)) {
        return None;
    }
    let all = loads.iter().flat_map(|(_, load)| &load.rounds);
    let shares = all.map(|round| round.neighbours_share);
    let (least, most) = shares.fold((f64::INFINITY, 0f64), |(least, most), share| {
        (least.min(share), most.max(share))
    });
    let (least, most) = (format_share(least), format_share(most));
    let shares = match least == most {
        true => most,
        false => format!("{least} to {most}"),
    };
    Some(format!(
        "Other programs took {shares} of the CPUs: these numbers are unreliable"
    ))
}
