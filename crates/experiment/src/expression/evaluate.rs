//! Does an expression hold for the results?

use std::ops::Range;

use fathom_model::{Combination, Estimate, Measured};

use super::quantity::{LEVEL, Quantity, arithmetic, paired, point, supported};
use super::tree::{Expression, Kind, Node, Operator, Relation};
use crate::file::problem::did_you_mean;
use crate::results::{Lookup, Results, Samples};
use crate::unit::Unit;

/// Differences up to this share count as none where a claim names no margin.
const MARGIN: f64 = 0.01;

/// What an expression is judged by.
#[derive(Debug, Clone, Copy)]
pub struct Context<'r> {
    /// What was measured.
    pub results: &'r Results,
    /// The parameters that hold where the expression names none.
    pub combination: &'r Combination,
}

/// How a statement turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The opposite was measured.
    Opposite,
    /// No effect where one is claimed, or another number than the claimed one.
    NoEffect,
    /// The sign holds, the size differs.
    DirectionOnly,
    /// Something is missing.
    Missing,
    /// The interval is too wide.
    Undecided,
    /// It holds.
    Holds,
}

/// A judged statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// How it turned out.
    pub outcome: Outcome,
    /// Why, in words; empty where there is nothing to say.
    pub reason: String,
    /// The quantities in it.
    pub measured: Vec<Measured>,
}

/// Why an expression can't be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The expression is wrong: a name that is unknown, units that don't fit.
    Wrong {
        /// Bytes of the expression.
        span: Range<usize>,
        /// What is wrong.
        message: String,
        /// What to write.
        advice: String,
    },
    /// A result is missing, and why.
    Missing(String),
    /// There is nothing of it under these parameters.
    Elsewhere,
    /// The results allow no number, such as a division by zero.
    Undefined(String),
}

/// Judges an expression.
///
/// # Errors
/// [`Fault::Wrong`] where the expression can't be right whatever is measured, [`Fault::Elsewhere`] where
/// it says nothing under this combination. What is missing otherwise is an [`Outcome`].
pub fn judge(expression: &Expression, context: Context<'_>) -> Result<Judgement, Fault> {
    let judge = Judge {
        text: &expression.text,
        context,
    };
    judge.statement(&expression.root)
}

struct Judge<'e, 'r> {
    text: &'e str,
    context: Context<'r>,
}

type Answer<T> = Result<T, Fault>;

