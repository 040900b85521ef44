//! `fathom bench` as its users see it: arguments in; words, files and exit codes out.
#![cfg(target_os = "linux")]

mod ended;
mod limits;
mod metrics;
mod recorded;
mod refused;
mod reported;
mod tried;
mod world;
