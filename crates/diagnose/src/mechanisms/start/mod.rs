//! Detects time spent before the first useful work.

mod code_files;
pub(crate) mod linking;
pub(crate) mod modules;
pub(crate) mod wrappers;
