//! Verdicts of claims for artificial results.

mod support;

use fathom_experiment::results::{Cause, Gap, Lookup, Promised, Results};
use fathom_experiment::verdict::{Budgets, answer, budgets};
use fathom_model::ClaimVerdict::{
    Contradicted, DirectionOnly, IllPosed, NotReproduced, NotRunnableHere, Reproduced, Undecided,
};
use fathom_model::{ClaimResult, ClaimVerdict};
use support::{around, claim, experiment, found, gap, judged, judged_under, samples, under, wall};

fn results(a: f64, b: f64) -> Results {
    Results {
        samples: vec![
            wall("a", &around(a, 0.02, 20)),
            wall("b", &around(b, 0.02, 20)),
            wall("c-1.2", &around(1.0, 0.02, 20)),
        ],
        ..Results::default()
    }
}

fn verdict(layer: &str, holds: &str, results: &Results) -> ClaimVerdict {
    judged(&claim(layer, holds), results).judged.verdict
}

fn size(holds: &str, results: &Results) -> ClaimVerdict {
    verdict("size", holds, results)
}

#[test]
fn a_ratio_has_every_verdict() {
    let claimed = "ratio(wall.a, wall.b) >= 10";
    assert_eq!(size(claimed, &results(12.0, 1.0)), Reproduced);
    assert_eq!(size(claimed, &results(4.0, 1.0)), DirectionOnly);
    assert_eq!(size(claimed, &results(1.001, 1.0)), NotReproduced);
    assert_eq!(size(claimed, &results(0.5, 1.0)), Contradicted);
    let noisy = Results {
        samples: vec![
            wall("a", &around(10.0, 0.6, 9)),
            wall("b", &[1.0, 2.0, 0.7, 1.1, 0.9, 1.6, 0.8, 1.3, 1.2]),
        ],
        ..Results::default()
    };
    assert_eq!(size(claimed, &noisy), Undecided);
}

#[test]
fn a_claim_downwards_is_the_mirror_image() {
    let claimed = "ratio(wall.a, wall.b) <= 0.1";
    assert_eq!(size(claimed, &results(1.0, 12.0)), Reproduced);
    assert_eq!(size(claimed, &results(1.0, 4.0)), DirectionOnly);
    assert_eq!(size(claimed, &results(1.0, 1.001)), NotReproduced);
    assert_eq!(size(claimed, &results(2.0, 1.0)), Contradicted);
}

#[test]
fn direction_only_says_by_how_much() {
    let text = claim("size", "ratio(wall.a, wall.b) >= 10");
    let reason = |a| judged(&text, &results(a, 1.0)).judged.reason;
    assert_eq!(reason(8.0), "20 % less than claimed");
    assert_eq!(reason(2.0), "1/5.00 of the claimed size");
    let equal = claim("size", "ratio(wall.a, wall.b) == 10 within 5%");
    assert_eq!(
        judged(&equal, &results(40.0, 1.0)).judged.reason,
        "4.00x what is claimed"
    );
}

#[test]
fn a_size_on_the_edge_of_what_is_allowed_is_the_direction_alone() {
    let equal = claim("size", "ratio(wall.a, wall.b) == 10 within 20%");
    let found = |spread| {
        let results = Results {
            samples: vec![wall("a", &around(8.0, spread, 20)), wall("b", &[1.0; 20])],
            ..Results::default()
        };
        let judged = judged(&equal, &results).judged;
        (judged.verdict, judged.reason)
    };
    let (verdict, reason) = found(0.02);
    assert_eq!(verdict, DirectionOnly, "{reason}");
    assert!(reason.ends_with("at the edge of the tolerance"), "{reason}");
    // More rounds could still show that this is the published size.
    assert_eq!(found(0.6).0, Undecided);
}

#[test]
fn a_bound_that_is_passed_claims_no_direction() {
    let text = claim("size", "ratio(wall.a, wall.b) <= 1.1");
    let claim = judged(&text, &results(1.32, 1.0));
    assert_eq!(claim.judged.verdict, NotReproduced);
    assert_eq!(claim.judged.reason, "20.0 % above the bound");
}

