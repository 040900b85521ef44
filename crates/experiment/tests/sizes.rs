//! Tests, for a satisfied claim of layer `size`, whether the measured size counts as the published one.

mod support;

use fathom_experiment::results::Results;
use fathom_model::ClaimVerdict::{self, Contradicted, DirectionOnly, Reproduced, Undecided};
use support::{around, experiment, judged, wall, with_claims};

/// Returns `wall.a` and `wall.b` with values around these times.
fn results(a: f64, b: f64) -> Results {
    Results {
        samples: vec![
            wall("a", &around(a, 0.02, 20)),
            wall("b", &around(b, 0.02, 20)),
        ],
        ..Results::default()
    }
}

/// Returns a claim with a published figure and additional keys.
fn published(layer: &str, holds: &str, published: &str, more: &str) -> String {
    with_claims(&format!(
        "[[claims]]\nid = \"x\"\ntext = \"x\"\nlayer = \"{layer}\"\nholds = '''{holds}'''\n\
         published = {{ {published} }}\n{more}\n"
    ))
}

fn said(holds: &str, value: &str, results: &Results) -> (ClaimVerdict, String) {
    let judged = judged(&published("size", holds, value, ""), results).judged;
    (judged.verdict, judged.reason)
}

#[test]
fn a_size_far_beyond_the_published_one_is_only_its_direction() {
    let of = |a| {
        said(
            "ratio(wall.a, wall.b) >= 6.5",
            "value = 6.5",
            &results(a, 1.0),
        )
    };
    assert_eq!(of(7.0), (Reproduced, String::new()));
    assert_eq!(of(12.0).0, Reproduced);
    assert_eq!(
        of(2208.0),
        (DirectionOnly, "340x the published size".to_string())
    );
    let wait = |a| {
        said(
            "wall.a >= 150us",
            "value = 150, unit = \"us\"",
            &results(a, 1.0),
        )
    };
    assert_eq!(wait(170e-6).0, Reproduced);
    assert_eq!(
        wait(0.027),
        (DirectionOnly, "180x the published size".to_string())
    );
}

#[test]
fn a_size_far_short_of_the_published_one_is_only_its_direction() {
    let of = |a| said("ratio(wall.a, wall.b) > 2", "value = 30", &results(a, 1.0));
    assert_eq!(of(16.0).0, Reproduced);
    assert_eq!(
        of(3.0),
        (DirectionOnly, "1/10.0 of the published size".to_string())
    );
}

#[test]
fn an_interval_that_reaches_to_the_published_size_leaves_open_which_it_is() {
    let of = |a| {
        let wide = Results {
            samples: vec![wall("a", &around(a, 0.3, 20))],
            ..Results::default()
        };
        said("wall.a >= 7s", "value = 7, unit = \"s\"", &wide)
    };
    let open = "the direction holds; the value is 2.29x the published size, but the interval reaches sizes close to the published one";
    assert_eq!(of(16.0), (Undecided, open.to_string()));
    // The interval extends beyond twice the published size, but the value does not.
    assert_eq!(of(13.0), (Reproduced, String::new()));
}

#[test]
fn a_comparison_of_two_results_has_the_size_of_their_ratio() {
    let of = |a| said("wall.a < wall.b", "value = 0.79", &results(a, 1.0));
    assert_eq!(of(0.8).0, Reproduced);
    assert_eq!(
        of(0.1),
        (DirectionOnly, "1/7.90 of the published size".to_string())
    );
}

#[test]
fn a_satisfied_bound_on_the_other_side_of_1_is_the_opposite() {
    let of = |a| {
        said(
            "ratio(wall.a, wall.b) <= 1.2",
            "value = 1.06",
            &results(a, 1.0),
        )
    };
    assert_eq!(of(1.05).0, Reproduced);
    assert_eq!(of(0.2).0, Contradicted);
}

#[test]
fn limits_and_budgets_are_kept_by_any_size_on_their_side() {
    let results = results(0.001, 1.0);
    let holds = "wall.a < 100ms";
    let of = |value: &str, more: &str| {
        judged(&published("size", holds, value, more), &results)
            .judged
            .verdict
    };
    let value = "value = 100, unit = \"ms\"";
    assert_eq!(of(value, ""), DirectionOnly);
    assert_eq!(of(&format!("{value}, limit = true"), ""), Reproduced);
    assert_eq!(of(value, "budget = true"), Reproduced);
}

#[test]
fn without_a_published_value_the_relation_is_all_that_is_claimed() {
    let holds = "ratio(wall.a, wall.b) >= 2";
    let verdict = said(
        holds,
        "figures = \"far less efficient\"",
        &results(50.0, 1.0),
    )
    .0;
    assert_eq!(verdict, Reproduced);
}

#[test]
fn other_layers_and_ranges_are_judged_by_their_relation_alone() {
    let results = results(50.0, 1.0);
    let verdict = |text: &str| judged(text, &results).judged.verdict;
    let mechanism = published("mechanism", "wall.a >= 1s", "value = 1, unit = \"s\"", "");
    assert_eq!(verdict(&mechanism), Reproduced);
    let range = published(
        "size",
        "wall.a >= 1s and wall.a <= 90s",
        "value = 1, unit = \"s\"",
        "",
    );
    assert_eq!(verdict(&range), Reproduced);
}

#[test]
fn a_published_size_in_another_unit_is_an_error_of_the_file() {
    let message = |value: &str| {
        let text = published("size", "wall.a >= 150us", value, "");
        experiment(&text).err().map(|error| error.to_string())
    };
    assert_eq!(message("value = 150, unit = \"us\""), None);
    let error = message("value = 150").expect("a bare number is not a time");
    assert!(
        error.contains("the published value is a plain number, but the compared value is in s"),
        "{error}"
    );
    assert_eq!(message("value = 150, limit = true"), None);
    assert_eq!(message("figures = \"150 us\""), None);
    let error = message("limit = true").expect("a limit without its number");
    assert!(error.contains("`published` needs `value`"), "{error}");
}
