//! Which metrics are shown, and how.

use fathom_model::{Metric, Summary};

use super::causes::Fact;
use crate::TimeUnit;
use crate::bench::figures::{FEWEST_FOR_P90, FEWEST_FOR_P99};
use crate::document::{Cell, Document, Kind, Table};
use crate::line::Tone;
use crate::quantity::{InUnit, counted, format_bytes, format_count, format_level};
use crate::session::Subject;
use crate::text::JOIN;

/// The kernel divides CPU time into user and kernel by sampling at its tick (1 to 10 ms). A split
/// of less than about ten ticks is noise, so it isn't shown.
const SPLIT_FROM_SECONDS: f64 = 0.1;

/// Adds a row for each metric that is a time or memory, followed by the notes on single metrics.
pub(crate) fn add(out: &mut Document, subject: &Subject, unit: Option<TimeUnit>) {
    let split = subject
        .median(Metric::Cpu)
        .is_some_and(|cpu| cpu >= SPLIT_FROM_SECONDS);
    let rows = [
        (Metric::Wall, "wall"),
        (Metric::Undisturbed, "wait-free"),
        (Metric::RunQueueWait, "CPU wait"),
        (Metric::Cpu, "CPU"),
        (Metric::User, "  user"),
        (Metric::System, "  kernel"),
        (Metric::PeakMemory, "peak memory"),
    ];
    let rows = rows.into_iter().filter_map(|(metric, label)| {
        let is_noise = matches!(metric, Metric::User | Metric::System) && !split;
        let summary = subject.summary(metric).filter(|_| !is_noise)?;
        Some((metric, label, summary))
    });
    let rows: Vec<(Metric, &str, &Summary)> = rows.collect();
    let Some((_, _, first)) = rows.first() else {
        let text = "the runs are recorded, but the session ended before they were summarised";
        return out.prose(2, Tone::Notice, text);
    };
    let interval = format!("{} interval", format_level(first.median.level));
    let mut table = Table::new("Figures")
        .column("", Kind::Name)
        .column("median", Kind::Number)
        .column(&interval, Kind::Number);
    for quantile in ["min", "p90", "p99", "max"] {
        table = table.column(quantile, Kind::Number);
    }
    for (metric, label, summary) in &rows {
        table.row("", row(label, *metric, summary, unit));
    }
    out.table(table);
    for (metric, label, summary) in &rows {
        let notes = notes(*metric, summary, first);
        if !notes.is_empty() {
            out.fact(*label, Tone::Quiet, notes.join(", "));
        }
    }
}

fn row(label: &str, metric: Metric, summary: &Summary, unit: Option<TimeUnit>) -> Vec<Cell> {
    let median = &summary.median;
    // If a metric is mostly 0, its unit is chosen from the nonzero values.
    let scale = [median.value, summary.p90, summary.max];
    let scale = scale.into_iter().find(|value| *value > 0.0).unwrap_or(0.0);
    let unit = InUnit::asked(metric, scale, unit);
    let decimals = unit.decimals(median);
    let number = |value: f64| unit.number(value, decimals);
    let cell = |is_known: bool, text: String| match is_known {
        true => Cell::words(&text),
        false => Cell::absent(""),
    };
    let tone = match metric {
        Metric::Wall => Tone::Strong,
        _ => Tone::Plain,
    };
    let ends = format!("{} to {}", number(median.low), number(median.high));
    vec![
        Cell::name(label).toned(Tone::Quiet),
        Cell::words(&unit.with_symbol(&number(median.value))).toned(tone),
        cell(median.level > 0.0, ends),
        Cell::words(&number(summary.min)),
        cell(summary.runs >= FEWEST_FOR_P90, number(summary.p90)),
        cell(summary.runs >= FEWEST_FOR_P99, number(summary.p99)),
        Cell::words(&number(summary.max)),
    ]
}

/// Returns notes on how a metric differs from the first one of the table.
fn notes(metric: Metric, summary: &Summary, first: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    if summary.runs < first.runs {
        notes.push(format!(
            "known for {} of {}",
            format_count(summary.runs as f64),
            counted(first.runs as u64, "run", "runs")
        ));
        if metric == Metric::Undisturbed {
            let why =
                "in which a single thread did the work and its waits could be measured exactly";
            notes.push(why.to_owned());
        }
    }
    let (level, usual) = (summary.median.level, first.median.level);
    if level > 0.0 && format_level(level) != format_level(usual) {
        notes.push(format!("its interval has {}", format_level(level)));
    }
    notes
}

/// Returns faults, switches, reads and writes: medians, one line each.
pub(crate) fn counts(subject: &Subject) -> impl Iterator<Item = Fact> {
    let both = |label, pair: [Metric; 2], say: &dyn Fn(&Summary, &Summary) -> String| {
        let [first, second] = pair.map(|metric| subject.summary(metric));
        Some((label, Tone::Plain, say(first?, second?)))
    };
    let from_storage = storage(subject, |io| io.device_read_bytes, "from storage");
    let to_storage = storage(subject, |io| io.device_written_bytes, "to storage");
    let facts = [
        both(
            "page faults",
            [Metric::MinorFaults, Metric::MajorFaults],
            &|minor, major| format!("{} minor, {} major", usual(minor), usual(major)),
        ),
        both(
            "switches",
            [Metric::VoluntarySwitches, Metric::InvoluntarySwitches],
            &|of_itself, not| format!("{} voluntary, {} involuntary", usual(of_itself), usual(not)),
        ),
        both(
            "read",
            [Metric::ReadBytes, Metric::ReadCalls],
            &|bytes, calls| traffic(bytes, calls, &from_storage),
        ),
        both(
            "written",
            [Metric::WrittenBytes, Metric::WriteCalls],
            &|bytes, calls| traffic(bytes, calls, &to_storage),
        ),
    ];
    facts.into_iter().flatten()
}

/// Formats a median count, with the maximum if some run was far from it.
fn usual(summary: &Summary) -> String {
    let median = summary.median.value;
    let text = format_count(median);
    if summary.max >= 2.0 * median + 10.0 {
        return format!("{text} (up{JOIN}to{JOIN}{})", format_count(summary.max));
    }
    text
}

/// Formats `12.3 MiB in 204 calls, 61.7 KiB each`.
fn traffic(bytes: &Summary, calls: &Summary, storage: &str) -> String {
    let (bytes, calls) = (bytes.median.value, calls.median.value);
    if calls == 0.0 {
        return format!("nothing{storage}");
    }
    let amount = join(&format_bytes(bytes));
    let noun = if calls == 1.0 { "call" } else { "calls" };
    let calls_text = format!("{}{JOIN}{noun}", format_count(calls));
    if calls == 1.0 || bytes == 0.0 {
        return format!("{amount} in {calls_text}{storage}");
    }
    let each = join(&format_bytes(bytes / calls));
    format!("{amount} in {calls_text}, {each}{JOIN}each{storage}")
}

/// Describes the traffic of the storage device, if there was any.
fn storage(subject: &Subject, of: impl Fn(&fathom_model::IoCounts) -> u64, words: &str) -> String {
    let values = subject
        .runs
        .iter()
        .filter_map(|run| run.io.as_ref())
        .map(|io| of(io) as f64)
        .collect();
    let values = crate::distribution::sorted(values);
    if values.is_empty() {
        return String::new();
    }
    let median = crate::distribution::quantile(&values, 0.5);
    if median <= 0.0 {
        return String::new();
    }
    format!("; {} {words}", join(&format_bytes(median)))
}

fn join(text: &str) -> String {
    text.replace(' ', &JOIN.to_string())
}
