//! Measures whether an open loop sees the true length of a stall, and a closed one misses it.

use std::path::Path;

use super::{LITTLE_WITHIN, Running, load, serve};
use crate::Result;
use crate::options::Options;
use crate::table::{Table, ratio, result};
use crate::tools::Tools;

const WITHIN: f64 = 0.03;

/// Measures both loops.
///
/// # Errors
/// If a tool fails.
pub(super) fn measure(tools: &Tools, options: &Options, program: &Path) -> Result<Table> {
    let mut table = Table::new(
        "A server with 1 ms and a standstill of 1 s in every 10 s, 1,000 requests/s",
        &["", "found", "true", "found / true", "asked", "result"],
    );
    let running = Running::start(program, "stall", None)?;
    let target = ["--url", &running.url, "--rounds", "1"];
    let time = if options.quick { "10s" } else { "40s" };
    let open = ["-c", "0", "--rate", "1000", "--time", time];
    let record = serve(tools, &[&target[..], &open].concat())?;
    let open = load(&record)?;
    for (name, found, share) in [
        ("p99", open.response_ms.p99, 0.99),
        ("p99.9", open.response_ms.p999, 0.999),
    ] {
        let found = found.unwrap_or(f64::NAN);
        let truth = truth(share);
        table.row([
            name.to_string(),
            format!("{found:.0} ms"),
            format!("{truth:.0} ms"),
            ratio(found / truth),
            format!("within {:.0} %", WITHIN * 100.0),
            result((found / truth - 1.0).abs() <= WITHIN),
        ]);
    }
    let little = open.little.unwrap_or(f64::NAN);
    table.row([
        "Little's law".to_string(),
        ratio(little),
        "1".to_string(),
        ratio(little),
        format!("within {:.0} %", LITTLE_WITHIN * 100.0),
        result((little - 1.0).abs() <= LITTLE_WITHIN),
    ]);
    let closed = ["-c", "50", "--rate", "0", "--time", "10s"];
    let record = serve(tools, &[&target[..], &closed].concat())?;
    let p99 = load(&record)?.response_ms.p99.unwrap_or(f64::NAN);
    table.row([
        "p99 of a closed loop".to_string(),
        format!("{p99:.1} ms"),
        format!("{:.0} ms", truth(0.99)),
        ratio(p99 / truth(0.99)),
        "nothing: it is blind".to_string(),
    ]);
    Ok(table)
}

/// Returns the wait in milliseconds that the fraction `share` of all requests don't exceed. A tenth of the
/// arrivals meet a stall, no matter when the measurement begins, because it lasts a multiple of ten seconds.
/// Their waits are evenly distributed from 1 s down to zero.
fn truth(share: f64) -> f64 {
    1000.0 * (1.0 - (1.0 - share) / 0.1)
}
