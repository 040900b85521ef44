//! Measures whether the client is as fast as wrk on one core, and costs as little per request.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{LITTLE_WITHIN, ROUNDS, Running, load, serve};
use crate::Result;
use crate::find::in_path;
use crate::options::Options;
use crate::table::{Table, ratio, result, us};
use crate::tools::{Tools, median};

const CONNECTIONS: &str = "64";
/// Duration of each tool's measurement in a round, in seconds.
const STEP: u32 = 2;
/// Required throughput, as a fraction of wrk's.
const LEAST_THROUGHPUT: f64 = 0.95;
const MOST_CPU: f64 = 1.05;
/// A rate above what any client can send: wrk2, which always needs a rate, then sends as fast as it can.
const NO_LIMIT: &str = "-R10000000";

#[derive(Clone, Copy, PartialEq)]
enum Client {
    Fathom,
    Wrk,
    Wrk2,
    Oha,
}

/// The clients; Fathom's and the others are compared with wrk.
const CLIENTS: [(Client, &str); 4] = [
    (Client::Wrk, "wrk"),
    (Client::Fathom, "fathom serve"),
    (Client::Wrk2, "wrk2"),
    (Client::Oha, "oha"),
];

/// The result of one client's measurement in a round.
struct Speed {
    per_second: f64,
    /// CPU time of the client per request, in microseconds.
    cpu_us: f64,
    /// The result of Little's law, as reported by Fathom.
    little: Option<f64>,
}

/// An installed client, and its results in each round.
struct Rival {
    client: Client,
    name: &'static str,
    program: PathBuf,
    speeds: Vec<Speed>,
}

/// Measures all installed clients one after the other on the last CPU; the server is on the first.
///
/// # Errors
/// If a tool fails.
pub(super) fn measure(tools: &Tools, options: &Options, program: &Path) -> Result<Table> {
    let mut table = Table::new(
        "Requests that a client can send on one core, 64 connections, beside wrk",
        &["client", "", "median", "share of wrk", "asked", "result"],
    );
    let mut rivals = rivals(tools);
    for (_, name) in CLIENTS {
        if rivals.iter().all(|rival| rival.name != name) {
            table.note(format!("{name} is not installed"));
        }
    }
    let running = Running::start(program, "fast", Some("0"))?;
    let cpu = fathom_machine::environment().cpus.saturating_sub(1);
    let rounds = if options.quick { 3 } else { ROUNDS };
    let count = rivals.len();
    for round in 0..rounds as usize {
        for place in 0..count {
            // The order changes, so that no client always benefits from the state that the previous one left.
            let rival = &mut rivals[(place + round) % count];
            let speed = rival.run(tools, cpu, &running.url)?;
            rival.speeds.push(speed);
        }
    }
    let wrk = rivals.iter().find(|rival| rival.client == Client::Wrk);
    for rival in &rivals {
        rival.rows(wrk, &mut table);
    }
    table.note(format!(
        "{rounds} rounds of {STEP} s each in turn; shares are medians of the shares of each round"
    ));
    Ok(table)
}

fn rivals(tools: &Tools) -> Vec<Rival> {
    let found = CLIENTS.into_iter().filter_map(|(client, name)| {
        let program = match client {
            Client::Fathom => tools.fathom.clone(),
            _ => in_path(name)?,
        };
        Some(Rival {
            client,
            name,
            program,
            speeds: Vec::new(),
        })
    });
    found.collect()
}

impl Rival {
    fn run(&self, tools: &Tools, cpu: usize, url: &str) -> Result<Speed> {
        let time = format!("{STEP}s");
        let c = format!("-c{CONNECTIONS}");
        let words: &[&str] = match self.client {
            Client::Fathom => return by_fathom(tools, url, &time),
            Client::Wrk => &["-t1", &c, "-d", &time],
            Client::Wrk2 => &["-t1", &c, NO_LIMIT, "-d", &time],
            Client::Oha => &["--no-tui", "--output-format", "json", &c, "-z", &time],
        };
        let file = tools.file("rival.txt");
        let line = format!(
            "exec taskset -c {cpu} {} {} {url} > {}",
            self.program.display(),
            words.join(" "),
            file.display()
        );
        let usage = tools.run(Path::new("/bin/sh"), &["-c", &line])?;
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", self.name))?;
        let (requests, per_second) = match self.client {
            Client::Oha => by_oha(&text),
            _ => by_wrk(&text),
        }
        .ok_or_else(|| format!("what {} wrote can't be read: {text}", self.name))?;
        Ok(Speed {
            per_second,
            cpu_us: usage.cpu_s * 1e6 / requests,
            little: None,
        })
    }

