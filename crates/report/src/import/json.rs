//! The complete records.

use std::io::{self, Write};

use fathom_model::ImportedRecord;

/// Writes `records` as an indented JSON list with a line end, each in the form of
/// `docs/json-schema/imported.schema.json`. Nothing in it is escaped for terminals.
///
/// # Errors
/// When `out` can't be written. Wrap files in a `BufWriter`: many small pieces are written.
pub fn import_json(records: &[ImportedRecord], mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, records)?;
    out.write_all(b"\n")
}