impl<'e, 'r> Judge<'e, 'r> {
    fn written(&self, node: &Node) -> &'e str {
        self.text.get(node.span.clone()).unwrap_or_default()
    }

    fn wrong<T>(&self, node: &Node, message: String, advice: &str) -> Answer<T> {
        Err(Fault::Wrong {
            span: node.span.clone(),
            message,
            advice: advice.to_string(),
        })
    }

    fn statement(&self, node: &Node) -> Answer<Judgement> {
        match &node.kind {
            Kind::And(left, right) => self.joined(left, right, true),
            Kind::Or(left, right) => self.joined(left, right, false),
            Kind::Not(inner) => {
                let mut judgement = self.statement(inner)?;
                judgement.outcome = match judgement.outcome {
                    Outcome::Holds => Outcome::Opposite,
                    Outcome::Opposite | Outcome::NoEffect | Outcome::DirectionOnly => {
                        Outcome::Holds
                    }
                    other => other,
                };
                Ok(judgement)
            }
            _ => match self.simple(node) {
                // A gap is an outcome; only a mistake in the file is an error.
                Err(Fault::Missing(reason)) => Ok(Judgement {
                    outcome: Outcome::Missing,
                    reason,
                    measured: Vec::new(),
                }),
                Err(Fault::Undefined(reason)) => Ok(Judgement {
                    outcome: Outcome::Undecided,
                    reason,
                    measured: Vec::new(),
                }),
                other => other,
            },
        }
    }

    /// All must hold, or one of them.
    fn joined(&self, left: &Node, right: &Node, all: bool) -> Answer<Judgement> {
        let (mut left, right) = (self.statement(left)?, self.statement(right)?);
        // What decides is the worse of both for `and`, the better for `or`.
        let right_decides = (right.outcome < left.outcome) == all && right.outcome != left.outcome;
        let measured = [left.measured.clone(), right.measured.clone()].concat();
        if right_decides {
            left = right;
        } else if left.outcome == right.outcome && left.reason != right.reason {
            let parts = [left.reason, right.reason];
            let said: Vec<String> = parts.into_iter().filter(|r| !r.is_empty()).collect();
            left.reason = said.join("; ");
        }
        left.measured = measured;
        Ok(left)
    }

    fn simple(&self, node: &Node) -> Answer<Judgement> {
        match &node.kind {
            Kind::Comparison {
                left,
                relation,
                right,
                within,
            } => self.comparison(left, *relation, right, within.as_deref()),
            Kind::Call {
                name,
                arguments,
                within,
            } => match name.as_str() {
                "order" => self.order(arguments, within.as_deref()),
                "same" => self.same(arguments, within.as_deref()),
                "finding" => self.finding(node, arguments),
                "clean" => self.clean(arguments),
                _ => self.no_statement(node),
            },
            _ => self.no_statement(node),
        }
    }

    fn no_statement<T>(&self, node: &Node) -> Answer<T> {
        self.wrong(
            node,
            format!("`{}` says nothing that could hold", self.written(node)),
            "compare it: >= 10, == 35 within 10%, order( ), same( ), finding( ), clean( )",
        )
    }

    fn margin(&self, within: Option<&Node>, otherwise: f64) -> Answer<f64> {
        let Some(node) = within else {
            return Ok(otherwise);
        };
        let margin = self.number(node)?;
        if !margin.unit.is_plain()
            || margin.measured
            || !(0.0..10.0).contains(&margin.estimate.value)
        {
            return self.wrong(
                node,
                format!("`{}` is no share", self.written(node)),
                "write the margin as 5%",
            );
        }
        Ok(margin.estimate.value)
    }

    fn measured(&self, node: &Node, quantity: &Quantity<'r>) -> Measured {
        Measured {
            what: self.written(node).to_string(),
            estimate: Some(quantity.estimate),
            unit: quantity.unit.to_string(),
            text: None,
        }
    }

    fn comparison(
        &self,
        left_node: &Node,
        relation: Relation,
        right_node: &Node,
        within: Option<&Node>,
    ) -> Answer<Judgement> {
        let (mut left, mut right) = (self.number(left_node)?, self.number(right_node)?);
        self.same_units(left_node, &mut left, right_node, &mut right)?;
        let mut measured: Vec<Measured> = [(left_node, &left), (right_node, &right)]
            .into_iter()
            .filter(|(node, quantity)| {
                quantity.measured || !matches!(node.kind, Kind::Number { .. })
            })
            .map(|(node, quantity)| self.measured(node, quantity))
            .collect();
        if let Some(weak) = left.weak.clone().or_else(|| right.weak.clone()) {
            return Ok(Judgement {
                outcome: Outcome::Undecided,
                reason: weak,
                measured,
            });
        }
        // Two results of the same rounds: their paired ratio tells more than their two intervals.
        if let (Some(above), Some(below)) = (left.samples, right.samples)
            && let Some((estimate, weak)) = paired(above, below)
        {
            let ratio = Quantity {
                estimate,
                unit: Unit::plain(),
                samples: None,
                is_ratio: true,
                measured: true,
                weak,
            };
            measured.push(Measured {
                what: format!("{} / {}", self.written(left_node), self.written(right_node)),
                estimate: Some(estimate),
                unit: String::new(),
                text: None,
            });
            (left, right) = (ratio, Quantity::constant(1.0, Unit::plain()));
            if let Some(weak) = &left.weak {
                return Ok(Judgement {
                    outcome: Outcome::Undecided,
                    reason: weak.clone(),
                    measured,
                });
            }
        }
        let (outcome, reason) = match relation {
            Relation::Equal => equal(&left, &right, self.margin(within, 0.0)?),
            // The measured side stands left.
            _ if right.measured && !left.measured => one_sided(&right, relation.mirrored(), &left),
            _ => one_sided(&left, relation, &right),
        };
        Ok(Judgement {
            outcome,
            reason,
            measured,
        })
    }

    /// A bare number next to bytes or a declared unit such as ops/s is taken in that unit. Times are not:
    /// a bare 2 could be two of anything.
    fn same_units(
        &self,
        left_node: &Node,
        left: &mut Quantity<'r>,
        right_node: &Node,
        right: &mut Quantity<'r>,
    ) -> Answer<()> {
        if left.unit.agrees(&right.unit) {
            return Ok(());
        }
        let bare = |quantity: &Quantity<'r>| !quantity.measured && quantity.unit.is_plain();
        // Nothing is nothing in every unit.
        let fits = |number: &Quantity<'r>, other: &Quantity<'r>| {
            bare(number)
                && (other.unit.is_declared()
                    || other.unit == Unit::bytes()
                    || number.estimate.value == 0.0)
        };
        if fits(right, left) {
            right.unit = left.unit.clone();
            return Ok(());
        }
        if fits(left, right) {
            left.unit = right.unit.clone();
            return Ok(());
        }
        let named = |unit: &Unit| match unit.is_plain() {
            true => "a plain number".to_string(),
            false => format!("in {unit}"),
        };
        let (node, advice) = match (left.unit.to_string().as_str(), right.unit.is_plain()) {
            ("s", true) => (right_node, "give the number a unit of time, such as 2ms"),
            _ => (right_node, "compare like with like, or take a ratio first"),
        };
        self.wrong(
            node,
            format!(
                "`{}` is {}, `{}` is {}",
                self.written(left_node),
                named(&left.unit),
                self.written(right_node),
                named(&right.unit)
            ),
            advice,
        )
    }

    fn same(&self, arguments: &[Node], within: Option<&Node>) -> Answer<Judgement> {
        let margin = self.margin(within, MARGIN)?;
        let ratio = self.ratio(&arguments[0], &arguments[1])?;
        let mut measured = self.each(arguments)?;
        measured.push(Measured {
            what: format!(
                "ratio({}, {})",
                self.written(&arguments[0]),
                self.written(&arguments[1])
            ),
            estimate: Some(ratio.estimate),
            unit: String::new(),
            text: None,
        });
        let (outcome, reason) = match (ratio.weak.clone(), side(&ratio.estimate, margin)) {
            (Some(weak), _) => (Outcome::Undecided, weak),
            (None, Side::Within) => (Outcome::Holds, String::new()),
            (None, Side::Above | Side::Below) => (
                Outcome::Opposite,
                format!("they differ by {}", factor(ratio.estimate.value)),
            ),
            (None, Side::Open) => (Outcome::Undecided, "the interval is too wide".to_string()),
        };
        Ok(Judgement {
            outcome,
            reason,
            measured,
        })
    }

    fn each(&self, arguments: &[Node]) -> Answer<Vec<Measured>> {
        arguments
            .iter()
            .map(|node| Ok(self.measured(node, &self.number(node)?)))
            .collect()
    }

    fn order(&self, arguments: &[Node], within: Option<&Node>) -> Answer<Judgement> {
        let margin = self.margin(within, MARGIN)?;
        let measured = self.each(arguments)?;
        let mut held = 0;
        let mut weak = None;
        let (mut wrong, mut open) = (Vec::new(), Vec::new());
        for pair in arguments.windows(2) {
            let ratio = self.ratio(&pair[1], &pair[0])?;
            let (first, second) = (self.written(&pair[0]), self.written(&pair[1]));
            if let Some(why) = ratio.weak {
                weak = Some(why);
                open.push(format!("{first} against {second}"));
                continue;
            }
            match side(&ratio.estimate, margin) {
                Side::Above => held += 1,
                Side::Below => wrong.push(format!("{second} is less than {first}")),
                Side::Within => wrong.push(format!("{first} and {second} are the same")),
                Side::Open => open.push(format!("{first} against {second}")),
            }
        }
        let steps = arguments.len() - 1;
        let ends = self.ratio(&arguments[steps], &arguments[0])?;
        let held_text = format!("{held} of {steps} steps hold");
        let (outcome, reason) = if held == steps {
            (Outcome::Holds, String::new())
        } else if wrong.is_empty() {
            let what = format!("not decided: {}", open.join(", "));
            (Outcome::Undecided, weak.unwrap_or(what))
        } else {
            let why = format!("{held_text}; {}", wrong.join(", "));
            match side(&ends.estimate, margin) {
                Side::Above if steps > 1 => (Outcome::DirectionOnly, why),
                Side::Below => (Outcome::Opposite, why),
                _ => (Outcome::NoEffect, why),
            }
        };
        Ok(Judgement {
            outcome,
            reason,
            measured,
        })
    }

    fn findings(&self, node: &Node) -> Answer<&'r [String]> {
        let Kind::Reference { path, selectors } = &node.kind else {
            return self.wrong(
                node,
                format!("`{}` is no subject", self.written(node)),
                "write finding(SUBJECT, \"id\")",
            );
        };
        let found = self
            .context
            .results
            .findings_of(path, self.context.combination, selectors);
        match found {
            Ok(findings) => Ok(&findings.ids),
            Err(Lookup::Gap(reason)) => Err(Fault::Missing(reason)),
            Err(Lookup::Elsewhere) => Err(Fault::Elsewhere),
            Err(_) => self.wrong(
                node,
                format!("no measure with how = \"why\" has the subject `{path}`"),
                "add it to the `subjects` of such a measure",
            ),
        }
    }

    fn finding(&self, node: &Node, arguments: &[Node]) -> Answer<Judgement> {
        let Kind::Text(id) = &arguments[1].kind else {
            return self.wrong(
                &arguments[1],
                format!("`{}` is no text", self.written(&arguments[1])),
                "write the finding's id in double quotes",
            );
        };
        let ids = self.findings(&arguments[0])?;
        let text = match ids {
            [] => "nothing stands out".to_string(),
            ids => ids.join(", "),
        };
        let (outcome, reason) = match ids.iter().position(|found| found == id) {
            Some(0) => (Outcome::Holds, String::new()),
            Some(place) => (
                Outcome::DirectionOnly,
                format!("it is number {} of the findings", place + 1),
            ),
            None => (Outcome::NoEffect, format!("why found: {text}")),
        };
        Ok(Judgement {
            outcome,
            reason,
            measured: vec![self.said(node, text)],
        })
    }

    fn clean(&self, arguments: &[Node]) -> Answer<Judgement> {
        let ids = self.findings(&arguments[0])?;
        let (outcome, text) = match ids {
            [] => (Outcome::Holds, "nothing stands out".to_string()),
            ids => (Outcome::Opposite, ids.join(", ")),
        };
        let reason = match outcome {
            Outcome::Holds => String::new(),
            _ => format!("why found: {text}"),
        };
        Ok(Judgement {
            outcome,
            reason,
            measured: vec![self.said(&arguments[0], text)],
        })
    }

    fn said(&self, node: &Node, text: String) -> Measured {
        Measured {
            what: self.written(node).to_string(),
            estimate: None,
            unit: String::new(),
            text: Some(text),
        }
    }

    fn samples(
        &self,
        node: &Node,
        path: &str,
        selectors: &[(String, String)],
    ) -> Answer<&'r Samples> {
        let results = self.context.results;
        match results.find(path, self.context.combination, selectors) {
            Ok(samples) => Ok(samples),
            Err(Lookup::Gap(reason)) => Err(Fault::Missing(reason)),
            Err(Lookup::Elsewhere) => Err(Fault::Elsewhere),
            Err(Lookup::Ambiguous(names)) => self.wrong(
                node,
                format!("`{path}` is measured more than once"),
                &format!("write {}", names.join(" or ")),
            ),
            Err(Lookup::Unknown) => {
                let names = results.names();
                let advice = match did_you_mean(path, names.iter().map(String::as_str)) {
                    Some(meant) => format!("did you mean {meant}?"),
                    None => "write METRIC.SUBJECT of something that a measure measures".to_string(),
                };
                self.wrong(node, format!("nothing measures `{path}`"), &advice)
            }
        }
    }

    fn number(&self, node: &Node) -> Answer<Quantity<'r>> {
        match &node.kind {
            Kind::Number { value, unit, .. } => Ok(Quantity::constant(*value, unit.clone())),
            Kind::Reference { path, selectors } => {
                let samples = self.samples(node, path, selectors)?;
                Quantity::of_samples(samples)
                    .ok_or_else(|| Fault::Missing(format!("{} has no value", self.written(node))))
            }
            Kind::Negative(inner) => {
                let quantity = self.number(inner)?;
                let e = quantity.estimate;
                Ok(Quantity {
                    is_ratio: false,
                    ..quantity.derived(Estimate {
                        value: -e.value,
                        low: -e.high,
                        high: -e.low,
                        level: e.level,
                    })
                })
            }
            Kind::Arithmetic(left, operator, right) => self.arithmetic(left, *operator, right),
            Kind::Call {
                name, arguments, ..
            } => self.call(node, name, arguments),
            _ => self.wrong(
                node,
                format!("`{}` is no number", self.written(node)),
                "a number is needed here",
            ),
        }
    }

    fn arithmetic(
        &self,
        left_node: &Node,
        operator: Operator,
        right_node: &Node,
    ) -> Answer<Quantity<'r>> {
        let (mut left, mut right) = (self.number(left_node)?, self.number(right_node)?);
        if matches!(operator, Operator::Add | Operator::Subtract) {
            self.same_units(left_node, &mut left, right_node, &mut right)?;
        }
        arithmetic(&left, operator, &right).ok_or_else(|| {
            Fault::Undefined(format!(
                "{} {} has no value: {} may be 0",
                self.written(left_node),
                match operator {
                    Operator::Divide => "divided",
                    _ => "combined",
                },
                self.written(right_node)
            ))
        })
    }

    fn call(&self, node: &Node, name: &str, arguments: &[Node]) -> Answer<Quantity<'r>> {
        match name {
            "ratio" => self.ratio(&arguments[0], &arguments[1]),
            "p50" => self.of_runs(&arguments[0], |sorted| {
                fathom_stats::median_interval(sorted, LEVEL)
            }),
            "p90" => self.of_runs(&arguments[0], |sorted| {
                fathom_stats::quantile_interval(sorted, 0.9, LEVEL)
            }),
            "p99" => self.of_runs(&arguments[0], |sorted| {
                fathom_stats::quantile_interval(sorted, 0.99, LEVEL)
            }),
            "min" => self.of_runs(&arguments[0], |sorted| sorted.first().copied().map(point)),
            "max" => self.of_runs(&arguments[0], |sorted| sorted.last().copied().map(point)),
            "mean" if arguments.len() == 1 => self.of_runs(&arguments[0], mean),
            "mean" | "sum" => {
                let total = self.total(arguments)?;
                let count = match name {
                    "mean" => arguments.len() as f64,
                    _ => 1.0,
                };
                let e = total.estimate;
                Ok(total.derived(Estimate {
                    value: e.value / count,
                    low: e.low / count,
                    high: e.high / count,
                    level: e.level,
                }))
            }
            "geomean" => self.geomean(node, arguments),
            "sqrt" => {
                let quantity = self.number(&arguments[0])?;
                let e = quantity.estimate;
                if e.low < 0.0 || !quantity.unit.is_plain() {
                    return self.wrong(
                        node,
                        "sqrt( ) takes a plain number from 0 on".to_string(),
                        "",
                    );
                }
                Ok(quantity.derived(Estimate {
                    value: e.value.sqrt(),
                    low: e.low.sqrt(),
                    high: e.high.sqrt(),
                    level: e.level,
                }))
            }
            "rounded" => match &arguments[0].kind {
                Kind::Number {
                    value,
                    half_digit,
                    unit,
                } => Ok(Quantity {
                    estimate: Estimate {
                        value: *value,
                        low: value - half_digit,
                        high: value + half_digit,
                        level: 1.0,
                    },
                    ..Quantity::constant(*value, unit.clone())
                }),
                _ => self.wrong(
                    node,
                    "rounded( ) takes a written number".to_string(),
                    "write rounded(0.0005): all numbers that round to it",
                ),
            },
            "value" => match &arguments[0].kind {
                Kind::Text(name) => self.value(node, name),
                _ => self.wrong(
                    node,
                    "value( ) takes a text".to_string(),
                    "write value(\"core_clock\")",
                ),
            },
            _ => self.wrong(
                node,
                format!("{name}( ) is a statement and no number"),
                "join statements with `and`",
            ),
        }
    }

    fn value(&self, node: &Node, name: &str) -> Answer<Quantity<'r>> {
        let found = self.context.results.samples.iter().find(|s| {
            s.subject.is_none()
                && (s.metric == name || format!("{}.{}", s.measure, s.metric) == name)
        });
        if let Some(samples) = found {
            return Quantity::of_samples(samples)
                .ok_or_else(|| Fault::Missing(format!("{name} has no value")));
        }
        let results = self.context.results;
        let machine = results.samples.iter().find(|s| s.unit == "?");
        if let Some(unknown) = machine {
            // Which probes there are is known when the machine was measured.
            return Ok(Quantity {
                samples: None,
                measured: true,
                ..Quantity::constant(1.0, unknown.unit())
            });
        }
        let gap = results.gaps.iter().find(|gap| gap.subject.is_none());
        match gap {
            Some(gap) => Err(Fault::Missing(gap.reason.clone())),
            None => self.wrong(
                node,
                format!("no measure without subjects has the value {name:?}"),
                "add a measure with how = \"machine\"",
            ),
        }
    }

    /// A number that follows from the runs of one metric.
    fn of_runs(
        &self,
        node: &Node,
        estimate: impl FnOnce(&[f64]) -> Option<Estimate>,
    ) -> Answer<Quantity<'r>> {
        let quantity = self.number(node)?;
        let Some(samples) = quantity.samples else {
            return self.wrong(
                node,
                format!("`{}` has no runs", self.written(node)),
                "write METRIC.SUBJECT",
            );
        };
        let mut sorted = samples.plain();
        sorted.sort_unstable_by(f64::total_cmp);
        let estimate = estimate(&sorted)
            .ok_or_else(|| Fault::Missing(format!("{} has no value", self.written(node))))?;
        let (estimate, weak) = match estimate.level >= LEVEL {
            true => (estimate, None),
            false => supported(estimate, &sorted, samples.exact),
        };
        Ok(Quantity {
            weak,
            ..quantity.derived(estimate)
        })
    }

    fn ratio(&self, above_node: &Node, below_node: &Node) -> Answer<Quantity<'r>> {
        let (mut above, mut below) = (self.number(above_node)?, self.number(below_node)?);
        self.same_units(above_node, &mut above, below_node, &mut below)?;
        if let (Some(numerator), Some(denominator)) = (above.samples, below.samples)
            && let Some((estimate, weak)) = paired(numerator, denominator)
        {
            return Ok(Quantity {
                estimate,
                unit: Unit::plain(),
                samples: None,
                is_ratio: true,
                measured: true,
                weak,
            });
        }
        let quotient = arithmetic(&above, Operator::Divide, &below)
            .ok_or_else(|| Fault::Undefined(format!("{} may be 0", self.written(below_node))))?;
        Ok(Quantity {
            is_ratio: above.measured || below.measured,
            ..quotient
        })
    }

    fn total(&self, arguments: &[Node]) -> Answer<Quantity<'r>> {
        let mut total = self.number(&arguments[0])?;
        for (index, node) in arguments.iter().enumerate().skip(1) {
            let mut next = self.number(node)?;
            self.same_units(&arguments[index - 1], &mut total, node, &mut next)?;
            total = arithmetic(&total, Operator::Add, &next)
                .ok_or_else(|| Fault::Undefined("the sum has no value".to_string()))?;
        }
        total.samples = None;
        Ok(total)
    }

    fn geomean(&self, node: &Node, arguments: &[Node]) -> Answer<Quantity<'r>> {
        let mut parts = Vec::new();
        for (index, argument) in arguments.iter().enumerate() {
            let mut next = self.number(argument)?;
            if index > 0 {
                let mut first: Quantity<'r> = Quantity::clone(&parts[0]);
                self.same_units(&arguments[0], &mut first, argument, &mut next)?;
            }
            parts.push(next);
        }
        let of = |pick: fn(&Estimate) -> f64| {
            let values: Vec<f64> = parts.iter().map(|part| pick(&part.estimate)).collect();
            fathom_stats::geometric_mean(&values)
        };
        let (Some(value), Some(low), Some(high)) = (of(|e| e.value), of(|e| e.low), of(|e| e.high))
        else {
            return Err(Fault::Undefined(format!(
                "{} needs numbers above 0",
                self.written(node)
            )));
        };
        let level = parts
            .iter()
            .map(|part| part.estimate.level)
            .fold(1.0, f64::min);
        let mut quantity = parts[0].derived(Estimate {
            value,
            low,
            high,
            level,
        });
        quantity.is_ratio = parts.iter().all(|part| part.is_ratio);
        quantity.measured = parts.iter().any(|part| part.measured);
        quantity.weak = parts.iter().find_map(|part| part.weak.clone());
        Ok(quantity)
    }
}

