//! Turns measurements into a record.

use fathom_model::{
    Environment, Estimate, FalseFailureShare, FloorSource, GateBenchmark, GateClock, GateRecord,
    GateRule, GateVerdict, Metric, NullArm, NullArmRatio, Run, SCHEMA_VERSION, Waiver,
};
use fathom_stats::{
    BestOfVerdict, GateAnswer, GateFinding, best_of, best_of_on_itself, median_interval,
};

use super::floor::Floor;
use super::{GatePlan, GateTarget, Judged, Measured, Rule, exact};

/// The number of simulated suites drawn from the null arm.
const SUITES: usize = 2_000;

/// Returns a record of everything known so far, whether the measurement is complete or not.
pub(super) fn record(
    plan: &GatePlan,
    started_at: String,
    environment: Environment,
    measured: &Measured,
) -> GateRecord {
    let complete = measured.failure.is_none() && !measured.interrupted;
    let findings = measured.gate.findings();
    let mut record = GateRecord {
        schema_version: SCHEMA_VERSION,
        kind: "gate".to_owned(),
        fathom_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at,
        jobs: fathom_fleet::of_this_process(),
        environment,
        base: plan.base.clone(),
        head: plan.head.clone(),
        rule: GateRule::Paired {
            margin: plan.margin,
            undecided_passes: true,
        },
        verdict: GateVerdict::CannotTell,
        benchmarks: Vec::new(),
        exact_changes: Vec::new(),
        null_arm: null_arm(plan, measured, &findings),
        left_out: plan.left_out.clone(),
        settings_changed: plan.settings_changed.clone(),
        notes: Vec::new(),
        complete,
        seconds: measured.seconds,
    };
    match &plan.rule {
        Rule::Paired { undecided_passes } => {
            record.rule = GateRule::Paired {
                margin: plan.margin,
                undecided_passes: *undecided_passes,
            };
            let rows = plan.rows().zip(&findings).zip(&measured.floors);
            record.benchmarks = rows
                .map(|(((place, judged), finding), floor)| {
                    let (target, runs) = (&plan.targets[place], &measured.runs[place]);
                    paired(target, judged, finding, runs, *floor, complete)
                })
                .collect();
        }
        Rule::BestOf { .. } => fastest(plan, measured, &mut record),
    }
    for (target, runs) in plan.targets.iter().zip(&measured.runs) {
        record.benchmarks.extend(exact::budgets(target, runs));
        record.exact_changes.extend(exact::changes(target, runs));
    }
    waive(plan, &mut record);
    record.verdict = verdict(&record);
    record
}

fn null_arm(plan: &GatePlan, measured: &Measured, findings: &[GateFinding]) -> NullArm {
    let judged = matches!(plan.rule, Rule::Paired { .. });
    // The null arm's series holds times.
    let rows = plan.rows().zip(findings);
    let of_time = rows.filter(|((_, judged), _)| judged.metric.is_none());
    let ratios = of_time.filter_map(|((place, _), finding)| {
        Some(NullArmRatio {
            name: plan.targets[place].name.clone(),
            ratio: finding.null_arm?,
        })
    });
    NullArm {
        failed: judged && measured.gate.null_arm_fails(),
        benchmarks: ratios.collect(),
    }
}

