//! Resumes a job that was ended early.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use fathom_model::{BenchRecord, Benchmark, Run};

use crate::fingerprint;

/// A change to a file up to this long after the last run was recorded is ignored: a run that was cut short
/// may have made it.
const AFTER_THE_LAST: Duration = Duration::from_secs(1);

/// Returns the whole rounds that an earlier attempt on this node measured, provided that `record` is what
/// this attempt writes to `path`, and that only the seed and the load have changed since.
pub(super) fn record(path: Option<&Path>, record: &BenchRecord) -> Option<BenchRecord> {
    let attempt = fathom_fleet::attempt()?;
    let path = path.filter(|path| path.parent() == Some(attempt.folder.as_path()))?;
    let earlier = attempt.earlier.iter().filter_map(|folder| {
        let path = folder.join(path.file_name()?);
        let text = fs::read(&path).ok()?;
        let written = fs::metadata(&path)
            .and_then(|about| about.modified())
            .ok()?;
        let mut earlier = serde_json::from_slice::<BenchRecord>(&text).ok()?;
        let rounds = earlier.runs.chunks_exact(earlier.benchmarks.len().max(1));
        let good = rounds.take_while(|round| round.iter().all(|run| run.exit.is_success()));
        earlier.runs = good.flatten().cloned().collect();
        let is_alike =
            is_alike(&earlier, record) && !has_changed(&record.benchmarks, written, &earlier.runs);
        is_alike.then_some(earlier)
    });
    // The newest attempt may have been ended while it copied the rounds of the one before.
    earlier.max_by_key(|earlier| earlier.runs.len())
}

fn is_alike(one: &BenchRecord, other: &BenchRecord) -> bool {
    let mut conditions = one.conditions.clone();
    conditions.seed = other.conditions.seed;
    conditions == other.conditions
        && one.benchmarks == other.benchmarks
        && one.fathom_version == other.fathom_version
        && fingerprint::lasting(&one.environment) == fingerprint::lasting(&other.environment)
}

/// Returns whether a file that a command names, such as its program, has changed since these runs were
/// recorded.
pub(crate) fn has_changed<'a>(
    benchmarks: impl IntoIterator<Item = &'a Benchmark>,
    written: SystemTime,
    runs: impl IntoIterator<Item = &'a Run>,
) -> bool {
    let longest = runs.into_iter().map(|run| run.wall_ns).max();
    let until = written + Duration::from_nanos(2 * longest.unwrap_or(0)) + AFTER_THE_LAST;
    let is_newer = |path: &Path| {
        let about = fs::metadata(path).ok().filter(fs::Metadata::is_file);
        about.is_some_and(|about| about.modified().is_ok_and(|at| at > until))
    };
    benchmarks.into_iter().any(|one| {
        let here = Path::new(one.working_directory.as_deref().unwrap_or("."));
        let words = one.arguments.iter().chain([&one.command]);
        let mut words =
            words.flat_map(|word| [word.as_str()].into_iter().chain(word.split_whitespace()));
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let program = one.arguments.first().map_or("", String::as_str);
        words.any(|word| is_newer(&here.join(word)))
            || (!program.contains('/')
                && std::env::split_paths(&paths).any(|folder| is_newer(&folder.join(program))))
    })
}
