//! Measures how often a tool claims a difference between a command and itself.

use crate::Result;
use crate::options::Options;
use crate::pairs::{Claim, Series};
use crate::share::Share;
use crate::subjects::Condition;
use crate::table::{Table, percent, result};
use crate::tools::Tools;

const ASKED: f64 = 0.05;

/// Compares the same command with itself, in three conditions.
///
/// # Errors
/// If a tool fails.
pub(crate) fn measure(
    tools: &Tools,
    options: &Options,
    share: Share,
    iterations: u64,
) -> Result<Table> {
    let headers = [
        "the same command twice",
        "judged by",
        "claims of a difference (95 % interval)",
        "median |ratio − 1|",
        "worst",
        "asked",
        "result",
    ];
    let mut table = Table::new("A/A: claims where there is nothing", &headers);
    let conditions = [Condition::Quiet, Condition::Periodic, Condition::Busy];
    for (before, condition) in conditions.into_iter().enumerate() {
        eprintln!("  {}", condition.name());
        let early = options
            .early_rounds
            .unwrap_or(early_rounds(condition))
            .to_string();
        let early_name = format!("Fathom, up to {early} rounds (-M {early})");
        let fathom = [
            (
                "Fathom, 50 rounds (-r 50)",
                vec!["-r".to_string(), "50".to_string()],
            ),
            (early_name.as_str(), vec!["-M".to_string(), early.clone()]),
        ];
        let series = Series {
            condition,
            commands: [
                tools.work_command(iterations),
                tools.work_command(iterations),
            ],
            fathom: &fathom,
            repetitions: options.repetitions,
        };
        let share = share.part(1.0, (conditions.len() - before) as f64);
        for tally in series.measure(tools, share)? {
            let mut row = vec![condition.name().to_string(), tally.method.clone()];
            if tally.comparisons() == 0 {
                row.push("not found".to_string());
                table.row(row);
                continue;
            }
            let claims = tally.count(Claim::Faster) + tally.count(Claim::Slower);
            row.push(tally.rate(claims));
            row.extend([
                percent(tally.median_error(1.0)),
                percent(tally.worst_error(1.0)),
            ]);
            if tally.is_fathom {
                let share = claims as f64 / tally.comparisons() as f64;
                row.extend(["at most 5 %".to_string(), result(share <= ASKED)]);
                table.note(format!(
                    "{}, {}: {}.",
                    condition.name(),
                    tally.method,
                    tally.how()
                ));
            }
            table.row(row);
        }
    }
    table.note("hyperfine: 50 runs of the one, then 50 of the other; a claim is p < 0.05 of the test on its own samples. Its ratios are of the means (Welch) and of the medians (Mann-Whitney).");
    table.note("Every tool once per repetition, in random order, 3 warm-up runs of each command. Loads run in sessions of their own.");
    Ok(table)
}

/// Returns the maximum number of rounds of a session that may stop early. Fathom doesn't test in the first
/// second. At 13 ms per round, its first test comes after 84 rounds: with fewer rounds, no session could stop
/// early and nothing would be tested. With all CPUs busy, a round takes twice as long, and 50 rounds include
/// several tests.
fn early_rounds(condition: Condition) -> u32 {
    match condition {
        Condition::Quiet | Condition::Periodic => 85,
        Condition::Neighbour | Condition::Busy => 50,
    }
}
