//! Rounds, stopping and verdicts on a simulated executor: exact and fast.

use std::time::Duration;

use fathom_measure::simulated::{Event, Simulated, quiet_run};
use fathom_measure::{
    Against, Attempt, IgnoreFailure, Limits, MeasureError, Plan, Question, Session, Silent,
    StopRule, assess, conduct, go_on,
};
use fathom_model::{AskedMetric, Exit, Metric, Outcome, Run, RunOrder, StopReason, Verdict};

const MS: u64 = 1_000_000;

fn plan(benchmarks: usize, stop: StopRule) -> Plan {
    Plan {
        benchmarks,
        warmup: 1,
        order: RunOrder::Random,
        seed: 7,
        stop,
        question: Question {
            names: (0..benchmarks).map(|i| format!("command {i}")).collect(),
            against: Against::One(0),
            metrics: Vec::new(),
            margin: 0.01,
            alpha: 0.05,
        },
        ignore_failure: IgnoreFailure::Never,
    }
}

fn until_decided() -> StopRule {
    StopRule::Answer(Limits {
        minimum: 10,
        maximum: None,
        at_least: Duration::ZERO,
        soft: Duration::from_secs(300),
        hard: Duration::from_secs(300),
        precision: None,
    })
}

/// Returns a rule that measures until the time is over, because its precision is never reached.
fn for_40_ms() -> StopRule {
    StopRule::Answer(Limits {
        minimum: 2,
        maximum: None,
        at_least: Duration::ZERO,
        soft: Duration::from_millis(40),
        hard: Duration::from_millis(40),
        precision: Some(0.000_001),
    })
}

/// Returns the assessment of the session.
fn outcome_of(plan: &Plan, session: &Session) -> Outcome {
    assess(
        &session.runs,
        &[],
        &plan.question,
        session.allowance,
        session.stop,
        &[],
    )
}

/// Returns a reproducible number from 0 to 1 for each run.
fn noise(attempt: &Attempt) -> f64 {
    let mut x = u64::from(attempt.position) * 2 + u64::from(attempt.warmup) + 0x9e37_79b9_7f4a_7c15;
    for _ in 0..3 {
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^= x >> 27;
    }
    (x >> 11) as f64 / (1u64 << 53) as f64
}

fn noisy(attempt: &Attempt, base_ns: u64, spread: f64) -> Run {
    quiet_run(
        attempt,
        (base_ns as f64 * (1.0 + spread * noise(attempt))) as u64,
    )
}

#[test]
fn every_round_runs_every_benchmark_once_in_an_order_that_the_seed_decides() {
    let order = |seed| {
        let mut plan = plan(4, StopRule::Runs(50));
        plan.seed = seed;
        let session = conduct(
            &plan,
            &mut Simulated::new(|a| quiet_run(a, MS)),
            &mut Silent,
        );
        assert_eq!(session.stop, StopReason::RunCount);
        session
            .runs
            .iter()
            .map(|run| (run.round, run.benchmark))
            .collect::<Vec<_>>()
    };
    let first = order(1);
    for round in 0..50u32 {
        let mut seen: Vec<usize> = first
            .iter()
            .filter(|(r, _)| *r == round)
            .map(|(_, b)| *b)
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3], "round {round}");
    }
    assert_eq!(first, order(1), "the same seed gives the same order");
    assert_ne!(first, order(2));
    let leads = |benchmark| {
        first
            .iter()
            .step_by(4)
            .filter(|(_, b)| *b == benchmark)
            .count()
    };
    for benchmark in 0..4 {
        assert!(
            (3..=25).contains(&leads(benchmark)),
            "benchmark {benchmark} leads {} of 50",
            leads(benchmark)
        );
    }
}

