//! benchmark.js's text: `NAME x 28,453,078 ops/sec ±12.71% (7 runs sampled)`.

use std::io::BufRead;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::lines;
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    lines::of(head).any(|line| lines::find(line, b" ops/sec \xc2\xb1").is_some())
}

pub(crate) fn read(input: &mut dyn BufRead, out: &mut Collector) -> Result<(), Error> {
    lines::each(input, |line| {
        let text = lines::shown(line.trim_ascii());
        if result(&text, out).is_none() && !text.is_empty() {
            out.left_out("lines", "no results");
        }
        Ok(())
    })
}

fn result(line: &str, out: &mut Collector) -> Option<()> {
    let (left, right) = line.split_once(" ops/sec ±")?;
    let (name, rate) = left.rsplit_once(" x ")?;
    let rate = lines::number(rate)?;
    let (error, runs) = right.split_once("% (")?;
    let error = lines::number(error)? / 100.0;
    let summary = Summary {
        count: runs.split(' ').next().and_then(|count| count.parse().ok()),
        mean: Some(rate),
        low: Some(rate * (1.0 - error)),
        high: Some(rate * (1.0 + error)),
        level: Some(0.95),
        ..Summary::default()
    };
    out.summary(Measure::new(name, "throughput", "ops/s"), summary);
    Some(())
}
