//! Errors from reading a file.

/// Why a file isn't read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No known format matches.
    #[error("no known format of results; formats: {}", .0.join(", "))]
    Unknown(Vec<&'static str>),
    /// The file is a record of Fathom.
    #[error(
        "this is a Fathom record, not another tool's: `fathom export` and `fathom compare` read it directly"
    )]
    Own,
    /// More than one format matches.
    #[error("could be {}; say which with --format", .0.join(" or "))]
    Ambiguous(Vec<&'static str>),
    /// `--format` doesn't name a known format.
    #[error("no format '{0}'; formats: {list}", list = .1.join(", "))]
    NoSuchFormat(String, Vec<&'static str>),
    /// The version of the format, newer or older, is not supported.
    #[error("{tool}: form {found} is not known (known: {known})")]
    Version {
        /// The tool that wrote the file.
        tool: &'static str,
        /// The version in the file.
        found: String,
        /// The versions that can be read.
        known: &'static str,
    },
    /// The content doesn't match the recognised format.
    #[error("{0}")]
    Malformed(String),
    /// Reading the file would take too much memory.
    #[error("{0}")]
    TooLarge(String),
    /// The file contains no measurements.
    #[error("{0}: no results in it")]
    Empty(&'static str),
    /// An I/O error.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

pub(crate) fn malformed(message: impl Into<String>) -> Error {
    Error::Malformed(message.into())
}
