//! `--on` and `fathom jobs`, with real jobs of the engine in `integrations/fleet`, and of Slurm if it can be
//! started.
#![cfg(target_os = "linux")]

mod hosts;
mod slurm;
mod world;
