//! The tables of the page.

use fathom_model::{LoadResult, ServeRecord, SlowLaunch};

use super::cold::{self, Start};
use super::histogram;
use super::pictures::server_name;
use super::words::{self, ms, us};
use super::{compared, loads, terminal, websocket};
use crate::page::{Cell, Kind, Table};
use crate::quantity::{fixed, format_bytes, format_count, format_share, short_time};
use crate::text::bounded;

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

fn time_ms(value: Option<f64>) -> Cell {
    value.map_or_else(
        || Cell::none(TOO_FEW),
        |value| Cell::number(&ms(value), value / 1e3),
    )
}

fn time_us(value: Option<f64>, why: &str) -> Cell {
    value.map_or_else(
        || Cell::none(why),
        |value| Cell::number(&us(value), value / 1e6),
    )
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

/// Every rung of every start.
pub(super) fn start(record: &ServeRecord, starts: &[Start<'_>]) -> String {
    let columns = [
        ("from launch to", Words),
        ("min", Number),
        ("p50", Number),
        ("p90", Number),
        ("p99", Number),
        ("max", Number),
    ];
    let mut rows = Rows::new(record, "From launch to first answer", &columns);
    for (server, cold, state) in starts {
        for (name, spread) in cold::rungs(cold) {
            let p99 = match spread.p99 {
                None => Cell::none("it takes 100 launches"),
                p99 => time_ms(p99),
            };
            rows.add(
                *server,
                vec![
                    Cell::words(&format!("{name}{state}")),
                    time_ms(Some(spread.min)),
                    time_ms(Some(spread.p50)),
                    time_ms(Some(spread.p90)),
                    p99,
                    time_ms(Some(spread.max)),
                ],
            );
        }
    }
    rows.html()
}

/// Every launch, and why it was slow.
pub(super) fn launches(record: &ServeRecord, starts: &[Start<'_>]) -> String {
    let columns = [
        ("launch", Number),
        ("listening", Number),
        ("first byte", Number),
        ("whole answer", Number),
        ("CPU time", Number),
        ("waited for a CPU", Number),
        ("read", Number),
        ("slow, because it", Words),
    ];
    let mut rows = Rows::new(record, "Every launch", &columns);
    for (server, cold, _) in starts {
        for run in &cold.runs {
            let listening = match run.listening_ms {
                None => Cell::none("it was never seen to listen"),
                listening => time_ms(listening),
            };
            rows.add(
                *server,
                vec![
                    whole(u64::from(run.position) + 1),
                    listening,
                    time_ms(Some(run.first_byte_ms)),
                    time_ms(Some(run.ready_ms)),
                    time_ms(Some(run.cpu_ms)),
                    time_ms(Some(run.run_queue_wait_ms)),
                    Cell::number(&format_bytes(run.read_bytes as f64), run.read_bytes as f64),
                    Cell::words(slow(run.slow)),
                ],
            );
        }
    }
    rows.html()
}

fn slow(why: Option<SlowLaunch>) -> &'static str {
    match why {
        None => "",
        Some(SlowLaunch::WaitedForCpu) => "waited for a CPU",
        Some(SlowLaunch::WaitedForDisk) => "read from the disk",
        Some(SlowLaunch::WorkedLonger) => "worked longer",
        Some(SlowLaunch::Other) => "slept longer",
    }
}

/// A table of loads: the first column is the load, then what `cells` makes of each.
fn of_loads(
    record: &ServeRecord,
    caption: &'static str,
    columns: &[(&str, Kind)],
    cells: impl Fn(&LoadResult) -> Vec<Cell>,
) -> String {
    let columns: Vec<(&str, Kind)> = std::iter::once(("load", Words))
        .chain(columns.iter().copied())
        .collect();
    let mut rows = Rows::new(record, caption, &columns);
    for (server, load) in loads::all(record) {
        let mut all = vec![Cell::words(&words::load(load))];
        all.extend(cells(load));
        rows.add(server, all);
    }
    rows.html()
}

/// What each load step came to, and what must be known of it.
pub(super) fn load(record: &ServeRecord) -> String {
    let columns = [
        ("requests/s", Number),
        ("p50", Number),
        ("p90", Number),
        ("p99", Number),
        ("p99.9", Number),
        ("max", Number),
        ("CPU each", Number),
        ("failed", Number),
        ("to be known", Words),
    ];
    of_loads(record, "Under load", &columns, |load| {
        let interval = load.requests_per_second_interval;
        let interval = format!(
            "{} to {}",
            format_count(interval.low.round()),
            format_count(interval.high.round())
        );
        let response = &load.response_ms;
        let mut known = loads::doubts(load, |text| bounded(text, 80));
        if load.verdicts.iter().any(|verdict| verdict == "neighbours") {
            known.insert(0, "neighbours".to_owned());
        }
        vec![
            rate(load.requests_per_second).with_title(&interval),
            time_ms(response.p50),
            time_ms(response.p90),
            time_ms(response.p99),
            time_ms(response.p999),
            time_ms(response.max),
            time_us(load.server_cpu_us_per_request, NOT_OURS),
            whole(load.errors + load.dropped),
            Cell::words(&known.join("; ")),
        ]
    })
}

/// Which requests were to be sent, and which were.
pub(super) fn sent(record: &ServeRecord) -> String {
    let columns = [
        ("scheduled", Number),
        ("completed", Number),
        ("dropped", Number),
        ("service p50", Number),
        ("service p99", Number),
        ("lag p50", Number),
        ("lag p99", Number),
        ("waited", Number),
        ("Little", Number),
    ];
    of_loads(record, "How the requests were sent", &columns, |load| {
        vec![
            whole(load.scheduled),
            whole(load.completed),
            whole(load.dropped),
            time_ms(load.service_ms.p50),
            time_ms(load.service_ms.p99),
            time_us(load.generator_lag_us.p50, TOO_FEW),
            time_us(load.generator_lag_us.p99, TOO_FEW),
            whole(load.waited_for_connection),
            decimal(load.little, 3, "nothing was completed"),
        ]
    })
}

/// What servers and generator spent.
pub(super) fn spent(record: &ServeRecord) -> String {
    let columns = [
        ("CPUs", Number),
        ("memory", Number),
        ("threads", Number),
        ("waits each", Number),
        ("preemptions each", Number),
        ("generator", Number),
        ("its CPU each", Number),
    ];
    of_loads(record, "What both sides spent", &columns, |load| {
        let memory = load.server_peak_memory_bytes.map(|bytes| bytes as f64);
        vec![
            decimal(load.server_cpus_used, 2, NOT_OURS),
            memory.map_or_else(
                || Cell::none(NOT_OURS),
                |bytes| Cell::number(&format_bytes(bytes), bytes),
            ),
            load.server_threads
                .map_or_else(|| Cell::none(NOT_OURS), whole),
            decimal(load.server_voluntary_switches_per_request, 2, NOT_OURS),
            decimal(load.server_involuntary_switches_per_request, 2, NOT_OURS),
            share(load.generator_cpu_share),
            time_us(Some(load.generator_cpu_us_per_request), ""),
        ]
    })
}

/// Every step of every round.
pub(super) fn rounds(record: &ServeRecord) -> String {
    let columns = [
        ("load", Words),
        ("round", Number),
        ("requests/s", Number),
        ("p50", Number),
        ("p99", Number),
        ("CPU each", Number),
        ("generator", Number),
        ("neighbours", Number),
        ("failed", Number),
    ];
    let mut rows = Rows::new(record, "Every round", &columns);
    for (server, load) in loads::all(record) {
        for round in &load.rounds {
            rows.add(
                server,
                vec![
                    Cell::words(&words::load(load)),
                    whole(u64::from(round.round) + 1),
                    rate(round.requests_per_second),
                    time_ms(round.p50_ms),
                    time_ms(round.p99_ms),
                    time_us(round.server_cpu_us_per_request, NOT_OURS),
                    share(round.generator_cpu_share),
                    share(round.neighbours_share),
                    whole(round.errors),
                ],
            );
        }
    }
    rows.html()
}

/// Every second of every step.
pub(super) fn seconds(record: &ServeRecord) -> String {
    let columns = [
        ("load", Words),
        ("round", Number),
        ("second", Number),
        ("good answers", Number),
        ("failed", Number),
        ("p50", Number),
        ("p99", Number),
        ("slowest", Number),
    ];
    let mut rows = Rows::new(record, "Every second", &columns);
    let time = |value: Option<f64>| {
        value.map_or_else(
            || Cell::none(TOO_FEW),
            |value| Cell::number(&short_time(value), value),
        )
    };
    for (server, load) in loads::all(record) {
        for second in &load.seconds {
            let steps = &second.histogram_ns;
            rows.add(
                server,
                vec![
                    Cell::words(&words::load(load)),
                    whole(u64::from(second.round) + 1),
                    whole(u64::from(second.second) + 1),
                    whole(histogram::count(steps)),
                    whole(second.failed),
                    time(histogram::percentile(steps, 0.5)),
                    time(histogram::percentile(steps, 0.99)),
                    time(histogram::largest(steps)),
                ],
            );
        }
    }
    rows.html()
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
        let held = match budget.met {
            true => "<span class=\"good\">holds</span>",
            false => "<span class=\"bad\">is over</span>",
        };
        rows.add(
            budget.server,
            vec![
                Cell::words(&bounded(&budget.limit, 80)),
                Cell::markup(held.to_owned()),
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
