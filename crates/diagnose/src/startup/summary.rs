//! Computes distributions, verdicts and the budget from runs. The same runs always yield the same result.

use fathom_model::{
    Budget, BudgetResult, ByCore, Cache, Estimate, Exit, Metric, StartupComparison, StartupMetric,
    StartupRun, StartupSummary,
};
use fathom_stats::PairData;

const METRICS: [StartupMetric; 2] = [StartupMetric::FirstOutput, StartupMetric::Exit];

/// Returns a run's value of the metric in seconds. Returns `None` if the run is void, if it wrote nothing
/// (for the first output), or if it was stopped by the time limit (for the exit). Runs whose failure was
/// allowed count, and their presence is reported.
fn value(run: &StartupRun, metric: StartupMetric) -> Option<f64> {
    if run.void {
        return None;
    }
    let ns = match metric {
        StartupMetric::FirstOutput => run.first_output_ns?,
        StartupMetric::Exit => own_exit_ns(run)?,
    };
    Some(ns as f64 / 1e9)
}

/// Returns the time to a run's exit; `None` if the time limit stopped the run, because its time then says
/// nothing about the program.
pub(super) fn own_exit_ns(run: &StartupRun) -> Option<u64> {
    (run.exit != Exit::TimedOut).then_some(run.exit_ns)
}

fn of(runs: &[StartupRun], program: usize, cache: Cache) -> impl Iterator<Item = &StartupRun> {
    runs.iter()
        .filter(move |run| run.program == program && run.cache == cache)
}

/// Returns the metric by which a program is judged; this is its exit if a run wrote nothing.
pub fn judged_metric(runs: &[StartupRun], program: usize) -> StartupMetric {
    let silent = |run: &StartupRun| run.program == program && run.first_output_ns.is_none();
    match runs.iter().any(silent) {
        true => StartupMetric::Exit,
        false => StartupMetric::FirstOutput,
    }
}

/// Returns one summary for each program, cache state and metric with values.
pub fn summaries(runs: &[StartupRun], programs: usize) -> Vec<StartupSummary> {
    let limit = alone_limit(runs);
    let mut all = Vec::new();
    for program in 0..programs {
        for cache in [Cache::Warm, Cache::Cold] {
            for metric in METRICS {
                all.extend(summary(runs, program, cache, metric, limit));
            }
        }
    }
    all
}

/// If the timed addition took this many times as long as the fastest ones, another thread shared its core.
/// Additions on a core of their own are within 10 % of each other; from 20 % on, starts take 25 to 40 %
/// longer.
const SHARED: f64 = 1.15;

/// The minimum number of runs; fewer don't allow conclusions about cores.
const FEW: usize = 20;

/// Returns the maximum number of cycles that an addition takes after a run that had its core to itself.
fn alone_limit(runs: &[StartupRun]) -> Option<f64> {
    let mut cycles: Vec<f64> = runs
        .iter()
        .filter_map(|run| run.cycles_per_addition)
        .collect();
    cycles.sort_by(f64::total_cmp);
    (cycles.len() >= FEW).then(|| SHARED * fathom_stats::quantile(&cycles, 0.01))
}

/// Returns medians for runs that had their core to themselves and for those that shared it.
fn by_core(runs: &[(&StartupRun, f64)], limit: Option<f64>) -> Option<ByCore> {
    let limit = limit?;
    let known = runs
        .iter()
        .filter_map(|(run, value)| Some((run.cycles_per_addition? <= limit, *value)));
    let (alone, shared): (Vec<_>, Vec<_>) = known.partition(|(alone, _)| *alone);
    let p50 = |group: &[(bool, f64)]| {
        let values: Vec<f64> = group.iter().map(|(_, value)| *value).collect();
        (values.len() >= FEW)
            .then(|| fathom_stats::median_interval(&values, 0.95))
            .flatten()
    };
    Some(ByCore {
        alone_runs: alone.len(),
        alone_p50: p50(&alone),
        shared_runs: shared.len(),
        shared_p50: p50(&shared),
    })
}

