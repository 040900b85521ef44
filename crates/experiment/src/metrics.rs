//! The metrics of each method of measuring.

use fathom_model::{Metric, Unit};

use crate::check::measured_subjects;
use crate::file::WEBSOCKET;
use crate::file::experiment::{Experiment, How, Measure};

/// A metric that a measure yields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub metric: String,
    /// The subject, stage, file or count; absent for values of the machine and of a whole pipeline.
    pub subject: Option<String>,
    /// Its unit as text; `?` if it isn't known in advance.
    pub unit: String,
    /// Whether it is a count that does not vary.
    pub exact: bool,
    /// Whether this metric is meant if only a subject's name is given.
    pub primary: bool,
}

/// Returns the text of a unit of the model.
pub fn unit_text(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "s",
        Unit::Bytes => "B",
        Unit::Count => "",
    }
}

/// Returns all metrics of a measure. For `why`, the names of calls are unlimited in number, so those that a
/// file uses are taken from its claims.
pub fn of(experiment: &Experiment, measure: &Measure) -> Vec<Known> {
    let subjects = measured_subjects(experiment, measure);
    let mut all = Vec::new();
    let mut add = |metric: &str, subject: Option<&str>, unit: &str, exact: bool, primary: bool| {
        all.push(Known {
            metric: metric.to_string(),
            subject: subject.map(str::to_string),
            unit: unit.to_string(),
            exact,
            primary,
        });
    };
    match measure.how {
        How::Bench => {
            for subject in &subjects {
                for metric in Metric::ALL {
                    let (unit, primary) =
                        (unit_text(metric.unit()), metric == measure.main_metric());
                    add(metric.name(), Some(subject), unit, false, primary);
                }
                add("failures", Some(subject), "", true, false);
            }
        }
        How::Why => {
            for subject in &subjects {
                for (name, unit) in why_metrics(experiment) {
                    add(&name, Some(subject), unit, true, false);
                }
            }
        }
        How::Startup => {
            for subject in &subjects {
                for (metric, primary) in [("first_output", true), ("exit", false)] {
                    add(metric, Some(subject), "s", false, primary);
                    add(&format!("cold_{metric}"), Some(subject), "s", false, false);
                }
                for (metric, unit) in [("major_faults", ""), ("read_bytes", "B")] {
                    add(metric, Some(subject), unit, false, false);
                    add(&format!("cold_{metric}"), Some(subject), unit, false, false);
                }
            }
        }
        How::Serve => {
            for subject in &subjects {
                for one in of_serve(measure) {
                    add(&one.name, Some(subject), one.unit, one.exact, one.primary);
                }
            }
        }
        How::Pipe => {
            // The whole pipeline has the name of its measure: wall.ID or ID.wall.
            add("wall", Some(&measure.id.value), "s", false, true);
            add("wall", None, "s", false, false);
            for name in stage_names(measure) {
                for (metric, unit) in [
                    ("cpu", "s"),
                    ("wait_input", "s"),
                    ("wait_output", "s"),
                    ("alone", "s"),
                    ("share_wait_input", ""),
                    ("share_wait_output", ""),
                ] {
                    add(metric, Some(&name), unit, false, false);
                }
            }
        }
        How::Machine => add("?", None, "?", true, false),
        How::Value => {
            for value in &measure.values {
                for subject in &subjects {
                    let (unit, primary) = (value.unit.0.to_string(), measure.values.len() == 1);
                    add(&value.name, Some(subject), &unit, false, primary);
                }
            }
        }
        How::Static => {
            for (name, _) in &measure.files {
                add("size", Some(name), "B", true, false);
            }
            for count in &measure.counts {
                add("count", Some(&count.name), "", true, false);
            }
        }
    }
    all
}

/// Returns the names of a pipeline's stages.
pub fn stage_names(measure: &Measure) -> Vec<String> {
    match measure.names.is_empty() {
        true => (1..=measure.stages.len())
            .map(|n| format!("stage{n}"))
            .collect(),
        false => measure
            .names
            .iter()
            .map(|name| name.value.clone())
            .collect(),
    }
}

