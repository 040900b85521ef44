//! The records of the other verbs, read as far as an experiment needs them. What a record lacks is
//! absent here; nothing is guessed.

use fathom_model::{Combination, CpuWaits, Explanation};
use serde::Deserialize;
use serde_json::Value;

use crate::results::{Findings, Samples};
use crate::unit;

/// Builds samples of one measure.
struct Sampler<'m> {
    measure: &'m str,
    parameters: &'m Combination,
    all: Vec<Samples>,
}

impl Sampler<'_> {
    fn add(
        &mut self,
        metric: &str,
        subject: Option<&str>,
        unit: &str,
        exact: bool,
        primary: bool,
        values: Vec<(u32, f64)>,
    ) {
        if values.is_empty() {
            return;
        }
        self.all.push(Samples {
            measure: self.measure.to_string(),
            metric: metric.to_string(),
            subject: subject.map(str::to_string),
            parameters: self.parameters.clone(),
            unit: unit.to_string(),
            values,
            exact,
            primary,
            is_share: metric.starts_with("share_"),
        });
    }
}

/// Counts, parts of the account and findings of a `why` record. A call that was not made has the count 0:
/// `asked` are the metrics that the file asks for.
///
/// # Errors
/// When the text is no such record.
pub fn why(
    text: &str,
    measure: &str,
    subject: &str,
    parameters: &Combination,
    asked: &[String],
) -> Result<(Vec<Samples>, Findings), String> {
    let explanation: Explanation = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut sampler = Sampler {
        measure,
        parameters,
        all: Vec::new(),
    };
    let mut one = |metric: &str, unit: &str, value: f64| {
        sampler.add(metric, Some(subject), unit, true, false, vec![(0, value)]);
    };
    let account = &explanation.account;
    for part in &account.parts {
        let Ok(Value::String(name)) = serde_json::to_value(part.spent) else {
            continue;
        };
        one(&format!("share_{name}"), "", account.share(part.spent));
        // Times of a run that observing slowed are no times of the program.
        if explanation.explaining.times_are_quoted {
            one(&format!("account_{name}"), "s", part.ns as f64 / 1e9);
        }
    }
    let present: Vec<String> = account
        .parts
        .iter()
        .filter_map(|part| serde_json::to_value(part.spent).ok())
        .filter_map(|name| name.as_str().map(str::to_string))
        .collect();
    for name in crate::metrics::PARTS {
        if !present.iter().any(|known| known == name) {
            one(&format!("share_{name}"), "", 0.0);
            if explanation.explaining.times_are_quoted {
                one(&format!("account_{name}"), "s", 0.0);
            }
        }
    }
    let sum = |pick: &dyn Fn(&fathom_model::CallRow) -> u64, name: Option<&str>| -> f64 {
        explanation
            .calls
            .iter()
            .filter(|row| name.is_none_or(|name| row.name == name))
            .map(|row| pick(row) as f64)
            .sum()
    };
    let counts_calls = matches!(explanation.explaining.tier.as_str(), "kernel" | "stops");
    if counts_calls {
        one("calls", "", sum(&|row| row.calls, None));
    }
    one("findings", "", explanation.findings.len() as f64);
    one("processes", "", explanation.processes.len() as f64);
    one("slowdown", "", explanation.explaining.slowdown);
    // What was not counted is absent, not 0.
    for metric in asked.iter().filter(|_| counts_calls) {
        match metric.split_once('_') {
            Some(("calls", name)) => one(metric, "", sum(&|row| row.calls, Some(name))),
            Some(("errors", name)) => one(metric, "", sum(&|row| row.errors, Some(name))),
            Some(("bytes", name)) => one(metric, "B", sum(&|row| row.bytes, Some(name))),
            _ => {}
        }
    }
    let findings = Findings {
        measure: measure.to_string(),
        subject: subject.to_string(),
        parameters: parameters.clone(),
        ids: explanation
            .findings
            .iter()
            .map(|f| f.id.to_string())
            .collect(),
        limited: limited(&explanation),
    };
    Ok((sampler.all, findings))
}

/// What keeps a tier from seeing every cause.
fn limited(explanation: &Explanation) -> Option<String> {
    let tier = &explanation.explaining.tier;
    (tier != "kernel").then(|| {
        format!(
            "why could only observe by its tier {tier}, which does not see every cause (fathom why --tiers)"
        )
    })
}

