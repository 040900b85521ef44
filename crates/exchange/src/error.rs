//! Why a file isn't read.

/// Why a file isn't read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No format knows it.
    #[error("no known format of results; formats: {}", .0.join(", "))]
    Unknown(Vec<&'static str>),
    /// A record of Fathom.
    #[error(
        "this is a record of Fathom, not of another tool: `fathom export` and `fathom compare` take it as it is"
    )]
    Own,
    /// More than one format could be meant.
    #[error("could be {}; say which with --format", .0.join(" or "))]
    Ambiguous(Vec<&'static str>),
    /// `--format` names none.
    #[error("no format '{0}'; formats: {list}", list = .1.join(", "))]
    NoSuchFormat(String, Vec<&'static str>),
    /// A form that came later, or before.
    #[error("{tool}: form {found} is not known (known: {known})")]
    Version {
        /// The tool.
        tool: &'static str,
        /// What the file says.
        found: String,
        /// What is read.
        known: &'static str,
    },
    /// It isn't what it looked like.
    #[error("{0}")]
    Malformed(String),
    /// It would take too much memory.
    #[error("{0}")]
    TooLarge(String),
    /// Nothing in it was measured.
    #[error("{0}: no results in it")]
    Empty(&'static str),
    /// It can't be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

pub(crate) fn malformed(message: impl Into<String>) -> Error {
    Error::Malformed(message.into())
}
