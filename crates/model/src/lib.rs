//! The types that pass between the rooms of Fathom, with their JSON form.
//!
//! Nothing here measures, computes or prints. A room that produces a value and a room that
//! consumes it agree on it here, and the JSON record is these types written down.

mod comparison;
mod environment;
mod metric;
mod record;
mod run;
mod sample;

pub use comparison::{Comparison, MoreRounds, Shift, Verdict};
pub use environment::Environment;
pub use metric::{Direction, Metric, Unit};
pub use record::{
    BenchRecord, Benchmark, BenchmarkResult, Conditions, Floor, InputFrom, Outcome, OutputTo,
    SCHEMA_VERSION, StopReason, Warning,
};
pub use run::{Exit, IoCounts, Run};
pub use sample::{Estimate, Summary};
