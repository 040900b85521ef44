//! The complete record.

use std::io::{self, Write};

use fathom_model::ServeRecord;

/// Writes `record` as indented JSON with a line end, in the form of
/// `docs/json-schema/serve.schema.json`. Nothing in it is escaped for terminals or for HTML.
///
/// # Errors
/// When `out` can't be written. Wrap files in a `BufWriter`: many small pieces are written.
pub fn serve_json(record: &ServeRecord, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, record)?;
    out.write_all(b"\n")
}
