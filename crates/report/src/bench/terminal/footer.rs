//! How the session went: what must be known before and after the numbers.

use fathom_model::{BenchRecord, Fingerprint, MachineFigure, RunOrder, StopReason};

use crate::line::{Page, Tone};
use crate::quantity::{counted, format_share};
use crate::session::{Subject, rounds};

/// That something is missing, in a sentence without its end; `None` of a whole session.
pub(crate) fn partly(record: &BenchRecord) -> Option<String> {
    let stop = record.outcome.as_ref().map(|outcome| outcome.stop);
    let made = counted(rounds(record), "round", "rounds");
    match stop {
        Some(StopReason::Interrupted) => Some(format!(
            "Partial: interrupted in round {}. What was measured until then",
            rounds(record)
        )),
        Some(StopReason::Failed) => Some(format!(
            "Partial: a run failed in round {}. What was measured until then",
            rounds(record)
        )),
        None => Some(format!(
            "Partial: the session has no outcome. What its {made} left"
        )),
        Some(_) if !record.complete => Some(format!(
            "Partial: the session did not end. What its {made} left"
        )),
        Some(_) => None,
    }
}

/// Says at the top that something is missing.
pub(super) fn partial(page: &mut Page, record: &BenchRecord) {
    if let Some(text) = partly(record) {
        page.prose(0, Tone::Bad, &format!("{text}:"));
    }
}

/// Warnings and notes, then how it was measured.
pub(super) fn write(page: &mut Page, record: &BenchRecord, subjects: &[Subject]) {
    warnings(page, record, subjects);
    page.heading("How it was measured");
    page.prose(0, Tone::Quiet, &how(record).join("; "));
    page.prose(0, Tone::Quiet, CLOCKS);
    let machine = machine(page, record);
    page.prose(0, Tone::Quiet, &machine);
    for notice in machine_notices(record) {
        page.prose(0, Tone::Notice, &notice);
    }
}

/// What a wall time is.
pub(crate) const CLOCKS: &str =
    "wall: from process creation to exit, as the parent sees it; counts are medians";

/// `in random order`: that of the runs in a round.
pub(crate) fn order_of(record: &BenchRecord) -> &'static str {
    match record.conditions.order {
        RunOrder::Random => "in random order",
        RunOrder::Fixed => "in the order given",
    }
}

/// In which order, under which conditions, until when.
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
            parts.push(format!("margin {}", format_share(conditions.margin)));
        }
        parts.push(stopped(outcome.stop).to_owned());
    }
    parts
}

/// What was noticed of the machine itself; from outside.
pub(crate) fn machine_notices(record: &BenchRecord) -> Vec<String> {
    let fingerprint = record.environment.fingerprint.iter();
    fingerprint
        .flat_map(|fingerprint| [changes(fingerprint), shared_core(fingerprint)])
        .flatten()
        .collect()
}

/// What moved since the machine's profile was taken; `None` if nothing did.
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
            // Three digits.
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

/// Whole rounds, and whether there was more.
fn rounds_made(record: &BenchRecord) -> String {
    let begun = rounds(record);
    let benchmarks = record.benchmarks.len().max(1) as u64;
    if begun * benchmarks == record.runs.len() as u64 {
        return counted(begun, "round", "rounds");
    }
    let whole = counted(begun.saturating_sub(1), "round", "rounds");
    format!("{whole} and part of another")
}

fn warnings(page: &mut Page, record: &BenchRecord, subjects: &[Subject]) {
    let Some(outcome) = &record.outcome else {
        return;
    };
    let warnings = outcome
        .warnings
        .iter()
        .map(|warning| (Tone::Notice, warning));
    let notes = outcome.notes.iter().map(|note| (Tone::Plain, note));
    let all: Vec<_> = warnings.chain(notes).collect();
    if !all.is_empty() {
        page.heading("Also known");
    }
    for (tone, warning) in all {
        let about = match warning.benchmark {
            Some(index) if subjects.len() > 1 => format!("{}: ", index.saturating_add(1)),
            _ => String::new(),
        };
        let message = page.clean(&warning.message);
        page.prose(0, tone, &format!("{about}{message}"));
    }
}

fn stopped(stop: StopReason) -> &'static str {
    match stop {
        StopReason::RunCount => "as many runs as asked for",
        StopReason::Decided => "stopped when every comparison was decided",
        StopReason::Precise => "stopped when the interval was narrow enough",
        StopReason::TimeBudget => "stopped when the time was used up",
        StopReason::MaximumRounds => "stopped at the largest number of rounds",
        StopReason::Interrupted => "interrupted",
        StopReason::Failed => "stopped by a failed run",
    }
}

/// From this part of the time on a shared core makes runs scatter, in percent.
const SHARED_PERCENT: f64 = 20.0;

/// Whether something else was at work on the core's other hardware thread.
fn shared_core(fingerprint: &Fingerprint) -> Option<String> {
    let mut canaries = fingerprint.canaries.iter();
    let shared = canaries.find(|figure| figure.id == "core_shared")?.value;
    (shared >= SHARED_PERCENT).then(|| {
        format!(
            "a neighbour used the sibling hyperthread {shared:.0} % of the time before the first run: runs take 10 to 25 % longer meanwhile"
        )
    })
}

/// One line about the machine: the figures mean nothing elsewhere.
fn machine(page: &Page, record: &BenchRecord) -> String {
    let environment = &record.environment;
    let mut parts = Vec::new();
    if let Some(model) = &environment.cpu_model {
        parts.push(page.fit(model, 40));
    }
    parts.push(counted(environment.cpus as u64, "CPU", "CPUs"));
    if let Some(governor) = &environment.governor {
        parts.push(format!("governor {}", page.fit(governor, 20)));
    }
    if environment.virtual_machine == Some(true) {
        parts.push("virtual machine".to_owned());
    }
    parts.push(page.fit(&environment.kernel, 40));
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
        assert!(text.contains("hyperthread 64 % of the time"), "{text}");
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
