//! Measures how long `fathom report` and `fathom ui` take, how large a page is, and how soon it can be used.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use fathom_store::{Draft, Location, NewPoint, Revision, Store, date};
use fathom_test_browser::{Chromium, installed};
use serde_json::json;

use crate::Result;
use crate::options::Options;
use crate::table::{Table, result};
use crate::tools::{Tools, median};

const BENCHMARKS: usize = 100;
const REVISIONS: usize = 200;
/// Number of points in the long series.
const LONG: usize = 10_000;
/// Number of series in the wide store.
const WIDE: usize = 1_000;
const WIDE_POINTS: usize = 10_000;
const ASKED_PAGE: f64 = 0.5;
const ASKED_BYTES: u64 = 1_000_000;
const ASKED_ANSWER: f64 = 0.05;
const ASKED_INTERACTIVE: f64 = 0.5;
const TIMES: usize = 9;

/// Creates the stores, writes a page, and queries a live one.
///
/// # Errors
/// If a store can't be created, or Fathom doesn't start.
pub(crate) fn measure(tools: &Tools, options: &Options) -> Result<Table> {
    let headers = ["what", "time", "size", "asked", "result"];
    let mut table = Table::new(
        "Report: a page of a suite, and a long series live",
        &headers,
    );
    let folder = tools.scratch_folder();
    let suite = folder.join("report-suite.sqlite");
    fill(&suite, BENCHMARKS, REVISIONS, &METRICS)?;
    let page = folder.join("report.html");
    let wall = page_seconds(tools, &suite, &page)?;
    let size = std::fs::metadata(&page).map_err(|e| e.to_string())?.len();
    table.row([
        format!("page of {BENCHMARKS} benchmarks x {REVISIONS} revisions"),
        format!("{wall:.3} s"),
        format!("{:.0} kB", size as f64 / 1000.0),
        format!("{ASKED_PAGE} s, {:.0} kB", ASKED_BYTES as f64 / 1000.0),
        result(wall <= ASKED_PAGE && size < ASKED_BYTES),
    ]);
    match installed() {
        Some(browser) => {
            let wall = interactive(&browser, folder, &page)?;
            table.row([
                "that page in headless Chromium, until it can be used".to_owned(),
                format!("{wall:.3} s"),
                String::new(),
                format!("{ASKED_INTERACTIVE} s"),
                result(wall <= ASKED_INTERACTIVE),
            ]);
        }
        None => table.note("Chromium is not installed: nothing is known of the page in a browser."),
    }
    let long = folder.join("report-long.sqlite");
    let points = options.scaled(LONG);
    fill(&long, 1, points, &METRICS)?;
    let of_part = "part?of=parse-0&from=0&to=1e9&most=1000";
    let part = answers(&tools.fathom, &long, of_part)?;
    table.row([
        format!(
            "answer of ui: {points} points (the first one {:.0} ms)",
            part.first * 1e3
        ),
        format!("{:.1} ms", part.median * 1e3),
        format!("{:.0} kB", part.bytes as f64 / 1000.0),
        format!("{:.0} ms", ASKED_ANSWER * 1e3),
        result(part.first.max(part.median) <= ASKED_ANSWER),
    ]);
    let wide = folder.join("report-wide.sqlite");
    let (series, points) = (options.scaled(WIDE), options.scaled(WIDE_POINTS));
    fill(&wide, series, points, &METRICS[..1])?;
    let overview = answers(&tools.fathom, &wide, "")?;
    table.row([
        format!(
            "overview of ui: {series} series of {points} points (read in {:.0} ms)",
            overview.start * 1e3
        ),
        format!("{:.1} ms", overview.median * 1e3),
        format!("{:.0} kB", overview.bytes as f64 / 1000.0),
    ]);
    for path in [&suite, &long, &wide, &page] {
        std::fs::remove_file(path).map_err(|e| e.to_string())?;
    }
    Ok(table)
}

/// Returns how long `fathom report` takes in seconds, as the median of several runs.
fn page_seconds(tools: &Tools, store: &Path, page: &Path) -> Result<f64> {
    let mut walls = Vec::new();
    for _ in 0..TIMES {
        let begun = Instant::now();
        let mut command = Command::new(&tools.fathom);
        command.args(["report", "--html"]).arg(page);
        command.arg("--store").arg(store).stdin(Stdio::null());
        let status = command.status().map_err(|e| e.to_string())?;
        walls.push(begun.elapsed().as_secs_f64());
        if !status.success() {
            return Err(format!("fathom report: {status}"));
        }
    }
    Ok(median(&walls))
}

/// Times of one `fathom ui`, in seconds.
struct Answers {
    /// Time from its start until it listens, which includes reading the overview once.
    start: f64,
    first: f64,
    median: f64,
    /// Size of a response in bytes.
    bytes: usize,
}

