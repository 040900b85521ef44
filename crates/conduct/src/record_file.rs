//! Writes complete records to files.

use std::io::{self, Write};
use std::path::Path;

use fathom_measure::{Journal, MeasureError};
use serde::Serialize;

/// Writes a record as indented JSON with a final newline. The write is atomic: a temporary file is written
/// and then renamed.
///
/// # Errors
/// If the file can't be written.
pub fn write_record(path: &Path, record: &impl Serialize) -> io::Result<()> {
    let mut bytes = Vec::new();
    write_json(record, &mut bytes)?;
    fathom_measure::write_whole(path, bytes)
}

/// Replaces the growing record with the complete one.
pub(crate) fn complete(journal: Journal, record: &impl Serialize) -> Result<(), MeasureError> {
    journal.finish(|out| write_json(record, out))
}

fn write_json(record: &impl Serialize, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, record)?;
    out.write_all(b"\n")
}
