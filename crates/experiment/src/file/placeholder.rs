//! `{name}` in commands and paths.

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Literal text, in which doubled braces have been made single.
    Text(String),
    /// A name in braces, and the byte offset of its brace.
    Name(String, usize),
}

/// Splits a text into its pieces.
///
/// # Errors
/// The byte offset and a message, for a brace that is neither doubled nor part of a placeholder.
pub fn pieces(text: &str) -> Result<Vec<Piece>, (usize, String)> {
    let mut all = Vec::new();
    let mut plain = String::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find(['{', '}']) {
        let brace = at + offset;
        plain.push_str(&text[at..brace]);
        let rest = &text[brace..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            plain.push_str(&rest[..1]);
            at = brace + 2;
            continue;
        }
        if rest.starts_with('}') {
            return Err((brace, "a `}` without its `{`".to_string()));
        }
        let Some(end) = rest.find('}') else {
            return Err((brace, "a `{` is not closed".to_string()));
        };
        let name = &rest[1..end];
        let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let legal = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if !starts || !name.chars().all(legal) {
            return Err((brace, format!("`{{{name}}}` is not a placeholder")));
        }
        if !plain.is_empty() {
            all.push(Piece::Text(std::mem::take(&mut plain)));
        }
        all.push(Piece::Name(name.to_string(), brace));
        at = brace + end + 1;
    }
    plain.push_str(&text[at..]);
    if !plain.is_empty() {
        all.push(Piece::Text(plain));
    }
    Ok(all)
}

/// Returns the names in a text; empty if it can't be split.
pub fn names(text: &str) -> Vec<String> {
    pieces(text)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Name(name, _) => Some(name),
            Piece::Text(_) => None,
        })
        .collect()
}

/// Replaces every name in the text by its `value`.
///
/// # Errors
/// A message for a name without a value or a misplaced brace. A checked file has neither.
pub fn fill(text: &str, value: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut filled = String::new();
    for piece in pieces(text).map_err(|(_, message)| message)? {
        match piece {
            Piece::Text(plain) => filled.push_str(&plain),
            Piece::Name(name, _) => match value(&name) {
                Some(value) => filled.push_str(&value),
                None => return Err(format!("`{{{name}}}` has no value here")),
            },
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_doubled_braces_are_braces() {
        assert_eq!(names("{work}/a {inputs.x} {{b}}"), ["work", "inputs.x"]);
        let value = |name: &str| (name == "work").then(|| "/w {x}".to_string());
        assert_eq!(fill("{work}/{{a}}", &value).unwrap(), "/w {x}/{a}");
        assert!(fill("{other}", &value).unwrap_err().contains("no value"));
    }

    #[test]
    fn a_brace_out_of_place_is_an_error_with_its_place() {
        assert_eq!(pieces("ab { print }").unwrap_err().0, 3);
        assert_eq!(pieces("a } b").unwrap_err().0, 2);
        assert_eq!(pieces("a {b").unwrap_err().0, 2);
    }
}
