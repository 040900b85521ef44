//! What a rule asks for: a finding, and which pieces of the account would go with its cause.

use std::ops::{Deref, DerefMut};

use fathom_model::{Finding, TimeCategory};

/// A piece of the account.
#[derive(Debug, Clone)]
pub(crate) enum Atoms {
    /// Calls, by the rows that the trace has of them, with the part of each that is meant, 0 to 1.
    Calls { rows: Vec<usize>, part: f64 },
    /// Any time of this category.
    Of(TimeCategory),
}

/// Time that would go of a piece.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub of: Atoms,
    pub ns: f64,
}

/// A finding before it is known how much of what it asks for nobody else holds.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub finding: Finding,
    /// What is known of where its time is. What is missing to its saving is asked of the parts that
    /// are declared for it.
    pub pieces: Vec<Piece>,
}

impl Deref for Claim {
    type Target = Finding;

    fn deref(&self) -> &Finding {
        &self.finding
    }
}

impl DerefMut for Claim {
    fn deref_mut(&mut self) -> &mut Finding {
        &mut self.finding
    }
}
