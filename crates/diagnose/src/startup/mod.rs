//! Starts of programs: what a traced start says of its phases and files, and what the timed starts
//! say together.

mod cpu_waits;
mod first_output;
mod observed;
mod phases;
mod summary;
mod timeline;

pub use observed::{Observed, ObservedStarts, compare_with_timed};
pub use summary::{budget, comparisons, judged_metric, summaries};
