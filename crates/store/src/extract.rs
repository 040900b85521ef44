//! Extracts the figures of a record that go into series, with one function for each kind of record.
//!
//! A series is identified by the benchmark's name, its parameters and the metric. If the metrics of two kinds
//! differ in meaning, they also differ in name: `exit` of `startup` is not `wall` of `bench`.

use std::ffi::OsStr;
use std::path::Path;

use fathom_model::imported::{Benchmark, base_unit, direction_of_unit};
use fathom_model::{Direction, ImportedRecord, Metric, Unit, distinguish};
use fathom_stats::{IntervalFrom, imported_middle, median_interval};
use serde::Deserialize;
use serde_json::Value;

use crate::NewPoint;

/// The metric of the benchmark `machine`, from a check of the machine, as a share.
pub const NOISE_FLOOR: &str = "noise_floor";

/// The metric of a gate's comparison of a program with itself, as a ratio.
pub const NULL_ARM: &str = "null_arm";

/// File name of a project's suite.
const SUITE: &str = "fathom.toml";

/// Returns the points of a record. Empty for a kind without figures to track, and for a record that was
/// interrupted before it had any.
pub fn extract(record: &Value) -> Vec<NewPoint> {
    let mut points = match record["kind"].as_str() {
        Some("bench") => bench(record),
        Some("startup") => startup(record),
        Some("serve") => serve(record),
        Some("pipe") => pipe(record),
        Some("machine") => machine(record),
        Some("machine_check") => machine_check(record),
        Some("run") => experiment(record),
        Some("imported") => match ImportedRecord::deserialize(record) {
            Ok(record) => return imported_points(&record),
            Err(_) => Vec::new(),
        },
        Some("gate") => gate(record),
        _ => Vec::new(),
    };
    finish(&mut points);
    points
}

fn finish(points: &mut Vec<NewPoint>) {
    points.retain(|p| p.value.is_finite() && p.low.is_finite() && p.high.is_finite());
    let named = points.iter_mut();
    distinguish(named.map(|one| (&*one.benchmark, &mut one.parameters, &*one.metric)));
}

fn bench(record: &Value) -> Vec<NewPoint> {
    let mut points = Vec::new();
    for result in list(&record["outcome"]["results"]) {
        let benchmark = &record["benchmarks"][index(&result["benchmark"])];
        for summary in list(&result["summaries"]) {
            let Ok(metric) = serde_json::from_value::<Metric>(summary["metric"].clone()) else {
                continue;
            };
            points.extend(point(
                &summary["median"],
                &summary["runs"],
                NewPoint {
                    benchmark: word(&benchmark["name"]),
                    parameters: bench_parameters(benchmark),
                    ..of(metric)
                },
            ));
        }
    }
    points
}

/// Returns the parameters of a `bench` benchmark, including the file on its standard input.
pub fn bench_parameters(benchmark: &Value) -> Vec<(String, String)> {
    let mut parameters = pairs(&benchmark["parameters"]);
    parameters.extend(input(benchmark));
    parameters
}

/// Returns the file on the standard input of a benchmark or of its conditions.
fn input(of: &Value) -> Vec<(String, String)> {
    let file = of["input"]["file"].as_str();
    Vec::from_iter(file.map(|file| ("input".to_owned(), file.to_owned())))
}

fn startup(record: &Value) -> Vec<NewPoint> {
    let one = |summary: &Value| {
        let metric = word(&summary["metric"]);
        let until = match metric.as_str() {
            "first_output" => "first byte on standard output",
            _ => "exit",
        };
        point(
            &summary["p50"],
            &summary["runs"],
            NewPoint {
                benchmark: word(&record["programs"][index(&summary["program"])]["name"]),
                parameters: vec![("cache".to_owned(), word(&summary["cache"]))],
                meaning: format!("median time from the execve call to the {until}"),
                metric,
                ..blank()
            },
        )
    };
    list(&record["summaries"]).iter().filter_map(one).collect()
}

