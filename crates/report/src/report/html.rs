//! The pages: one file, a site, and what the live one asks for.

use std::collections::HashSet;

use fathom_model::{Report, ReportBenchmark};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::data::{Extent, data, key};
use super::{answer, overview, records, versions};
use crate::page::{Head, Origin, Reach, inert, page, section, with_data};

const SCRIPT: &str = concat!(
    include_str!("../page/page.js"),
    include_str!("page/numbers.js"),
    include_str!("page/points.js"),
    include_str!("page/chart.js"),
    include_str!("page/samples.js"),
    include_str!("page/part.js"),
    include_str!("page/start.js"),
);

/// A page with everything stays below this, in bytes.
const LARGEST: usize = 1_000_000;
/// And one of a site.
const LARGEST_OF_SITE: usize = 200_000;

const ALL: Extent = Extent {
    every_metric: true,
    newest: usize::MAX,
    samples: true,
};

/// Everything on one page that needs no network. Where it would exceed 1,000,000 bytes, first the
/// earlier points of metrics that don't stand for a benchmark are left out, then the single runs, then
/// the oldest points; the page says how many.
pub fn report_html(report: &Report) -> String {
    let links = keys(report);
    let table = overview::table(report, |index, _| anchor(&links[index]));
    let (above, below) = (section_of_overview(&table), rest(report));
    fitting(LARGEST, report, |extent| {
        let data = inert(&with_links(data(report, extent), &links));
        with_head(report, |head| {
            with_data(head, (&above, &below), SCRIPT, &data, Reach::Nothing)
        })
    })
}

/// The files of a site by their names: `index.html`, and a page for each benchmark. Every page is
/// smaller than 200,000 bytes, but for an index of some hundreds of benchmarks.
pub fn report_site(report: &Report) -> Vec<(String, String)> {
    let links = keys(report);
    let files: Vec<String> = report
        .benchmarks
        .iter()
        .map(|one| file_name(&one.shown()))
        .collect();
    let table = overview::table(report, |index, _| files[index].clone());
    let parts = section_of_overview(&table) + &rest(report);
    let mut site = vec![(
        "index.html".to_owned(),
        with_head(report, |head| page(head, &parts)),
    )];
    for (index, benchmark) in report.benchmarks.iter().enumerate() {
        let one = of_one(report, benchmark);
        let back = "<p><a href=\"index.html\">All benchmarks</a></p>\n";
        let link = &links[index..=index];
        let text = fitting(LARGEST_OF_SITE, &one, |extent| {
            let data = inert(&with_links(data(&one, extent), link));
            with_head(&one, |head| {
                with_data(head, (back, ""), SCRIPT, &data, Reach::Nothing)
            })
        });
        site.push((files[index].clone(), text));
    }
    site
}

/// The live page: the overview, from which a script asks the server for one benchmark at a time.
/// `mark` is the state of the store that it shows.
pub fn report_live(report: &Report, mark: &str) -> String {
    let links = keys(report);
    let table = overview::table(report, |index, _| anchor(&links[index]));
    let mut block =
        json!({ "benchmarks": [], "metrics": [], "measurements": {}, "environments": [] });
    let names = report.benchmarks.iter().map(ReportBenchmark::shown);
    let names: Vec<Value> = names
        .zip(&links)
        .map(|(name, link)| json!([link, name]))
        .collect();
    block["live"] = json!({ "mark": mark, "names": names });
    let parts = section_of_overview(&table);
    with_head(report, |head| {
        with_data(head, (&parts, ""), SCRIPT, &inert(&block), Reach::Own)
    })
}

/// What the live page draws of one benchmark: JSON.
pub fn report_part(report: &Report) -> String {
    let extent = Extent {
        every_metric: false,
        ..ALL
    };
    data(report, extent).to_string()
}

/// The most of it that fits.
fn fitting(largest: usize, report: &Report, write: impl Fn(Extent) -> String) -> String {
    let longest = report.benchmarks.iter().filter_map(ReportBenchmark::main);
    let longest = longest.map(|main| main.points.len()).max().unwrap_or(0);
    let mut extent = ALL;
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

fn section_of_overview(table: &str) -> String {
    let table = match table {
        "" => String::new(),
        table => format!("<div id=\"tools\" class=\"tools\"></div>\n{table}"),
    };
    format!(
        "<div id=\"overview\">{}</div>\n",
        section("Benchmarks", &table)
    )
}

/// What stands below the overview without a script.
fn rest(report: &Report) -> String {
    section("Versions", &versions::of_labels(report)) + &records::all(report)
}

/// Calls `write` with the head of the report.
fn with_head<T>(report: &Report, write: impl FnOnce(&Head) -> T) -> T {
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

/// The names by which benchmarks are linked to: escaped, short, and each once.
fn keys(report: &Report) -> Vec<String> {
    let mut known = HashSet::new();
    let unique = |benchmark: &ReportBenchmark| {
        let name = key(benchmark);
        let mut link = name.clone();
        let mut place = 2;
        while !known.insert(link.clone()) {
            link = format!("{name} ({place})");
            place += 1;
        }
        link
    };
    report.benchmarks.iter().map(unique).collect()
}

fn with_links(mut data: Value, links: &[String]) -> Value {
    if let Some(benchmarks) = data["benchmarks"].as_array_mut() {
        for (benchmark, link) in benchmarks.iter_mut().zip(links) {
            benchmark["name"] = json!(link);
        }
    }
    data
}

/// `#name`, as a script finds it again.
fn anchor(link: &str) -> String {
    let mut out = "#".to_owned();
    for byte in link.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// A name of letters and digits, with a hash so that no two benchmarks have the same.
fn file_name(shown: &str) -> String {
    let letters = shown.chars().map(|c| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_lowercase(),
        false => '-',
    });
    let letters: String = letters.take(40).collect();
    let mut short = String::new();
    for part in letters.split('-').filter(|part| !part.is_empty()) {
        short.push_str(part);
        short.push('-');
    }
    let hash = Sha256::digest(shown.as_bytes());
    let hash: String = hash[..5].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{short}{hash}.html")
}

/// The report of one benchmark alone, with its own measurements only: its page stays the same when
/// others are measured.
fn of_one(report: &Report, benchmark: &ReportBenchmark) -> Report {
    let mut benchmark = benchmark.clone();
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

/// Each once, in ascending order.
fn numbers(all: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut found: Vec<usize> = all.collect();
    found.sort_unstable();
    found.dedup();
    found
}
