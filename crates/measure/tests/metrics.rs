//! Verdicts on metrics other than time, for synthetic runs.

use fathom_measure::simulated::quiet_run;
use fathom_measure::{Against, Attempt, Question, assess};
use fathom_model::{AskedMetric, Comparison, IoCounts, Metric, Outcome, Run, StopReason, Verdict};
use fathom_stats::sequential;

const MS: u64 = 1_000_000;
const ROUNDS: u32 = 10;

/// `of` creates the run of a benchmark in a round.
fn outcome(metrics: &[(Metric, f64)], of: impl Fn(usize, u32, Run) -> Run) -> Outcome {
    outcome_of(ROUNDS, metrics, of)
}

fn outcome_of(
    rounds: u32,
    metrics: &[(Metric, f64)],
    of: impl Fn(usize, u32, Run) -> Run,
) -> Outcome {
    let attempts = (0..rounds).flat_map(|round| (0..2).map(move |benchmark| (benchmark, round)));
    let runs: Vec<Run> = attempts
        .map(|(benchmark, round)| {
            let attempt = Attempt {
                benchmark,
                warmup: false,
                round,
                position: 2 * round + benchmark as u32,
            };
            of(benchmark, round, quiet_run(&attempt, 10 * MS))
        })
        .collect();
    let asked = metrics.iter();
    let question = Question {
        names: vec!["a".into(), "b".into()],
        against: Against::One(0),
        metrics: asked
            .map(|(metric, margin)| AskedMetric {
                metric: *metric,
                margin: *margin,
            })
            .collect(),
        margin: 0.01,
        alpha: 0.05,
    };
    let allowance = sequential::last(0.05, &[]);
    assess(&runs, &[], &question, allowance, StopReason::RunCount, &[])
}

fn reading(calls: u64, run: Run) -> Run {
    Run {
        io: Some(IoCounts {
            read_calls: calls,
            ..IoCounts::default()
        }),
        ..run
    }
}

fn said(outcome: &Outcome) -> Vec<(Metric, Verdict)> {
    let all = outcome.comparisons.iter();
    all.map(|one| (one.metric, one.verdict)).collect()
}

fn ids(outcome: &Outcome) -> Vec<&str> {
    outcome.warnings.iter().map(|one| one.id.as_str()).collect()
}

#[test]
fn each_metric_has_a_verdict_with_its_own_margin() {
    let memory = |benchmark: usize, round: u32, run: Run| Run {
        peak_memory_bytes: 4_000_000 + 200_000 * benchmark as u64 + 1000 * u64::from(round % 3),
        ..run
    };
    let asked = |margin| {
        outcome(
            &[(Metric::PeakMemory, margin), (Metric::Wall, 0.01)],
            memory,
        )
    };
    assert_eq!(
        said(&asked(0.01)),
        [
            (Metric::PeakMemory, Verdict::Slower),
            (Metric::Wall, Verdict::Same)
        ]
    );
    let wide = asked(0.10);
    assert_eq!(said(&wide)[0], (Metric::PeakMemory, Verdict::Same));
    let margins: Vec<f64> = wide.comparisons.iter().map(|one| one.margin).collect();
    assert_eq!(margins, [0.10, 0.01]);
    assert!(wide.cross_checks.is_empty() && wide.also_differ.is_empty());
}

