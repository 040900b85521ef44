//! Untrusted text that a page must show without interpreting it.

/// Markup that ends a cell and a script; if it runs, it sets `window.ran`.
pub const MARKUP: &str =
    "</td></script><script>window.ran=1</script><img src=x onerror=\"window.ran=1\">";

/// Returns names that could act as markup or attributes, reverse the line, or break the layout.
pub fn names() -> [String; 3] {
    [
        format!("{MARKUP}' onfocus='window.ran=1' autofocus tabindex=1 \u{1b}[31m\u{7}"),
        "a\u{202e}gnp.exe\u{2066}\u{200b}\u{ad}\u{a0}--\u{301}\u{301}\u{301}".to_owned(),
        "x".repeat(100_000),
    ]
}