fn serve(record: &Value) -> Vec<NewPoint> {
    let mut points = Vec::new();
    for server in list(&record["servers"]) {
        let of_server = |metric: &str, meaning: &str| NewPoint {
            benchmark: word(&server["name"]),
            metric: metric.to_owned(),
            meaning: meaning.to_owned(),
            ..blank()
        };
        let cold = &server["cold"];
        let ready = of_server(
            "first_answer",
            "median time from launching a server to its first complete answer",
        );
        let ready = point(&cold["ready_median_ms"], &cold["launches"], ready);
        points.extend(ready.map(|point| scaled(point, 1e-3)));
        for load in list(&server["load"]) {
            let open = load["rate_per_second"].as_f64();
            let connections = (
                "connections".to_owned(),
                count(&load["connections"]).to_string(),
            );
            // The rate is derived from the results and differs each time, so it isn't a parameter.
            let kind = (
                "loop".to_owned(),
                if open.is_some() { "open" } else { "closed" }.to_owned(),
            );
            let parameters = vec![connections, kind];
            let rounds = list(&load["rounds"]);
            let runs = Value::from(rounds.len());
            let of_load = |metric: &str, meaning: &str| NewPoint {
                parameters: parameters.clone(),
                ..of_server(metric, meaning)
            };
            if open.is_none() {
                let throughput = NewPoint {
                    unit: "requests/s".to_owned(),
                    direction: Some(direction(Direction::HigherIsBetter)),
                    ..of_load(
                        "requests_per_second",
                        "median over the rounds of a closed loop",
                    )
                };
                points.extend(point(
                    &load["requests_per_second_interval"],
                    &runs,
                    throughput,
                ));
            }
            let mut over_rounds = |key: &str, factor, of: NewPoint| {
                let values: Vec<f64> = rounds
                    .iter()
                    .filter_map(|round| round[key].as_f64())
                    .collect();
                points.extend(median_interval(&values, 0.95).map(|median| NewPoint {
                    value: median.value * factor,
                    low: median.low * factor,
                    high: median.high * factor,
                    runs: u32::try_from(values.len()).unwrap_or(u32::MAX),
                    ..of
                }));
            };
            for percentile in [50, 90, 95, 99] {
                let (key, name) = (
                    format!("p{percentile}_ms"),
                    format!("response_p{percentile}"),
                );
                let meaning = match percentile {
                    50 => "median response time, median over rounds".to_owned(),
                    _ => format!(
                        "{percentile}th percentile of the response time, median over rounds"
                    ),
                };
                over_rounds(&key, 1e-3, of_load(&name, &meaning));
            }
            let cpu = "server CPU time per request, median over rounds";
            over_rounds(
                "server_cpu_us_per_request",
                1e-6,
                of_load("request_cpu", cpu),
            );
        }
    }
    points
}

fn scaled(point: NewPoint, factor: f64) -> NewPoint {
    NewPoint {
        value: point.value * factor,
        low: point.low * factor,
        high: point.high * factor,
        ..point
    }
}

fn pipe(record: &Value) -> Vec<NewPoint> {
    let stages = list(&record["stages"]);
    let commands: Vec<String> = stages.iter().map(|stage| word(&stage["command"])).collect();
    let runs = Value::from(list(&record["rounds"]).len());
    let one = |estimate: &Value, stage: Option<usize>, metric: &str, meaning: &str| {
        let mut parameters = input(&record["conditions"]);
        let stage = stage.map(|stage| ("stage".to_owned(), word(&stages[stage]["name"])));
        parameters.extend(stage);
        point(
            estimate,
            &runs,
            NewPoint {
                benchmark: commands.join(" | "),
                parameters,
                metric: metric.to_owned(),
                meaning: meaning.to_owned(),
                ..blank()
            },
        )
    };
    let summary = &record["summary"];
    let whole = "median time from the start of the first stage to the last exit";
    let mut points = Vec::from_iter(one(&summary["wall"], None, "pipeline_wall", whole));
    for (index, stage) in list(&summary["stages"])
        .iter()
        .enumerate()
        .take(stages.len())
    {
        let stage_wall = "median time of a stage from its start to its exit, including its waits";
        points.extend(one(&stage["wall"], Some(index), "stage_wall", stage_wall));
        points.extend(one(
            &stage["cpu"],
            Some(index),
            "stage_cpu",
            "median CPU time of a stage",
        ));
    }
    points
}

