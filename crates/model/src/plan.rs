//! What would be run, and what can be run: the JSON output of `fathom run --plan` and `--list`.

use serde::{Deserialize, Serialize};

/// Every command of an experiment, in order; none was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `plan`.
    #[cfg_attr(test, schemars(extend("const" = "plan")))]
    pub kind: String,
    /// The experiment file as given.
    pub file: String,
    /// The title.
    pub title: String,
    /// Whether it is the plan of the small set (`--quick`).
    pub quick: bool,
    /// The parts, in order.
    pub steps: Vec<PlanStep>,
}

/// A part of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanStep {
    /// Its purpose.
    pub title: String,
    /// The commands as shell command lines; empty for steps that Fathom performs itself.
    pub commands: Vec<String>,
}

/// The experiments of a catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CatalogueRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `catalogue`.
    #[cfg_attr(test, schemars(extend("const" = "catalogue")))]
    pub kind: String,
    /// One row for each experiment, ordered by name.
    pub experiments: Vec<CatalogueRow>,
}

/// One experiment of a catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CatalogueRow {
    /// Name of the folder.
    pub name: String,
    /// Its file.
    pub file: String,
    /// Title of the experiment.
    pub title: String,
    /// The published rows it covers.
    pub rows: Vec<String>,
    /// Missing tools, each with how to get it.
    pub missing: Vec<String>,
    /// Tools whose program exists here, but whose check was not run.
    #[serde(default)]
    pub unchecked: Vec<String>,
}
