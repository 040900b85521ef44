//! The complete record.

use std::io::{self, Write};

use fathom_model::BenchRecord;

/// Writes `record` as indented JSON with a line end, in the form of
/// `docs/json-schema/bench.schema.json`.
///
/// # Errors
/// When `out` can't be written. Wrap files in a `BufWriter`: many small pieces are written.
pub fn json(record: &BenchRecord, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, record)?;
    out.write_all(b"\n")
}
