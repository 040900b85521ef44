//! Decides by name which values are secrets, and removes them from texts.
//!
//! A value is a secret if its name contains one of these words, in any case: `key`, `token`, `auth`,
//! `session` and those of `WORDS`; or if a word of its name ends with one of `ENDS` (`PGPASSWORD`,
//! `clientSecret`). Words end at a character that is not a letter or digit, at capitals after lowercase
//! letters, and before the last of several capitals if a lowercase letter follows it: `apiKey`, `X-Api-Key`
//! and `SSHKey` contain the word `key`; `MONKEY`, `AUTHOR` and `TOKENIZERS` contain no such word. The
//! password of an address, `scheme://user:password@host`, is also a secret. Percent-encoded text is a secret
//! if the decoded text is one.

/// Words that make the value of a name a secret.
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

/// Word endings that also make a value a secret: they occur in no other word.
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

/// Reports whether the value of this name is a secret: of a variable, a header or a query parameter.
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

/// Returns the words of a name, in lowercase.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    let mut left = name.chars().peekable();
    while let Some(character) = left.next() {
        let small_follows = left.peek().is_some_and(|next| next.is_lowercase());
        let begins = character.is_uppercase()
            && (before.is_lowercase() || (before.is_alphanumeric() && small_follows));
        if begins || !character.is_alphanumeric() {
            words.push(String::new());
        }
        before = character;
        if let Some(last) = words.last_mut()
            && character.is_alphanumeric()
        {
            last.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the replacement for a secret, from its name and value.
pub type Mark<'m> = &'m dyn Fn(&str, &str) -> String;

/// Removes the secrets from the value of a name: the whole value if its name makes it a secret, otherwise as
/// in [`text`].
pub fn value(name: &str, value: &str, mark: Mark<'_>) -> String {
    match is_secret(name) && !value.is_empty() {
        true => mark(name, value),
        false => text(value, mark),
    }
}

/// Removes the passwords of addresses from a text, and the secrets of their queries and fragments.
pub fn text(text: &str, mark: Mark<'_>) -> String {
    encoded(&parameters(&passwords(text, mark), mark), mark)
}

/// Replaces each secret with `…`, for messages, which are not compared.
pub fn hidden(shown: &str) -> String {
    text(shown, &|_, _| "…".to_owned())
}

/// Reports whether a character ends an address within a longer text.
fn ends_address(character: char) -> bool {
    character.is_whitespace() || "\"'<>`".contains(character)
}

/// Removes words that contain a secret in percent-encoded form.
fn encoded(text: &str, mark: Mark<'_>) -> String {
    let word = |word: &str| match hides_secret(word) {
        true => mark("address", word),
        false => word.to_owned(),
    };
    let mut out = String::with_capacity(text.len());
    for part in text.split_inclusive(ends_address) {
        let ends = part.chars().next_back().filter(|last| ends_address(*last));
        let end = part.len() - ends.map_or(0, char::len_utf8);
        out.push_str(&word(&part[..end]));
        out.push_str(&part[end..]);
    }
    out
}

/// Reports whether percent-decoding reveals a secret that isn't visible already.
fn hides_secret(text: &str) -> bool {
    if !text.contains('%') {
        return false;
    }
    let mark: Mark<'_> = &|_, _| "…".to_owned();
    // Excludes secrets that are already visible. Each step shortens the text, so there are few steps.
    let plain = unescaped(&parameters(&passwords(text, mark), mark));
    plain.len() < text.len() && hidden(&plain) != plain
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
            // The password should have been escaped. It ends at the last @ that isn't part of the path, or at
            // the next @ of the line if it contains a quote, a bracket or a space.
            None => match host.split_once(':') {
                Some((_, port)) if is_port(port) || host.starts_with('[') => "",
                Some(_) => match address.rfind('@') {
                    Some(end) => &address[..end],
                    None => &after[..end_in_line(after)],
                },
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

/// Returns the position of the next @ on the line that comes before another address begins; 0 if there is
/// none.
fn end_in_line(text: &str) -> usize {
    let line = &text[..text.find('\n').unwrap_or(text.len())];
    let own = &line[..line.find("://").unwrap_or(line.len())];
    own.find('@').unwrap_or(0)
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Handles `?name=value`, `&name=value` and `#name=value`.
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
            && (is_secret(&unescaped_whole(name)) || hides_secret(value))
        {
            out.push_str(&format!("{name}={}", mark(name, value)));
            rest = &after[pair.len()..];
        }
    }
    out + rest
}

/// Decodes repeatedly, until nothing is encoded anymore.
fn unescaped_whole(name: &str) -> String {
    let mut name = name.to_owned();
    loop {
        let once = unescaped(&name);
        if once.len() >= name.len() {
            return once;
        }
        name = once;
    }
}

/// Decodes `api%5Fkey` to `api_key`.
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
            "SSHKey",
            "DBPass",
            "S3Key",
            "myDBPass",
            "X509KeyFile",
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
            "DBPassenger",
            "USBKeyboard",
            "IDs",
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
        // The replacement for a secret contains no secret.
        let told = |shown: &str| {
            text(shown, &|name, secret| {
                format!("<{name} {}>", secret.replace('%', "~"))
            })
        };
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
            ("/x?api%255Fkey=2", "/x?api%255Fkey=<api%255Fkey 2>"),
            (
                "/x?next=%2Fy%3Ftoken%3D7&n=3",
                "/x?next=<next ~2Fy~3Ftoken~3D7>&n=3",
            ),
            (
                "/x?to=http%3A%2F%2Fa%3Ab%40h&token=1",
                "/x?to=<to http~3A~2F~2Fa~3Ab~40h>&token=<token 1>",
            ),
            (
                "http%3A%2F%2Fa%3Ab%40h x%20y",
                "<address http~3A~2F~2Fa~3Ab~40h> x%20y",
            ),
            ("/x%3Ftoken%3D7", "<address /x~3Ftoken~3D7>"),
            (
                "100% of http://h/%2F?a=%3D%zz%",
                "100% of http://h/%2F?a=%3D%zz%",
            ),
            ("pg://joe:p\"q r<s@h/d", "pg://joe:<password p\"q r<s>@h/d"),
            (
                "pg://joe:p q@h http://a:b@c",
                "pg://joe:<password p q>@h http://a:<password b>@c",
            ),
            ("http://h:80 \"joe@h\"", "http://h:80 \"joe@h\""),
            ("see a://b:c, d\nme@h", "see a://b:c, d\nme@h"),
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
