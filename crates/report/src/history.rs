//! Stored measurements: series over time, comparisons, and the store itself.

mod compare;
mod csv;
mod list;
mod plot;
mod series;
mod store;

pub(crate) use compare::answer as compare_answer;
pub use compare::{compare_terminal, failed_requests};
pub use csv::history_csv;
use fathom_model::{HistoryEnvironment, HistorySeries};
pub(crate) use list::NOTHING_SAVED;
pub use list::{SHOWN as HISTORY_SHOWN, history_list};
pub use series::history_series;
pub use store::store_terminal;

use fathom_model::{listed, pairs, with_parameters};

use crate::line::{Page, Tone};

/// A parameter and its value.
type Parameter = (String, String);

/// Returns the parameters that have the same values in all rows of a table.
pub(crate) fn shared<'r>(rows: impl IntoIterator<Item = &'r Vec<Parameter>>) -> Vec<Parameter> {
    let mut rows = rows.into_iter();
    let (Some(first), Some(second)) = (rows.next(), rows.next()) else {
        return Vec::new();
    };
    let mut all = first.clone();
    all.retain(|one| second.contains(one));
    for row in rows {
        all.retain(|one| row.contains(one));
    }
    all
}

/// Returns a benchmark with its parameters, without those shared by the whole table.
pub(crate) fn named_in(benchmark: &str, parameters: &[Parameter], shared: &[Parameter]) -> String {
    let own = parameters.iter().filter(|one| !shared.contains(one));
    with_parameters(benchmark, own.map(|(name, value)| (name, value)))
}

/// Writes the shared parameters below a table.
fn say_shared(page: &mut Page, shared: &[Parameter]) {
    if !shared.is_empty() {
        let text = format!("all: {}", pairs(listed(shared), ", "));
        page.prose(0, Tone::Quiet, &text);
    }
}

/// Returns the ratio of the last point to the previous one. `None` if there is no previous point, or if the
/// environment changed between them.
fn last_change(series: &HistorySeries) -> Option<f64> {
    let [.., before, last] = series.points.as_slice() else {
        return None;
    };
    let same = before.environment == last.environment && before.value != 0.0;
    same.then(|| last.value / before.value)
}

/// Returns the tone of a change, depending on whether it is an improvement.
fn tone(series_direction: Option<&str>, ratio: f64) -> Tone {
    match series_direction {
        _ if (ratio - 1.0).abs() < 0.01 => Tone::Plain,
        Some("lower_is_better") if ratio < 1.0 => Tone::Good,
        Some("lower_is_better") => Tone::Bad,
        Some("higher_is_better") if ratio > 1.0 => Tone::Good,
        Some("higher_is_better") => Tone::Bad,
        _ => Tone::Plain,
    }
}

/// Returns an environment in one line: kernel, processor, CPUs, memory.
pub(crate) fn in_words(facts: &HistoryEnvironment) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(facts.cpu_model.clone().or(facts.architecture.clone()));
    parts.extend(facts.cpus.map(|cpus| match cpus {
        1 => "1 CPU".to_owned(),
        n => format!("{n} CPUs"),
    }));
    let memory = facts.memory_bytes.filter(|bytes| *bytes > 0);
    parts.extend(memory.map(|bytes| format!("{} GiB", bytes >> 30)));
    parts.extend(facts.kernel.clone());
    parts.extend(
        facts
            .governor
            .as_ref()
            .map(|name| format!("governor {name}")),
    );
    if facts.virtual_machine == Some(true) {
        parts.push("virtual".to_owned());
    }
    match parts.is_empty() {
        true => "an unknown machine".to_owned(),
        false => parts.join(", "),
    }
}

/// Abbreviates a revision, followed by `+` if tracked files differed.
fn short_revision(revision: Option<&str>, dirty: bool) -> String {
    let Some(revision) = revision else {
        return "-".to_owned();
    };
    let begin: String = revision.chars().take(9).collect();
    match dirty {
        true => format!("{begin}+"),
        false => begin,
    }
}

/// Returns `2026-11-25 20:00` for a time in RFC 3339 format.
pub(crate) fn minutes(time: &str) -> String {
    time.chars().take(16).collect::<String>().replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rows_share_keeps_its_brackets() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut page = Page::new(&crate::Screen::default());
        say_shared(&mut page, &[pair("a [b", "1"), pair("set", "[1, 2]")]);
        assert_eq!(page.finish(), "all: a [b=1, set=[1, 2]\n");
    }
}
