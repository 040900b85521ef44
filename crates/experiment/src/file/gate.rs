//! `[gate]`: limits on regressions.

use std::fmt;
use std::ops::Range;

use fathom_conduct::gate::{Budget, BudgetLimit};
use fathom_model::Waiver;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::leaf::{Ceiling, Day, Margin, Margins, MetricOf, Metrics};
use super::problem::{Located, Problems};
#[cfg(test)]
use super::schema::NoDefault as _;
use super::shape::{Listed, Pairs, Part, Scalar};

/// `[gate]`: limits on the regressions of a change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GateSettings {
    /// The smallest relative change that counts.
    pub margin: Option<f64>,
    /// The smallest relative change by benchmark.
    pub margins: Vec<(String, f64)>,
    /// The judged metrics, each with its own margin if it has one; time if empty.
    pub metrics: Vec<MetricOf>,
    /// The branch to compare with.
    pub base: Option<String>,
    /// Whether a suite passes with the verdict `cannot tell`.
    pub undecided_passes: Option<bool>,
    /// Benchmark names, each with an upper limit for one of its metrics.
    pub budgets: Vec<(String, Budget)>,
    /// Known changes that are accepted until a given day.
    pub waivers: Vec<Waiver>,
}

/// What `fathom gate` requires of a change. It is read from base.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "[gate]")]
#[cfg_attr(test, schemars(rename = "Gate"))]
pub struct GateKeys {
    /// The smallest change of a benchmark that counts, such as 3%.
    #[serde(default, with = "Margin")]
    margin: Option<f64>,
    /// The smallest change that counts, by benchmark name.
    #[serde(default, with = "Margins")]
    margins: Vec<(String, f64)>,
    /// The judged metrics: wall, peak_memory and so on, each optionally followed by its own margin, such as
    /// "peak_memory=5%"; time if absent.
    #[serde(default, with = "Metrics")]
    metrics: Vec<MetricOf>,
    /// The branch to compare with; main if absent.
    base: Option<String>,
    /// Whether an undecided suite passes.
    undecided: Option<Undecided>,
    /// NAME.METRIC = "<= 1200" or "<= base": an upper limit for a metric.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "super::schema::BudgetsByName"))]
    budgets: Pairs<Located<Limits>>,
    /// Known changes that are accepted.
    #[serde(default, with = "Listed::<WaiverKeys>")]
    waivers: Vec<WaiverKeys>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase", expecting = "undecided")]
enum Undecided {
    /// The suite passes.
    Pass,
    /// The suite fails.
    Fail,
}

/// A known change that does not fail the gate until a date.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "a waiver")]
#[cfg_attr(test, schemars(rename = "Waiver"))]
struct WaiverKeys {
    /// Name of the benchmark.
    benchmark: String,
    /// Name of the metric; wall if absent.
    metric: Option<String>,
    /// The last day of the waiver, 2027-01-31.
    #[serde(with = "Day")]
    until: String,
    /// The largest change that is waived, such as 15%; any change if absent.
    #[serde(default, with = "Ceiling")]
    at_most: Option<f64>,
    /// The reason.
    reason: String,
}

impl Part for WaiverKeys {}

/// `name.metric = "<= 1200"`, or the same with the name in quotes.
#[derive(Debug, Clone)]
enum Limits {
    One(String),
    ByMetric(Vec<(Located<String>, Located<Scalar>)>),
}

struct LimitsVisitor;

impl<'de> Deserialize<'de> for Limits {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Limits, D::Error> {
        from.deserialize_any(LimitsVisitor)
    }
}

impl<'de> Visitor<'de> for LimitsVisitor {
    type Value = Limits;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"<= 1200\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Limits, E> {
        Ok(Limits::One(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Limits, A::Error> {
        Pairs::read(entries).map(|pairs| Limits::ByMetric(pairs.0))
    }
}

impl GateKeys {
    /// Returns the parsed settings, and reports invalid budgets to `problems`.
    pub(super) fn settings(&self, problems: &Problems) -> GateSettings {
        let mut budgets = Vec::new();
        for (name, limits) in &self.budgets.0 {
            match &limits.value {
                Limits::ByMetric(all) => {
                    let read = all.iter().filter_map(|(metric, limit)| {
                        budget(name, metric, &limit.clone().into(), problems)
                    });
                    budgets.extend(read);
                }
                Limits::One(limit) => {
                    let at = |value: &str, span: &Range<usize>| Located {
                        value: value.to_owned(),
                        span: span.clone(),
                    };
                    let Some((benchmark, metric)) = name.rsplit_once('.') else {
                        problems.add(
                            name.span.clone(),
                            format!("{:?} names no metric", name.value),
                            "write NAME.METRIC = \"<= 1200\"",
                        );
                        continue;
                    };
                    let (metric, limit) = (at(metric, &name.span), at(limit, &limits.span));
                    budgets.extend(budget(benchmark, &metric, &limit, problems));
                }
            }
        }
        let waiver = |keys: &WaiverKeys| Waiver {
            benchmark: keys.benchmark.clone(),
            metric: keys.metric.clone().unwrap_or_else(|| "wall".to_owned()),
            until: keys.until.clone(),
            reason: keys.reason.clone(),
            at_most: keys.at_most,
        };
        GateSettings {
            margin: self.margin,
            margins: self.margins.clone(),
            metrics: self.metrics.clone(),
            base: self.base.clone(),
            undecided_passes: self.undecided.map(|word| matches!(word, Undecided::Pass)),
            budgets,
            waivers: self.waivers.iter().map(waiver).collect(),
        }
    }
}

fn budget(
    benchmark: &str,
    metric: &Located<String>,
    limit: &Located<String>,
    problems: &Problems,
) -> Option<(String, Budget)> {
    if !Budget::is_known(metric) {
        problems.add(
            metric.span.clone(),
            format!("no metric {:?}", metric.value),
            "a budget takes one of the exact metrics: read_calls, write_calls, read_bytes, written_bytes, \
             major_faults, binary_size",
        );
        return None;
    }
    let text = limit.trim();
    let number = |limit: &str| {
        let number: f64 = limit.replace('_', "").parse().ok()?;
        (number >= 0.0).then_some(BudgetLimit::AtMost(number))
    };
    let read = text
        .strip_prefix("<=")
        .map(str::trim)
        .and_then(|limit| match limit {
            "base" => Some(BudgetLimit::Base),
            limit => number(limit),
        });
    if read.is_none() {
        problems.add(
            limit.span.clone(),
            format!(
                "the budget for {benchmark}.{} is not a valid limit",
                metric.value
            ),
            "write \"<= 1200\", in the metric's unit (seconds, bytes or a count), or \"<= base\"",
        );
    }
    let budget = Budget {
        metric: metric.value.clone(),
        limit: read?,
        text: text.to_owned(),
    };
    Some((benchmark.to_owned(), budget))
}
