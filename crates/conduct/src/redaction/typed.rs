//! Formats commands that the user is advised to type; each secret in them is replaced by `$NAME`.

use fathom_model::secret;

/// The mark that surrounds the name of a variable until words are joined into a line. It doesn't occur in any
/// argument that Fathom writes.
const MARK: char = '\u{1}';

/// Returns the form that a named value takes in a word of a suggested command, to be passed to [`line`].
fn typed(name: &str, value: &str) -> String {
    secret::value(name, value, &variable)
}

fn variable(name: &str, _: &str) -> String {
    let letter = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_uppercase(),
        false => '_',
    };
    let name: String = name.chars().map(letter).collect();
    format!("{MARK}{name}{MARK}")
}

/// Formats an assignment as a shell accepts it before a command.
pub fn assignment(name: &str, value: &str) -> String {
    format!("{name}={}", quoted(&typed(name, value)))
}

/// Formats assignments as the value of `--env`.
pub fn typed_words<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let one = |(name, value): (&str, &str)| {
        let assignment = format!("{name}={}", typed(name, value));
        shell_words::quote(&assignment).into_owned()
    };
    let all: Vec<String> = variables.into_iter().map(one).collect();
    all.join(" ")
}

/// Formats a word that the user gave so that it can be typed again. The word is an assignment, a header or an
/// address, and may follow `--option=`.
pub fn typed_word(word: &str) -> String {
    if let Some((option, value)) = word.split_once('=')
        && option.starts_with("--")
    {
        return format!("{option}={}", typed_word(value));
    }
    let is_name = |name: &str| {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        !name.is_empty() && name.chars().all(is_letter)
    };
    if let Some((name, value)) = word.split_once(':')
        && is_name(name)
        && secret::is_secret(name)
    {
        let value = value.trim_start();
        return format!("{name}: {}", typed(name, value));
    }
    let assignments = shell_words::split(word).unwrap_or_default();
    let assignments: Option<Vec<(&str, &str)>> = assignments
        .iter()
        .map(|one| one.split_once('=').filter(|(name, _)| is_name(name)))
        .collect();
    match assignments {
        Some(all) if all.iter().any(|(name, _)| secret::is_secret(name)) => typed_words(all),
        _ => secret::text(word, &variable),
    }
}

/// Joins words into a shell command line.
pub fn line<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    let all: Vec<String> = words
        .into_iter()
        .map(|word| quoted(word.as_ref()))
        .collect();
    all.join(" ")
}

fn quoted(word: &str) -> String {
    if !word.contains(MARK) {
        return shell_words::quote(word).into_owned();
    }
    let mut out = String::from("\"");
    for (index, part) in word.split(MARK).enumerate() {
        if index % 2 == 1 {
            out.push_str(&format!("${{{part}}}"));
            continue;
        }
        for character in part.chars() {
            if "\\\"$`".contains(character) {
                out.push('\\');
            }
            out.push(character);
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(words: &[&str]) -> String {
        line(words.iter().map(|word| typed_word(word)))
    }

    #[test]
    fn a_secret_is_a_variable_of_the_shell() {
        for (typed, told) in [
            (
                &["--env", "A=1 TOKEN=x"][..],
                r#"--env "'A=1' 'TOKEN=${TOKEN}'""#,
            ),
            (&["--env=TOKEN=x"], r#""--env='TOKEN=${TOKEN}'""#),
            (
                &["-H", "X-Api-Key: $x\"y"],
                r#"-H "X-Api-Key: ${X_API_KEY}""#,
            ),
            (
                &["--url", "http://h/?token=a&n=$1"],
                r#"--url "http://h/?token=${TOKEN}&n=\$1""#,
            ),
            (&["-L", "n", "1,2"], "-L n 1,2"),
            (&["a=b c", "x: y"], "'a=b c' 'x: y'"),
        ] {
            assert_eq!(again(typed), told, "{typed:?}");
        }
    }

    #[test]
    fn a_shell_makes_of_it_what_was_typed() {
        let words = [
            "--env",
            "A='\"$`\\' TOKEN='s3 cr$et'",
            "-H",
            "Cookie: a=\"b\"",
        ];
        let script = format!("printf '%s\\n' {}", again(&words));
        let output = std::process::Command::new("sh")
            .args(["-c", &script])
            .env("TOKEN", "s3 cr$et")
            .env("COOKIE", "a=\"b\"")
            .output()
            .unwrap();
        let made = String::from_utf8(output.stdout).unwrap();
        let made: Vec<&str> = made.lines().collect();
        assert_eq!(made[2..], words[2..]);
        let split = |text| shell_words::split(text).unwrap();
        assert_eq!(split(made[1]), split(words[1]));
    }
}
