//! Measures whether the time from exec to the first byte is right, repeatable, and unaffected by its
//! observer.

mod observers;

use std::process::{Command, Stdio};

use fathom_model::{Cache, Metric, StartupMetric, StartupRecord, StartupSummary};

use crate::Result;
use crate::hellos::{self, Hello};
use crate::options::Options;
use crate::share::Share;
use crate::table::{Table, percent, ratio, result, us};
use crate::tools::{Tools, median};

/// Required limit of the difference between the two ways of seeing the first byte, in seconds.
const ASKED_AGREEMENT: f64 = 50e-6;
/// Required limit of the spread of the medians of ten sessions, as a fraction.
const ASKED_SPREAD: f64 = 0.03;
/// Number of warm-up runs of the C loop.
const WARMUPS: usize = 5;
const SESSIONS: usize = 10;
/// Minimum number of sessions for a confidence interval of a ratio.
const FEWEST: usize = 6;
/// Maximum number of sessions; the first ones that were quiet count as those of a quiet machine.
const ALL_SESSIONS: usize = 60;
/// A session is quiet if the median of an empty program, run in turn with the other program, differs from its
/// best time by at most this fraction.
const QUIET: f64 = 0.015;
/// The best time of the empty program is this quantile of all sessions.
const BEST: f64 = 0.1;
const ENVIRONMENT: [(&str, &str); 2] = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C")];
const RUNS: usize = 200;
const TRACED: usize = 20;

/// Returns four tables: both ways of seeing the first byte for each hello program, the medians of short
/// sessions, the overhead of watching, and that of observers.
///
/// # Errors
/// If a hello program can't be built or a tool fails.
pub(crate) fn measure(tools: &Tools, options: &Options, share: Share) -> Result<Vec<Table>> {
    let folder = tools.file("hellos");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let (hellos, missing) = hellos::build(&folder)?;
    let record = all_hellos(tools, options, &hellos)?;
    let mut tables = vec![agreement(&hellos, &missing, &record)];
    if let Some(c) = hellos.iter().find(|hello| hello.language == "C") {
        tables.push(spread(tools, options, share.part(3.0, 4.0), c)?);
        tables.push(watching(tools, options, share.part(2.0, 3.0), c)?);
        tables.push(observers::measure(tools, options, c)?);
    }
    Ok(tables)
}

fn all_hellos(tools: &Tools, options: &Options, hellos: &[Hello]) -> Result<StartupRecord> {
    let rounds = options.scaled(RUNS).max(10).to_string();
    let traced = options.scaled(TRACED).max(5).to_string();
    let commands: Vec<&str> = hellos.iter().map(|hello| hello.command.as_str()).collect();
    session(tools, &["-r", &rounds, "--traced", &traced], &commands)
}

fn session(tools: &Tools, flags: &[&str], commands: &[&str]) -> Result<StartupRecord> {
    let file = tools.file("startup.json");
    let output = Command::new(&tools.fathom)
        .arg("startup")
        .args(flags)
        .arg("--json")
        .arg(&file)
        .args(commands)
        // As for all tools, the environment is cleared: with cargo's LD_LIBRARY_PATH, the loader fails to
        // find libraries a hundred times.
        .env_clear()
        .envs(ENVIRONMENT)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("can't start {}: {error}", tools.fathom.display()))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("fathom startup failed: {errors}"));
    }
    let text = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    serde_json::from_slice(&text).map_err(|e| format!("{}: {e}", file.display()))
}

fn first_output(record: &StartupRecord, program: usize) -> Option<&StartupSummary> {
    record.summaries.iter().find(|summary| {
        summary.program == program
            && summary.cache == Cache::Warm
            && summary.metric == StartupMetric::FirstOutput
    })
}

fn p50(record: &StartupRecord, program: usize) -> Option<f64> {
    first_output(record, program).map(|summary| summary.p50.value)
}

