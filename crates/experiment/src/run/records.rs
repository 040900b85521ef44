//! Extracts an experiment's results from the records of other verbs. Values that a record lacks are absent,
//! never guessed.

use fathom_machine::ProbeResult;
use fathom_model::{
    Cache, ColdStart, Combination, CpuWaits, Exit, Explanation, Launch, LoadRound, PipeRecord,
    PipeRound, ServeRecord, StageRun, StartupRecord, StartupRun, WebSocketClient, WebSocketRound,
};
use serde_json::Value;

use crate::metrics::SLOW_LAUNCHES;
use crate::results::{Findings, Samples};
use crate::unit;

/// Builds the samples of one measure.
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

/// Returns the counts, the parts of the account and the findings of a `why` record. A call that was not made
/// has the count 0. `asked` are the metrics that the file uses.
pub fn why(
    explanation: &Explanation,
    measure: &str,
    subject: &str,
    parameters: &Combination,
    asked: &[String],
) -> (Vec<Samples>, Findings) {
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
        // If observing slowed the run, its times are not those of the program.
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
    let counts_calls = matches!(explanation.explaining.tier.as_str(), "kernel" | "ptrace");
    if counts_calls {
        one("calls", "", sum(&|row| row.calls, None));
    }
    one("findings", "", explanation.findings.len() as f64);
    one("processes", "", explanation.processes.len() as f64);
    one("slowdown", "", explanation.explaining.slowdown);
    // If calls weren't counted, their counts are absent, not 0.
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
        limited: limited(explanation),
    };
    (sampler.all, findings)
}

/// Returns what keeps the tier from seeing every cause.
fn limited(explanation: &Explanation) -> Option<String> {
    let tier = &explanation.explaining.tier;
    (tier != "kernel").then(|| {
        format!(
            "`fathom why` could only use the tier {tier}, which does not show every cause (see fathom why --tiers)"
        )
    })
}

/// Returns those warnings of a `startup` record that concern a busy machine, namely first bytes that were
/// stamped late.
pub fn of_load(record: &StartupRecord) -> Vec<String> {
    let warnings = record.warnings.iter();
    let late = warnings.filter(|warning| warning.id == "late_stamps");
    late.map(|warning| warning.message.clone()).collect()
}

/// Returns those notes of a `pipe` record that concern a busy machine, namely a stage that had no CPU.
pub fn of_pipe_load(record: &PipeRecord) -> Vec<String> {
    let notes = record
        .notes
        .iter()
        .filter(|note| note.id == "waiting_for_cpu");
    notes.map(|note| note.message.clone()).collect()
}

/// Returns when the program exited by itself; `None` if the time limit ended it.
fn own_exit_ns(run: &StartupRun) -> Option<u64> {
    (run.exit != Exit::TimedOut).then_some(run.exit_ns)
}

/// Returns why the numbers of a `serve` record should not be trusted.
pub fn of_serve_trust(record: &ServeRecord) -> Vec<String> {
    let loads = record.servers.iter().flat_map(|server| {
        let loads = server.load.iter().map(|load| &load.verdicts);
        loads.chain(server.websocket.iter().map(|one| &one.verdicts))
    });
    let all: std::collections::BTreeSet<&str> = loads.flatten().map(|one| one.name()).collect();
    let named: Vec<&str> = all.into_iter().collect();
    match named.is_empty() {
        true => Vec::new(),
        false => vec![format!("serve: {}", named.join(", "))],
    }
}

/// A function that returns a figure of a round.
type OfRound = fn(&LoadRound) -> Option<f64>;
/// Percentiles of the response time in a round, in milliseconds.
const RESPONSES: [(&str, OfRound); 4] = [
    ("response_p50", |round| round.p50_ms),
    ("response_p90", |round| round.p90_ms),
    ("response_p95", |round| round.p95_ms),
    ("response_p99", |round| round.p99_ms),
];

