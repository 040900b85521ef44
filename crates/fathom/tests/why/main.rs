//! `fathom why` as its users see it. Tests check counts and words, never times.
#![cfg(target_os = "linux")]

mod attached;
mod explained;
mod killed;
mod little_memory;
mod locks;
mod made;
mod proved;
mod python;
mod two;
mod world;
