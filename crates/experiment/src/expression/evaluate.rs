//! Evaluates whether an expression holds for the results.

use std::ops::Range;

use fathom_model::{Combination, Measured};

use super::compare::{MARGIN, Side, equal, factor, one_sided, side};
use super::quantity::{Quantity, paired};
use super::tree::{Expression, Kind, Node, Relation};
use crate::results::{Findings, Lookup, Results};
use crate::unit::Unit;

/// The data by which an expression is judged.
#[derive(Debug, Clone, Copy)]
pub struct Context<'r> {
    /// The measured results.
    pub results: &'r Results,
    /// The parameters that apply if the expression doesn't name any.
    pub combination: &'r Combination,
}

/// The outcome of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The opposite was measured.
    Opposite,
    /// There is no effect although one is claimed, or a number differs from the claimed one.
    NoEffect,
    /// The direction is right, but the size differs.
    DirectionOnly,
    /// A result is missing.
    Missing,
    /// The interval is too wide.
    Undecided,
    /// The statement holds.
    Holds,
}

/// A judged statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The outcome.
    pub outcome: Outcome,
    /// The reason in words; empty if there is none.
    pub reason: String,
    /// The quantities in the statement.
    pub measured: Vec<Measured>,
}

/// Why an expression can't be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The expression is invalid: an unknown name, or incompatible units.
    Wrong {
        /// Byte range in the expression.
        span: Range<usize>,
        /// Description of the problem.
        message: String,
        /// What to write instead.
        advice: String,
    },
    /// A result is missing; the text says why.
    Missing(String),
    /// The expression doesn't apply to these parameters.
    Elsewhere,
    /// The results don't define a number, for example because of a division by zero.
    Undefined(String),
}

/// Judges an expression.
///
/// # Errors
/// [`Fault::Wrong`] if the expression can't be right for any measurement, [`Fault::Elsewhere`] if it doesn't
/// apply to this combination. Any other missing result is an [`Outcome`].
pub fn judge(expression: &Expression, context: Context<'_>) -> Result<Judgement, Fault> {
    Judge::new(expression, context).statement(&expression.root)
}

/// An expression's text, and the data by which it is judged.
pub(super) struct Judge<'e, 'r> {
    text: &'e str,
    pub(super) context: Context<'r>,
}

/// The value of a part of an expression, or why it has none.
pub(super) type Answer<T> = Result<T, Fault>;

impl<'e, 'r> Judge<'e, 'r> {
    pub(super) fn new(expression: &'e Expression, context: Context<'r>) -> Judge<'e, 'r> {
        Judge {
            text: &expression.text,
            context,
        }
    }

    pub(super) fn written(&self, node: &Node) -> &'e str {
        self.text.get(node.span.clone()).unwrap_or_default()
    }

    pub(super) fn wrong<T>(&self, node: &Node, message: String, advice: &str) -> Answer<T> {
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

    /// Judges `and` (all must hold) or `or` (one must hold).
    fn joined(&self, left: &Node, right: &Node, all: bool) -> Answer<Judgement> {
        let (mut left, right) = (self.statement(left)?, self.statement(right)?);
        // For `and`, the worse side decides; for `or`, the better one.
        let right_decides = (right.outcome < left.outcome) == all && right.outcome != left.outcome;
        let mut measured = left.measured.clone();
        for one in &right.measured {
            if !measured.contains(one) {
                measured.push(one.clone());
            }
        }
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
                "finding" => self.finding(arguments),
                "clean" => self.clean(arguments),
                _ => self.no_statement(node),
            },
            _ => self.no_statement(node),
        }
    }

    fn no_statement<T>(&self, node: &Node) -> Answer<T> {
        self.wrong(
            node,
            format!(
                "`{}` is a value, not a condition that can be true or false",
                self.written(node)
            ),
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
                format!("`{}` is not a share", self.written(node)),
                "write the margin as a percentage, such as 5%",
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
        // If two results come from the same rounds, the paired ratio is more precise than the two intervals.
        if let (Some(above), Some(below)) = (left.samples, right.samples)
            && let Some((estimate, weak)) = paired(above, below)
        {
            let ratio = Quantity::paired_ratio(estimate, weak);
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
            // Put the measured side on the left.
            _ if right.measured && !left.measured => one_sided(&right, relation.mirrored(), &left),
            _ => one_sided(&left, relation, &right),
        };
        Ok(Judgement {
            outcome,
            reason,
            measured,
        })
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

    fn findings(&self, node: &Node) -> Answer<&'r Findings> {
        let Kind::Reference { path, selectors } = &node.kind else {
            return self.wrong(
                node,
                format!("`{}` is not a subject", self.written(node)),
                "write finding(SUBJECT, \"id\")",
            );
        };
        let found = self
            .context
            .results
            .findings_of(path, self.context.combination, selectors);
        match found {
            Ok(findings) => Ok(findings),
            Err(Lookup::Gap(reason)) => Err(Fault::Missing(reason)),
            Err(Lookup::NotMeasured(reason)) => Err(Fault::Undefined(reason)),
            Err(Lookup::Elsewhere) => Err(Fault::Elsewhere),
            Err(_) => self.wrong(
                node,
                format!("no measure with how = \"why\" has the subject `{path}`"),
                "add it to the `subjects` of such a measure",
            ),
        }
    }

    fn finding(&self, arguments: &[Node]) -> Answer<Judgement> {
        let Kind::Text(id) = &arguments[1].kind else {
            return self.wrong(
                &arguments[1],
                format!("`{}` is not text", self.written(&arguments[1])),
                "write the finding's id in double quotes",
            );
        };
        let findings = self.findings(&arguments[0])?;
        let ids = findings.ids.as_slice();
        let text = match ids {
            [] => "nothing stands out".to_string(),
            ids => ids.join(", "),
        };
        if let (false, Some(limited)) = (ids.contains(id), &findings.limited) {
            return Err(Fault::Missing(limited.clone()));
        }
        let (outcome, reason) = match ids.iter().position(|found| found == id) {
            Some(0) => (Outcome::Holds, String::new()),
            Some(place) => (
                Outcome::DirectionOnly,
                format!("it is finding number {}", place + 1),
            ),
            None => (Outcome::NoEffect, format!("why found: {text}")),
        };
        Ok(Judgement {
            outcome,
            reason,
            measured: vec![self.said(&arguments[0], text)],
        })
    }

    fn clean(&self, arguments: &[Node]) -> Answer<Judgement> {
        let findings = self.findings(&arguments[0])?;
        if let (true, Some(limited)) = (findings.ids.is_empty(), &findings.limited) {
            return Err(Fault::Missing(limited.clone()));
        }
        let (outcome, text) = match findings.ids.as_slice() {
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
}
