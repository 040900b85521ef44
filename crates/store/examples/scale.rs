//! Figures of a store: `cargo run --release -p fathom-store --example scale [-- postgres://...]`.
//!
//! SQLite: 1,000 series of 10,000 points in a temporary folder (`TMPDIR`). With an address: 100 series of
//! 10,000 points in its schema `fathom_scale`, which is removed before and after.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example prints"
)]

use std::time::{Duration, Instant};

use fathom_store::{Draft, Location, SeriesFilter, Since, Store, date};
use serde_json::json;

type Anything = Result<(), Box<dyn std::error::Error>>;

const HOUR: i64 = 3_600_000;
const START: i64 = 1_700_000_000_000;

/// The metrics of `bench`.
const METRICS: [&str; 15] = [
    "wall",
    "undisturbed",
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

fn main() -> Anything {
    match std::env::args().nth(1) {
        Some(address) => postgresql(&address),
        None => sqlite(),
    }
}

fn sqlite() -> Anything {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("scale.sqlite");
    let location = Location::File(path.clone());
    let mut store = Store::open(&location)?;
    println!("SQLite: 1,000 series x 10,000 points");
    fill(&mut store, 1_000, 10_000)?;
    figures(&mut store)?;
    writers(&location)
}

fn postgresql(address: &str) -> Anything {
    let mut client = postgres::Client::connect(address, postgres::NoTls)?;
    let remove = "DROP SCHEMA IF EXISTS fathom_scale CASCADE";
    client.batch_execute(remove)?;
    let mark = if address.contains('?') { '&' } else { '?' };
    let location = Location::parse(&format!("{address}{mark}schema=fathom_scale"))?;
    let mut store = Store::open(&location)?;
    println!("PostgreSQL: 100 series x 10,000 points");
    fill(&mut store, 100, 10_000)?;
    figures(&mut store)?;
    writers(&location)?;
    drop(store);
    client.batch_execute(remove)?;
    Ok(())
}

/// Records of one run each whose bodies are as small as they can be: they are weighed apart.
fn fill(store: &mut Store, series: u64, points: i64) -> Anything {
    let begun = Instant::now();
    let mut random = Random(7);
    let template = Draft::of(record(series / 15 + 1, 0, &mut random))?.points;
    for first in (0..points).step_by(250) {
        let mut drafts = Vec::new();
        for n in first..(first + 250).min(points) {
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
    println!("  filled in {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

fn figures(store: &mut Store) -> Anything {
    let info = store.info()?;
    println!(
        "  points: {:.1} bytes each ({} points); everything: {:.1} bytes a point, records {:.1} of them",
        info.point_bytes as f64 / info.points as f64,
        info.points,
        info.bytes as f64 / info.points as f64,
        info.record_bytes as f64 / info.points as f64,
    );
    let some: Vec<i64> = store
        .series(&SeriesFilter::default(), 0)?
        .iter()
        .map(|series| series.number)
        .collect();
    let some: Vec<i64> = (0..40).map(|n| some[n * 37 % some.len()]).collect();
    timed("last 50 points of a series", 0..40, |n| {
        let filter = SeriesFilter {
            benchmarks: vec![format!("benchmark {}", n % 6)],
            metric: Some("cpu".into()),
        };
        Ok(store.series(&filter, 50)?[0].last.len() == 50)
    })?;
    timed("a whole series", some.iter(), |series| {
        Ok(store.points(*series, &Since::Start)?.len() == 10_000)
    })?;
    timed("a whole series with its records", some.iter(), |series| {
        Ok(store.history(*series, &Since::Start)?.len() == 10_000)
    })?;
    timed("all series with their last 10 points", 0..5, |_| {
        Ok(store.series(&SeriesFilter::default(), 10)?.len() >= 100)
    })?;
    let mut random = Random(11);
    let drafts: Vec<Draft> = (0..100)
        .map(|n| Draft::of(record(30, 10_001 + n, &mut random)))
        .collect::<Result<_, _>>()?;
    println!(
        "  a record of 30 benchmarks has {} kB",
        drafts[0].text.len() / 1000
    );
    timed("saving a record of 30 benchmarks", drafts.iter(), |draft| {
        Ok(store.save(draft)?.new)
    })?;
    let after = store.info()?;
    let bytes = (after.record_bytes - info.record_bytes) / drafts.len() as i64;
    println!("  its whole record takes {:.1} kB", bytes as f64 / 1e3);
    Ok(())
}

/// Eight processes' worth of connections that save as quickly as they can, for a while.
fn writers(location: &Location) -> Anything {
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let writer = |writer: u64| {
            move || {
                let mut store = Store::open(location).expect("it is open to others");
                let mut random = Random(100 + writer);
                let draft =
                    |n: i64| Draft::of(record(30, 20_000 + n, &mut random)).expect("a record");
                let drafts: Vec<Draft> = (0..25).map(draft).collect();
                let save = |draft: &Draft| {
                    let begun = Instant::now();
                    assert!(store.save(draft).expect("nothing fails beside others").new);
                    begun.elapsed()
                };
                drafts.iter().map(save).collect::<Vec<_>>()
            }
        };
        let all: Vec<_> = (0..8).map(|number| scope.spawn(writer(number))).collect();
        all.into_iter()
            .flat_map(|writer| writer.join().expect("no writer fails"))
            .collect()
    });
    show("saving one beside 7 other writers", &mut times);
    Ok(())
}

fn timed<T>(
    what: &str,
    over: impl Iterator<Item = T>,
    mut body: impl FnMut(T) -> Result<bool, Box<dyn std::error::Error>>,
) -> Anything {
    let mut times = Vec::new();
    for one in over {
        let begun = Instant::now();
        let as_expected = body(one)?;
        times.push(begun.elapsed());
        assert!(as_expected, "{what}");
    }
    show(what, &mut times);
    Ok(())
}

fn show(what: &str, times: &mut [Duration]) {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    println!(
        "  {what}: p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms ({} times)",
        at(50),
        at(99),
        at(100),
        times.len()
    );
}

/// A record as `bench` writes it: ten runs of each benchmark.
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

/// Numbers from 0 to 1 that look like chance (SplitMix64).
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
