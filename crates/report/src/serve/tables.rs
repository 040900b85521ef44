//! Tables of the report.

use fathom_model::{LoadResult, ServeRecord, SlowLaunch};

use super::cold::{self, Start};
use super::pictures::server_name;
use super::{histogram, loads, ramp, websocket, words};
use crate::document::Kind::{Name, Number, Words};
use crate::document::Place::{self, Everywhere, Terminal};
use crate::document::{Cell, Form, Table};
use crate::quantity::{fixed, format_bytes, format_count, format_share, short_time};
use crate::text::bounded;

/// Reasons for a missing figure.
const TOO_FEW: &str = "too few values: ten must lie beyond a percentile";
const NOT_OURS: &str = "Fathom did not start the server's processes";

/// Creates a table. Its rows have a server and a text in the column `head`. `figures` are the columns after
/// it: the head, where the column is shown, and the order in which a narrow terminal drops it.
fn begin(
    record: &ServeRecord,
    caption: &'static str,
    head: &str,
    figures: &[(&str, Place, u8)],
) -> Table {
    let mut table = Table::new(caption).placed("", Name, Terminal(0));
    if record.servers.len() > 1 {
        table = table.placed("server", Name, Place::Page);
    }
    let table = table.placed(head, Words, Place::Page);
    figures.iter().fold(table, |table, (head, place, order)| {
        table.placed(head, Number, *place).expendable(*order)
    })
}

/// Returns the first cells of a row.
fn first(record: &ServeRecord, server: usize, what: &str) -> Vec<Cell> {
    let number = words::number(record, server);
    let mut cells = vec![Cell::name(&format!("{number}{what}"))];
    if record.servers.len() > 1 {
        cells.push(Cell::name(&server_name(record, server)));
    }
    // A number is sorted as a number.
    cells.push(match what.parse() {
        Ok(value) => Cell::number(what, value),
        Err(_) => Cell::words(what),
    });
    cells
}

/// Formats a number, or why it is unknown.
fn known(value: Option<f64>, write: impl FnOnce(f64) -> String, why: &str) -> Cell {
    match value {
        Some(value) => Cell::number(&write(value), value),
        None => Cell::none(why),
    }
}

fn time(seconds: Option<f64>, why: &str) -> Cell {
    known(seconds, short_time, why)
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
    known(value, |value| fixed(value, decimals), why)
}

