//! The verdict on one screen.

use fathom_model::{GateBenchmark, GateRecord, GateRule, GateVerdict};

use super::table::table;
use super::{
    better, exact_levels, floor_source, gate_answer, inside, inside_margin, notable, notes,
    of_metric,
};
use crate::Screen;
use crate::line::{Line, Page, Tone};
use crate::quantity::signed;

/// The maximum number of rows shown without `-v`.
const SHOWN: usize = 8;
/// Formats the answer first, then problems, improvements, and benchmarks that were not judged.
pub fn gate_terminal(record: &GateRecord, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let tone = match record.verdict {
        GateVerdict::Worse => Tone::Bad,
        GateVerdict::NotWorse => Tone::Good,
        GateVerdict::CannotTell => Tone::Notice,
    };
    page.prose(0, tone, &format!("{}.", gate_answer(record)));
    let small = inside_margin(record);
    for row in small.iter().take(SHOWN) {
        page.prose(0, Tone::Notice, &format!("{} {}.", row.name, inside(row)));
    }
    if small.len() > SHOWN {
        let more = format!(
            "{} more are within their margins; -v shows them.",
            small.len() - SHOWN
        );
        page.prose(0, Tone::Quiet, &more);
    }
    let mut how = vec![format!("{} against {}", record.head.name, record.base.name)];
    how.push(match &record.rule {
        GateRule::Stored { .. } => "from stored measurements".to_owned(),
        _ => format!("{:.0} s", record.seconds),
    });
    how.extend(floor_source(record));
    page.prose(0, Tone::Quiet, &format!("{}.", how.join(", ")));
    let rows: Vec<&GateBenchmark> = match screen.verbose {
        true => record.benchmarks.iter().collect(),
        false => notable(record),
    };
    let shown = if screen.verbose { rows.len() } else { SHOWN };
    if !rows.is_empty() {
        page.gap();
    }
    table(rows.iter().copied().take(shown)).terminal(&mut page, 0);
    if rows.len() > shown {
        page.push(Line::new().add(Tone::Quiet, format!("{} more with -v", rows.len() - shown)));
    }
    if !screen.verbose {
        improved(&mut page, record);
    }
    exact(&mut page, record);
    rest(&mut page, record, screen);
    page.finish()
}

fn improved(page: &mut Page, record: &GateRecord) {
    let better = better(record);
    if better.is_empty() {
        return;
    }
    let of = |row: &&GateBenchmark| {
        let by = row
            .ratio
            .as_ref()
            .map_or(String::new(), |ratio| signed(ratio.value));
        format!("{} {}", row.name, of_metric(row, &by))
    };
    let all: Vec<String> = better.iter().take(SHOWN).map(of).collect();
    let more = match better.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(", {more} more"),
    };
    page.gap();
    page.prose(0, Tone::Good, &format!("Better: {}{more}.", all.join(", ")));
}

fn exact(page: &mut Page, record: &GateRecord) {
    if record.exact_changes.is_empty() {
        return;
    }
    page.gap();
    let text = "The same in all base runs, but different at head (no budget is set):";
    page.prose(0, Tone::Plain, text);
    for one in record.exact_changes.iter().take(SHOWN) {
        let text = format!("{} {}: {}", one.benchmark, one.metric, exact_levels(one));
        page.prose(2, Tone::Plain, &text);
    }
    if record.exact_changes.len() > SHOWN {
        let more = record.exact_changes.len() - SHOWN;
        page.push(Line::new().add(Tone::Quiet, format!("  {more} more in the JSON")));
    }
}

fn rest(page: &mut Page, record: &GateRecord, screen: &Screen) {
    let mut notes = notes(record);
    let left_out: Vec<String> = record
        .left_out
        .iter()
        .map(|one| format!("{} is not judged: {}", one.name, one.reason))
        .collect();
    let shown = if screen.verbose { left_out.len() } else { 3 };
    notes.extend(left_out.iter().take(shown).cloned());
    if left_out.len() > shown {
        notes.push(format!(
            "{} more without a verdict: -v",
            left_out.len() - shown
        ));
    }
    if notes.is_empty() {
        return;
    }
    page.gap();
    for note in notes {
        page.prose(0, Tone::Plain, &note);
    }
}