#[test]
fn setup_floor_warmup_rounds_cleanup_and_sweep_come_in_this_order() {
    let mut executor = Simulated::new(|a| quiet_run(a, MS));
    let session = conduct(&plan(2, StopRule::Runs(1)), &mut executor, &mut Silent);
    let events = executor.events;
    assert_eq!(
        events[..3],
        [Event::SetUp(0), Event::SetUp(1), Event::Floor(6)]
    );
    assert!(events[3..5].iter().all(|e| matches!(e, Event::WarmUp(_))));
    assert!(events[5..7].iter().all(|e| matches!(e, Event::Run(_, 0))));
    assert_eq!(
        events[7..],
        [
            Event::Floor(5),
            Event::CleanUp(0),
            Event::CleanUp(1),
            Event::Sweep
        ]
    );
    assert_eq!(
        session.floor_ns.len(),
        10,
        "without the warm-up run of the empty program"
    );
}

#[test]
fn a_failing_run_ends_the_session_but_cleans_up_and_keeps_what_was_measured() {
    let mut executor = Simulated::new(|a| Run {
        exit: if a.benchmark == 1 && a.round == 2 && !a.warmup {
            Exit::Code(3)
        } else {
            Exit::Code(0)
        },
        ..quiet_run(a, MS)
    });
    let session = conduct(&plan(2, StopRule::Runs(10)), &mut executor, &mut Silent);
    assert_eq!(session.stop, StopReason::Failed);
    match session.failure {
        Some(MeasureError::RunFailed {
            command, exit, run, ..
        }) => {
            assert_eq!(
                (command.as_str(), exit, run),
                ("command 1", Exit::Code(3), Some(3))
            );
        }
        other => panic!("{other:?}"),
    }
    assert!((5..=6).contains(&session.runs.len()));
    assert!(
        executor
            .events
            .ends_with(&[Event::CleanUp(0), Event::CleanUp(1), Event::Sweep])
    );
}

#[test]
fn ignored_failures_are_counted_and_left_out_of_comparisons() {
    let mut plan = plan(2, StopRule::Runs(30));
    plan.ignore_failure = IgnoreFailure::Codes(vec![1]);
    let mut executor = Simulated::new(|a| Run {
        exit: if a.benchmark == 1 && a.round.is_multiple_of(3) {
            Exit::Code(1)
        } else {
            Exit::Code(0)
        },
        ..noisy(a, MS, 0.01)
    });
    let session = conduct(&plan, &mut executor, &mut Silent);
    assert!(session.failure.is_none());
    let outcome = outcome_of(&plan, &session);
    assert_eq!(outcome.comparisons[0].rounds, 20);

    let mut other = Simulated::new(|a| Run {
        exit: Exit::Code(2),
        ..quiet_run(a, MS)
    });
    assert_eq!(
        conduct(&plan, &mut other, &mut Silent).stop,
        StopReason::Failed
    );
}

#[test]
fn a_clear_difference_stops_early_and_is_called_by_its_name() {
    let plan = plan(2, until_decided());
    let mut executor =
        Simulated::new(|a| noisy(a, if a.benchmark == 1 { 2 * MS } else { MS }, 0.05));
    let session = conduct(&plan, &mut executor, &mut Silent);
    assert_eq!(session.stop, StopReason::Decided);
    assert!(session.runs.len() <= 2 * 15, "{} runs", session.runs.len());
    let outcome = outcome_of(&plan, &session);
    let comparison = &outcome.comparisons[0];
    assert_eq!(comparison.verdict, Verdict::Slower);
    assert!((comparison.ratio.value - 2.0).abs() < 0.05);
}

#[test]
fn identical_programs_end_as_the_same() {
    let plan = plan(2, until_decided());
    let mut executor = Simulated::new(|a| noisy(a, MS, 0.02));
    let session = conduct(&plan, &mut executor, &mut Silent);
    assert_eq!(session.stop, StopReason::Decided);
    let outcome = outcome_of(&plan, &session);
    assert_eq!(outcome.comparisons[0].verdict, Verdict::Same);
}

