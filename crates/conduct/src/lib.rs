//! Orchestrates measurements: one function for each verb, which takes a plan and returns a record.
//!
//! [`bench()`], [`versions()`], [`bisect()`], [`why()`], [`difference()`], [`pipe()`], [`startup()`],
//! [`serve()`], [`machine()`] and [`check()`] measure, trace and diagnose using the crates below. An
//! [`Observer`] receives progress as an [`Event`]; this crate prints nothing. A [`Target`] is a command whose
//! program was found; [`CommandPlan::find`] makes it. Measurements go into the store through [`keep`]; jobs
//! on other machines are monitored by [`fleet`].
//!
//! The functions must be called on a thread that lives until they return, because the measuring processes end
//! with the thread that started them. Call [`fathom_measure::interrupt::catch`] first if Ctrl-C should end a
//! measurement with a partial result.

pub mod bench;
pub mod bisect;
mod cache;
pub mod changes;
pub mod command_words;
pub mod compare;
mod did_you_mean;
mod error;
mod event;
pub mod export;
pub mod fingerprint;
pub mod fleet;
pub mod gate;
pub mod history;
pub mod import;
pub mod init;
pub mod interventions;
pub mod keep;
pub mod machine;
mod null_output;
pub mod pipe;
mod quiet;
mod record_file;
pub mod redaction;
pub mod report;
mod seed;
pub mod serve;
pub mod setup;
pub mod startup;
pub mod stores;
mod target;
mod template;
mod terms;
mod throttling;
pub mod tiers;
pub mod ui;
pub mod versions;
pub mod why;
pub mod worktrees;

pub use bench::{BenchPlan, bench};
pub use bisect::{BisectPlan, bisect};
pub use did_you_mean::did_you_mean;
pub use error::ConductError;
pub use event::{Event, Observer};
pub use export::{ExportPlan, export};
pub use import::{ImportPlan, Imports, import};
pub use machine::{CheckPlan, MachinePlan, check, machine};
pub use pipe::{PipePlan, pipe};
pub use record_file::write_record;
pub use report::{ReportPlan, report};
pub use seed::fresh_seed;
pub use serve::{ServePlan, serve};
pub use startup::{StartupPlan, startup};
pub use target::{CommandPlan, Target};
pub use template::{Builds, Template};
pub use terms::RunTerms;
pub use versions::{VersionsPlan, versions};
pub use why::{AttachPlan, DifferencePlan, Differs, Explained, WhyPlan, attached, difference, why};

use fathom_measure::MeasureError;

/// A record, and the failure that ended it early, if any.
#[derive(Debug)]
pub struct Conducted<R> {
    /// The measurements; complete if nothing failed.
    pub record: R,
    /// Why measuring ended early, if a failure ended it.
    pub failure: Option<MeasureError>,
}
