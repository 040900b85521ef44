//! How much of a known delay comes out at the end: the share of calls or of a thread that lies on the
//! critical path. What lies off it gains nothing, however much of it there is.

mod arms;
mod delayed;
mod estimate;

use std::time::Duration;

pub(crate) use arms::{SIZES, arms};
pub(crate) use delayed::{CLASSES, Delayed, of_finding};
pub use estimate::Slopes;

/// What `--try` takes before the name of what is delayed.
pub(crate) const PREFIX: &str = "slope:";
/// Before the name of a thread.
pub(crate) const THREAD: &str = "thread:";

/// More rounds add little to what is known.
const MOST_ROUNDS: f64 = 40.0;
/// Fewer have no interval at 95 %.
pub(crate) const FEWEST_ROUNDS: u32 = 6;

/// Rounds that fit into a time, for a command that takes so long as it is.
pub(crate) fn rounds_in(time: Duration, wall: f64) -> u32 {
    let added: f64 = SIZES.iter().map(|size| size * arms::LARGEST).sum();
    let round = wall * (SIZES.len() as f64 + added);
    (time.as_secs_f64() / round.max(1e-4)).min(MOST_ROUNDS) as u32
}

/// What can be delayed, as `--try list` says it.
pub fn listing() -> impl Iterator<Item = String> {
    let classes = CLASSES.iter().map(|class| {
        format!(
            "{PREFIX}{}\n    delays {}\n",
            class.name,
            class.calls.join(", ")
        )
    });
    let thread = format!(
        "{PREFIX}{THREAD}NAME\n    stops the threads of this name (`{PREFIX}{THREAD}0`: the first thread) for a part of the time that they run\n"
    );
    classes.chain([thread])
}
