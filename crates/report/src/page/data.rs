//! Data in a page: for its script, and for users who want the numbers.

use serde::Serialize;

use crate::format_bytes;
use crate::text::html;

/// Returns JSON in which nothing can end a script element, begin a comment or break a line: these characters
/// only occur inside strings, where they can be written as escapes.
pub(crate) fn inert(data: &impl Serialize) -> String {
    // Strings, numbers and lists can always be serialized as JSON.
    let json = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
    let mut out = String::with_capacity(json.len() + json.len() / 50);
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => out.push(character),
        }
    }
    out
}

/// Embeds a complete record in the page, with a button that saves it as `file`. The button needs a script, so
/// the script shows it.
pub(crate) fn saved(file: &str, record: &impl Serialize) -> String {
    let json = inert(record);
    format!(
        "<p class=\"tools\"><button type=\"button\" class=\"plain\" data-save=\"{}\" hidden>Save the record as JSON ({})</button></p>\n\
         <script type=\"application/json\" id=\"record\">{json}</script>\n",
        html(file),
        format_bytes(json.len() as f64)
    )
}

#[cfg(test)]
mod tests {
    use super::inert;

    #[test]
    fn nothing_in_a_string_ends_the_element_and_the_value_stays() {
        let evil = "</script><!--&\u{2028}";
        let json = inert(&evil);
        assert!(!json.contains(['<', '>', '&', '\u{2028}']), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).expect("JSON"), evil);
    }
}
