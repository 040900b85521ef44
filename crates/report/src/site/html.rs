//! The single page with everything.

use fathom_model::{Report, ReportBenchmark};

use super::data::{Extent, data};
use super::links::{anchor, keys, with_links};
use super::{answer, overview, records, versions};
use crate::page::{Head, Origin, Reach, inert, section, with_data};

pub(super) const SCRIPT: &str = concat!(
    include_str!("../page/page.js"),
    include_str!("page/numbers.js"),
    include_str!("page/points.js"),
    include_str!("page/chart.js"),
    include_str!("page/samples.js"),
    include_str!("page/part.js"),
    include_str!("page/live.js"),
    include_str!("page/start.js"),
);

/// The largest size of a page with everything, in bytes.
const LARGEST: usize = 1_000_000;

/// Formats everything on one page that needs no network. If the page would exceed 1,000,000 bytes, parts are
/// omitted: first the earlier points of metrics that aren't a benchmark's main metric, then the single runs,
/// then the oldest points. The page states how many.
pub fn report_html(report: &Report) -> String {
    let links = keys(report);
    let all: Vec<usize> = (0..links.len()).collect();
    let table = overview::table(report, &all, |index| anchor(&links[index]));
    let tools = match links.len() {
        0 => "",
        _ => "<div id=\"tools\" class=\"tools\"></div>\n",
    };
    let (above, below) = (benchmarks(tools, &table), rest(report).concat());
    fitting(LARGEST, report, |extent| {
        let data = inert(&with_links(data(report, extent), &links));
        with_head(report, |head| {
            with_data(head, (&above, &below), SCRIPT, &data, Reach::Nothing)
        })
    })
}

/// Returns the most detailed output that fits.
pub(super) fn fitting(largest: usize, report: &Report, write: impl Fn(Extent) -> String) -> String {
    let longest = report.benchmarks.iter().filter_map(ReportBenchmark::main);
    let longest = longest.map(|main| main.points.len()).max().unwrap_or(0);
    let mut extent = Extent::ALL;
    loop {
        let text = write(extent);
        if text.len() < largest || extent.newest <= 2 {
            return text;
        }
        match extent {
            Extent {
                every_metric: true, ..
            } => extent.every_metric = false,
            Extent { samples: true, .. } => extent.samples = false,
            _ => extent.newest = extent.newest.min(longest) / 2,
        }
    }
}

/// Formats the overview below its heading: `tools`, which a script fills, and the rows.
pub(super) fn benchmarks(tools: &str, rows: &str) -> String {
    let rows = match rows {
        "" => String::new(),
        rows => format!("{tools}<div id=\"rows\">{rows}</div>\n"),
    };
    format!(
        "<div id=\"overview\">{}</div>\n",
        section("Benchmarks", &rows)
    )
}

/// Returns the sections below the overview, which need no script.
pub(super) fn rest(report: &Report) -> Vec<String> {
    let mut sections = vec![section("Versions", &versions::of_labels(report))];
    sections.extend(records::all(report));
    sections.retain(|section| !section.is_empty());
    sections
}

/// Calls `write` with the head of the report.
pub(super) fn with_head<T>(report: &Report, write: impl FnOnce(&Head) -> T) -> T {
    let (environment, started_at) = answer::origin(report);
    let (tone, answer) = answer::answer(report);
    let of = match report.benchmarks.as_slice() {
        [one] => one.shown(),
        _ => report.source.clone(),
    };
    write(&Head {
        verb: "report",
        of: &of,
        answer,
        tone,
        basis: answer::basis(report),
        commands: Vec::new(),
        origin: Origin {
            environment: &environment,
            started_at: &started_at,
            fathom_version: &report.fathom_version,
        },
    })
}
