//! What every page has: its head, its content security policy and its style.
//!
//! A page is one file that needs no network. The policy admits the elements that stand here, by
//! their hashes, and nothing else: a text from outside that became markup would still not run or
//! load.

mod policy;

use policy::hash;

const STYLE: &str = include_str!("page/style.css");

/// A page without a script, around the elements of `main`. `kind` is the verb that it is of, by
/// which the style knows it; `title` is escaped already.
pub(crate) fn page(kind: &str, title: &str, main: &str) -> String {
    let policy = format!("style-src '{}'", hash(STYLE));
    with_head(kind, title, &policy, &format!("<main>\n{main}</main>"))
}

/// A page that draws itself with `script`, its only one, from the block `data`.
pub(crate) fn drawn_by_script(kind: &str, title: &str, script: &str, data: &str) -> String {
    let policy = format!("script-src '{}'; style-src '{}'", hash(script), hash(STYLE));
    let body = format!(
        "<noscript><main>This page draws itself with a script of its own, which is switched off. \
         <code>fathom {kind}</code> on a terminal and <code>--json</code> say the same.</main></noscript>\n\
         <main id=\"main\"></main>\n<div id=\"tip\" role=\"presentation\" hidden></div>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>{script}</script>"
    );
    with_head(kind, title, &policy, &body)
}

fn with_head(kind: &str, title: &str, policy: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; {policy}; \
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body class=\"{kind}\">\n{body}\n</body>\n</html>\n"
    )
}
