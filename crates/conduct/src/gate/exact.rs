//! Quantities that no noise touches, and budgets.

use fathom_model::{ExactChange, GateBenchmark, GateVerdict, Metric, Run, Unit};
use fathom_stats::median_interval;

use super::GateTarget;

/// Metrics that are worth a line when head has another value than all base runs.
const EXACT: [Metric; 5] = [
    Metric::ReadCalls,
    Metric::WriteCalls,
    Metric::ReadBytes,
    Metric::WrittenBytes,
    Metric::MajorFaults,
];
/// The size of the program's file.
const BINARY_SIZE: &str = "binary_size";
/// Level of an interval that a budget is compared with.
const LEVEL: f64 = 0.95;

/// What a metric of a benchmark may be at most.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// Name of the metric, `binary_size` among them.
    pub metric: String,
    /// The limit.
    pub limit: BudgetLimit,
    /// As it is written, `<= 1200`.
    pub text: String,
}

/// A limit of a budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BudgetLimit {
    /// A number in the unit of the metric.
    AtMost(f64),
    /// What base has.
    Base,
}

impl Budget {
    /// No more than base has.
    pub(super) fn as_base(metric: Metric) -> Budget {
        Budget {
            metric: metric.name().to_owned(),
            limit: BudgetLimit::Base,
            text: "<= base".to_owned(),
        }
    }

    /// Whether there is such a metric.
    pub fn is_known(metric: &str) -> bool {
        metric == BINARY_SIZE || Metric::ALL.iter().any(|known| known.name() == metric)
    }
}

/// Values of a metric at base and at head.
fn values(target: &GateTarget, runs: &[Vec<Run>; 2], metric: &str) -> [Vec<f64>; 2] {
    if metric == BINARY_SIZE {
        let size = |path: &std::path::Path| {
            let size = std::fs::metadata(path).map(|about| about.len() as f64);
            size.into_iter().collect()
        };
        return [
            size(&target.base.command.program),
            size(&target.head.command.program),
        ];
    }
    let Some(metric) = Metric::ALL.into_iter().find(|known| known.name() == metric) else {
        return Default::default();
    };
    [0, 1].map(|side| runs[side].iter().filter_map(|run| metric.of(run)).collect())
}

/// The value that all have.
fn same(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    values.iter().all(|value| *value == first).then_some(first)
}

fn ends(values: &[f64]) -> (f64, f64) {
    let fold = |start: f64, of: fn(f64, f64) -> f64| values.iter().copied().fold(start, of);
    (
        fold(f64::INFINITY, f64::min),
        fold(f64::NEG_INFINITY, f64::max),
    )
}

/// What was the same in all base runs and is something else at head, but for what has a budget.
pub(super) fn changes(target: &GateTarget, runs: &[Vec<Run>; 2]) -> Vec<ExactChange> {
    let names = EXACT
        .iter()
        .map(|metric| metric.name())
        .chain([BINARY_SIZE]);
    names
        .filter(|name| !target.budgets.iter().any(|budget| budget.metric == *name))
        .filter_map(|name| {
            let [base, head] = values(target, runs, name);
            let base = same(&base)?;
            let (low, high) = ends(&head);
            (!head.is_empty() && (low, high) != (base, base)).then(|| ExactChange {
                benchmark: target.name.clone(),
                metric: name.to_owned(),
                base,
                head_low: low,
                head_high: high,
            })
        })
        .collect()
}

/// A row for each budget.
pub(super) fn budgets(target: &GateTarget, runs: &[Vec<Run>; 2]) -> Vec<GateBenchmark> {
    target
        .budgets
        .iter()
        .map(|budget| judged(target, runs, budget))
        .collect()
}

fn judged(target: &GateTarget, runs: &[Vec<Run>; 2], budget: &Budget) -> GateBenchmark {
    let [base, head] = values(target, runs, &budget.metric);
    let middle = |values: &[f64]| median_interval(values, LEVEL);
    let limit = match budget.limit {
        BudgetLimit::AtMost(limit) => Some(limit),
        BudgetLimit::Base => same(&base),
    };
    let (verdict, why) = match (limit, middle(&head)) {
        (_, None) => (
            GateVerdict::CannotTell,
            "it was not measured at head".to_owned(),
        ),
        (None, _) if base.is_empty() => (
            GateVerdict::CannotTell,
            "it was not measured at base".to_owned(),
        ),
        (None, _) => (
            GateVerdict::CannotTell,
            "base has not the same value in all runs; give the budget a number".to_owned(),
        ),
        (Some(limit), Some(estimate)) => match same(&head) {
            // One value in all runs: no interval, no margin.
            Some(value) if value > limit => (GateVerdict::Worse, over(value, limit)),
            Some(_) => (GateVerdict::NotWorse, String::new()),
            None if estimate.low > limit => (GateVerdict::Worse, over(estimate.value, limit)),
            None if estimate.high <= limit => (GateVerdict::NotWorse, String::new()),
            None => (
                GateVerdict::CannotTell,
                "the interval of head's median holds the limit; more rounds: a longer --time"
                    .to_owned(),
            ),
        },
    };
    GateBenchmark {
        name: target.name.clone(),
        parameters: target.head.benchmark.parameters.clone(),
        metric: budget.metric.clone(),
        unit: unit_of(&budget.metric).name().to_owned(),
        higher_is_better: false,
        ratio: None,
        verdict,
        rounds: runs[1].len() / 2,
        confirmation_rounds: 0,
        margin: 0.0,
        floor: 0.0,
        floor_source: None,
        base: middle(&base),
        head: middle(&head),
        clocks: Vec::new(),
        budget: Some(budget.text.clone()),
        waived: None,
        why: if why.is_empty() {
            Vec::new()
        } else {
            vec![why]
        },
        difference: Vec::new(),
    }
}

fn unit_of(metric: &str) -> Unit {
    let known = Metric::ALL.into_iter().find(|known| known.name() == metric);
    // The other one is the size of a file.
    known.map_or(Unit::Bytes, Metric::unit)
}

fn over(value: f64, limit: f64) -> String {
    format!("{value} is more than the budget's {limit}")
}
