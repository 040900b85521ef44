//! A table in Markdown (GitHub's tables).

use fathom_model::BenchRecord;

use super::markup::{Table, each_metric};
use crate::{TimeUnit, escape};

/// Formats the benchmarks as a Markdown table of wall times: median with its interval, range, and the ratio
/// to the reference; for several metrics, a table for each. `unit` is used for all times; `None` selects the
/// one that fits the fastest benchmark.
pub fn markdown(record: &BenchRecord, unit: Option<TimeUnit>) -> String {
    each_metric(record, unit, of_metric)
}

fn of_metric(table: &Table) -> String {
    let mut out = format!(
        "| {} |\n|:---|---:|---:|---:|---:|---:|\n",
        table.header.join(" | ")
    );
    for (name, cells) in &table.rows {
        out.push_str(&format!(
            "| {} | {} |\n",
            code(&escape(name)),
            cells.join(" | ")
        ));
    }
    out
}

/// Formats `text` as code in a table cell. A code span is more readable; if its rules conflict with those of
/// tables (a backtick, or a backslash before a bar), an HTML element with character references is used
/// instead.
pub(crate) fn code(text: &str) -> String {
    let plain = !text.contains('`') && !text.contains("\\|") && !text.ends_with('\\');
    if plain && !text.trim().is_empty() {
        return format!("`{}`", text.replace('|', "\\|"));
    }
    let mut out = String::from("<code>");
    for character in text.chars() {
        if character.is_ascii_punctuation() && !"/.,-".contains(character) {
            out.push_str(&format!("&#{};", u32::from(character)));
        } else {
            out.push(character);
        }
    }
    out + "</code>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_does_not_end_the_cell() {
        assert_eq!(code("a | b"), "`a \\| b`");
    }

    #[test]
    fn a_backtick_does_not_end_the_code() {
        assert_eq!(code("echo `id`"), "<code>echo &#96;id&#96;</code>");
    }

    #[test]
    fn markup_in_a_name_is_shown_as_it_is() {
        assert_eq!(code("<b>*x*</b>"), "`<b>*x*</b>`");
        assert_eq!(code("`<b>"), "<code>&#96;&#60;b&#62;</code>");
        assert_eq!(code("a\\|b"), "<code>a&#92;&#124;b</code>");
    }
}