/// Builds a table with every step of every start. On a screen with several servers, it has only the last step
/// of each start.
pub(super) fn start(record: &ServeRecord, starts: &[Start<'_>], form: Form) -> Table {
    let columns = [
        ("min", Everywhere, 1),
        ("p50", Everywhere, 0),
        ("p90", Everywhere, 0),
        ("p95", Everywhere, 2),
        ("p99", Everywhere, 0),
        ("max", Everywhere, 0),
    ];
    let caption = "From launch to first answer";
    let mut table = begin(record, caption, "from launch to", &columns);
    for (server, cold, state) in starts {
        let rungs = cold::rungs(cold);
        let shown = match form == Form::Brief && record.servers.len() > 1 {
            true => &rungs[rungs.len() - 2..],
            false => &rungs[..],
        };
        for (name, spread) in shown {
            let mut cells = first(record, *server, &format!("{name}{state}"));
            let [p95, p99] = [spread.p95, spread.p99].map(|ms| ms.map(|ms| ms / 1e3));
            cells.extend([
                time_ms(Some(spread.min)),
                time_ms(Some(spread.p50)),
                time_ms(Some(spread.p90)),
                time(p95, "it takes 20 launches"),
                time(p99, "it takes 100 launches"),
                time_ms(Some(spread.max)),
            ]);
            table.row("", cells);
        }
    }
    table
}

/// Builds a table with every launch, and why it was slow.
pub(super) fn launches(record: &ServeRecord, starts: &[Start<'_>]) -> Table {
    let columns = [
        ("listening", Place::Page, 0),
        ("first byte", Place::Page, 0),
        ("whole answer", Place::Page, 0),
        ("CPU time", Place::Page, 0),
        ("waited for a CPU", Place::Page, 0),
        ("read", Place::Page, 0),
    ];
    let table = begin(record, "Every launch", "launch", &columns);
    let mut table = table.placed("slow, because it", Words, Place::Page);
    for (server, cold, _) in starts {
        for run in &cold.runs {
            let number = (u64::from(run.position) + 1).to_string();
            let mut cells = first(record, *server, &number);
            let listening = run.listening_ms.map(|ms| ms / 1e3);
            let read = run.read_bytes as f64;
            cells.extend([
                time(listening, "Fathom did not see it start to listen"),
                time_ms(Some(run.first_byte_ms)),
                time_ms(Some(run.ready_ms)),
                time_ms(Some(run.cpu_ms)),
                time_ms(Some(run.run_queue_wait_ms)),
                Cell::number(&format_bytes(read), read),
                Cell::words(match run.slow {
                    None => "",
                    Some(SlowLaunch::WaitedForCpu) => "waited for a CPU",
                    Some(SlowLaunch::WaitedForDisk) => "read from the disk",
                    Some(SlowLaunch::WorkedLonger) => "worked longer",
                    Some(SlowLaunch::Other) => "slept longer",
                }),
            ]);
            table.row("", cells);
        }
    }
    table
}

/// Adds a row for each load to `table`.
fn of_loads(
    record: &ServeRecord,
    mut table: Table,
    cells: impl Fn(&LoadResult) -> Vec<Cell>,
) -> Table {
    for (server, load) in loads::all(record) {
        let mut all = first(record, server, &words::load(load));
        all.extend(cells(load));
        table.row("", all);
    }
    table
}

/// Builds the table of results of each load step, with notes on them.
pub(super) fn load(record: &ServeRecord) -> Table {
    let columns = [
        ("requests/s", Everywhere, 0),
        ("p50", Everywhere, 0),
        ("p90", Everywhere, 4),
        ("p95", Everywhere, 5),
        ("p99", Everywhere, 0),
        ("p99.9", Everywhere, 2),
        ("max", Everywhere, 1),
        ("CPU each", Everywhere, 3),
        ("failed", Place::Page, 0),
    ];
    let table = begin(record, "Under load", "load", &columns);
    let table = table.placed("to be known", Words, Place::Page);
    of_loads(record, table, |load| {
        let interval = load.requests_per_second_interval;
        let interval = format!(
            "{} to {}",
            format_count(interval.low.round()),
            format_count(interval.high.round())
        );
        let response = &load.response_ms;
        let mut known = loads::doubts(load);
        if load.verdicts.contains(&fathom_model::Doubt::Neighbours) {
            known.insert(0, "neighbours".to_owned());
        }
        vec![
            rate(load.requests_per_second).with_title(&interval),
            time_ms(response.p50),
            time_ms(response.p90),
            time_ms(response.p95),
            time_ms(response.p99),
            time_ms(response.p999),
            time_ms(response.max),
            time_us(load.server_cpu_us_per_request, NOT_OURS),
            whole(load.errors + load.dropped),
            Cell::words(&known.join("; ")),
        ]
    })
}

/// Builds the table of scheduled and sent requests.
pub(super) fn sent(record: &ServeRecord) -> Table {
    let columns = [
        ("scheduled", Everywhere, 0),
        ("completed", Place::Page, 0),
        ("dropped", Everywhere, 0),
        ("service p50", Place::Page, 0),
        ("service p90", Everywhere, 4),
        ("service p95", Place::Page, 0),
        ("service p99", Everywhere, 0),
        ("lag p50", Everywhere, 0),
        ("lag p90", Everywhere, 3),
        ("lag p95", Everywhere, 2),
        ("lag p99", Everywhere, 0),
        ("waited", Place::Page, 0),
        ("Little", Everywhere, 0),
        ("TLS p50", Everywhere, 1),
    ];
    let all = loads::all(record);
    let by_tls = all.iter().any(|(_, load)| load.handshake_ms.is_some());
    let columns = &columns[..columns.len() - usize::from(!by_tls)];
    let table = begin(record, "How the requests were sent", "load", columns);
    of_loads(record, table, |load| {
        let mut cells = vec![
            whole(load.scheduled),
            whole(load.completed),
            whole(load.dropped),
            time_ms(load.service_ms.p50),
            time_ms(load.service_ms.p90),
            time_ms(load.service_ms.p95),
            time_ms(load.service_ms.p99),
            time_us(load.generator_lag_us.p50, TOO_FEW),
            time_us(load.generator_lag_us.p90, TOO_FEW),
            time_us(load.generator_lag_us.p95, TOO_FEW),
            time_us(load.generator_lag_us.p99, TOO_FEW),
            whole(load.waited_for_connection),
            decimal(load.little, 3, "nothing was completed"),
        ];
        if by_tls {
            cells.push(match load.handshake_ms {
                Some(times) => time_ms(times.p50),
                None => Cell::none("not by TLS"),
            });
        }
        cells
    })
}

/// Builds the table of resources spent by servers and generator.
pub(super) fn spent(record: &ServeRecord) -> Table {
    let columns = [
        ("CPUs", Everywhere, 0),
        ("memory", Everywhere, 0),
        ("threads", Everywhere, 0),
        ("waits each", Everywhere, 0),
        ("preemptions each", Place::Page, 0),
        ("generator", Everywhere, 0),
        ("CPU each", Everywhere, 1),
    ];
    let table = begin(record, "Costs of server and generator", "load", &columns);
    of_loads(record, table, |load| {
        let memory = load.server_peak_memory_bytes.map(|bytes| bytes as f64);
        let threads = load.server_threads.map(|threads| threads as f64);
        vec![
            decimal(load.server_cpus_used, 2, NOT_OURS),
            known(memory, format_bytes, NOT_OURS),
            known(threads, format_count, NOT_OURS),
            decimal(load.server_voluntary_switches_per_request, 2, NOT_OURS),
            decimal(load.server_involuntary_switches_per_request, 2, NOT_OURS),
            share(load.generator_cpu_share),
            time_us(Some(load.generator_cpu_us_per_request), ""),
        ]
    })
}

/// Builds the table of every step of every round.
pub(super) fn rounds(record: &ServeRecord) -> Table {
    let heads = [
        "round",
        "requests/s",
        "p50",
        "p90",
        "p95",
        "p99",
        "CPU each",
        "generator",
        "neighbours",
        "failed",
    ];
    let mut table = begin(
        record,
        "Every round",
        "load",
        &heads.map(|head| (head, Place::Page, 0)),
    );
    for (server, load) in loads::all(record) {
        for round in &load.rounds {
            let mut cells = first(record, server, &words::load(load));
            cells.extend([
                whole(u64::from(round.round) + 1),
                rate(round.requests_per_second),
                time_ms(round.p50_ms),
                time_ms(round.p90_ms),
                time_ms(round.p95_ms),
                time_ms(round.p99_ms),
                time_us(round.server_cpu_us_per_request, NOT_OURS),
                share(round.generator_cpu_share),
                share(round.neighbours_share),
                whole(round.errors),
            ]);
            table.row("", cells);
        }
    }
    table
}

/// Builds the table of every second of every step.
pub(super) fn seconds(record: &ServeRecord) -> Table {
    let heads = [
        "round",
        "second",
        "good answers",
        "failed",
        "p50",
        "p90",
        "p95",
        "p99",
        "slowest",
    ];
    let mut table = begin(
        record,
        "Every second",
        "load",
        &heads.map(|head| (head, Place::Page, 0)),
    );
    for (server, load) in loads::all(record) {
        for second in &load.seconds {
            let steps = &second.histogram_ns;
            let mut cells = first(record, server, &words::load(load));
            cells.extend([
                whole(u64::from(second.round) + 1),
                whole(u64::from(second.second) + 1),
                whole(histogram::count(steps)),
                whole(second.failed),
                time(histogram::percentile(steps, 0.5), TOO_FEW),
                time(histogram::percentile(steps, 0.9), TOO_FEW),
                time(histogram::percentile(steps, 0.95), TOO_FEW),
                time(histogram::percentile(steps, 0.99), TOO_FEW),
                time(histogram::largest(steps), TOO_FEW),
            ]);
            table.row("", cells);
        }
    }
    table
}

/// Builds the table of the windows of a ramp.
pub(super) fn ramp(record: &ServeRecord, form: Form) -> Table {
    let columns = [
        ("answered", Everywhere, 1),
        ("p50", Everywhere, 0),
        ("p90", Everywhere, 0),
        ("p95", Everywhere, 4),
        ("p99", Everywhere, 0),
        ("max", Everywhere, 3),
        ("failed", Everywhere, 0),
        ("service p50", Place::Page, 0),
        ("service p90", Place::Page, 0),
        ("service p95", Place::Page, 0),
        ("service p99", Place::Page, 0),
        ("lag", Place::Page, 0),
    ];
    let mut table = begin(record, "Increasing rate", "rate", &columns);
    for (server, ramp) in ramp::all(record) {
        for window in ramp::shown(ramp, form) {
            let (response, service) = (&window.response_ms, &window.service_ms);
            let mut cells = first(record, server, &ramp::range(window));
            cells.extend([
                whole(window.answered),
                time_ms(response.p50),
                time_ms(response.p90),
                time_ms(response.p95),
                time_ms(response.p99),
                time_ms(response.max),
                whole(window.errors + window.dropped),
                time_ms(service.p50),
                time_ms(service.p90),
                time_ms(service.p95),
                time_ms(service.p99),
                time_us(Some(window.generator_lag_us), ""),
            ]);
            table.row("", cells);
        }
    }
    table
}

/// Builds the table of WebSocket messages.
pub(super) fn messages(record: &ServeRecord) -> Table {
    let columns = [
        ("round trips/s", Everywhere, 0),
        ("p50", Everywhere, 0),
        ("p90", Everywhere, 3),
        ("p95", Everywhere, 4),
        ("p99", Everywhere, 0),
        ("p99.9", Place::Page, 0),
        ("max", Everywhere, 1),
        ("CPU each", Everywhere, 2),
        ("round trips", Place::Page, 0),
    ];
    let mut table = begin(record, "Messages", "clients", &columns);
    for (server, one) in websocket::all(record) {
        let times = &one.round_trip_ms;
        let mut cells = first(record, server, websocket::client(one));
        cells.extend([
            rate(one.round_trips_per_second),
            time_ms(times.p50),
            time_ms(times.p90),
            time_ms(times.p95),
            time_ms(times.p99),
            time_ms(times.p999),
            time_ms(times.max),
            time_us(one.server_cpu_us_per_round_trip, NOT_OURS),
            whole(one.round_trips),
        ]);
        table.row("", cells);
    }
    table
}

/// Builds the table of the rates that were tried.
pub(super) fn rates(record: &ServeRecord) -> Table {
    let columns = ["rate", "found", "failed"].map(|head| (head, Place::Page, 0));
    let table = begin(record, "Rates tried", "limit", &columns);
    let mut table = table.placed("kept", Words, Place::Page);
    for (server, one) in record.servers.iter().enumerate() {
        if let Some(highest) = &one.highest_rate {
            for tried in &highest.tried {
                let mut cells = first(record, server, &bounded(&highest.limit, 80));
                cells.extend([
                    rate(tried.rate_per_second),
                    time_ms(tried.value_ms),
                    whole(tried.errors),
                    Cell::words(if tried.met { "yes" } else { "no" }),
                ]);
                table.row("", cells);
            }
        }
    }
    table
}
