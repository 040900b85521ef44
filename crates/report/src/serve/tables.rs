//! The tables of the page.

pub(super) mod load;
pub(super) mod start;

use fathom_model::ServeRecord;

use super::pictures::server_name;
use super::{compared, terminal, websocket};
use crate::page::{Cell, Kind, Table};
use crate::quantity::{fixed, format_count, format_share, short_time};
use crate::text::{bounded, words as own};

/// Rows of a table; the JSON has all.
const MOST_ROWS: usize = 1000;
/// Why a figure is not there.
const TOO_FEW: &str = "too few values: ten must lie beyond a percentile";
const NOT_OURS: &str = "the server's processes are not Fathom's";

/// A table whose first column is the server, where there are several.
struct Rows<'r> {
    record: &'r ServeRecord,
    table: Table,
    left_out: usize,
    count: usize,
}

impl<'r> Rows<'r> {
    fn new(record: &'r ServeRecord, caption: &'static str, columns: &[(&str, Kind)]) -> Rows<'r> {
        let mut table = Table::new(caption);
        if record.servers.len() > 1 {
            table = table.column("server", Kind::Name);
        }
        let table = columns
            .iter()
            .fold(table, |table, (head, kind)| table.column(head, *kind));
        Rows {
            record,
            table,
            left_out: 0,
            count: 0,
        }
    }

    fn add(&mut self, server: usize, cells: Vec<Cell>) {
        self.count += 1;
        if self.count > MOST_ROWS {
            self.left_out += 1;
            return;
        }
        let mut all = Vec::new();
        if self.record.servers.len() > 1 {
            all.push(Cell::name(&server_name(self.record, server)));
        }
        all.extend(cells);
        self.table.row("", all);
    }

    fn html(self) -> String {
        if self.table.is_empty() {
            return String::new();
        }
        let more = match self.left_out {
            0 => String::new(),
            more => format!(
                "<p class=\"small soft\">{} more rows: see the record.</p>\n",
                format_count(more as f64)
            ),
        };
        self.table.html() + &more
    }
}

use Kind::{Number, Words};

/// Of seconds, or why they are not known.
fn time(seconds: Option<f64>, why: &str) -> Cell {
    seconds.map_or_else(
        || Cell::none(why),
        |seconds| Cell::number(&short_time(seconds), seconds),
    )
}

fn time_ms(value: Option<f64>) -> Cell {
    time(value.map(|ms| ms / 1e3), TOO_FEW)
}

fn time_us(value: Option<f64>, why: &str) -> Cell {
    time(value.map(|us| us / 1e6), why)
}

fn whole(value: u64) -> Cell {
    Cell::number(&format_count(value as f64), value as f64)
}

fn rate(value: f64) -> Cell {
    Cell::number(&format_count(value.round()), value)
}

fn share(value: f64) -> Cell {
    Cell::number(&format_share(value), value)
}

fn decimal(value: Option<f64>, decimals: usize, why: &str) -> Cell {
    value.map_or_else(
        || Cell::none(why),
        |value| Cell::number(&fixed(value, decimals), value),
    )
}

/// Messages by WebSocket.
pub(super) fn messages(record: &ServeRecord) -> String {
    let columns = [
        ("clients", Words),
        ("round trips/s", Number),
        ("p50", Number),
        ("p90", Number),
        ("p99", Number),
        ("p99.9", Number),
        ("max", Number),
        ("CPU each", Number),
        ("round trips", Number),
    ];
    let mut rows = Rows::new(record, "Messages", &columns);
    for (server, one) in websocket::all(record) {
        let times = &one.round_trip_ms;
        rows.add(
            server,
            vec![
                Cell::words(websocket::client(one)),
                rate(one.round_trips_per_second),
                time_ms(times.p50),
                time_ms(times.p90),
                time_ms(times.p99),
                time_ms(times.p999),
                time_ms(times.max),
                time_us(one.server_cpu_us_per_round_trip, NOT_OURS),
                whole(one.round_trips),
            ],
        );
    }
    rows.html()
}

/// Each server against the first.
pub(super) fn comparisons(record: &ServeRecord) -> String {
    let mut rows = Rows::new(record, "Comparisons", &[("by", Words), ("verdict", Words)]);
    for comparison in &record.comparisons {
        rows.add(
            comparison.subject,
            vec![
                Cell::words(&compared::what(record, comparison)),
                Cell::words(&compared::verdict(comparison)),
            ],
        );
    }
    rows.html()
}

/// What was asked of each server, and what was found.
pub(super) fn budget(record: &ServeRecord) -> String {
    let columns = [("limit", Words), ("held", Words), ("found", Words)];
    let mut rows = Rows::new(record, "Budget", &columns);
    for budget in &record.budget {
        let class = if budget.met { "good" } else { "bad" };
        let held = format!(
            "<span class=\"{class}\">{}</span>",
            own(terminal::held(budget))
        );
        rows.add(
            budget.server,
            vec![
                Cell::words(&bounded(&budget.limit, 80)),
                Cell::markup(held),
                Cell::words(&terminal::found(budget)),
            ],
        );
    }
    rows.html()
}

/// The rates that were tried.
pub(super) fn rates(record: &ServeRecord) -> String {
    let columns = [
        ("limit", Words),
        ("rate", Number),
        ("found", Number),
        ("failed", Number),
        ("kept", Words),
    ];
    let mut rows = Rows::new(record, "Rates that were tried", &columns);
    for (server, one) in record.servers.iter().enumerate() {
        if let Some(highest) = &one.highest_rate {
            for tried in &highest.tried {
                rows.add(
                    server,
                    vec![
                        Cell::words(&bounded(&highest.limit, 80)),
                        rate(tried.rate_per_second),
                        time_ms(tried.value_ms),
                        whole(tried.errors),
                        Cell::words(if tried.met { "yes" } else { "no" }),
                    ],
                );
            }
        }
    }
    rows.html()
}
