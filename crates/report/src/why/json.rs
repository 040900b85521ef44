//! The complete explanation.

use std::io::{self, Write};

use fathom_model::Explanation;

/// Writes `explanation` as indented JSON with a line end, in the form of
/// `docs/json-schema/why.schema.json`. Nothing in it is escaped for terminals or for HTML.
///
/// # Errors
/// When `out` can't be written. Wrap files in a `BufWriter`: many small pieces are written.
pub fn explain_json(explanation: &Explanation, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, explanation)?;
    out.write_all(b"\n")
}
