//! nanobench's CSV (semicolons): medians.

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::rows;
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    rows::names(
        head,
        b';',
        &["title", "name", "unit", "batch", "elapsed", "error %"],
    )
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    rows::each(bytes, b';', |row| {
        let cell = |name| row.get(name).unwrap_or_default();
        let measure = |metric: &str, unit: &str| {
            let measure =
                Measure::new(cell("name"), metric, unit).parameter("title", &cell("title"));
            measure.parameter("batch", &format!("{} {}", cell("batch"), cell("unit")))
        };
        let other = ["error %", "total"]
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), row.number(name)?)));
        let summary = Summary {
            median: row.number("elapsed"),
            other: other.collect(),
            ..Summary::default()
        };
        out.summary(measure("wall", "s"), summary);
        for (name, metric) in [
            ("instructions", "instructions"),
            ("branches", "branchinstructions"),
            ("branch misses", "branchmisses"),
        ] {
            match row.number(name) {
                Some(0.0) => out.left_out(name, "0: the counter was not available"),
                median => out.summary(
                    measure(metric, "").lower(),
                    Summary {
                        median,
                        ..Summary::default()
                    },
                ),
            }
        }
        Ok(())
    })
}
