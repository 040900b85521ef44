//! The live page, and the data that it requests.

use fathom_model::{Report, ReportBenchmark, Verdict};
use serde_json::json;

use super::data::{Extent, data, key};
use super::html::{SCRIPT, benchmarks, with_head};
use super::links::{anchor, keys};
use super::{overview, versions};
use crate::page::{Reach, inert, section, with_data};

/// The number of rows of the overview on one page; a screen shows 20.
const ROWS: usize = 100;

/// The selected rows of the overview.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReportRows {
    /// Words that must all occur in the name of a benchmark.
    pub words: String,
    /// Whether to show only benchmarks that became faster or slower.
    pub changed: bool,
    /// The page number, from 0, if there are several.
    pub page: usize,
}

/// Formats the live page: rows of the overview, and a script that requests the details of one benchmark at a
/// time from the server. `mark` identifies the state of the store.
pub fn report_live(report: &Report, mark: &str, rows: &ReportRows) -> String {
    let links = keys(report);
    let words: Vec<String> = rows
        .words
        .to_lowercase()
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    let fits = |one: &ReportBenchmark| {
        let name = key(one).to_lowercase();
        (!rows.changed || has_changed(one)) && words.iter().all(|word| name.contains(word))
    };
    let found: Vec<usize> = (0..links.len())
        .filter(|index| fits(&report.benchmarks[*index]))
        .collect();
    let pages = found.len().div_ceil(ROWS);
    let page = rows.page.min(pages.saturating_sub(1));
    let shown = found.chunks(ROWS).nth(page).unwrap_or_default();
    let mut table = overview::table(report, shown, |index| anchor(&links[index]));
    if table.is_empty() {
        table = match links.is_empty() {
            true => "<p class=\"soft\">What is saved appears here.</p>\n".to_owned(),
            false => "<p class=\"soft\">No benchmark fits.</p>\n".to_owned(),
        };
    }
    table += &overview::pager(pages, page, |page| format!("?page={page}"));
    let block = json!({
        "benchmarks": [], "metrics": [], "measurements": {}, "environments": [],
        "live": {
            "mark": mark, "first": links.first(), "found": found.len(), "all": links.len(), "page": page,
        },
    });
    let above = benchmarks("<div id=\"tools\" class=\"tools\"></div>\n", &table);
    let below = "<div id=\"versions\"></div>\n";
    with_head(report, |head| {
        with_data(head, (&above, below), SCRIPT, &inert(&block), Reach::Own)
    })
}

fn has_changed(one: &ReportBenchmark) -> bool {
    let mut comparisons = [&one.before, &one.baseline].into_iter().flatten();
    comparisons.any(|one| matches!(one.verdict, Verdict::Faster | Verdict::Slower))
}

/// Returns the index of the benchmark to which a live page links by this name.
pub fn report_place(report: &Report, link: &str) -> Option<usize> {
    keys(report).iter().position(|known| known == link)
}

/// Returns the JSON from which the live page draws one benchmark.
pub fn report_part(report: &Report) -> String {
    data(report, Extent::ALL).to_string()
}

/// Returns the live page's markup for versions; empty if there are fewer than two.
pub fn report_versions(report: &Report) -> String {
    section("Versions", &versions::of_labels(report))
}
