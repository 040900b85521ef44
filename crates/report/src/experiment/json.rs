//! The complete record, the plan and the list.

use std::io::{self, Write};

use fathom_model::{CatalogueRecord, ExperimentRecord, PlanRecord};
use serde::Serialize;

/// Writes one record, or a list of them, as indented JSON with a line end, in the form of
/// `docs/json-schema/run.schema.json`. Nothing in it is escaped for terminals or for HTML.
///
/// # Errors
/// When `out` can't be written.
pub fn experiment_json(records: &[ExperimentRecord], out: impl Write) -> io::Result<()> {
    one_or_many(records, out)
}

/// The same for plans: `docs/json-schema/plan.schema.json`.
///
/// # Errors
/// When `out` can't be written.
pub fn plan_json(plans: &[PlanRecord], out: impl Write) -> io::Result<()> {
    one_or_many(plans, out)
}

/// The list of a catalogue: `docs/json-schema/catalogue.schema.json`.
///
/// # Errors
/// When `out` can't be written.
pub fn catalogue_json(catalogue: &CatalogueRecord, out: impl Write) -> io::Result<()> {
    with_line_end(catalogue, out)
}

/// One experiment is one object; several are a list.
fn one_or_many(records: &[impl Serialize], out: impl Write) -> io::Result<()> {
    match records {
        [one] => with_line_end(one, out),
        many => with_line_end(many, out),
    }
}

fn with_line_end(value: &(impl Serialize + ?Sized), mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, value)?;
    out.write_all(b"\n")
}
