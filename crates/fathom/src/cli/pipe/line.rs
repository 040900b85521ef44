//! `A | B | C` in quotes, split into its stages.

/// Returns the stages of `text`, which are the parts between unquoted `|`.
///
/// # Errors
/// A message that says what to type, for an empty stage, and for any other shell syntax that belongs to the
/// whole pipeline or to a single stage.
pub(super) fn split(text: &str) -> Result<Vec<String>, String> {
    let mut stages = Vec::new();
    let mut stage = String::new();
    let mut quote = None;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (Some('"') | None, '\\') => {
                stage.push(c);
                stage.extend(characters.next());
                continue;
            }
            (None, '|') => {
                match characters.peek() {
                    Some('|') => return Err(needs_shell("||", text)),
                    Some('&') => {
                        return Err(format!(
                            "`|&` in {text:?} adds standard error to the pipe, which needs a shell: write the stage \
                             as sh -c 'COMMAND 2>&1'"
                        ));
                    }
                    _ => {}
                }
                stages.push(std::mem::take(&mut stage));
                continue;
            }
            _ => {}
        }
        stage.push(c);
    }
    if quote.is_some() {
        return Err(format!("a quote in {text:?} is not closed"));
    }
    stages.push(stage);
    let stages: Vec<String> = stages
        .iter()
        .map(|stage| stage.trim().to_string())
        .collect();
    match stages.iter().position(String::is_empty) {
        Some(_) if stages.len() == 1 => Err("the pipeline is empty; write 'A | B'".to_string()),
        Some(at) => Err(format!(
            "stage {} of {text:?} is empty; write 'A | B | C', with a command in each place",
            at + 1
        )),
        None => Ok(stages),
    }
}

/// Returns what to type for a stage that contains shell syntax; `None` if it contains none. `number` is the
/// number of the stage.
pub(super) fn shell_syntax(stage: &str, number: usize, last: bool) -> Option<String> {
    let mut quote = None;
    let mut word_start = true;
    let mut characters = stage.chars().peekable();
    let mut before = ' ';
    while let Some(c) = characters.next() {
        let found = match (quote, c) {
            (Some(open), c) if open == c => {
                quote = None;
                None
            }
            (Some('\''), _) => None,
            (Some('"') | None, '\\') => {
                characters.next();
                None
            }
            (_, '`') => Some("`".to_string()),
            (_, '$') => match characters.peek() {
                Some('(') => Some("$(".to_string()),
                Some('{' | 'A'..='Z' | 'a'..='z' | '_') => Some("$".to_string()),
                _ => None,
            },
            (Some(_), _) => None,
            (None, '\'' | '"') => {
                quote = Some(c);
                None
            }
            (None, '&') if characters.peek() == Some(&'&') => Some("&&".to_string()),
            (None, '>') if before.is_ascii_digit() => Some(format!("{before}>")),
            (None, '|' | '&' | ';' | '<' | '>') => Some(c.to_string()),
            (None, '(') if word_start => Some("(".to_string()),
            (None, '*' | '?') => Some(c.to_string()),
            (None, '~') if word_start => Some("~".to_string()),
            _ => None,
        };
        if let Some(found) = found {
            return Some(advice(&found, stage, number, last));
        }
        word_start = c.is_whitespace();
        before = c;
    }
    None
}

fn advice(found: &str, stage: &str, number: usize, last: bool) -> String {
    let instead = match found {
        "<" if number == 1 => "give the file with --input FILE, or ",
        ">" if last => "give the file with --output FILE, or ",
        _ => "",
    };
    let quoted = shell_words::quote(stage);
    format!(
        "`{found}` in stage {number}, {stage:?}, needs a shell: {instead}write the stage as sh -c {quoted}, or run \
         every stage through a shell with -S"
    )
}

fn needs_shell(found: &str, text: &str) -> String {
    format!(
        "`{found}` in {text:?} is not a pipe but a conditional, which needs a shell: write that stage as sh -c '...'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pipes_outside_quotes_divide() {
        assert_eq!(split("a | b|c").unwrap(), ["a", "b", "c"]);
        assert_eq!(split("grep 'a|b' f | wc").unwrap(), ["grep 'a|b' f", "wc"]);
        assert_eq!(
            split(r#"awk "{print \"|\"}" | cat"#).unwrap(),
            [r#"awk "{print \"|\"}""#, "cat"]
        );
        assert_eq!(split(r"echo \| | cat").unwrap(), [r"echo \|", "cat"]);
        assert_eq!(split("one").unwrap(), ["one"]);
    }

    #[test]
    fn what_is_no_pipe_is_refused() {
        assert!(split("a || b").unwrap_err().contains("sh -c"));
        assert!(split("a |& b").unwrap_err().contains("2>&1"));
        assert!(split("a | | b").unwrap_err().contains("stage 2"));
        assert!(split("a |").unwrap_err().contains("stage 2"));
        assert!(split("").unwrap_err().contains("'A | B'"));
        assert!(split("echo 'a | b").unwrap_err().contains("not closed"));
    }

    #[test]
    fn what_needs_a_shell_is_answered_with_the_words_to_type() {
        let of = |stage| shell_syntax(stage, 2, false).unwrap();
        assert!(of("a && b").contains("`&&` in stage 2"));
        assert!(of("a && b").contains("sh -c 'a && b'"));
        assert!(of("make 2>&1").contains("`2>`"));
        assert!(of("echo $(date)").contains("`$(`"));
        assert!(of("echo \"$HOME\"").contains("`$`"));
        assert!(of("cat *.c").contains("`*`"));
        assert!(
            shell_syntax("a > f", 3, true)
                .unwrap()
                .contains("--output FILE")
        );
        assert!(
            shell_syntax("a < f", 1, false)
                .unwrap()
                .contains("--input FILE")
        );
    }

    #[test]
    fn quotes_hide_what_would_need_a_shell() {
        for stage in [
            "grep -c 'a && b'",
            "awk '{ print $1 }'",
            r#"sed "s/a;b/&/""#,
            "head -c 100",
            "tr ' ' '\\n'",
            "echo 5$",
        ] {
            assert_eq!(shell_syntax(stage, 1, false), None, "{stage}");
        }
    }
}
