//! Extracts the time, source and machine from the metadata of a file.

use std::collections::BTreeMap;

use fathom_model::{ImportedEnvironment, ImportedRevision};
use fathom_store::date;

/// The extracted facts.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Facts {
    /// The time of the measurement in milliseconds since 1970, UTC.
    pub time: Option<i64>,
    pub revision: Option<ImportedRevision>,
    pub environment: ImportedEnvironment,
}

/// Extracts the facts. Each tool has its own names: this covers Go, Google Benchmark, pytest-benchmark
/// (`machine.`), asv (`params.`), pyperf, hyperfine 2, BenchmarkDotNet, and mitata.
pub(super) fn of(said: &BTreeMap<String, String>) -> Facts {
    let first = |names: &[&str]| {
        let mut found = names.iter().filter_map(|name| said.get(*name));
        found.find(|value| !value.is_empty()).cloned()
    };
    let number = |names: &[&str]| first(names)?.parse().ok();
    let kernel = match (said.get("machine.system"), said.get("machine.release")) {
        (Some(system), Some(release)) => Some(format!("{system} {release}")),
        _ => first(&["params.os", "os", "goos", "platform", "OsVersion"]),
    };
    Facts {
        time: first(&["start_time", "date", "datetime"]).and_then(|text| time(&text)),
        revision: first(&["commit_hash", "commit.id"])
            .filter(|id| {
                (7..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
            .map(|id| ImportedRevision {
                id: id.to_ascii_lowercase(),
                branch: first(&["commit.branch"]).filter(|name| !name.starts_with('(')),
                dirty: first(&["commit.dirty"]).is_some_and(|dirty| dirty == "true"),
            }),
        environment: ImportedEnvironment {
            kernel,
            architecture: first(&[
                "machine.machine",
                "params.arch",
                "architecture",
                "goarch",
                "Architecture",
                "arch",
            ]),
            cpu_model: first(&[
                "machine.cpu.brand_raw",
                "params.cpu",
                "cpu",
                "cpu_model_name",
                "ProcessorName.Value",
                "ProcessorName",
                "cpu.name",
            ]),
            cpus: number(&[
                "machine.cpu.count",
                "params.num_cpu",
                "num_cpus",
                "cpu_count",
                "ProcessorCount",
            ]),
            memory_bytes: number(&["params.ram"]),
            host: first(&["machine.node", "params.machine", "host_name", "hostname"]),
        },
    }
}

/// Parses RFC 3339, or asv's milliseconds since 1970.
fn time(text: &str) -> Option<i64> {
    let milliseconds = || {
        let digits = text.len() == 13 && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse().ok())?
    };
    date::parse(text).or_else(milliseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(pairs: &[(&str, &str)]) -> Facts {
        let pairs = pairs.iter();
        of(&pairs
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect())
    }

    #[test]
    fn asv_and_pytest_name_commit_time_and_machine() {
        let asv = said(&[
            ("commit_hash", "cbaeb2b4d841b4feb92c9ab75a15e36bd7a252a7"),
            ("date", "1795230302000"),
            ("params.os", "Linux 6.18"),
            ("params.num_cpu", "2"),
        ]);
        assert_eq!(asv.time, Some(1_795_230_302_000));
        assert!(
            asv.revision
                .is_some_and(|revision| revision.id.starts_with("cbaeb2b4"))
        );
        assert_eq!(asv.environment.cpus, Some(2));
        let pytest = said(&[
            ("datetime", "2026-11-21T03:04:50.125+00:00"),
            ("commit.id", "unversioned"),
            ("machine.system", "Linux"),
            ("machine.release", "6.18"),
        ]);
        assert_eq!(pytest.revision, None);
        assert_eq!(pytest.environment.kernel.as_deref(), Some("Linux 6.18"));
        assert_eq!(
            date::text(pytest.time.expect("a time")),
            "2026-11-21T03:04:50Z"
        );
    }

    #[test]
    fn what_is_no_time_is_none() {
        assert_eq!(said(&[("date", "yesterday")]), Facts::default());
    }
}
