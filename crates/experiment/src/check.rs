//! Do the parts of a file fit each other? Names that are used exist, nothing needs itself, and every
//! claim is about something that is measured, in units that fit.

use std::collections::BTreeSet;

use crate::expression::{Context, Fault, judge};
use crate::file::experiment::{Content, Experiment, Formula, How, Measure, Only};
use crate::file::parse::inside;
use crate::file::placeholder;
use crate::file::problem::{FileError, did_you_mean};
use crate::file::table::{Located, Problems};
use crate::metrics;
use crate::results::{FINDINGS, Findings, Promised, Results, Samples};
use crate::sweep;

/// Checks a file that was read.
///
/// # Errors
/// Everything that does not fit, with its place.
pub fn check(experiment: &Experiment) -> Result<(), FileError> {
    let problems = Problems::default();
    let checker = Checker {
        experiment,
        problems: &problems,
    };
    checker.needs();
    checker.placeholders();
    checker.subjects();
    checker.measures();
    checker.evidence();
    // Claims about subjects that don't exist would only repeat what was said.
    let problems = match problems.into_sorted() {
        found if found.is_empty() => {
            let problems = Problems::default();
            Checker {
                experiment,
                problems: &problems,
            }
            .claims();
            problems.into_sorted()
        }
        found => found,
    };
    if problems.is_empty() {
        return Ok(());
    }
    Err(FileError {
        path: experiment.path.clone(),
        text: experiment.text.clone(),
        problems,
    })
}

struct Checker<'e> {
    experiment: &'e Experiment,
    problems: &'e Problems,
}

