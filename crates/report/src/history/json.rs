//! The records as JSON.

use fathom_model::{CompareRecord, HistoryRecord, StoreRecord};
use serde::Serialize;

/// In the form of `docs/json-schema/history.schema.json`, with a line end.
pub fn history_json(record: &HistoryRecord) -> String {
    indented(record)
}

/// In the form of `docs/json-schema/compare.schema.json`, with a line end.
pub fn compare_json(record: &CompareRecord) -> String {
    indented(record)
}

/// In the form of `docs/json-schema/store.schema.json`, with a line end.
pub fn store_json(record: &StoreRecord) -> String {
    indented(record)
}

fn indented(record: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(record).expect("texts and numbers are JSON");
    text + "\n"
}
