//! A job that was ended before it was done goes on where it was.

use std::path::Path;

use fathom_model::{BenchRecord, Environment, Run};

/// The whole rounds of an earlier attempt on this node, if `record` is what this attempt writes and nothing
/// but the seed and the load has changed since.
pub(super) fn runs(path: Option<&Path>, record: &BenchRecord) -> Vec<Run> {
    let attempt = fathom_fleet::attempt();
    let Some(attempt) = attempt.filter(|one| path == Some(&one.folder.join(fathom_fleet::RECORD)))
    else {
        return Vec::new();
    };
    let earlier = attempt.earlier.iter().filter_map(|folder| {
        let text = std::fs::read(folder.join(fathom_fleet::RECORD)).ok()?;
        serde_json::from_slice::<BenchRecord>(&text).ok()
    });
    let mut earlier = earlier.filter(|earlier| is_alike(earlier, record));
    earlier.next().map_or_else(Vec::new, |earlier| {
        let rounds = earlier.runs.chunks_exact(earlier.benchmarks.len().max(1));
        let good = rounds.take_while(|round| round.iter().all(|run| run.exit.is_success()));
        good.flatten().cloned().collect()
    })
}

fn is_alike(one: &BenchRecord, other: &BenchRecord) -> bool {
    let mut conditions = one.conditions.clone();
    conditions.seed = other.conditions.seed;
    let lasting = |environment: &Environment| Environment {
        load_average: None,
        fingerprint: None,
        ..environment.clone()
    };
    conditions == other.conditions
        && one.benchmarks == other.benchmarks
        && one.fathom_version == other.fathom_version
        && lasting(&one.environment) == lasting(&other.environment)
}
