//! hyperfine's CSV, which contains only summaries and `parameter_NAME` columns.

use std::collections::BTreeMap;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::rows;
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    rows::names(
        head,
        b',',
        &[
            "command", "mean", "stddev", "median", "user", "system", "min", "max",
        ],
    )
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    out.version(Some("1"));
    rows::each(bytes, b',', |row| {
        let named = row
            .cells()
            .filter_map(|(name, cell)| Some((name.strip_prefix("parameter_")?, cell)));
        let parameters = named
            .map(|(name, cell)| (name.to_owned(), cell.into_owned()))
            .collect::<BTreeMap<_, _>>();
        let command = row.get("command").unwrap_or_default().into_owned();
        let measure = |metric| Measure::new(command.as_str(), metric, "s").with(&parameters);
        let wall = Summary {
            mean: row.number("mean"),
            standard_deviation: row.number("stddev"),
            median: row.number("median"),
            min: row.number("min"),
            max: row.number("max"),
            ..Summary::default()
        };
        out.summary(measure("wall"), wall);
        for metric in ["user", "system"] {
            out.summary(
                measure(metric),
                Summary {
                    mean: row.number(metric),
                    ..Summary::default()
                },
            );
        }
        Ok(())
    })
}
