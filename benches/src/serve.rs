//! Is `fathom serve` as quick as wrk, does it see a standstill, and are its stamps right?

mod stamps;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fathom_model::{LoadResult, ServeRecord};

use crate::Result;
use crate::compile::compile;
use crate::find::in_path;
use crate::options::Options;
use crate::table::{Table, ratio, result, us};
use crate::tools::{Tools, median};

/// Interleaved rounds beside wrk.
const ROUNDS: usize = 15;
/// Length of each, seconds.
const STEP: u32 = 3;
const CONNECTIONS: u32 = 64;
/// What is asked for.
const LEAST_THROUGHPUT: f64 = 0.95;
const MOST_CPU: f64 = 1.05;
const STALL_WITHIN: f64 = 0.03;
const MOST_LAG_US: f64 = 30.0;
const LITTLE_WITHIN: f64 = 0.02;

/// Beside wrk, a server that stands still, and the stamps of the start.
///
/// # Errors
/// When the server can't be built or a tool fails.
pub(crate) fn measure(tools: &Tools, options: &Options) -> Result<Vec<Table>> {
    let folder = tools.scratch_folder();
    let program = compile("subjects/http.c", &["-pthread"], folder)?;
    Ok(vec![
        beside_wrk(tools, options, &program)?,
        against_truth(tools, options, &program)?,
        stamps::measure(tools, options, &program)?,
    ])
}

/// A server that ends with this.
struct Running {
    child: Child,
    url: String,
}

