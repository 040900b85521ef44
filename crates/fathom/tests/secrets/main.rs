//! Secrets that are given by Fathom's own options are used, and are found nowhere afterwards: in no
//! file, no store, no output.
#![cfg(target_os = "linux")]

mod told;
mod verbs;
mod world;
