//! What the values of a file and their place in its tree both know.

/// Names of the types that take a value as text: any scalar, or a date; and one text as a list.
pub(super) const TEXTS: &str = "fathom::Texts";
pub(super) const SCALAR: &str = "fathom::Scalar";
pub(super) const DATE: &str = "fathom::Date";

/// What to write for the end of a waiver: without one it would never be thought of again.
pub(super) const UNTIL: &str = "write until = 2027-01-31, the last day on which it is let pass";
