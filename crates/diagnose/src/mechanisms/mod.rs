//! The ways of losing time: pure functions from what is known of a run to claims on its account.
//!
//! A mechanism knows no program, language or path by its name.

pub(crate) mod again;
pub(crate) mod per_item;
pub(crate) mod wait_for;