    fn rows(&self, wrk: Option<&Rival>, table: &mut Table) {
        let is_own = self.client == Client::Fathom;
        let all = |of: fn(&Speed) -> f64| self.speeds.iter().map(of).collect::<Vec<f64>>();
        let share = |of: fn(&Speed) -> f64| {
            let pairs = self.speeds.iter().zip(&wrk?.speeds);
            Some(median(
                &pairs
                    .map(|(own, wrk)| of(own) / of(wrk))
                    .collect::<Vec<_>>(),
            ))
        };
        let beside = |share: Option<f64>, asked: String, reached: fn(f64) -> bool| {
            let share = share.filter(|_| self.client != Client::Wrk);
            let judged = share.filter(|_| is_own);
            [
                share.map_or(String::new(), ratio),
                judged.map_or(String::new(), |_| asked),
                judged.map_or(String::new(), |share| result(reached(share))),
            ]
        };
        let rate = [
            self.name.to_string(),
            "requests/s".to_string(),
            format!("{:.0}", median(&all(|speed| speed.per_second))),
        ];
        let asked = format!("at least {LEAST_THROUGHPUT}");
        let share_of_rate = share(|speed| speed.per_second);
        table.row(
            rate.into_iter()
                .chain(beside(share_of_rate, asked, |share| {
                    share >= LEAST_THROUGHPUT
                })),
        );
        let cpu = [
            String::new(),
            "CPU each".to_string(),
            us(median(&all(|speed| speed.cpu_us)) / 1e6),
        ];
        let asked = format!("at most {MOST_CPU}");
        let share_of_cpu = share(|speed| speed.cpu_us);
        table.row(
            cpu.into_iter()
                .chain(beside(share_of_cpu, asked, |share| share <= MOST_CPU)),
        );
        if is_own {
            let little = self.speeds.iter().filter_map(|speed| speed.little);
            let little = median(&little.collect::<Vec<_>>());
            table.row([
                String::new(),
                "Little's law".to_string(),
                ratio(little),
                String::new(),
                format!("within {:.0} % of 1", LITTLE_WITHIN * 100.0),
                result((little - 1.0).abs() <= LITTLE_WITHIN),
            ]);
        }
    }
}

fn by_fathom(tools: &Tools, url: &str, time: &str) -> Result<Speed> {
    let load_options = [
        "-c",
        CONNECTIONS,
        "--rate",
        "0",
        "--rounds",
        "1",
        "--time",
        time,
    ];
    let record = serve(tools, &[&["--url", url][..], &load_options].concat())?;
    let load = load(&record)?;
    Ok(Speed {
        per_second: load.requests_per_second,
        cpu_us: load.generator_cpu_us_per_request,
        little: load.little,
    })
}

/// Returns the number of requests, and the number per second, from the output of wrk or wrk2.
fn by_wrk(text: &str) -> Option<(f64, f64)> {
    let line = text.lines().find(|line| line.contains(" requests in "))?;
    let requests = line.trim().split(' ').next()?.parse().ok()?;
    let per_second = text
        .lines()
        .find_map(|line| line.strip_prefix("Requests/sec:"))?;
    Some((requests, per_second.trim().parse().ok()?))
}

fn by_oha(text: &str) -> Option<(f64, f64)> {
    let all: Value = serde_json::from_str(text).ok()?;
    let number = |key: &str| all["summary"][key].as_f64();
    let per_second = number("requestsPerSec")?;
    Some((per_second * number("total")?, per_second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_write_is_read() {
        let wrk = "Running 2s test @ http://127.0.0.1:8080/\n  1 threads and 64 connections\n  \
                   198313 requests in 2.01s, 14.75MB read\nRequests/sec:  98663.18\n";
        assert_eq!(by_wrk(wrk), Some((198_313.0, 98_663.18)));
        assert_eq!(by_wrk("unable to connect"), None);
        let oha = r#"{"summary":{"successRate":1.0,"total":2.0,"requestsPerSec":70000.5}}"#;
        assert_eq!(by_oha(oha), Some((140_001.0, 70_000.5)));
    }
}