#[test]
fn two_results_of_one_measure_are_compared_by_round() {
    // Both drift by a factor of five: the intervals of each overlap, but the paired ratios don't vary.
    let drift: Vec<f64> = (0..20).map(|i| 1.0 + f64::from(i) * 0.2).collect();
    let faster: Vec<f64> = drift.iter().map(|v| v * 0.95).collect();
    let results = Results {
        samples: vec![wall("a", &faster), wall("b", &drift)],
        ..Results::default()
    };
    assert_eq!(size("wall.a < wall.b", &results), Reproduced);
    assert_eq!(size("wall.b < wall.a", &results), Contradicted);
    assert_eq!(size("order(wall: a, b)", &results), Reproduced);
    assert_eq!(size("order(a, b)", &results), Reproduced);
    assert_eq!(size("same(a, b) within 6%", &results), Reproduced);
    assert_eq!(size("same(a, b) within 2%", &results), Contradicted);
}

#[test]
fn an_order_says_which_step_fails() {
    let results = Results {
        samples: vec![
            wall("a", &around(1.0, 0.01, 20)),
            wall("b", &around(3.0, 0.01, 20)),
            wall("c-1.2", &around(2.0, 0.01, 20)),
        ],
        ..Results::default()
    };
    let text = claim("size", "order(wall: a, b, c-1.2)");
    let claim = judged(&text, &results);
    assert_eq!(claim.judged.verdict, DirectionOnly);
    assert_eq!(
        claim.judged.reason,
        "1 of 2 steps hold; c-1.2 is less than b"
    );
    assert_eq!(size("order(a, c-1.2, b)", &results), Reproduced);
    assert_eq!(size("order(b, c-1.2, a)", &results), Contradicted);
}

#[test]
fn times_have_units() {
    let results = results(0.0015, 1.0);
    assert_eq!(size("p99(wall.a) < 2ms", &results), Undecided);
    assert_eq!(size("max(wall.a) < 2ms", &results), Reproduced);
    assert_eq!(size("wall.a < 2ms and wall.a > 1 ms", &results), Reproduced);
    assert_eq!(size("wall.a < 1ms or wall.b > 900ms", &results), Reproduced);
    assert_eq!(size("not wall.a < 1ms", &results), Reproduced);
    assert_eq!(size("wall.a == 1.5ms within 5%", &results), Reproduced);
}

#[test]
fn one_run_of_a_time_decides_nothing_and_of_a_count_all() {
    let mut results = Results {
        samples: vec![wall("a", &[5.0]), wall("b", &[1.0])],
        ..Results::default()
    };
    assert_eq!(size("ratio(wall.a, wall.b) > 2", &results), Undecided);
    let mut calls = samples("cause", "calls_read", Some("a"), "", &[3007.0]);
    calls.exact = true;
    results.samples.push(calls);
    let mechanism = |holds: &str| verdict("mechanism", holds, &results);
    assert_eq!(mechanism("calls_read.a == 3007 within 1%"), Reproduced);
    assert_eq!(mechanism("calls_read.a == 3007"), Reproduced);
    assert_eq!(mechanism("calls_read.a == 2000 within 1%"), NotReproduced);
}

#[test]
fn two_to_five_runs_get_a_wider_interval_instead_of_none() {
    let few = |a: &[f64], b: &[f64]| Results {
        samples: vec![wall("a", a), wall("b", b)],
        ..Results::default()
    };
    let clear = few(&[50.0, 52.0, 51.0], &[1.0, 1.02, 0.99]);
    assert_eq!(size("ratio(wall.a, wall.b) >= 10", &clear), Reproduced);
    let close = few(&[1.05, 1.02, 1.09], &[1.0, 1.02, 0.99]);
    assert_eq!(size("ratio(wall.a, wall.b) > 1", &close), Undecided);
}

