//! The noise floor of a benchmark, from its earlier gates on this machine.

use fathom_model::Environment;
use fathom_store::{
    Error, Location, NULL_ARM, Options, Segment, Series, SeriesFilter, Since, Store,
};

use super::GateTarget;
use crate::history::numbers_of;

/// The number of earlier gates needed. The next value of a sequence exceeds the largest of the n values
/// before it in one of n + 1 cases. With n = 19 or more, that is at most 5 %, which is also the error rate of
/// the interval that determines the floor when there is no history: the floor is half of its width. With
/// fewer gates, no order statistic gives that bound.
const FEWEST: usize = 19;
/// The maximum number of gates to use, newest first: a machine may have changed within a year.
const NEWEST: usize = 100;
/// How often the difference of a program from itself stays below the floor.
const LEVEL: f64 = 0.95;

/// A noise floor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Floor {
    /// The floor, as a share.
    pub(super) share: f64,
    /// The number of gates it is computed from.
    pub(super) gates: usize,
}

/// Returns the floor of each benchmark that has enough gates in the store.
///
/// # Errors
/// Errors of the store; a missing store is not an error.
pub(super) fn of(
    store: &Location,
    environment: &Environment,
    targets: &[GateTarget],
) -> Result<Vec<Option<Floor>>, Error> {
    let options = Options {
        create: false,
        ..Options::default()
    };
    let mut store = match Store::open_with(store, options) {
        Ok(store) => store,
        Err(Error::Missing { .. }) => return Ok(vec![None; targets.len()]),
        Err(error) => return Err(error),
    };
    let facts = serde_json::to_value(environment).unwrap_or_default();
    let here = Segment::of(&facts).key;
    let numbers = numbers_of(&mut store, &here)?;
    let filter = SeriesFilter {
        benchmarks: Vec::new(),
        metric: Some(NULL_ARM.to_owned()),
    };
    let series = store.series(&filter, 0)?;
    let own = |target: &GateTarget| {
        let parameters = &target.head.benchmark.parameters;
        let name = match (parameters.is_empty(), target.name.split_once('[')) {
            (false, Some((subject, _))) => subject,
            _ => &target.name,
        };
        let is_own = |one: &&Series| one.benchmark == name && one.parameters == *parameters;
        series.iter().find(is_own)
    };
    let own = targets
        .iter()
        .map(|target| own(target).map(|one| one.number));
    let own: Vec<Option<i64>> = own.collect();
    let asked: Vec<i64> = own.iter().flatten().copied().collect();
    let points = store.points_of(&asked, &Since::Start)?;
    let one = |number: Option<i64>| {
        let ratios = points.get(&number?)?.iter().rev();
        let ratios = ratios.filter(|point| numbers.contains(&point.environment));
        floor(ratios.map(|point| point.value).take(NEWEST))
    };
    Ok(own.into_iter().map(one).collect())
}

/// Computes the floor from ratios of a program to itself, if there are enough.
fn floor(ratios: impl Iterator<Item = f64>) -> Option<Floor> {
    let mut away: Vec<f64> = ratios
        .filter(|ratio| *ratio > 0.0 && ratio.is_finite())
        .map(|ratio| ratio.ln().abs())
        .collect();
    if away.len() < FEWEST {
        return None;
    }
    away.sort_by(f64::total_cmp);
    let rank = (LEVEL * (away.len() + 1) as f64).ceil() as usize;
    Some(Floor {
        share: away[rank.min(away.len()) - 1].exp_m1(),
        gates: away.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nineteen_gates_are_bounded_by_their_largest_and_fewer_by_nothing() {
        let ratios: Vec<f64> = (1..=19).map(|i| 1.0 + f64::from(i) / 1000.0).collect();
        let found = floor(ratios.iter().copied()).expect("enough");
        assert!((found.share - 0.019).abs() < 1e-9 && found.gates == 19);
        assert_eq!(floor(ratios[1..].iter().copied()), None);
    }

    #[test]
    fn a_ratio_below_one_is_as_far_away_and_one_of_a_hundred_outliers_is_left_out() {
        let mut ratios = vec![1.0 / 1.01; 99];
        ratios.push(3.0);
        let found = floor(ratios.into_iter()).expect("enough");
        assert!((found.share - 0.01).abs() < 1e-9, "{found:?}");
    }
}
