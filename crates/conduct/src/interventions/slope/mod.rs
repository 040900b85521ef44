//! Measures how much of a known delay appears in the total time: this is the share of the calls or of the
//! thread that lies on the critical path. Speeding up the rest gains nothing, however much of it there is.

mod arms;
mod delayed;
mod estimate;
mod others;

use std::time::Duration;

pub(crate) use arms::{SIZES, arms};
pub(crate) use delayed::{CLASSES, Delayed, of_finding};
pub use estimate::Slopes;
pub(crate) use others::OtherThreads;

/// The prefix that `--try` expects before the name of what is delayed.
pub(crate) const PREFIX: &str = "slope:";
/// The prefix of a thread's name.
pub(crate) const THREAD: &str = "thread:";

/// The maximum number of rounds; more would add little.
const MOST_ROUNDS: f64 = 40.0;
/// The minimum number of rounds: with fewer, chance alone may order the two smallest sizes.
pub(crate) const FEWEST_ROUNDS: u32 = 4;

/// Returns the number of rounds that fit into `time`, for a command that takes `wall` seconds without a
/// delay.
pub(crate) fn rounds_in(time: Duration, wall: f64) -> u32 {
    let added: f64 = SIZES.iter().map(|size| size * arms::LARGEST).sum();
    let round = wall * (SIZES.len() as f64 + added);
    (time.as_secs_f64() / round.max(1e-4)).min(MOST_ROUNDS) as u32
}

/// Describes what can be delayed, for `--try list`.
pub fn listing() -> impl Iterator<Item = String> {
    let classes = CLASSES.iter().map(|class| {
        format!(
            "{PREFIX}{}\n    delays {}\n",
            class.name,
            class.calls.join(", ")
        )
    });
    let thread = format!(
        "{PREFIX}{THREAD}NAME\n    stops the threads with this name (`{PREFIX}{THREAD}0`: the first thread) for \
         part of the time that they run\n"
    );
    classes.chain([thread])
}
