//! Determines the results that the file's measures promise.

use crate::file::experiment::{Experiment, How, Measure, Only};
use crate::file::problem::Located;
use crate::metrics;
use crate::results::{FINDINGS, Promised};

/// Returns every name for which the file's measures have a result.
pub fn promised(experiment: &Experiment) -> Vec<Promised> {
    let plain = |only: &Only| -> Vec<(String, Vec<String>)> {
        let texts = |values: &[Located<String>]| values.iter().map(|v| v.value.clone()).collect();
        only.iter()
            .map(|(name, values)| (name.value.clone(), texts(values)))
            .collect()
    };
    let mut all = Vec::new();
    for measure in &experiment.measures {
        let names = metrics::of(experiment, measure)
            .into_iter()
            .map(|known| (known.metric, known.subject, known.primary));
        let findings = measured_subjects(experiment, measure)
            .into_iter()
            .filter(|_| measure.how == How::Why)
            .map(|subject| (FINDINGS.to_string(), Some(subject), false));
        for (metric, subject, primary) in names.chain(findings) {
            let mut only = plain(&measure.only);
            let own = (experiment.subjects.iter())
                .filter(|_| measure.how.has_subjects())
                .find(|one| Some(&one.name.value) == subject.as_ref());
            only.extend(own.map(|own| plain(&own.only)).unwrap_or_default());
            all.push(Promised {
                measure: measure.id.value.clone(),
                metric,
                subject,
                primary,
                only,
            });
        }
    }
    all
}

/// Returns the subjects of a measure: the named ones, or all.
pub fn measured_subjects(experiment: &Experiment, measure: &Measure) -> Vec<String> {
    match measure.subjects.is_empty() {
        true => experiment
            .subjects
            .iter()
            .map(|s| s.name.value.clone())
            .collect(),
        false => measure.subjects.iter().map(|s| s.value.clone()).collect(),
    }
}
