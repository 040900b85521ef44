//! Handles one measure: determines the targets that can be run, and how to measure them.

use std::collections::BTreeSet;

use super::deciding::More;
use super::{Running, gap};
use crate::file::experiment::{How, Measure};
use crate::plan;
use crate::prepare::Prepared;
use crate::results::{Cause, Gap};
use crate::run::bench::Amount;
use crate::run::{Interrupted, Yield, bench, observed, printed, served};

impl Running<'_> {
    pub(super) fn one(
        &mut self,
        measure: &Measure,
        prepared: &Prepared,
        measures_left: usize,
        more: Option<More<'_>>,
    ) -> Result<Yield, Interrupted> {
        let scope = self.scope;
        let amount = Amount {
            rounds: more.map_or(plan::rounds(measure, scope.quick), |more| more.before),
            before: more.map_or(0, |more| more.before),
            time: self.left().map(|left| left / measures_left.max(1) as u32),
            deadline: self.options.deadline,
        };
        let mut lacking = Yield::default();
        let own_needs = plan::measure_needs(&scope, measure);
        let first = scope.combinations().into_iter().next().unwrap_or_default();
        if measure.how == How::Pipe
            && let Some(lack) = prepared.lack(&scope, &own_needs, &first)
        {
            lacking.results.gaps.push(Gap {
                cause: lack.cause,
                reason: lack.reason.clone(),
                ..gap(measure, "")
            });
            lacking.failed = lack.cause == Cause::Failed;
            return Ok(lacking);
        }
        let mut targets = match measure.how.has_subjects() {
            true => self.targets(measure, prepared, &mut lacking),
            false => Vec::new(),
        };
        if let Some(more) = more {
            targets.retain(|target| more.is_for(measure, target));
        }
        let nothing = measure.how.has_subjects() && targets.is_empty();
        let mut outcome = match measure.how {
            _ if nothing => Yield::default(),
            How::Bench => bench::run(measure, targets, amount, scope.folders)?,
            How::Value => printed::run(measure, &targets, amount, scope.folders)?,
            How::Why => observed::why(measure, &targets, amount, &scope),
            How::Startup => observed::startup(measure, targets, amount, &scope)?,
            How::Serve => served::serve(measure, &targets, amount, &scope),
            How::Pipe => observed::pipe(measure, amount, &scope),
            How::Machine => observed::machine(measure, amount, scope.folders),
            How::Static => printed::run_static(measure, amount, &scope, prepared)?,
        };
        outcome.failed |= lacking.failed;
        outcome.results.gaps.extend(lacking.results.gaps);
        Ok(outcome)
    }

    /// Returns the targets that can be run; the others become gaps.
    fn targets(
        &self,
        measure: &Measure,
        prepared: &Prepared,
        lacking: &mut Yield,
    ) -> Vec<crate::resolve::Target> {
        let scope = self.scope;
        let wanted = |name: &str| self.selection.subjects.contains(name);
        let targets = match scope.targets(measure, &wanted) {
            Ok(targets) => targets,
            Err(why) => {
                lacking.failed = true;
                lacking.results.gaps.push(gap(measure, &why));
                return Vec::new();
            }
        };
        let mut good = Vec::new();
        for target in targets {
            let subject = (scope.experiment.subjects.iter())
                .find(|subject| subject.name.value == target.subject);
            let needs: BTreeSet<String> = subject
                .map(|subject| scope.needs(subject, &target.parameters))
                .unwrap_or_default();
            match prepared.lack(&scope, &needs, &target.parameters) {
                None => good.push(target),
                Some(lack) => {
                    lacking.failed |= lack.cause == Cause::Failed;
                    lacking.results.gaps.push(Gap {
                        measure: Some(measure.id.value.clone()),
                        subject: Some(target.subject.clone()),
                        parameters: target.parameters.clone(),
                        reason: lack.reason.clone(),
                        cause: lack.cause,
                    });
                }
            }
        }
        good
    }
}
