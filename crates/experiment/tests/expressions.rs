//! Tests properties that hold for every expression and every sample.

mod support;

use fathom_experiment::expression::{Context, Fault, Judgement, Outcome, judge, parse};
use fathom_experiment::results::{Results, Samples};
use proptest::prelude::*;
use support::wall;

fn outcome(text: &str, results: &Results) -> Outcome {
    judgement(text, results).expect("it can be judged").outcome
}

fn judgement(text: &str, results: &Results) -> Result<Judgement, Fault> {
    let expression = parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    judge(
        &expression,
        Context {
            results,
            combination: &Vec::new(),
        },
    )
}

/// Returns the value of an expression without results.
fn value(text: &str) -> f64 {
    let judgement = judgement(&format!("{text} == 0"), &Results::default()).expect("judged");
    judgement.measured[0].estimate.expect("a number").value
}

fn two(a: &[f64], b: &[f64]) -> Results {
    Results {
        samples: vec![wall("a", a), wall("b", b)],
        ..Results::default()
    }
}

#[test]
fn arithmetic_has_its_usual_precedence() {
    for (text, expected) in [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("10 - 4 - 3", 3.0),
        ("12 / 3 / 2", 2.0),
        ("-2 * 3", -6.0),
        ("2 - -2", 4.0),
        ("5% + 0", 0.05),
        ("2KiB / 1kB", 2.048),
        ("3ms / 1us", 3000.0),
        ("1e3 + 1_000", 2000.0),
        ("sqrt(16) + sum(1, 2, 3) + mean(2, 4) + geomean(2, 8)", 17.0),
        ("10GB/s * 2s / 1GB", 20.0),
    ] {
        assert!((value(text) - expected).abs() < 1e-9, "{text}");
    }
}

#[test]
fn no_interval_of_a_share_reaches_beyond_the_whole() {
    let mut shares = wall("a", &[0.99, 0.98, 0.9]);
    shares.unit = String::new();
    let high = |samples: &Samples, text: &str| {
        let results = Results {
            samples: vec![samples.clone()],
            ..Results::default()
        };
        let measured = judgement(text, &results).expect("judged").measured;
        measured[0].estimate.expect("a number").high
    };
    for text in ["wall.a >= 0.8", "mean(wall.a) >= 0.8"] {
        assert!(high(&shares, text) > 1.0, "{text}: Student's interval");
        shares.is_share = true;
        assert_eq!(high(&shares, text), 1.0, "{text}");
        shares.is_share = false;
    }
}

#[test]
fn a_written_number_is_as_exact_as_its_last_digit() {
    let interval = |text: &str| {
        let judgement = judgement(&format!("rounded({text}) == 0"), &Results::default());
        let estimate = judgement.expect("judged").measured[0].estimate.expect("it");
        (estimate.low, estimate.high)
    };
    let near = |(low, high): (f64, f64), expected: (f64, f64)| {
        (low - expected.0).abs() < 1e-12 && (high - expected.1).abs() < 1e-12
    };
    assert!(near(interval("0.0005"), (0.00045, 0.00055)));
    assert!(near(interval("58"), (57.5, 58.5)));
    assert!(near(interval("1.50"), (1.495, 1.505)));
    assert!(near(interval("2.5e-3"), (0.00245, 0.00255)));
}

#[test]
fn a_division_by_something_around_zero_is_undecided() {
    let results = two(
        &[1.0; 10],
        &[-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0],
    );
    let judgement = judgement("wall.a / wall.b > 1", &results).expect("judged");
    assert_eq!(judgement.outcome, Outcome::Undecided);
    assert!(
        judgement.reason.contains("may be 0"),
        "{}",
        judgement.reason
    );
}

