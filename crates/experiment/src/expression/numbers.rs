//! Numbers in an expression: results, functions of results, arithmetic.

use fathom_model::Estimate;

use super::evaluate::{Answer, Fault, Judge};
use super::quantity::{LEVEL, Quantity, arithmetic, paired, point, supported};
use super::tree::{Kind, Node, Operator};
use crate::file::problem::did_you_mean;
use crate::results::{Cause, Lookup, Samples};
use crate::unit::Unit;

impl<'r> Judge<'_, 'r> {
    /// Gives a bare number the unit of the other side if that unit is bytes or a declared unit such as ops/s.
    /// This isn't done for times, because a bare 2 could be two of anything.
    pub(super) fn same_units(
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
        // Zero fits every unit.
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
            _ => (
                right_node,
                "compare values with the same unit, or compare ratios",
            ),
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
            Err(Lookup::NotMeasured(reason)) => Err(Fault::Undefined(reason)),
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
                    None => {
                        "write METRIC.SUBJECT, with a metric and a subject that a measure in this file covers"
                            .to_string()
                    }
                };
                self.wrong(node, format!("nothing measures `{path}`"), &advice)
            }
        }
    }

    pub(super) fn number(&self, node: &Node) -> Answer<Quantity<'r>> {
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
                format!("`{}` is not a number", self.written(node)),
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
                "{} can't be {}: {} may be 0",
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
            "p95" => self.of_runs(&arguments[0], |sorted| {
                fathom_stats::quantile_interval(sorted, 0.95, LEVEL)
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
                        "sqrt( ) takes a plain number that is 0 or more".to_string(),
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
            "rounded" => self.rounded(node, &arguments[0]),
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
                format!("{name}( ) is a condition, not a number"),
                "join conditions with `and`",
            ),
        }
    }

    fn rounded(&self, node: &Node, argument: &Node) -> Answer<Quantity<'r>> {
        let Kind::Number {
            value,
            half_digit,
            unit,
        } = &argument.kind
        else {
            return self.wrong(
                node,
                "rounded( ) takes a number, not an expression".to_string(),
                "write a number, as in rounded(0.0005), which stands for all values that round to it",
            );
        };
        Ok(Quantity {
            estimate: Estimate {
                value: *value,
                low: value - half_digit,
                high: value + half_digit,
                level: 1.0,
            },
            ..Quantity::constant(*value, unit.clone())
        })
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
            // The set of probes is known only after the machine was measured.
            return Ok(Quantity {
                samples: None,
                measured: true,
                ..Quantity::constant(1.0, unknown.unit())
            });
        }
        match results.gap_of_machine() {
            Some(gap) if gap.cause == Cause::NotMeasured => {
                Err(Fault::Undefined(gap.reason.clone()))
            }
            Some(gap) => Err(Fault::Missing(gap.reason.clone())),
            None => self.wrong(
                node,
                format!("no measure provides {name:?} as a value without a subject"),
                "add a measure with how = \"machine\"",
            ),
        }
    }

    /// Evaluates a function of the runs of one metric.
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
            ..quantity.derived(samples.within_bounds(estimate))
        })
    }

    pub(super) fn ratio(&self, above_node: &Node, below_node: &Node) -> Answer<Quantity<'r>> {
        let (mut above, mut below) = (self.number(above_node)?, self.number(below_node)?);
        self.same_units(above_node, &mut above, below_node, &mut below)?;
        if let (Some(numerator), Some(denominator)) = (above.samples, below.samples)
            && let Some((estimate, weak)) = paired(numerator, denominator)
        {
            return Ok(Quantity::paired_ratio(estimate, weak));
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
                .ok_or_else(|| Fault::Undefined("the sum can't be computed".to_string()))?;
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

/// Returns the mean with Student's interval.
fn mean(values: &[f64]) -> Option<Estimate> {
    fathom_stats::mean_interval(values, LEVEL)
}
