//! Measures whether Fathom adds its own time to the reported times, using the empty program.

use rand::seq::SliceRandom;

use crate::Result;
use crate::options::Options;
use crate::share::Share;
use crate::table::{Table, ratio, result, us};
use crate::tools::{Tools, median};

const NAMES: [&str; 4] = [
    "C loop (vfork, execve, wait4)",
    "Fathom",
    "Fathom with --json",
    "hyperfine 2",
];
/// The tools that are judged, as indices into [`NAMES`]. With `--json`, Fathom writes the record after every
/// run, which could slow down the next one.
const JUDGED: [usize; 2] = [1, 2];
const RUNS: usize = 100;
const WARMUPS: usize = 10;
/// Minimum number of blocks for a confidence interval of a ratio.
const FEWEST: usize = 6;
const ASKED: f64 = 0.02;

/// Compares the medians of blocks of runs, in random order, with those of the C loop.
///
/// # Errors
/// If a tool fails.
pub(crate) fn measure(tools: &Tools, options: &Options, share: Share) -> Result<Table> {
    let runs = RUNS.to_string();
    let warmups = WARMUPS.to_string();
    let flags = ["-w", &warmups, "-r", &runs];
    let commands = [tools.empty_command()];
    let mut medians: [Vec<f64>; 4] = Default::default();
    let mut order = [0, 1, 2, 3];
    for _ in share.rounds(options.blocks, FEWEST) {
        order.shuffle(&mut rand::rng());
        for tool in order {
            let measured = match tool {
                0 => Some(tools.c_loop(WARMUPS, RUNS, &tools.empty)?),
                1 => Some(tools.fathom_export(&flags, &commands)?),
                2 => Some(tools.fathom_json(&flags, &commands)?),
                _ => tools.hyperfine(&flags, &commands)?,
            };
            medians[tool].extend(measured.map(|measured| measured.commands[0].median_s));
        }
    }
    let headers = [
        "median of an empty program",
        "reported",
        "/ C loop",
        "95 % interval",
        "asked",
        "result",
    ];
    let mut table = Table::new("Floor: time that is added to a run", &headers);
    for (tool, name) in NAMES.iter().enumerate() {
        let mine = &medians[tool];
        if mine.is_empty() {
            table.row([name.to_string(), "not found".to_string()]);
            continue;
        }
        let mut row = vec![name.to_string(), us(median(mine))];
        if tool > 0
            && let Some(paired) = fathom_stats::paired_ratio(&medians[0], mine, 0.95)
        {
            let found = paired.ratio;
            row.extend([
                ratio(found.value),
                format!("{:.3} to {:.3}", found.low, found.high),
            ]);
            if JUDGED.contains(&tool) {
                row.push("within 2 %".to_string());
                row.push(result((found.value - 1.0).abs() <= ASKED));
            }
        }
        table.row(row);
    }
    table.note(format!(
        "{} blocks of {RUNS} runs of {} for each tool, {WARMUPS} warm-up runs before each, in random order; ratios are paired by block.",
        medians[0].len(),
        tools.empty.display()
    ));
    table.note("All tools get the same three variables as environment; Fathom and hyperfine add their own, with up to 4 KiB of padding that differs from run to run.");
    Ok(table)
}