/// Mean with Student's interval.
fn mean(values: &[f64]) -> Option<Estimate> {
    fathom_stats::mean_interval(values, LEVEL)
}

/// Where a ratio lies, seen from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Its whole interval is above the margin.
    Above,
    /// Below it.
    Below,
    /// Within it.
    Within,
    /// It reaches over an edge.
    Open,
}

fn side(ratio: &Estimate, margin: f64) -> Side {
    let (low, high) = (1.0 / (1.0 + margin), 1.0 + margin);
    if ratio.low > high {
        Side::Above
    } else if ratio.high < low {
        Side::Below
    } else if ratio.low >= low && ratio.high <= high {
        Side::Within
    } else {
        Side::Open
    }
}

/// `a >= b` and kin, the measured side left.
fn one_sided(left: &Quantity<'_>, relation: Relation, right: &Quantity<'_>) -> (Outcome, String) {
    let (l, r) = (&left.estimate, &right.estimate);
    let upward = matches!(relation, Relation::More | Relation::AtLeast);
    let (holds, fails) = match relation {
        Relation::More => (l.low > r.high, l.high <= r.low),
        Relation::AtLeast => (l.low >= r.high, l.high < r.low),
        Relation::Less => (l.high < r.low, l.low >= r.high),
        _ => (l.high <= r.low, l.low > r.high),
    };
    if holds {
        return (Outcome::Holds, String::new());
    }
    let claimed = r.value;
    // A claim that something stays below a bound above 1 claims no effect in a direction.
    let has_direction = left.is_ratio
        && !right.measured
        && if upward {
            claimed >= 1.0
        } else {
            claimed <= 1.0
        };
    let direction = match (side(l, MARGIN), upward) {
        (Side::Above, true) | (Side::Below, false) => Outcome::DirectionOnly,
        (Side::Above, false) | (Side::Below, true) => Outcome::Opposite,
        _ => Outcome::NoEffect,
    };
    if fails {
        let by = match has_direction {
            true => against(l.value, claimed),
            false => beyond(l.value, claimed),
        };
        return match (has_direction, direction) {
            (false, _) => (Outcome::NoEffect, by),
            (true, Outcome::Opposite) => (Outcome::Opposite, by),
            (true, Outcome::DirectionOnly) => (Outcome::DirectionOnly, by),
            (true, _) => (Outcome::NoEffect, no_effect(l)),
        };
    }
    if has_direction && side(l, MARGIN) == Side::Within {
        return (Outcome::NoEffect, "no effect beyond 1 %".to_string());
    }
    let reason = match (has_direction, direction) {
        (true, Outcome::DirectionOnly) => "the direction holds; the interval reaches over the size",
        _ => "the interval is too wide",
    };
    (Outcome::Undecided, reason.to_string())
}

