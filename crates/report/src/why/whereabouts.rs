//! Where the time goes: the largest pieces of it, each with its object and its place in the code.

use fathom_model::{Explanation, ThreadRole, TimeCategory, WhereRow};

use super::quote::share_text;
use super::words::{self, Kind};
use super::{code_name, own_code};
use crate::columns;
use crate::format_bytes;
use crate::line::{Line, Page, Tone};
use crate::quantity::counted;
use crate::text::wrap;

/// The maximum number of rows on a screen.
const ROWS: usize = 5;
/// The share of the command's own part of the wall time below which a row is only in the JSON and on the page.
const MATTERS: f64 = 0.05;
/// The share of that part from which on a row is the answer if there is no finding.
const STANDS_OUT: f64 = 0.2;
/// The maximum number of source lines on a screen.
const QUOTED: usize = 2;
/// Width of a share.
const SHARE: usize = 6;
/// The minimum width next to what the time was spent on; if there is less, the rest is written below.
const LEAST_BESIDE: usize = 36;
/// Indentation of text written below.
const INDENT: usize = 4;

/// Returns the rows to show: those that matter and say more than the bar.
pub(super) fn shown(explanation: &Explanation) -> impl Iterator<Item = &WhereRow> {
    let least = MATTERS * words::own_part(&explanation.account);
    let rows = explanation.whereabouts.iter();
    rows.filter(move |row| row.share >= least && says_more(row))
        .take(ROWS)
}

fn says_more(row: &WhereRow) -> bool {
    row.role.is_some() || row.call.is_some() || row.object.is_some() || !row.place.is_unknown()
}

/// Returns what the time was spent on: the call, and what it waits for; else the kind of time.
pub(super) fn what(row: &WhereRow) -> String {
    let kind = words::short(row.kind);
    let what = match &row.call {
        Some(call) if words::kind(row.kind) == Kind::Waiting => format!("{call} ({kind})"),
        Some(call) => call.clone(),
        None => kind.to_owned(),
    };
    match row.role {
        Some(role) => format!("{} ({what})", in_a_role(role)),
        None => what,
    }
}

/// Names the work that a runtime does in addition to the program's own.
pub(super) fn in_a_role(role: ThreadRole) -> &'static str {
    match role {
        ThreadRole::Collector => "garbage collection",
        ThreadRole::Compiler => "compiling at run time",
        ThreadRole::Pool => "worker pool",
        ThreadRole::Idle => "the runtime idling",
        _ => "the runtime's own work",
    }
}

/// Returns the object, function, caller and count of a row, one piece each.
pub(super) fn pieces(row: &WhereRow) -> Vec<String> {
    let mut pieces: Vec<String> = row.object.iter().cloned().collect();
    pieces.extend(code_name::pieces_of_row(row));
    pieces.extend(row.count.map(|count| in_words(row, count)));
    if !row.changed_by.is_empty() {
        pieces.push(format!("changed by {}", row.changed_by.join(", ")));
    }
    pieces
}

fn in_words(row: &WhereRow, count: u64) -> String {
    match (words::kind(row.kind), row.kind) {
        (_, TimeCategory::PageFaults) => counted(count, "fault", "faults"),
        (Kind::Waiting, _) => counted(count, "wait", "waits"),
        _ => counted(count, "call", "calls"),
    }
}

/// Writes the rows below the bar. If no row is own code, also writes the functions with most of it.
pub(super) fn write(page: &mut Page, explanation: &Explanation) {
    let rows: Vec<&WhereRow> = shown(explanation).collect();
    let whats: Vec<String> = rows.iter().map(|row| page.clean(&what(row))).collect();
    let widest = whats.iter().map(|what| columns(what)).max().unwrap_or(0);
    let start = SHARE + 2 + widest + 2;
    let is_beside = page.width() >= start + LEAST_BESIDE;
    let mut quoted = 0;
    for (row, what) in rows.into_iter().zip(whats) {
        let share = share_text(row.share);
        let line = Line::new()
            .add(Tone::Strong, format!("{share:>SHARE$}"))
            .add(Tone::Plain, "  ")
            .add(words::kind(row.kind).tone(), what);
        let pieces: Vec<String> = pieces(row).iter().map(|piece| page.clean(piece)).collect();
        let from = if is_beside { start } else { INDENT };
        let lines = laid_out(&pieces, page.width() - from, 2);
        let mut lines = lines.into_iter();
        match lines.next().filter(|_| is_beside) {
            Some(first) => page.push(line.pad_to(start).add(Tone::Plain, first)),
            None => {
                page.push(line);
                lines = laid_out(&pieces, page.width() - from, 2).into_iter();
            }
        }
        for further in lines {
            page.push(Line::new().pad_to(from).add(Tone::Plain, further));
        }
        let least = STANDS_OUT * words::own_part(&explanation.account);
        let source = code_name::source_line(&row.place, &row.callers);
        if let Some(source) = source.filter(|_| row.share >= least && quoted < QUOTED) {
            quoted += 1;
            let source = page.clean(&source);
            // A line of code isn't wrapped: it begins further left if it is long.
            let from = match columns(&source) <= page.width() - from {
                true => from,
                false => INDENT,
            };
            let source = page.begin(&source, page.width() - from);
            page.push(Line::new().pad_to(from).add(Tone::Quiet, source));
        }
    }
    if !shown(explanation).any(|row| row.kind == TimeCategory::UserCode) {
        own_code::line(page, explanation);
    }
}

