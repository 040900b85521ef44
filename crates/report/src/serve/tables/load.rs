//! Tables of what servers did under load.

use fathom_model::{LoadResult, ServeRecord};

use super::Kind::{self, Number, Words};
use super::{NOT_OURS, Rows, TOO_FEW, decimal, rate, share, time, time_ms, time_us, whole};
use crate::page::Cell;
use crate::quantity::{format_bytes, format_count};
use crate::serve::{histogram, loads, words};
use crate::text::bounded;

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
pub(in crate::serve) fn load(record: &ServeRecord) -> String {
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
pub(in crate::serve) fn sent(record: &ServeRecord) -> String {
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
pub(in crate::serve) fn spent(record: &ServeRecord) -> String {
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
pub(in crate::serve) fn rounds(record: &ServeRecord) -> String {
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
pub(in crate::serve) fn seconds(record: &ServeRecord) -> String {
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
                    time(histogram::percentile(steps, 0.5), TOO_FEW),
                    time(histogram::percentile(steps, 0.99), TOO_FEW),
                    time(histogram::largest(steps), TOO_FEW),
                ],
            );
        }
    }
    rows.html()
}