/// Generates pairs of positive samples of equal length, long enough for order statistics.
fn samples() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    (7usize..30).prop_flat_map(|n| {
        let values = || prop::collection::vec(1e-3..1e3f64, n);
        (values(), values())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Tests that a claim and its opposite never both hold.
    #[test]
    fn nothing_is_both_more_and_less((a, b) in samples()) {
        let results = two(&a, &b);
        for (one, other) in [
            ("wall.a > wall.b", "wall.a < wall.b"),
            ("ratio(wall.a, wall.b) > 1", "ratio(wall.b, wall.a) > 1"),
            ("wall.a >= 1s", "wall.a < 1s"),
            ("order(wall: a, b)", "order(wall: b, a)"),
            ("same(wall.a, wall.b) within 5%", "ratio(wall.a, wall.b) > 1.06"),
        ] {
            let both = [one, other].map(|text| outcome(text, &results));
            prop_assert_ne!(both, [Outcome::Holds, Outcome::Holds], "{} and {}", one, other);
        }
    }

    /// Tests that `not` inverts a decided outcome, and leaves an undecided one undecided.
    #[test]
    fn not_turns_round((a, b) in samples(), bound in 0.1..10f64) {
        let results = two(&a, &b);
        let text = format!("ratio(wall.a, wall.b) >= {bound}");
        let (plain, negated) = (outcome(&text, &results), outcome(&format!("not {text}"), &results));
        match plain {
            Outcome::Holds => prop_assert_eq!(negated, Outcome::Opposite),
            Outcome::Undecided | Outcome::Missing => prop_assert_eq!(negated, plain),
            _ => prop_assert_eq!(negated, Outcome::Holds),
        }
    }

    /// Tests that `and` gives the worse of two outcomes, and `or` the better.
    #[test]
    fn and_is_the_worse_or_the_better((a, b) in samples(), x in 1e-3..1e3f64, y in 1e-3..1e3f64) {
        let results = two(&a, &b);
        let (one, other) = (format!("wall.a > {x}s"), format!("wall.b > {y}s"));
        let parts = [outcome(&one, &results), outcome(&other, &results)];
        let joined = |word: &str| outcome(&format!("{one} {word} {other}"), &results);
        prop_assert_eq!(joined("and"), parts[0].min(parts[1]));
        prop_assert_eq!(joined("or"), parts[0].max(parts[1]));
    }

    /// Tests that units of the same kind are converted, and that the verdict does not depend on which one is
    /// used.
    #[test]
    fn units_scale((a, b) in samples(), bound in 1e-3..1e3f64) {
        let results = two(&a, &b);
        let seconds = outcome(&format!("wall.a > {bound}s"), &results);
        let millis = outcome(&format!("wall.a > {}ms", bound * 1e3), &results);
        // Rounding of the bound itself only matters at the edge.
        if seconds != millis {
            let sorted = { let mut sorted = a.clone(); sorted.sort_by(f64::total_cmp); sorted };
            prop_assert!(sorted.iter().any(|v| (v / bound - 1.0).abs() < 1e-9));
        }
    }

    /// Tests that a higher bound is never easier to reach.
    #[test]
    fn bounds_are_monotonous((a, b) in samples(), low in 1.0..10f64, more in 0.0..10f64) {
        let results = two(&a, &b);
        let at = |bound: f64| outcome(&format!("ratio(wall.a, wall.b) >= {bound}"), &results);
        if at(low + more) == Outcome::Holds {
            prop_assert_eq!(at(low), Outcome::Holds);
        }
    }

    /// Tests that interval arithmetic contains every value that its operands allow.
    #[test]
    fn intervals_hold_their_values((a, b) in samples()) {
        let results = two(&a, &b);
        let median = |values: &[f64]| {
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            fathom_stats::quantile(&sorted, 0.5)
        };
        let (x, y) = (median(&a), median(&b));
        for (text, exact) in [
            ("wall.a + wall.b", x + y),
            ("wall.a - wall.b", x - y),
            ("wall.a * wall.b", x * y),
            ("wall.a / wall.b", x / y),
        ] {
            let zero = if text.contains(['*', '/']) { "0" } else { "0s" };
            let judged = judgement(&format!("{text} == {zero}"), &results).expect("judged");
            let e = judged.measured[0].estimate.expect("a number");
            prop_assert!((e.value - exact).abs() <= 1e-9 * exact.abs().max(1e-9), "{}", text);
            prop_assert!(e.low <= e.value && e.value <= e.high, "{}", text);
        }
    }

    /// Tests that problems are reported with a position inside the text.
    #[test]
    fn errors_have_a_place_inside(text in r#"[a-z0-9_.+*/()<>=,:%" -]{0,40}"#) {
        if let Err(error) = parse(&text) {
            prop_assert!(error.span.end <= text.len() && error.span.start <= error.span.end);
            prop_assert!(!error.message.is_empty());
        }
    }
}
