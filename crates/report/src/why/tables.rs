//! What was read and written, and which calls were made.

use fathom_model::{Explanation, IoRow};

use super::columns::{self, Column};
use super::quote::Quote;
use crate::line::{Line, Page, Tone};
use crate::quantity::counted;
use crate::{format_bytes, format_count};

/// Rows of the table of descriptors: those on which most time went.
const ROWS: usize = 8;
/// So many are shown however little time went there.
const ALWAYS: usize = 3;
/// Others need this share of the run, or they say nothing.
const MATTERS: f64 = 0.005;

/// The rows of `explanation.io` on which something happened, most time first.
fn busiest(explanation: &Explanation) -> Vec<&IoRow> {
    let mut rows: Vec<&IoRow> = explanation
        .io
        .iter()
        .filter(|row| row.reads + row.writes + row.errors + row.seeks > 0 || row.total_ns > Some(0))
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.total_ns, row.reads + row.writes)));
    rows
}

/// The table by descriptor and path.
pub(super) fn io(page: &mut Page, explanation: &Explanation, quote: Quote) {
    let all = busiest(explanation);
    if all.is_empty() {
        return;
    }
    let shown = all
        .iter()
        .take(ROWS)
        .enumerate()
        .take_while(|(index, row)| {
            *index < ALWAYS || quote.share(row.total_ns.unwrap_or(0)) >= MATTERS
        })
        .count();
    let rows = &all[..shown];
    let several = rows.iter().any(|row| row.pid != rows[0].pid);
    page.gap();
    let names: Vec<String> = rows.iter().map(|row| name(row, several)).collect();
    let cells = |of: &dyn Fn(&IoRow) -> String| rows.iter().map(|row| of(row)).collect();
    let number = |value: u64| format_count(value as f64);
    let numbers = vec![
        Column::new("calls", 0, cells(&|row| number(row.reads + row.writes))),
        Column::new(
            "bytes",
            2,
            cells(&|row| bytes(row.read_bytes + row.written_bytes)),
        ),
        Column::new("per call", 3, cells(&per_call)),
        Column::new("time", 1, cells(&|row| optional(row.total_ns, quote))),
        Column::new("blocked", 4, cells(&|row| optional(row.blocked_ns, quote))),
        Column::new("seeks", 6, cells(&|row| number(row.seeks))),
        Column::new("errors", 5, cells(&|row| number(row.errors))),
    ];
    let title = match (several, of_all_calls(explanation)) {
        (true, true) => "process, fd",
        (false, true) => "read and written",
        (true, false) => "process, fd; calls looked at",
        (false, false) => "calls looked at",
    };
    columns::write(page, title, &names, numbers);
    if all.len() > rows.len() {
        let more = counted((all.len() - rows.len()) as u64, "more", "more");
        page.prose(2, Tone::Quiet, &format!("and {more} with less time"));
    }
}

/// Whether the rows are of all calls. The observer that times calls sees all of them; the one that
/// stops at calls, which doesn't measure their times, lets the program go after a while.
fn of_all_calls(explanation: &Explanation) -> bool {
    explanation.io.iter().any(|row| row.total_ns.is_some())
}

/// `1 pipe`, and the process before it where there are several.
fn name(row: &IoRow, several: bool) -> String {
    let fd = row.fd.map(|fd| format!("{fd} ")).unwrap_or_default();
    if several {
        format!("{} {fd}{}", row.pid, row.name)
    } else {
        format!("{fd}{}", row.name)
    }
}

fn bytes(count: u64) -> String {
    if count == 0 {
        "0".to_owned()
    } else {
        format_bytes(count as f64)
    }
}

fn per_call(row: &IoRow) -> String {
    let calls = row.reads + row.writes;
    let moved = row.read_bytes + row.written_bytes;
    if calls == 0 || moved == 0 {
        return "-".to_owned();
    }
    format_bytes(moved as f64 / calls as f64)
}

fn optional(ns: Option<u64>, quote: Quote) -> String {
    ns.map_or_else(|| "-".to_owned(), |ns| quote.show(ns))
}

/// The table of `--syscalls`.
pub(super) fn calls(page: &mut Page, explanation: &Explanation, quote: Quote) {
    page.gap();
    if explanation.calls.is_empty() {
        page.push(Line::new().add(Tone::Quiet, "This tier counts no system calls."));
        return;
    }
    let rows = &explanation.calls;
    let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    let number = |value: u64| format_count(value as f64);
    let each = |total: Option<u64>, calls: u64| match (total, calls) {
        (None, _) | (_, 0) => "-".to_owned(),
        (Some(total), _) => super::quote::time(total as f64 / calls as f64 / 1e9),
    };
    let mut numbers = vec![
        Column::new(
            "calls",
            0,
            rows.iter().map(|row| number(row.calls)).collect(),
        ),
        Column::new(
            "time",
            1,
            rows.iter()
                .map(|row| optional(row.total_ns, quote))
                .collect(),
        ),
        Column::new(
            "blocked",
            3,
            rows.iter()
                .map(|row| optional(row.blocked_ns, quote))
                .collect(),
        ),
        Column::new(
            "bytes",
            4,
            rows.iter().map(|row| bytes(row.bytes)).collect(),
        ),
        Column::new(
            "errors",
            2,
            rows.iter().map(|row| number(row.errors)).collect(),
        ),
    ];
    if quote.times {
        let cells = rows
            .iter()
            .map(|row| each(row.total_ns, row.calls))
            .collect();
        numbers.insert(2, Column::new("per call", 5, cells));
    }
    columns::write(page, "system call", &names, numbers);
}