fn answers(fathom: &Path, store: &Path, what: &str) -> Result<Answers> {
    let begun = Instant::now();
    let mut live = Live::start(fathom, store)?;
    let start = begun.elapsed().as_secs_f64();
    let mut walls = Vec::new();
    let mut bytes = 0;
    for _ in 0..TIMES {
        let begun = Instant::now();
        bytes = live.get(what)?;
        walls.push(begun.elapsed().as_secs_f64());
    }
    Ok(Answers {
        start,
        first: walls[0],
        median: median(&walls),
        bytes,
    })
}

/// Returns the seconds from opening the page until it was drawn and no script was running.
fn interactive(browser: &Path, folder: &Path, page: &Path) -> Result<f64> {
    let text = std::fs::read_to_string(page).map_err(|e| e.to_string())?;
    let profile = folder.join("report-browser");
    std::fs::create_dir_all(&profile).map_err(|e| e.to_string())?;
    let mut browser = Chromium::start(browser, &profile);
    browser.show(1280, false);
    let mut times = Vec::new();
    for _ in 0..TIMES {
        browser.open("page", &text);
        times.push(browser.interactive());
    }
    drop(browser);
    std::fs::remove_dir_all(&profile).map_err(|e| e.to_string())?;
    Ok(median(&times))
}

/// Creates a store in which every benchmark was measured at each revision, in one record.
fn fill(path: &Path, benchmarks: usize, revisions: usize, metrics: &[Metric]) -> Result<()> {
    let mut store = Store::open(&Location::File(path.to_path_buf())).map_err(|e| e.to_string())?;
    let all: Vec<usize> = (0..revisions).collect();
    for some in all.chunks(TOGETHER) {
        let drafts: Vec<Draft> = some
            .iter()
            .map(|at| draft(benchmarks, *at, metrics))
            .collect();
        store.save_all(&drafts).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// A metric's name and level, in seconds.
type Metric = (&'static str, f64);
const METRICS: [Metric; 4] = [
    ("wall", 0.0123),
    ("cpu", 0.0119),
    ("user", 0.01),
    ("system", 0.002),
];
/// Number of records that are saved in one transaction.
const TOGETHER: usize = 200;

fn draft(benchmarks: usize, at: usize, metrics: &[Metric]) -> Draft {
    let text = json!({"schema_version": 2, "kind": "bench", "fathom_version": "0.1.0",
        "started_at": date::text(1_700_000_000_000 + at as i64 * 3_600_000),
        "environment": {"kernel": "Linux 1", "architecture": "x86_64", "cpus": 2},
        "conditions": {"seed": at}, "benchmarks": [], "runs": [], "complete": true});
    let mut draft = Draft::of(text.to_string()).expect("it is a record");
    draft.revision = Some(Revision {
        id: format!("{at:040x}"),
        branch: Some("main".to_owned()),
        dirty: false,
    });
    for number in 0..benchmarks {
        for (metric, level) in metrics.iter().copied() {
            let mixed = (at * 31 + number * 17).wrapping_mul(2_654_435_761) >> 7;
            let value = level * (1.0 + (mixed % 1000) as f64 / 40_000.0);
            draft.points.push(NewPoint {
                benchmark: format!("parse-{number}"),
                parameters: Vec::new(),
                metric: metric.to_owned(),
                unit: "seconds".to_owned(),
                direction: Some("lower_is_better".to_owned()),
                meaning: "of a run".to_owned(),
                value,
                low: value * 0.996,
                high: value * 1.005,
                runs: 20,
            });
        }
    }
    draft
}

/// A `fathom ui`, which ends when this value is dropped.
struct Live {
    child: Child,
    address: String,
}

impl Live {
    fn start(fathom: &Path, store: &Path) -> Result<Live> {
        let mut command = Command::new(fathom);
        command.args(["ui", "--no-open", "--store"]).arg(store);
        let command = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().map_err(|e| e.to_string())?;
        let mut address = String::new();
        let out = child.stdout.take().ok_or("its output is piped")?;
        BufReader::new(out)
            .read_line(&mut address)
            .map_err(|e| e.to_string())?;
        let address = address.trim().trim_start_matches("http://").to_owned();
        Ok(Live { child, address })
    }

    /// Returns the size of a response in bytes.
    fn get(&mut self, what: &str) -> Result<usize> {
        let (host, path) = self
            .address
            .split_once('/')
            .ok_or("an address has a path")?;
        let mut connection = TcpStream::connect(host).map_err(|e| e.to_string())?;
        let request = format!("GET /{path}{what} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        connection
            .write_all(request.as_bytes())
            .map_err(|e| e.to_string())?;
        let mut answer = Vec::new();
        connection
            .read_to_end(&mut answer)
            .map_err(|e| e.to_string())?;
        match answer.starts_with(b"HTTP/1.1 200") {
            true => Ok(answer.len()),
            false => Err(String::from_utf8_lossy(&answer).into_owned()),
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
