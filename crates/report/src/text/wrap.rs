//! Prose broken into lines.

use super::fit::{columns, prefix};

/// A space that keeps a number and its unit on the same line. It becomes an ordinary space in the result.
/// [`super::escape`] removes it from untrusted text.
pub(crate) const JOIN: char = '\u{a0}';

/// The units that may follow a number.
const UNITS: &[&str] = &["%", "ns", "µs", "ms", "s", "B", "KiB", "MiB", "GiB", "TiB"];

/// Returns the text with its numbers joined to their units.
fn with_units_joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let unit = word.trim_end_matches([',', '.', ';', ':', ')']);
        let after_number = out.ends_with(|c: char| c.is_ascii_digit());
        if after_number && UNITS.contains(&unit) {
            out.push(JOIN);
        } else if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Breaks `text` at spaces into lines of at most `width` columns (at least 1). A number stays with its unit.
/// A word that is wider than a line is broken anywhere.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    let text = with_units_joined(text);
    for mut word in text.split(' ').filter(|word| !word.is_empty()) {
        if used > 0 && used + 1 + columns(word) <= width {
            line.push(' ');
            used += 1;
        } else if used > 0 {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        while columns(word) > width {
            let mut part = prefix(word, width);
            if part.is_empty() {
                // A wide character in a line of one column can't fit.
                part = &word[..word.chars().next().map_or(0, char::len_utf8)];
            }
            lines.push(part.to_owned());
            word = &word[part.len()..];
        }
        line.push_str(word);
        used += columns(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines.iter().map(|line| line.replace(JOIN, " ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_at_spaces_and_not_at_joins() {
        let text = format!("about 95{JOIN}% of all");
        assert_eq!(wrap(&text, 10), ["about 95 %", "of all"]);
        assert_eq!(wrap(&text, 8), ["about", "95 % of", "all"]);
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        let text = "for 1.34 s before, 100 % of the wall";
        assert_eq!(wrap(text, 22), ["for 1.34 s before,", "100 % of the wall"]);
        assert_eq!(wrap("took 12 ms.", 8), ["took", "12 ms."]);
    }

    #[test]
    fn a_long_word_is_broken() {
        assert_eq!(wrap("ab abcdefgh c", 4), ["ab", "abcd", "efgh", "c"]);
    }

    #[test]
    fn nothing_is_no_line() {
        assert!(wrap("", 10).is_empty());
    }

    proptest::proptest! {
        #[test]
        fn no_line_is_too_wide_and_no_word_is_lost(text in "[a-z ]{0,80}", width in 1usize..30) {
            let lines = wrap(&text, width);
            assert!(lines.iter().all(|line| columns(line) <= width));
            let letters = |s: &str| s.chars().filter(|c| *c != ' ').collect::<String>();
            assert_eq!(letters(&lines.concat()), letters(&text));
        }
    }
}
