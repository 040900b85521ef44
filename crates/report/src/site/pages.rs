//! A site: plain files for any web server.

use fathom_model::Report;

use super::data::data;
use super::html::{SCRIPT, benchmarks, fitting, rest, with_head};
use super::links::{file_name, keys, with_links};
use super::overview;
use crate::page::{Reach, inert, page, with_data};

/// The largest size of a page of a site, in bytes.
const LARGEST: usize = 200_000;
/// The largest size of a page's sections, which leaves room for its style and head.
const LARGEST_PARTS: usize = LARGEST - 40_000;
/// The number of rows of the overview on one page.
const ROWS: usize = 100;

/// Returns the files of a site by name: `index.html` and further pages of the overview, the records of
/// versions, gates and servers, and a page for each benchmark. Every page is smaller than 200,000 bytes,
/// unless a single record is larger.
pub fn report_site(report: &Report) -> Vec<(String, String)> {
    let files: Vec<String> = report
        .benchmarks
        .iter()
        .map(|one| file_name(&one.shown()))
        .collect();
    let mut site = overviews(report, &files);
    let links = keys(report);
    for (index, file) in files.into_iter().enumerate() {
        let one = of_one(report, index);
        let back = "<p><a href=\"index.html\">All benchmarks</a></p>\n";
        let link = &links[index..=index];
        let text = fitting(LARGEST, &one, |extent| {
            let data = inert(&with_links(data(&one, extent), link));
            with_head(&one, |head| {
                with_data(head, (back, ""), SCRIPT, &data, Reach::Nothing)
            })
        });
        site.push((file, text));
    }
    site
}

/// Returns the pages about all benchmarks.
fn overviews(report: &Report, files: &[String]) -> Vec<(String, String)> {
    let tables = tables(report, files);
    let mut bodies: Vec<(String, String)> = Vec::new();
    for (at, table) in tables.iter().enumerate() {
        let pager = overview::pager(tables.len(), at, |page| numbered("index", page));
        bodies.push((
            numbered("index", at),
            benchmarks("", &(table.clone() + &pager)),
        ));
    }
    // Sections that don't fit on the index get separate pages.
    let mut place = 0;
    let mut more = 0;
    for section in rest(report) {
        if bodies[place].1.len() + section.len() > LARGEST_PARTS {
            bodies.push((numbered("records", more), String::new()));
            place = bodies.len() - 1;
            more += 1;
        }
        bodies[place].1.push_str(&section);
    }
    let links: Vec<String> = (0..more)
        .map(|at| {
            let of = if at == 0 {
                String::new()
            } else {
                format!(" ({})", at + 1)
            };
            format!(
                "<p><a href=\"{}\">Versions and records{of}</a></p>\n",
                numbered("records", at)
            )
        })
        .collect();
    for (name, body) in &mut bodies {
        let above = match name.starts_with("records") {
            true => "<p><a href=\"index.html\">All benchmarks</a></p>\n".to_owned(),
            false => links.concat(),
        };
        *body = with_head(report, |head| page(head, &format!("{above}{body}")));
    }
    bodies
}

/// Returns the overview as tables that each fit on one page. Returns one empty table if there are no
/// benchmarks.
fn tables(report: &Report, files: &[String]) -> Vec<String> {
    let all: Vec<usize> = (0..report.benchmarks.len()).collect();
    let mut rows = ROWS;
    loop {
        let tables: Vec<String> = all
            .chunks(rows)
            .map(|some| overview::table(report, some, |index| files[index].clone()))
            .collect();
        match tables.iter().all(|table| table.len() < LARGEST_PARTS) || rows == 1 {
            true if tables.is_empty() => return vec![String::new()],
            true => return tables,
            false => rows /= 2,
        }
    }
}

/// Returns `index.html`, `index-2.html` and so on.
fn numbered(name: &str, at: usize) -> String {
    match at {
        0 => format!("{name}.html"),
        at => format!("{name}-{}.html", at + 1),
    }
}

/// Returns the report of a single benchmark with only its own measurements. Its page therefore stays the same
/// when other benchmarks are measured.
fn of_one(report: &Report, index: usize) -> Report {
    let mut benchmark = report.benchmarks[index].clone();
    let points = || benchmark.series.iter().flat_map(|series| &series.points);
    let measurements = numbers(points().map(|point| point.measurement));
    let environments = numbers(points().map(|point| point.environment));
    for series in &mut benchmark.series {
        for point in &mut series.points {
            point.measurement = measurements.partition_point(|one| *one < point.measurement);
            point.environment = environments.partition_point(|one| *one < point.environment);
        }
    }
    let measurements = measurements
        .iter()
        .map(|one| report.measurements[*one].clone());
    let environments = environments
        .iter()
        .map(|one| report.environments[*one].clone());
    Report {
        source: report.source.clone(),
        fathom_version: report.fathom_version.clone(),
        margin: report.margin,
        baseline: report.baseline.clone(),
        measurements: measurements.collect(),
        environments: environments.collect(),
        benchmarks: vec![benchmark],
        ..Report::default()
    }
}

/// Returns each number once, in ascending order.
fn numbers(all: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut found: Vec<usize> = all.collect();
    found.sort_unstable();
    found.dedup();
    found
}
