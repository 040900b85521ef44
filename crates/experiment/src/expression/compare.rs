//! Compares quantities: determines on which side of a claim's number a value is, and by how much.

use fathom_model::Estimate;

use super::evaluate::Outcome;
use super::quantity::Quantity;
use super::tree::Relation;

/// Differences up to this share count as no difference if a claim doesn't state a margin.
pub(super) const MARGIN: f64 = 0.01;

/// The position of a ratio relative to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Its whole interval is above the margin.
    Above,
    /// Its whole interval is below the margin.
    Below,
    /// Its whole interval is within the margin.
    Within,
    /// Its interval crosses an edge of the margin.
    Open,
}

/// Returns on which side of 1 a ratio is, given a margin.
pub(super) fn side(ratio: &Estimate, margin: f64) -> Side {
    let (low, high) = (1.0 / (1.0 + margin), 1.0 + margin);
    if ratio.low > high {
        Side::Above
    } else if ratio.high < low {
        Side::Below
    } else if ratio.low >= low && ratio.high <= high {
        Side::Within
    } else {
        Side::Open
    }
}

/// Returns what a ratio shows about a claim in an upward or downward direction, regardless of the size.
fn direction(ratio: &Estimate, upward: bool) -> Outcome {
    match (side(ratio, MARGIN), upward) {
        (Side::Above, true) | (Side::Below, false) => Outcome::DirectionOnly,
        (Side::Above, false) | (Side::Below, true) => Outcome::Opposite,
        _ => Outcome::NoEffect,
    }
}

/// Judges `a >= b` and similar relations, with the measured side on the left.
pub(super) fn one_sided(
    left: &Quantity<'_>,
    relation: Relation,
    right: &Quantity<'_>,
) -> (Outcome, String) {
    let (l, r) = (&left.estimate, &right.estimate);
    let upward = matches!(relation, Relation::More | Relation::AtLeast);
    let (holds, fails) = match relation {
        Relation::More => (l.low > r.high, l.high <= r.low),
        Relation::AtLeast => (l.low >= r.high, l.high < r.low),
        Relation::Less => (l.high < r.low, l.low >= r.high),
        _ => (l.high <= r.low, l.low > r.high),
    };
    if holds {
        return (Outcome::Holds, String::new());
    }
    let claimed = r.value;
    // A claim that something stays below a bound that is above 1 doesn't claim an effect in a direction.
    let has_direction = left.is_ratio
        && !right.measured
        && if upward {
            claimed >= 1.0
        } else {
            claimed <= 1.0
        };
    let direction = direction(l, upward);
    if fails {
        let by = match has_direction {
            true => against(l.value, claimed),
            false => beyond(l.value, claimed),
        };
        return match (has_direction, direction) {
            (false, _) => (Outcome::NoEffect, by),
            (true, Outcome::Opposite) => (Outcome::Opposite, by),
            (true, Outcome::DirectionOnly) => (Outcome::DirectionOnly, by),
            (true, _) => (Outcome::NoEffect, no_effect(l)),
        };
    }
    if has_direction && side(l, MARGIN) == Side::Within {
        return (Outcome::NoEffect, "no effect beyond 1 %".to_string());
    }
    let reason = match (has_direction, direction) {
        (true, Outcome::DirectionOnly) => {
            "the direction holds, but the interval includes smaller effects"
        }
        _ => "the interval is too wide",
    };
    (Outcome::Undecided, reason.to_string())
}

/// Says whether no effect was shown, or whether an effect is excluded.
fn no_effect(ratio: &Estimate) -> String {
    match side(ratio, MARGIN) {
        Side::Within => "no effect beyond 1 %".to_string(),
        _ => "no effect was shown: the interval includes an effect of zero".to_string(),
    }
}

/// Judges `a == b within margin`.
pub(super) fn equal(left: &Quantity<'_>, right: &Quantity<'_>, margin: f64) -> (Outcome, String) {
    let (l, r) = (&left.estimate, &right.estimate);
    // Equal doubles may differ in their last bits.
    let slack = 1e-9;
    let edges = |value: f64| {
        let half = value.abs() * margin + value.abs() * slack;
        (value - half, value + half)
    };
    let (low, high) = (edges(r.low).0, edges(r.high).1);
    if l.low >= low && l.high <= high {
        return (Outcome::Holds, String::new());
    }
    let by = against(l.value, r.value);
    let ratio_against = left.is_ratio && !right.measured && r.value > 0.0 && r.value != 1.0;
    let direction = direction(l, r.value > 1.0);
    if l.low <= high && l.high >= low {
        // A size at the edge of the allowed range stays there, however many rounds are measured.
        if ratio_against
            && direction == Outcome::DirectionOnly
            && l.high - l.low <= margin / 2.0 * l.value
        {
            let reason = format!("{by}, at the edge of the tolerance");
            return (Outcome::DirectionOnly, reason);
        }
        // Constants have no interval that could become narrower, so rounding errors are allowed.
        let outcome = match left.measured || right.measured {
            true => Outcome::Undecided,
            false => Outcome::Holds,
        };
        let reason = match outcome {
            Outcome::Holds => "within the rounding error",
            _ => "the interval is too wide",
        };
        return (outcome, reason.to_string());
    }
    match direction {
        _ if !ratio_against => (Outcome::NoEffect, by),
        Outcome::NoEffect => (Outcome::NoEffect, no_effect(l)),
        _ => (direction, by),
    }
}

/// Describes on which side of a bound a value is, and how far.
fn beyond(value: f64, bound: f64) -> String {
    if bound > 0.0 && value > 0.0 {
        let side = if value > bound { "above" } else { "below" };
        return format!("{} {side} the bound", factor(value / bound));
    }
    format!("{}, while the bound is {}", short(value), short(bound))
}

/// Describes by how much a value differs from the claimed one.
fn against(value: f64, claimed: f64) -> String {
    if claimed > 0.0 && value > 0.0 {
        let ratio = value / claimed;
        return match ratio {
            ratio if (0.5..2.0).contains(&ratio) => {
                let percent = (ratio - 1.0).abs() * 100.0;
                let digits = usize::from(percent < 10.0);
                let word = if ratio < 1.0 { "less" } else { "more" };
                format!("{percent:.digits$} % {word} than claimed")
            }
            ratio if ratio < 1.0 => format!("1/{} of the claimed size", short(1.0 / ratio)),
            ratio => format!("{}x what is claimed", short(ratio)),
        };
    }
    format!("{} where {} is claimed", short(value), short(claimed))
}

/// Formats a factor with three digits.
pub(super) fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_string(),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Formats how many times larger the larger one is.
pub(super) fn factor(ratio: f64) -> String {
    let factor = if ratio < 1.0 { 1.0 / ratio } else { ratio };
    match factor {
        factor if factor < 2.0 => format!("{:.1} %", (factor - 1.0) * 100.0),
        factor => format!("{}x", short(factor)),
    }
}
