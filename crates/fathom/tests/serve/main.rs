//! `fathom serve` as its users see it. Tests check counts and words, never times.
#![cfg(target_os = "linux")]

mod failed;
mod hostile;
mod kept;
mod measured;
mod refused;
mod secured;
mod world;
