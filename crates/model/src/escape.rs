//! Which characters of an untrusted text may reach a terminal.

use std::fmt::Write;

/// Makes every character visible that would otherwise move the cursor, change colors, reorder the line or
/// hide: control characters, ANSI escapes, bidirectional overrides, zero-width characters, and U+FFFD, which
/// replaces bytes that were not UTF-8.
///
/// Line feed, carriage return and tab become `\n`, `\r` and `\t`; all others become escapes such as `\u{1b}`.
/// The backslash itself stays, so the result is for display and can't be converted back.
pub fn escape(text: &str) -> String {
    escape_where(text, must_be_visible)
}

/// Formats another program's text as a part of a message: one line, escaped, with a limited length.
pub fn one_line(text: &str) -> String {
    const LONGEST: usize = 300;
    let mut characters = text.trim().chars();
    let head: String = characters.by_ref().take(LONGEST).collect();
    let end = if characters.next().is_some() {
        "…"
    } else {
        ""
    };
    escape(&head) + end
}

/// Like [`escape`], but also escapes everything that isn't ASCII: for terminals that can't show it.
pub fn escape_to_ascii(text: &str) -> String {
    escape_where(text, |character| {
        !character.is_ascii() || must_be_visible(character)
    })
}

/// The last filter before a terminal: allows a whole text with lines, tabs and Fathom's own colors, and makes
/// everything else visible as [`escape`] does. Untrusted text was already escaped when it was inserted, so
/// that columns align; this catches what was missed.
pub fn guarded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let colour = own_colour(rest);
        let taken = colour.unwrap_or(character.len_utf8());
        let (part, after) = rest.split_at(taken);
        rest = after;
        match character {
            '\n' | '\t' | '\u{a0}' => out.push(character),
            _ if colour.is_some() => out.push_str(part),
            _ => out.push_str(&escape(part)),
        }
    }
    out
}

/// Returns the length of the sequence at the beginning of the text if it sets a color or weight that Fathom
/// uses. Concealed, reversed and blinking text is not allowed.
fn own_colour(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("\u{1b}[")?;
    let end = inside.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    let is_own = |number: &str| {
        matches!(
            number.parse(),
            Ok(0_u8..=4 | 22 | 24 | 30..=37 | 39 | 90..=97)
        )
    };
    let numbers = &inside[..end];
    let is_short = numbers.is_empty() || numbers.split(';').take(5).all(is_own);
    (inside[end..].starts_with('m') && is_short && end <= 14).then_some(end + 3)
}

fn escape_where(text: &str, hide: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if hide(character) => {
                // Writing to a String can't fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out
}

/// Reports whether a character must be made visible: controls (Cc), format characters (Cf), separators that
/// look like a space or break the line, and code points that are not characters.
fn must_be_visible(character: char) -> bool {
    let code = u32::from(character);
    character.is_control()
        || matches!(code,
            0x00a0 // no-break space: looks like a space
            | 0x00ad // soft hyphen
            | 0x034f // combining grapheme joiner
            | 0x0600..=0x0605 | 0x061c | 0x06dd | 0x070f
            | 0x115f..=0x1160 // Hangul fillers: blank
            | 0x180b..=0x180f
            | 0x2000..=0x200f // spaces of other widths, zero width, left-to-right marks
            | 0x2028..=0x202f // line separators, bidirectional embeddings and overrides
            | 0x205f..=0x206f // invisible operators, bidirectional isolates
            | 0x3000 | 0x3164 | 0xfeff | 0xffa0
            | 0xfdd0..=0xfdef
            | 0xfff0..=0xfffd
            | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a
            | 0xe0000..=0xe0fff)
        || code & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_sequence_is_shown_and_not_sent() {
        assert_eq!(escape("a\u{1b}[31mred\u{7}"), "a\\u{1b}[31mred\\u{7}");
        assert_eq!(escape("\u{9b}2J"), "\\u{9b}2J");
    }

    #[test]
    fn a_bidirectional_override_is_shown() {
        assert_eq!(escape("a\u{202e}b\u{2066}c"), "a\\u{202e}b\\u{2066}c");
    }

    #[test]
    fn line_ends_and_tabs_have_their_usual_names() {
        assert_eq!(escape("a\r\n\tb"), "a\\r\\n\\tb");
    }

    #[test]
    fn what_was_not_utf8_is_named() {
        assert_eq!(escape(&String::from_utf8_lossy(b"a\xffb")), "a\\u{fffd}b");
    }

    #[test]
    fn what_a_server_says_is_one_line() {
        assert_eq!(
            one_line("no\nsuch \u{1b}[2Jtable\n"),
            "no\\nsuch \\u{1b}[2Jtable"
        );
        let long = one_line(&"x\n".repeat(1_000_000));
        assert!(long.len() < 1000 && long.ends_with('…'), "{long}");
    }

    #[test]
    fn only_own_colours_pass_the_last_door() {
        let own = "\u{1b}[1m\u{1b}[31merror\u{1b}[0m: a\tb\u{1b}[1;31m\n\u{1b}[m";
        assert_eq!(guarded(own), own);
        for (foreign, shown) in [
            ("\u{1b}[8mx", "\\u{1b}[8mx"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("\u{1b}[7m", "\\u{1b}[7m"),
            ("\u{1b}[38;5;1m", "\\u{1b}[38;5;1m"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\rb\0", "a\\rb\\u{0}"),
            ("\u{202e}x\u{1b}[", "\\u{202e}x\\u{1b}["),
        ] {
            assert_eq!(guarded(foreign), shown);
        }
    }

    #[test]
    fn ordinary_text_of_any_language_stays() {
        let text = "grep 'naïve|日本' \\d+ Привет 🚀";
        assert_eq!(escape(text), text);
    }

    #[test]
    fn ascii_terminals_get_ascii() {
        assert_eq!(escape_to_ascii("日 a"), "\\u{65e5} a");
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_controls_a_terminal_survives(text in ".*") {
            let escaped = escape(&text);
            assert!(!escaped.chars().any(must_be_visible), "{escaped:?}");
            let mut printed = guarded(&text);
            printed.retain(|c| !"\n\t\u{a0}".contains(c));
            assert!(!printed.replace("\u{1b}[", "").chars().any(must_be_visible));
            assert!(escape_to_ascii(&text).bytes().all(|b| (0x20..0x7f).contains(&b)));
        }
    }
}
