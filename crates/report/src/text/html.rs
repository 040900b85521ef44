//! Text from outside in a page.

use super::escape;

/// Text as content or attribute value of an element: [`escape`]d, and without a character that HTML
/// could take for its own.
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

#[cfg(test)]
mod tests {
    use super::html;

    #[test]
    fn markup_and_controls_become_visible_text() {
        assert_eq!(
            html("<b a=\"'\">&\u{1b}"),
            "&lt;b a=&quot;&#39;&quot;&gt;&amp;\\u{1b}"
        );
    }
}