/// What a record of `startup` or `pipe` says of a machine that is too busy, in its own words.
pub fn said_of_load(text: &str) -> Vec<String> {
    /// First bytes that were seen late; a stage that had no CPU.
    const IDS: [&str; 2] = ["late_stamps", "no_cpu"];
    #[derive(Deserialize)]
    struct Said {
        id: String,
        message: String,
    }
    #[derive(Deserialize)]
    struct Record {
        #[serde(default, alias = "notes")]
        warnings: Vec<Said>,
    }
    // What is no such record has been reported where its numbers were read.
    serde_json::from_str::<Record>(text)
        .map(|record| record.warnings)
        .unwrap_or_default()
        .into_iter()
        .filter(|said| IDS.contains(&said.id.as_str()))
        .map(|said| said.message)
        .collect()
}

#[derive(Deserialize)]
struct Startup {
    #[serde(default)]
    runs: Vec<StartupRun>,
}

#[derive(Deserialize)]
struct StartupRun {
    program: usize,
    #[serde(default)]
    round: u32,
    #[serde(default)]
    cache: Option<String>,
    #[serde(default)]
    first_output_ns: Option<f64>,
    #[serde(default)]
    exit_ns: Option<f64>,
    #[serde(default)]
    major_faults: Option<f64>,
    #[serde(default)]
    read_bytes: Option<f64>,
    #[serde(default)]
    run_queue_wait_ns: Option<u64>,
    #[serde(default)]
    void: Option<Value>,
    #[serde(default)]
    exit: Option<Value>,
}

impl StartupRun {
    /// When it ended by itself; of a run that the time limit ended nobody knows.
    fn own_exit_ns(&self) -> Option<f64> {
        let ended = self.exit.as_ref().is_some_and(|exit| exit == "timed_out");
        self.exit_ns.filter(|_| !ended)
    }

    /// A run that the verb itself says is no measurement.
    fn is_void(&self) -> bool {
        !matches!(&self.void, None | Some(Value::Null | Value::Bool(false)))
    }
}

/// First output and exit of a `startup` record, and what its runs waited for a CPU. `subjects` are in the
/// order of its programs.
///
/// # Errors
/// When the text is no such record.
pub fn startup(
    text: &str,
    measure: &str,
    subjects: &[(String, Combination)],
) -> Result<(Vec<Samples>, CpuWaits), String> {
    let record: Startup = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut all = Vec::new();
    for (index, (subject, parameters)) in subjects.iter().enumerate() {
        let mut sampler = Sampler {
            measure,
            parameters,
            all: Vec::new(),
        };
        for (cache, prefix) in [("warm", ""), ("cold", "cold_")] {
            let runs: Vec<&StartupRun> = record
                .runs
                .iter()
                .filter(|run| run.program == index && !run.is_void())
                .filter(|run| run.cache.as_deref().unwrap_or("warm") == cache)
                .collect();
            type Pick = fn(&StartupRun) -> Option<f64>;
            let metrics: [(&str, &str, f64, Pick); 4] = [
                ("first_output", "s", 1e9, |run| run.first_output_ns),
                ("exit", "s", 1e9, StartupRun::own_exit_ns),
                ("major_faults", "", 1.0, |run| run.major_faults),
                ("read_bytes", "B", 1.0, |run| run.read_bytes),
            ];
            for (metric, unit, scale, pick) in metrics {
                let values = runs
                    .iter()
                    .filter_map(|run| Some((run.round, pick(run)? / scale)))
                    .collect();
                let primary = metric == "first_output" && prefix.is_empty();
                sampler.add(
                    &format!("{prefix}{metric}"),
                    Some(subject),
                    unit,
                    false,
                    primary,
                    values,
                );
            }
        }
        all.append(&mut sampler.all);
    }
    Ok((all, waits(&record.runs)))
}

/// What the programs waited for a CPU, as far as it is known.
fn waits(runs: &[StartupRun]) -> CpuWaits {
    let mut all = CpuWaits::default();
    for run in runs {
        if let (Some(waited), Some(took)) = (run.run_queue_wait_ns, run.exit_ns) {
            all.add(waited, took as u64);
        }
    }
    all
}

#[derive(Deserialize)]
struct Pipe {
    #[serde(default)]
    rounds: Vec<PipeRound>,
    #[serde(default)]
    explained: Vec<PipeRound>,
    #[serde(default)]
    explaining: Option<PipeExplaining>,
    #[serde(default)]
    alone: Vec<Alone>,
}

#[derive(Deserialize)]
struct PipeExplaining {
    #[serde(default)]
    times_are_quoted: bool,
}

#[derive(Deserialize)]
struct PipeRound {
    #[serde(default)]
    wall_ns: Option<f64>,
    #[serde(default)]
    stages: Vec<PipeStage>,
}

#[derive(Deserialize)]
struct PipeStage {
    #[serde(default)]
    cpu_ns: Option<f64>,
    #[serde(default)]
    wait_input_ns: Option<f64>,
    #[serde(default)]
    wait_output_ns: Option<f64>,
    #[serde(default)]
    start_ns: Option<f64>,
    #[serde(default)]
    end_ns: Option<f64>,
}