#[test]
fn versions_are_compared_each_with_the_one_before() {
    let mut plan = plan(3, StopRule::Runs(20));
    plan.question.against = Against::Previous;
    let walls = [10 * MS, 10 * MS, 15 * MS];
    let mut executor = Simulated::new(move |a| noisy(a, walls[a.benchmark], 0.001));
    let session = conduct(&plan, &mut executor, &mut Silent);
    let compared: Vec<_> = outcome_of(&plan, &session)
        .comparisons
        .iter()
        .map(|one| (one.reference, one.subject, one.verdict))
        .collect();
    assert_eq!(compared, [(0, 1, Verdict::Same), (1, 2, Verdict::Slower)]);
}

#[test]
fn the_middle_of_two_decides_to_which_of_them_a_third_is_nearer() {
    let verdict = |third: u64| {
        let mut plan = plan(3, until_decided());
        plan.question.against = Against::Middle;
        plan.question.metrics = vec![AskedMetric {
            metric: Metric::Wall,
            margin: 0.01,
        }];
        let walls = [100 * MS, 121 * MS, third];
        let mut executor = Simulated::new(move |a| noisy(a, walls[a.benchmark], 0.05));
        let session = conduct(&plan, &mut executor, &mut Silent);
        let outcome = outcome_of(&plan, &session);
        assert_eq!(outcome.comparisons.len(), 1);
        assert!(outcome.cross_checks.is_empty());
        outcome.comparisons[0].verdict
    };
    assert_eq!(verdict(100 * MS), Verdict::Faster);
    assert_eq!(verdict(121 * MS), Verdict::Slower);
    assert_eq!(verdict(110 * MS), Verdict::Same);
}

#[test]
fn what_cannot_be_decided_ends_with_the_time_and_says_how_much_more_it_takes() {
    let mut plan = plan(2, until_decided());
    if let StopRule::Answer(limits) = &mut plan.stop {
        limits.soft = Duration::from_millis(60);
        limits.hard = limits.soft;
    }
    let mut executor = Simulated::new(|a| noisy(a, MS, 1.0));
    let session = conduct(&plan, &mut executor, &mut Silent);
    assert_eq!(session.stop, StopReason::TimeBudget);
    let outcome = outcome_of(&plan, &session);
    assert_eq!(outcome.comparisons[0].verdict, Verdict::Undecided);
    assert!(
        outcome.comparisons[0]
            .more_rounds
            .is_some_and(|more| more.0 > 10)
    );
}