/// Returns the figures of the machine. Only reliable figures have a value. Their interval is unknown, so the
/// spread of the passes is used instead.
fn machine(record: &Value) -> Vec<NewPoint> {
    let one = |result: &Value| {
        let value = result["value"].as_f64()?;
        let half = value.abs() * result["spread"].as_f64().unwrap_or(0.0) / 2.0;
        let unit = word(&result["unit"]);
        Some(NewPoint {
            benchmark: "machine".to_owned(),
            metric: word(&result["id"]),
            direction: direction_of_unit(&unit).map(direction),
            unit,
            meaning: word(&result["method"]),
            value,
            low: value - half,
            high: value + half,
            runs: count(&result["n"]),
            ..blank()
        })
    };
    list(&record["results"]).iter().filter_map(one).collect()
}

/// Returns the noise floor. Without better information, `compare` assumes at least this drift.
fn machine_check(record: &Value) -> Vec<NewPoint> {
    let noise = &record["noise"];
    let smallest = noise["smallest_difference"].as_f64();
    let point = smallest.map(|value| NewPoint {
        benchmark: "machine".to_owned(),
        metric: NOISE_FLOOR.to_owned(),
        unit: "share".to_owned(),
        meaning: "smallest difference between a program and itself that would be reported"
            .to_owned(),
        value,
        low: value,
        high: value,
        runs: count(&noise["self_comparison"]["rounds"]),
        ..blank()
    });
    Vec::from_iter(point)
}

fn experiment(record: &Value) -> Vec<NewPoint> {
    // The quick set has smaller inputs.
    let quick = record["quick"] == true;
    let parameters = |row: &Value| {
        let mut parameters = pairs(&row["parameters"]);
        if quick {
            parameters.push(("set".to_owned(), "quick".to_owned()));
        }
        parameters
    };
    let one = |row: &Value| {
        let measure = word(&row["measure"]);
        let known = serde_json::from_value::<Metric>(row["metric"].clone()).ok();
        if let Some(metric) = known.filter(|_| is_of_suite(record, row)) {
            let of_metric = NewPoint {
                benchmark: word(&row["subject"]),
                parameters: parameters(row),
                ..of(metric)
            };
            return point(&row["median"], &row["runs"], of_metric);
        }
        let unit = word(&row["unit"]);
        point(
            &row["median"],
            &row["runs"],
            NewPoint {
                benchmark: match is_of_suite(record, row) {
                    true => word(&row["subject"]),
                    false => long_name(record, row),
                },
                parameters: parameters(row),
                metric: word(&row["metric"]),
                direction: direction_of_unit(&unit).map(direction),
                unit,
                meaning: format!("median of an experiment's measure {measure:?}"),
                ..blank()
            },
        )
    };
    list(&record["results"]).iter().filter_map(one).collect()
}

