//! How the session went: notes needed before and after the numbers.

use fathom_model::{
    AskedMetric, BenchRecord, Conditions, Fingerprint, MachineFigure, Metric, RunOrder, StopReason,
    Warning,
};

use super::causes::Fact;
use crate::TimeUnit;
use crate::document::Form;
use crate::line::{Page, Tone};
use crate::quantity::{counted, format_share, format_time, supported_decimals};
use crate::session::{Subject, rounds};
use crate::text::JOIN;

/// If a run is shorter than this many times the floor, the floor is shown: running nothing then takes more
/// than 5 % of the run's time.
const FLOOR_MATTERS_BELOW: f64 = 20.0;

/// Says that something is missing, as a sentence without its period; `None` for a complete session.
pub(crate) fn partly(record: &BenchRecord) -> Option<String> {
    let stop = record.outcome.as_ref().map(|outcome| outcome.stop);
    let made = counted(rounds(record), "round", "rounds");
    match stop {
        Some(StopReason::Interrupted) => Some(format!(
            "Partial: interrupted in round {}. Results up to then",
            rounds(record)
        )),
        Some(StopReason::Failed) => Some(format!(
            "Partial: a run failed in round {}. Results up to then",
            rounds(record)
        )),
        None => Some(format!(
            "Partial: the session recorded no outcome. Results of its {made}"
        )),
        Some(_) if !record.complete => Some(format!(
            "Partial: the session did not end. Results of its {made}"
        )),
        Some(_) => None,
    }
}

/// Writes at the top that something is missing.
pub(super) fn partial(page: &mut Page, record: &BenchRecord) {
    if let Some(text) = partly(record) {
        page.prose(0, Tone::Bad, &format!("{text}:"));
    }
}

/// Explains what a wall time is.
pub(crate) const CLOCKS: &str =
    "wall: from process creation to exit, as the parent sees it; counts are medians";

/// Returns the order of the runs in a round: `in random order`.
pub(crate) fn order_of(record: &BenchRecord) -> &'static str {
    match record.conditions.order {
        RunOrder::Random => "in random order",
        RunOrder::Fixed => "in the order given",
    }
}

/// Describes the order, the conditions, and when measuring stopped.
pub(crate) fn how(record: &BenchRecord) -> Vec<String> {
    let conditions = &record.conditions;
    let mut order = format!("{} {}", rounds_made(record), order_of(record));
    if conditions.order == RunOrder::Random {
        order.push_str(&format!(" (seed {})", conditions.seed));
    }
    if conditions.warmup_runs > 0 {
        let warmup = counted(
            u64::from(conditions.warmup_runs),
            "warm-up run",
            "warm-up runs",
        );
        order.push_str(&format!(" after {warmup} each"));
    }
    let mut parts = vec![order];
    if let Some(cpus) = &conditions.pinned_cpus {
        let list: Vec<String> = cpus.iter().map(usize::to_string).collect();
        parts.push(format!("pinned to CPU {}", list.join(" ")));
    }
    if conditions.environment_size_randomised {
        parts.push("environment size varied".to_owned());
    }
    if let Some(outcome) = &record.outcome {
        if !outcome.comparisons.is_empty() {
            parts.extend(margins(conditions));
        }
        parts.push(stopped(outcome.stop).to_owned());
    }
    parts
}

/// Formats `margin 1 %`; for requested metrics, the margin of each.
fn margins(conditions: &Conditions) -> Vec<String> {
    let one = |asked: &AskedMetric| match asked.margin {
        0.0 => format!("no margin for {}", asked.metric.label()),
        margin => format!(
            "margin {} for {}",
            format_share(margin),
            asked.metric.label()
        ),
    };
    match conditions.metrics.is_empty() {
        true => vec![format!("margin {}", format_share(conditions.margin))],
        false => conditions.metrics.iter().map(one).collect(),
    }
}

/// Returns observations about the machine itself; not trustworthy.
pub(crate) fn machine_notices(record: &BenchRecord) -> Vec<String> {
    let fingerprint = record.environment.fingerprint.iter();
    fingerprint
        .flat_map(|fingerprint| [changes(fingerprint), shared_core(fingerprint)])
        .flatten()
        .collect()
}

/// Describes what changed since the machine's profile was taken; `None` if nothing did.
fn changes(fingerprint: &Fingerprint) -> Option<String> {
    let of = |figures: &[MachineFigure], id: &str| {
        figures.iter().find(|figure| figure.id == id).cloned()
    };
    let moved: Vec<String> = fingerprint
        .changed
        .iter()
        .filter_map(|id| {
            let before = of(&fingerprint.profile, id)?.value;
            let now = of(&fingerprint.canaries, id)?;
            // Three significant digits.
            let decimals = match now.value.abs().max(before.abs()) {
                large if large >= 100.0 => 0,
                middle if middle >= 10.0 => 1,
                _ => 2,
            };
            let name = id.replace('_', " ");
            let (value, unit) = (now.value, now.unit);
            Some(format!(
                "{name} {before:.decimals$} -> {value:.decimals$} {unit}"
            ))
        })
        .collect();
    let ago = match fingerprint.measured_seconds_ago {
        seconds if seconds < 120 => format!("{seconds} s"),
        seconds if seconds < 7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    };
    (!moved.is_empty()).then(|| {
        format!(
            "the machine has changed since its profile was taken {ago} ago: {}",
            moved.join(", ")
        )
    })
}

