//! The experiment file: its text, its parts, and its problems.

pub mod experiment;
mod fleet;
mod gate;
mod leaf;
mod marks;
pub mod parse;
mod place;
pub mod placeholder;
pub mod problem;
mod rules;
#[cfg(test)]
mod schema;
mod shape;
mod source;
mod tree;

pub use leaf::{is_date, share_of};
pub use parse::WEBSOCKET;