fn summary(
    runs: &[StartupRun],
    program: usize,
    cache: Cache,
    metric: StartupMetric,
    limit: Option<f64>,
) -> Option<StartupSummary> {
    let counted: Vec<(&StartupRun, f64)> = of(runs, program, cache)
        .filter_map(|run| Some((run, value(run, metric)?)))
        .collect();
    let mut values: Vec<f64> = counted.iter().map(|(_, value)| *value).collect();
    values.sort_by(f64::total_cmp);
    let quantile = |q| fathom_stats::quantile(&values, q);
    Some(StartupSummary {
        program,
        cache,
        metric,
        runs: values.len(),
        void_runs: of(runs, program, cache).filter(|run| run.void).count(),
        floor: *values.first()?,
        p50: fathom_stats::median_interval(&values, 0.95)?,
        p90: quantile(0.9),
        p99: quantile(0.99),
        max: *values.last()?,
        by_core: by_core(&counted, limit),
    })
}

/// Compares each program with the first one, in each cache state. The first output is compared if both have
/// one.
///
/// All comparisons are judged together, so that the expected share of false claims is at most `alpha`.
pub fn comparisons(
    runs: &[StartupRun],
    programs: usize,
    margin: f64,
    alpha: f64,
) -> Vec<StartupComparison> {
    let mut wanted = Vec::new();
    for cache in [Cache::Warm, Cache::Cold] {
        for subject in 1..programs {
            let metric = [0, subject]
                .map(|program| judged_metric(runs, program))
                .into_iter()
                .find(|metric| *metric == StartupMetric::Exit)
                .unwrap_or(StartupMetric::FirstOutput);
            let (reference, values) = paired(runs, subject, cache, metric);
            // Without a common round, there is no ratio, and `judge` would skip the pair.
            if !reference.is_empty() {
                wanted.push((cache, subject, metric, reference, values));
            }
        }
    }
    let pairs: Vec<PairData> = wanted
        .iter()
        .map(|(_, subject, _, reference, values)| PairData {
            reference_index: 0,
            subject_index: *subject,
            // The value is judged like any other time.
            metric: Metric::Wall,
            reference,
            subject: values,
            margin,
        })
        .collect();
    let judged = fathom_stats::judge(&pairs, fathom_stats::sequential::last(alpha, &[]));
    wanted
        .iter()
        .zip(judged)
        .map(|((cache, subject, metric, ..), judged)| StartupComparison {
            reference: 0,
            subject: *subject,
            cache: *cache,
            metric: *metric,
            rounds: judged.rounds,
            ratio: judged.ratio,
            p_value: judged.p_value,
            verdict: judged.verdict,
            more_rounds: judged.more_rounds,
        })
        .collect()
}

/// Returns the values of the first program and of `subject` in the rounds in which both have one.
fn paired(
    runs: &[StartupRun],
    subject: usize,
    cache: Cache,
    metric: StartupMetric,
) -> (Vec<f64>, Vec<f64>) {
    let by_round = |program: usize| -> std::collections::BTreeMap<u32, f64> {
        of(runs, program, cache)
            .filter(|run| run.exit.is_success())
            .filter_map(|run| Some((run.round, value(run, metric)?)))
            .collect()
    };
    let (reference, values) = (by_round(0), by_round(subject));
    reference
        .iter()
        .filter_map(|(round, a)| Some((*a, *values.get(round)?)))
        .unzip()
}

/// Checks whether `quantile` (`p50`, `p90`, `p99` or `max`) of every program in every measured cache state is
/// at most `seconds`. The budget doesn't hold for a state without valid runs, or if the quantile falls on a
/// run that was stopped early.
pub fn budget(
    runs: &[StartupRun],
    programs: usize,
    summaries: &[StartupSummary],
    seconds: f64,
    quantile: &str,
) -> Budget {
    let mut results = Vec::new();
    for program in 0..programs {
        let metric = judged_metric(runs, program);
        for cache in [Cache::Warm, Cache::Cold] {
            if of(runs, program, cache).next().is_none() {
                continue;
            }
            let found = summaries
                .iter()
                .find(|s| s.program == program && s.cache == cache && s.metric == metric);
            let value = match ended_before(runs, program, cache, metric) {
                0 => found.map(|summary| of_summary(summary, quantile)),
                ended => of_known(runs, (program, cache, metric), ended, quantile),
            };
            results.push(BudgetResult {
                program,
                cache,
                metric,
                seconds: value,
                held: value.is_some_and(|value| value <= seconds),
            });
        }
    }
    Budget {
        seconds,
        quantile: quantile.to_string(),
        held: !results.is_empty() && results.iter().all(|result| result.held),
        results,
    }
}

