//! The tables, in the same form for a terminal, a page and Markdown.

use std::collections::{BTreeMap, BTreeSet};

use fathom_model::{AccountPart, Explanation, IoRow, TimeAccount, TimeCategory};

use super::processes::{ordered, program};
use super::quote::{Quote, share_text};
use super::{WhyOptions, account, bar, code_name, own_code, summary, whereabouts, words};
use crate::document::{Cell, Document, Form, Kind, Place, Table};
use crate::line::Tone;
use crate::quantity::counted;
use crate::{format_bytes, format_count};

/// How much detail to show, and where.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) form: Form,
    /// The maximum number of rows of a table that is shown in full.
    pub(super) rows: usize,
    /// The requested options.
    pub(super) asked: WhyOptions,
}

/// The maximum number of descriptors on a terminal. Those with the most time are shown.
const ROWS: usize = 8;
/// The number of descriptors that are always shown, regardless of their time.
const ALWAYS: usize = 3;
/// The share of the run that any other descriptor must have to be shown.
const MATTERS: f64 = 0.005;
/// The maximum number of parts of a lifetime that are named on a terminal, and the minimum share of a named
/// part on a terminal and on a page.
const PARTS: usize = 2;
const LEAST_PART: f64 = 0.1;
const LEAST_ON_PAGE: f64 = 0.01;

fn count(value: u64) -> Cell {
    Cell::number(&format_count(value as f64), value as f64)
}

fn bytes(value: f64) -> Cell {
    match value > 0.0 {
        true => Cell::number(&format_bytes(value), value),
        false => Cell::number("0", 0.0),
    }
}

fn time(quote: Quote, ns: Option<u64>) -> Cell {
    match ns {
        Some(ns) => Cell::number(&quote.show(ns), ns as f64),
        None => Cell::absent("this tier does not measure such times"),
    }
}

/// Formats the average per call.
fn each(calls: u64, sum: Option<u64>, cell: impl Fn(f64) -> Cell) -> Cell {
    match sum.filter(|sum| calls > 0 && *sum > 0) {
        Some(sum) => cell(sum as f64 / calls as f64),
        None => Cell::absent("there was nothing"),
    }
}

/// Builds a table of each part of the account with its time and share.
pub(super) fn account(explanation: &Explanation, extent: Extent) -> Table {
    let quote = Quote::of(explanation);
    let whole = summary::whole(explanation);
    let head = match quote.times {
        true => format!("Where the {whole} goes"),
        false => format!("Where the {whole} goes, predicted"),
    };
    let mut table = Table::new("Where the time goes").column(&head, Kind::Name);
    if quote.times {
        table = table.column("time", Kind::Number);
    }
    table = table.column("share", Kind::Number);
    let entries = account::entries(&explanation.account);
    for (index, entry) in entries.iter().enumerate() {
        let mut name = Cell::name(&entry.name);
        if extent.form != Form::Markdown {
            let glyph = bar::glyph(extent.asked.screen.unicode, index, entry);
            name = Cell::drawn(format!("{glyph}{glyph}  {}", entry.name)).toned(bar::tone(entry));
            if entry.spent == Some(TimeCategory::UserCode) {
                name = name.with_small(own_code::in_a_sentence(explanation).into_iter().collect());
            }
        }
        let mut cells = vec![name];
        if quote.times {
            cells.push(time(quote, Some(entry.ns)));
        }
        cells.push(Cell::number(&share_text(entry.share), entry.share).toned(Tone::Strong));
        table.row("", cells);
    }
    table
}

/// Builds a table of the largest pieces of the time, by object and place in the code; a page has all pieces.
pub(super) fn places(explanation: &Explanation, extent: Extent) -> Table {
    let quote = Quote::of(explanation);
    let mut table = Table::new("Where the time goes, by object and place in the code");
    for head in ["what", "object", "function", "called from"] {
        table = table.column(head, Kind::Name);
    }
    table = table.column("share", Kind::Number);
    // If the observer affects times, they are quoted as shares, which are already in the table.
    if quote.times {
        table = table.column("time", Kind::Number);
    }
    table = table.column("count", Kind::Number);
    let rows: Vec<_> = match extent.form {
        Form::Markdown => whereabouts::shown(explanation).collect(),
        _ => explanation.whereabouts.iter().take(extent.rows).collect(),
    };
    for row in rows {
        let callers = row.callers.iter().filter_map(code_name::place);
        let callers = callers.collect::<Vec<String>>().join(" <- ");
        let function = code_name::place_of_row(row);
        let mut cells = vec![
            Cell::name(&whereabouts::what(row)),
            Cell::name(row.object.as_deref().unwrap_or_default()),
            Cell::name(&function.unwrap_or_default()),
            Cell::name(&callers),
            Cell::number(&share_text(row.share), row.share),
        ];
        if quote.times {
            cells.push(time(quote, Some(row.ns)));
        }
        cells.push(row.count.map_or(Cell::none("it is not counted"), count));
        table.row("", cells);
    }
    match extent.form {
        Form::Markdown => table.without_empty(),
        _ => table,
    }
}

