//! Compares noise-free quantities, and checks budgets.

use fathom_model::{ExactChange, GateBenchmark, GateVerdict, Metric, Run, Unit};
use fathom_stats::median_interval;

use super::GateTarget;

/// The metrics that are reported if head's value differs from the value that all runs of base share.
const EXACT: [Metric; 5] = [
    Metric::ReadCalls,
    Metric::WriteCalls,
    Metric::ReadBytes,
    Metric::WrittenBytes,
    Metric::MajorFaults,
];
/// The name of the metric for the size of the program file.
const BINARY_SIZE: &str = "binary_size";
/// The confidence level of an interval that is compared with a budget.
const LEVEL: f64 = 0.95;

/// An upper limit for a metric of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// The name of the metric; `binary_size` is allowed too.
    pub metric: String,
    /// The limit of the metric.
    pub limit: BudgetLimit,
    /// The limit as written, `<= 1200`.
    pub text: String,
}

/// The limit of a budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BudgetLimit {
    /// A number in the unit of the metric.
    AtMost(f64),
    /// The value measured at base.
    Base,
}

impl Budget {
    /// Returns a budget that limits head to the value of base.
    pub(super) fn as_base(metric: Metric) -> Budget {
        Budget {
            metric: metric.name().to_owned(),
            limit: BudgetLimit::Base,
            text: "<= base".to_owned(),
        }
    }

    /// Reports whether the metric exists.
    pub fn is_known(metric: &str) -> bool {
        metric == BINARY_SIZE || Metric::ALL.iter().any(|known| known.name() == metric)
    }
}

/// Returns the values of a metric at base and at head.
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

/// Returns the value that all runs share, if they do.
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

/// Returns the metrics that were the same in all base runs and differ at head, except those with a budget.
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

/// Returns a row for each budget.
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
            "the value at base differs from run to run; give the budget a number instead".to_owned(),
        ),
        (Some(limit), Some(estimate)) => match same(&head) {
            // All runs have the same value, so there is no interval and no margin.
            Some(value) if value > limit => (GateVerdict::Worse, over(value, limit)),
            Some(_) => (GateVerdict::NotWorse, String::new()),
            None if estimate.low > limit => (GateVerdict::Worse, over(estimate.value, limit)),
            None if estimate.high <= limit => (GateVerdict::NotWorse, String::new()),
            None => (
                GateVerdict::CannotTell,
                "the interval for head's median contains the limit; a longer --time gives more rounds"
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
    // The only other metric is a file size.
    known.map_or(Unit::Bytes, Metric::unit)
}

fn over(value: f64, limit: f64) -> String {
    format!("{value} exceeds the budget's limit of {limit}")
}
