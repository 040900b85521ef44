//! Events of `go test -json`: printed output, in pieces that may end within a line.

use std::collections::HashMap;
use std::io::BufRead;

use super::gotest::Results;
use crate::collector::Collector;
use crate::error::{Error, malformed};
use crate::json::{holds, opens, word};
use crate::lines;

/// The maximum number of packages that print concurrently.
const MOST_PACKAGES: usize = 10_000;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{") && holds(head, &["\"Action\"", "\"Package\"", "\"Time\""])
}

pub(crate) fn read(input: &mut dyn BufRead, out: &mut Collector) -> Result<(), Error> {
    let mut results = Results::default();
    let mut begun: HashMap<String, String> = HashMap::new();
    lines::each(input, |line| {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let Ok(event) = serde_json::from_slice::<serde_json::Value>(line) else {
            out.left_out("lines", "no event");
            return Ok(());
        };
        let package = word(&event, "Package").unwrap_or_default();
        match (word(&event, "Action"), word(&event, "Output")) {
            (Some("output"), Some(output)) => {
                if begun.len() >= MOST_PACKAGES && !begun.contains_key(package) {
                    return Err(malformed(format!(
                        "more than {MOST_PACKAGES} packages print at once"
                    )));
                }
                let mut text = begun.remove(package).unwrap_or_default();
                text.push_str(output);
                let (whole, rest) = text
                    .rsplit_once('\n')
                    .map_or((None, text.as_str()), |(whole, rest)| (Some(whole), rest));
                results.package(package);
                for line in whole.into_iter().flat_map(|whole| whole.split('\n')) {
                    results.line(line.as_bytes(), out);
                }
                let text = rest.to_owned();
                if text.len() > 64 << 10 {
                    return Err(malformed("a line printed in pieces is longer than 64 kB"));
                }
                if !text.is_empty() {
                    begun.insert(package.to_owned(), text);
                }
            }
            (Some(action @ ("fail" | "skip")), _) => {
                let test = word(&event, "Test").unwrap_or(package);
                out.left_out(test, format!("{action}: no result"));
            }
            _ => out.left_out("events", "nothing was printed"),
        }
        Ok(())
    })?;
    for (package, rest) in begun {
        results.package(&package);
        results.line(rest.as_bytes(), out);
    }
    Ok(())
}
