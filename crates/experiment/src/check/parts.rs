//! Checks that subjects, measures and answers refer to existing names.

use super::Checker;
use crate::file::experiment::{How, Measure, Only};
use crate::file::placeholder;
use crate::file::problem::Located;
use crate::sweep;

impl Checker<'_> {
    pub(super) fn subjects(&self) {
        let names = self.subject_names();
        let inputs = self.inputs();
        for subject in &self.experiment.subjects {
            if let Some(other) = &subject.variant_of
                && !names.contains(&other.value.as_str())
            {
                self.problems.unknown(other, "subject", &names);
            }
            self.only(&subject.only);
            for combination in sweep::all_combinations(self.experiment) {
                let value = |name: &str| {
                    combination
                        .iter()
                        .find(|(parameter, _)| parameter == name)
                        .map(|(_, value)| value.clone())
                };
                if let Some(input) = &subject.input
                    && let Ok(filled) = placeholder::fill(input, &value)
                    && !inputs.contains(&filled.as_str())
                {
                    let filled = Located {
                        value: filled,
                        span: input.span.clone(),
                    };
                    self.problems.unknown(&filled, "input", &inputs);
                    break;
                }
                if let Some(output) = &subject.output
                    && let Ok(filled) = placeholder::fill(output, &value)
                    && !["null", "pipe", "file"].contains(&filled.as_str())
                {
                    let filled = Located {
                        value: filled,
                        span: output.span.clone(),
                    };
                    self.problems
                        .unknown(&filled, "output", &["null", "pipe", "file"]);
                    break;
                }
            }
        }
    }

    pub(super) fn only(&self, only: &Only) {
        let parameters = &self.experiment.parameters;
        for (name, values) in only {
            let Some(parameter) = parameters.iter().find(|p| p.name.value == name.value) else {
                let known = Self::names(parameters, |p| &p.name.value);
                self.problems.unknown(name, "parameter", &known);
                continue;
            };
            let known = parameter.all_values();
            for value in values {
                if !known.contains(&value.value.as_str()) {
                    self.problems.unknown(value, "value", &known);
                }
            }
        }
    }

    pub(super) fn measures(&self) {
        let names = self.subject_names();
        for measure in &self.experiment.measures {
            for subject in &measure.subjects {
                if !names.contains(&subject.value.as_str()) {
                    self.problems.unknown(subject, "subject", &names);
                }
            }
            if measure.how.has_subjects() && names.is_empty() {
                self.problems.add(
                    measure.span.clone(),
                    "the file has no subject to measure",
                    "add [subjects.NAME] with a command",
                );
            }
            self.only(&measure.only);
            if measure.how == How::Pipe {
                self.pipe(measure);
            }
        }
    }

    fn pipe(&self, measure: &Measure) {
        if measure.stages.len() < 2 {
            self.problems.add(
                measure.span.clone(),
                "a pipeline has at least two stages",
                "write stages = [\"first command\", \"second command\"]",
            );
        }
        if !measure.names.is_empty() && measure.names.len() != measure.stages.len() {
            self.problems.add(
                measure.names[0].span.clone(),
                format!(
                    "{} names for {} stages",
                    measure.names.len(),
                    measure.stages.len()
                ),
                "give each stage a name",
            );
        }
    }

    pub(super) fn pictures(&self) {
        let names = self.subject_names();
        let promised = super::promised(self.experiment);
        for picture in &self.experiment.pictures {
            let unknown = |subject: &&Located<String>| !names.contains(&subject.value.as_str());
            for subject in picture.over.iter().filter(unknown) {
                self.problems.unknown(subject, "subject", &names);
            }
            let of_it = |subject: &Option<String>| {
                let mut over = picture.over.iter();
                subject
                    .as_ref()
                    .is_some_and(|name| over.any(|known| known.value == *name))
            };
            let measured = promised.iter().filter(|one| of_it(&one.subject));
            let metrics: std::collections::BTreeSet<&str> =
                measured.map(|one| one.metric.as_str()).collect();
            if !metrics.contains(picture.metric.value.as_str()) {
                let metrics: Vec<&str> = metrics.into_iter().collect();
                self.problems.unknown(&picture.metric, "metric", &metrics);
            }
        }
    }

    pub(super) fn evidence(&self) {
        let claims = Self::names(&self.experiment.claims, |c| &c.id.value);
        for id in self.experiment.answers.iter().flat_map(|a| &a.evidence) {
            if !claims.contains(&id.value.as_str()) {
                self.problems.unknown(id, "claim", &claims);
            }
        }
    }
}
