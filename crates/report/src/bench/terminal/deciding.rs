//! What would decide an undecided comparison: how many more rounds, and the command for them.

use fathom_model::{BenchRecord, Comparison, Verdict};

use super::verdict::too_few;
use crate::line::{Page, Tone};
use crate::quantity::counted;
use crate::session::{measured_for, rounds};
use crate::text::columns;

/// Returns the words of the user's command with this time limit instead of its own; `None` if it can't be
/// repeated as it was.
pub type Longer<'a> = &'a dyn Fn(&str) -> Option<Vec<String>>;

/// Times that users type, in seconds. More than a day is not suggested.
const TIMES: [(f64, &str); 15] = [
    (15.0, "15s"),
    (20.0, "20s"),
    (30.0, "30s"),
    (60.0, "1m"),
    (120.0, "2m"),
    (180.0, "3m"),
    (300.0, "5m"),
    (600.0, "10m"),
    (900.0, "15m"),
    (1800.0, "30m"),
    (3600.0, "1h"),
    (7200.0, "2h"),
    (14_400.0, "4h"),
    (28_800.0, "8h"),
    (86_400.0, "24h"),
];
/// A safety factor, because the number of missing rounds is an estimate from the completed ones.
const ALLOWANCE: f64 = 1.25;

/// Writes what is missing (`missing` for a single comparison), and the command.
pub(super) fn write(
    page: &mut Page,
    record: &BenchRecord,
    missing: Option<&str>,
    longer: Longer<'_>,
) {
    let more = more_rounds(record);
    let many = more.filter(|_| missing.is_none()).map(|more| {
        let more = counted(more, "more round", "more rounds");
        format!("about {more} would decide the rest")
    });
    let Some(text) = missing.map(str::to_owned).or(many) else {
        return;
    };
    let command = more.and_then(|more| longer(time(record, more)?));
    match command {
        Some(words) => {
            page.prose(2, Tone::Quiet, &format!("{text}:"));
            for line in copied(&words, page.width()) {
                page.verbatim(&line);
            }
        }
        None => page.prose(2, Tone::Quiet, &text),
    }
}

/// Returns the number of rounds that would decide every comparison that more rounds can decide.
fn more_rounds(record: &BenchRecord) -> Option<u64> {
    let comparisons = &record.outcome.as_ref()?.comparisons;
    let open = |one: &&Comparison| one.verdict == Verdict::Undecided && too_few(one).is_none();
    let open = comparisons.iter().filter(open);
    open.filter_map(|one| Some(one.more_rounds?.0)).max()
}

/// Returns a time limit within which `more` further rounds fit, if they take as long as the previous ones.
fn time(record: &BenchRecord, more: u64) -> Option<&'static str> {
    let made = rounds(record) as f64;
    let seconds = measured_for(record)? * (made + more as f64) / made * ALLOWANCE;
    let fits = |(time, _): &&(f64, &str)| *time >= seconds;
    TIMES.iter().find(fits).map(|(_, text)| *text)
}

/// Formats a command in lines of at most `width` columns that a shell reads as one. A word that is wider than
/// that is not broken.
pub(super) fn copied(words: &[String], width: usize) -> Vec<String> {
    const INDENT: &str = "    ";
    let mut lines: Vec<String> = Vec::new();
    let mut line = INDENT.to_owned();
    for word in words {
        let is_first = line.trim_start().is_empty();
        // Includes the space before the word and the backslash after it.
        if !is_first && columns(&line) + 1 + columns(word) + 2 > width {
            lines.push(format!("{line} \\"));
            line = format!("{INDENT}  {word}");
            continue;
        }
        if !is_first {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_command_is_broken_where_a_shell_joins_it() {
        let words: Vec<String> = [
            "fathom",
            "bench",
            "--time",
            "2m",
            "'gzip -1 a'",
            "'gzip -9 a'",
        ]
        .map(str::to_owned)
        .to_vec();
        assert_eq!(
            copied(&words, 40),
            [
                "    fathom bench --time 2m 'gzip -1 a' \\",
                "      'gzip -9 a'"
            ]
        );
        assert_eq!(copied(&words, 80).len(), 1);
        let joined = copied(&words, 12).join("\n").replace("\\\n", "");
        let split: Vec<&str> = joined.split_whitespace().collect();
        assert_eq!(split.join(" "), words.join(" "));
    }

    #[test]
    fn the_times_rise() {
        assert!(TIMES.is_sorted_by(|a, b| a.0 < b.0));
    }
}
