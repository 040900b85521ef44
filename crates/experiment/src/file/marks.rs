//! Type names that both a file's values and their places in the tree use.

/// Names of the types that are read as text: any scalar, or a date; and a single text as a list.
pub(super) const TEXTS: &str = "fathom::Texts";
pub(super) const SCALAR: &str = "fathom::Scalar";
pub(super) const DATE: &str = "fathom::Date";

/// Advice for a waiver without an end date: otherwise it would be forgotten.
pub(super) const UNTIL: &str = "write until = 2027-01-31, the last day of the waiver";
