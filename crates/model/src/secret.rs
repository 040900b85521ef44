//! Which values are secrets, by their names, and texts without them.
//!
//! A secret is the value of a name that has one of these words as a word of its own, whatever its case:
//! `key`, `token`, `auth`, `session` and those of `WORDS`; or whose words end with one of `ENDS`
//! (`PGPASSWORD`, `clientSecret`). Words end at a character that is not a letter or digit, and at capitals
//! after small letters: `apiKey` and `X-Api-Key` have the word `key`, `MONKEY`, `AUTHOR` and
//! `TOKENIZERS` have none. Also the password of an address, `scheme://user:password@host`.

/// Words that make a name that of a secret.
const WORDS: [&str; 21] = [
    "auth",
    "authentication",
    "authorization",
    "bearer",
    "cookies",
    "cred",
    "credentials",
    "creds",
    "jwt",
    "key",
    "oauth",
    "pass",
    "passwords",
    "phpsessid",
    "jsessionid",
    "secrets",
    "session",
    "sessionid",
    "sid",
    "sig",
    "signature",
];

/// Ends of words that do so: these are in no other word.
const ENDS: [&str; 11] = [
    "accesskey",
    "apikey",
    "authkey",
    "cookie",
    "credential",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "token",
];

/// Whether the value of this name is a secret: of a variable, a header or a parameter of a query.
pub fn is_secret(name: &str) -> bool {
    let words = words(name);
    words.iter().any(|word| {
        let plain = word.trim_end_matches(|c: char| c.is_ascii_digit());
        WORDS.contains(&plain)
            || ENDS.iter().any(|end| plain.ends_with(end))
            // `MYSQL_PWD` is a password; `PWD` and `OLDPWD` are folders.
            || (plain == "pwd" && words.len() > 1)
    })
}

/// The words of a name, in small letters.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_is_small = false;
    for character in name.chars() {
        if !character.is_alphanumeric() || (before_is_small && character.is_uppercase()) {
            words.push(String::new());
        }
        before_is_small = character.is_lowercase();
        if let Some(last) = words.last_mut()
            && character.is_alphanumeric()
        {
            last.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What stands for a secret: from its name and itself.
pub type Mark<'m> = &'m dyn Fn(&str, &str) -> String;

/// The value of a name without its secrets: none of it where the name says so, else as [`text`].
pub fn value(name: &str, value: &str, mark: Mark<'_>) -> String {
    match is_secret(name) && !value.is_empty() {
        true => mark(name, value),
        false => text(value, mark),
    }
}

/// A text without the passwords of its addresses, and without the secrets of their queries and
/// fragments.
pub fn text(text: &str, mark: Mark<'_>) -> String {
    parameters(&passwords(text, mark), mark)
}

/// The text with `…` for each secret: for messages, which nobody compares.
pub fn hidden(shown: &str) -> String {
    text(shown, &|_, _| "…".to_owned())
}

/// Where an address ends in a longer text.
fn ends_address(character: char) -> bool {
    character.is_whitespace() || "\"'<>`".contains(character)
}

fn passwords(text: &str, mark: Mark<'_>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let address = &after[..after.find(ends_address).unwrap_or(after.len())];
        let host = &address[..address.find(['/', '?', '#']).unwrap_or(address.len())];
        let who = match host.rfind('@') {
            Some(end) => &host[..end],
            // A password that should have been escaped: up to the last @ it is none of the path.
            None => match host.split_once(':') {
                Some((_, port)) if is_port(port) || host.starts_with('[') => "",
                Some(_) => &address[..address.rfind('@').unwrap_or(0)],
                None => "",
            },
        };
        rest = &after[who.len()..];
        match who.split_once(':') {
            Some((user, password)) if !password.is_empty() => {
                out.push_str(&format!("{user}:{}", mark("password", password)));
            }
            _ => out.push_str(who),
        }
    }
    out + rest
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `?name=value`, `&name=value` and `#name=value`.
fn parameters(text: &str, mark: Mark<'_>) -> String {
    let begins = |c: char| "?&#;".contains(c);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(begins) {
        let (before, after) = rest.split_at(at + 1);
        out.push_str(before);
        rest = after;
        let pair = &after[..after
            .find(|c| begins(c) || ends_address(c))
            .unwrap_or(after.len())];
        if let Some((name, value)) = pair.split_once('=')
            && !value.is_empty()
            && is_secret(&unescaped(name))
        {
            out.push_str(&format!("{name}={}", mark(name, value)));
            rest = &after[pair.len()..];
        }
    }
    out + rest
}

/// `api_key` of `api%5Fkey`.
fn unescaped(name: &str) -> String {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let hex = after.get(..2).filter(|_| *first == b'%');
        let hex = hex.and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                rest = &after[2..];
            }
            None => out.push(*first),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_by_their_words() {
        for name in [
            "TOKEN",
            "GITHUB_TOKEN",
            "api_key",
            "apiKey",
            "APIKEY",
            "X-Api-Key",
            "key",
            "AWS_SECRET_ACCESS_KEY",
            "PGPASSWORD",
            "MYSQL_PWD",
            "DB_PASS",
            "passwd",
            "Authorization",
            "Proxy-Authorization",
            "Cookie",
            "set-cookie",
            "clientSecret",
            "SESSION_ID",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "AUTH2",
            "oauth2",
            "TOKEN1",
            "sig",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "MONKEY",
            "KEYBOARD",
            "TOKENIZERS_PARALLELISM",
            "MAX_TOKENS",
            "GIT_AUTHOR_NAME",
            "PWD",
            "OLDPWD",
            "PASSES",
            "COMPASS",
            "THREADS",
            "PATH",
            "LC_ALL",
            "",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn only_the_secrets_of_an_address_go() {
        let told = |shown: &str| text(shown, &|name, secret| format!("<{name} {secret}>"));
        for (given, kept) in [
            (
                "http://a:b@h:1/x?y=1&api_key=2#z",
                "http://a:<password b>@h:1/x?y=1&api_key=<api_key 2>#z",
            ),
            ("/x?api%5Fkey=2&n=3", "/x?api%5Fkey=<api%5Fkey 2>&n=3"),
            (
                "postgres://joe:p/q@r@h/d",
                "postgres://joe:<password p/q@r>@h/d",
            ),
            (
                "a=redis://:pw@h b=http://u:v@w'",
                "a=redis://:<password pw>@h b=http://u:<password v>@w'",
            ),
            ("/cb#access_token=q", "/cb#access_token=<access_token q>"),
            ("http://joe@h:80/a@b?c=d", "http://joe@h:80/a@b?c=d"),
            ("http://[::1]:80/a:b@c", "http://[::1]:80/a:b@c"),
            ("http://h:80/a:b@c?token=", "http://h:80/a:b@c?token="),
            ("a ? b : c & d", "a ? b : c & d"),
        ] {
            assert_eq!(told(given), kept);
        }
    }

    #[test]
    fn a_value_goes_whole_by_its_name() {
        let mark: Mark<'_> = &|_, _| "-".to_owned();
        assert_eq!(value("TOKEN", "x y", mark), "-");
        assert_eq!(value("TOKEN", "", mark), "");
        assert_eq!(value("THREADS", "8", mark), "8");
        assert_eq!(value("DATABASE_URL", "pg://a:b@c/d", mark), "pg://a:-@c/d");
    }
}
