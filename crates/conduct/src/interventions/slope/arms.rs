//! Prepares a command without a delay and with three sizes of delay.

use std::time::Duration;

use fathom_measure::{CallFilter, Delay, Steps, can_stop_threads, cost_of_steps};

use super::delayed::Delayed;
use super::estimate::Slopes;
use super::others::OtherThreads;
use crate::Target;

/// The delays as parts of the largest one; the smallest is large enough to show by itself. The command without a
/// delay carries the same filter, or is stopped just as often to be asked about, so that only the delay differs.
pub(crate) const SIZES: [f64; 4] = [0.0, 0.5, 0.75, 1.0];

/// The sum of all delays in a run, as a part of its time. It must be large enough to stand out from the
/// variation between runs, and small enough that what is off the critical path stays off it.
pub(super) const LARGEST: f64 = 0.24;

/// The smallest delay of a call, in seconds: asking about a call already costs some 10 µs.
const LEAST_ASKED: f64 = 10e-6;
/// The maximum number of calls per second that can be asked about.
const MOST_ASKED: f64 = 10_000.0;
/// The number of steps that are timed to determine the cost of one.
const TRIED: u32 = 1_000;
/// The number of steps that the command without a delay makes as well: a CPU hides the first few behind the
/// rest of the call (on an AMD EPYC, 25 steps took 17 ns instead of 83).
const HIDDEN: u32 = 60;

/// Returns the commands, and how their delays become a slope. `wall` is the time of the command without a
/// delay, in seconds. In all of them, the threads in `others` are held back by as much as the largest delay.
///
/// # Errors
/// A message, if the command can't be delayed here.
pub(crate) fn arms(
    name: &str,
    delayed: &Delayed,
    others: &OtherThreads,
    target: &Target,
    wall: f64,
) -> Result<(Vec<Target>, Slopes), String> {
    let whole = LARGEST * wall;
    if !others.is_empty() && !can_stop_threads() {
        return Err("its other threads may not be stopped (ptrace)".to_owned());
    }
    let Delays {
        changes,
        per_run,
        words,
        added,
    } = match delayed {
        Delayed::Calls { numbers, calls } => of_calls(numbers, *calls, whole, wall)?,
        Delayed::Threads(which, run) => {
            let share = (1_000.0 * whole / run).min(1_000.0);
            let of = |size: f64| Change {
                filter: None,
                delay: Some(Delay::Threads(which.clone(), (size * share) as u32)),
            };
            Delays {
                changes: SIZES.map(of),
                per_run: None,
                words: SIZES
                    .map(|size| format!("{:.0} % of its running time", size * share / 10.0)),
                added: whole,
            }
        }
    };
    let targets = changes
        .into_iter()
        .zip(&words)
        .zip(SIZES)
        .map(|((change, each), size)| {
            let mut one = target.clone();
            one.benchmark.name = match size {
                0.0 => target.benchmark.command.clone(),
                _ => format!("{} (--try {name}, {each})", target.benchmark.command),
            };
            one.command.without.calls = change.filter;
            one.command.without.delay = change.delay;
            one.command.without.held_back = others.held_back_by(added);
            one
        });
    let slopes = Slopes {
        of: name.to_owned(),
        per_run,
    };
    Ok((targets.collect(), slopes))
}

/// A change to a command.
struct Change {
    filter: Option<CallFilter>,
    delay: Option<Delay>,
}

/// The delays of all sizes.
struct Delays {
    changes: [Change; 4],
    /// The delay of each run in seconds, if it is known beforehand.
    per_run: Option<[f64; 4]>,
    words: [String; 4],
    /// What the largest delay adds to a run, in seconds, with what the filter itself costs.
    added: f64,
}

/// Delays calls by the filter's own instructions if these can take long enough, or otherwise by asking about
/// each call.
fn of_calls(numbers: &[u32], calls: Option<u64>, whole: f64, wall: f64) -> Result<Delays, String> {
    let count = calls.unwrap_or(1).max(1) as f64;
    if let Some(steps) = calls.and_then(|_| steps_for(whole / count)) {
        return by_steps(numbers, count, steps);
    }
    if calls.is_none() || count / wall > MOST_ASKED {
        return Err("it makes too many calls to delay them one by one".to_owned());
    }
    let largest = (whole / count).max(LEAST_ASKED / SIZES[1]);
    let each = SIZES.map(|size| Duration::from_secs_f64(size * largest));
    let change = |each| Change {
        filter: Some(CallFilter::asking(numbers)),
        delay: Some(Delay::Calls(each)),
    };
    Ok(Delays {
        changes: each.map(change),
        per_run: None,
        words: each.map(|each| in_words(each.as_secs_f64())),
        added: count * (largest + LEAST_ASKED),
    })
}

fn in_words(seconds: f64) -> String {
    match seconds * 1e6 {
        small if small < 1.0 => format!("{:.0} ns a call", seconds * 1e9),
        micro if micro < 10.0 => format!("{micro:.1} µs a call"),
        micro => format!("{micro:.0} µs a call"),
    }
}

/// Returns steps that take `each` seconds, in all filters together; `None` if that is too long for the
/// filters.
fn steps_for(each: f64) -> Option<Steps> {
    let cost = |made| {
        let tried = Steps {
            made,
            room: HIDDEN + TRIED,
            filters: 1,
        };
        cost_of_steps(tried).ok()
    };
    let step = (cost(HIDDEN + TRIED)? - cost(HIDDEN)?) / f64::from(TRIED);
    let steps = each / step.max(1e-12);
    let filters = (steps / f64::from(Steps::MOST - HIDDEN)).ceil().max(1.0);
    (filters <= f64::from(Steps::MOST_FILTERS)).then(|| {
        let most = (steps / filters).ceil().max(4.0);
        let room = HIDDEN + most as u32;
        Steps {
            made: room,
            room,
            filters: filters as u32,
        }
    })
}

fn by_steps(numbers: &[u32], count: f64, largest: Steps) -> Result<Delays, String> {
    let steps = SIZES.map(|size| Steps {
        made: HIDDEN + (size * f64::from(largest.room - HIDDEN)).round() as u32,
        ..largest
    });
    let cost = |steps| {
        cost_of_steps(steps).map_err(|error| format!("call filters are not allowed here: {error}"))
    };
    let mut costs = [0.0; 4];
    for (known, steps) in costs.iter_mut().zip(steps) {
        *known = cost(steps)?;
    }
    let unfiltered = cost(Steps {
        filters: 0,
        ..largest
    })?;
    let added = costs.map(|cost| cost - costs[0]);
    let change = |steps| Change {
        filter: Some(CallFilter::delaying(numbers, steps)),
        delay: None,
    };
    Ok(Delays {
        changes: steps.map(change),
        per_run: Some(added.map(|each| each * count)),
        words: added.map(in_words),
        added: count * (costs[costs.len() - 1] - unfiltered),
    })
}