/// Lays out pieces, separated by `apart` blanks, in lines of at most `width` columns. A piece that is too
/// long continues on the next line instead of being truncated.
pub(super) fn laid_out(pieces: &[String], width: usize, apart: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces {
        let piece = without_folders(piece, width);
        match lines.last_mut() {
            Some(last) if columns(last) + apart + columns(&piece) <= width => {
                last.push_str(&" ".repeat(apart));
                last.push_str(&piece);
            }
            _ => lines.extend(wrap(&piece, width)),
        }
    }
    lines
}

/// Removes folders in the middle of a path that is wider than a line; its file name stays whole.
fn without_folders(path: &str, width: usize) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    if columns(path) <= width || path.contains(' ') || parts.len() < 4 {
        return path.to_owned();
    }
    let shorter = (3..parts.len()).map(|from| {
        let first = parts[..2].join("/");
        format!("{first}/.../{}", parts[from..].join("/"))
    });
    let mut shorter = shorter.filter(|short| columns(short) <= width);
    shorter.next().unwrap_or_else(|| path.to_owned())
}

/// Returns the largest row, if it stands out and says more than its kind of time, and the options that change it:
/// `70 % in parse_line (p.c:7) <- main; no known cause`.
pub(super) fn headline(explanation: &Explanation) -> Option<String> {
    let row = shown(explanation).next()?;
    let least = STANDS_OUT * words::own_part(&explanation.account);
    if let Some((share, words)) = of_runtime(explanation).filter(|(share, _)| *share >= row.share) {
        return (share >= least).then(|| format!("{} in {words}", share_text(share)));
    }
    let words = in_a_sentence(row).filter(|_| row.share >= least)?;
    let share = share_text(row.share);
    Some(format!("{share} in {words}; {}", changed_by(row)))
}

/// Returns the options that change what a row is about: `changed by -Xmx`.
fn changed_by(row: &WhereRow) -> String {
    match row.changed_by.is_empty() {
        true => "no known cause".to_owned(),
        false => format!("changed by {}", row.changed_by.join(", ")),
    }
}

/// Returns the share and the place of the row with most of the program's own code.
pub(super) fn own_code(explanation: &Explanation) -> Option<(f64, String)> {
    let is_own = |row: &&WhereRow| row.kind == TimeCategory::UserCode && row.role.is_none();
    let row = shown(explanation).find(is_own)?;
    Some((row.share, in_a_sentence(row)?))
}

/// Returns what a row is about and its place: `read on /data/in, load (p.c:12) <- main`.
fn in_a_sentence(row: &WhereRow) -> Option<String> {
    let place = code_name::pieces_of_row(row).join(" ");
    let call = row.call.as_deref();
    let what = match (call, row.object.as_deref()) {
        (_, Some(object)) if row.role.is_some() => format!("{}, {object}", what(row)),
        _ if row.role.is_some() => what(row),
        (None, None) if place.is_empty() => return None,
        (None, None) if row.kind == TimeCategory::UserCode => String::new(),
        (None, None) => words::short(row.kind).to_owned(),
        (None, Some(object)) if row.kind == TimeCategory::UserCode => object.to_owned(),
        (None, Some(object)) if row.kind == TimeCategory::PageFaults => {
            format!("{} on {object}", words::short(row.kind))
        }
        (None, Some(object)) => format!("{} of {object}", words::short(row.kind)),
        (Some(_), None) => what(row),
        (Some(_), Some(object)) => format!("{} on {object}", what(row)),
    };
    let parts = [what, place].into_iter().filter(|part| !part.is_empty());
    Some(parts.collect::<Vec<_>>().join(", "))
}

/// Returns the runtime's largest additional work, summed over all of its rows, and the option that changes
/// it: `garbage collection of a process of 58.3 MiB; changed by -Xmx`.
fn of_runtime(explanation: &Explanation) -> Option<(f64, String)> {
    let rows = |role| {
        let rows = explanation.whereabouts.iter();
        rows.filter(move |row| row.role == Some(role))
    };
    let share = |role| rows(role).map(|row| row.share).sum::<f64>();
    let roles = [ThreadRole::Collector, ThreadRole::Compiler];
    let most = roles
        .into_iter()
        .max_by(|a, b| share(*a).total_cmp(&share(*b)))?;
    let first = rows(most).next()?;
    let memory = explanation.timed.peak_memory.value;
    let of = match most == ThreadRole::Collector && memory > 0.0 {
        true => format!(" of a process of {}", format_bytes(memory)),
        false => String::new(),
    };
    let what = format!("{}{of}; {}", in_a_role(most), changed_by(first));
    Some((share(most), what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_go_on_in_the_next_line_and_none_is_cut() {
        let pieces = ["/data/in", "fgetc", "<- load (p.c:12)", "200,000 calls"].map(str::to_owned);
        assert_eq!(
            laid_out(&pieces, 80, 2),
            ["/data/in  fgetc  <- load (p.c:12)  200,000 calls"]
        );
        let wanted = ["/data/in  fgetc", "<- load (p.c:12)", "200,000 calls"];
        assert_eq!(laid_out(&pieces, 20, 2), wanted);
    }

    #[test]
    fn a_long_path_loses_folders_and_keeps_its_file() {
        let path = "/home/me/projects/tool/target/release/deps/liblong.so";
        assert_eq!(without_folders(path, 80), path);
        assert_eq!(
            without_folders(path, 34),
            "/home/.../release/deps/liblong.so"
        );
        assert_eq!(without_folders("/a_long_name", 4), "/a_long_name");
    }
}
