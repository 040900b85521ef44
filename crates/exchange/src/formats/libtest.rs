//! Text of `cargo bench` (libtest), and of criterion's `--output-format bencher`.

use std::io::BufRead;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::lines;
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    lines::of(head).any(|line| {
        line.starts_with(b"test ")
            && lines::find(line, b" bench: ").is_some()
            && lines::find(line, b"/iter (+/- ").is_some()
    })
}

pub(crate) fn read(input: &mut dyn BufRead, out: &mut Collector) -> Result<(), Error> {
    lines::each(input, |line| {
        let text = lines::shown(line.trim_ascii());
        if text.is_empty() {
            return Ok(());
        }
        let Some((name, result)) = text
            .strip_prefix("test ")
            .and_then(|rest| rest.rsplit_once(" ... "))
        else {
            out.left_out("lines", "no results");
            return Ok(());
        };
        let name = name.trim();
        let read = result
            .trim()
            .strip_prefix("bench:")
            .and_then(|result| bench(name, result, out));
        if read.is_none() {
            out.left_out(name, format!("not a benchmark's result: {result}"));
        }
        Ok(())
    })
}

/// Parses `1,195.18 ns/iter (+/- 422.64) = 3427 MB/s`.
fn bench(name: &str, result: &str, out: &mut Collector) -> Option<()> {
    let (time, rest) = result.split_once("/iter (+/- ")?;
    let (deviation, rest) = rest.split_once(')')?;
    let (median, unit) = lines::quantity(time)?;
    let other = lines::number(deviation).map(|deviation| ("max - min".to_owned(), deviation));
    let summary = Summary {
        median: Some(median),
        other: other.into_iter().collect(),
        ..Summary::default()
    };
    out.summary(Measure::new(name, "wall", unit), summary);
    if let Some((rate, unit)) = rest.trim().strip_prefix('=').and_then(lines::quantity) {
        let measure = Measure::new(name, "throughput", unit).higher();
        out.value(measure, Some(rate));
    }
    Some(())
}