#[test]
fn one_command_stops_when_its_median_is_known_well() {
    let mut plan = plan(1, until_decided());
    if let StopRule::Answer(limits) = &mut plan.stop {
        limits.precision = Some(0.01);
    }
    let mut executor = Simulated::new(|a| noisy(a, MS, 0.2));
    let session = conduct(&plan, &mut executor, &mut Silent);
    assert_eq!(session.stop, StopReason::Precise);
    let outcome = outcome_of(&plan, &session);
    assert!(outcome.comparisons.is_empty());
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_drops_the_run_that_was_on() {
    let mut executor = Simulated::new(|a| quiet_run(a, MS)).interrupted_after(12);
    let session = conduct(&plan(2, StopRule::Runs(100)), &mut executor, &mut Silent);
    assert_eq!(session.stop, StopReason::Interrupted);
    assert_eq!(
        session.runs.len(),
        10,
        "12 runs ended, of which 2 were warm-ups"
    );
    assert!(session.failure.is_none());
    assert!(
        executor
            .events
            .ends_with(&[Event::CleanUp(0), Event::CleanUp(1), Event::Sweep])
    );
}

#[test]
fn on_a_busy_machine_the_verdict_rests_on_undisturbed_time_and_wall_is_the_cross_check() {
    let plan = plan(2, StopRule::Runs(50));
    let mut executor = Simulated::new(|a| {
        let work = if a.benchmark == 1 { MS * 102 / 100 } else { MS };
        let wait = (noise(a) * 3.0 * MS as f64) as u64;
        Run {
            wall_ns: work + wait,
            run_queue_wait_ns: Some(wait),
            undisturbed_ns: Some(work),
            ..quiet_run(a, work)
        }
    });
    let session = conduct(&plan, &mut executor, &mut Silent);
    let outcome = outcome_of(&plan, &session);
    let comparison = &outcome.comparisons[0];
    assert_eq!(
        (comparison.metric, comparison.verdict),
        (Metric::Undisturbed, Verdict::Slower)
    );
    assert!((comparison.ratio.value - 1.02).abs() < 1e-6);
    assert_eq!(outcome.cross_checks[0].metric, Metric::Wall);
}

#[test]
fn where_undisturbed_time_is_missing_for_one_benchmark_wall_time_carries_the_verdict() {
    let plan = plan(2, StopRule::Runs(20));
    let mut executor = Simulated::new(|a| Run {
        run_queue_wait_ns: Some(MS / 2),
        undisturbed_ns: (a.benchmark == 0).then_some(MS / 2),
        ..noisy(a, MS, 0.01)
    });
    let session = conduct(&plan, &mut executor, &mut Silent);
    let outcome = outcome_of(&plan, &session);
    assert_eq!(outcome.comparisons[0].metric, Metric::Wall);
    assert!(outcome.cross_checks.is_empty());
}

#[test]
fn a_round_without_undisturbed_time_costs_no_claim() {
    // The launcher noticed one exit late. Eight rounds are just enough to claim a difference.
    for (rounds, clock) in [(8, Metric::Wall), (9, Metric::Undisturbed)] {
        let plan = plan(2, StopRule::Runs(rounds));
        let mut executor = Simulated::new(|a| {
            let work = if a.benchmark == 1 { 2 * MS } else { MS };
            Run {
                wall_ns: work + MS / 10,
                run_queue_wait_ns: Some(MS / 10),
                undisturbed_ns: (a.position != 5).then_some(work),
                ..quiet_run(a, work)
            }
        });
        let session = conduct(&plan, &mut executor, &mut Silent);
        let outcome = outcome_of(&plan, &session);
        let comparison = &outcome.comparisons[0];
        assert_eq!(
            (comparison.metric, comparison.rounds, comparison.verdict),
            (clock, 8, Verdict::Slower)
        );
    }
}

/// The promise of the whole verb: one command compared with itself is reported as different at most one time
/// in twenty, despite drift and spikes, even if measuring stops as soon as there is a verdict.
#[test]
fn the_same_program_against_itself_is_rarely_called_different() {
    let mut claims = 0;
    let sessions = 400;
    for seed in 0..sessions {
        let mut plan = plan(2, until_decided());
        plan.seed = seed;
        if let StopRule::Answer(limits) = &mut plan.stop {
            limits.maximum = Some(50);
        }
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut executor = Simulated::new(move |a| {
            let drift = 1.0 + 0.2 * (f64::from(a.position) / 30.0).sin();
            let spike = if random() < 0.1 { 2.0 } else { 1.0 };
            quiet_run(
                a,
                (MS as f64 * drift * spike * (1.0 + 0.05 * random())) as u64,
            )
        });
        let session = conduct(&plan, &mut executor, &mut Silent);
        let outcome = outcome_of(&plan, &session);
        claims += u32::from(matches!(
            outcome.comparisons[0].verdict,
            Verdict::Faster | Verdict::Slower
        ));
    }
    // 5 % of 400 is 20; the 99.9 % bound for that rate is 34.
    assert!(claims <= 34, "{claims} of {sessions}");
}

#[test]
fn runs_that_are_made_by_the_dozen_are_the_same_runs_in_the_same_order() {
    let session = |at_once| {
        let mut executor = Simulated::new(|a| quiet_run(a, MS)).handing_over(at_once);
        conduct(&plan(3, StopRule::Runs(40)), &mut executor, &mut Silent).runs
    };
    let places = |runs: Vec<Run>| -> Vec<(u32, u32, usize)> {
        runs.iter()
            .map(|run| (run.position, run.round, run.benchmark))
            .collect()
    };
    let one_by_one = places(session(1));
    assert_eq!(one_by_one.len(), 120);
    assert!((0..120).eq(one_by_one.iter().map(|(position, ..)| *position)));
    assert_eq!(places(session(16)), one_by_one);
    assert_eq!(places(session(7)), one_by_one);
}

#[test]
fn when_time_runs_out_the_runs_that_were_made_ahead_are_kept() {
    // Runs that vary, so that nothing is decided before the time is over.
    let mut executor =
        Simulated::new(|a| quiet_run(a, MS + u64::from(a.position * 7919 % 1000) * 1000))
            .handing_over(16);
    let session = conduct(&plan(1, for_40_ms()), &mut executor, &mut Silent);
    assert_eq!(session.stop, StopReason::TimeBudget);
    let made = |event: &&Event| matches!(event, Event::Run(..));
    assert_eq!(
        session.runs.len(),
        executor.events.iter().filter(made).count(),
        "every run that was made is a result"
    );
}

#[test]
fn an_interrupted_session_keeps_what_was_made_before() {
    let mut executor = Simulated::new(|a| quiet_run(a, MS))
        .handing_over(16)
        .interrupted_after(23);
    let session = conduct(&plan(1, StopRule::Runs(50)), &mut executor, &mut Silent);
    assert_eq!(session.stop, StopReason::Interrupted);
    // The plan has one warm-up round; the run during which the signal arrived doesn't count.
    assert_eq!(session.runs.len(), 22);
}

#[test]
fn a_look_that_falls_due_in_a_stretch_of_short_runs_is_taken_at_its_end() {
    let twice = |a: &Attempt| quiet_run(a, MS * (1 + a.benchmark as u64));
    let rounds = |at_once| {
        let mut executor = Simulated::new(twice).handing_over(at_once);
        let session = conduct(&plan(2, until_decided()), &mut executor, &mut Silent);
        assert_eq!(session.stop, StopReason::Decided);
        session.runs.len() / 2
    };
    assert_eq!(rounds(1), 10, "the first look");
    // One warm-up round and twelve counted ones.
    assert_eq!(rounds(26), 12);
}

#[test]
fn time_is_counted_from_the_first_measured_run_also_where_it_was_made_with_the_warm_up() {
    let uneven = |a: &Attempt| quiet_run(a, MS + u64::from(a.position * 7919 % 1000) * 10);
    let mut executor = Simulated::new(uneven).handing_over(16);
    let plan = plan(1, for_40_ms());
    let session = conduct(&plan, &mut executor, &mut Silent);
    // Three batches of slightly more than 16 ms, without the warm-up run.
    assert_eq!(session.runs.len(), 47);
}

#[test]
fn a_session_that_goes_on_makes_only_the_rounds_that_are_missing() {
    let plan = plan(3, StopRule::Runs(50));
    let mut first = conduct(
        &Plan {
            stop: StopRule::Runs(20),
            ..plan.clone()
        },
        &mut Simulated::new(|a| quiet_run(a, MS)),
        &mut Silent,
    );
    // The first session was killed in the middle of a round, which is then repeated.
    first.runs.pop();
    let mut made = Vec::new();
    let mut executor = Simulated::new(|a: &Attempt| {
        made.push(*a);
        quiet_run(a, 2 * MS)
    });
    let session = go_on(&plan, first.runs.clone(), &mut executor, &mut Silent);
    drop(executor);
    assert_eq!(session.runs[..57], first.runs[..57]);
    assert_eq!(made.iter().filter(|attempt| !attempt.warmup).count(), 93);
    let places: Vec<_> = session.runs.iter().map(|run| run.position).collect();
    assert_eq!(places, (0..150).collect::<Vec<_>>());
    let rounds: Vec<_> = session.runs.iter().map(|run| run.round).collect();
    assert_eq!(rounds, (0..150).map(|run| run / 3).collect::<Vec<_>>());

    let again = go_on(
        &plan,
        session.runs.clone(),
        &mut Simulated::new(|_| unreachable!("nothing is missing")),
        &mut Silent,
    );
    assert_eq!(again.runs, session.runs);
    assert_eq!(again.stop, StopReason::RunCount);
}
