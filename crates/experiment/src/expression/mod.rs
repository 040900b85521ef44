//! What a claim says: an expression over results. Read by [`parse`], evaluated by [`judge`].

mod compare;
mod evaluate;
mod lex;
mod numbers;
mod parse;
mod quantity;
mod size;
mod tree;
mod walk;

pub use evaluate::{Context, Fault, Judgement, Outcome, judge};
pub use parse::parse;
pub use quantity::LEVEL;
pub use size::{Compared, compared};
pub use tree::{Expression, SyntaxError};
pub use walk::references;
