//! The record of a run: the results, and the verdicts based on them.

use fathom_model::{ExperimentRecord, Picture, ResultRow, SCHEMA_VERSION};

use super::{Running, sha256};
use crate::expression::LEVEL;
use crate::prepare::Prepared;
use crate::results::{Cause, Gap, Results};
use crate::verdict;

impl Running<'_> {
    /// Returns whether this run omitted something that it should have measured, because it was interrupted or
    /// out of time. Something that the machine lacks doesn't count, nor does anything outside the quick set.
    fn was_left_out(&self, gap: &Gap) -> bool {
        let measures = &self.scope.experiment.measures;
        let measure = measures
            .iter()
            .find(|measure| gap.measure.as_ref() == Some(&measure.id.value));
        let is_for_the_full_set = self.scope.quick && measure.is_some_and(|measure| !measure.quick);
        gap.cause == Cause::NotMeasured && !is_for_the_full_set
    }

    pub(super) fn record(&mut self, prepared: &Prepared, seconds: f64) -> ExperimentRecord {
        let scope = self.scope;
        let experiment = scope.experiment;
        let combinations = scope.combinations();
        let claims: Vec<_> = (self.judged(prepared))
            .map(|(claim, lack)| verdict::claim(claim, &self.results, &combinations, lack))
            .collect();
        let answers = (experiment.answers.iter())
            .map(|answer| verdict::answer(answer, &claims))
            .collect();
        let measured_all = !self.results.gaps.iter().any(|gap| self.was_left_out(gap));
        for gap in self
            .results
            .gaps
            .iter()
            .filter(|gap| gap.cause == Cause::Failed)
        {
            if !self.warnings.contains(&gap.reason) {
                self.warnings.push(gap.reason.clone());
            }
        }
        ExperimentRecord {
            schema_version: SCHEMA_VERSION,
            kind: "run".to_string(),
            fathom_version: env!("CARGO_PKG_VERSION").to_string(),
            started_at: self.state.started_at.clone(),
            jobs: fathom_fleet::of_this_process(),
            environment: self.state.environment.clone(),
            file: experiment.path.display().to_string(),
            file_sha256: sha256(&experiment.text),
            work_folder: scope.folders.work.display().to_string(),
            title: experiment.title.clone(),
            question: experiment.question.clone(),
            source: experiment.source.clone(),
            quick: scope.quick,
            complete: !self.interrupted && !self.failed && measured_all,
            seconds,
            cpu_waits: (self.results.waits.runs > 0).then_some(self.results.waits),
            tools: prepared.tools.clone(),
            measures: std::mem::take(&mut self.measures),
            results: rows(&self.results),
            claims,
            answers,
            pictures: experiment.pictures.iter().map(picture).collect(),
            warnings: std::mem::take(&mut self.warnings),
        }
    }
}

fn picture(picture: &crate::file::experiment::Picture) -> Picture {
    Picture {
        title: picture.title.clone(),
        metric: picture.metric.value.clone(),
        subjects: picture.over.iter().map(|one| one.value.clone()).collect(),
    }
}

fn rows(results: &Results) -> Vec<ResultRow> {
    results
        .samples
        .iter()
        .map(|samples| ResultRow {
            measure: samples.measure.clone(),
            metric: samples.metric.clone(),
            subject: samples.subject.clone(),
            parameters: samples.parameters.clone(),
            unit: samples.unit.clone(),
            runs: samples.values.len(),
            median: samples.median(LEVEL),
        })
        .collect()
}
