//! The file: its text, its parts, and what is wrong with it.

pub mod experiment;
pub mod keys;
pub mod parse;
mod parse_claims;
pub mod parse_gate;
mod parse_measures;
mod parse_programs;
pub mod placeholder;
pub mod problem;
pub mod table;

pub use parse_measures::WEBSOCKET;
