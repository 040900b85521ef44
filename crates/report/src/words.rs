//! The meanings of words used in the output: the entries of `docs/words.md` and `docs/findings.md`.

use fathom_model::FindingId;

use crate::text::wrap;

const WORDS: &str = include_str!("../../../docs/words.md");
const FINDINGS: &str = include_str!("../../../docs/findings.md");

/// A word with its meaning.
struct Entry<'a> {
    /// The heading above the word.
    group: &'a str,
    /// The word, followed by its other forms.
    names: Vec<String>,
    /// The meaning of the word, in Markdown.
    text: String,
}

/// Returns all entries of the page, in its order, followed by the findings.
fn entries() -> Vec<Entry<'static>> {
    let mut all: Vec<Entry<'static>> = Vec::new();
    let mut group = "";
    for line in WORDS.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            group = heading;
        } else if let Some((names, text)) = line
            .strip_prefix("- **")
            .and_then(|line| line.split_once(": "))
        {
            let names = names.replace("**", "");
            all.push(Entry {
                group,
                names: names.split(", ").map(str::to_owned).collect(),
                text: text.to_owned(),
            });
        } else if let (Some(more), Some(entry)) = (line.strip_prefix("  "), all.last_mut()) {
            entry.text.push(' ');
            entry.text.push_str(more);
        }
    }
    all.extend(FindingId::ALL.iter().map(|id| Entry {
        group: "Findings of why",
        names: vec![id.to_string()],
        text: section(*id).unwrap_or_default().to_owned(),
    }));
    all
}

/// Returns the section of `docs/findings.md` about a finding.
fn section(id: FindingId) -> Option<&'static str> {
    let (_, rest) = FINDINGS.split_once(&format!("\n### `{id}`\n"))?;
    let end = rest.find("\n## ").unwrap_or(rest.len());
    let end = rest.find("\n### ").map_or(end, |next| next.min(end));
    Some(rest[..end].trim())
}

/// Normalizes a word as typed: `run-queue wait` is `run_queue_wait`.
fn plain(word: &str) -> String {
    word.trim().to_lowercase().replace(['-', '_'], " ")
}

/// Returns the entries of a word; `None` if it has none.
pub fn explain_word(word: &str, width: usize) -> Option<String> {
    let all = entries();
    let found: Vec<String> = meant(&all, word)
        .into_iter()
        .map(|entry| {
            let names = entry.names.join(", ");
            format!(
                "{names}  ({})\n{}",
                entry.group,
                paragraphs(&entry.text, width)
            )
        })
        .collect();
    (!found.is_empty()).then(|| found.join("\n"))
}

/// Returns the entries of a word. For a printed phrase such as `too few rounds (6 of 8)`, returns the entries
/// with the longest name that occurs in it.
fn meant<'e>(all: &'e [Entry<'static>], word: &str) -> Vec<&'e Entry<'static>> {
    let wanted = plain(word);
    let is_it = |entry: &&Entry<'_>| entry.names.iter().any(|name| plain(name) == wanted);
    let exact: Vec<&Entry<'_>> = all.iter().filter(is_it).collect();
    let phrase = format!(" {} ", parts(&wanted).join(" "));
    // A single word must match as a whole and as it is spelled.
    if !exact.is_empty() || !phrase.trim().contains(' ') {
        return exact;
    }
    let length = |entry: &Entry<'_>| {
        let names = entry.names.iter().map(|name| parts(&plain(name)).join(" "));
        let within = names.filter(|name| phrase.contains(&format!(" {name} ")));
        within.map(|name| name.len()).max().unwrap_or(0)
    };
    let longest = all.iter().map(length).max().unwrap_or(0);
    let is_longest = |entry: &&Entry<'_>| longest > 0 && length(entry) == longest;
    all.iter().filter(is_longest).collect()
}

/// Returns the words of a phrase, plurals in the singular, without punctuation.
fn parts(phrase: &str) -> Vec<&str> {
    let is_mark = |c: char| !c.is_alphanumeric() && c != '.' && c != '\'';
    let words = phrase.split(is_mark).map(|word| word.trim_matches('.'));
    words
        .filter(|word| !word.is_empty())
        .map(|word| match word.len() > 4 && !word.ends_with("ss") {
            true => word.trim_end_matches('s'),
            false => word,
        })
        .collect()
}

/// Returns all words, each entry by its first name.
pub fn known_words() -> Vec<String> {
    let first = |entry: Entry<'static>| entry.names.into_iter().next();
    entries().into_iter().filter_map(first).collect()
}

