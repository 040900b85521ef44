//! The parts of a record other than its points: runs, commands, and details about imported figures.

use std::collections::HashMap;

use fathom_model::imported::{self, Values, base_unit};
use fathom_model::{BenchRecord, ImportedRecord, Metric, distinguish};
use fathom_stats::{Measured, imported_middle};
use fathom_store::bench_parameters;
use serde::Deserialize;
use serde_json::Value;

use super::clock;
use super::side::{Again, Figure, Session, estimate};

type Named = (String, Vec<(String, String)>);

/// The parts of a record other than its points: the runs of `bench`, and the commands.
#[derive(Debug, Default)]
pub(crate) struct Body {
    kind: String,
    /// Names and parameters, as in the points.
    benchmarks: Vec<Named>,
    commands: Vec<String>,
    bench: Option<Box<BenchRecord>>,
    /// The benchmarks of another tool's record, by name and metric.
    imported: HashMap<(Named, String), Imported>,
    /// For load tests of another tool, the share of requests without a good response.
    failed: HashMap<String, f64>,
}

/// A benchmark that another tool measured.
#[derive(Debug)]
struct Imported {
    /// The samples, in the unit of their series; `None` if the tool reports none.
    samples: Option<Vec<f64>>,
    exact: bool,
}

/// Returns the benchmarks of an imported record, keyed by the names of its points.
fn imported(record: ImportedRecord) -> HashMap<(Named, String), Imported> {
    // A benchmark without a middle value has no point.
    let known = record.benchmarks.into_iter();
    let known = known.filter(|one| imported_middle(&one.values).is_some());
    let mut all: Vec<((Named, String), Imported)> = known
        .map(|one| {
            let named = (one.name.clone(), one.series_parameters());
            let imported = Imported {
                samples: samples(&one),
                exact: one.exact,
            };
            ((named, one.metric), imported)
        })
        .collect();
    let named = all.iter_mut();
    distinguish(named.map(|((named, metric), _)| (&*named.0, &mut named.1, &**metric)));
    all.into_iter().collect()
}

/// Returns the share of failed requests of each load test, if the file reports it.
fn failed(record: &ImportedRecord) -> HashMap<String, f64> {
    let mut shares: HashMap<String, f64> = HashMap::new();
    for one in &record.benchmarks {
        let Values::Summary(summary) = &one.values else {
            continue;
        };
        let share = match (one.metric.as_str(), summary.value) {
            ("http_req_failed", Some(share)) => Some(share),
            // wrk counts socket errors separately from error responses.
            (
                "failed_responses" | "timeouts" | "connect_errors" | "read_errors" | "write_errors",
                Some(count),
            ) => {
                let same = |other: &&imported::Benchmark| {
                    other.metric == "response" && other.name == one.name
                };
                let responses = record.benchmarks.iter().find(same);
                let all = responses.and_then(|of| match &of.values {
                    Values::Summary(summary) => summary.count,
                    Values::Samples(samples) => Some(samples.len() as u64),
                });
                // A request without any response is a failure that isn't counted among the responses.
                let all = all.unwrap_or(0) as f64;
                Some(count / all.max(count).max(1.0))
            }
            _ => None,
        };
        if let Some(share) = share.filter(|share| (0.0..=1.0).contains(share)) {
            let most = shares.entry(one.name.clone()).or_default();
            *most = most.max(share);
        }
    }
    shares
}

/// Returns the samples in the unit of the series.
fn samples(one: &imported::Benchmark) -> Option<Vec<f64>> {
    let (factor, _) = base_unit(&one.unit);
    match &one.values {
        Values::Samples(samples) => Some(samples.iter().map(|value| value * factor).collect()),
        Values::Summary(_) => None,
    }
}

impl Body {
    pub(crate) fn of(text: &str) -> Body {
        let record: Value = serde_json::from_str(text).unwrap_or_default();
        let kind = record["kind"].as_str().unwrap_or_default().to_owned();
        let list = |key: &str| record[key].as_array().cloned().unwrap_or_default();
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let named: Vec<(Named, String)> = match kind.as_str() {
            "bench" | "startup" => {
                let all = list(if kind == "bench" {
                    "benchmarks"
                } else {
                    "programs"
                });
                let one = |one: &Value| {
                    let name = (word(&one["name"]), bench_parameters(one));
                    (name, word(&one["command"]))
                };
                all.iter().map(one).collect()
            }
            "pipe" => {
                let stages: Vec<String> = list("stages")
                    .iter()
                    .map(|stage| word(&stage["command"]))
                    .collect();
                let line = stages.join(" | ");
                vec![((line.clone(), Vec::new()), line)]
            }
            _ => Vec::new(),
        };
        let (mut benchmarks, commands): (Vec<Named>, Vec<String>) = named.into_iter().unzip();
        let each = benchmarks.iter_mut();
        distinguish(each.map(|(name, parameters)| (&**name, parameters, "")));
        if kind == "imported" {
            let record = ImportedRecord::deserialize(&record);
            return record.map_or_else(|_| Body::default(), Body::of_import);
        }
        Body {
            imported: HashMap::new(),
            failed: HashMap::new(),
            bench: (kind == "bench")
                .then(|| serde_json::from_value(record).ok().map(Box::new))
                .flatten(),
            kind,
            benchmarks,
            commands,
        }
    }

