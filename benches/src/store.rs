//! Measures the size and speed of a store: 1,000 series of 10,000 points in SQLite. With
//! `$POSTGRES=postgres://...`, also 100 of them in PostgreSQL, in a schema `fathom_scale` that is removed
//! before and after.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fathom_store::{Draft, Location, SeriesFilter, Since, Store, date};
use serde_json::json;

use crate::Result;
use crate::table::Table;
use crate::tools::Tools;

const HOUR: i64 = 3_600_000;
const START: i64 = 1_700_000_000_000;
/// Number of records saved in one transaction to fill a store, as for a large bundle. The same number of
/// points of a series is sealed at once.
const TOGETHER: i64 = 512;
/// Number of connections that save concurrently.
const WRITERS: u64 = 8;
/// Number of records that each connection saves.
const EACH: i64 = 25;

/// The metrics of `bench`.
const METRICS: [&str; 15] = [
    "wall",
    "cpu_wait_free",
    "cpu",
    "user",
    "system",
    "run_queue_wait",
    "peak_memory",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "read_bytes",
    "written_bytes",
    "read_calls",
    "write_calls",
];

/// Fills stores and measures them. `quick` uses a tenth of the series, to show that the measurement works.
///
/// # Errors
/// Errors of the store.
pub(crate) fn measure(tools: &Tools, quick: bool) -> Result<Vec<Table>> {
    let series = |whole: u64| if quick { whole / 10 } else { whole };
    let folder = new_folder().map_err(said)?;
    let location = Location::File(folder.join("scale.sqlite"));
    let measured = one("SQLite", &location, series(1_000));
    let removed = std::fs::remove_dir_all(&folder);
    let mut tables = vec![measured?];
    removed.map_err(said)?;
    let folder = new_folder().map_err(said)?;
    let measured = wide(tools, &folder, series(20_000), series(200_000));
    let removed = std::fs::remove_dir_all(&folder);
    tables.push(measured?);
    removed.map_err(said)?;
    if let Ok(address) = std::env::var("POSTGRES") {
        let mut client = postgres::Client::connect(&address, postgres::NoTls).map_err(said)?;
        let remove = "DROP SCHEMA IF EXISTS fathom_scale CASCADE";
        client.batch_execute(remove).map_err(said)?;
        let mark = if address.contains('?') { '&' } else { '?' };
        let location = format!("{address}{mark}schema=fathom_scale");
        let location = Location::parse(&location).map_err(said)?;
        let measured = one("PostgreSQL", &location, series(100));
        client.batch_execute(remove).map_err(said)?;
        tables.push(measured?);
    }
    Ok(tables)
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Creates a new folder for the store.
fn new_folder() -> std::io::Result<std::path::PathBuf> {
    let folder = std::env::temp_dir().join(format!("fathom-scale-{}", std::process::id()));
    std::fs::create_dir(&folder).map(|()| folder)
}

fn one(name: &str, location: &Location, series: u64) -> Result<Table> {
    const POINTS: i64 = 10_000;
    let mut store = Store::open(location).map_err(said)?;
    let mut table = Table::new(
        &format!("{name}: {series} series x {POINTS} points"),
        &["what", "median", "p99", "most", "times", "asked"],
    );
    let begun = Instant::now();
    fill(&mut store, series, POINTS).map_err(said)?;
    table.note(format!("filled in {:.0} s", begun.elapsed().as_secs_f64()));
    sizes(&mut store, &mut table).map_err(said)?;
    reads(&mut store, &mut table, POINTS as usize).map_err(said)?;
    saves(&mut store, &mut table).map_err(said)?;
    writers(location, &mut table);
    Ok(table)
}

/// Measures many series with few points: `fathom history` of all of them, and an import with one point for
/// each.
fn wide(tools: &Tools, folder: &Path, listed: u64, imported: u64) -> Result<Table> {
    let name = format!("SQLite: {listed} and {imported} series");
    let mut table = Table::new(&name, &["what", "median", "p99", "most", "times", "asked"]);
    let path = folder.join("listed.sqlite");
    let mut store = Store::open(&Location::File(path.clone())).map_err(said)?;
    for n in 0..10 {
        let draft = Draft::of(import(listed, n)).map_err(said)?;
        store.save(&draft).map_err(said)?;
    }
    drop(store);
    let mut times = Vec::new();
    for _ in 0..5 {
        let begun = Instant::now();
        let done = Command::new(&tools.fathom)
            .args(["history", "--store"])
            .arg(&path)
            .output()
            .map_err(said)?;
        times.push(begun.elapsed());
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).into_owned());
        }
    }
    row(&mut table, "fathom history of all", "300 ms", &mut times);
    let other = Location::File(folder.join("imported.sqlite"));
    let mut store = Store::open(&other).map_err(said)?;
    let text = import(imported, 0);
    table.note(format!(
        "the record of the import has {} MB",
        text.len() / 1_000_000
    ));
    let begun = Instant::now();
    let draft = Draft::measured(text).map_err(said)?;
    store.save(&draft).map_err(said)?;
    row(
        &mut table,
        "saving the import",
        "5 s",
        &mut [begun.elapsed()],
    );
    Ok(table)
}