fn paired(
    target: &GateTarget,
    judged: Judged,
    finding: &GateFinding,
    runs: &[Vec<Run>; 2],
    history: Option<Floor>,
    complete: bool,
) -> GateBenchmark {
    let floor = finding.floor;
    let mut why = Vec::new();
    match finding.answer {
        GateAnswer::Worse => why.push(format!(
            "looked worse in {} rounds, and again in {} new ones",
            finding.rounds, finding.confirmation_rounds
        )),
        GateAnswer::NotWorse if finding.looked_worse => why.push(format!(
            "looked worse in {} rounds, but not in {} new ones",
            finding.rounds, finding.confirmation_rounds
        )),
        GateAnswer::NotWorse => {}
        GateAnswer::CannotTell if !complete => why.push("measuring ended before".to_owned()),
        GateAnswer::CannotTell => {
            if finding.looked_worse {
                why.push(format!(
                    "looked worse in {} rounds; {} new ones could not confirm it",
                    finding.rounds, finding.confirmation_rounds
                ));
            }
            if floor > judged.margin {
                why.push(format!(
                    "the machine's noise of {:.1} % is larger than the margin",
                    100.0 * floor
                ));
            }
            why.push(match finding.rounds_to_decide {
                Some(rounds) => format!("it would take about {rounds} rounds to decide: use a longer --time"),
                None => "the difference is close to the margin, or no round was completed: use a longer --time or \
                     another margin".to_owned(),
            });
        }
    }
    if finding.copies_apart > 0.0 {
        why.push(format!(
            "two copies of base differ by {:.1} %: the interval is widened by that much",
            100.0 * finding.copies_apart
        ));
    }
    GateBenchmark {
        name: target.name.clone(),
        parameters: target.head.benchmark.parameters.clone(),
        metric: finding.metric.name().to_owned(),
        unit: finding.metric.unit().name().to_owned(),
        higher_is_better: false,
        ratio: finding.ratio,
        verdict: word(finding.answer),
        rounds: finding.rounds + finding.confirmation_rounds,
        confirmation_rounds: finding.confirmation_rounds,
        margin: judged.margin,
        floor: if floor.is_finite() { floor } else { 0.0 },
        floor_source: Some(
            history.map_or(FloorSource::NullArm, |floor| FloorSource::History {
                gates: floor.gates,
            }),
        ),
        base: middle(&runs[0], finding.metric),
        head: middle(&runs[1], finding.metric),
        clocks: match judged.metric {
            None => clocks(runs),
            Some(_) => Vec::new(),
        },
        budget: None,
        waived: None,
        why,
        difference: Vec::new(),
    }
}

fn middle(runs: &[Run], metric: Metric) -> Option<Estimate> {
    let values: Vec<f64> = runs.iter().filter_map(|run| metric.of(run)).collect();
    median_interval(&values, 0.95)
}

/// Returns both clocks, regardless of which one carried the verdict: a series always uses the same clock,
/// however loaded the machine was on a given day.
fn clocks(runs: &[Vec<Run>; 2]) -> Vec<GateClock> {
    let one = |metric: Metric| {
        Some(GateClock {
            metric: metric.name().to_owned(),
            base: middle(&runs[0], metric)?,
            head: middle(&runs[1], metric)?,
            runs: runs[1].len(),
        })
    };
    [Metric::Wall, Metric::Undisturbed]
        .into_iter()
        .filter_map(one)
        .collect()
}

fn word(answer: GateAnswer) -> GateVerdict {
    match answer {
        GateAnswer::Worse => GateVerdict::Worse,
        GateAnswer::NotWorse => GateVerdict::NotWorse,
        GateAnswer::CannotTell => GateVerdict::CannotTell,
    }
}

/// Applies the other rule: records its verdict, and how often the rule would give that verdict when comparing
/// base with itself.
fn fastest(plan: &GatePlan, measured: &Measured, record: &mut GateRecord) {
    let Rule::BestOf { rule, protected } = &plan.rule else {
        return;
    };
    let walls =
        |runs: &[Run]| -> Vec<f64> { runs.iter().filter_map(|run| Metric::Wall.of(run)).collect() };
    let runs: Vec<[Vec<f64>; 2]> = measured
        .runs
        .iter()
        .map(|[base, head]| [walls(base), walls(head)])
        .collect();
    let enough = !runs.is_empty() && runs.iter().all(|[base, _]| base.len() >= rule.runs);
    let is_protected: Vec<bool> = plan
        .targets
        .iter()
        .map(|target| protected.contains(&target.name))
        .collect();
    let suite: Vec<(&[f64], &[f64])> = runs
        .iter()
        .map(|[base, head]| (&base[..], &head[..]))
        .collect();
    let judged: Option<BestOfVerdict> = enough.then(|| best_of(rule, &suite, &is_protected));
    let chance = best_of_on_itself(rule, &measured.gate.null_runs(), &is_protected, SUITES);
    record.rule = GateRule::BestOf {
        max_regression: rule.max_regression,
        max_geomean: rule.max_geomean,
        best_of: u32::try_from(rule.runs).unwrap_or(u32::MAX),
        protected: protected.clone(),
        geomean: judged.as_ref().map(|judged| judged.geomean),
        false_failures: chance.map(|chance| FalseFailureShare {
            suites: chance.suites,
            failed: chance.failed,
        }),
    };
    for (place, target) in plan.targets.iter().enumerate() {
        let best = |side: usize| {
            let first = runs[place][side].iter().take(rule.runs);
            first.copied().min_by(f64::total_cmp).map(alone)
        };
        let ratio = judged.as_ref().map(|judged| judged.ratios[place]);
        let verdict = match &judged {
            None => GateVerdict::CannotTell,
            Some(judged) if judged.worse.contains(&place) => GateVerdict::Worse,
            Some(_) => GateVerdict::NotWorse,
        };
        let why = match (verdict, is_protected[place], ratio) {
            (GateVerdict::NotWorse, true, Some(ratio)) if ratio > 1.0 + rule.max_regression => {
                vec!["protected: counts only in the geometric mean".to_owned()]
            }
            (GateVerdict::CannotTell, ..) => vec!["measuring ended before".to_owned()],
            _ => Vec::new(),
        };
        record.benchmarks.push(GateBenchmark {
            name: target.name.clone(),
            parameters: target.head.benchmark.parameters.clone(),
            metric: Metric::Wall.name().to_owned(),
            unit: Metric::Wall.unit().name().to_owned(),
            higher_is_better: false,
            ratio: ratio.map(alone),
            verdict,
            rounds: runs[place][0].len() / 2,
            confirmation_rounds: 0,
            margin: rule.max_regression,
            floor: 0.0,
            floor_source: None,
            base: best(0),
            head: best(1),
            clocks: Vec::new(),
            budget: None,
            waived: None,
            why,
            difference: Vec::new(),
        });
    }
}