/// Returns whether the row is a benchmark of a project's suite. If so, it has the name that `gate`,
/// `versions` and `bench` use, which is the name of its subject. Only one `bench` of the suite measures it.
fn is_of_suite(record: &Value, row: &Value) -> bool {
    let file = Path::new(record["file"].as_str().unwrap_or_default());
    let is_bench = |id: &Value| {
        let measures = list(&record["measures"]).iter();
        measures
            .clone()
            .any(|measure| measure["id"] == *id && measure["how"] == "bench")
    };
    let key = ["subject", "parameters", "metric"];
    let first = list(&record["results"])
        .iter()
        .find(|other| key.iter().all(|key| other[key] == row[key]) && is_bench(&other["measure"]));
    file.file_name() == Some(OsStr::new(SUITE))
        && row["subject"].is_string()
        && first.is_some_and(|first| first["measure"] == row["measure"])
}

/// Returns the name for an experiment that isn't a project's suite, or for a row that isn't a benchmark.
fn long_name(record: &Value, row: &Value) -> String {
    let parts = [&record["title"], &row["measure"], &row["subject"]];
    let parts: Vec<&str> = parts.into_iter().filter_map(Value::as_str).collect();
    parts.join(" / ")
}

/// Returns the cost of each program at head, and the comparison of the program with itself, which shows the
/// noise.
fn gate(record: &Value) -> Vec<NewPoint> {
    let mut points = Vec::new();
    let null_arm = &record["null_arm"];
    // Other rules have no rounds, or stop arbitrarily.
    if record["rule"]["name"] != "paired" {
        return points;
    }
    let rows = list(&record["benchmarks"]).iter();
    let rows: Vec<&Value> = rows.filter(|row| row["budget"].is_null()).collect();
    let runs = |name: &Value| {
        let row = rows.iter().find(|row| row["name"] == *name);
        Value::from(row.map(|row| 2 * u64::from(count(&row["rounds"]))))
    };
    // If a program differed from itself, the machine affected its times.
    for row in rows.iter().filter(|_| null_arm["failed"] == false) {
        // Older records only have the clock on which the verdict is based.
        let clocks = match list(&row["clocks"]) {
            [] => std::slice::from_ref(*row),
            clocks => clocks,
        };
        for clock in clocks {
            let Ok(metric) = serde_json::from_value::<Metric>(clock["metric"].clone()) else {
                continue;
            };
            let (benchmark, parameters) = named(row);
            let of_clock = NewPoint {
                benchmark,
                parameters,
                ..of(metric)
            };
            let runs = match clock["runs"].is_null() {
                true => runs(&row["name"]),
                false => clock["runs"].clone(),
            };
            points.extend(point(&clock["head"], &runs, of_clock));
        }
    }
    for one in list(&null_arm["benchmarks"]) {
        let row = rows.iter().find(|row| row["name"] == one["name"]);
        let unnamed = || (word(&one["name"]), Vec::new());
        let (benchmark, parameters) = row.map_or_else(unnamed, |row| named(row));
        points.extend(point(
            &one["ratio"],
            &runs(&one["name"]),
            NewPoint {
                benchmark,
                parameters,
                metric: NULL_ARM.to_owned(),
                unit: "ratio".to_owned(),
                direction: None,
                meaning: "a program against itself in the rounds of a gate".to_owned(),
                ..blank()
            },
        ));
    }
    points
}

/// Returns the points of another tool's measurements. A series has one unit, so times are in seconds and
/// sizes in bytes for all tools. The basis of an interval is part of the metric's meaning.
pub fn imported_points(record: &ImportedRecord) -> Vec<NewPoint> {
    let one = |one: &Benchmark| {
        let middle = imported_middle(&one.values)?;
        let (factor, unit) = base_unit(&one.unit);
        let what = match middle.from {
            IntervalFrom::Samples => "median of samples",
            IntervalFrom::Tool => "summary with the tool's own interval",
            IntervalFrom::Quartiles => {
                "summary; the interval for its median is computed from the quartiles"
            }
            IntervalFrom::Deviation => {
                "summary; the interval for its mean is computed from the standard deviation, assuming independent \
                 samples"
            }
            IntervalFrom::Nothing => "summary without an interval",
        };
        Some(NewPoint {
            benchmark: one.name.clone(),
            parameters: one.series_parameters(),
            metric: one.metric.clone(),
            unit: unit.to_owned(),
            direction: one.direction.map(direction),
            meaning: format!("{what}, measured by {}", record.source.tool),
            value: middle.value * factor,
            low: middle.low * factor,
            high: middle.high * factor,
            runs: u32::try_from(middle.runs).unwrap_or(u32::MAX),
        })
    };
    let mut points: Vec<NewPoint> = record.benchmarks.iter().filter_map(one).collect();
    finish(&mut points);
    points
}

