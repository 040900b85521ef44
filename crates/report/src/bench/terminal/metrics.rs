//! Which metrics are shown, and how.

use fathom_model::{Metric, Summary};

use super::table::Row;
use crate::TimeUnit;
use crate::line::{Page, Tone};
use crate::quantity::{ByteUnit, format_bytes, format_count, supported_decimals};
use crate::session::Subject;
use crate::text::JOIN;

/// The kernel divides CPU time into user and kernel by sampling at its tick (1 to 10 ms). A split
/// of less than about ten ticks is noise, so it isn't shown.
const SPLIT_FROM_SECONDS: f64 = 0.1;

/// The rows of the table: times and memory.
pub(super) fn rows(subject: &Subject, unit: Option<TimeUnit>) -> Vec<Row> {
    let split = subject
        .median(Metric::Cpu)
        .is_some_and(|cpu| cpu >= SPLIT_FROM_SECONDS);
    let mut rows = Vec::new();
    for (metric, label) in [
        (Metric::Wall, "wall"),
        (Metric::Undisturbed, "wait-free"),
        (Metric::RunQueueWait, "CPU wait"),
        (Metric::Cpu, "CPU"),
        (Metric::User, "  user"),
        (Metric::System, "  kernel"),
        (Metric::PeakMemory, "peak memory"),
    ] {
        if matches!(metric, Metric::User | Metric::System) && !split {
            continue;
        }
        let Some(summary) = subject.summary(metric) else {
            continue;
        };
        rows.push(row(label, metric, summary, unit));
    }
    rows
}

fn row(label: &'static str, metric: Metric, summary: &Summary, unit: Option<TimeUnit>) -> Row {
    // A metric that is mostly 0 takes its unit from the values that aren't.
    let scale = [summary.median.value, summary.p90, summary.max]
        .into_iter()
        .find(|value| *value > 0.0);
    let scale = scale.unwrap_or(0.0);
    let (symbol, size) = if metric == Metric::PeakMemory {
        let unit = ByteUnit::fitting(scale);
        (unit.symbol, unit.bytes)
    } else {
        let unit = unit.unwrap_or_else(|| TimeUnit::fitting(scale));
        (unit.symbol(), unit.seconds())
    };
    let decimals = if symbol == "B" {
        0
    } else {
        supported_decimals(&summary.median, size)
    };
    Row::new(label, metric, summary, symbol, size, decimals)
}

/// Faults, switches, reading and writing: medians, one line each.
pub(super) fn counts(page: &mut Page, subject: &Subject) {
    let pair =
        |first: Metric, second: Metric| Some((subject.summary(first)?, subject.summary(second)?));
    if let Some((minor, major)) = pair(Metric::MinorFaults, Metric::MajorFaults) {
        page.field(
            "page faults",
            Tone::Plain,
            &format!("{} minor, {} major", usual(minor), usual(major)),
        );
    }
    if let Some((voluntary, involuntary)) =
        pair(Metric::VoluntarySwitches, Metric::InvoluntarySwitches)
    {
        let text = format!(
            "{} voluntary, {} involuntary",
            usual(voluntary),
            usual(involuntary)
        );
        page.field("switches", Tone::Plain, &text);
    }
    let from_storage = storage(subject, |io| io.device_read_bytes, "from storage");
    let to_storage = storage(subject, |io| io.device_written_bytes, "to storage");
    if let Some((bytes, calls)) = pair(Metric::ReadBytes, Metric::ReadCalls) {
        page.field("read", Tone::Plain, &traffic(bytes, calls, &from_storage));
    }
    if let Some((bytes, calls)) = pair(Metric::WrittenBytes, Metric::WriteCalls) {
        page.field("written", Tone::Plain, &traffic(bytes, calls, &to_storage));
    }
}

/// A median count, with the largest where some run was far from it.
fn usual(summary: &Summary) -> String {
    let median = summary.median.value;
    let text = format_count(median);
    if summary.max >= 2.0 * median + 10.0 {
        return format!("{text} (up{JOIN}to{JOIN}{})", format_count(summary.max));
    }
    text
}

/// `12.3 MiB in 204 calls, 61.7 KiB each`.
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

/// What went through the storage device, where that was not nothing.
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
