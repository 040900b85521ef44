//! Conducts: one function a verb, a plan in, a record out.
//!
//! [`bench()`], [`versions()`], [`bisect()`], [`why()`], [`difference()`], [`pipe()`], [`startup()`],
//! [`serve()`], [`machine()`] and [`check()`] measure, trace and diagnose through the rooms below. An
//! [`Observer`] gets what is going on as an [`Event`]; nothing is printed here. A [`Target`] is a
//! command with its program found: [`CommandPlan::find`]
//! makes it. What was measured goes into the store through [`keep`]; jobs on other machines are
//! followed by [`fleet`].
//!
//! Must be called on a thread that lives until they return: what measures ends with the thread that
//! started it. [`fathom_measure::interrupt::catch`] first, where Ctrl-C is to end with what is
//! there.

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

/// A record, and what went wrong before it was complete.
#[derive(Debug)]
pub struct Conducted<R> {
    /// What was measured; all of it if nothing went wrong.
    pub record: R,
    /// Why measuring ended early, if it did so by a failure.
    pub failure: Option<MeasureError>,
}