/// Whether none was shown, or none can be there.
fn no_effect(ratio: &Estimate) -> String {
    match side(ratio, MARGIN) {
        Side::Within => "no effect beyond 1 %".to_string(),
        _ => "no effect was shown: the interval reaches to none".to_string(),
    }
}

/// `a == b within margin`.
fn equal(left: &Quantity<'_>, right: &Quantity<'_>, margin: f64) -> (Outcome, String) {
    let (l, r) = (&left.estimate, &right.estimate);
    // Equal doubles may differ in their last bits.
    let slack = 1e-9;
    let edges = |value: f64| {
        let half = value.abs() * margin + value.abs() * slack;
        (value - half, value + half)
    };
    let (low, high) = (edges(r.low).0, edges(r.high).1);
    if l.low >= low && l.high <= high {
        return (Outcome::Holds, String::new());
    }
    if l.low <= high && l.high >= low {
        // Constants have no interval that could be narrower: what rounding allows is allowed.
        let outcome = match left.measured || right.measured {
            true => Outcome::Undecided,
            false => Outcome::Holds,
        };
        let reason = match outcome {
            Outcome::Holds => "within what rounding allows",
            _ => "the interval is too wide",
        };
        return (outcome, reason.to_string());
    }
    let by = against(l.value, r.value);
    let ratio_against = left.is_ratio && !right.measured && r.value > 0.0 && r.value != 1.0;
    if !ratio_against {
        return (Outcome::NoEffect, by);
    }
    match (side(l, MARGIN), r.value > 1.0) {
        (Side::Above, true) | (Side::Below, false) => (Outcome::DirectionOnly, by),
        (Side::Above, false) | (Side::Below, true) => (Outcome::Opposite, by),
        _ => (Outcome::NoEffect, no_effect(l)),
    }
}