impl Running {
    fn start(program: &Path, kind: &str, cpu: Option<&str>) -> Result<Running> {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = free
            .map_err(|error| format!("no free port: {error}"))?
            .port();
        let mut command = match cpu {
            Some(cpu) => {
                let mut command = Command::new("taskset");
                command.args(["-c", cpu]).arg(program);
                command
            }
            None => Command::new(program),
        };
        let child = command
            .args([&port.to_string(), kind])
            .stdin(Stdio::null())
            .spawn()
            .map_err(|error| format!("can't start {}: {error}", program.display()))?;
        let running = Running {
            child,
            url: format!("http://127.0.0.1:{port}/"),
        };
        for _ in 0..500 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(running);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err(format!("{} doesn't listen", program.display()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What `fathom serve` says; that the numbers can't be trusted is no failure here.
fn serve(tools: &Tools, options: &[&str]) -> Result<ServeRecord> {
    let file = tools.scratch_folder().join("serve.json");
    let output = Command::new(&tools.fathom)
        .args(["serve", "--json"])
        .arg(&file)
        .args(options)
        .env("XDG_CACHE_HOME", tools.scratch_folder().join("cache"))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("can't start {}: {error}", tools.fathom.display()))?;
    if !matches!(output.status.code(), Some(0 | 4)) {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("fathom serve failed: {errors}"));
    }
    let text = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    serde_json::from_slice(&text).map_err(|e| format!("{}: {e}", file.display()))
}

fn load(record: &ServeRecord) -> Result<&LoadResult> {
    let server = record.servers.first().ok_or("no server")?;
    server.load.first().ok_or_else(|| "no load".to_string())
}

/// Requests per second and CPU time of the client for each, microseconds.
struct Speed {
    per_second: f64,
    cpu_us: f64,
}

/// Both tools on a core of their own, in turn.
fn beside_wrk(tools: &Tools, options: &Options, program: &Path) -> Result<Table> {
    let mut table = Table::new(
        "Requests that the client can send, 64 connections, one core each",
        &[
            "client",
            "requests/s",
            "CPU each",
            "share of wrk",
            "",
            "asked",
            "result",
        ],
    );
    let Some(wrk) = in_path("wrk") else {
        table.note("wrk is not here: nothing to compare with (apt-get install wrk)");
        return Ok(table);
    };
    let cpus = fathom_machine::environment().cpus;
    let (server_cpu, client_cpu) = ("0".to_string(), cpus.saturating_sub(1).to_string());
    let running = Running::start(program, "fast", Some(&server_cpu))?;
    let rounds = if options.quick { 3 } else { ROUNDS };
    let step = if options.quick { 1 } else { STEP };
    let (mut own, mut of_wrk, mut little) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        // The order changes: neither profits from what the other left.
        for first in [round % 2 == 0, round % 2 != 0] {
            if first {
                let record = by_fathom(tools, &running.url, step)?;
                let load = load(&record)?;
                little.extend(load.little);
                own.push(Speed {
                    per_second: load.requests_per_second,
                    cpu_us: load.generator_cpu_us_per_request,
                });
            } else {
                of_wrk.push(by_wrk(tools, &wrk, &client_cpu, &running.url, step)?);
            }
        }
    }
    let ratios = |of: fn(&Speed) -> f64| -> Vec<f64> {
        own.iter()
            .zip(&of_wrk)
            .map(|(own, wrk)| of(own) / of(wrk))
            .collect()
    };
    let speed = median(&ratios(|speed| speed.per_second));
    let cpu = median(&ratios(|speed| speed.cpu_us));
    let of = |speeds: &[Speed], of: fn(&Speed) -> f64| {
        median(&speeds.iter().map(of).collect::<Vec<_>>())
    };
    table.row([
        "wrk".to_string(),
        format!("{:.0}", of(&of_wrk, |speed| speed.per_second)),
        us(of(&of_wrk, |speed| speed.cpu_us) / 1e6),
    ]);
    table.row([
        "fathom serve".to_string(),
        format!("{:.0}", of(&own, |speed| speed.per_second)),
        us(of(&own, |speed| speed.cpu_us) / 1e6),
        ratio(speed),
        "requests/s".to_string(),
        format!("at least {LEAST_THROUGHPUT}"),
        result(speed >= LEAST_THROUGHPUT),
    ]);
    table.row([
        String::new(),
        String::new(),
        String::new(),
        ratio(cpu),
        "CPU each".to_string(),
        format!("at most {MOST_CPU}"),
        result(cpu <= MOST_CPU),
    ]);
    let off = little
        .iter()
        .map(|little| (little - 1.0).abs())
        .fold(0.0, f64::max);
    table.row([
        "Little's law".to_string(),
        String::new(),
        String::new(),
        ratio(off),
        "off at most".to_string(),
        format!("{LITTLE_WITHIN}"),
        result(off <= LITTLE_WITHIN),
    ]);
    table.note(format!(
        "{rounds} rounds of {step} s in turn; ratios are medians over the rounds"
    ));
    Ok(table)
}

fn by_fathom(tools: &Tools, url: &str, step: u32) -> Result<ServeRecord> {
    let (time, connections) = (format!("{step}s"), CONNECTIONS.to_string());
    let options = [
        "--url",
        url,
        "-c",
        &connections,
        "--rate",
        "0",
        "--rounds",
        "1",
        "--time",
        &time,
    ];
    serve(tools, &options)
}

fn by_wrk(tools: &Tools, wrk: &Path, cpu: &str, url: &str, step: u32) -> Result<Speed> {
    // The same warm-up.
    for seconds in [1, step] {
        let file = tools.scratch_folder().join("wrk.txt");
        let line = format!(
            "exec taskset -c {cpu} {} -t1 -c{CONNECTIONS} -d{seconds}s {url} > {}",
            wrk.display(),
            file.display()
        );
        let usage = tools.run(Path::new("/bin/sh"), &["-c", &line])?;
        if seconds != step {
            continue;
        }
        let text = std::fs::read_to_string(&file).map_err(|e| format!("wrk: {e}"))?;
        let line = text.lines().find(|line| line.contains(" requests in "));
        let requests = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
        let per_second = text
            .lines()
            .find_map(|line| line.strip_prefix("Requests/sec:"));
        let per_second = per_second.and_then(|text| text.trim().parse().ok());
        if let (Some(requests), Some(per_second)) = (requests, per_second) {
            return Ok(Speed {
                per_second,
                cpu_us: usage.cpu_s * 1e6 / requests,
            });
        }
    }
    Err("what wrk wrote can't be read".to_string())
}

/// A server with 1 ms and a standstill of 1 s every 10 s, and how punctual the sending is.
fn against_truth(tools: &Tools, options: &Options, program: &Path) -> Result<Table> {
    let mut table = Table::new(
        "A server with 1 ms and a standstill of 1 s in every 10 s, 1,000 requests/s",
        &["", "found", "true", "asked", "result"],
    );
    let running = Running::start(program, "stall", None)?;
    let seconds = if options.quick { 10 } else { 40 };
    let time = format!("{seconds}s");
    let record = serve(
        tools,
        &[
            "--url",
            &running.url,
            "-c",
            "50",
            "--rate",
            "1000",
            "--rounds",
            "1",
            "--time",
            &time,
        ],
    );
    // With -c the closed loop comes too; the open one is the last.
    let record = record?;
    let open = record.servers[0].load.last().ok_or("no load")?;
    for (name, found, share) in [
        ("p99", open.response_ms.p99, 0.99),
        ("p99.9", open.response_ms.p999, 0.999),
    ] {
        let found = found.unwrap_or(f64::NAN);
        let truth = truth(share);
        table.row([
            name.to_string(),
            format!("{found:.0} ms"),
            format!("{truth:.0} ms"),
            "within 3 %".to_string(),
            result((found / truth - 1.0).abs() <= STALL_WITHIN),
        ]);
    }
    let closed = &record.servers[0].load[0];
    table.row([
        "p99 of a closed loop".to_string(),
        closed
            .response_ms
            .p99
            .map_or("n/a".to_string(), |ms| format!("{ms:.1} ms")),
        "blind for it".to_string(),
    ]);
    drop(running);
    punctual(tools, options, program, &mut table)?;
    let little = open.little.unwrap_or(f64::NAN);
    table.row([
        "Little's law, open loop".to_string(),
        ratio(little),
        "1".to_string(),
        "within 2 %".to_string(),
        result((little - 1.0).abs() <= LITTLE_WITHIN),
    ]);
    Ok(table)
}

/// A tenth of the arrivals meet a standstill, wherever the step begins, as it lasts whole tens of
/// seconds; they wait evenly from 1 s down to nothing. Milliseconds that a share of all don't
/// exceed.
fn truth(share: f64) -> f64 {
    1000.0 * (1.0 - (1.0 - share) / 0.1)
}

fn punctual(tools: &Tools, options: &Options, program: &Path, table: &mut Table) -> Result<()> {
    let running = Running::start(program, "fast", Some("0"))?;
    let time = if options.quick { "1s" } else { "10s" };
    let record = serve(
        tools,
        &[
            "--url",
            &running.url,
            "-c",
            "0",
            "--rate",
            "10000",
            "--rounds",
            "1",
            "--time",
            time,
        ],
    )?;
    let lag = load(&record)?.generator_lag_us.p50.unwrap_or(f64::NAN);
    table.row([
        "lag p50 at 10,000/s".to_string(),
        format!("{lag:.1} µs"),
        String::new(),
        format!("under {MOST_LAG_US} µs"),
        result(lag < MOST_LAG_US),
    ]);
    let many = serve(
        tools,
        &[
            "--url",
            &running.url,
            "-c",
            "10000",
            "--rate",
            "0",
            "--rounds",
            "1",
            "--time",
            time,
        ],
    )?;
    let many = load(&many)?;
    table.row([
        "10,000 connections".to_string(),
        format!("{:.0} requests/s", many.requests_per_second),
        String::new(),
        "no error".to_string(),
        result(many.errors == 0 && many.dropped == 0 && many.completed > 0),
    ]);
    Ok(())
}

/// A file of the kernel's tracing, if this user may use it.
fn tracing() -> Option<PathBuf> {
    let folders = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
    let found = folders
        .iter()
        .map(Path::new)
        .find(|folder| folder.join("instances").is_dir());
    found.map(Path::to_path_buf)
}
