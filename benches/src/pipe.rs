//! Measures whether a live pipeline takes longer under Fathom than under a shell.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use fathom_model::PipeRecord;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use crate::Result;
use crate::options::Options;
use crate::share::{Rounds, Share};
use crate::table::{Table, ratio, result};
use crate::tools::{Tools, median};

/// Maximum number of sessions of each tool for each pipeline, so that all four pipelines take a good minute.
const BLOCKS: usize = 12;
/// Required limit of the median, as a multiple of the shell's.
const ASKED: f64 = 1.02;
/// Input size in bytes of the pipeline that copies, which takes about 40 ms.
const BYTES: usize = 50_000_000;
/// Input size in bytes of the pipeline that compresses, which takes about 300 ms.
const COMPRESSED_BYTES: usize = 20_000_000;

struct Pipeline {
    name: &'static str,
    stages: Vec<String>,
    /// Number of runs per session.
    runs: usize,
    /// Number of [`TOOLS`], from the first, that run the pipeline. Other shells and hyperfine are only used
    /// if nearly all of its time is spent on starting.
    tools: usize,
}

/// The tools that run and time the pipeline.
const TOOLS: [&str; 4] = [
    "fathom pipe",
    "sh -c, timed by fathom bench",
    "bash -c, timed by fathom bench",
    "sh -c, timed by hyperfine 2",
];

