//! The page.

use fathom_model::PipeRecord;

/// The record as one page.
pub fn pipe_html(record: &PipeRecord) -> String {
    format!("{:?}", record.kind)
}
