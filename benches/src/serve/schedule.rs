//! Measures whether requests are sent on time, and whether 10,000 connections are possible.

use std::path::Path;

use fathom_model::LoadResult;

use super::{LITTLE_WITHIN, ROUNDS, Running, load, serve};
use crate::Result;
use crate::options::Options;
use crate::table::{Table, ratio, result};
use crate::tools::Tools;

const MOST_LAG_US: f64 = 30.0;

/// Measures both questions.
///
/// # Errors
/// If a tool fails.
pub(super) fn measure(tools: &Tools, options: &Options, program: &Path) -> Result<Table> {
    let mut table = Table::new(
        "10,000 requests/s at their moments, and 10,000 connections",
        &["", "found", "asked", "result"],
    );
    let running = Running::start(program, "fast", Some("0"))?;
    let target = ["--url", &running.url];
    let rounds = if options.quick { 3 } else { ROUNDS }.to_string();
    let open = [
        "-c", "0", "--rate", "10000", "--rounds", &rounds, "--time", "1s",
    ];
    let record = serve(tools, &[&target[..], &open].concat())?;
    let open = load(&record)?;
    let lag = |value: Option<f64>| value.map_or("n/a".to_string(), |us| format!("{us:.1} µs"));
    let p50 = open.generator_lag_us.p50;
    table.row([
        "lag p50".to_string(),
        lag(p50),
        format!("under {MOST_LAG_US} µs"),
        result(p50.is_some_and(|us| us < MOST_LAG_US)),
    ]);
    table.row(["lag p99".to_string(), lag(open.generator_lag_us.p99)]);
    little(open, &mut table);
    let many = [
        "-c", "10000", "--rate", "0", "--rounds", "1", "--time", "5s",
    ];
    let record = serve(tools, &[&target[..], &many].concat())?;
    let many = load(&record)?;
    table.row([
        "10,000 connections".to_string(),
        format!(
            "{:.0} requests/s, {} errors",
            many.requests_per_second, many.errors
        ),
        "no error".to_string(),
        result(many.errors == 0 && many.dropped == 0 && many.completed > 0),
    ]);
    little(many, &mut table);
    table.note(format!("lag over {rounds} rounds of 1 s"));
    Ok(table)
}

fn little(load: &LoadResult, table: &mut Table) {
    let little = load.little.unwrap_or(f64::NAN);
    table.row([
        "Little's law".to_string(),
        ratio(little),
        format!("within {:.0} % of 1", LITTLE_WITHIN * 100.0),
        result((little - 1.0).abs() <= LITTLE_WITHIN),
    ]);
}
