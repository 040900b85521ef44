//! Somebody else sets the pace.

mod ends;
mod peer;

pub(crate) use ends::{input, output};
pub(crate) use peer::waited_for;