/// Returns how many runs were stopped before the metric's end point.
fn ended_before(runs: &[StartupRun], program: usize, cache: Cache, metric: StartupMetric) -> usize {
    let ended =
        |run: &&StartupRun| run.exit == Exit::TimedOut && !run.void && value(run, metric).is_none();
    of(runs, program, cache).filter(ended).count()
}

/// Returns the quantile on the assumption that `ended` runs took a longer, unknown time; `None` if it falls
/// on one of them.
fn of_known(
    runs: &[StartupRun],
    (program, cache, metric): (usize, Cache, StartupMetric),
    ended: usize,
    quantile: &str,
) -> Option<f64> {
    let mut values: Vec<f64> = of(runs, program, cache)
        .filter_map(|run| value(run, metric))
        .collect();
    let slowest = values.iter().copied().reduce(f64::max)?;
    values.extend(std::iter::repeat_n(f64::INFINITY, ended));
    values.sort_by(f64::total_cmp);
    let share = match quantile {
        "p50" => 0.5,
        "p99" => 0.99,
        "max" => 1.0,
        _ => 0.9,
    };
    Some(fathom_stats::quantile(&values, share)).filter(|found| *found <= slowest)
}

fn of_summary(summary: &StartupSummary, quantile: &str) -> f64 {
    let Estimate { value: p50, .. } = summary.p50;
    match quantile {
        "p50" => p50,
        "p99" => summary.p99,
        "max" => summary.max,
        _ => summary.p90,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::Verdict;

    fn run(
        program: usize,
        round: u32,
        cache: Cache,
        first: Option<u64>,
        exit_ns: u64,
    ) -> StartupRun {
        StartupRun {
            program,
            round,
            position: round,
            cache,
            first_output_ns: first,
            first_output_by: None,
            first_output_uncertainty_ns: None,
            exit_ns,
            exit_corrected: true,
            output_bytes: 0,
            run_queue_wait_ns: Some(0),
            wait_is_exact: true,
            cpu_ns: 0,
            throttled_ns: None,
            minor_faults: 0,
            major_faults: 0,
            cpu: None,
            cycles_per_addition: None,
            read_bytes: Some(0),
            void: false,
            left_behind: 0,
            exit: Exit::Code(0),
        }
    }

    #[test]
    fn a_program_that_wrote_nothing_is_judged_by_its_exit() {
        let runs: Vec<_> = (0..20)
            .flat_map(|round| {
                let ns = 1_000_000 + u64::from(round % 5) * 1000;
                [
                    run(0, round, Cache::Warm, Some(ns), 2 * ns),
                    run(1, round, Cache::Warm, None, 4 * ns),
                ]
            })
            .collect();
        let compared = comparisons(&runs, 2, 0.01, 0.05);
        assert_eq!(compared.len(), 1);
        assert_eq!(compared[0].metric, StartupMetric::Exit);
        assert_eq!(compared[0].verdict, Verdict::Slower);
        assert!((compared[0].ratio.value - 2.0).abs() < 1e-9);
        let kinds: Vec<_> = summaries(&runs, 2)
            .iter()
            .map(|s| (s.program, s.metric))
            .collect();
        assert_eq!(
            kinds,
            [
                (0, StartupMetric::FirstOutput),
                (0, StartupMetric::Exit),
                (1, StartupMetric::Exit)
            ]
        );
    }

    #[test]
    fn runs_that_shared_their_core_have_a_median_of_their_own() {
        let at = |round: u32, cycles: Option<f64>, ns| StartupRun {
            cycles_per_addition: cycles,
            ..run(0, round, Cache::Warm, Some(ns), ns)
        };
        let mut runs: Vec<_> = (0..60).map(|i| at(i, Some(0.222), 500_000)).collect();
        runs.extend((60..90).map(|i| at(i, Some(0.29), 650_000)));
        runs.push(at(90, None, 500_000));
        let by_core = summaries(&runs, 1)[0]
            .by_core
            .clone()
            .expect("there are enough runs");
        assert_eq!((by_core.alone_runs, by_core.shared_runs), (60, 30));
        assert_eq!(by_core.alone_p50.map(|p50| p50.value), Some(0.0005));
        assert_eq!(by_core.shared_p50.map(|p50| p50.value), Some(0.00065));
        // A value slightly above the fastest one is chance, and a few runs prove nothing.
        runs[3].cycles_per_addition = Some(0.25);
        let by_core = summaries(&runs[..70], 1)[0]
            .by_core
            .clone()
            .expect("there are enough runs");
        assert_eq!((by_core.alone_runs, by_core.shared_p50), (60, None));
        assert_eq!(summaries(&runs[..10], 1)[0].by_core, None);
    }

    #[test]
    fn void_cold_runs_count_for_nothing_and_hold_no_budget() {
        let mut runs = vec![run(0, 0, Cache::Warm, Some(500_000), 600_000)];
        for round in 0..3 {
            runs.push(StartupRun {
                void: true,
                ..run(0, round, Cache::Cold, Some(500_000), 600_000)
            });
        }
        let summarized = summaries(&runs, 1);
        assert!(
            summarized.iter().all(|s| s.cache == Cache::Warm),
            "{summarized:?}"
        );
        let budget = budget(&runs, 1, &summarized, 0.0167, "p90");
        assert!(!budget.held);
        let states: Vec<_> = budget.results.iter().map(|r| (r.cache, r.held)).collect();
        assert_eq!(states, [(Cache::Warm, true), (Cache::Cold, false)]);
    }

    #[test]
    fn runs_that_were_ended_have_no_exit_and_hold_no_budget_by_it() {
        let ended = |round, first| StartupRun {
            exit: Exit::TimedOut,
            ..run(0, round, Cache::Warm, first, 1_000_000_000)
        };
        let server: Vec<_> = (0..20).map(|round| ended(round, Some(500_000))).collect();
        let summarized = summaries(&server, 1);
        let kinds: Vec<_> = summarized.iter().map(|s| s.metric).collect();
        assert_eq!(kinds, [StartupMetric::FirstOutput]);
        assert!(budget(&server, 1, &summarized, 0.0167, "max").held);

        let silent: Vec<_> = (0..20).map(|round| ended(round, None)).collect();
        assert!(summaries(&silent, 1).is_empty());
        let held = |runs: &[StartupRun], quantile| {
            let judged = budget(runs, 1, &summaries(runs, 1), 60.0, quantile);
            assert_eq!(judged.results[0].seconds.is_some(), judged.held);
            judged.held
        };
        assert!(!held(&silent, "p50"), "nobody knows how long they take");

        let mut mixed: Vec<_> = (0..99)
            .map(|round| run(0, round, Cache::Warm, None, 1_000_000))
            .collect();
        mixed.push(ended(99, None));
        assert!(held(&mixed, "p50") && held(&mixed, "p90"));
        assert!(!held(&mixed, "max"));
    }

    #[test]
    fn the_quantile_that_is_asked_for_is_held() {
        let runs: Vec<_> = (0..100)
            .map(|round| {
                let ns = if round == 99 { 50_000_000 } else { 1_000_000 };
                run(0, round, Cache::Warm, Some(ns), ns)
            })
            .collect();
        let summarized = summaries(&runs, 1);
        let holds = |quantile| budget(&runs, 1, &summarized, 0.0167, quantile).held;
        assert!(holds("p50") && holds("p90"));
        assert!(!holds("max"));
    }
}
