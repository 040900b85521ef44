//! `[fleet]`: the commands of the engine to which `--on` submits jobs.

use fathom_fleet::Engine;
use serde::Deserialize;

/// The engine to which `--on NAME` submits jobs. With `submit` it is a custom engine, otherwise Slurm with
/// some keys changed.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "[fleet]")]
#[cfg_attr(test, schemars(rename = "Fleet"))]
pub struct FleetKeys {
    /// The engine's NAME.
    name: String,
    /// Submits {script}, whose output goes to {log}; prints the job's id as the last word of its first line.
    submit: Option<String>,
    /// Words added to `submit` if a {partition} is requested.
    partition: Option<String>,
    /// Words added to `submit` if a {constraint} is requested.
    constraint: Option<String>,
    /// Words added to `submit` if nodes were unfit; {exclude} lists them, separated by commas.
    exclude: Option<String>,
    /// Words added to `submit` if the script is run once for each number from 0 to {last}.
    array: Option<String>,
    /// Maximum number of jobs in an array. If absent, Slurm's own limit is used, and 1000 for other engines.
    array_size: Option<usize>,
    /// Lists the user's jobs that have not ended, one per line: id, then state.
    state: Option<String>,
    /// Cancels the jobs {ids}.
    cancel: Option<String>,
    /// Whether a node must pass fathom machine --check; true if absent.
    check: Option<bool>,
}

impl FleetKeys {
    /// Converts the keys to an engine.
    pub fn engine(self) -> Engine {
        let slurm = Engine::slurm();
        let is_slurm = self.submit.is_none();
        let or = |given: Option<String>, of_slurm: String| match given {
            Some(given) => given,
            None if is_slurm => of_slurm,
            None => String::new(),
        };
        Engine {
            name: self.name,
            submit: or(self.submit, slurm.submit),
            partition: or(self.partition, slurm.partition),
            constraint: or(self.constraint, slurm.constraint),
            exclude: or(self.exclude, slurm.exclude),
            array: or(self.array, slurm.array),
            array_limit: match self.array_size {
                None if is_slurm => slurm.array_limit,
                _ => String::new(),
            },
            array_size: self.array_size.unwrap_or(slurm.array_size),
            state: or(self.state, slurm.state),
            cancel: or(self.cancel, slurm.cancel),
            check: self.check.unwrap_or(slurm.check),
        }
    }
}
