//! Escapes text for a CSV cell, so that no spreadsheet runs it as a formula and no terminal interprets it.

use std::borrow::Cow;
use std::fmt::Write;

/// Characters that begin a formula: spreadsheets treat a cell that begins with one of these as a formula,
/// which can run programs or send the sheet elsewhere.
const BEGINS_A_FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];
/// The prefix that makes spreadsheets treat the rest of a cell as text.
const IS_TEXT: char = '\'';

/// Escapes a text for a cell. A text that looks like a formula gets a `'` in front, and control characters
/// except line feed and tab become `\u{1b}`. Numbers stay numbers.
pub fn text_cell(text: &str) -> Cow<'_, str> {
    let is_obeyed = |one: char| one.is_control() && !matches!(one, '\n' | '\t');
    if !is_formula(text) && !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 1);
    if is_formula(text) {
        out.push(IS_TEXT);
    }
    for one in text.chars() {
        match is_obeyed(one) {
            // Writing to a String can't fail.
            true => _ = write!(out, "\\u{{{:x}}}", u32::from(one)),
            false => out.push(one),
        }
    }
    Cow::Owned(out)
}

/// Like [`text_cell`], quoted as RFC 4180 requires.
pub fn quoted_cell(text: &str) -> String {
    let text = text_cell(text);
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.into_owned(),
    }
}

/// Removes the mark that [`text_cell`] added to a text.
pub(crate) fn unmarked(cell: &str) -> &str {
    match cell.strip_prefix(IS_TEXT) {
        Some(text) if is_formula(text) => text,
        _ => cell,
    }
}

/// Returns whether a text needs the mark. This includes texts that seem to have one already, so that they are
/// read back unchanged.
fn is_formula(text: &str) -> bool {
    let is_number = || text.parse::<f64>().is_ok_and(f64::is_finite);
    let begins = text.trim_start_matches(IS_TEXT);
    begins.starts_with(BEGINS_A_FORMULA) && !is_number()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_and_escapes_are_text_and_numbers_stay_numbers() {
        for (text, cell) in [
            ("=HYPERLINK(\"x\")", "'=HYPERLINK(\"x\")"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-O2", "'-O2"),
            ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
            ("-inf", "'-inf"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\\u{d}=1"),
            ("'=1+1", "''=1+1"),
            ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
            ("\u{9b}2J", "\\u{9b}2J"),
            ("-5", "-5"),
            ("+0.25e-3", "+0.25e-3"),
            ("seq 1000 = a-b", "seq 1000 = a-b"),
            ("'quoted' word", "'quoted' word"),
            ("", ""),
        ] {
            assert_eq!(text_cell(text), cell, "{text:?}");
            if !text.contains(['\r', '\u{1b}', '\u{9b}']) {
                assert_eq!(unmarked(cell), text, "{cell:?}");
            }
        }
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!(quoted_cell("seq 1000"), "seq 1000");
        assert_eq!(quoted_cell("echo a,b"), "\"echo a,b\"");
        assert_eq!(quoted_cell("echo \"a\"\nls"), "\"echo \"\"a\"\"\nls\"");
        assert_eq!(quoted_cell("=a,b"), "\"'=a,b\"");
    }
}
