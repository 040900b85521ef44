//! `fathom startup` as its users see it. Tests check counts and words, never times.
#![cfg(target_os = "linux")]

mod ended;
mod observed;
mod timed;
mod world;
