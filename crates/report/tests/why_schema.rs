//! The JSON of `why` matches its schema and can be read again.

mod explained;
mod fingerprinted;
mod schemas;

use explained::tree::many;
use explained::{attached, clean, findings, hostile};
use fathom_model::{Confidence, Explanation, TimeCategory};
use fathom_report::json;
use fingerprinted::fingerprint;
use schemas::{assert_fits, assert_refused};
use serde_json::Value;

fn written(explanation: &Explanation) -> Value {
    let out = json(explanation).into_bytes();
    assert_eq!(out.last(), Some(&b'\n'));
    serde_json::from_slice(&out).expect("what was written is JSON")
}

/// Explanations that together use every key and every alternative.
fn explanations() -> Vec<Explanation> {
    let mut spoiled = many(2);
    hostile::spoil(&mut spoiled);
    let mut sparse = findings();
    sparse.timed.floor = None;
    sparse.own_code = None;
    sparse.environment.fingerprint = Some(fingerprint());
    sparse.io[0].blocked_ns = None;
    sparse.calls[0].blocked_ns = None;
    sparse.findings[0].place.pid = None;
    sparse.findings[0].confidence = Confidence::Likely;
    let mut all = clean();
    all.timeline = TimeCategory::ALL
        .iter()
        .enumerate()
        .map(|(at, spent)| explained::stretch(7, at as u64, at as u64 + 1, *spent, None))
        .collect();
    vec![
        spoiled,
        sparse,
        all,
        clean(),
        findings(),
        many(5),
        attached(),
    ]
}

#[test]
fn every_explanation_fits_the_schema() {
    let values = explanations()
        .into_iter()
        .map(|explanation| written(&explanation));
    assert_fits("why", values);
}

#[test]
fn what_was_written_can_be_read_again() {
    for explanation in explanations() {
        let mut again: Explanation =
            serde_json::from_value(written(&explanation)).expect("an explanation");
        // A float may be read back with a different last bit.
        let (read, wall) = (again.timed.wall.value, explanation.timed.wall.value);
        assert!((read - wall).abs() <= 1e-12 * wall, "{read} {wall}");
        again.timed = explanation.timed.clone();
        assert!(again == explanation, "{}", explanation.command);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let spoil: [&dyn Fn(&mut Value); 4] = [
        &|value| value["extra"] = Value::Bool(true),
        &|value| value["account"]["wall_ns"] = Value::from(-1),
        &|value| value["findings"][0]["confidence"] = Value::from("sure"),
        &|value| value["timed"]["floor"] = Value::from("none"),
    ];
    assert_refused("why", &written(&findings()), &spoil);
}
