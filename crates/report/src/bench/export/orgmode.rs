//! A table in Emacs' Org mode.

use fathom_model::BenchRecord;

use super::markup::{Table, each_metric};
use crate::{TimeUnit, escape};

/// Formats the table of [`crate::markdown`] for Org mode.
pub fn orgmode(record: &BenchRecord, unit: Option<TimeUnit>) -> String {
    each_metric(record, unit, of_metric)
}

fn of_metric(table: &Table) -> String {
    let mut out = format!("| {} |\n|--+--+--+--+--+--|\n", table.header.join(" | "));
    for (name, cells) in &table.rows {
        out.push_str(&format!(
            "| {} | {} |\n",
            verbatim(&escape(name)),
            cells.join(" | ")
        ));
    }
    out
}

/// Formats `text` as verbatim or code; as plain text with entities if neither can contain it, which is the
/// only way to have a bar in a table cell.
fn verbatim(text: &str) -> String {
    let trimmed = text.trim() == text && !text.is_empty();
    for mark in ['=', '~'] {
        if trimmed && !text.contains(mark) && !text.contains('|') {
            return format!("{mark}{text}{mark}");
        }
    }
    text.chars().map(entity).collect()
}

fn entity(character: char) -> String {
    let name = match character {
        '|' => "vert",
        '*' => "ast",
        '_' => "under",
        '/' => "slash",
        '+' => "plus",
        '=' => "equal",
        '~' => "tilde",
        '^' => "asciicirc",
        '\\' => "backslash",
        '<' => "lt",
        '>' => "gt",
        '{' => "lbrace",
        '}' => "rbrace",
        '[' => "lbrack",
        ']' => "rbrack",
        '$' => "dollar",
        _ => return character.to_string(),
    };
    format!("\\{name}{{}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plainest_form_that_holds_the_text_is_taken() {
        assert_eq!(verbatim("sleep 1"), "=sleep 1=");
        assert_eq!(verbatim("A=1 sleep 1"), "~A=1 sleep 1~");
        assert_eq!(verbatim("a | b"), "a \\vert{} b");
    }
}