/// Returns the words that were probably meant, most similar first, at most three.
pub fn similar_words(word: &str) -> Vec<String> {
    const ENOUGH: f64 = 0.7;
    let wanted = plain(word);
    let mut all: Vec<(f64, String)> = Vec::new();
    for name in entries().into_iter().flat_map(|entry| entry.names) {
        let other = plain(&name);
        let alike = match wanted.len() > 2 && other.contains(&wanted) {
            true => ENOUGH.max(strsim::normalized_damerau_levenshtein(&wanted, &other)),
            false => strsim::normalized_damerau_levenshtein(&wanted, &other),
        };
        if alike >= ENOUGH && !all.iter().any(|(_, known)| *known == name) {
            all.push((alike, name));
        }
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Lists all words by group.
pub fn all_words(width: usize) -> String {
    let mut text = String::new();
    let all = entries();
    for group in all.chunk_by(|a, b| a.group == b.group) {
        let words: Vec<&str> = group.iter().map(|entry| entry.names[0].as_str()).collect();
        text.push_str(group[0].group);
        text.push('\n');
        for line in wrap(&words.join(", "), width.saturating_sub(2)) {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text
}

/// Formats Markdown for a terminal: paragraphs and lists, wrapped, without markup.
fn paragraphs(markdown: &str, width: usize) -> String {
    let mut blocks: Vec<String> = Vec::new();
    let mut begins = true;
    for line in markdown.lines() {
        if line.trim().is_empty() {
            begins = true;
            continue;
        }
        match blocks.last_mut() {
            Some(block) if !begins && !line.trim_start().starts_with("- ") => {
                block.push(' ');
                block.push_str(line.trim_start());
            }
            _ => blocks.push(line.to_owned()),
        }
        begins = false;
    }
    let mut text = String::new();
    for block in blocks {
        let block = block.replace("**", "").replace('`', "");
        let inner = block.trim_start();
        let indent = 2 + block.len() - inner.len();
        let hang = match inner.starts_with("- ") {
            true => "  ",
            false => "",
        };
        let room = width.saturating_sub(indent + hang.len());
        for (index, line) in wrap(inner, room).iter().enumerate() {
            let hang = if index == 0 { "" } else { hang };
            text.push_str(&format!("{:indent$}{hang}{line}\n", ""));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use fathom_model::{
        CheckState, ClaimVerdict, Confidence, Fitness, Layer, Metric, PipeState, ProbeVerdict,
        StartupMetric, StartupPhase, StopReason, TimeCategory, Verdict,
    };
    use serde::Serialize;

    use super::*;

    /// Returns the names of these values in records.
    fn words<T: Serialize>(values: impl IntoIterator<Item = T>) -> Vec<String> {
        let word = |value| match serde_json::to_value(value) {
            Ok(serde_json::Value::String(word)) => word,
            other => panic!("{other:?} is not a word"),
        };
        values.into_iter().map(word).collect()
    }

    #[test]
    fn each_word_of_a_record_has_an_entry() {
        let verdicts = [
            Verdict::Faster,
            Verdict::Slower,
            Verdict::Same,
            Verdict::Undecided,
        ];
        let stops = [
            StopReason::RunCount,
            StopReason::Decided,
            StopReason::Precise,
            StopReason::TimeBudget,
            StopReason::MaximumRounds,
            StopReason::Interrupted,
            StopReason::Failed,
        ];
        let states = [
            PipeState::Running,
            PipeState::WaitingForInput,
            PipeState::WaitingForReader,
            PipeState::OtherWait,
            PipeState::NoCpu,
        ];
        let phases = [
            StartupPhase::Wrappers,
            StartupPhase::Exec,
            StartupPhase::Loader,
            StartupPhase::Entry,
            StartupPhase::RuntimeAndMain,
            StartupPhase::LoaderToMain,
            StartupPhase::FirstWrite,
            StartupPhase::Exit,
            StartupPhase::WaitingForCpu,
        ];
        let figures = [
            ProbeVerdict::Ok,
            ProbeVerdict::Disturbed,
            ProbeVerdict::NoAnswer,
            ProbeVerdict::NotMeasurable,
        ];
        let checks = [
            CheckState::Ok,
            CheckState::Unknown,
            CheckState::Warning,
            CheckState::Bad,
        ];
        let all = [
            words(FindingId::ALL.iter().copied()),
            words(Metric::ALL),
            words(TimeCategory::ALL),
            words(verdicts),
            words(stops),
            words(ClaimVerdict::ALL),
            words([Layer::Arithmetic, Layer::Mechanism, Layer::Size]),
            words([Confidence::Certain, Confidence::Likely]),
            words([StartupMetric::FirstOutput, StartupMetric::Exit]),
            words(states),
            words(phases),
            words(figures),
            words(checks),
            words([Fitness::Quiet, Fitness::Usable, Fitness::Unfit]),
            words(["kernel", "perf", "sample", "ptrace", "accounts"]),
        ];
        for word in all.into_iter().flatten() {
            let entry = explain_word(&word, 80);
            assert!(
                entry.is_some_and(|text| text.lines().count() > 1),
                "docs/words.md lacks {word}"
            );
        }
    }

    #[test]
    fn a_word_is_found_however_it_is_typed_and_fits_the_width() {
        let expected = "wall, wall_ns  (Metrics)\n  Time from just before the process is created to its exit as\n  \
                        the parent sees it.\n";
        assert_eq!(explain_word("Wall", 64).as_deref(), Some(expected));
        assert_eq!(
            explain_word("run-queue wait", 80),
            explain_word("run_queue_wait", 80)
        );
        let finding = explain_word("unbuffered-output", 60).expect("it has a section");
        assert!(
            finding.contains("\n  - Change. Write through a buffer; flush at the end.\n"),
            "{finding}"
        );
        assert!(
            finding.lines().all(|line| line.chars().count() <= 60),
            "{finding}"
        );
        assert!(!finding.contains("line-buffered-output\n"), "{finding}");
        assert_eq!(explain_word("frobnicate", 80), None);
    }

    #[test]
    fn near_misses_are_answered_with_what_was_meant() {
        assert_eq!(
            similar_words("unbufered-output")
                .first()
                .map(String::as_str),
            Some("unbuffered-output")
        );
        assert_eq!(
            similar_words("wal").first().map(String::as_str),
            Some("wall")
        );
        assert_eq!(similar_words("frobnicate"), Vec::<String>::new());
    }

    #[test]
    fn all_words_are_listed_once_in_their_group() {
        let list = all_words(80);
        assert!(list.starts_with("Measuring\n  benchmark, run, "), "{list}");
        assert!(
            list.lines().all(|line| line.chars().count() <= 80),
            "{list}"
        );
        let mut names: Vec<String> = entries()
            .into_iter()
            .map(|entry| format!("{}: {}", entry.group, entry.names[0]))
            .collect();
        let before = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), before);
    }
}
