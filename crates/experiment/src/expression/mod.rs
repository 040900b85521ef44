//! Expressions over results, as used in claims. [`parse`] reads them, [`judge`] evaluates them.

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
