//! A side from a file: a record of Fathom, or what another tool wrote.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use fathom_exchange::{Benchmark, Direction, Values};
use fathom_model::imported::base_unit;
use fathom_model::{BenchRecord, CompareSide, ImportedRecord, Metric};
use fathom_stats::{Measured, imported_middle};
use fathom_store::{Draft, Error, distinguish};
use serde::Deserialize;
use serde_json::Value;

use super::ComparePlan;
use super::side::{Again, Session, Side, SideSeries, estimate};
use crate::ConductError;

/// Longer files of Fathom are no records that anybody made.
pub(crate) const LONGEST: u64 = 1 << 30;

/// The measurements of a file.
///
/// # Errors
/// A file that can't be read, or that nobody knows.
pub(super) fn read(asked: &str, path: &Path, plan: &ComparePlan) -> Result<Side, ConductError> {
    let failed = |source| Error::File {
        path: path.to_path_buf(),
        source,
    };
    let mut side = Side {
        about: CompareSide {
            asked: asked.to_owned(),
            revision: None,
            records: Vec::new(),
            file: Some(path.display().to_string()),
        },
        series: Vec::new(),
        environments: HashMap::new(),
        dirty_left_out: 0,
    };
    let size = path.metadata().map_err(failed)?.len();
    let own = match size <= LONGEST {
        true => own_records(&std::fs::read(path).map_err(failed)?),
        false => Vec::new(),
    };
    if own.is_empty() {
        let file = BufReader::new(File::open(path).map_err(failed)?);
        let imported = fathom_exchange::read(file, asked, None)
            .map_err(|error| ConductError::Refused(format!("{asked}: {error}")))?;
        side.series = imported
            .benchmarks
            .into_iter()
            .filter_map(of_tool)
            .collect();
    }
    for text in own {
        add(&mut side, text)?;
    }
    let known: Vec<String> = side
        .series
        .iter()
        .map(|one| one.benchmark.clone())
        .collect();
    keep(&mut side, plan);
    if side.series.is_empty() {
        let mut names = known;
        names.dedup();
        return Err(ConductError::Refused(match names.is_empty() {
            true => format!("{asked} has no figures: was its measurement interrupted?"),
            false => format!(
                "{asked} has nothing of that name or metric; it has {}",
                names.join(", ")
            ),
        }));
    }
    Ok(side)
}

/// The records of Fathom in a file: one, or a list of them.
pub(crate) fn own_records(bytes: &[u8]) -> Vec<String> {
    #[derive(Deserialize)]
    struct Mark {
        fathom_version: Option<String>,
        kind: Option<String>,
    }
    let is_own = |text: &str| {
        let mark: Option<Mark> = serde_json::from_str(text).ok();
        mark.is_some_and(|mark| mark.fathom_version.is_some() && mark.kind.is_some())
    };
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Vec::new();
    };
    let all: Vec<String> = match text.trim_start().starts_with('[') {
        true => serde_json::from_str::<Vec<Value>>(text)
            .unwrap_or_default()
            .iter()
            .map(Value::to_string)
            .collect(),
        false => vec![text.to_owned()],
    };
    match !all.is_empty() && all.iter().all(|text| is_own(text)) {
        true => all,
        false => Vec::new(),
    }
}

/// Adds the points of a record.
fn add(side: &mut Side, text: String) -> Result<(), Error> {
    let body = Body::of(&text);
    let draft = Draft::of(text)?;
    side.about.records.push(draft.id());
    let facts = serde_json::from_value(draft.segment.facts.clone()).unwrap_or_default();
    side.environments.insert(draft.segment.key.clone(), facts);
    for point in draft.points {
        let samples = body.samples(&point.benchmark, &point.parameters, &point.metric);
        let session = Session {
            environment: Some(draft.segment.key.clone()),
            time: draft.time,
            record: None,
            runs: point.runs,
            summary: body.is_import() && samples.is_none(),
            measured: Measured {
                samples: samples.unwrap_or_default(),
                estimate: estimate(point.value, point.low, point.high, point.runs),
            },
        };
        let series = SideSeries {
            again: again(&body, &point.benchmark, &point.parameters),
            benchmark: point.benchmark,
            parameters: point.parameters,
            metric: point.metric,
            unit: point.unit,
            direction: point.direction,
            sessions: vec![session],
        };
        match side.series.iter_mut().find(|one| one.is_same(&series)) {
            Some(known) => known.sessions.extend(series.sessions),
            None => side.series.push(series),
        }
    }
    Ok(())
}

