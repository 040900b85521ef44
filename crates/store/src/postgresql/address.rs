//! The server and the user: from the address, then from the usual variables, then from the password file.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::Error;

/// The TLS mode, named after the values of `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) enum Mode {
    Disable,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

/// All settings of a connection. The type has no `Debug`, since it holds the password.
pub(crate) struct Address {
    pub config: Config,
    pub mode: Mode,
    /// File with the trusted certificates; `None` for the system's.
    pub root: Option<PathBuf>,
    pub schema: String,
    pub user: String,
    /// The name to show, without the password.
    pub name: String,
}

/// Returns an address without its password. Everything up to the last `@` is treated as user and password, so
/// even a password that wasn't escaped is hidden.
pub(crate) fn redacted(text: &str) -> String {
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    let rest = match rest.rsplit_once('@') {
        Some((who, rest)) => format!("{}@{rest}", who.split([':', '/', '?']).next().unwrap_or("")),
        None => rest.to_owned(),
    };
    let rest = match rest.split_once('?') {
        Some((place, query)) => {
            let shown: Vec<&str> = query
                .split('&')
                .filter(|pair| !pair.contains("password"))
                .collect();
            match shown.is_empty() {
                true => place.to_owned(),
                false => format!("{place}?{}", shown.join("&")),
            }
        }
        None => rest,
    };
    format!("{scheme}://{rest}")
}

/// Parses an address; missing settings come from `variable` (PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE,
/// PGSSLMODE, PGSSLROOTCERT, PGCONNECT_TIMEOUT, PGPASSFILE) as in psql.
pub(crate) fn parse(
    text: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Address, Error> {
    let name = redacted(text);
    let wrong = |why: String| Error::Address {
        address: name.clone(),
        why,
    };
    let variable = |key: &str| variable(key).filter(|value| !value.is_empty());
    let mut mode = variable("PGSSLMODE");
    let mut root = variable("PGSSLROOTCERT");
    let mut passfile = variable("PGPASSFILE");
    let mut schema = "fathom".to_owned();
    let (place, query) = text.split_once('?').unwrap_or((text, ""));
    let mut rest = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value =
            || unescaped(value).ok_or_else(|| wrong(format!("{key} is not escaped correctly")));
        match key {
            "sslmode" => mode = Some(value()?),
            "sslrootcert" => root = Some(value()?),
            "passfile" => passfile = Some(value()?),
            "schema" => schema = value()?,
            _ => rest.push(pair),
        }
    }
    let known = Config::from_str(&format!("{place}?{}", rest.join("&")));
    let mut config = known.map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        wrong(cause.unwrap_or_else(|| error.to_string()))
    })?;

    let user = complete(&mut config, &variable).map_err(&wrong)?;
    let local = matches!(config.get_hosts().first(), Some(Host::Unix(_)));
    let mut mode = encryption(mode.as_deref(), local).map_err(&wrong)?;
    let root = root.filter(|root| root != "system").map(PathBuf::from);
    if mode == Mode::Require && root.is_some() {
        mode = Mode::VerifyCa; // as psql does
    }
    if config.get_password().is_none() {
        let file = passfile
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(variable("HOME")?).join(".pgpass")));
        let remembered = || password_of(&read_private(&file?)?, &asked(&config, &user));
        if let Some(password) = variable("PGPASSWORD").or_else(remembered) {
            config.password(password);
        }
    }
    if !is_plain(&schema) {
        return Err(wrong(format!(
            "schema={schema:?} is not a plain name (lower-case letters, digits and underscores, at most 63)"
        )));
    }
    Ok(Address {
        config,
        mode,
        root,
        schema,
        user,
        name,
    })
}

/// Fills in missing settings of the address and returns its user.
fn complete(
    config: &mut Config,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<String, String> {
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        let host = variable("PGHOST").unwrap_or_else(usual_host);
        config.host(host.split(',').next().unwrap_or(&host));
    }
    if config.get_ports().is_empty() {
        let port = variable("PGPORT").unwrap_or_else(|| "5432".to_owned());
        config.port(
            port.parse()
                .map_err(|_| format!("PGPORT={port:?} is not a port"))?,
        );
    }
    let user = match config.get_user() {
        Some(user) => user.to_owned(),
        None => ["PGUSER", "USER", "LOGNAME"]
            .iter()
            .find_map(|key| variable(key))
            .ok_or("it names no user, and PGUSER is not set")?,
    };
    config.user(&user);
    if config.get_dbname().is_none() {
        config.dbname(variable("PGDATABASE").unwrap_or_else(|| user.clone()));
    }
    if config.get_connect_timeout().is_none() {
        let seconds = variable("PGCONNECT_TIMEOUT").and_then(|seconds| seconds.parse().ok());
        config.connect_timeout(Duration::from_secs(seconds.unwrap_or(10)));
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(30)); // detects a cut connection
    }
    if config.get_application_name().is_none() {
        config.application_name("fathom");
    }
    if config.get_hosts().is_empty() {
        // Encryption needs a host name; use the address.
        let hosts: Vec<String> = (config.get_hostaddrs().iter())
            .map(ToString::to_string)
            .collect();
        for host in hosts {
            config.host(&host);
        }
    }
    Ok(user)
}

/// Parses `sslmode`.
fn encryption(mode: Option<&str>, local: bool) -> Result<Mode, String> {
    Ok(match mode {
        _ if local => Mode::Disable, // as psql does: a socket file is local
        Some("disable") => Mode::Disable,
        None | Some("allow" | "prefer") => Mode::Prefer,
        Some("require") => Mode::Require,
        Some("verify-ca") => Mode::VerifyCa,
        Some("verify-full") => Mode::VerifyFull,
        Some(other) => {
            return Err(format!(
                "sslmode={other:?} is not one of disable, prefer, require, verify-ca, verify-full"
            ));
        }
    })
}

