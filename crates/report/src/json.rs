//! The complete record, for other programs.

use serde::Serialize;

/// Serializes `record` as indented JSON with a newline at the end, in the form of its schema in
/// `docs/json-schema`. Nothing in it is escaped for terminals or for HTML.
///
/// # Panics
/// If `record` doesn't consist of texts, numbers, lists and maps with texts as keys; every record does.
pub fn json(record: &(impl Serialize + ?Sized)) -> String {
    let text = serde_json::to_string_pretty(record).expect("texts and numbers are JSON");
    text + "\n"
}

/// Serializes a single record as an object, and several records as a list.
pub fn json_of_all(records: &[impl Serialize]) -> String {
    match records {
        [one] => json(one),
        many => json(many),
    }
}
