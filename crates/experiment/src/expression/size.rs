//! Checks whether a size that satisfies a one-sided claim is also the published size.

use fathom_model::Estimate;

use super::compare::short;
use super::evaluate::{Context, Judge, Outcome};
use super::tree::{Expression, Kind, Relation};
use crate::unit::Unit;

/// The factor within which a measured size counts as the published one. Sizes differ between machines. If an
/// effect is more than twice as large, or less than half as large, the published figure only tells its
/// direction.
const FACTOR: f64 = 2.0;

/// The quantity that a one-sided comparison is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Value and interval.
    pub estimate: Estimate,
    /// Its unit.
    pub unit: Unit,
    /// Whether it is a ratio, so that 1 means no effect.
    is_ratio: bool,
}

/// Returns the quantity that an expression bounds from one side: the measured side of `a >= 10`, or the ratio
/// of both sides in `wall.a < wall.b`. Returns `None` if the whole expression isn't such a comparison, or if
/// there are no results. For example, a range written with `and` itself defines which sizes are allowed.
pub fn compared(expression: &Expression, context: Context<'_>) -> Option<Compared> {
    let Kind::Comparison {
        left: left_node,
        relation,
        right: right_node,
        ..
    } = &expression.root.kind
    else {
        return None;
    };
    if *relation == Relation::Equal {
        return None;
    }
    let judge = Judge::new(expression, context);
    let (mut left, mut right) = (
        judge.number(left_node).ok()?,
        judge.number(right_node).ok()?,
    );
    judge
        .same_units(left_node, &mut left, right_node, &mut right)
        .ok()?;
    let quantity = match (left.measured, right.measured) {
        (true, false) => left,
        (false, true) => right,
        (true, true) => judge.ratio(left_node, right_node).ok()?,
        (false, false) => return None,
    };
    Some(Compared {
        estimate: quantity.estimate,
        unit: quantity.unit,
        is_ratio: quantity.is_ratio,
    })
}

impl Compared {
    /// Compares the size with the published one, which is given in base units. If the two differ by more than
    /// `FACTOR`, returns the outcome and how far they differ; returns `None` if they count as the same size.
    pub fn against_published(&self, published: f64) -> Option<(Outcome, String)> {
        let Estimate {
            value, low, high, ..
        } = self.estimate;
        let (least, most) = (published / FACTOR, published * FACTOR);
        if published <= 0.0 || (least..=most).contains(&value) {
            return None;
        }
        let by = times_published(value / published);
        if low <= most && high >= least {
            let open = format!(
                "the direction holds; the value is {by}, but the interval reaches sizes close to the published one"
            );
            return Some((Outcome::Undecided, open));
        }
        let other_side = (published > 1.0 && high < 1.0) || (published < 1.0 && low > 1.0);
        let outcome = match self.is_ratio && other_side {
            true => Outcome::Opposite,
            false => Outcome::DirectionOnly,
        };
        Some((outcome, by))
    }
}

fn times_published(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 1.0 => format!("{}x the published size", short(ratio)),
        ratio if ratio > 0.0 => format!("1/{} of the published size", short(1.0 / ratio)),
        _ => "0 instead of the published size".to_string(),
    }
}
