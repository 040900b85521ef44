//! Measures whether runs get slower with the number of runs, or with the memory that Fathom holds.

use std::path::Path;
use std::time::Duration;

use fathom_measure::simulated::quiet_run;
use fathom_measure::{
    Against, Attempt, CommandLine, Hooks, IgnoreFailure, Input, MeasureError, Observer, Output,
    Plan, ProcessExecutor, ProcessOptions, Question, StopRule, conduct,
};
use fathom_model::Run;
use fathom_model::RunOrder;
use rand::seq::SliceRandom;

use crate::Result;
use crate::options::Options;
use crate::share::Share;
use crate::table::{Table, mib, ratio, result, us};
use crate::tools::{Measured, Tools, median};

const RUNS: usize = 10_000;
const PART: usize = 1_000;
const SESSIONS: usize = 8;
/// Required limit: no growth can't be distinguished from growth below the limit for the floor.
const ASKED: f64 = 1.02;
const BALLAST: usize = 1 << 30;
const BALLAST_RUNS: usize = 200;
const BALLAST_PAIRS: usize = 60;
/// Minimum number of pairs for a confidence interval of a ratio.
const FEWEST_PAIRS: usize = 6;
/// Pause before each session: filling a gibibyte keeps a CPU busy, which the scheduler remembers for a while.
/// Sessions without ballast wait as well.
const PAUSE: Duration = Duration::from_millis(300);

/// Measures both kinds of growth.
///
/// # Errors
/// If a tool fails.
pub(crate) fn measure(tools: &Tools, options: &Options, share: Share) -> Result<Table> {
    let headers = ["growth", "first", "last", "last / first", "asked", "result"];
    let mut table = Table::new("Growth: does a run cost more after many", &headers);
    many_runs(tools, options, share.part(2.0, 3.0), &mut table)?;
    much_memory(tools, options, share, &mut table)?;
    table.note(format!(
        "'No growth' is taken as at most {:.0} %, what the floor is asked to keep. The C loop keeps one pair of numbers per run: what it shows is the machine's own drift.",
        (ASKED - 1.0) * 100.0
    ));
    Ok(table)
}

fn many_runs(tools: &Tools, options: &Options, share: Share, table: &mut Table) -> Result<()> {
    const NAMES: [&str; 3] = ["Fathom, --json", "hyperfine 2", "C loop"];
    let (runs, part) = (options.scaled(RUNS), options.scaled(PART));
    // For each tool and session: median of the first part, median of the last part, peak memory.
    let mut found: [Vec<[f64; 3]>; 3] = Default::default();
    let mut order = [0, 1, 2];
    for _ in share.rounds(options.scaled(SESSIONS), 2) {
        order.shuffle(&mut rand::rng());
        for tool in order {
            let Some(measured) = session(tools, tool, runs)? else {
                continue;
            };
            let wall = &measured.commands[0].wall_s;
            let (first, last) = (&wall[..part], &wall[wall.len() - part..]);
            found[tool].push([median(first), median(last), measured.usage.peak_bytes]);
        }
    }
    let mut spreads = Vec::new();
    for (tool, name) in NAMES.iter().enumerate() {
        let column = |i: usize| median(&found[tool].iter().map(|f| f[i]).collect::<Vec<_>>());
        let label = format!(
            "{name}: median of runs 1–{part}, {}–{runs}",
            runs - part + 1
        );
        if found[tool].is_empty() {
            table.row([label, "not found".to_string()]);
            continue;
        }
        let ratios: Vec<f64> = found[tool].iter().map(|f| f[1] / f[0]).collect();
        let grown = median(&ratios);
        let mut row = vec![label, us(column(0)), us(column(1)), ratio(grown)];
        if tool == 0 {
            row.extend(["no growth".to_string(), result(grown <= ASKED)]);
        }
        table.row(row);
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        spreads.push(format!("{name} {least:.3} to {most:.3}"));
    }
    table.note(format!(
        "Last / first over {} sessions of each tool in random order, the median; they lay between: {}.",
        found[0].len(),
        spreads.join(", ")
    ));
    for (tool, name) in NAMES.iter().enumerate().take(2) {
        let Some(few) = session(tools, tool, 100)? else {
            continue;
        };
        let few = few.usage.peak_bytes;
        let many = median(&found[tool].iter().map(|f| f[2]).collect::<Vec<_>>());
        table.row([
            format!("{name}: its own peak memory, session of 100 runs, of {runs}"),
            mib(few),
            mib(many),
            ratio(many / few),
        ]);
    }
    Ok(())
}

fn session(tools: &Tools, tool: usize, runs: usize) -> Result<Option<Measured>> {
    let count = runs.to_string();
    let flags = ["-w", "0", "-r", &count];
    let commands = [tools.empty_command()];
    Ok(match tool {
        0 => Some(tools.fathom_json(&flags, &commands)?),
        1 => tools.hyperfine(&flags, &commands)?,
        _ => Some(tools.c_loop(0, runs, &tools.empty)?),
    })
}

