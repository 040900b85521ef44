//! Names of loads and times, and the progress line.

use fathom_model::{LoadResult, ServeConditions, ServeRecord};

use crate::quantity::{counted, format_count, short_time};
use crate::text::{escape, shorten};

/// Width of a server's name in a line.
const NAME: usize = 28;

pub(super) fn ms(ms: f64) -> String {
    short_time(ms / 1e3)
}

pub(super) fn us(us: f64) -> String {
    short_time(us / 1e6)
}

/// Formats a value, or `n/a` if there were too few values.
pub(super) fn ms_or(ms: Option<f64>) -> String {
    ms.map_or_else(|| "n/a".to_string(), self::ms)
}

/// Formats a load: `16 connections`, or `1,490/s, open`.
pub(super) fn load(load: &LoadResult) -> String {
    load_of(load.connections, load.rate_per_second)
}

/// Formats a load given by its numbers.
pub(super) fn load_of(connections: u32, rate_per_second: Option<f64>) -> String {
    match rate_per_second {
        Some(rate) => format!("open, {}/s", format_count(rate)),
        None if connections == 1 => "1 connection".to_string(),
        None => format!("{connections} connections"),
    }
}

/// Returns `2: ` if there are several servers.
pub(super) fn number(record: &ServeRecord, server: usize) -> String {
    match record.servers.len() {
        2.. => format!("{}: ", server + 1),
        _ => String::new(),
    }
}

/// Describes the protocol after a semicolon; empty for plain HTTP/1.1.
pub(super) fn spoken(conditions: &ServeConditions) -> String {
    match (conditions.http2_streams, conditions.tls) {
        (None, false) => String::new(),
        (None, true) => "; by TLS".to_string(),
        (Some(streams), tls) => format!(
            "; over HTTP/2{}, {} at a time on each connection",
            if tls { " over TLS" } else { "" },
            counted(u64::from(streams), "request", "requests")
        ),
    }
}

/// The progress of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct ServeProgress<'p> {
    /// The server's name as given by the user.
    pub server: &'p str,
    /// The current step: `launch 3 of 30`, `16 connections, round 2 of 5`.
    pub what: String,
    /// The requests in the last second of a running step, and all failures so far.
    pub last_second: Option<(u64, u64)>,
}

/// Formats one line of at most `width` columns, safe for display.
pub fn serve_progress(progress: &ServeProgress<'_>, width: usize) -> String {
    let name = shorten(&escape(progress.server), NAME);
    let second = match progress.last_second {
        None => String::new(),
        Some((requests, 0)) => format!(": {} requests/s", format_count(requests as f64)),
        Some((requests, failed)) => format!(
            ": {} requests/s, {} failed",
            format_count(requests as f64),
            format_count(failed as f64)
        ),
    };
    shorten(&format!("{name}  {}{second}", progress.what), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_who_is_asked_and_what_came() {
        let mut progress = ServeProgress {
            server: "./server\x1b[2J {port}",
            what: "16 connections, round 2 of 5".to_string(),
            last_second: None,
        };
        let line = serve_progress(&progress, 80);
        assert!(line.ends_with("16 connections, round 2 of 5") && !line.contains('\x1b'));
        progress.last_second = Some((21_300, 2));
        let line = serve_progress(&progress, 100);
        assert!(
            line.ends_with("round 2 of 5: 21,300 requests/s, 2 failed"),
            "{line}"
        );
    }
}
