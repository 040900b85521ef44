//! System calls for each request, which are counted in a round of their own.

use fathom_model::{ServeRecord, ServerCalls};

use super::words;
use crate::line::{Page, Tone};
use crate::quantity::{counted, fixed, format_count};

/// A line for each server.
pub(super) fn write(page: &mut Page, record: &ServeRecord) {
    for (index, server) in record.servers.iter().enumerate() {
        let Some(text) = server.calls.as_ref().and_then(said) else {
            continue;
        };
        let text = page.clean(&text);
        let number = words::number(record, index);
        page.prose(2, Tone::Quiet, &format!("{number}{text}"));
    }
}

/// Nothing where no request was completed.
fn said(calls: &ServerCalls) -> Option<String> {
    let each = match (calls.per_request, &calls.why_not) {
        (Some(each), _) => fixed(each, 2),
        (None, Some(why)) => {
            return Some(format!(
                "system calls for each request: not available, {why}"
            ));
        }
        (None, None) => return None,
    };
    let load = match calls.rate_per_second {
        Some(rate) => format!("open, {}/s", format_count(rate)),
        None => counted(u64::from(calls.connections), "connection", "connections"),
    };
    Some(format!(
        "{each} system calls for each request, counted in a round of their own ({load})"
    ))
}