/// Data transferred by calls of one kind, or on one descriptor.
struct Moved {
    name: String,
    pid: u32,
    calls: u64,
    bytes: u64,
    total_ns: Option<u64>,
    blocked_ns: Option<u64>,
    seeks: Option<u64>,
    errors: u64,
}

/// Builds a table with a row for each of `rows`. `several` says that they belong to several processes.
fn moved(caption: &'static str, head: &str, quote: Quote, several: bool, rows: &[Moved]) -> Table {
    let mut table = Table::new(caption).column(head, Kind::Name);
    // The head, the order in which a narrow terminal drops it, and whether it is shown.
    let columns = [
        ("process", 0, several),
        ("calls", 0, true),
        ("bytes", 2, true),
        ("bytes\nper call", 6, true),
        ("time", 1, true),
        ("time\nper call", 5, quote.times),
        ("blocked", 4, true),
        ("seeks", 7, true),
        ("errors", 3, true),
    ];
    for (head, order, _) in columns.iter().filter(|(.., is_shown)| *is_shown) {
        table = table.column(head, Kind::Number).expendable(*order);
    }
    for row in rows {
        let cells = [
            Cell::number(&row.pid.to_string(), f64::from(row.pid)),
            count(row.calls),
            bytes(row.bytes as f64),
            each(row.calls, Some(row.bytes), bytes),
            time(quote, row.total_ns),
            each(row.calls, row.total_ns, |ns| {
                Cell::number(&super::quote::time(ns / 1e9), ns)
            }),
            time(quote, row.blocked_ns),
            row.seeks.map_or(Cell::words(""), count),
            count(row.errors),
        ];
        let cells = cells.into_iter().zip(&columns);
        let cells = cells.filter(|(_, (.., is_shown))| *is_shown);
        let name = std::iter::once(Cell::name(&row.name));
        table.row("", name.chain(cells.map(|(cell, _)| cell)).collect());
    }
    table.without_empty()
}

/// Adds a table of reads and writes by descriptor and path, most time first. A terminal only shows those that
/// matter.
pub(super) fn io(out: &mut Document, explanation: &Explanation, extent: Extent) {
    let quote = Quote::of(explanation);
    let mut all: Vec<&IoRow> = explanation.io.iter().collect();
    all.sort_by_key(|row| std::cmp::Reverse((row.total_ns, row.reads + row.writes)));
    let mut shown = extent.rows.min(all.len());
    if !extent.form.has_pictures() {
        all.retain(|row| {
            row.reads + row.writes + row.errors + row.seeks > 0 || row.total_ns > Some(0)
        });
        let matters = |(index, row): &(usize, &&IoRow)| {
            *index < ALWAYS || quote.share(row.total_ns.unwrap_or(0)) >= MATTERS
        };
        let mattering = all.iter().enumerate().take(ROWS).take_while(matters);
        shown = mattering.count();
    }
    // An observer that times calls sees all of them. An observer that stops the program at calls doesn't
    // measure their times, and it detaches from the program after a while.
    let head = match explanation.io.iter().any(|row| row.total_ns.is_some()) {
        true => "descriptor, path",
        false => "descriptor, path; observed calls",
    };
    let rows = all[..shown].iter().map(|row| Moved {
        name: match row.fd {
            Some(fd) => format!("{fd} {}", row.name),
            None => row.name.clone(),
        },
        pid: row.pid,
        calls: row.reads + row.writes,
        bytes: row.read_bytes.saturating_add(row.written_bytes),
        total_ns: row.total_ns,
        blocked_ns: row.blocked_ns,
        seeks: Some(row.seeks),
        errors: row.errors,
    });
    let rows: Vec<Moved> = rows.collect();
    let several = rows.iter().any(|row| row.pid != rows[0].pid);
    let caption = "Input and output by descriptor and path";
    out.table(moved(caption, head, quote, several, &rows));
    if all.len() > shown && !extent.form.has_pictures() {
        let more = counted((all.len() - shown) as u64, "more", "more");
        out.prose(2, Tone::Quiet, format!("and {more} with less time"));
    }
}

/// Builds the table of all system calls.
pub(super) fn calls(explanation: &Explanation, extent: Extent) -> Table {
    let rows = explanation.calls.iter().take(extent.rows).map(|row| Moved {
        name: row.name.clone(),
        pid: 0,
        calls: row.calls,
        bytes: row.bytes,
        total_ns: row.total_ns,
        blocked_ns: row.blocked_ns,
        seeks: None,
        errors: row.errors,
    });
    let rows: Vec<Moved> = rows.collect();
    let quote = Quote::of(explanation);
    moved("System calls", "system call", quote, false, &rows)
}