fn agreement(hellos: &[Hello], missing: &[&'static str], record: &StartupRecord) -> Table {
    let headers = [
        "hello",
        "first byte, untraced p50",
        "traced / untraced",
        "parent less kernel, median",
        "furthest apart",
        "within 50 µs",
        "asked",
        "result",
    ];
    let mut table = Table::new("Startup: both ways of seeing the first byte", &headers);
    for (program, hello) in hellos.iter().enumerate() {
        let mut row = vec![
            hello.language.to_string(),
            p50(record, program).map_or("?".to_string(), us),
        ];
        let trace = record.traces.iter().find(|trace| trace.program == program);
        let agreement = trace.and_then(|trace| trace.agreement.as_ref());
        if let Some((trace, agreement)) = trace.zip(agreement) {
            let close =
                |pair: &&(u64, u64)| pair.0.abs_diff(pair.1) as f64 / 1e9 <= ASKED_AGREEMENT;
            let within = agreement.pairs.iter().filter(close).count();
            let difference = agreement.median_difference_ns as f64 / 1e9;
            row.extend([
                trace.slowdown.map_or("?".to_string(), ratio),
                us(difference),
                us(agreement.largest_difference_ns as f64 / 1e9),
                format!("{within} of {}", agreement.pairs.len()),
                "median within 50 µs".to_string(),
                result(difference.abs() <= ASKED_AGREEMENT),
            ]);
        } else {
            row.push("not observed: needs root, or CAP_BPF and CAP_PERFMON".to_string());
        }
        table.row(row);
    }
    for language in missing {
        table.row([language.to_string(), "not run: not installed".to_string()]);
    }
    table.note("Parent side: from the child's own clock right before it calls execve to the byte in the pipe. Kernel side: from the entry of execve to the entry of the first write to descriptor 1. The same traced runs. The parent's includes the write call up to its byte.");
    table
}

/// One of several consecutive sessions.
struct Repeated {
    /// Median time to the first byte of all runs, in seconds; the next field is that of the runs that had
    /// their core to themselves.
    p50: f64,
    alone: Option<f64>,
    /// Fraction of the runs that shared their core.
    shared: f64,
    /// Median of the empty program in the same rounds, from exec to exit, in seconds.
    empty: f64,
    /// Median of the C loop right after the session, in seconds.
    control: f64,
}

impl Repeated {
    fn of(record: &StartupRecord, control: f64) -> Option<Repeated> {
        let summary = first_output(record, 0)?;
        let by_core = summary.by_core.as_ref()?;
        let mut summaries = record.summaries.iter();
        let empty = summaries.find(|it| it.program == 1 && it.metric == StartupMetric::Exit)?;
        Some(Repeated {
            p50: summary.p50.value,
            empty: empty.p50.value,
            alone: by_core.alone_p50.map(|p50| p50.value),
            shared: by_core.shared_runs as f64 / (by_core.alone_runs + by_core.shared_runs) as f64,
            control,
        })
    }

    /// Returns whether the empty program's time was close to its best time `best`, in seconds.
    fn is_quiet(&self, best: f64) -> bool {
        (self.empty / best - 1.0).abs() <= QUIET
    }
}

/// Returns the value at the quantile `p`, 0 to 1; 0 if there are no values.
fn quantile(mut values: Vec<f64>, p: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = (values.len() as f64 * p) as usize;
    values.get(at).copied().unwrap_or(0.0)
}

/// Measures how far apart the medians of the same program are, both in consecutive sessions and side by side.
fn spread(tools: &Tools, options: &Options, share: Share, hello: &Hello) -> Result<Table> {
    let runs = options.scaled(RUNS).max(20).to_string();
    let flags = ["-r", &runs, "--traced", "0"];
    let empty = tools.empty_command();
    let mut sessions: Vec<Repeated> = Vec::new();
    for _ in share.rounds(ALL_SESSIONS, SESSIONS) {
        let record = session(tools, &flags, &[&hello.command, &empty])?;
        let control = tools.c_loop(WARMUPS, options.scaled(RUNS).max(20), &hello.program)?;
        sessions.extend(Repeated::of(&record, control.commands[0].median_s));
    }
    let together = session(tools, &flags, &[hello.command.as_str(); SESSIONS])?;
    let side_by_side: Vec<f64> = (0..SESSIONS).filter_map(|n| p50(&together, n)).collect();
    let headers = [
        "C hello",
        "median of the medians",
        "lowest",
        "highest",
        "spread",
        "standard deviation",
        "asked",
        "result",
    ];
    let mut table = Table::new("Startup: the same answer each time", &headers);
    let first = &sessions[..SESSIONS.min(sessions.len())];
    let best = quantile(sessions.iter().map(|one| one.empty).collect(), BEST);
    let is_quiet = |one: &&Repeated| one.is_quiet(best);
    let found = sessions.iter().filter(is_quiet).count();
    let quietest: Vec<&Repeated> = sessions.iter().filter(is_quiet).take(SESSIONS).collect();
    let shared = first.iter().map(|one| one.shared).sum::<f64>() / first.len() as f64;
    let all = sessions.len();
    for (name, asked, medians) in [
        (
            format!("{SESSIONS} sessions of {runs} runs, one after another, as the machine was"),
            false,
            first.iter().map(|one| one.p50).collect::<Vec<f64>>(),
        ),
        (
            format!(
                "of these, without the {} of the runs that shared their core",
                percent(shared)
            ),
            false,
            first.iter().filter_map(|one| one.alone).collect(),
        ),
        (
            format!("control: {SESSIONS} times {runs} runs of the C loop, between those"),
            false,
            first.iter().map(|one| one.control).collect(),
        ),
        (
            format!(
                "the first {} sessions of {runs} runs on a quiet machine, of {found} among {all}",
                quietest.len()
            ),
            quietest.len() == SESSIONS,
            quietest.iter().map(|one| one.p50).collect(),
        ),
        (
            format!(
                "control: {} times {runs} runs of the C loop, between those",
                quietest.len()
            ),
            false,
            quietest.iter().map(|one| one.control).collect(),
        ),
        (
            format!("{SESSIONS} times {runs} runs, side by side"),
            true,
            side_by_side,
        ),
    ] {
        if medians.is_empty() {
            table.row([name, "none".to_string()]);
            continue;
        }
        table.row(spread_row(name, asked, &medians));
    }
    table.note(format!("Quiet: an empty program that was run in turn with the hello took what it takes at best (the tenth percentile of the sessions' medians, {}), within {}. Nothing of the hello's own times decides what counts as quiet.", us(best), percent(QUIET)));
    table.note("Spread: highest less lowest median, as a share of their median. The control is the same program under a bare loop of vfork, execve and wait4, whole runs: what it spreads is the machine's. One after another, it holds what the machine's speed does within the half minute; side by side (one command that is given the program ten times, in rounds of random order) it is Fathom's own.");
    Ok(table)
}

fn spread_row(name: String, asked: bool, medians: &[f64]) -> Vec<String> {
    let least = medians.iter().copied().fold(f64::INFINITY, f64::min);
    let most = medians.iter().copied().fold(0.0, f64::max);
    let share = (most - least) / median(medians);
    let deviation = fathom_stats::summarize(Metric::Wall, medians, 0.95)
        .map_or(0.0, |summary| summary.standard_deviation);
    let mut row = vec![
        name,
        us(median(medians)),
        us(least),
        us(most),
        percent(share),
        percent(deviation / median(medians)),
    ];
    if asked {
        row.extend(["under 3 %".to_string(), result(share < ASKED_SPREAD)]);
    }
    row
}

/// Measures the time from exec to exit while the pipe is watched, and with `bench`, which only drains it.
fn watching(tools: &Tools, options: &Options, share: Share, hello: &Hello) -> Result<Table> {
    let runs = options.scaled(RUNS).max(20).to_string();
    let (mut watched, mut plain) = (Vec::new(), Vec::new());
    for _ in share.rounds(SESSIONS, FEWEST) {
        let record = session(tools, &["-r", &runs, "--traced", "0"], &[&hello.command])?;
        let exits: Vec<f64> = record
            .runs
            .iter()
            .map(|run| run.exit_ns as f64 / 1e9)
            .collect();
        watched.push(median(&exits));
        let flags = ["-r", &runs, "--output", "pipe"];
        let (record, _) = tools.fathom_record(&flags, std::slice::from_ref(&hello.command))?;
        let exits: Vec<f64> = record
            .runs
            .iter()
            .map(|run| {
                let before = run.spawn_ns + run.harness_wait_ns.unwrap_or(0);
                run.wall_ns.saturating_sub(before) as f64 / 1e9
            })
            .collect();
        plain.push(median(&exits));
    }
    let headers = [
        "C hello, exec to exit",
        "median of medians",
        "/ bench",
        "95 % interval",
    ];
    let mut table = Table::new("Startup: what watching the pipe adds", &headers);
    table.row(["fathom bench --output pipe".to_string(), us(median(&plain))]);
    let mut row = vec!["fathom startup".to_string(), us(median(&watched))];
    if let Some(paired) = fathom_stats::paired_ratio(&plain, &watched, 0.95) {
        let found = paired.ratio;
        row.push(ratio(found.value));
        row.push(format!("{:.3} to {:.3}", found.low, found.high));
    }
    table.row(row);
    table.note(format!(
        "{} sessions of {runs} runs of each, in turn.",
        plain.len()
    ));
    Ok(table)
}