/// Formats the number of complete rounds, and whether there is part of another.
fn rounds_made(record: &BenchRecord) -> String {
    let begun = rounds(record);
    let benchmarks = record.benchmarks.len().max(1) as u64;
    if begun * benchmarks == record.runs.len() as u64 {
        return counted(begun, "round", "rounds");
    }
    let whole = counted(begun.saturating_sub(1), "round", "rounds");
    format!("{whole} and part of another")
}

/// Returns warnings and notes; a page has the warnings at its top.
pub(crate) fn also_known(record: &BenchRecord, form: Form) -> Vec<(Tone, &Warning)> {
    let outcome = || record.outcome.iter();
    let warnings = outcome().filter(|_| !form.has_pictures());
    let warnings = warnings.flat_map(|outcome| &outcome.warnings);
    let notes = outcome().flat_map(|outcome| &outcome.notes);
    let warnings = warnings.map(|warning| (Tone::Notice, warning));
    warnings
        .chain(notes.map(|note| (Tone::Plain, note)))
        .collect()
}

/// Describes the cost of running nothing, if it is a large part of the time.
pub(crate) fn floor(
    record: &BenchRecord,
    subject: &Subject,
    unit: Option<TimeUnit>,
) -> Option<Fact> {
    let floor = record.outcome.as_ref()?.floor.as_ref()?;
    let median = subject.median(Metric::Wall)?;
    if median >= FLOOR_MATTERS_BELOW * floor.wall.value {
        return None;
    }
    // In the same unit as the time, so that the two can be compared at a glance.
    let unit = unit.unwrap_or_else(|| TimeUnit::fitting(median));
    let decimals = supported_decimals(&floor.wall, unit.seconds()).min(3);
    let time = format_time(floor.wall.value, Some(unit), decimals).replace(' ', &JOIN.to_string());
    let text = format!(
        "{time} of this is process start-up: an empty program run the same way (not subtracted)"
    );
    Some(("floor", Tone::Plain, text))
}

fn stopped(stop: StopReason) -> &'static str {
    match stop {
        StopReason::RunCount => "as many runs as requested",
        StopReason::Decided => "stopped when every comparison was decided",
        StopReason::Precise => "stopped when the interval was narrow enough",
        StopReason::TimeBudget => "stopped when the time ran out",
        StopReason::MaximumRounds => "stopped at the maximum number of rounds",
        StopReason::Interrupted => "interrupted",
        StopReason::Failed => "stopped by a failed run",
    }
}

/// From this percentage of the time on, a shared core makes runs vary.
const SHARED_PERCENT: f64 = 20.0;

/// Describes how much something else used the core's other hardware thread before the first run; `None` if
/// little.
fn shared_core(fingerprint: &Fingerprint) -> Option<String> {
    let mut canaries = fingerprint.canaries.iter();
    let shared = canaries.find(|figure| figure.id == "core_shared")?.value;
    (shared >= SHARED_PERCENT).then(|| {
        format!(
            "other work used the sibling hyperthread for {shared:.0} % of the time before the first run; runs take \
             10 to 25 % longer while that happens"
        )
    })
}

/// Returns one line about the machine: the figures mean nothing elsewhere.
pub(crate) fn machine(record: &BenchRecord) -> String {
    let environment = &record.environment;
    let mut parts: Vec<String> = environment.cpu_model.iter().cloned().collect();
    parts.push(counted(environment.cpus as u64, "CPU", "CPUs"));
    parts.extend(
        environment
            .governor
            .iter()
            .map(|one| format!("governor {one}")),
    );
    if environment.virtual_machine == Some(true) {
        parts.push("virtual machine".to_owned());
    }
    parts.push(environment.kernel.clone());
    format!("machine: {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_core_is_reported_where_it_matters() {
        let of = |value| Fingerprint {
            canaries: vec![MachineFigure {
                id: "core_shared".into(),
                value,
                unit: "%".into(),
            }],
            ..Fingerprint::default()
        };
        assert_eq!(shared_core(&of(3.0)), None);
        let text = shared_core(&of(64.2)).unwrap();
        assert!(text.contains("hyperthread for 64 % of the time"), "{text}");
    }

    #[test]
    fn only_what_moved_is_reported_with_both_figures() {
        let figure = |id: &str, value| MachineFigure {
            id: id.into(),
            value,
            unit: "ns".into(),
        };
        let mut fingerprint = Fingerprint {
            measured_seconds_ago: 600,
            profile: vec![figure("memory_latency", 115.0), figure("l1_latency", 1.23)],
            canaries: vec![figure("memory_latency", 160.4), figure("l1_latency", 1.23)],
            ..Fingerprint::default()
        };
        assert_eq!(changes(&fingerprint), None);
        fingerprint.changed = vec!["memory_latency".into()];
        assert_eq!(
            changes(&fingerprint).unwrap(),
            "the machine has changed since its profile was taken 10 min ago: memory latency 115 -> 160 ns"
        );
    }
}
