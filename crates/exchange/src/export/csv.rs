//! CSV with named columns, as `import` reads it, with a row for each sample or for each summary.

use std::collections::BTreeSet;

use fathom_model::Direction;
use fathom_model::imported::Values;
use fathom_stats::{IntervalFrom, imported_middle};

use super::{Export, Figure, Written, text_cell};

const BEFORE: [&str; 1] = ["name"];
const AFTER: [&str; 9] = [
    "metric",
    "unit",
    "direction",
    "iterations",
    "threads",
    "value",
    "low",
    "high",
    "runs",
];
/// Columns that are written only if there are several measurements. When the file is read again, they become
/// parameters that keep the measurements apart.
const WHEN: [&str; 2] = ["time", "revision"];

/// Writes samples without `runs` and summaries with it; readers distinguish them by this.
pub(super) fn csv(exports: &[Export]) -> Written {
    let mut written = Written::default();
    let figures = || exports.iter().flat_map(|export| &export.figures);
    let parameters: BTreeSet<&String> = figures()
        .flat_map(|figure| figure.benchmark.parameters.keys())
        .collect();
    let mut out = csv::Writer::from_writer(Vec::new());
    let header = BEFORE.iter().map(|name| (*name).to_owned());
    let header = header.chain(parameters.iter().map(|name| column(name)));
    let header = header.chain(AFTER.iter().map(|name| (*name).to_owned()));
    let when = match exports.len() {
        0 | 1 => 0,
        _ => WHEN.len(),
    };
    let header = header.chain(WHEN.iter().take(when).map(|name| (*name).to_owned()));
    write(&mut out, header);
    for export in exports {
        for figure in &export.figures {
            rows(&mut out, (export, when), figure, &parameters, &mut written);
        }
    }
    if figures().next().is_some() {
        let bytes = out.into_inner().unwrap_or_default();
        written.text = String::from_utf8(bytes).unwrap_or_default();
    }
    written
}

fn rows(
    out: &mut csv::Writer<Vec<u8>>,
    (export, when): (&Export, usize),
    figure: &Figure,
    parameters: &BTreeSet<&String>,
    written: &mut Written,
) {
    let one = &figure.benchmark;
    let mut row = |iterations: Option<u64>, [value, low, high, runs]: [String; 4]| {
        let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        let mut cells = vec![one.name.clone()];
        let values = parameters
            .iter()
            .map(|name| one.parameters.get(*name).cloned());
        cells.extend(values.map(Option::unwrap_or_default));
        cells.extend([
            one.metric.clone(),
            one.unit.clone(),
            direction(one.direction).to_owned(),
            number(iterations),
            number(one.threads),
            value,
            low,
            high,
            runs,
        ]);
        let of_export = [
            export.time.clone(),
            export.revision.clone().unwrap_or_default(),
        ];
        cells.extend(of_export.into_iter().take(when));
        write(out, cells.into_iter());
    };
    match &one.values {
        Values::Samples(samples) => {
            for (index, sample) in samples.iter().enumerate() {
                let iterations = match one.iterations[..] {
                    [all] => Some(all),
                    _ => one.iterations.get(index).copied(),
                };
                let nothing = String::new;
                row(
                    iterations,
                    [sample.to_string(), nothing(), nothing(), nothing()],
                );
            }
        }
        summary @ Values::Summary(_) => {
            let Some(middle) = imported_middle(summary) else {
                written.left_out(&one.metric, "neither a median nor a mean");
                return;
            };
            let end = |end: f64| match middle.from {
                IntervalFrom::Nothing => String::new(),
                _ => end.to_string(),
            };
            let ends = [end(middle.low), end(middle.high)];
            let [low, high] = ends;
            let cells = [middle.value.to_string(), low, high, middle.runs.to_string()];
            row(one.iterations.first().copied(), cells);
        }
    }
}

fn write(out: &mut csv::Writer<Vec<u8>>, cells: impl Iterator<Item = String>) {
    // Writing into memory can't fail.
    let _ = out.write_record(cells.map(|cell| text_cell(&cell).into_owned()));
}

/// Returns the column name of a parameter, which must not be mistaken for another column.
fn column(name: &str) -> String {
    let taken = BEFORE.contains(&name)
        || AFTER.contains(&name)
        || WHEN.contains(&name)
        || name == "benchmark";
    match taken || name.ends_with(')') {
        true => format!("parameter_{}", name.trim_end_matches(')')),
        false => name.to_owned(),
    }
}

fn direction(direction: Option<Direction>) -> &'static str {
    match direction {
        Some(Direction::LowerIsBetter) => "lower_is_better",
        Some(Direction::HigherIsBetter) => "higher_is_better",
        None => "",
    }
}