/// On which side of a bound a value lies, and how far.
fn beyond(value: f64, bound: f64) -> String {
    if bound > 0.0 && value > 0.0 {
        let side = if value > bound { "above" } else { "below" };
        return format!("{} {side} the bound", factor(value / bound));
    }
    format!("{} where the bound is {}", short(value), short(bound))
}

/// By how much a value differs from the claimed one.
fn against(value: f64, claimed: f64) -> String {
    if claimed > 0.0 && value > 0.0 {
        let ratio = value / claimed;
        return match ratio {
            ratio if (0.5..2.0).contains(&ratio) => {
                let percent = (ratio - 1.0).abs() * 100.0;
                let digits = if percent < 10.0 { 1 } else { 0 };
                let word = if ratio < 1.0 { "less" } else { "more" };
                format!("{percent:.digits$} % {word} than claimed")
            }
            ratio if ratio < 1.0 => format!("1/{} of what is claimed", short(1.0 / ratio)),
            ratio => format!("{}x what is claimed", short(ratio)),
        };
    }
    format!("{} where {} is claimed", short(value), short(claimed))
}

fn short(value: f64) -> String {
    match value.abs() {
        v if v == 0.0 => "0".to_string(),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn factor(ratio: f64) -> String {
    let factor = if ratio < 1.0 { 1.0 / ratio } else { ratio };
    match factor {
        factor if factor < 1.5 => format!("{:.1} %", (factor - 1.0) * 100.0),
        factor => format!("{}x", short(factor)),
    }
}
