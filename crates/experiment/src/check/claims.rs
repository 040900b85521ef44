//! Checks that every claim is about something that is measured, in compatible units.

use std::collections::BTreeSet;

use super::{Checker, measured_subjects};
use crate::expression::{Context, Fault, compared, judge};
use crate::file::experiment::{Claim, Experiment, Formula, How};
use crate::file::problem::Located;
use crate::file::problem::inside;
use crate::metrics;
use crate::results::{Findings, Results, Samples};
use crate::sweep;
use crate::unit::Unit;

impl Checker<'_> {
    /// Judges every claim once against results that are all 1. An error in this case doesn't depend on the
    /// measurements.
    pub(super) fn claims(&self) {
        let results = pretended(self.experiment);
        let combinations = sweep::all_combinations(self.experiment);
        for claim in &self.experiment.claims {
            for formula in [&claim.holds, &claim.ill_posed_if].into_iter().flatten() {
                self.selectors(formula);
                self.claim(formula, &results, &combinations);
            }
            self.published_size(claim, &results, &combinations);
        }
    }

    fn claim(
        &self,
        formula: &Formula,
        results: &Results,
        combinations: &[fathom_model::Combination],
    ) {
        let mut somewhere = false;
        for combination in combinations {
            let context = Context {
                results,
                combination,
            };
            match judge(&formula.expression, context) {
                Err(Fault::Wrong {
                    span,
                    message,
                    advice,
                }) => {
                    let span = inside(&self.experiment.text, &formula.text, &span);
                    self.problems.add(span, message, advice);
                    return;
                }
                Err(Fault::Elsewhere) => {}
                _ => somewhere = true,
            }
        }
        if !somewhere {
            self.problems.add(
                formula.text.span.clone(),
                "no measure provides the values for this claim",
                "its results are restricted by `only` to parameters that never occur together",
            );
        }
    }

    /// Checks that a published size has the same unit as the measured one with which it is compared.
    fn published_size(
        &self,
        claim: &Claim,
        results: &Results,
        combinations: &[fathom_model::Combination],
    ) {
        let (Some(_), Some(formula), Some((unit, _))) =
            (claim.published_size(), &claim.holds, claim.published_unit())
        else {
            return;
        };
        let measured = combinations.iter().find_map(|combination| {
            let context = Context {
                results,
                combination,
            };
            compared(&formula.expression, context)
        });
        let Some(measured) = measured.filter(|measured| !measured.unit.agrees(&unit)) else {
            return;
        };
        let named = |unit: &Unit| match unit.is_plain() {
            true => "a plain number".to_string(),
            false => format!("in {unit}"),
        };
        self.problems.add(
            formula.text.span.clone(),
            format!(
                "the published value is {}, but the compared value is {}",
                named(&unit),
                named(&measured.unit)
            ),
            "give `published` a value of the same quantity, with its `unit`, such as { value = 150, unit = \"us\" }",
        );
    }

    /// Checks that the parameters in brackets exist and can have the value.
    fn selectors(&self, formula: &Formula) {
        let references = crate::expression::references(&formula.expression);
        for (name, value) in references.into_iter().flat_map(|(_, selectors)| selectors) {
            let parameters = &self.experiment.parameters;
            let at = Located {
                value: name.clone(),
                span: formula.text.span.clone(),
            };
            match parameters.iter().find(|p| p.name.value == *name) {
                None => {
                    let known = Self::names(parameters, |p| &p.name.value);
                    self.problems.unknown(&at, "parameter", &known);
                }
                Some(parameter) if !parameter.all_values().contains(&value.as_str()) => {
                    let known = parameter.all_values();
                    let at = Located {
                        value: value.clone(),
                        span: at.span,
                    };
                    self.problems
                        .unknown(&at, &format!("value of {name}"), &known);
                }
                Some(_) => {}
            }
        }
    }
}

/// Returns results with the value 1 for everything that the file measures.
fn pretended(experiment: &Experiment) -> Results {
    let mut results = Results::default();
    let combinations = sweep::all_combinations(experiment);
    for measure in &experiment.measures {
        let mut done = BTreeSet::new();
        for combination in &combinations {
            if !sweep::allowed(&measure.only, combination) {
                continue;
            }
            for known in metrics::of(experiment, measure) {
                let restricted = (known.subject.as_ref())
                    .and_then(|name| experiment.subjects.iter().find(|s| s.name.value == *name))
                    .is_some_and(|s| {
                        measure.how.has_subjects() && !sweep::allowed(&s.only, combination)
                    });
                let combination = match measure.how {
                    How::Machine => Vec::new(),
                    _ => combination.clone(),
                };
                let key = (
                    known.metric.clone(),
                    known.subject.clone(),
                    combination.clone(),
                );
                if restricted || !done.insert(key) {
                    continue;
                }
                results.samples.push(Samples {
                    measure: measure.id.value.clone(),
                    metric: known.metric,
                    subject: known.subject,
                    parameters: combination,
                    unit: known.unit,
                    values: (0..10).map(|round| (round, 1.0)).collect(),
                    exact: known.exact,
                    primary: known.primary,
                    is_share: false,
                });
            }
            if measure.how == How::Why {
                for subject in measured_subjects(experiment, measure) {
                    results.findings.push(Findings {
                        measure: measure.id.value.clone(),
                        subject,
                        parameters: combination.clone(),
                        ids: Vec::new(),
                        limited: None,
                    });
                }
            }
        }
    }
    results
}
