//! Starts of programs: phases and files of traced starts, and statistics of the timed starts.

mod cpu_waits;
mod first_output;
mod observed;
mod phases;
mod summary;
mod timeline;

pub use observed::{Observed, ObservedStarts, compare_with_timed};
pub use summary::{budget, comparisons, judged_metric, summaries};
