//! Text from outside that a page must show and not obey.

/// Markup that ends a cell and a script; what it runs sets `window.ran`.
pub const MARKUP: &str =
    "</td></script><script>window.ran=1</script><img src=x onerror=\"window.ran=1\">";

/// Names that would be markup or attributes, turn the line around, or break the layout.
pub fn names() -> [String; 3] {
    [
        format!("{MARKUP}' onfocus='window.ran=1' autofocus tabindex=1 \u{1b}[31m\u{7}"),
        "a\u{202e}gnp.exe\u{2066}\u{200b}\u{ad}\u{a0}--\u{301}\u{301}\u{301}".to_owned(),
        "x".repeat(100_000),
    ]
}