/// Compares the medians of sessions with those of the same line under `sh -c`. The sessions run in random
/// order and are paired by block.
///
/// # Errors
/// If a tool fails.
pub(crate) fn measure(tools: &Tools, options: &Options, share: Share) -> Result<Table> {
    let bytes = if options.quick { BYTES / 20 } else { BYTES };
    let file = data(tools, bytes)?;
    let headers = [
        "pipeline",
        "timed by",
        "median",
        "/ sh",
        "95 % interval",
        "asked",
        "result",
    ];
    let mut table = Table::new(
        "Pipe: a live pipeline against the same under a shell",
        &headers,
    );
    let pipelines = pipelines(&file, bytes);
    let mut fewest = usize::MAX;
    for (before, pipeline) in pipelines.iter().enumerate() {
        let share = share.part(1.0, (pipelines.len() - before) as f64);
        let rounds = share.rounds(options.scaled(BLOCKS).max(3), 3);
        let medians = sessions(tools, pipeline, rounds)?;
        fewest = fewest.min(medians[0].len());
        rows(&mut table, pipeline, &medians);
    }
    table.note(format!(
        "{fewest} sessions or more of each tool for each pipeline, in random order; ratios are paired by session. Fathom runs with --no-stage --traced 0: only the live rounds. Output goes to /dev/null."
    ));
    table.note("The shell's times hold its own start; Fathom starts the stages itself.");
    std::fs::remove_file(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    Ok(table)
}

fn pipelines(file: &Path, bytes: usize) -> Vec<Pipeline> {
    let name = file.display();
    let words = |stages: &[String]| stages.to_vec();
    let lines = bytes / 25;
    vec![
        Pipeline {
            name: "short: echo | cat",
            stages: words(&["echo hello".into(), "cat".into()]),
            runs: 100,
            tools: TOOLS.len(),
        },
        Pipeline {
            name: "compressing: head -c 20M | gzip -1 | wc -c",
            stages: words(&[
                format!("head -c {} {name}", bytes.min(COMPRESSED_BYTES)),
                "gzip -1".into(),
                "wc -c".into(),
            ]),
            runs: 2,
            tools: 2,
        },
        Pipeline {
            name: "copying: cat | cat | wc -c",
            stages: words(&[format!("cat {name}"), "cat".into(), "wc -c".into()]),
            runs: 5,
            tools: 2,
        },
        Pipeline {
            name: "small writes: dd bs=16 | wc -c",
            stages: words(&[
                format!(
                    "dd if=/dev/zero bs=16 count={} status=none",
                    lines.min(200_000)
                ),
                "wc -c".into(),
            ]),
            runs: 5,
            tools: 2,
        },
    ]
}

fn sessions(tools: &Tools, pipeline: &Pipeline, blocks: Rounds) -> Result<[Vec<f64>; 4]> {
    let mut medians: [Vec<f64>; 4] = Default::default();
    let mut order: Vec<usize> = (0..pipeline.tools).collect();
    let line = pipeline.stages.join(" | ");
    let runs = pipeline.runs.to_string();
    let flags = ["-w", "1", "-r", &runs];
    for _ in blocks {
        order.shuffle(&mut rand::rng());
        for &tool in &order {
            let measured = match tool {
                0 => Some(live(tools, pipeline)?),
                1 | 2 => {
                    let shell = ["sh", "bash"][tool - 1];
                    let command = [format!("{shell} -c '{line}'")];
                    Some(tools.fathom_json(&flags, &command)?.commands[0].median_s)
                }
                _ => {
                    let command = [format!("sh -c '{line}'")];
                    let measured = tools.hyperfine(&flags, &command)?;
                    measured.map(|measured| measured.commands[0].median_s)
                }
            };
            medians[tool].extend(measured);
        }
    }
    Ok(medians)
}

/// Returns the median wall time of the live rounds, in seconds.
fn live(tools: &Tools, pipeline: &Pipeline) -> Result<f64> {
    let file = tools.file("pipe.json");
    let mut words: Vec<String> = ["pipe", "--no-stage", "--traced", "0", "--rounds"]
        .map(String::from)
        .to_vec();
    words.extend([
        pipeline.runs.to_string(),
        "--json".to_string(),
        file.display().to_string(),
    ]);
    words.extend(pipeline.stages.iter().cloned());
    tools.run(&tools.fathom, &words)?;
    let text = std::fs::read_to_string(&file).map_err(|e| format!("fathom pipe --json: {e}"))?;
    let record: PipeRecord =
        serde_json::from_str(&text).map_err(|e| format!("fathom pipe --json: {e}"))?;
    let walls: Vec<f64> = record
        .rounds
        .iter()
        .map(|r| r.wall_ns as f64 / 1e9)
        .collect();
    Ok(median(&walls))
}

fn rows(table: &mut Table, pipeline: &Pipeline, medians: &[Vec<f64>; 4]) {
    for (tool, name) in TOOLS.iter().enumerate().take(pipeline.tools) {
        let mine = &medians[tool];
        let first = if tool == 0 { pipeline.name } else { "" };
        if mine.is_empty() {
            table.row([first.to_string(), name.to_string(), "not found".to_string()]);
            continue;
        }
        let mut row = vec![
            first.to_string(),
            name.to_string(),
            format!("{:.3} ms", median(mine) * 1e3),
        ];
        if tool != 1
            && let Some(paired) = fathom_stats::paired_ratio(&medians[1], mine, 0.95)
        {
            let found = paired.ratio;
            row.extend([
                ratio(found.value),
                format!("{:.3} to {:.3}", found.low, found.high),
            ]);
            if tool == 0 {
                row.push(format!("at most {ASKED}"));
                row.push(result(found.value <= ASKED));
            }
        }
        table.row(row);
    }
}

/// Creates a file with lines of words that compress about as well as logs, the same in every run.
fn data(tools: &Tools, bytes: usize) -> Result<PathBuf> {
    const WORDS: [&str; 16] = [
        "GET", "POST", "/index", "/items", "200", "404", "503", "agent", "error", "warning",
        "user", "session", "cache", "miss", "hit", "timeout",
    ];
    let path = tools.file("pipe-data.txt");
    let write = || -> std::io::Result<()> {
        let mut random = SmallRng::seed_from_u64(11);
        let mut out = BufWriter::new(std::fs::File::create(&path)?);
        let mut written = 0;
        while written < bytes {
            let word = WORDS[random.random_range(0..WORDS.len())];
            let number: u32 = random.random_range(0..100_000);
            let text = format!("{word} {number}\n");
            out.write_all(text.as_bytes())?;
            written += text.len();
        }
        out.flush()
    };
    write().map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path)
}
