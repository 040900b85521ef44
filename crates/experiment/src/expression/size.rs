//! A size that satisfies a one-sided claim: is it also the published size?

use fathom_model::Estimate;

use super::compare::short;
use super::evaluate::{Context, Judge, Outcome};
use super::tree::{Expression, Kind, Relation};
use crate::unit::Unit;

/// A measured size within this factor of the published one counts as the published size. Sizes
/// differ between machines; of an effect that is twice as large, or half as large, the published
/// figure says no more than its direction.
const FACTOR: f64 = 2.0;

/// The quantity that a one-sided comparison is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Value and interval.
    pub estimate: Estimate,
    /// Its unit.
    pub unit: Unit,
    /// Whether 1 means no effect.
    is_ratio: bool,
}

/// The quantity that an expression bounds from one side: the measured side of `a >= 10`, the ratio
/// of both in `wall.a < wall.b`. `None` where the whole expression is no such comparison, or where
/// nothing is known of it: a range that is written with `and` says by itself what sizes it allows.
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
    /// What is said where the size is more than `FACTOR` away from the published one, which is in
    /// the bases of `unit`: the outcome, and by how much. `None` where the size is the published
    /// one.
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
            let open = format!("the direction holds; {by}, and the interval reaches to it");
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
        _ => "nothing of the published size".to_string(),
    }
}