/// Returns the names of the parts of the account, `findings`, `calls`, and each `calls_NAME` that claims
/// mention.
fn why_metrics(experiment: &Experiment) -> Vec<(String, &'static str)> {
    let mut all: Vec<(String, &'static str)> = vec![
        ("calls".to_string(), ""),
        ("findings".to_string(), ""),
        ("processes".to_string(), ""),
        ("slowdown".to_string(), ""),
    ];
    for part in PARTS {
        all.push((format!("account_{part}"), "s"));
        all.push((format!("share_{part}"), ""));
    }
    all.extend(named_calls(experiment));
    all
}

/// Returns each `calls_NAME`, `errors_NAME` and `bytes_NAME` that claims mention.
pub fn named_calls(experiment: &Experiment) -> Vec<(String, &'static str)> {
    let mut all: Vec<(String, &'static str)> = Vec::new();
    let formulas = (experiment.claims.iter())
        .flat_map(|claim| [&claim.holds, &claim.ill_posed_if])
        .flatten();
    for formula in formulas {
        for (path, _) in crate::expression::references(&formula.expression) {
            for word in path.split('.') {
                let unit = match word.split_once('_') {
                    Some(("calls" | "errors", _)) => "",
                    Some(("bytes", name)) if !matches!(name, "read" | "written") => "B",
                    _ => continue,
                };
                if !all.iter().any(|(known, _)| known == word) {
                    all.push((word.to_string(), unit));
                }
            }
        }
    }
    all
}

/// The names of the parts of an account, in the form in which `fathom_model::TimeCategory` is serialized in
/// JSON.
pub const PARTS: [&str; 24] = [
    "user_code",
    "kernel_io",
    "kernel_files",
    "kernel_memory",
    "kernel_processes",
    "kernel_waiting",
    "kernel_other",
    "page_faults",
    "kernel",
    "waiting_for_input",
    "waiting_for_output",
    "waiting_for_pipe",
    "waiting_for_disk",
    "waiting_for_network",
    "waiting_for_locks",
    "sleeping",
    "waiting_for_child",
    "waiting_for_events",
    "waiting_for_signal",
    "other_waits",
    "waiting_for_cpu",
    "throttled",
    "cpu_steal",
    "unaccounted",
];

/// A metric of `serve`.
pub struct OfServe {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// Whether a single value suffices, as for counts over all launches.
    pub exact: bool,
    /// Whether this metric is meant if only a name is given.
    pub primary: bool,
}

/// Returns the metrics of `serve`: for launches, for loads by connections, or for messages.
pub fn of_serve(measure: &Measure) -> Vec<OfServe> {
    let mut all = Vec::new();
    let mut add = |name: String, unit, exact, primary| {
        all.push(OfServe {
            name,
            unit,
            exact,
            primary,
        });
    };
    if measure.load.is_empty() {
        let prefixes: &[&str] = match measure.also_cold() {
            true => &["", "cold_"],
            false => &[""],
        };
        for prefix in prefixes {
            for metric in [
                "first_answer",
                "listening",
                "first_byte",
                "launch_cpu",
                "launch_wait",
            ] {
                let primary = metric == "first_answer" && prefix.is_empty();
                add(format!("{prefix}{metric}"), "s", false, primary);
            }
            add(format!("{prefix}launch_read"), "B", false, false);
            for count in SLOW_LAUNCHES {
                add(format!("{prefix}{count}"), "", true, false);
            }
        }
    }
    for load in &measure.load {
        if load.value == WEBSOCKET {
            for client in ["", "spinning_"] {
                add(format!("{client}round_trip"), "s", false, client.is_empty());
                add(
                    format!("{client}round_trips_per_second"),
                    "/s",
                    false,
                    false,
                );
                add(format!("{client}round_trip_cpu"), "s", false, false);
            }
            continue;
        }
        let connections = &load.value;
        add(
            format!("requests_per_second_{connections}"),
            "/s",
            false,
            false,
        );
        for percentile in ["p50", "p90", "p95", "p99"] {
            let name = format!("response_{percentile}_{connections}");
            add(name, "s", false, false);
        }
        add(format!("request_cpu_{connections}"), "s", false, false);
    }
    all
}

/// How many launches took over 1.2 times the median, and how many of them for each reason.
pub const SLOW_LAUNCHES: [&str; 5] = [
    "slow_launches",
    "slow_by_cpu_wait",
    "slow_by_disk",
    "slow_by_work",
    "slow_otherwise",
];
