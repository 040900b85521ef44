//! Finds the highest rate at which a server stays within a limit.

use fathom_measure::interrupt;
use fathom_model::{HighestRate, TriedRate};

use super::budget::percentile;
use super::plan::{Limit, Limited};
use super::rounds::{Load, Rounds};
use super::running::RunningServer;
use crate::{ConductError, Event, Observer};

/// The search ends when the highest good rate and the lowest bad rate are within this factor of each other.
const NEAR: f64 = 1.05;
/// The maximum number of rates to try.
const MOST_TRIES: usize = 12;

/// Bisects between a rate at which the server stays within the limit and one at which it doesn't. The search
/// starts downwards from `best`, the throughput of the closed loop.
///
/// # Errors
/// If the server ends.
pub(super) fn find(
    rounds: &Rounds<'_>,
    up: &mut RunningServer,
    server: usize,
    limit: &Limit,
    best: f64,
    observer: &mut dyn Observer,
) -> Result<HighestRate, ConductError> {
    let mut tried: Vec<TriedRate> = Vec::new();
    let (mut good, mut bad): (Option<f64>, Option<f64>) = (None, None);
    while tried.len() < MOST_TRIES && !interrupt::stopped() {
        let rate = next_rate(good, bad, best);
        if !rate.is_finite() || rate < 1.0 {
            break;
        }
        observer.on(Event::LoadStep {
            server,
            connections: rounds.plan.most_connections(),
            rate: Some(rate),
            round: tried.len() as u32,
            rounds: MOST_TRIES as u32,
        });
        let load = Load {
            connections: rounds.plan.most_connections(),
            rate: Some(rate),
        };
        let done = rounds.step(up, load, tried.len() as u32, observer)?;
        up.check_alive()?;
        if done.outcome.stopped {
            break;
        }
        let totals = &done.outcome.totals;
        let errors = totals.errors() + totals.dropped;
        let value_ms = match limit.of {
            Limited::Response(share) => percentile(&totals.response().steps(), share),
            _ => None,
        };
        let met = errors == 0 && value_ms.is_some_and(|value| value <= limit.most);
        match met {
            true => good = Some(rate),
            false => bad = Some(rate),
        }
        tried.push(TriedRate {
            rate_per_second: rate,
            value_ms,
            errors,
            met,
        });
        if let (Some(good), Some(bad)) = (good, bad)
            && bad / good <= NEAR
        {
            break;
        }
    }
    Ok(HighestRate {
        limit: limit.text.clone(),
        rate_per_second: good,
        tried,
    })
}

/// Returns the next rate to try: the geometric mean of the good and the bad rate. If only one is known, it is
/// a quarter of the bad one or one and a half times the good one, because the best rate of a closed loop may
/// be orders of magnitude above the rate at which a limit is kept.
fn next_rate(good: Option<f64>, bad: Option<f64>, best: f64) -> f64 {
    let rate = match (good, bad) {
        (Some(good), Some(bad)) => (good * bad).sqrt(),
        (Some(good), None) => good * 1.5,
        (None, Some(bad)) => bad / 4.0,
        (None, None) => best * 0.9,
    };
    rate.round()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capacity_is_found_within_five_percent() {
        for capacity in [40.0, 977.0, 12_345.0, 80_000.0] {
            let (mut good, mut bad) = (None, None);
            let mut tries = 0;
            while tries < MOST_TRIES {
                let rate = next_rate(good, bad, 14_000.0);
                tries += 1;
                match rate <= capacity {
                    true => good = Some(rate),
                    false => bad = Some(rate),
                }
                if matches!((good, bad), (Some(good), Some(bad)) if bad / good <= NEAR) {
                    break;
                }
            }
            let found = good.expect("a good rate");
            assert!(
                found <= capacity && found * 1.08 >= capacity,
                "{capacity}: {found}, {tries}"
            );
        }
    }
}
