//! Measures the width of a text, and shortens it.

use unicode_width::UnicodeWidthChar;

/// Returns the columns that `text` takes on a terminal, rounded up if terminals disagree.
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// Returns the width of a character. The emoji variation selector counts as one column, because it can widen
/// the character before it.
fn columns_of(character: char) -> usize {
    if character == '\u{fe0f}' {
        1
    } else {
        character.width().unwrap_or(0)
    }
}

/// Shortens `text` to at most `width` columns. The middle is replaced by `…`, since the beginning of a
/// command names the program and its end the input.
pub fn shorten(text: &str, width: usize) -> String {
    shorten_with(text, width, "…")
}

/// Like [`shorten`], with another omission mark.
pub(crate) fn shorten_with(text: &str, width: usize, mark: &str) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mark_width = columns(mark);
    if width <= mark_width {
        return prefix(mark, width).to_owned();
    }
    let room = width - mark_width;
    let head = prefix(text, room - room / 2);
    let tail = suffix(text, room / 2);
    format!("{head}{mark}{tail}")
}

/// Returns the longest beginning of `text` that fits into `width` columns.
pub(crate) fn prefix(text: &str, width: usize) -> &str {
    let mut used = 0;
    for (start, character) in text.char_indices() {
        used += columns_of(character);
        if used > width {
            return &text[..start];
        }
    }
    text
}

/// Returns the longest end of `text` that fits into `width` columns. It doesn't begin with a character that
/// would combine with the one before it.
fn suffix(text: &str, width: usize) -> &str {
    let mut used = 0;
    let mut start = text.len();
    for (at, character) in text.char_indices().rev() {
        used += columns_of(character);
        if used > width {
            break;
        }
        if columns_of(character) > 0 {
            start = at;
        }
    }
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn the_middle_gives_way() {
        assert_eq!(
            shorten("sort --parallel=8 input.txt", 15),
            "sort --…put.txt"
        );
        assert_eq!(shorten("sort", 4), "sort");
        assert_eq!(shorten("sort", 3), "s…t");
        assert_eq!(shorten("sort", 1), "…");
        assert_eq!(shorten("sort", 0), "");
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(columns("日本"), 4);
        assert_eq!(shorten("日本語日本語", 6), "日…語");
    }

    #[test]
    fn a_plain_mark_serves_plain_terminals() {
        assert_eq!(shorten_with("sort --parallel=8", 9, "..."), "sor...l=8");
    }

    proptest::proptest! {
        #[test]
        fn never_wider_than_asked(text in ".*", width in 0usize..40) {
            let short = shorten(&crate::escape(&text), width);
            assert!(short.width() <= width, "{short:?}");
            assert!(columns(&short) <= width);
        }

        #[test]
        fn the_width_is_never_underestimated(text in ".*") {
            assert!(text.width() <= columns(&text) + text.chars().filter(|c| c.is_control()).count());
        }
    }
}