impl Checker<'_> {
    fn unknown(&self, word: &Located<String>, what: &str, known: &[&str]) {
        let advice = match did_you_mean(word, known.iter().copied()) {
            Some(meant) => format!("did you mean {meant:?}?"),
            None if known.is_empty() => format!("the file has no {what}"),
            None => format!("there is {}", known.join(", ")),
        };
        self.problems.add(
            word.span.clone(),
            format!("there is no {what} {:?}", word.value),
            advice,
        );
    }

    fn names<'a, T>(list: &'a [T], name: impl Fn(&'a T) -> &'a str) -> Vec<&'a str> {
        list.iter().map(name).collect()
    }

    fn tools(&self) -> Vec<&str> {
        Self::names(&self.experiment.tools, |t| &t.name.value)
    }

    fn builds(&self) -> Vec<&str> {
        Self::names(&self.experiment.builds, |b| &b.name.value)
    }

    fn inputs(&self) -> Vec<&str> {
        Self::names(&self.experiment.inputs, |i| &i.name.value)
    }

    fn subject_names(&self) -> Vec<&str> {
        Self::names(&self.experiment.subjects, |s| &s.name.value)
    }

    /// Needs are tools, builds or inputs, and lead nowhere in a circle.
    fn needs(&self) {
        let experiment = self.experiment;
        let known = [self.tools(), self.builds(), self.inputs()].concat();
        let lists = (experiment.builds.iter().map(|b| &b.needs))
            .chain(experiment.inputs.iter().map(|i| &i.needs))
            .chain(experiment.subjects.iter().map(|s| &s.needs))
            .chain(experiment.claims.iter().map(|c| &c.needs))
            .chain(experiment.measures.iter().map(|m| &m.needs))
            .chain(
                experiment
                    .measures
                    .iter()
                    .flat_map(|m| m.counts.iter().map(|c| &c.needs)),
            );
        for need in lists.flatten() {
            if !known.contains(&need.value.as_str()) {
                self.unknown(need, "tool or build", &known);
            }
        }
        for build in &experiment.builds {
            let mut path = vec![build.name.value.clone()];
            if self.leads_back(&build.name.value, &mut path) {
                self.problems.add(
                    build.name.span.clone(),
                    format!("the build needs itself: {}", path.join(" needs ")),
                    "take one of them out of `needs`",
                );
            }
        }
    }

    fn leads_back(&self, start: &str, path: &mut Vec<String>) -> bool {
        let last = path.last().cloned().unwrap_or_default();
        let next: Vec<String> = (self.experiment.builds.iter())
            .filter(|build| build.name.value == last)
            .flat_map(|build| build.needs.iter().map(|need| need.value.clone()))
            // A build that needs its own name means the tool of that name.
            .filter(|need| *need != last || !self.tools().contains(&need.as_str()))
            .chain(
                (self.experiment.inputs.iter())
                    .filter(|input| input.name.value == last)
                    .flat_map(|input| input.needs.iter().map(|need| need.value.clone())),
            )
            .collect();
        for need in next {
            if need == start {
                path.push(need);
                return true;
            }
            if path.contains(&need) {
                continue;
            }
            path.push(need);
            if self.leads_back(start, path) {
                return true;
            }
            path.pop();
        }
        false
    }

    /// Every placeholder stands for something.
    fn placeholders(&self) {
        let experiment = self.experiment;
        for tool in &experiment.tools {
            self.text(&tool.check, &[]);
            self.command(&tool.check);
        }
        for input in &experiment.inputs {
            match &input.content {
                Content::Bytes(_) => {}
                Content::File(text) => self.text(text, &[]),
                Content::Generated(text) => {
                    self.text(text, &["seed", "size"]);
                    self.command(text);
                    if placeholder::names(text).iter().any(|n| n == "size") && input.size.is_none()
                    {
                        self.problems.add(
                            text.span.clone(),
                            "the generator uses {size}, and the input has none",
                            "write size = \"1 MiB\"",
                        );
                    }
                }
            }
        }
        for build in &experiment.builds {
            self.text(&build.command, &[]);
            self.command(&build.command);
            build.cwd.iter().for_each(|text| self.text(text, &[]));
            build.env.iter().for_each(|(_, text)| self.text(text, &[]));
        }
        for subject in &experiment.subjects {
            self.text(&subject.command, &[]);
            self.command(&subject.command);
            let optional = [&subject.input, &subject.output, &subject.cwd];
            for text in optional.into_iter().flatten() {
                self.text(text, &[]);
            }
            subject
                .env
                .iter()
                .for_each(|(_, text)| self.text(text, &[]));
        }
        for measure in &experiment.measures {
            for stage in &measure.stages {
                self.text(stage, &[]);
                self.command(stage);
            }
            measure
                .files
                .iter()
                .for_each(|(_, text)| self.text(text, &[]));
            for count in &measure.counts {
                self.text(&count.command, &[]);
                self.command(&count.command);
            }
        }
    }

    fn text(&self, text: &Located<String>, more: &[&str]) {
        let pieces = match placeholder::pieces(text) {
            Ok(pieces) => pieces,
            Err((at, message)) => {
                let span = inside(&self.experiment.text, text, &(at..at + 1));
                self.problems
                    .add(span, message, "double a brace to mean it: {{ or }}");
                return;
            }
        };
        for piece in pieces {
            let placeholder::Piece::Name(name, at) = piece else {
                continue;
            };
            let known = self.placeholder_names(more);
            if !known.contains(&name) {
                let span = inside(&self.experiment.text, text, &(at..at + name.len() + 2));
                let advice = match did_you_mean(&name, known.iter().map(String::as_str)) {
                    Some(meant) => format!("did you mean {{{meant}}}? To mean a brace, double it"),
                    None => "to mean a brace, double it: {{ or }}".to_string(),
                };
                self.problems
                    .add(span, format!("there is no {{{name}}}"), advice);
            }
        }
    }

    fn placeholder_names(&self, more: &[&str]) -> Vec<String> {
        let mut names: Vec<String> = ["work", "here", "tools"]
            .into_iter()
            .chain(more.iter().copied())
            .map(str::to_string)
            .collect();
        names.extend(self.inputs().iter().map(|name| format!("inputs.{name}")));
        names.extend(self.tools().iter().map(|name| format!("tools.{name}")));
        let parameters = &self.experiment.parameters;
        names.extend(parameters.iter().map(|p| p.name.value.clone()));
        names
    }

    /// Commands can be split into words.
    fn command(&self, text: &Located<String>) {
        match shell_words::split(text) {
            Ok(words) if words.is_empty() && !text.value.is_empty() => {
                self.problems
                    .add(text.span.clone(), "the command has no words", "");
            }
            Ok(_) => {}
            Err(_) => self.problems.add(
                text.span.clone(),
                "a quote in the command is not closed",
                "commands are split into words as a shell would",
            ),
        }
    }

    fn subjects(&self) {
        let names = self.subject_names();
        let inputs = self.inputs();
        for subject in &self.experiment.subjects {
            if let Some(other) = &subject.variant_of
                && !names.contains(&other.value.as_str())
            {
                self.unknown(other, "subject", &names);
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
                    self.unknown(&filled, "input", &inputs);
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
                    self.unknown(&filled, "output", &["null", "pipe", "file"]);
                    break;
                }
            }
        }
    }

    fn only(&self, only: &Only) {
        let parameters = &self.experiment.parameters;
        for (name, values) in only {
            let Some(parameter) = parameters.iter().find(|p| p.name.value == name.value) else {
                let known = Self::names(parameters, |p| &p.name.value);
                self.unknown(name, "parameter", &known);
                continue;
            };
            let known = parameter.all_values();
            for value in values {
                if !known.contains(&value.value.as_str()) {
                    self.unknown(value, "value", &known);
                }
            }
        }
    }

    fn measures(&self) {
        let names = self.subject_names();
        for measure in &self.experiment.measures {
            for subject in &measure.subjects {
                if !names.contains(&subject.value.as_str()) {
                    self.unknown(subject, "subject", &names);
                }
            }
            if measure.how.has_subjects() && names.is_empty() {
                self.problems.add(
                    measure.span.clone(),
                    "there is no subject to measure",
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

    fn evidence(&self) {
        let claims = Self::names(&self.experiment.claims, |c| &c.id.value);
        for id in self.experiment.answers.iter().flat_map(|a| &a.evidence) {
            if !claims.contains(&id.value.as_str()) {
                self.unknown(id, "claim", &claims);
            }
        }
    }

    /// Every claim is judged once, against results that are all 1: what is then wrong is wrong whatever
    /// is measured.
    fn claims(&self) {
        let results = pretended(self.experiment);
        let combinations = sweep::all_combinations(self.experiment);
        for claim in &self.experiment.claims {
            for formula in [&claim.holds, &claim.ill_posed_if].into_iter().flatten() {
                self.selectors(formula);
                self.claim(formula, &results, &combinations);
            }
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
                "nothing is measured that this could be judged by",
                "its results are restricted by `only` to parameters that never come together",
            );
        }
    }

    /// Parameters in brackets exist and have the value.
    fn selectors(&self, formula: &Formula) {
        for (name, value) in crate::expression::selectors(&formula.expression) {
            let parameters = &self.experiment.parameters;
            let at = Located {
                value: name.clone(),
                span: formula.text.span.clone(),
            };
            match parameters.iter().find(|p| p.name.value == name) {
                None => {
                    let known = Self::names(parameters, |p| &p.name.value);
                    self.unknown(&at, "parameter", &known);
                }
                Some(parameter) if !parameter.all_values().contains(&value.as_str()) => {
                    let known = parameter.all_values();
                    let at = Located {
                        value,
                        span: at.span,
                    };
                    self.unknown(&at, &format!("value of {name}"), &known);
                }
                Some(_) => {}
            }
        }
    }
}

/// Results with the value 1 for everything that the file measures.
fn pretended(experiment: &Experiment) -> Results {
    let mut results = Results::default();
    let combinations = sweep::all_combinations(experiment);
    for measure in &experiment.measures {
        let mut seen = BTreeSet::new();
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
                if restricted || !seen.insert(key) {
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

/// Every name that the file's measures have a result for.
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

/// The subjects of a measure: those that it names, or all.
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