/// Returns the socket folder of Debian's or PostgreSQL's own servers, or else this machine.
fn usual_host() -> String {
    let there = |folder: &&str| Path::new(folder).join(".s.PGSQL.5432").exists();
    let folder = ["/var/run/postgresql", "/tmp"].into_iter().find(there);
    folder.unwrap_or("localhost").to_owned()
}

fn is_plain(schema: &str) -> bool {
    let mut bytes = schema.bytes();
    let first = bytes
        .next()
        .is_some_and(|b| b.is_ascii_lowercase() || b == b'_');
    first
        && schema.len() <= 63
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut plain = Vec::new();
    while let Some(byte) = bytes.next() {
        plain.push(match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(plain).ok()
}

/// Returns the host, port, database and user, as the password file writes them.
fn asked(config: &Config, user: &str) -> [String; 4] {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(_)) => "localhost".to_owned(),
        None => config
            .get_hostaddrs()
            .first()
            .map(ToString::to_string)
            .unwrap_or_default(),
    };
    let port = config
        .get_ports()
        .first()
        .map(ToString::to_string)
        .unwrap_or_default();
    [
        host,
        port,
        config.get_dbname().unwrap_or_default().to_owned(),
        user.to_owned(),
    ]
}

/// Reads a password file, only if no other user can read it, as in psql.
fn read_private(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let private = path.metadata().ok()?.mode() & 0o077 == 0;
    private.then(|| std::fs::read_to_string(path).ok())?
}

/// Returns the password of the first matching line: `host:port:database:user:password`. `*` matches
/// everything; `\:` and `\\` are escapes.
fn password_of(file: &str, asked: &[String; 4]) -> Option<String> {
    let password = |line: &str| {
        let mut fields = vec![String::new()];
        let mut letters = line.chars();
        while let Some(letter) = letters.next() {
            match letter {
                ':' if fields.len() < 5 => fields.push(String::new()),
                '\\' => fields.last_mut()?.push(letters.next()?),
                other => fields.last_mut()?.push(other),
            }
        }
        let password = fields.pop().filter(|_| fields.len() == 4)?;
        let fits = fields
            .iter()
            .zip(asked)
            .all(|(field, asked)| field == "*" || field == asked);
        fits.then_some(password)
    };
    file.lines()
        .filter(|line| !line.starts_with('#'))
        .find_map(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(key: &str) -> Option<String> {
        let value = match key {
            "PGUSER" => "joe",
            "PGPASSWORD" => "from the variable",
            "PGHOST" => "db.example",
            "PGPORT" => "6543",
            "PGDATABASE" => "perf",
            "PGSSLMODE" => "verify-full",
            _ => return None,
        };
        Some(value.to_owned())
    }

    #[test]
    fn the_address_goes_before_the_variables() {
        let address = parse("postgres://", variables).ok().unwrap();
        assert_eq!(
            asked(&address.config, &address.user),
            ["db.example", "6543", "perf", "joe"]
        );
        assert_eq!(
            address.config.get_password(),
            Some(b"from the variable".as_slice())
        );
        assert_eq!(
            (address.mode, address.schema.as_str()),
            (Mode::VerifyFull, "fathom")
        );
        let text = "postgres://ann:s3%40cret@other:1/db?sslmode=require&schema=team_a";
        let address = parse(text, variables).ok().unwrap();
        assert_eq!(
            asked(&address.config, &address.user),
            ["other", "1", "db", "ann"]
        );
        assert_eq!(address.config.get_password(), Some(b"s3@cret".as_slice()));
        assert_eq!(
            (address.mode, address.schema.as_str()),
            (Mode::Require, "team_a")
        );
        assert_eq!(
            address.name,
            "postgres://ann@other:1/db?sslmode=require&schema=team_a"
        );
    }

    #[test]
    fn what_is_wrong_is_named_and_no_password_is() {
        for (text, named) in [
            ("postgres://a:s3cret@h/d?sslmode=maybe", "verify-full"),
            ("postgres://a:s3cret@h/d?schema=x;drop", "schema"),
            ("postgres://a:s3cret@h/d?colour=red", "colour"),
            ("postgres://a:s3cret@h:port/d", "port"),
            ("postgres://a:s3/cr@et@h/d?x=1", "h/d"),
        ] {
            let said = parse(text, |_| None).err().expect(text).to_string();
            assert!(said.contains(named), "{said}");
            assert!(!said.contains("s3"), "{said}");
        }
        assert!(parse("postgres://h/d", |_| None).is_err());
    }

    #[test]
    fn the_password_file_is_read_as_psql_does() {
        let file =
            "# comment\nh:5432:other:joe:no\nh:*:d:joe:a\\:b\\\\c:d\n*:*:*:*:last\nshort:line";
        let asked = |host: &str| [host, "5432", "d", "joe"].map(str::to_owned);
        assert_eq!(password_of(file, &asked("h")).as_deref(), Some("a:b\\c:d"));
        assert_eq!(password_of(file, &asked("g")).as_deref(), Some("last"));
        assert_eq!(password_of("h:1:d:joe:x", &asked("h")), None);
    }

    #[test]
    fn a_password_file_that_others_can_read_does_not_count() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pass");
        std::fs::write(&file, "*:*:*:*:s3cret").unwrap();
        let found = |mode| {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            let text = format!("postgres://joe@h/d?passfile={}", file.display());
            let address = parse(&text, |_| None).ok().unwrap();
            address.config.get_password().map(<[u8]>::to_vec)
        };
        assert_eq!(
            (found(0o600), found(0o640)),
            (Some(b"s3cret".to_vec()), None)
        );
    }
}
