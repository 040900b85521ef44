//! The length of a cache line, by three methods of which two must agree.

use crate::context::Context;
use crate::probes::{line_distance, line_sharing, line_slots};
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict};

const HEADING: Heading = Heading {
    id: "cache_line",
    title: "cache line",
    unit: "B",
    method: "two of three independent methods must agree: hits at random signed distances from a load that missed, \
         slots that fit the first level, and two cores writing close together.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[HEADING];

/// Returns the line length, after the results of the methods it rests on.
pub(crate) fn run(context: &Context) -> Vec<ProbeResult> {
    let mut results = line_distance::run(context);
    results.push(line_slots::run());
    results.push(line_sharing::run(context));
    let reported = context
        .caches
        .first()
        .and_then(|cache| cache.line)
        .map(|line| line as f64);
    let answers: Vec<f64> = results
        .iter()
        .filter(|result| result.unit == "B" && result.id.starts_with("cache_line_by_"))
        .filter_map(|result| result.value)
        .collect();
    let mut result = decide(&answers);
    result.reported = reported;
    results.insert(0, result);
    results
}

/// Returns the length on which at least two methods agree and no majority disagrees.
fn decide(answers: &[f64]) -> ProbeResult {
    let agreeing = |value: f64| answers.iter().filter(|answer| **answer == value).count();
    let best = answers.iter().copied().max_by_key(|value| agreeing(*value));
    match best {
        Some(value) if agreeing(value) >= 2 => {
            let mut result = HEADING.blank(Estimator::Derived, ProbeVerdict::Ok);
            result.value = Some(value);
            result.n = answers.len();
            if agreeing(value) < answers.len() {
                result.add_note(format!(
                    "{} of {} methods agree",
                    agreeing(value),
                    answers.len()
                ));
            }
            result
        }
        _ if answers.len() < 2 => HEADING.no_answer("fewer than two methods gave an answer"),
        _ => HEADING.no_answer(format!("the methods disagree: {answers:?} bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_of_three_methods_must_agree() {
        assert_eq!(decide(&[64.0, 64.0, 128.0]).value, Some(64.0));
        assert_eq!(decide(&[64.0, 128.0]).value, None);
        assert_eq!(decide(&[64.0]).verdict, ProbeVerdict::NoAnswer);
        assert_eq!(decide(&[]).verdict, ProbeVerdict::NoAnswer);
    }
}
