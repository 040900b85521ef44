//! Text in a page.

use super::wrap::JOIN;
use super::{escape, shorten};

/// Returns untrusted text as content or attribute value of an element: [`escape`]d, and without characters
/// that HTML would interpret.
pub(crate) fn html(from_outside: &str) -> String {
    let mut out = String::with_capacity(from_outside.len());
    for character in escape(from_outside).chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// Returns a sentence of Fathom in which untrusted text was already [`escape`]d: like [`html`], but numbers
/// stay joined to their units.
pub(crate) fn words(own: &str) -> String {
    let parts: Vec<String> = own.split(JOIN).map(html).collect();
    parts.join("&nbsp;")
}

/// Like [`html`], for a name or a path. It may only be broken after a separator.
pub(crate) fn name(from_outside: &str) -> String {
    html(from_outside).replace('/', "/<wbr>")
}

/// Returns untrusted text without control characters, in at most `width` columns. Zero-width characters count
/// too, since otherwise they could fill a page.
pub(crate) fn bounded(text: &str, width: usize) -> String {
    let head: String = text.chars().take(width.saturating_mul(2) + 2).collect();
    if head.len() < text.len() {
        // The end of a long path is more informative than its middle.
        let tail: Vec<char> = text.chars().rev().take(width).collect();
        let tail: String = tail.into_iter().rev().collect();
        return shorten(&escape(&format!("{head}{tail}")), width);
    }
    shorten(&escape(text), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_controls_become_visible_text() {
        assert_eq!(
            html("<b a=\"'\">&\u{1b}"),
            "&lt;b a=&quot;&#39;&quot;&gt;&amp;\\u{1b}"
        );
    }

    #[test]
    fn only_own_words_keep_their_numbers_joined() {
        assert_eq!(words("2\u{a0}% <"), "2&nbsp;% &lt;");
        assert_eq!(html("2\u{a0}%"), "2\\u{a0}%");
    }

    #[test]
    fn a_long_text_keeps_its_ends() {
        assert_eq!(bounded(&"/srv/data/".repeat(10_000), 9), "/srv…ata/");
        assert_eq!(bounded("a\u{202e}b", 20), "a\\u{202e}b");
    }
}