/// With two metrics, a claim needs more rounds than with one. The verdict says so, and claims nothing.
#[test]
fn eight_rounds_decide_one_metric_and_are_too_few_for_one_of_two() {
    let memory = |benchmark: usize, round: u32, run: Run| Run {
        peak_memory_bytes: 4_000_000 + 400_000 * benchmark as u64 + 1000 * u64::from(round % 3),
        // The two benchmarks take turns at being the slower one.
        wall_ns: run.wall_ns + MS * u64::from((round + benchmark as u32) % 2),
        ..run
    };
    let [memory_alone, wall] = [(Metric::PeakMemory, 0.01), (Metric::Wall, 0.01)];
    let one = outcome_of(8, &[memory_alone], memory);
    assert_eq!(said(&one), [(Metric::PeakMemory, Verdict::Slower)]);
    let fewest = |one: &Comparison| fathom_stats::fewest_rounds(one.claim_level);
    assert_eq!(fewest(&one.comparisons[0]), 8);
    let both = outcome_of(8, &[memory_alone, wall], memory);
    let undecided = [Metric::PeakMemory, Metric::Wall].map(|metric| (metric, Verdict::Undecided));
    assert_eq!(said(&both), undecided);
    assert!(both.comparisons.iter().all(|one| fewest(one) == 9));
    let more = outcome_of(9, &[memory_alone, wall], memory);
    assert_eq!(said(&more)[0], (Metric::PeakMemory, Verdict::Slower));
}

#[test]
fn counts_that_never_differ_between_runs_are_compared_exactly() {
    let counts = |a: u64, b: u64| {
        outcome(&[(Metric::ReadCalls, 0.0)], move |benchmark, _, run| {
            reading([a, b][benchmark], run)
        })
    };
    let more = counts(1000, 1001);
    let one: &Comparison = &more.comparisons[0];
    assert_eq!(one.verdict, Verdict::Slower);
    assert_eq!(
        (one.ratio.low, one.ratio.high, one.ratio.level),
        (1.001, 1.001, 1.0)
    );
    assert_eq!((one.p_value, one.rounds), (0.0, ROUNDS as usize));
    assert_eq!(said(&counts(7, 7)), [(Metric::ReadCalls, Verdict::Same)]);
    assert_eq!(said(&counts(0, 0)), [(Metric::ReadCalls, Verdict::Same)]);
    let none = counts(0, 5);
    assert!(none.comparisons.is_empty());
    assert_eq!(ids(&none), ["no_ratio"]);
}

#[test]
fn counts_that_vary_are_compared_by_their_samples() {
    let found = outcome(&[(Metric::ReadCalls, 0.0)], |benchmark, round, run| {
        reading(100 + u64::from(round * 7 % 5) + 3 * benchmark as u64, run)
    });
    let one = &found.comparisons[0];
    assert_eq!(one.verdict, Verdict::Slower);
    assert!(one.ratio.level < 1.0 && one.ratio.low < one.ratio.high);
}

#[test]
fn a_metric_that_no_run_has_is_named() {
    let found = outcome(&[(Metric::ReadCalls, 0.0)], |_, _, run| Run {
        io: None,
        ..run
    });
    assert!(found.comparisons.is_empty());
    assert_eq!(ids(&found), ["metric_not_known", "metric_not_known"]);
}

#[test]
fn without_a_metric_what_differs_clearly_besides_time_is_known() {
    let differ = |of: fn(usize, Run) -> Run| -> Vec<Metric> {
        let found = outcome(&[], |benchmark, _, run| of(benchmark, run));
        found.also_differ.iter().map(|one| one.metric).collect()
    };
    let memory = |benchmark: usize, run: Run| Run {
        peak_memory_bytes: [4, 9][benchmark] << 20,
        ..run
    };
    assert_eq!(differ(memory), [Metric::PeakMemory]);
    let little = |benchmark: usize, run: Run| Run {
        peak_memory_bytes: [100_000, 300_000][benchmark],
        ..run
    };
    assert_eq!(differ(little), [], "200 KB are the loader's");
    let threads = |benchmark: usize, run: Run| Run {
        cpu_ns: [10, 38][benchmark] * MS,
        ..run
    };
    assert_eq!(differ(threads), [Metric::Cpu]);
    let slower = |benchmark: usize, run: Run| {
        let wall = [10, 30][benchmark] * MS;
        Run {
            wall_ns: wall,
            undisturbed_ns: Some(wall),
            cpu_ns: wall,
            ..run
        }
    };
    assert_eq!(differ(slower), [], "more time is more CPU time");
    assert_eq!(differ(|_, run| run), []);
}