/// Returns a record of another tool's results, with one sample for each benchmark.
fn import(benchmarks: u64, hours: i64) -> String {
    let one = |n: u64| {
        json!({"name": format!("benchmark {n}"), "parameters": {}, "metric": "wall", "unit": "s",
            "direction": "lower_is_better", "samples": [1.0 + n as f64 * 1e-6 + hours as f64 * 1e-3]})
    };
    let all: Vec<_> = (0..benchmarks).map(one).collect();
    json!({"schema_version": 2, "kind": "imported", "fathom_version": "0.1.0", "environment": {},
        "started_at": date::text(START + hours * HOUR), "time_from_file": true, "revision": null,
        "left_out": [], "source": {"tool": "csv", "version": null, "file": "-"}, "benchmarks": all})
    .to_string()
}

/// Saves records of one run each. Their bodies are as small as possible; the size of bodies is measured
/// separately.
fn fill(store: &mut Store, series: u64, points: i64) -> Stored<()> {
    let mut random = Random(7);
    let template = Draft::of(record(series / 15 + 1, 0, &mut random))?.points;
    for first in (0..points).step_by(TOGETHER as usize) {
        let mut drafts = Vec::new();
        for n in first..(first + TOGETHER).min(points) {
            let head = json!({"kind": "bench", "fathom_version": "0.1.0", "environment": {"kernel": "a"},
                "started_at": date::text(START + n * HOUR)});
            let mut draft = Draft::of(head.to_string())?;
            draft.points = template[..series as usize].to_vec();
            for point in &mut draft.points {
                let value = 0.25 * (1.0 + random.next() * 0.05);
                (point.low, point.value, point.high) =
                    (value * 0.97, value, value * (1.02 + random.next() * 0.01));
            }
            drafts.push(draft);
        }
        store.save_all(&drafts)?;
    }
    Ok(())
}

type Stored<T> = std::result::Result<T, fathom_store::Error>;

fn sizes(store: &mut Store, table: &mut Table) -> Stored<()> {
    let info = store.info()?;
    let points = info.points as f64;
    let bytes = info.point_bytes as f64 / points;
    table.row([
        "bytes a point".to_owned(),
        format!("{bytes:.1}"),
        String::new(),
        String::new(),
        info.points.to_string(),
        "40".to_owned(),
    ]);
    table.note(format!(
        "everything takes {:.1} bytes a point, heads and bodies of records included",
        info.bytes as f64 / points
    ));
    Ok(())
}

fn reads(store: &mut Store, table: &mut Table, points: usize) -> Stored<()> {
    let all: Vec<i64> = (store.series(&SeriesFilter::default(), 0)?.iter())
        .map(|series| series.number)
        .collect();
    let some: Vec<i64> = (0..40).map(|n| all[n * 37 % all.len()]).collect();
    timed(
        table,
        "last 50 points of a series",
        "5 ms",
        some.iter(),
        |series| Ok(store.newest(&[*series], 50)?[series].len() == 50),
    )?;
    timed(table, "a whole series", "20 ms", some.iter(), |series| {
        Ok(store.points(*series, &Since::Start)?.len() == points)
    })?;
    timed(
        table,
        "a whole series with its records",
        "",
        some.iter(),
        |series| Ok(store.history(*series, &Since::Start)?.len() == points),
    )?;
    timed(
        table,
        "all series with their last 10 points",
        "",
        0..5,
        |_| Ok(store.series(&SeriesFilter::default(), 10)?.len() == all.len()),
    )
}

fn saves(store: &mut Store, table: &mut Table) -> Stored<()> {
    let mut random = Random(11);
    let drafts: Vec<Draft> = (0..100)
        .map(|n| Draft::of(record(30, 10_001 + n, &mut random)))
        .collect::<std::result::Result<_, _>>()?;
    let before = store.info()?.record_bytes;
    timed(
        table,
        "saving a record of 30 benchmarks",
        "50 ms",
        drafts.iter(),
        |draft| Ok(store.save(draft)?.new),
    )?;
    let bytes = (store.info()?.record_bytes - before) / drafts.len() as i64;
    table.note(format!(
        "a record of 30 benchmarks with 10 runs each has {} kB, kept in {:.1} kB",
        drafts[0].text.len() / 1000,
        bytes as f64 / 1e3
    ));
    Ok(())
}

