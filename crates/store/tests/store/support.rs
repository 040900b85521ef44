//! Places for stores, and test records.

use std::path::Path;
use std::time::Duration;

use fathom_store::{Draft, Location, Options, Revision, SeriesFilter, Store, date};
pub(crate) use fathom_test_postgres::is_root;
use serde_json::json;

/// A place without a store yet.
pub(crate) struct Place {
    pub location: Location,
    /// The folder, which is removed at the end.
    _folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn file() -> Place {
        let folder = tempfile::tempdir().unwrap();
        Place {
            location: Location::File(folder.path().join("data/store.sqlite")),
            _folder: folder,
        }
    }

    pub(crate) fn at(location: Location) -> Place {
        Place {
            location,
            _folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match &self.location {
            Location::File(path) => path,
            Location::Server(_) => panic!("a server has no path"),
        }
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.location).unwrap()
    }

    /// Returns the error of opening the store after a short wait.
    pub(crate) fn refused(&self) -> String {
        let wait = Duration::from_millis(50);
        match Store::open_with(&self.location, Options { wait, create: true }) {
            Ok(_) => panic!("{:?} was opened", self.location),
            Err(error) => error.to_string(),
        }
    }
}

/// Returns midnight of 21 November 2026 plus `hours`.
pub(crate) fn hour(hours: i64) -> i64 {
    1_795_219_200_000 + hours * 3_600_000
}

/// Returns a `bench` record as the verb writes it, with one metric.
pub(crate) fn bench(benchmarks: &[(&str, f64)], time: i64, kernel: &str) -> String {
    let results = benchmarks.iter().enumerate().map(|(index, (_, value))| {
        let median =
            json!({"value": value, "low": value * 0.9, "high": value * 1.1, "level": 0.95});
        let summary = json!({"metric": "wall", "runs": 10, "median": median});
        json!({"benchmark": index, "failures": 0, "summaries": [summary]})
    });
    let named = benchmarks
        .iter()
        .map(|(name, _)| json!({"name": name, "command": name, "parameters": []}));
    json!({
        "schema_version": 1, "kind": "bench", "fathom_version": "0.1.0", "started_at": date::text(time),
        "environment": {"kernel": kernel, "architecture": "x86_64", "cpus": 2},
        "conditions": {"seed": u64::MAX}, "benchmarks": named.collect::<Vec<_>>(), "runs": [], "complete": true,
        "outcome": {"stop": "run_count", "results": results.collect::<Vec<_>>()},
    })
    .to_string()
}

/// Like [`bench`], but returns a draft, with a revision derived from the number of the hour.
pub(crate) fn draft(benchmarks: &[(&str, f64)], hours: i64) -> Draft {
    let mut draft = Draft::of(bench(benchmarks, hour(hours), "Linux 6.18")).unwrap();
    let id = format!("{hours:040x}");
    draft.revision = Some(Revision {
        id,
        branch: Some("main".into()),
        dirty: false,
    });
    draft
}

/// Returns the number of the only series of a benchmark.
pub(crate) fn series(store: &mut Store, benchmark: &str) -> i64 {
    let filter = SeriesFilter {
        benchmarks: vec![benchmark.into()],
        metric: None,
    };
    let found = store.series(&filter, 0).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].number
}

/// Returns the values of a benchmark from oldest to newest.
pub(crate) fn values(store: &mut Store, benchmark: &str) -> Vec<f64> {
    let series = series(store, benchmark);
    let points = store.points(series, &fathom_store::Since::Start).unwrap();
    points.iter().map(|point| point.value).collect()
}
