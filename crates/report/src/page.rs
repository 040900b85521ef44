//! The common parts of every page: head, content security policy, style and sections.
//!
//! A page is one file that needs no network. The policy allows the page's own elements, by their hashes, and
//! nothing else: even if untrusted text became markup, it could not run or load anything. Pictures are SVG
//! drawn here: the page contains no library.

mod bars;
mod data;
mod density;
mod distribution;
mod header;
mod ladder;
mod lines;
mod policy;
mod svg;

use policy::hash;

pub(crate) use crate::document::{Cell, Kind, Table};

pub(crate) use bars::{Bar, bars};
pub(crate) use data::{inert, saved};
pub(crate) use distribution::{Sample, distributions};
pub(crate) use header::Head;
pub use header::Origin;
pub(crate) use ladder::{Rungs, ladder, ladder_axis};
pub(crate) use lines::{BOTTOM, Lines, Mark, Point, Series, TOP, lines};
pub(crate) use svg::{LEFT, RIGHT, Svg, colour, figure, legend};

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/page.js");

/// Formats a page: its header, and `parts` below it.
pub(crate) fn page(head: &Head, parts: &str) -> String {
    let main = format!(
        "<main>\n{}{parts}</main>\n<script>{SCRIPT}</script>",
        head.html()
    );
    document(head, SCRIPT, &main, Reach::Nothing)
}

/// What a page may load over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Nothing: the page is a file.
    Nothing,
    /// Only resources of the page's own server.
    Own,
}

/// Formats a page whose pictures are drawn by `script` from the block `data`, between `above` and `below`.
/// Everything else is readable without the script.
pub(crate) fn with_data(
    head: &Head,
    (above, below): (&str, &str),
    script: &str,
    data: &str,
    reach: Reach,
) -> String {
    let body = format!(
        "<main>\n{}{above}<div id=\"part\"></div>\n{below}</main>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>{script}</script>",
        head.html()
    );
    document(head, script, &body, reach)
}

/// Formats a page whose middle part is drawn by `script` from the block `data`, between `above` and `below`.
/// `what` describes the drawing.
pub(crate) fn drawn_by_script(
    head: &Head,
    (above, below): (&str, &str),
    what: &str,
    script: &str,
    data: &str,
) -> String {
    let body = format!(
        "<main>\n{}{above}<noscript><p class=\"strip\">{what} draw themselves with a script of the page's own, \
         which is switched off. <code>fathom {}</code> on a terminal and <code>--json</code> say the same.</p></noscript>\n\
         <div id=\"drawn\"></div>\n{below}</main>\n<div id=\"tip\" role=\"presentation\" hidden></div>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>{script}</script>",
        head.html(),
        head.verb
    );
    document(head, script, &body, Reach::Nothing)
}

/// Formats a section with its heading, which must be Fathom's own text or escaped. Empty if the content is
/// empty.
pub(crate) fn section(heading: &str, content: &str) -> String {
    match content {
        "" => String::new(),
        content => format!(
            "<section>\n<h2>{}</h2>\n{content}</section>\n",
            crate::text::words(heading)
        ),
    }
}

fn document(head: &Head, script: &str, body: &str, reach: Reach) -> String {
    let connect = match reach {
        Reach::Nothing => "",
        Reach::Own => "connect-src 'self'; ",
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '{}'; style-src '{}'; {connect}\
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body class=\"{}\">\n{body}\n</body>\n</html>\n",
        hash(script),
        hash(STYLE),
        head.window_title(),
        head.verb
    )
}