fn much_memory(tools: &Tools, options: &Options, share: Share, table: &mut Table) -> Result<()> {
    let label = "Fathom's library: median without, with 1 GiB of recorded runs in memory";
    let free = available_memory();
    if free.is_some_and(|free| free < 3 * (BALLAST as u64) / 2) {
        table.row([label.to_string(), "too little memory".to_string()]);
        return Ok(());
    }
    let own = std::env::current_exe().map_err(|e| format!("can't tell where I am: {e}"))?;
    let file = tools.file("ballast.txt");
    let mut medians: [Vec<f64>; 2] = Default::default();
    let mut order = [0, 1];
    for _ in share.rounds(options.scaled(BALLAST_PAIRS).max(2), FEWEST_PAIRS) {
        order.shuffle(&mut rand::rng());
        for with in order {
            let bytes = (with * BALLAST).to_string();
            let words: [&std::ffi::OsStr; 4] = [
                BALLAST_SESSION.as_ref(),
                bytes.as_ref(),
                file.as_ref(),
                tools.empty.as_ref(),
            ];
            let usage = tools.run(&own, &words)?;
            if usage.peak_bytes < (with * BALLAST) as f64 {
                return Err("the session with 1 GiB did not have it".into());
            }
            let text = std::fs::read_to_string(&file).map_err(|e| format!("ballast: {e}"))?;
            medians[with].push(text.trim().parse().map_err(|e| format!("ballast: {e}"))?);
        }
    }
    let paired = fathom_stats::paired_ratio(&medians[0], &medians[1], 0.95)
        .ok_or("no sessions with ballast")?;
    table.row([
        label.to_string(),
        us(median(&medians[0])),
        us(median(&medians[1])),
        ratio(paired.ratio.value),
        "no growth".to_string(),
        result(paired.ratio.value <= ASKED),
    ]);
    table.note(format!(
        "1 GiB: {} sessions of {BALLAST_RUNS} runs each way, in random order, each a process of its own that calls Fathom's library after it has filled a list of recorded runs; 95 % interval of the ratio {:.3} to {:.3}.",
        medians[0].len(),
        paired.ratio.low,
        paired.ratio.high
    ));
    Ok(())
}

fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    Some(line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// First argument of a process that measures with ballast in memory.
pub(crate) const BALLAST_SESSION: &str = "ballast-session";

/// Runs a session with ballast: fills `bytes` with recorded runs, then measures `program` with Fathom's
/// library and writes the median wall time in seconds to `file`.
///
/// # Errors
/// If the program can't be measured.
pub(crate) fn ballast_session(bytes: usize, file: &Path, program: &Path) -> Result<()> {
    let attempt = Attempt {
        benchmark: 0,
        warmup: false,
        round: 0,
        position: 0,
    };
    let recorded = vec![quiet_run(&attempt, 1); bytes.div_ceil(size_of::<Run>())];
    std::thread::sleep(PAUSE);
    let command = CommandLine {
        arguments: vec![program.into()],
        program: program.to_path_buf(),
        directory: None,
        variables: Vec::new(),
        input: Input::Null,
        output: Output::Null,
        expect: None,
        without: fathom_measure::Without::default(),
    };
    let options = ProcessOptions {
        timeout: None,
        pin: Vec::new(),
        vary_environment_size: true,
        show_output: false,
        keep_daemons: false,
        seed: 0,
    };
    let failed = |error: MeasureError| error.to_string();
    let mut executor =
        ProcessExecutor::new(vec![(command, Hooks::default())], options).map_err(failed)?;
    let question = Question {
        names: vec!["empty".into()],
        against: Against::One(0),
        metrics: Vec::new(),
        margin: 0.01,
        alpha: 0.05,
    };
    let plan = Plan {
        benchmarks: 1,
        warmup: 10,
        order: RunOrder::Random,
        seed: 0,
        stop: StopRule::Runs(BALLAST_RUNS as u32),
        question,
        ignore_failure: IgnoreFailure::Never,
    };
    let session = conduct(&plan, &mut executor, &mut Nobody);
    if let Some(error) = session.failure {
        return Err(failed(error));
    }
    // The ballast is kept until here, so it was in memory the whole time.
    drop(std::hint::black_box(recorded));
    let wall: Vec<f64> = session
        .runs
        .iter()
        .map(|run| run.wall_ns as f64 / 1e9)
        .collect();
    std::fs::write(file, format!("{}\n", median(&wall))).map_err(|e| e.to_string())
}

/// An observer that ignores everything.
struct Nobody;

impl Observer for Nobody {
    fn round(&mut self, _: u32, _: bool) {}
    fn starts(&mut self, _: usize) {}
    fn ran(&mut self, _: &Run) -> std::result::Result<(), MeasureError> {
        Ok(())
    }
    fn round_done(&mut self, _: &[Run], _: u32, _: Duration) {}
}
