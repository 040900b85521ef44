//! The content of a store.

use fathom_model::StoreRecord;
use fathom_model::quantity::{counted, format_size};

use super::minutes;
use crate::Screen;
use crate::line::{Page, Tone};

/// Formats the content of the store and its size. Ends with a newline.
pub fn store_terminal(record: &StoreRecord, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    page.prose(0, Tone::Strong, &record.store);
    let span = match (&record.oldest, &record.newest) {
        (Some(oldest), Some(newest)) => {
            format!(", from {} to {}", minutes(oldest), minutes(newest))
        }
        _ => String::new(),
    };
    let pruned = match record.pruned {
        0 => String::new(),
        some => format!(", {some} of them without their runs (pruned)"),
    };
    let number = |count: i64| count.unsigned_abs();
    page.field(
        "records",
        Tone::Plain,
        &format!("{}{pruned}{span}", record.records),
    );
    page.field(
        "series",
        Tone::Plain,
        &format!(
            "{} with {}, in {}",
            record.series,
            counted(number(record.points), "point", "points"),
            counted(number(record.environments), "environment", "environments")
        ),
    );
    page.field(
        "size",
        Tone::Plain,
        &format!(
            "{}: records {}, points {}",
            format_size(record.bytes as f64),
            format_size(record.record_bytes as f64),
            format_size(record.point_bytes as f64)
        ),
    );
    page.field("labels", Tone::Plain, &record.labels.to_string());
    for (old, new) in &record.renamed {
        page.field("renamed", Tone::Plain, &format!("{old} is now {new}"));
    }
    page.field("form", Tone::Quiet, &record.form.to_string());
    page.finish()
}