/// Builds the table of functions in which the program's own code was sampled.
pub(super) fn functions(explanation: &Explanation, extent: Extent) -> Table {
    let samples = explanation.own_code.as_ref().map_or(0, |own| own.samples);
    let head = counted(samples, "sample", "samples");
    let mut table = Table::new("Functions of the program's own code")
        .column(&format!("own code, {head}"), Kind::Name)
        .column("of it", Kind::Number)
        .column("samples", Kind::Number)
        .expendable(2)
        .placed("file", Kind::Name, Place::Page)
        .placed("file", Kind::Number, Place::Terminal(1));
    let rows = explanation.own_code.iter().flat_map(|own| &own.functions);
    for row in rows.take(extent.rows) {
        let file = row
            .function
            .as_ref()
            .map(|_| code_name::file_name(&row.file));
        let cells = vec![
            Cell::name(&own_code::name(row)),
            Cell::number(&share_text(row.share), row.share),
            count(row.samples),
            Cell::name(&row.file),
            Cell::name(file.unwrap_or_default()),
        ];
        table.row("", cells);
    }
    table
}

/// A process or a thread: its name, ids, start, and what its time was spent on.
struct Life<'a> {
    name: &'a str,
    pid: u32,
    tid: Option<u32>,
    from_ns: Option<u64>,
    account: &'a TimeAccount,
}

fn lives<'a>(
    caption: &'static str,
    heads: [&str; 2],
    quote: Quote,
    form: Form,
    lives: impl Iterator<Item = Life<'a>>,
) -> Table {
    let [head, lasted] = heads;
    let mut table = Table::new(caption)
        .placed(head, Kind::Name, Place::Terminal(0))
        .placed("name", Kind::Name, Place::Page);
    for head in ["process", "thread", "began"] {
        table = table.placed(head, Kind::Number, Place::Page);
    }
    let mut table = table
        .column(lasted, Kind::Number)
        .column("spent on", Kind::Words);
    let (most, least) = match form.has_pictures() {
        true => (usize::MAX, LEAST_ON_PAGE),
        false => (PARTS, LEAST_PART),
    };
    for life in lives {
        let entries = account::entries(life.account).into_iter();
        let parts = entries.filter(|entry| entry.share >= least).take(most);
        let parts = parts.filter_map(|entry| {
            let name = entry.spent.map(words::short)?;
            Some(format!("{} {name}", share_text(entry.share)))
        });
        let parts: Vec<String> = parts.collect();
        let tid = life.tid.filter(|tid| *tid != life.pid);
        let ids = tid.map_or(life.pid.to_string(), |tid| format!("{}/{tid}", life.pid));
        let id = |id: u32| Cell::number(&id.to_string(), f64::from(id));
        let cells = vec![
            Cell::name(&format!("{ids} {}", life.name)),
            Cell::name(life.name),
            id(life.pid),
            life.tid.map_or(Cell::none("all of them"), id),
            life.from_ns.map_or(Cell::none("see its threads"), |from| {
                time(quote, Some(from))
            }),
            time(quote, Some(life.account.wall_ns)),
            Cell::words(&parts.join(", ")),
        ];
        table.row("", cells);
    }
    table
}

/// Builds the table of where the time of each process went, over all its threads.
pub(super) fn processes(explanation: &Explanation, extent: Extent) -> Table {
    let mut sums: BTreeMap<u32, TimeAccount> = BTreeMap::new();
    for thread in &explanation.threads {
        let sum = sums.entry(thread.pid).or_default();
        sum.wall_ns += thread.account.wall_ns;
        for part in &thread.account.parts {
            match sum.parts.iter_mut().find(|known| known.spent == part.spent) {
                Some(known) => known.ns += part.ns,
                None => sum.parts.push(AccountPart { ..*part }),
            }
        }
    }
    let rows = ordered(&explanation.processes);
    let known: BTreeSet<u32> = rows.iter().map(|(_, row)| row.pid).collect();
    let listed = rows.iter().map(|(_, row)| (row.pid, program(row)));
    let others = sums.keys().filter(|pid| !known.contains(pid));
    let others = others.map(|pid| (*pid, String::new()));
    let all: Vec<(u32, String)> = listed.chain(others).collect();
    let mut seen = BTreeSet::new();
    let rows = all.iter().filter(|(pid, _)| seen.insert(*pid));
    let rows = rows.filter_map(|(pid, name)| {
        Some(Life {
            name,
            pid: *pid,
            tid: None,
            from_ns: None,
            account: sums.get(pid)?,
        })
    });
    let quote = Quote::of_run(explanation);
    let heads = ["process", "all threads"];
    lives(
        "Processes",
        heads,
        quote,
        extent.form,
        rows.take(extent.rows),
    )
}

/// Builds the table of where the time of each thread went.
pub(super) fn threads(explanation: &Explanation, extent: Extent) -> Table {
    let rows = explanation.threads.iter().take(extent.rows);
    let rows = rows.map(|thread| Life {
        name: &thread.name,
        pid: thread.pid,
        tid: Some(thread.tid),
        from_ns: Some(thread.from_ns),
        account: &thread.account,
    });
    let quote = Quote::of_run(explanation);
    lives("Threads", ["thread", "its life"], quote, extent.form, rows)
}