#[test]
fn findings_are_first_present_or_absent() {
    let results = Results {
        findings: vec![
            found("a", &["unbuffered-input", "small-calls"]),
            found("b", &[]),
        ],
        ..Results::default()
    };
    let mechanism = |holds: &str| verdict("mechanism", holds, &results);
    assert_eq!(mechanism(r#"finding(a, "unbuffered-input")"#), Reproduced);
    assert_eq!(mechanism(r#"finding(a, "small-calls")"#), DirectionOnly);
    assert_eq!(mechanism(r#"finding(a, "sleeping")"#), NotReproduced);
    assert_eq!(mechanism("clean(b)"), Reproduced);
    assert_eq!(mechanism("clean(a)"), Contradicted);
    assert_eq!(mechanism(r#"not finding(b, "sleeping")"#), Reproduced);
}

#[test]
fn what_is_missing_is_named() {
    let results = Results {
        samples: vec![wall("a", &around(1.0, 0.01, 20))],
        gaps: vec![gap("b", "gcc is missing (run apt-get install gcc)")],
        ..Results::default()
    };
    let text = claim("size", "ratio(wall.a, wall.b) > 2");
    let claim = judged(&text, &results);
    assert_eq!(claim.judged.verdict, NotRunnableHere);
    assert_eq!(
        claim.judged.reason,
        "gcc is missing (run apt-get install gcc)"
    );
    // The available result decides if it is sufficient.
    assert_eq!(size("wall.a < 2s or wall.b < 2s", &results), Reproduced);
    assert_eq!(size("wall.a > 2s and wall.b < 2s", &results), NotReproduced);
}

fn promised(measure: &str, only: &[(&str, &str)]) -> Promised {
    Promised {
        measure: measure.to_string(),
        metric: "wall".to_string(),
        subject: Some("a".to_string()),
        primary: true,
        only: only
            .iter()
            .map(|(name, value)| (name.to_string(), vec![value.to_string()]))
            .collect(),
    }
}

#[test]
fn the_gap_that_is_named_is_that_of_the_measure_which_has_the_name() {
    let skipped = |measure: &str| Gap {
        measure: Some(measure.to_string()),
        subject: None,
        parameters: Vec::new(),
        reason: format!("{measure} was not measured"),
        cause: Cause::Missing,
    };
    let results = Results {
        gaps: vec![skipped("first"), skipped("time")],
        promised: vec![promised("time", &[])],
        ..Results::default()
    };
    let found = judged(&claim("size", "wall.a < 1s"), &results);
    assert_eq!(found.judged.verdict, NotRunnableHere);
    assert_eq!(found.judged.reason, "time was not measured");
}

#[test]
fn combinations_that_only_excludes_are_not_missing() {
    let results = Results {
        gaps: vec![Gap {
            measure: Some("time".to_string()),
            subject: None,
            parameters: Vec::new(),
            reason: "time failed".to_string(),
            cause: Cause::Missing,
        }],
        promised: vec![promised("time", &[("sink", "null")])],
        ..Results::default()
    };
    let under = |sink: &str| {
        let combination = vec![("sink".to_string(), sink.to_string())];
        results.find("wall.a", &combination, &[]).map(|_| ())
    };
    assert_eq!(under("null"), Err(Lookup::Gap("time failed".to_string())));
    assert_eq!(under("file"), Err(Lookup::Elsewhere));
}

#[test]
fn a_part_in_parentheses_is_named_with_all_that_follows() {
    let results = Results {
        samples: vec![
            wall("a", &around(1.0, 0.01, 20)),
            wall("b", &around(3.0, 0.01, 20)),
        ],
        ..Results::default()
    };
    let of = |holds: &str| {
        let found = judged(&claim("size", holds), &results);
        found
            .judged
            .measured
            .iter()
            .map(|m| m.what.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of("(wall.a + wall.b) / wall.a > wall.a / 1s"),
        ["(wall.a + wall.b) / wall.a", "wall.a / 1s"]
    );
    assert_eq!(
        of("(wall.a + wall.b) > 1s and (wall.b / wall.a) > 1"),
        ["(wall.a + wall.b)", "(wall.b / wall.a)"]
    );
}

#[test]
fn published_figures_that_deny_their_claim_make_it_ill_posed() {
    let none = Results::default();
    let arithmetic = |holds: &str| verdict("arithmetic", holds, &none);
    assert_eq!(arithmetic("2024 / 58 == 35 within 1%"), Reproduced);
    assert_eq!(arithmetic("438.059 / 58.808 >= 10"), IllPosed);
    assert_eq!(arithmetic("geomean(1, 4) == 2"), Reproduced);
    assert_eq!(arithmetic("mean(1, 4) == 2"), IllPosed);
    assert_eq!(
        arithmetic("rounded(0.11) / rounded(0.032) == 3.5"),
        Reproduced
    );
    assert_eq!(
        arithmetic("rounded(15) / rounded(7.8) == 1.8 within 1%"),
        IllPosed
    );
}

#[test]
fn a_premise_that_holds_makes_a_claim_ill_posed() {
    let text = support::with_claims(
        "[[claims]]\nid = \"x\"\ntext = \"x\"\nlayer = \"size\"\nholds = \"wall.a > wall.b\"\n\
         ill_posed_if = \"wall.c-1.2 > 0.5s\"\nbecause = \"its lanes start at one place\"\n",
    );
    let claim = judged(&text, &results(2.0, 1.0));
    assert_eq!(claim.judged.verdict, IllPosed);
    assert_eq!(claim.judged.reason, "its lanes start at one place");
}

fn swept() -> (String, Results, Vec<Vec<(String, String)>>) {
    let text = claim("size", "ratio(wall.a, wall.b) >= 10").replace(
        "[subjects.a]\ncommand = \"a\"",
        "[parameters]\nsink = [\"null\", \"file\"]\n[subjects.a]\ncommand = \"a {sink}\"",
    );
    let slow = |sink, factor: f64| under(wall("a", &around(factor, 0.01, 20)), "sink", sink);
    let results = Results {
        samples: vec![
            slow("null", 12.0),
            slow("file", 1.0),
            wall("b", &around(1.0, 0.012, 20)),
        ],
        ..Results::default()
    };
    let combination = |value: &str| vec![("sink".to_string(), value.to_string())];
    (
        text,
        results,
        vec![combination("null"), combination("file")],
    )
}

#[test]
fn the_parameter_that_flips_a_verdict_is_named() {
    let (text, results, combinations) = swept();
    let claim = judged_under(&text, &results, &combinations);
    assert_eq!(claim.judged.verdict, Reproduced);
    assert_eq!(claim.elsewhere.len(), 1);
    assert_eq!(claim.flips, ["sink=file: not reproduced"]);
}

#[test]
fn values_in_brackets_pin_a_parameter() {
    let (text, results, combinations) = swept();
    let pinned = text.replace("wall.a,", "wall.a[sink=file],");
    let claim = judged_under(&pinned, &results, &combinations);
    assert_eq!(claim.judged.verdict, NotReproduced);
    assert!(claim.elsewhere.is_empty() && claim.flips.is_empty());
    let across = text.replace(
        "ratio(wall.a, wall.b)",
        "ratio(wall.a[sink=null], wall.a[sink=file])",
    );
    let claim = judged_under(&across, &results, &combinations);
    assert_eq!(claim.judged.verdict, Reproduced);
}

fn budget(verdict: ClaimVerdict) -> ClaimResult {
    let mut claim = judged(&claim("size", "wall.a > wall.b"), &results(2.0, 1.0));
    claim.budget = true;
    claim.judged.verdict = verdict;
    claim
}

#[test]
fn a_budget_that_could_not_be_judged_is_no_success() {
    assert_eq!(budgets(&[]), Budgets::Hold);
    assert_eq!(budgets(&[budget(Reproduced)]), Budgets::Hold);
    assert_eq!(budgets(&[budget(Undecided)]), Budgets::Unknown);
    assert_eq!(
        budgets(&[budget(NotRunnableHere), budget(DirectionOnly)]),
        Budgets::Fail
    );
    let mut elsewhere = budget(Reproduced);
    elsewhere.elsewhere = vec![budget(Contradicted).judged];
    assert_eq!(budgets(&[elsewhere]), Budgets::Fail);
}

#[test]
fn an_answer_stands_on_its_claims() {
    let mut text = claim("size", "wall.a > wall.b");
    text.push_str("[[answers]]\nquestion = \"Why?\"\nanswer = \"So.\"\nevidence = [\"x\"]\n");
    let file = experiment(&text).unwrap();
    let status = |a| {
        let claims = vec![judged(&text, &results(a, 1.0))];
        answer(&file.answers[0], &claims).status
    };
    assert_eq!(status(2.0), "answered");
    assert_eq!(status(0.5), "not supported here");
    let missing = Results {
        gaps: vec![gap("a", "cc is missing")],
        ..Results::default()
    };
    let untested = answer(&file.answers[0], &[judged(&text, &missing)]);
    assert_eq!(untested.status, "not tested here");
}

/// Reproducible numbers from 0 to 1.
struct Even(u64);

impl Even {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[test]
fn three_looks_at_equal_programs_are_wrong_together_as_often_as_one_of_95_percent() {
    let mut even = Even(42);
    let trials = 200;
    let mut wrong = 0;
    for _ in 0..trials {
        // Sums of four uniform numbers are approximately normal.
        let mut runs = || -> Vec<f64> {
            let one = |_| 10.0 + (0..4).map(|_| even.next()).sum::<f64>();
            (0..40).map(one).collect()
        };
        let (a, b) = (runs(), runs());
        let differs = [10, 20, 40].iter().any(|&rounds| {
            let results = Results {
                samples: vec![wall("a", &a[..rounds]), wall("b", &b[..rounds])],
                ..Results::default()
            };
            ["ratio(wall.a, wall.b) > 1", "ratio(wall.a, wall.b) < 1"]
                .iter()
                .any(|claimed| size(claimed, &results) == Reproduced)
        });
        wrong += i32::from(differs);
    }
    // This is 5 %, plus three standard deviations. If each judgment used a level of 95 %, it would be 21.
    assert!((2..=19).contains(&wrong), "{wrong}");
}