/// Returns the results of one server in a `serve` record: its launches, its rounds under load, its messages.
pub fn serve(
    record: &ServeRecord,
    server: usize,
    measure: &str,
    subject: &str,
    parameters: &Combination,
) -> Vec<Samples> {
    let mut sampler = Sampler {
        measure,
        parameters,
        all: Vec::new(),
    };
    let Some(server) = record.servers.get(server) else {
        return Vec::new();
    };
    for (cold, prefix) in [(&server.cold, ""), (&server.cold_evicted, "cold_")] {
        if let Some(cold) = cold {
            launches(&mut sampler, cold, subject, prefix);
        }
    }
    let mut add = |metric: &str, unit, primary, values: Vec<(u32, f64)>| {
        sampler.add(metric, Some(subject), unit, false, primary, values);
    };
    for load in &server.load {
        let of = |pick: OfRound| {
            let values = load.rounds.iter();
            let values = values.filter_map(|round| Some((round.round, pick(round)?)));
            values.collect::<Vec<_>>()
        };
        let name = |metric: &str| format!("{metric}_{}", load.connections);
        let throughput = of(|round| Some(round.requests_per_second));
        add(&name("requests_per_second"), "/s", false, throughput);
        for (metric, pick) in RESPONSES {
            let seconds = of(pick).into_iter().map(|(round, ms)| (round, ms / 1e3));
            add(&name(metric), "s", false, seconds.collect());
        }
        let cpu = of(|round| Some(round.server_cpu_us_per_request? / 1e6));
        add(&name("request_cpu"), "s", false, cpu);
    }
    for one in &server.websocket {
        let of = |pick: fn(&WebSocketRound) -> Option<f64>| {
            let values = one.rounds.iter();
            let values = values.filter_map(|round| Some((round.round, pick(round)?)));
            values.collect::<Vec<_>>()
        };
        let prefix = match one.client {
            WebSocketClient::Blocking => "",
            WebSocketClient::Spinning => "spinning_",
        };
        let name = |metric: &str| format!("{prefix}{metric}");
        let trip = of(|round| Some(round.p50_ms? / 1e3));
        add(&name("round_trip"), "s", prefix.is_empty(), trip);
        let rate = of(|round| Some(round.round_trips_per_second));
        add(&name("round_trips_per_second"), "/s", false, rate);
        let cpu = of(|round| Some(round.server_cpu_us_per_round_trip? / 1e6));
        add(&name("round_trip_cpu"), "s", false, cpu);
    }
    sampler.all
}

/// Adds the launches of one server, and how many of them were slow for each reason.
fn launches(sampler: &mut Sampler<'_>, cold: &ColdStart, subject: &str, prefix: &str) {
    let of = |pick: fn(&Launch) -> Option<f64>| {
        let runs = (0u32..).zip(&cold.runs);
        runs.filter_map(|(round, run)| Some((round, pick(run)?)))
            .collect::<Vec<_>>()
    };
    type Pick = fn(&Launch) -> Option<f64>;
    let metrics: [(&str, &str, Pick); 6] = [
        ("first_answer", "s", |run| Some(run.ready_ms / 1e3)),
        ("listening", "s", |run| Some(run.listening_ms? / 1e3)),
        ("first_byte", "s", |run| Some(run.first_byte_ms / 1e3)),
        ("launch_cpu", "s", |run| Some(run.cpu_ms / 1e3)),
        ("launch_wait", "s", |run| Some(run.run_queue_wait_ms / 1e3)),
        ("launch_read", "B", |run| Some(run.read_bytes as f64)),
    ];
    for (metric, unit, pick) in metrics {
        let primary = metric == "first_answer" && prefix.is_empty();
        let name = format!("{prefix}{metric}");
        sampler.add(&name, Some(subject), unit, false, primary, of(pick));
    }
    let by_reason = [
        cold.waited_for_cpu,
        cold.waited_for_disk,
        cold.worked_longer,
        cold.slow_otherwise,
    ];
    let counts = [by_reason.iter().sum()].into_iter().chain(by_reason);
    for (count, name) in counts.zip(SLOW_LAUNCHES) {
        let values = vec![(0, count as f64)];
        sampler.add(
            &format!("{prefix}{name}"),
            Some(subject),
            "",
            true,
            false,
            values,
        );
    }
}

