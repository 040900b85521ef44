//! The mechanisms by which time is lost: pure functions from the facts about a run to claims on its account.
//!
//! A mechanism refers to no program, language or path by name.

pub(crate) mod again;
pub(crate) mod contend;
pub(crate) mod hand_over;
pub(crate) mod make;
pub(crate) mod per_item;
pub(crate) mod poll;
mod prelude;
pub(crate) mod serial;
pub(crate) mod start;
pub(crate) mod touch;
pub(crate) mod wait_for;
