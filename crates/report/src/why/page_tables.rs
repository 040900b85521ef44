//! The tables of the page.

use std::collections::BTreeSet;

use fathom_model::{Explanation, TimeCategory};

use super::lanes::Lane;
use super::page_data::Limits;
use super::quote::{Quote, share_text};
use super::words;
use super::{code_name, own_code, whereabouts};
use crate::page::{Cell, Kind, Table, section};
use crate::text::bounded;
use crate::{format_bytes, format_count};

/// Parts below this share of a thread's life are not listed.
const SMALL: f64 = 0.01;

/// All tables, each below its heading.
pub(super) fn all(explanation: &Explanation, lanes: &[Lane], limits: &Limits) -> String {
    let quote = Quote::of(explanation);
    [
        section("Where in the code", &places(explanation, quote, limits)),
        section("Read and written", &io(explanation, quote, limits)),
        section("System calls", &calls(explanation, quote, limits)),
        section(
            "The program\u{2019}s own code",
            &functions(explanation, limits),
        ),
        section(
            "Processes and threads",
            &threads(explanation, lanes, limits),
        ),
    ]
    .concat()
}

fn count(value: u64) -> Cell {
    Cell::number(&format_count(value as f64), value as f64)
}

fn time(quote: Quote, ns: Option<u64>) -> Cell {
    match ns {
        Some(ns) => Cell::number(&quote.show(ns), ns as f64),
        None => Cell::none("this tier measures no such time"),
    }
}

/// Calls, bytes, bytes a call, time, time blocked.
fn shared(quote: Quote, calls: u64, bytes: u64, times: [Option<u64>; 2]) -> [Cell; 5] {
    let each = bytes as f64 / calls.max(1) as f64;
    [
        count(calls),
        Cell::number(&format_bytes(bytes as f64), bytes as f64),
        Cell::number(&format_bytes(each), each),
        time(quote, times[0]),
        time(quote, times[1]),
    ]
}

fn with_shared(table: Table) -> Table {
    let heads = ["calls", "bytes", "per call", "time", "blocked"];
    heads
        .into_iter()
        .fold(table, |table, head| table.column(head, Kind::Number))
}

fn places(explanation: &Explanation, quote: Quote, limits: &Limits) -> String {
    let mut table = Table::new("Where the time goes, by object and place in the code")
        .column("what", Kind::Name)
        .column("object", Kind::Name)
        .column("function", Kind::Name)
        .column("called from", Kind::Name)
        .column("share", Kind::Number);
    // Where times are the observer's they are quoted as shares, which stand here already.
    if quote.times {
        table = table.column("time", Kind::Number);
    }
    table = table.column("count", Kind::Number);
    for row in explanation.whereabouts.iter().take(limits.rows) {
        let text =
            |text: Option<String>| Cell::name(&bounded(&text.unwrap_or_default(), limits.text));
        let callers = row.callers.iter().filter_map(code_name::place);
        let callers: Vec<String> = callers.collect();
        let mut cells = vec![
            Cell::name(&bounded(&whereabouts::what(row), limits.text)),
            text(row.object.clone()),
            text(code_name::place(&row.place)),
            text(Some(callers.join(" <- "))),
            Cell::number(&share_text(row.share), row.share),
        ];
        if quote.times {
            cells.push(time(quote, Some(row.ns)));
        }
        cells.push(match row.count {
            Some(calls) => count(calls),
            None => Cell::none("it is not counted"),
        });
        table.row("", cells);
    }
    or_nothing(&table)
}

fn io(explanation: &Explanation, quote: Quote, limits: &Limits) -> String {
    let pids: BTreeSet<u32> = explanation.io.iter().map(|row| row.pid).collect();
    let several = pids.len() > 1;
    let mut table = Table::new("Input and output by descriptor and path")
        .column("descriptor, path", Kind::Name);
    if several {
        table = table.column("process", Kind::Number);
    }
    table = with_shared(table)
        .column("seeks", Kind::Number)
        .column("errors", Kind::Number);
    for row in explanation.io.iter().take(limits.rows) {
        let name = bounded(&row.name, limits.text);
        let mut cells = vec![Cell::name(&match row.fd {
            Some(fd) => format!("{fd}  {name}"),
            None => name,
        })];
        if several {
            cells.push(Cell::number(&row.pid.to_string(), f64::from(row.pid)));
        }
        let bytes = row.read_bytes.saturating_add(row.written_bytes);
        let times = [row.total_ns, row.blocked_ns];
        cells.extend(shared(quote, row.reads + row.writes, bytes, times));
        cells.extend([count(row.seeks), count(row.errors)]);
        table.row("", cells);
    }
    or_nothing(&table)
}

fn calls(explanation: &Explanation, quote: Quote, limits: &Limits) -> String {
    let table = Table::new("System calls").column("call", Kind::Name);
    let mut table = with_shared(table).column("errors", Kind::Number);
    for row in explanation.calls.iter().take(limits.rows) {
        let mut cells = vec![Cell::name(&bounded(&row.name, 60))];
        cells.extend(shared(
            quote,
            row.calls,
            row.bytes,
            [row.total_ns, row.blocked_ns],
        ));
        cells.push(count(row.errors));
        table.row("", cells);
    }
    or_nothing(&table)
}

fn functions(explanation: &Explanation, limits: &Limits) -> String {
    let mut table = Table::new("Functions of the own code")
        .column("function", Kind::Name)
        .column("of it", Kind::Number)
        .column("samples", Kind::Number)
        .column("file", Kind::Name);
    let rows = explanation.own_code.iter().flat_map(|own| &own.functions);
    for row in rows.take(limits.rows) {
        table.row(
            "",
            vec![
                Cell::name(&bounded(&own_code::name(row), limits.text)),
                Cell::number(&share_text(row.share), row.share),
                count(row.samples),
                Cell::name(&bounded(&row.file, limits.text)),
            ],
        );
    }
    or_nothing(&table)
}

fn threads(explanation: &Explanation, lanes: &[Lane], limits: &Limits) -> String {
    let quote = Quote::of_run(explanation);
    let mut table = Table::new("Processes and threads")
        .column("name", Kind::Name)
        .column("process", Kind::Number)
        .column("thread", Kind::Number)
        .column("began", Kind::Number)
        .column("lasted", Kind::Number)
        .column("spent on", Kind::Words);
    for lane in lanes.iter().take(limits.rows) {
        let life = lane.to.saturating_sub(lane.from);
        let parts = lane.account.iter();
        let parts = parts.map(|(part, ns)| (part, *ns as f64 / life.max(1) as f64));
        let parts = parts
            .filter(|(_, share)| *share >= SMALL)
            .map(|(part, share)| {
                let name = TimeCategory::ALL
                    .get(*part)
                    .map_or("", |part| words::name(*part));
                format!("{} {name}", share_text(share))
            });
        let parts: Vec<String> = parts.collect();
        let name = [&lane.name, &lane.process]
            .into_iter()
            .find(|name| !name.is_empty());
        table.row(
            "",
            vec![
                Cell::name(name.map_or("thread", |name| name)),
                Cell::number(&lane.pid.to_string(), f64::from(lane.pid)),
                Cell::number(&lane.tid.to_string(), f64::from(lane.tid)),
                time(quote, Some(lane.from)),
                time(quote, Some(life)),
                Cell::words(&parts.join(", ")),
            ],
        );
    }
    or_nothing(&table)
}

fn or_nothing(table: &Table) -> String {
    match table.is_empty() {
        true => String::new(),
        false => table.html(),
    }
}