/// Of the series of a file those that are asked for.
fn keep(side: &mut Side, plan: &ComparePlan) {
    let mut metrics: HashMap<(String, Vec<(String, String)>), String> = HashMap::new();
    for one in &side.series {
        let place = (one.benchmark.clone(), one.parameters.clone());
        let main = metrics.entry(place).or_insert_with(|| one.metric.clone());
        if crate::history::rank(&one.metric) < crate::history::rank(main) {
            main.clone_from(&one.metric);
        }
    }
    side.series.retain(|one| {
        let place = (one.benchmark.clone(), one.parameters.clone());
        let metric_fits = match &plan.metric {
            Some(metric) => crate::history::fits(metric, &one.metric),
            None => metrics.get(&place) == Some(&one.metric),
        };
        let named = plan.benchmarks.is_empty()
            || plan.benchmarks.iter().any(|word| {
                crate::history::fits(word, &one.benchmark)
                    || one.benchmark.to_lowercase().contains(&word.to_lowercase())
            });
        metric_fits && named
    });
}

/// A benchmark of another tool, as it would be in the store.
fn of_tool(one: Benchmark) -> Option<SideSeries> {
    let middle = imported_middle(&one.values)?;
    let (factor, unit) = base_unit(&one.unit);
    let runs = u32::try_from(middle.runs).unwrap_or(u32::MAX);
    let [value, low, high] = [middle.value, middle.low, middle.high].map(|end| end * factor);
    let session = Session {
        environment: None,
        time: 0,
        record: None,
        runs,
        measured: Measured {
            samples: samples(&one).unwrap_or_default(),
            estimate: estimate(value, low, high, runs),
        },
        summary: matches!(one.values, Values::Summary(_)),
    };
    Some(SideSeries {
        parameters: one.series_parameters(),
        unit: unit.to_owned(),
        benchmark: one.name,
        metric: one.metric,
        direction: one.direction.map(|direction| match direction {
            Direction::LowerIsBetter => "lower_is_better".to_owned(),
            Direction::HigherIsBetter => "higher_is_better".to_owned(),
        }),
        sessions: vec![session],
        again: None,
    })
}

type Named = (String, Vec<(String, String)>);

/// What a record's text knows beyond its points: the runs of `bench`, and the commands.
#[derive(Debug, Default)]
pub(crate) struct Body {
    kind: String,
    /// Names and parameters as in the points.
    benchmarks: Vec<Named>,
    commands: Vec<String>,
    bench: Option<Box<BenchRecord>>,
    imported: Vec<Imported>,
}

/// A benchmark of another tool.
#[derive(Debug)]
struct Imported {
    named: Named,
    metric: String,
    /// In the unit of their series; `None` where the tool gives none.
    samples: Option<Vec<f64>>,
}

/// The benchmarks of an imported record, under the names of its points.
fn imported(record: &Value) -> Vec<Imported> {
    let Ok(record) = ImportedRecord::deserialize(record) else {
        return Vec::new();
    };
    // One without a middle has no point.
    let known = record.benchmarks.into_iter();
    let known = known.filter(|one| imported_middle(&one.values).is_some());
    let mut all: Vec<Imported> = known
        .map(|one| Imported {
            named: (one.name.clone(), one.series_parameters()),
            samples: samples(&one),
            metric: one.metric,
        })
        .collect();
    let named = all.iter_mut();
    distinguish(named.map(|one| (&*one.named.0, &mut one.named.1, &*one.metric)));
    all
}

/// In the unit of a series.
fn samples(one: &Benchmark) -> Option<Vec<f64>> {
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
                    let parameters = serde_json::from_value(one["parameters"].clone());
                    let name = (word(&one["name"]), parameters.unwrap_or_default());
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
        Body {
            imported: match kind.as_str() {
                "imported" => imported(&record),
                _ => Vec::new(),
            },
            bench: (kind == "bench")
                .then(|| serde_json::from_value(record).ok().map(Box::new))
                .flatten(),
            kind,
            benchmarks,
            commands,
        }
    }

    /// The names, to be brought to those of today.
    pub(super) fn names(&mut self) -> impl Iterator<Item = &mut String> {
        let imported = self.imported.iter_mut().map(|one| &mut one.named.0);
        self.benchmarks
            .iter_mut()
            .map(|(name, _)| name)
            .chain(imported)
    }

    /// Whether another tool measured it.
    pub(super) fn is_import(&self) -> bool {
        self.kind == "imported"
    }

    /// The runs of one metric; `None` where only its median is known.
    pub(crate) fn samples(
        &self,
        benchmark: &str,
        parameters: &[(String, String)],
        metric: &str,
    ) -> Option<Vec<f64>> {
        let is_named = |one: &Named| one.0 == benchmark && one.1 == parameters;
        let mut imported = self.imported.iter();
        let imported = imported.find(|one| is_named(&one.named) && one.metric == metric);
        if let Some(one) = imported {
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

/// What is run to measure a benchmark of this record again.
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
