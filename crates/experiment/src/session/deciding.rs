//! Adds rounds until each claim is decided.

use std::time::Instant;

use fathom_model::{ClaimVerdict, Combination};

use super::{Event, RunError, Running};
use crate::expression::references;
use crate::file::experiment::{Claim, Measure};
use crate::prepare::Prepared;
use crate::resolve::Target;
use crate::run::{Interrupted, Yield};
use crate::verdict;

/// How often a claim is judged; the confidence level of the intervals ([`crate::expression::LEVEL`]) depends
/// on this. Each time, there are twice as many rounds as the time before.
const LOOKS: u32 = 3;
/// The maximum number of rounds that a measure reaches, as a multiple of the number in the file.
pub(crate) const MOST_TIMES: u64 = 1 << (LOOKS - 1);

/// Samples on which a claim depends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub measure: String,
    pub subject: Option<String>,
    pub parameters: Combination,
}

/// Additional rounds of a measure.
#[derive(Debug, Clone, Copy)]
pub(super) struct More<'m> {
    /// The samples that get more rounds.
    pub rows: &'m [Row],
    /// The number of existing rounds, which is also the number of rounds to add.
    pub before: u64,
}

impl More<'_> {
    /// Returns whether an undecided claim depends on this target.
    pub(super) fn is_for(&self, measure: &Measure, target: &Target) -> bool {
        self.rows.iter().any(|row| {
            row.measure == measure.id.value
                && row.subject.as_ref() == Some(&target.subject)
                && row.parameters == target.parameters
        })
    }
}

impl Running<'_> {
    /// Doubles the rounds of everything on which undecided claims depend, and does so again if that was not
    /// enough.
    pub(super) fn decide(
        &mut self,
        prepared: &Prepared,
        observer: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), RunError> {
        if self.options.quick {
            return Ok(());
        }
        loop {
            let rows = self.undecided(prepared);
            let measures: Vec<&Measure> = (self.scope.experiment.measures.iter())
                .filter(|measure| measure.grows())
                .filter(|measure| rows.iter().any(|row| row.measure == measure.id.value))
                .filter(|measure| {
                    let done = self.state.done.get(&measure.id.value);
                    done.is_some_and(|done| done.looks < LOOKS)
                })
                .collect();
            if measures.is_empty() {
                return Ok(());
            }
            for (index, measure) in measures.iter().enumerate() {
                if self.left_out(measure).is_some() {
                    return Ok(());
                }
                let id = &measure.id.value;
                let before = self.results.rounds_of(id);
                observer(Event::MoreRounds(id, before));
                let more = More {
                    rows: &rows,
                    before,
                };
                let began = Instant::now();
                let outcome = self.one(measure, prepared, measures.len() - index, Some(more));
                self.add(measure, outcome, more, began.elapsed().as_secs_f64())?;
            }
        }
    }

    /// Returns the selected claims, each with the reason why it can't be judged, if there is one.
    pub(super) fn judged<'c>(
        &'c self,
        prepared: &'c Prepared,
    ) -> impl Iterator<Item = (&'c Claim, Option<&'c str>)> {
        let first = self.scope.combinations().into_iter().next();
        let first = first.unwrap_or_default();
        (self.scope.experiment.claims.iter())
            .filter(|claim| self.selection.claims.contains(&claim.id.value))
            .map(move |claim| {
                let needs = claim.needs.iter().map(|need| need.value.clone()).collect();
                let lack = prepared.lack(&self.scope, &needs, &first);
                (claim, lack.map(|lack| lack.reason.as_str()))
            })
    }

    /// Returns the samples on which undecided claims depend.
    fn undecided(&self, prepared: &Prepared) -> Vec<Row> {
        let combinations = self.scope.combinations();
        let mut rows = Vec::new();
        for (claim, lack) in self.judged(prepared) {
            let first = verdict::first(claim, &self.results, &combinations, lack);
            let (Some(formula), Some((combination, judged))) = (&claim.holds, first) else {
                continue;
            };
            if judged.verdict != ClaimVerdict::Undecided {
                continue;
            }
            for (path, selectors) in references(&formula.expression) {
                if let Ok(samples) = self.results.find(path, combination, selectors)
                    && !samples.exact
                {
                    rows.push(Row {
                        measure: samples.measure.clone(),
                        subject: samples.subject.clone(),
                        parameters: samples.parameters.clone(),
                    });
                }
            }
        }
        rows
    }

    /// Adds rounds to the existing ones of a measure.
    fn add(
        &mut self,
        measure: &Measure,
        outcome: Result<Yield, Interrupted>,
        more: More<'_>,
        seconds: f64,
    ) -> Result<(), RunError> {
        let id = &measure.id.value;
        let outcome = Yield::from(outcome);
        self.interrupted |= outcome.interrupted;
        self.failed |= outcome.failed;
        let Some(done) = self.state.done.get_mut(id) else {
            return Ok(());
        };
        done.looks += 1;
        done.measure.seconds += seconds;
        done.measure.records.extend(outcome.records);
        let failures = outcome.results.gaps.iter().map(|gap| gap.reason.clone());
        done.measure
            .notes
            .extend(outcome.notes.into_iter().chain(failures));
        done.results.append(&outcome.results, more.before);
        self.results.append(&outcome.results, more.before);
        let done = done.measure.clone();
        (self.measures.iter_mut())
            .filter(|known| known.id == *id)
            .for_each(|known| known.clone_from(&done));
        self.save()
    }
}
