//! divan's text: a tree, with a unit in each cell, and additional rows for throughput and allocations.

use std::io::BufRead;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::lines;
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    lines::of(head).any(|line| starts(&lines::shown(line)).is_some())
}

/// Returns where the cells of a tree start, if this is its first line.
fn starts(line: &str) -> Option<usize> {
    let words = ["fastest", "slowest", "median", "mean", "samples", "iters"];
    let start = line.find("fastest")?;
    let cells = line[start..].split('│').map(str::trim);
    cells.eq(words).then(|| line[..start].chars().count())
}

#[derive(Default)]
struct Tree {
    /// Number of characters before the cells.
    width: usize,
    path: Vec<String>,
    threads: Option<u64>,
    count: Option<u64>,
    iterations: Vec<u64>,
    /// A heading such as `alloc:` with its own rows below.
    heading: Option<String>,
}

pub(crate) fn read(input: &mut dyn BufRead, out: &mut Collector) -> Result<(), Error> {
    let mut tree = Tree::default();
    lines::each(input, |line| {
        let line = lines::shown(line);
        if let Some(width) = starts(&line) {
            let name = line
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned();
            tree = Tree {
                width,
                path: vec![name],
                ..Tree::default()
            };
        } else if tree.width == 0 || !line.contains('│') && !line.contains('─') {
            out.left_out_times(
                "lines",
                "outside of a tree",
                u64::from(!line.trim().is_empty()),
            );
        } else {
            tree.row(&line, out);
        }
        Ok(())
    })
}

impl Tree {
    fn row(&mut self, line: &str, out: &mut Collector) {
        let cut = line
            .char_indices()
            .nth(self.width)
            .map_or(line.len(), |(at, _)| at);
        let (left, cells) = line.split_at(cut);
        let cells = cells.split('│').map(str::trim).collect::<Vec<_>>();
        match left.char_indices().find(|(_, char)| "├╰".contains(*char)) {
            Some((at, _)) => {
                let depth = left[..at].chars().count() / 3 + 1;
                let name = left[at..].trim_start_matches(['├', '╰', '─']).trim();
                self.name(depth, name);
                if line.contains("(ignored)") {
                    out.left_out(self.path.join("::").replace("(ignored)", ""), "ignored");
                } else if cells.first().is_some_and(|cell| !cell.is_empty()) {
                    self.times(&cells, out);
                }
            }
            None => self.more(&cells, out),
        }
    }

    fn name(&mut self, depth: usize, name: &str) {
        self.path.truncate(depth);
        self.heading = None;
        self.threads = name
            .strip_prefix("t=")
            .and_then(|threads| threads.parse().ok());
        if self.threads.is_none() {
            self.path.push(name.to_owned());
        }
    }

    fn times(&mut self, cells: &[&str], out: &mut Collector) {
        let count = |at: usize| {
            cells
                .get(at)
                .and_then(|cell| lines::number(cell))
                .map(|value| value as u64)
        };
        self.count = count(4);
        let each = |(iterations, samples): (u64, u64)| iterations.checked_div(samples);
        self.iterations = count(5)
            .zip(self.count)
            .and_then(each)
            .into_iter()
            .collect::<Vec<_>>();
        let [min, max, median, mean] =
            [0, 1, 2, 3].map(|at| cells.get(at).and_then(|cell| based(cell)));
        let unit = median.map_or("", |(_, unit)| unit);
        let value = |cell: Option<(f64, &str)>| cell.map(|(value, _)| value);
        let summary = Summary {
            count: self.count,
            min: value(min),
            max: value(max),
            median: value(median),
            mean: value(mean),
            ..Summary::default()
        };
        let measure = Measure::new(self.path.join("::"), "wall", unit).threads(self.threads);
        out.summary_of(measure, summary, &self.iterations);
    }

    /// Handles an additional row, which is throughput, a heading, or a row below a heading.
    fn more(&mut self, cells: &[&str], out: &mut Collector) {
        let first = cells.first().copied().unwrap_or_default();
        if first.ends_with(':') {
            self.heading = Some(first.trim_end_matches(':').to_owned());
            return;
        }
        let [fastest, slowest, median, mean] =
            [0, 1, 2, 3].map(|at| cells.get(at).and_then(|cell| based(cell)));
        let Some((_, unit)) = median.or(fastest) else {
            out.left_out_times("cells", "no number", u64::from(!first.is_empty()));
            return;
        };
        let metric = match (&self.heading, unit) {
            (Some(heading), "") => format!("{heading} count"),
            (Some(heading), _) => heading.clone(),
            (None, _) => "throughput".to_owned(),
        };
        let measure = Measure::new(self.path.join("::"), metric, unit).threads(self.threads);
        let measure = if self.heading.is_some() {
            measure.lower()
        } else {
            measure.higher()
        };
        // These are values of the fastest and the slowest sample, which need not be the minimum and maximum
        // of this column.
        let ends = [
            ("in the fastest sample", fastest),
            ("in the slowest sample", slowest),
        ];
        let other = ends
            .into_iter()
            .filter_map(|(name, cell)| Some((name.to_owned(), cell?.0)));
        let summary = Summary {
            count: self.count,
            median: median.map(|(value, _)| value),
            mean: mean.map(|(value, _)| value),
            other: other.collect(),
            ..Summary::default()
        };
        out.summary_of(measure, summary, &self.iterations);
    }
}

/// Converts a cell to the smallest unit of its kind, because each cell has its own unit.
fn based(cell: &str) -> Option<(f64, &'static str)> {
    let (value, unit) = lines::quantity(cell)?;
    let (unit, per_second) = unit
        .strip_suffix("/s")
        .map_or((unit, false), |unit| (unit, true));
    if let Some(factor) = lines::nanoseconds(unit).filter(|_| !per_second) {
        return Some((value * factor, "ns"));
    }
    let (factor, base) = scaled(unit)?;
    let unit = match (base, per_second) {
        ("B", false) => "B",
        ("B", true) => "B/s",
        ("item", true) => "item/s",
        ("char", true) => "char/s",
        ("Hz", false) => "Hz",
        ("", false) => "",
        _ => return None,
    };
    Some((value * factor, unit))
}

/// Splits `KiB` into 1024 and `B`.
fn scaled(unit: &str) -> Option<(f64, &str)> {
    let power = "KMGTPE".find(unit.chars().next().unwrap_or(' '));
    match power {
        None => Some((1.0, unit)),
        Some(power) => {
            let power = i32::try_from(power).ok()? + 1;
            let rest = &unit[1..];
            Some(match rest.strip_prefix('i') {
                Some(base) if base == "B" => (1024_f64.powi(power), base),
                _ => (1000_f64.powi(power), rest),
            })
        }
    }
}