impl PipeStage {
    /// Part of the stage's own life, 0 to 1.
    fn share(&self, ns: Option<f64>) -> Option<f64> {
        let life = self.end_ns? - self.start_ns?;
        (life > 0.0).then_some(ns? / life)
    }
}

#[derive(Deserialize)]
struct Alone {
    stage: usize,
    #[serde(default)]
    wall_ns: Vec<Option<f64>>,
}

/// The whole line and its stages of a `pipe` record.
///
/// # Errors
/// When the text is no such record.
pub fn pipe(
    text: &str,
    measure: &str,
    names: &[String],
    parameters: &Combination,
) -> Result<Vec<Samples>, String> {
    let record: Pipe = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut sampler = Sampler {
        measure,
        parameters,
        all: Vec::new(),
    };
    let seconds = |(round, ns): (usize, f64)| (round as u32, ns / 1e9);
    let walls: Vec<(u32, f64)> = record
        .rounds
        .iter()
        .enumerate()
        .filter_map(|(round, row)| Some(seconds((round, row.wall_ns?))))
        .collect();
    // Its own name stands for the whole line: wall.ID, and ID.wall.
    sampler.add("wall", Some(measure), "s", false, true, walls.clone());
    sampler.add("wall", None, "s", false, false, walls);
    for (stage, name) in names.iter().enumerate() {
        type Pick = fn(&PipeStage) -> Option<f64>;
        let mut add = |metric: &str, rounds: &[PipeRound], unit: &str, scale: f64, pick: Pick| {
            let values = rounds
                .iter()
                .enumerate()
                .filter_map(|(round, row)| {
                    Some((round as u32, pick(row.stages.get(stage)?)? / scale))
                })
                .collect();
            sampler.add(metric, Some(name), unit, false, false, values);
        };
        add("cpu", &record.rounds, "s", 1e9, |stage| stage.cpu_ns);
        // Waits are seen in rounds of their own. Where observing slowed those, only shares are quoted.
        let explained = match record.explained.is_empty() {
            true => &record.rounds,
            false => &record.explained,
        };
        let quoted =
            (record.explaining.as_ref()).is_none_or(|explaining| explaining.times_are_quoted);
        if quoted {
            add("wait_input", explained, "s", 1e9, |stage| {
                stage.wait_input_ns
            });
            add("wait_output", explained, "s", 1e9, |stage| {
                stage.wait_output_ns
            });
        }
        add("share_wait_input", explained, "", 1.0, |stage| {
            stage.share(stage.wait_input_ns)
        });
        add("share_wait_output", explained, "", 1.0, |stage| {
            stage.share(stage.wait_output_ns)
        });
        let alone = record
            .alone
            .iter()
            .filter(|alone| alone.stage == stage)
            .flat_map(|alone| alone.wall_ns.iter().enumerate())
            .filter_map(|(round, ns)| Some(seconds((round, (*ns)?))))
            .collect();
        sampler.add("alone", Some(name), "s", false, false, alone);
    }
    Ok(sampler.all)
}

/// Probes with a value, and the ids of the others with why they have none.
pub type Probes = (Vec<Samples>, Vec<(String, String)>);

/// The probes of a `machine` record that have a value; the others with why they have none.
///
/// # Errors
/// When the text is no such record.
pub fn machine(text: &str, measure: &str) -> Result<Probes, String> {
    let record: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let lists = match &record {
        Value::Array(list) => vec![list],
        Value::Object(object) => object.values().filter_map(Value::as_array).collect(),
        _ => Vec::new(),
    };
    let mut all = Vec::new();
    let mut without = Vec::new();
    for probe in lists.into_iter().flatten() {
        let Some(id) = probe.get("id").and_then(Value::as_str) else {
            continue;
        };
        let text = probe
            .get("unit")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let (unit, scale) = unit::parse(text).unwrap_or_else(|_| (unit::Unit::plain(), 1.0));
        match probe.get("value").and_then(Value::as_f64) {
            Some(value) => all.push(Samples {
                measure: measure.to_string(),
                metric: id.to_string(),
                subject: None,
                parameters: Vec::new(),
                unit: unit.to_string(),
                values: vec![(0, value * scale)],
                exact: true,
                primary: false,
                is_share: false,
            }),
            None => {
                let why = probe
                    .get("note")
                    .and_then(Value::as_str)
                    .unwrap_or("no answer");
                without.push((id.to_string(), why.to_string()));
            }
        }
    }
    if all.is_empty() && without.is_empty() {
        return Err("it has no probes".to_string());
    }
    Ok((all, without))
}