/// Measures saves by concurrent connections, each of which saves as fast as it can.
fn writers(location: &Location, table: &mut Table) {
    let saved: Vec<Stored<Duration>> = std::thread::scope(|scope| {
        let writer = |writer: u64| {
            move || -> Vec<Stored<Duration>> {
                let mut store = match Store::open(location) {
                    Ok(store) => store,
                    Err(error) => return vec![Err(error)],
                };
                let mut random = Random(100 + writer);
                let mut save = |n: i64| -> Stored<Duration> {
                    let draft = Draft::of(record(30, 20_000 + n, &mut random))?;
                    let begun = Instant::now();
                    store.save(&draft)?;
                    Ok(begun.elapsed())
                };
                (0..EACH).map(&mut save).collect()
            }
        };
        let all: Vec<_> = (0..WRITERS)
            .map(|number| scope.spawn(writer(number)))
            .collect();
        all.into_iter()
            .flat_map(|writer| writer.join().expect("no writer panics"))
            .collect()
    });
    let failures = saved.iter().filter(|one| one.is_err()).count();
    let mut times: Vec<Duration> = saved.into_iter().filter_map(Stored::ok).collect();
    let what = format!("saving one beside {} other writers", WRITERS - 1);
    row(
        table,
        &what,
        &format!("none fails: {failures} did"),
        &mut times,
    );
}

fn timed<T>(
    table: &mut Table,
    what: &str,
    asked: &str,
    over: impl Iterator<Item = T>,
    mut body: impl FnMut(T) -> Stored<bool>,
) -> Stored<()> {
    let mut times = Vec::new();
    for one in over {
        let begun = Instant::now();
        let as_expected = body(one)?;
        times.push(begun.elapsed());
        assert!(as_expected, "{what}");
    }
    row(table, what, asked, &mut times);
    Ok(())
}

fn row(table: &mut Table, what: &str, asked: &str, times: &mut [Duration]) {
    times.sort();
    let at = |share: usize| match times.len() {
        0 => "-".to_owned(),
        n => format!("{:.2} ms", times[(n - 1) * share / 100].as_secs_f64() * 1e3),
    };
    table.row([
        what.to_owned(),
        at(50),
        at(99),
        at(100),
        times.len().to_string(),
        asked.to_owned(),
    ]);
}

/// Returns a record like those that `bench` writes, with ten runs of each benchmark.
fn record(benchmarks: u64, hours: i64, random: &mut Random) -> String {
    let mut noise = |size: f64| size * (1.0 + random.next() * 0.05);
    let mut runs = Vec::new();
    let mut results = Vec::new();
    for benchmark in 0..benchmarks {
        for round in 0..10 {
            let wall = noise(2.5e8) as u64;
            runs.push(json!({"benchmark": benchmark, "round": round, "position": round, "started_ns": wall * 7,
                "wall_ns": wall, "spawn_ns": 37470, "cpu_ns": wall - 5, "user_ns": wall / 2, "system_ns": wall / 3,
                "run_queue_wait_ns": noise(6e4) as u64, "harness_wait_ns": 0, "undisturbed_ns": wall - 6,
                "peak_memory_bytes": noise(1.6e6) as u64, "minor_faults": noise(80.0) as u64, "major_faults": 0,
                "voluntary_switches": 1, "involuntary_switches": 0, "io": {"read_bytes": 6976, "written_bytes": 51,
                "read_calls": 10, "write_calls": 1}, "steal_ns": 0, "left_behind": 0, "exit": {"code": 0}}));
        }
        let summary = |metric: &&str| {
            let value = noise(0.25);
            json!({"metric": metric, "runs": 10, "median": {"value": value, "low": value * 0.97,
                "high": value * 1.03, "level": 0.95}, "min": value * 0.9, "p10": value * 0.95, "p90": value * 1.1,
                "p99": value * 1.2, "max": value * 1.3, "mean": value * 1.01, "standard_deviation": value * 0.02})
        };
        let summaries: Vec<_> = METRICS.iter().map(summary).collect();
        results.push(json!({"benchmark": benchmark, "failures": 0, "summaries": summaries}));
    }
    let named =
        (0..benchmarks).map(|n| json!({"name": format!("benchmark {n}"), "parameters": []}));
    json!({"schema_version": 1, "kind": "bench", "fathom_version": "0.1.0",
        "started_at": date::text(START + hours * HOUR), "environment": {"kernel": "a"},
        "conditions": {"seed": hours}, "benchmarks": named.collect::<Vec<_>>(), "runs": runs,
        "outcome": {"stop": "run_count", "results": results}})
    .to_string()
}

/// Pseudo-random numbers from 0 to 1 (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
