//! hey's CSV: a row for each request, with seconds in four decimals (steps of 0.1 ms).

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::rows;

const TIMES: &[(&str, &str)] = &[
    ("response-time", "response"),
    ("DNS+dialup", "DNS+dialup"),
    ("DNS", "DNS-lookup"),
    ("Request-write", "req write"),
    ("Response-delay", "resp wait"),
    ("Response-read", "resp read"),
];

pub(crate) fn can_read(head: &[u8]) -> bool {
    rows::names(
        head,
        b',',
        &["response-time", "DNS+dialup", "status-code", "offset"],
    )
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    rows::each(bytes, b',', |row| {
        let status = row.get("status-code").unwrap_or_default();
        for (column, metric) in TIMES {
            let measure = Measure::new("hey", *metric, "s").parameter("status", &status);
            match row.number(column) {
                Some(value) => {
                    out.samples(measure, [value], &[]);
                }
                None => out.left_out(*column, "no number"),
            }
        }
        out.left_out("offset", "the start time of the request");
        Ok(())
    })
}