/// Returns the first output and the exit of the runs of a `startup` record, and their waits for a CPU.
/// `subjects` are in the order of the record's programs.
pub fn startup(
    runs: &[StartupRun],
    measure: &str,
    subjects: &[(String, Combination)],
) -> (Vec<Samples>, CpuWaits) {
    let mut all = Vec::new();
    for (index, (subject, parameters)) in subjects.iter().enumerate() {
        let mut sampler = Sampler {
            measure,
            parameters,
            all: Vec::new(),
        };
        for (cache, prefix) in [(Cache::Warm, ""), (Cache::Cold, "cold_")] {
            let runs: Vec<&StartupRun> = runs
                .iter()
                .filter(|run| run.program == index && run.cache == cache && !run.void)
                .collect();
            type Pick = fn(&StartupRun) -> Option<u64>;
            let metrics: [(&str, &str, f64, Pick); 4] = [
                ("first_output", "s", 1e9, |run| run.first_output_ns),
                ("exit", "s", 1e9, own_exit_ns),
                ("major_faults", "", 1.0, |run| Some(run.major_faults)),
                ("read_bytes", "B", 1.0, |run| run.read_bytes),
            ];
            for (metric, unit, scale, pick) in metrics {
                let values = runs
                    .iter()
                    .filter_map(|run| Some((run.round, pick(run)? as f64 / scale)))
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
    (all, waits(runs))
}

/// Returns how long the programs waited for a CPU, as far as this is known.
fn waits(runs: &[StartupRun]) -> CpuWaits {
    let mut all = CpuWaits::default();
    for run in runs {
        if let Some(waited) = run.waited_for_others_ns() {
            all.add(waited, run.exit_ns);
        }
    }
    all
}

/// Returns `ns` as a fraction of the stage's own wall time, 0 to 1.
fn share(stage: &StageRun, ns: Option<u64>) -> Option<f64> {
    let wall = stage.wall_ns();
    (wall > 0).then_some(ns? as f64 / wall as f64)
}

/// Returns the results of a `pipe` record for the whole pipeline and its stages.
pub fn pipe(
    record: &PipeRecord,
    measure: &str,
    names: &[String],
    parameters: &Combination,
) -> Vec<Samples> {
    let mut sampler = Sampler {
        measure,
        parameters,
        all: Vec::new(),
    };
    let seconds = |(round, ns): (usize, u64)| (round as u32, ns as f64 / 1e9);
    let walls: Vec<(u32, f64)> = record
        .rounds
        .iter()
        .enumerate()
        .map(|(round, row)| seconds((round, row.wall_ns)))
        .collect();
    // The measure's name means the whole pipeline: wall.ID and ID.wall.
    sampler.add("wall", Some(measure), "s", false, true, walls.clone());
    sampler.add("wall", None, "s", false, false, walls);
    for (stage, name) in names.iter().enumerate() {
        type Pick = fn(&StageRun) -> Option<f64>;
        let mut add = |metric: &str, rounds: &[PipeRound], unit: &str, pick: Pick| {
            let values = rounds
                .iter()
                .enumerate()
                .filter_map(|(round, row)| Some((round as u32, pick(row.stages.get(stage)?)?)))
                .collect();
            sampler.add(metric, Some(name), unit, false, false, values);
        };
        add("cpu", &record.rounds, "s", |stage| {
            Some(stage.cpu_ns as f64 / 1e9)
        });
        // Waits are observed in separate rounds. If observing slowed those, only shares are reported.
        let explained = match record.explained.is_empty() {
            true => &record.rounds,
            false => &record.explained,
        };
        let quoted =
            (record.explaining.as_ref()).is_none_or(|explaining| explaining.times_are_quoted);
        if quoted {
            add("wait_input", explained, "s", |stage| {
                stage.wait_input_ns.map(|ns| ns as f64 / 1e9)
            });
            add("wait_output", explained, "s", |stage| {
                stage.wait_output_ns.map(|ns| ns as f64 / 1e9)
            });
        }
        add("share_wait_input", explained, "", |stage| {
            share(stage, stage.wait_input_ns)
        });
        add("share_wait_output", explained, "", |stage| {
            share(stage, stage.wait_output_ns)
        });
        let alone = record
            .alone
            .iter()
            .filter(|alone| alone.stage == stage)
            .flat_map(|alone| alone.wall_ns.iter().enumerate())
            .map(|(round, ns)| seconds((round, *ns)))
            .collect();
        sampler.add("alone", Some(name), "s", false, false, alone);
    }
    sampler.all
}

/// The probes that have a value, and the ids of the others, each with the reason why it has none.
pub type Probes = (Vec<Samples>, Vec<(String, String)>);

/// Returns the probes that have a value, and the others with the reasons why they have none.
///
/// # Errors
/// If there are no probes.
pub fn machine(results: &[ProbeResult], measure: &str) -> Result<Probes, String> {
    if results.is_empty() {
        return Err("it contains no probe results".to_string());
    }
    let mut all = Vec::new();
    let mut without = Vec::new();
    for probe in results {
        let Some(value) = probe.value else {
            let why = probe.note.as_deref().unwrap_or("no answer");
            without.push((probe.id.clone(), why.to_string()));
            continue;
        };
        let (unit, scale) = unit::parse(&probe.unit).unwrap_or((unit::Unit::plain(), 1.0));
        all.push(Samples {
            measure: measure.to_string(),
            metric: probe.id.clone(),
            subject: None,
            parameters: Vec::new(),
            unit: unit.to_string(),
            values: vec![(0, value * scale)],
            exact: true,
            primary: false,
            is_share: false,
        });
    }
    Ok((all, without))
}
