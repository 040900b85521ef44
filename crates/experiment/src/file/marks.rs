//! Type names that are used both by the values of a file and by their places in the tree.

/// The names of the types that are read as text: any scalar or a date is read as text, and a single text as a
/// list.
pub(super) const TEXTS: &str = "fathom::Texts";
pub(super) const SCALAR: &str = "fathom::Scalar";
pub(super) const DATE: &str = "fathom::Date";

/// Advice for a waiver without an end date, which would otherwise be forgotten.
pub(super) const UNTIL: &str = "write until = 2027-01-31, the last day of the waiver";
