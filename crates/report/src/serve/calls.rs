//! System calls per request, counted in a separate round.

use fathom_model::{ServeRecord, ServerCalls};

use super::words;
use crate::quantity::{counted, fixed, format_count};

/// Returns a line for each server; it may contain untrusted text.
pub(super) fn lines(record: &ServeRecord) -> Vec<String> {
    let servers = record.servers.iter().enumerate();
    let lines = servers.filter_map(|(index, server)| {
        let text = server.calls.as_ref().and_then(said)?;
        Some(format!("{}{text}", words::number(record, index)))
    });
    lines.collect()
}

/// Formats the calls per request; `None` if no request was completed.
fn said(calls: &ServerCalls) -> Option<String> {
    let each = match (calls.per_request, &calls.why_not) {
        (Some(each), _) => fixed(each, 2),
        (None, Some(why)) => {
            return Some(format!("system calls per request: not available, {why}"));
        }
        (None, None) => return None,
    };
    let load = match calls.rate_per_second {
        Some(rate) => format!("open, {}/s", format_count(rate)),
        None => counted(u64::from(calls.connections), "connection", "connections"),
    };
    Some(format!(
        "{each} system calls per request, counted in a separate round ({load})"
    ))
}
