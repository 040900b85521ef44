//! Splits a quoted command into words as a shell would, but without a shell.

/// Splits `text`. Quotes and backslashes work as in a POSIX shell; nothing is expanded.
///
/// # Errors
/// A message that says what to type instead if the command is empty, a quote isn't closed, or the text
/// contains anything that only a shell can do. Many users have timed a command with `<` passed as an
/// argument, believing that they had redirected its input.
pub fn split(text: &str) -> Result<Vec<String>, String> {
    if let Some(found) = shell_syntax(text) {
        return Err(match found {
            '<' => {
                format!("`<` in {text:?} needs a shell: give the file with --input FILE, or use -S")
            }
            '>' => format!(
                "`>` in {text:?} needs a shell: give the file with --output FILE, or use -S"
            ),
            other => format!(
                "`{other}` in {text:?} needs a shell: use -S to run it through sh, or quote it to pass it to the \
                 program"
            ),
        });
    }
    match shell_words::split(text) {
        Ok(words) if words.is_empty() => Err("a command is empty".to_string()),
        Ok(words) => Ok(words),
        Err(_) => Err(format!("a quote in {text:?} is not closed")),
    }
}

/// Returns the first unquoted character that has a meaning in a shell but not here.
fn shell_syntax(text: &str) -> Option<char> {
    let mut quote = None;
    let mut characters = text.chars().peekable();
    let mut word_start = true;
    let mut first_word = true;
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some('\''), '\'') => quote = None,
            (Some('"'), '"') => quote = None,
            (Some('"') | None, '\\') => {
                characters.next();
            }
            (Some('"'), '`') => return Some('`'),
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '|' | '&' | ';' | '<' | '>' | '`') => return Some(c),
            (None, '(' | ')') if first_word || c == '(' && word_start => return Some(c),
            (None, '$')
                if matches!(
                    characters.peek(),
                    Some('(' | '{' | 'A'..='Z' | 'a'..='z' | '_')
                ) =>
            {
                return Some('$');
            }
            (None, '*' | '?') => return Some(c),
            (None, '~') if word_start => return Some('~'),
            _ => {}
        }
        if c.is_whitespace() && quote.is_none() {
            word_start = true;
            first_word = false;
        } else {
            word_start = false;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_would() {
        assert_eq!(
            split("gzip -k 'a b' c\\ d").unwrap(),
            ["gzip", "-k", "a b", "c d"]
        );
        assert_eq!(
            split(r#"awk '{ print $1 }' "x y""#).unwrap(),
            ["awk", "{ print $1 }", "x y"]
        );
        assert_eq!(split("grep 'a|b' f").unwrap(), ["grep", "a|b", "f"]);
        assert_eq!(
            split("test a=b --x={1}").unwrap(),
            ["test", "a=b", "--x={1}"]
        );
    }

    #[test]
    fn what_needs_a_shell_is_refused_with_the_way_out() {
        assert!(split("a < b").unwrap_err().contains("--input FILE"));
        assert!(split("a > b").unwrap_err().contains("--output FILE"));
        for text in [
            "a | b",
            "a && b",
            "a; b",
            "ls *.c",
            "echo $HOME",
            "cat ~/x",
            "echo `date`",
            "(cd x)",
        ] {
            assert!(split(text).unwrap_err().contains("use -S"), "{text}");
        }
    }

    #[test]
    fn empty_and_unclosed_commands_are_refused() {
        assert_eq!(split("  ").unwrap_err(), "a command is empty");
        assert!(split("echo 'a").unwrap_err().contains("not closed"));
    }
}