/// Splits the name of a gate's row into name and parameters, which are separate in a series.
fn named(row: &Value) -> (String, Vec<(String, String)>) {
    let (name, parameters) = (word(&row["name"]), pairs(&row["parameters"]));
    match (parameters.is_empty(), name.split_once('[')) {
        (false, Some((subject, _))) => (subject.to_owned(), parameters),
        _ => (name, parameters),
    }
}

/// Returns a point of a metric of runs, without its numbers and its name.
fn of(metric: Metric) -> NewPoint {
    NewPoint {
        metric: metric.name().to_owned(),
        unit: metric.unit().name().to_owned(),
        direction: Some(direction(metric.direction())),
        meaning: meaning(metric).to_owned(),
        ..blank()
    }
}

fn blank() -> NewPoint {
    NewPoint {
        benchmark: String::new(),
        parameters: Vec::new(),
        metric: String::new(),
        unit: Unit::Seconds.name().to_owned(),
        direction: Some(direction(Direction::LowerIsBetter)),
        meaning: String::new(),
        value: f64::NAN,
        low: f64::NAN,
        high: f64::NAN,
        runs: 0,
    }
}

/// Returns `of` with the numbers of an estimate, or `None` if there is no estimate.
fn point(estimate: &Value, runs: &Value, of: NewPoint) -> Option<NewPoint> {
    let number = |key: &str| estimate[key].as_f64();
    let (value, low, high) = (number("value")?, number("low")?, number("high")?);
    Some(NewPoint {
        value,
        low,
        high,
        runs: count(runs),
        ..of
    })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn index(value: &Value) -> usize {
    value.as_u64().map_or(usize::MAX, |index| index as usize)
}

fn count(value: &Value) -> u32 {
    value
        .as_u64()
        .map_or(0, |count| u32::try_from(count).unwrap_or(u32::MAX))
}

fn pairs(value: &Value) -> Vec<(String, String)> {
    list(value)
        .iter()
        .map(|pair| (word(&pair[0]), word(&pair[1])))
        .collect()
}

fn direction(direction: Direction) -> String {
    let word = match direction {
        Direction::LowerIsBetter => "lower_is_better",
        Direction::HigherIsBetter => "higher_is_better",
    };
    word.to_owned()
}

fn meaning(metric: Metric) -> &'static str {
    match metric {
        Metric::Wall => "median wall time of a run",
        Metric::Undisturbed => "median wall time of a run minus its waits for a CPU",
        Metric::Cpu => "median CPU time of a run, user and kernel",
        Metric::User => "median CPU time of a run in user mode",
        Metric::System => "median CPU time of a run in the kernel",
        Metric::RunQueueWait => "median time that a run was ready but had no CPU",
        Metric::PeakMemory => "median of the largest resident memory of a run",
        Metric::MinorFaults => {
            "median number of page faults that did not read from the storage device"
        }
        Metric::MajorFaults => "median number of page faults that read from the storage device",
        Metric::VoluntarySwitches => "median number of times that a run gave up the CPU to wait",
        Metric::InvoluntarySwitches => "median number of times that a run was preempted",
        Metric::ReadBytes => "median of the bytes that a run read",
        Metric::WrittenBytes => "median of the bytes that a run wrote",
        Metric::ReadCalls => "median number of read calls",
        Metric::WriteCalls => "median number of write calls",
    }
}
