//! `fathom bench` as its users see it: the tests pass arguments and check messages, files and exit codes.
#![cfg(target_os = "linux")]

mod ended;
mod limits;
mod metrics;
mod recorded;
mod refused;
mod reported;
mod tried;
mod world;
