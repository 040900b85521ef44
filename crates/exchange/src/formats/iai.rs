//! iai's text: counts that valgrind simulated.

use std::io::BufRead;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::holds;
use crate::lines;
use fathom_model::imported::Summary;

const COUNTS: &[&str] = &[
    "Instructions",
    "L1 Accesses",
    "L2 Accesses",
    "RAM Accesses",
    "Estimated Cycles",
];

pub(crate) fn can_read(head: &[u8]) -> bool {
    let start = &head[..head.len().min(64 << 10)];
    holds(
        start,
        &[
            "  Instructions: ",
            "  L1 Accesses: ",
            "  Estimated Cycles: ",
        ],
    )
}

pub(crate) fn read(input: &mut dyn BufRead, out: &mut Collector) -> Result<(), Error> {
    let mut name = String::new();
    lines::each(input, |line| {
        let text = lines::shown(line);
        let count = text
            .strip_prefix("  ")
            .and_then(|rest| rest.split_once(':'));
        match count.filter(|(count, _)| COUNTS.contains(count)) {
            Some((count, value)) => {
                match lines::number(value.split('(').next().unwrap_or_default().trim()) {
                    Some(number) => {
                        let measure = Measure::new(name.as_str(), count, "").lower().exact();
                        out.summary(
                            measure,
                            Summary {
                                value: Some(number),
                                ..Summary::default()
                            },
                        );
                        out.left_out_times(
                            "changes",
                            "a comparison, not a measurement",
                            u64::from(value.contains('(')),
                        );
                    }
                    None => out.left_out(format!("{name}: {count}"), "no number"),
                }
            }
            None if text.starts_with(' ')
                || text.starts_with("running ")
                || text.starts_with("test ") =>
            {
                out.left_out("lines", "no results");
            }
            None if !text.is_empty() => name = text,
            None => {}
        }
        Ok(())
    })
}
