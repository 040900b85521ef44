//! What a rule asks for: a finding, and which pieces of the account would go with its cause.

use std::ops::{Deref, DerefMut};

use fathom_model::{Finding, TimeCategory};

use crate::analysis::Analysis;
use crate::thresholds as t;

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

/// From where on it is worth reporting. A variant of a finding may ask for more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Least {
    pub ns: f64,
    /// Of the wall time without what other programs had the CPU for.
    pub share: f64,
    /// Of all the wall time.
    pub of_wall: f64,
}

impl Least {
    /// What the program does itself.
    pub(crate) const OF_WORK: Least = Least {
        ns: t::LEAST_SAVING_NS,
        share: t::LEAST_SHARE,
        of_wall: 0.0,
    };
    /// Waiting, which is a part of life in a pipeline.
    pub(crate) const OF_WAITING: Least = Least {
        ns: t::LEAST_SAVING_NS,
        share: t::LEAST_WAIT_SHARE,
        of_wall: t::LEAST_WAIT_OF_WALL,
    };

    /// Whether so much time is worth reporting.
    pub(crate) fn is_reached(self, analysis: &Analysis<'_>, ns: f64) -> bool {
        ns >= self.ns && analysis.share(ns) >= self.share && analysis.of_wall(ns) >= self.of_wall
    }
}
