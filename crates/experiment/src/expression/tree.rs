//! The parts of an expression.

use std::ops::Range;

use crate::unit::Unit;

/// An expression with the text that it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// The text.
    pub text: String,
    /// The root of its syntax tree.
    pub root: Node,
}

/// A part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Byte range in the text.
    pub span: Range<usize>,
    /// The kind of part.
    pub kind: Kind,
}

/// A kind of part.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A number in base units (seconds, bytes), with half a unit of its last written digit.
    Number {
        /// The value.
        value: f64,
        /// How far the number may be off due to rounding.
        half_digit: f64,
        /// Its unit.
        unit: Unit,
    },
    /// `METRIC.SUBJECT`, `MEASURE.METRIC.SUBJECT`, or a subject, with parameter values.
    Reference {
        /// The dotted name.
        path: String,
        /// Values in brackets.
        selectors: Vec<(String, String)>,
    },
    /// A text in double quotes.
    Text(String),
    /// A function call.
    Call {
        /// Its name.
        name: String,
        /// Its arguments.
        arguments: Vec<Node>,
        /// The operand of a `within` that follows the call.
        within: Option<Box<Node>>,
    },
    /// `+ - * /`
    Arithmetic(Box<Node>, Operator, Box<Node>),
    /// `-a`
    Negative(Box<Node>),
    /// `a >= b`
    Comparison {
        /// Left side.
        left: Box<Node>,
        /// The relation.
        relation: Relation,
        /// Right side.
        right: Box<Node>,
        /// The margin of `==`.
        within: Option<Box<Node>>,
    },
    /// `a and b`
    And(Box<Node>, Box<Node>),
    /// `a or b`
    Or(Box<Node>, Box<Node>),
    /// `not a`
    Not(Box<Node>),
}

/// An arithmetic operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

/// How two quantities are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
    /// `==`
    Equal,
}

impl Relation {
    /// Returns the relation with its sides exchanged.
    pub fn mirrored(self) -> Relation {
        match self {
            Relation::Less => Relation::More,
            Relation::AtMost => Relation::AtLeast,
            Relation::More => Relation::Less,
            Relation::AtLeast => Relation::AtMost,
            Relation::Equal => Relation::Equal,
        }
    }
}

/// Why a text is not an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Byte range in the text.
    pub span: Range<usize>,
    /// The problem.
    pub message: String,
    /// What to write instead.
    pub advice: String,
}