    /// Returns the parts, other than points, of a record that was just imported.
    pub(super) fn of_import(record: ImportedRecord) -> Body {
        Body {
            kind: record.kind.clone(),
            failed: failed(&record),
            imported: imported(record),
            ..Body::default()
        }
    }

    /// Renames the benchmarks to their current names.
    pub(super) fn renamed(mut self, today: &HashMap<String, String>) -> Body {
        let rename = |name: &mut String| {
            if let Some(new) = today.get(name.as_str()) {
                name.clone_from(new);
            }
        };
        self.benchmarks
            .iter_mut()
            .for_each(|one| rename(&mut one.0));
        let imported = std::mem::take(&mut self.imported).into_iter();
        let imported = imported.map(|(mut key, one)| {
            rename(&mut key.0.0);
            (key, one)
        });
        self.imported = imported.collect();
        let failed = std::mem::take(&mut self.failed).into_iter();
        let failed = failed.map(|(mut name, share)| {
            rename(&mut name);
            (name, share)
        });
        self.failed = failed.collect();
        self
    }

    fn imported(
        &self,
        benchmark: &str,
        parameters: &[(String, String)],
        metric: &str,
    ) -> Option<&Imported> {
        if self.imported.is_empty() {
            return None;
        }
        let named = (benchmark.to_owned(), parameters.to_owned());
        self.imported.get(&(named, metric.to_owned()))
    }

    /// Returns one measurement of a series, with what is known about its waits for a CPU.
    pub(super) fn session(
        &self,
        (benchmark, parameters, metric): (&str, &[(String, String)], &str),
        own: Figure,
        wait_free: Option<Figure>,
        run_queue: Option<Figure>,
    ) -> Session {
        let measured = |metric: &str, of: Figure| Measured {
            samples: self
                .samples(benchmark, parameters, metric)
                .unwrap_or_default(),
            estimate: estimate(of.value, of.low, of.high, of.runs),
        };
        let counted = Metric::ALL
            .iter()
            .any(|one| one.name() == metric && one.is_exact());
        let said = self.imported(benchmark, parameters, metric);
        let is_import = self.kind == "imported";
        let this = measured(metric, own);
        let all_same = own.low == own.high && this.samples.iter().all(|value| *value == own.value);
        let is_exact = all_same && (counted || said.is_some_and(|one| one.exact));
        let both = |of: Figure| (of.value, of.runs);
        Session {
            environment: None,
            time: 0,
            record: None,
            runs: own.runs,
            summary: is_import && said.is_none_or(|one| one.samples.is_none()),
            imported: is_import,
            failed: self.failed.get(benchmark).copied(),
            exact: is_exact.then_some(own.value),
            measured: this,
            waits: clock::waits(both(own), wait_free.map(both), run_queue.map(both)),
            wait_free: wait_free.map(|of| measured(Metric::Undisturbed.name(), of)),
        }
    }

    /// Returns the runs of one metric; `None` if only the median is known.
    pub(crate) fn samples(
        &self,
        benchmark: &str,
        parameters: &[(String, String)],
        metric: &str,
    ) -> Option<Vec<f64>> {
        let is_named = |one: &Named| one.0 == benchmark && one.1 == parameters;
        if let Some(one) = self.imported(benchmark, parameters, metric) {
            return one.samples.clone();
        }
        let record = self.bench.as_ref()?;
        let metric = Metric::ALL
            .into_iter()
            .find(|known| known.name() == metric)?;
        let index = self.benchmarks.iter().position(is_named)?;
        let runs = record.runs.iter().filter(|run| run.benchmark == index);
        Some(runs.filter_map(|run| metric.of(run)).collect())
    }
}

/// Returns the command that measures a benchmark of this record again.
pub(super) fn again(
    body: &Body,
    benchmark: &str,
    parameters: &[(String, String)],
) -> Option<Again> {
    let verb = match body.kind.as_str() {
        "run" => {
            let subject = benchmark.rsplit(" / ").next()?.to_owned();
            return Some(Again::Suite { subject });
        }
        "bench" => "bench",
        "startup" => "startup",
        "pipe" => "pipe",
        _ => return None,
    };
    let own = |one: &Named| one.0 == benchmark && (verb != "bench" || one.1 == parameters);
    let index = body.benchmarks.iter().position(own)?;
    let command = body.commands.get(index)?.clone();
    Some(Again::Command { verb, command })
}
