//! The complete record.

use std::io::{self, Write};

use fathom_model::ExperimentRecord;
use serde::Serialize;

/// Writes one record, or a list of them, as indented JSON with a line end, in the form of
/// `docs/json-schema/run.schema.json`. Nothing in it is escaped for terminals or for HTML.
///
/// # Errors
/// When `out` can't be written.
pub fn experiment_json(records: &[ExperimentRecord], mut out: impl Write) -> io::Result<()> {
    /// One experiment is one object; a catalogue is a list.
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Either<'r> {
        One(&'r ExperimentRecord),
        Many(&'r [ExperimentRecord]),
    }
    let either = match records {
        [one] => Either::One(one),
        many => Either::Many(many),
    };
    serde_json::to_writer_pretty(&mut out, &either)?;
    out.write_all(b"\n")
}
