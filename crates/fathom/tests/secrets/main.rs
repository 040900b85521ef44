//! Secrets passed in Fathom's options are used, but don't appear afterwards in any file, store or output.
#![cfg(target_os = "linux")]

mod told;
mod verbs;
mod world;
