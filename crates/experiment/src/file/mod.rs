//! The file: its text, its parts, and what is wrong with it.

pub mod experiment;
pub mod keys;
pub mod parse;
pub mod placeholder;
pub mod problem;
pub mod table;
