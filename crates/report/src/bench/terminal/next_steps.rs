//! The last line: the basis of the figures, and the next steps.

use fathom_model::{BenchRecord, Benchmark, InputFrom, Verdict};

use super::deciding::copied;
use super::footer::order_of;
use crate::line::{Line, Page, Tone};
use crate::quantity::{counted, short_time};
use crate::session::{Subject, measured_for, rounds};
use crate::text::columns;

/// The gap between the parts of a line.
const GAP: &str = "      ";

/// Writes the last line.
pub(super) fn write(page: &mut Page, record: &BenchRecord, subjects: &[Subject]) {
    put(page, lines(page, record, subjects));
}

/// Writes only the command that explains the cause.
pub(super) fn write_why(page: &mut Page, record: &BenchRecord, subjects: &[Subject]) {
    if let Some(words) = why_words(record, subjects) {
        put(page, why_lines(page, &words));
    }
}

/// Writes the lines. A word of a command that is wider than the page is not broken, because a user who copies
/// it would run something else.
fn put(page: &mut Page, lines: Vec<String>) {
    for line in lines {
        let is_command = line.starts_with(' ') || line.starts_with("why: ");
        match is_command && columns(&line) > page.width() {
            true => page.verbatim(&line),
            false => page.push(Line::new().add(Tone::Quiet, line)),
        }
    }
}

/// Returns one line, or more if they don't fit into one.
pub(super) fn lines(page: &Page, record: &BenchRecord, subjects: &[Subject]) -> Vec<String> {
    let rounds = match subjects.len() {
        1 => counted(subjects[0].made as u64, "run", "runs"),
        _ => format!(
            "{} {}",
            counted(rounds(record), "round", "rounds"),
            order_of(record)
        ),
    };
    let took = measured_for(record).map(|seconds| format!(", {}", short_time(seconds)));
    let took = took.unwrap_or_default();
    let basis = format!("{rounds}{took}{GAP}details: -v");
    let Some(words) = why_words(record, subjects) else {
        return vec![basis];
    };
    let why = why_lines(page, &words);
    let together = format!("{basis}{GAP}{}", why[0]);
    match why.len() == 1 && columns(&together) <= page.width() {
        true => vec![together],
        false => [vec![basis], why].concat(),
    }
}

/// Returns the whole command after `why:`. If it doesn't fit into one line, further lines begin with a space.
fn why_lines(page: &Page, words: &[String]) -> Vec<String> {
    let words: Vec<String> = words.iter().map(|word| page.clean(word)).collect();
    let line = format!("why: {}", words.join(" "));
    match columns(&line) <= page.width() {
        true => vec![line],
        false => {
            let mut lines = copied(&words, page.width() - 1);
            lines[0] = format!("why: {}", lines[0].trim_start());
            lines
        }
    }
}

/// Returns the command that explains where the time goes: the difference between two commands, or the slowest
/// of several.
pub(crate) fn why(record: &BenchRecord, subjects: &[Subject]) -> Option<String> {
    why_words(record, subjects).map(|words| words.join(" "))
}

/// Returns the words of the command that explains where the time goes.
fn why_words(record: &BenchRecord, subjects: &[Subject]) -> Option<Vec<String>> {
    let comparisons = record.outcome.as_ref().map(|o| &o.comparisons[..]);
    let slowest = comparisons
        .unwrap_or_default()
        .iter()
        .filter(|c| c.verdict == Verdict::Slower)
        .max_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value));
    if let [a, b] = subjects
        && let Some(comparison) = comparisons.and_then(|all| all.first())
    {
        // The slower one comes last, because its additional time is listed.
        let is_b_faster = (comparison.subject == 1) == (comparison.verdict == Verdict::Faster);
        let (a, b) = (a.benchmark, b.benchmark);
        return Some(match is_b_faster {
            true => command(&[b, a]),
            false => command(&[a, b]),
        });
    }
    let reference = comparisons.and_then(|all| all.first()).map(|c| c.reference);
    let index = slowest.map(|c| c.subject).or(reference).unwrap_or(0);
    subjects.get(index).map(|s| command(&[s.benchmark]))
}

/// Returns `fathom why` for these benchmarks, one or two, with the options for how they are run.
fn command(benchmarks: &[&Benchmark]) -> Vec<String> {
    let mut words = vec!["fathom why".to_owned()];
    let inputs = benchmarks.iter().map(|benchmark| match &benchmark.input {
        InputFrom::File(path) => Some(path.as_str()),
        InputFrom::Null => None,
    });
    once_or_for_each(&mut words, "--input", &inputs.collect::<Vec<_>>(), "null");
    let directories = benchmarks.iter();
    let directories = directories.map(|benchmark| benchmark.working_directory.as_deref());
    once_or_for_each(&mut words, "--cwd", &directories.collect::<Vec<_>>(), ".");
    let shell = benchmarks.first().and_then(|first| first.shell.as_deref());
    match (shell, benchmarks) {
        (Some("/bin/sh"), _) => words.push("-S".to_owned()),
        (Some(shell), _) => words.push(format!("--shell {}", quoted(shell))),
        (None, [one]) => {
            words.push("--".to_owned());
            // A line may be broken at a space, unless the space may be part of a word.
            match one.command.contains(['\'', '"', '\\']) {
                true => words.push(one.command.clone()),
                false => words.extend(one.command.split(' ').map(str::to_owned)),
            }
        }
        (None, _) => (),
    }
    if shell.is_some() || benchmarks.len() > 1 {
        words.extend(
            benchmarks
                .iter()
                .map(|benchmark| quoted(&benchmark.command)),
        );
    }
    words
}

/// Adds an option of the run: once if all values are the same, otherwise once for each.
fn once_or_for_each(words: &mut Vec<String>, option: &str, values: &[Option<&str>], none: &str) {
    let is_same = values.iter().all(|value| *value == values[0]);
    match (is_same, values[0]) {
        (true, None) => (),
        (true, Some(value)) => words.push(format!("{option} {}", quoted(value))),
        (false, _) => words.extend(
            values
                .iter()
                .map(|value| format!("{option} {}", quoted(value.unwrap_or(none)))),
        ),
    }
}

/// Quotes a text as one shell word.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./,:=@%+".contains(c);
    match text.chars().all(plain) && !text.is_empty() {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_needs_it() {
        assert_eq!(quoted("big/file.txt"), "big/file.txt");
        assert_eq!(quoted("git log | head"), "'git log | head'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
