//! Summarizes the timed rounds of a pipeline.

use fathom_measure::pipeline::{failed, is_sigpipe};
use fathom_model::{AloneRuns, Estimate, Exit, PipeRound, PipeSummary, StageRun, StageSummary};

/// Confidence level of the intervals of medians.
const LEVEL: f64 = 0.95;

/// Summarizes the timed rounds.
pub fn summarize(rounds: &[PipeRound], alone: &[AloneRuns], stages: usize) -> PipeSummary {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let walls: Vec<f64> = rounds.iter().map(|round| seconds(round.wall_ns)).collect();
    let stage = |index: usize| {
        let runs: Vec<&StageRun> = rounds.iter().map(|round| &round.stages[index]).collect();
        let over = |value: fn(&StageRun) -> u64| {
            median(
                &runs
                    .iter()
                    .map(|run| seconds(value(run)))
                    .collect::<Vec<_>>(),
            )
        };
        let alone = alone.iter().find(|alone| alone.stage == index);
        let alone: Vec<f64> = alone.map_or(Vec::new(), |alone| {
            alone.wall_ns.iter().map(|ns| seconds(*ns)).collect()
        });
        StageSummary {
            start: over(|run| run.start_ns),
            end: over(|run| run.end_ns),
            wall: over(StageRun::wall_ns),
            cpu: over(|run| run.cpu_ns),
            alone: fathom_stats::median_interval(&alone, LEVEL),
            bytes_in: None,
            bytes_out: None,
            bytes_from: None,
            exit: most_frequent(runs.iter().map(|run| run.exit)),
            failures: rounds.iter().filter(|r| failed(&r.stages, index)).count(),
            sigpipes: rounds
                .iter()
                .filter(|r| is_sigpipe(&r.stages, index))
                .count(),
        }
    };
    PipeSummary {
        wall: median(&walls),
        stages: (0..stages).map(stage).collect(),
    }
}

fn median(values: &[f64]) -> Estimate {
    fathom_stats::median_interval(values, LEVEL).unwrap_or(Estimate {
        value: 0.0,
        low: 0.0,
        high: 0.0,
        level: 0.0,
    })
}

fn most_frequent(exits: impl Iterator<Item = Exit>) -> Exit {
    let mut counted: Vec<(Exit, usize)> = Vec::new();
    for exit in exits {
        match counted.iter_mut().find(|(other, _)| *other == exit) {
            Some((_, count)) => *count += 1,
            None => counted.push((exit, 1)),
        }
    }
    let most = counted.iter().rev().max_by_key(|(_, count)| *count);
    most.map_or(Exit::Code(0), |(exit, _)| *exit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGPIPE: i32 = 13;

    fn round(exits: &[Exit]) -> PipeRound {
        let stages = exits
            .iter()
            .zip(1..)
            .map(|(exit, end)| StageRun::unobserved(0, end, *exit));
        PipeRound {
            wall_ns: 9,
            stages: stages.collect(),
            left_behind: 0,
        }
    }

    #[test]
    fn the_summary_counts_each_kind_of_end() {
        let ok = Exit::Code(0);
        let pipe = Exit::Signal(SIGPIPE);
        let rounds = [
            round(&[pipe, ok]),
            round(&[pipe, ok]),
            round(&[ok, Exit::Code(2)]),
        ];
        let summary = summarize(&rounds, &[], 2);
        assert_eq!(summary.stages[0].exit, pipe);
        assert_eq!(
            (summary.stages[0].sigpipes, summary.stages[0].failures),
            (2, 0)
        );
        assert_eq!(
            (summary.stages[1].sigpipes, summary.stages[1].failures),
            (0, 1)
        );
    }
}
