//! The ways of losing time: pure functions from what is known of a run to claims on its account.
//!
//! A mechanism knows no program, language or path by its name.

pub(crate) mod again;
pub(crate) mod contend;
pub(crate) mod hand_over;
pub(crate) mod make;
pub(crate) mod per_item;
pub(crate) mod poll;
pub(crate) mod serial;
pub(crate) mod start;
pub(crate) mod touch;
pub(crate) mod wait_for;
