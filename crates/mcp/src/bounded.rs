//! Texts from outside, made safe and short.

use fathom_model::escape;

/// Maximum number of bytes in an answer's text.
pub(crate) const TEXT: usize = 2_000;
/// Maximum number of characters in a name: a command, file or function.
const NAME: usize = 120;
/// Maximum number of characters in a sentence.
const SENTENCE: usize = 300;

/// Returns the escaped text, truncated to this many characters.
fn cut(text: &str, most: usize) -> String {
    let escaped = escape(text.trim());
    match escaped.char_indices().nth(most) {
        None => escaped,
        Some((at, _)) => format!("{}…", &escaped[..at]),
    }
}

/// Returns a name from outside in quotes, as data.
pub(crate) fn name(text: &str) -> String {
    format!("\"{}\"", bare_name(text).replace('"', "'"))
}

/// Returns a name for the structure, where it is a separate value.
pub(crate) fn bare_name(text: &str) -> String {
    cut(text, NAME)
}

/// Returns one of Fathom's sentences, which may contain names from outside.
pub(crate) fn sentence(text: &str) -> String {
    cut(text, SENTENCE)
}

/// Returns the end of a program's output as data, each line marked.
pub(crate) fn end_of(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let shown = &all[all.len().saturating_sub(lines)..];
    let marked = shown
        .iter()
        .map(|line| format!("  | {}\n", cut(line, NAME)));
    marked.collect()
}

/// Joins lines up to [`TEXT`] bytes, and reports omitted ones.
pub(crate) fn text(lines: &[String], last: &str) -> String {
    let mut out = String::new();
    let end = cut(last, SENTENCE);
    let room = TEXT - end.len() - 40;
    for (at, line) in lines.iter().enumerate() {
        if out.len() + line.len() + 1 > room {
            // The first line is the answer: the part that fits is kept.
            if at == 0 {
                let mut to = room;
                while !line.is_char_boundary(to) {
                    to -= 1;
                }
                out = format!("{}…\n", &line[..to]);
            }
            out.push_str("(more in the structured content)\n");
            break;
        }
        out.push_str(line);
        out.push('\n');
    }
    if !end.is_empty() {
        out.push_str("Next: ");
        out.push_str(&end);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_longer_than_two_kilobytes_and_the_next_step_stays() {
        let long = ["ä".repeat(3_000), "b".repeat(900), "c".repeat(900)];
        for lines in [&long[..], &long[1..], &[]] {
            let out = text(lines, &"ö\u{1b}".repeat(500));
            assert!(out.len() <= TEXT + 48, "{}", out.len());
            assert!(out.contains("Next: ö"), "{out}");
        }
    }

    #[test]
    fn what_is_from_outside_is_one_quoted_line_without_escapes() {
        assert_eq!(name("a\n\u{1b}[31m\"b"), "\"a\\n\\u{1b}[31m'b\"");
        assert_eq!(end_of("x\n\ny\u{7}\n", 1), "  | y\\u{7}\n");
    }
}