/// Returns the estimate of a single run, which has no interval.
fn alone(value: f64) -> Estimate {
    Estimate {
        value,
        low: value,
        high: value,
        level: 0.0,
    }
}

/// Applies the waivers, and reports those that have expired or match nothing.
fn waive(plan: &GatePlan, record: &mut GateRecord) {
    for waiver in &plan.waivers {
        let fits = |row: &&mut GateBenchmark| {
            let clock = ["wall", "cpu_wait_free"];
            let same_clock =
                clock.contains(&row.metric.as_str()) && clock.contains(&waiver.metric.as_str());
            row.name == waiver.benchmark
                && (row.metric == waiver.metric || same_clock)
                && row.verdict == GateVerdict::Worse
        };
        // Dates are written so that string order is date order.
        let expired = waiver.until < plan.today;
        match record.benchmarks.iter_mut().find(fits) {
            Some(_) if expired => record.notes.push(format!(
                "the waiver for {} {} expired on {} ({}), so this benchmark fails again",
                waiver.benchmark, waiver.metric, waiver.until, waiver.reason
            )),
            Some(row) => match exceeds(row, waiver) {
                Some(by) => row.why.push(by),
                None => row.waived = Some(waiver.clone()),
            },
            None if expired => record.notes.push(format!(
                "the waiver for {} {} expired on {} and is no longer needed: remove it",
                waiver.benchmark, waiver.metric, waiver.until
            )),
            None => {}
        }
    }
}

/// Returns why a waiver doesn't cover this row, namely that the change is larger than the waiver allows.
fn exceeds(row: &GateBenchmark, waiver: &Waiver) -> Option<String> {
    let at_most = waiver.at_most?;
    let change = match (&row.ratio, &row.base, &row.head) {
        (Some(ratio), ..) => ratio.value - 1.0,
        // If base was 0, the change exceeds any share.
        (None, Some(base), Some(head)) => head.value / base.value - 1.0,
        _ => return None,
    };
    (change > at_most).then(|| {
        format!(
            "{:+.1} % is more than the {} % that the waiver allows until {}",
            100.0 * change,
            100.0 * at_most,
            waiver.until
        )
    })
}

/// Returns the verdict of the suite: worse if any benchmark that isn't waived is worse.
pub(super) fn verdict(record: &GateRecord) -> GateVerdict {
    if record.null_arm.failed {
        return GateVerdict::CannotTell;
    }
    let geomean_fails = match &record.rule {
        GateRule::BestOf {
            max_geomean,
            geomean: Some(geomean),
            ..
        } => *geomean > 1.0 + max_geomean,
        _ => false,
    };
    let has = |verdict| {
        record
            .benchmarks
            .iter()
            .any(|row| row.verdict == verdict && row.waived.is_none())
    };
    match (
        geomean_fails || has(GateVerdict::Worse),
        has(GateVerdict::CannotTell),
    ) {
        (true, _) => GateVerdict::Worse,
        (false, true) => GateVerdict::CannotTell,
        (false, false) if record.benchmarks.is_empty() || !record.complete => {
            GateVerdict::CannotTell
        }
        (false, false) => GateVerdict::NotWorse,
    }
}
