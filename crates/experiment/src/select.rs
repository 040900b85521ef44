//! `--only`: the selected measures, subjects and claims.

use std::collections::BTreeSet;

use crate::check::measured_subjects;
use crate::expression;
use crate::file::experiment::{Claim, Experiment};
use crate::file::problem::did_you_mean;
use crate::metrics;

/// The selected parts of an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Ids of measures.
    pub measures: BTreeSet<String>,
    /// Names of subjects.
    pub subjects: BTreeSet<String>,
    /// Ids of claims.
    pub claims: BTreeSet<String>,
}

impl Selection {
    /// Selects everything.
    pub fn all(experiment: &Experiment) -> Selection {
        Selection {
            measures: experiment
                .measures
                .iter()
                .map(|m| m.id.value.clone())
                .collect(),
            subjects: experiment
                .subjects
                .iter()
                .map(|s| s.name.value.clone())
                .collect(),
            claims: experiment
                .claims
                .iter()
                .map(|c| c.id.value.clone())
                .collect(),
        }
    }

    /// Selects what matches these patterns (`*` and `?`). A measure also selects its subjects, and the claims
    /// that need nothing else. A subject also selects its measures, and a claim also selects its measures.
    ///
    /// # Errors
    /// A message, for a pattern that matches nothing.
    pub fn of(experiment: &Experiment, patterns: &[String]) -> Result<Selection, String> {
        if patterns.is_empty() {
            return Ok(Selection::all(experiment));
        }
        let everything = Selection::all(experiment);
        let mut wanted = Selection {
            measures: BTreeSet::new(),
            subjects: BTreeSet::new(),
            claims: BTreeSet::new(),
        };
        let mut named_subjects = BTreeSet::new();
        for pattern in patterns {
            let matching = |names: &BTreeSet<String>| -> Vec<String> {
                names
                    .iter()
                    .filter(|name| matches(pattern, name))
                    .cloned()
                    .collect()
            };
            let measures = matching(&everything.measures);
            let subjects = matching(&everything.subjects);
            let claims = matching(&everything.claims);
            if measures.is_empty() && subjects.is_empty() && claims.is_empty() {
                let known = [
                    &everything.measures,
                    &everything.subjects,
                    &everything.claims,
                ];
                let known = known.into_iter().flatten().map(String::as_str);
                return Err(match did_you_mean(pattern, known) {
                    Some(meant) => {
                        format!("--only {pattern:?} matches nothing; did you mean {meant:?}?")
                    }
                    None => format!("--only {pattern:?} matches no measure, subject or claim"),
                });
            }
            for measure in &experiment.measures {
                let own = measured_subjects(experiment, measure);
                if measures.contains(&measure.id.value) {
                    wanted.measures.insert(measure.id.value.clone());
                    wanted.subjects.extend(own);
                } else if measure.how.has_subjects() && own.iter().any(|s| subjects.contains(s)) {
                    wanted.measures.insert(measure.id.value.clone());
                }
            }
            named_subjects.extend(subjects);
            for claim in &experiment.claims {
                if claims.contains(&claim.id.value) {
                    let (measures, subjects) = used_by(experiment, claim);
                    wanted.measures.extend(measures);
                    wanted.subjects.extend(subjects);
                    wanted.claims.insert(claim.id.value.clone());
                }
            }
        }
        wanted.subjects.extend(named_subjects);
        for claim in &experiment.claims {
            let (measures, subjects) = used_by(experiment, claim);
            let measured = !measures.is_empty()
                && measures.is_subset(&wanted.measures)
                && subjects.is_subset(&wanted.subjects);
            if measured {
                wanted.claims.insert(claim.id.value.clone());
            }
        }
        Ok(wanted)
    }
}

/// Returns the measures and subjects to which a claim refers.
fn used_by(experiment: &Experiment, claim: &Claim) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut measures = BTreeSet::new();
    let mut subjects = BTreeSet::new();
    let formulas = [&claim.holds, &claim.ill_posed_if];
    for formula in formulas.into_iter().flatten() {
        let paths = expression::references(&formula.expression);
        for measure in &experiment.measures {
            let id = &measure.id.value;
            for known in metrics::of(experiment, measure) {
                let subject = known.subject.clone().unwrap_or_default();
                let names = [
                    format!("{}.{subject}", known.metric),
                    format!("{id}.{}.{subject}", known.metric),
                    format!("{id}.{}", known.metric),
                    subject.clone(),
                ];
                let is_named = paths.iter().any(|(path, _)| {
                    names[..3].iter().any(|name| name == path)
                        || (*path == names[3]
                            && !subject.is_empty()
                            && (known.primary || measure.how == crate::file::experiment::How::Why))
                });
                if is_named {
                    measures.insert(id.clone());
                    if measure.how.has_subjects() && !subject.is_empty() {
                        subjects.insert(subject);
                    }
                }
            }
            if measure.how == crate::file::experiment::How::Machine
                && formula.text.value.contains("value(")
            {
                measures.insert(id.clone());
            }
        }
    }
    (measures, subjects)
}

/// Returns whether a name matches a pattern in which `*` matches any characters and `?` matches one.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    while n < name.len() {
        if p < pattern.len() && (pattern[p] == '?' || pattern[p] == name[n]) && pattern[p] != '*' {
            (p, n) = (p + 1, n + 1);
        } else if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, n));
            p += 1;
        } else if let Some((at, taken)) = star {
            (p, n) = (at + 1, taken + 1);
            star = Some((at, taken + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_and_question_marks_stand_for_characters() {
        assert!(matches("wall*", "wall.a"));
        assert!(matches("*a*b", "xxaxxb"));
        assert!(matches("a?c", "abc"));
        assert!(matches("", "") && matches("**", ""));
        assert!(!matches("a?c", "ac"));
        assert!(!matches("*a*b", "xxaxx"));
        assert!(!matches("", "a"));
    }
}
