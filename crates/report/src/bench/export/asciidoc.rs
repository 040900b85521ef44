//! A table in AsciiDoc.

use fathom_model::BenchRecord;

use super::markup::{Table, each_metric};
use crate::{TimeUnit, escape};

/// Formats the table of [`crate::markdown`] as AsciiDoc.
pub fn asciidoc(record: &BenchRecord, unit: Option<TimeUnit>) -> String {
    each_metric(record, unit, of_metric)
}

fn of_metric(table: &Table) -> String {
    let mut out = String::from("[cols=\"<,>,>,>,>,>\"]\n|===\n");
    for title in &table.header {
        out.push_str(&format!("| {title}\n"));
    }
    for (name, cells) in &table.rows {
        out.push_str(&format!("\n| `{}`\n", literal(&escape(name))));
        for cell in cells {
            out.push_str(&format!("| {cell}\n"));
        }
    }
    out + "|===\n"
}

/// Replaces everything that AsciiDoc could treat as markup (bars, formatting marks, links, attributes, and
/// the pairs that it turns into typographic characters) with character references.
fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for character in text.chars() {
        let repeated = character == before && "-.".contains(character);
        let harmless = "/.,-=%!".contains(character) && !repeated;
        if character.is_ascii_punctuation() && !harmless {
            out.push_str(&format!("&#{};", u32::from(character)));
        } else {
            out.push(character);
        }
        before = character;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_commands_stay_readable() {
        assert_eq!(
            literal("grep -c needle data/hay.txt"),
            "grep -c needle data/hay.txt"
        );
    }

    #[test]
    fn markup_is_shown_as_it_is() {
        assert_eq!(literal("a | *b* `c`"), "a &#124; &#42;b&#42; &#96;c&#96;");
        assert_eq!(literal("x --y {z}"), "x -&#45;y &#123;z&#125;");
    }
}
