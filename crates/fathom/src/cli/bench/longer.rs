//! The current command line with more time, in shell syntax.

use std::ffi::OsString;

use clap::FromArgMatches;

use super::Arguments;
use crate::cli::{Cli, Verb, command, redacted};

/// Options that determine how much is measured; each takes a value.
const AMOUNT: [(&str, Option<&str>); 5] = [
    ("--time", None),
    ("--runs", Some("-r")),
    ("--min-runs", Some("-m")),
    ("--max-runs", Some("-M")),
    ("--precision", None),
];

/// Returns the words of `fathom bench` with this time instead of the options for the amount that were given.
/// Returns `None` if the command line can't be written so that a shell yields the same words; this is
/// verified by parsing it again.
pub(super) fn words(given: impl Iterator<Item = OsString>, time: &str) -> Option<Vec<String>> {
    let given: Vec<String> = given
        .map(|word| word.into_string().ok())
        .collect::<Option<_>>()?;
    // A terminal would show control characters in a different form.
    if given
        .iter()
        .any(|word| fathom_report::escape(word) != *word)
    {
        return None;
    }
    let verb = given.iter().position(|word| word == "bench")?;
    let mut longer = given[..=verb].to_vec();
    longer.extend(["--time".to_owned(), time.to_owned()]);
    let mut rest = given[verb + 1..].iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            longer.push(word.clone());
            longer.extend(rest.by_ref().cloned());
        } else if is_amount(word) {
            // The value of the option is either in the same word or the next word.
            if !word.contains('=') && !word.ends_with(|c: char| c.is_ascii_digit()) {
                rest.next();
            }
        } else {
            longer.push(word.clone());
        }
    }
    let (before, after) = (parsed(&given)?, parsed(&longer)?);
    let is_same = before.given.commands == after.given.commands
        && before.given.words == after.given.words
        && before.command_name == after.command_name
        && after.time == crate::cli::quantities::duration(time).ok()
        && (after.runs, after.min_runs, after.max_runs) == (None, None, None);
    is_same.then(|| {
        let told = redacted::words(&longer);
        ["fathom".to_owned()].into_iter().chain(told).collect()
    })
}

fn is_amount(word: &str) -> bool {
    AMOUNT.iter().any(|(long, short)| {
        let value = word.strip_prefix(long);
        let short = short.and_then(|short| word.strip_prefix(short));
        value.is_some_and(|value| value.is_empty() || value.starts_with('='))
            || short.is_some_and(|value| {
                value.trim_start_matches('=').parse::<u32>().is_ok() || value.is_empty()
            })
    })
}

fn parsed(words: &[String]) -> Option<Box<Arguments>> {
    let words = ["fathom"]
        .into_iter()
        .chain(words.iter().map(String::as_str));
    let matches = command().try_get_matches_from(words).ok()?;
    match Cli::from_arg_matches(&matches).ok()?.verb {
        Verb::Bench(arguments) => Some(arguments),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn longer(given: &[&str]) -> Option<String> {
        let given = given.iter().map(OsString::from);
        words(given, "2m").map(|words| words.join(" "))
    }

    #[test]
    fn what_was_said_of_the_amount_gives_way_and_all_else_stays() {
        let cases: [(&[&str], &str); 6] = [
            (&["bench", "a b", "it's"], "'a b' 'it'\\''s'"),
            (&["bench", "-r", "20", "a", "b"], "a b"),
            (
                &["bench", "-r20", "--margin=2%", "a", "b"],
                "'--margin=2%' a b",
            ),
            (&["bench", "--time=1s", "-m", "3", "a", "b"], "a b"),
            (
                &["bench", "--precision", "1%", "-M=9", "-n", "x", "a"],
                "-n x a",
            ),
            (
                &["bench", "-w0", "--", "head", "-r", "3"],
                "-w0 -- head -r 3",
            ),
        ];
        for (given, rest) in cases {
            assert_eq!(
                longer(given),
                Some(format!("fathom bench --time 2m {rest}")),
                "{given:?}"
            );
        }
    }

    #[test]
    fn secrets_are_variables_of_the_shell() {
        let given = ["bench", "--env", "API_TOKEN=x MODE=y", "a ?key=1", "b"];
        assert_eq!(
            longer(&given).as_deref(),
            Some("fathom bench --time 2m --env \"'API_TOKEN=${API_TOKEN}' 'MODE=y'\" 'a ?key=1' b")
        );
    }

    #[test]
    fn what_a_terminal_would_show_otherwise_is_not_proposed() {
        assert_eq!(longer(&["bench", "printf \u{1b}[31m", "b"]), None);
        assert_eq!(longer(&["why", "a"]), None);
    }
}
