//! Measures how much CPU time a tool uses for itself, per run.

use rand::seq::SliceRandom;

use crate::Result;
use crate::compile::empty_static;
use crate::options::Options;
use crate::share::Share;
use crate::table::{Table, ratio, result, us};
use crate::tools::{Measured, Tools, median};

const NAMES: [&str; 4] = [
    "hyperfine 2, --export-json",
    "Fathom, --export-json",
    "Fathom, --json (every run durable)",
    "C loop (vfork, execve, wait4)",
];
const SHORT: usize = 100;
const LONG: usize = 1000;
const BLOCKS: usize = 15;
/// Number of runs of an empty program in one of Fathom's sessions: one warm-up run, and five runs before and
/// five after the others.
const FLOOR_RUNS: u32 = 11;

/// Measures the CPU time of the tool and all its processes, minus that of the runs themselves.
///
/// # Errors
/// If a tool fails.
pub(crate) fn measure(tools: &Tools, options: &Options, share: Share) -> Result<Table> {
    let floor_s = floor_cpu(tools)?;
    // Each tool's own CPU time in seconds, in short and in long sessions.
    let mut own: [[Vec<f64>; 2]; 4] = Default::default();
    let mut order: Vec<(usize, usize)> = (0..4).flat_map(|tool| [(tool, 0), (tool, 1)]).collect();
    for _ in share.rounds(options.scaled(BLOCKS).max(2), 2) {
        order.shuffle(&mut rand::rng());
        for &(tool, length) in &order {
            let cost = session(tools, tool, [SHORT, LONG][length], floor_s)?;
            own[tool][length].extend(cost);
        }
    }
    let per_run: Vec<f64> = own
        .iter()
        .map(|own| median(&own[1]) / LONG as f64)
        .collect();
    let per_further: Vec<f64> = own
        .iter()
        .map(|own| (median(&own[1]) - median(&own[0])) / (LONG - SHORT) as f64)
        .collect();
    let headers = [
        "own CPU time per run",
        "of 1,000 runs, all counted",
        "/ hyperfine",
        "per further run",
        "/ hyperfine",
        "asked",
        "result",
    ];
    let mut table = Table::new(
        "Own cost: CPU time that a tool takes beside the program",
        &headers,
    );
    for (tool, name) in NAMES.iter().enumerate() {
        if own[tool][1].is_empty() {
            table.row([name.to_string(), "not found".to_string()]);
            continue;
        }
        let against = |all: &[f64]| ratio(all[tool] / all[0]);
        let mut row = vec![
            name.to_string(),
            us(per_run[tool]),
            against(&per_run),
            us(per_further[tool]),
            against(&per_further),
        ];
        if tool == 1 || tool == 2 {
            row.push("at most hyperfine's".to_string());
            row.push(match own[0][1].is_empty() {
                true => "nothing to compare with".to_string(),
                false => result(per_run[tool] <= per_run[0]),
            });
        }
        table.row(row);
    }
    table.note("User and system time of the tool's processes (wait4 of the tool, its children included), less the CPU time of the runs as the tool itself reports it. No warm-up runs, --style none.");
    table.note(format!("'All counted' contains start, exit and export of the tool, and all that Fathom does around its {FLOOR_RUNS} runs of an empty program, but not what these take themselves: {} each, by the C loop's wait4. 'Per further run' is the difference of sessions of 1,000 and 100 runs.", us(floor_s)));
    Ok(table)
}

/// Returns the CPU time of one run of an empty program as run by Fathom, in seconds.
fn floor_cpu(tools: &Tools) -> Result<f64> {
    const RUNS: usize = 200;
    let program = empty_static(&tools.file(""))?;
    let measured = tools.c_loop(10, RUNS, &program)?;
    Ok(measured.commands[0].cpu_s / RUNS as f64)
}

/// Returns the CPU time that a tool used for itself in one session; `None` for a missing tool.
fn session(tools: &Tools, tool: usize, runs: usize, floor_s: f64) -> Result<Option<f64>> {
    let count = runs.to_string();
    let flags = ["-w", "0", "-r", &count];
    let commands = [tools.empty_command()];
    let measured = match tool {
        0 => tools.hyperfine(&flags, &commands)?,
        1 => Some(tools.fathom_export(&flags, &commands)?),
        2 => Some(tools.fathom_json(&flags, &commands)?),
        _ => Some(tools.c_loop(0, runs, &tools.empty)?),
    };
    let floors_s = match tool {
        1 | 2 => f64::from(FLOOR_RUNS) * floor_s,
        _ => 0.0,
    };
    let own = |measured: Measured| measured.usage.cpu_s - measured.commands[0].cpu_s - floors_s;
    Ok(measured.map(own))
}
