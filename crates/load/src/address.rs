//! The address of a server.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

use fathom_model::secret::hidden;

/// Where a server can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// An address and a port.
    Tcp(SocketAddr),
    /// A socket in the file system.
    Unix(PathBuf),
}

impl Address {
    /// Returns the address at which a client on this machine reaches `listener`. A client can't connect to
    /// the address that stands for all addresses.
    pub fn of_listener(listener: SocketAddr) -> Address {
        let ip = match listener.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        Address::Tcp(SocketAddr::new(ip, listener.port()))
    }

    /// Returns whether traffic to this address stays on this machine.
    pub fn is_local(&self) -> bool {
        match self {
            Address::Tcp(address) => address.ip().to_canonical().is_loopback(),
            Address::Unix(_) => true,
        }
    }

    /// Returns the host name for requests.
    pub fn host(&self) -> String {
        match self {
            Address::Tcp(address) if address.ip().to_canonical().is_loopback() => {
                format!("localhost:{}", address.port())
            }
            Address::Tcp(address) => address.to_string(),
            Address::Unix(_) => "localhost".to_string(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => write!(f, "{address}"),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// `http://HOST[:PORT][/PATH]`, or `unix:FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// The original text.
    pub text: String,
    /// Whether the scheme is `https`.
    pub tls: bool,
    /// The host name in requests.
    pub host: String,
    /// The address to connect to.
    pub address: Address,
    /// The requested path, with a query.
    pub path: Option<String>,
}

impl Url {
    /// Parses a URL and resolves its host. Unless `may_be_remote`, another machine is refused before any name
    /// lookup.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(text: &str, may_be_remote: bool) -> Result<Url, String> {
        let shown = hidden(text);
        if let Some(file) = text.strip_prefix("unix:") {
            let file = Path::new(file.strip_prefix("//").unwrap_or(file));
            if !file.is_absolute() {
                return Err(format!(
                    "{shown:?}: give the socket's full path, such as unix:/run/x.sock"
                ));
            }
            return Ok(Url {
                text: text.to_string(),
                tls: false,
                host: "localhost".to_string(),
                address: Address::Unix(file.to_path_buf()),
                path: None,
            });
        }
        let (tls, rest) = match (text.strip_prefix("http://"), text.strip_prefix("https://")) {
            (Some(rest), _) => (false, rest),
            (_, Some(rest)) => (true, rest),
            _ => {
                return Err(format!(
                    "{shown:?} is not the address of a server; write http://localhost:8080/path, or \
                     unix:/run/x.sock"
                ));
            }
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (host, path) = rest.split_at(end);
        let path = path.split('#').next().unwrap_or_default();
        let path = match path {
            "" => None,
            query if query.starts_with('?') => Some(format!("/{query}")),
            path => Some(path.to_string()),
        };
        if host.contains('@') {
            return Err(format!(
                "{shown:?}: give credentials as a header, not in the address"
            ));
        }
        let port = host.rsplit_once(':');
        let port = port.filter(|(_, port)| port.parse::<u16>().is_ok());
        let remote = || {
            format!(
                "{shown} is not on this machine: load on other people's machines is an attack; with the owner's \
                 consent, give --allow-remote"
            )
        };
        if !may_be_remote && !is_here(port.map_or(host, |(name, _)| name)) {
            return Err(remote());
        }
        let with_port = match port {
            Some(_) => host.to_string(),
            None => format!("{host}:{}", if tls { 443 } else { 80 }),
        };
        let found = with_port.to_socket_addrs();
        let address = found.ok().and_then(|mut all| all.next());
        let address =
            address.ok_or_else(|| format!("{shown:?}: the host {host:?} was not found"))?;
        // `localhost` may resolve to anything here.
        if !may_be_remote && !Address::Tcp(address).is_local() {
            return Err(remote());
        }
        Ok(Url {
            text: text.to_string(),
            tls,
            host: host.to_string(),
            address: Address::Tcp(address),
            path,
        })
    }
}

/// Returns whether the name alone shows that a host is this machine.
fn is_here(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(ip) => ip.to_canonical().is_loopback(),
        // Names below `localhost` are always local (RFC 6761). An empty name is reported as not found.
        Err(_) => bare.is_empty() || bare == "localhost" || bare.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_local_servers_are_read() {
        let url = Url::parse("http://127.0.0.1:8080/a?b=c#d", false).unwrap();
        assert_eq!(url.address, Address::Tcp("127.0.0.1:8080".parse().unwrap()));
        assert_eq!(
            (url.path.as_deref(), url.host.as_str()),
            (Some("/a?b=c"), "127.0.0.1:8080")
        );
        assert!(url.address.is_local() && !url.tls);
        let six = Url::parse("https://[::1]", false).unwrap();
        assert_eq!(six.address, Address::Tcp("[::1]:443".parse().unwrap()));
        assert!(six.tls && six.path.is_none());
        let unix = Url::parse("unix:/run/x.sock", false).unwrap();
        assert_eq!(unix.address, Address::Unix("/run/x.sock".into()));
        assert_eq!(
            Url::parse("http://127.0.0.1?x", false)
                .unwrap()
                .path
                .as_deref(),
            Some("/?x")
        );
    }

    #[test]
    fn others_are_refused_with_what_to_write() {
        assert!(
            Url::parse("localhost:80", false)
                .unwrap_err()
                .contains("http://localhost:8080/path")
        );
        assert!(
            Url::parse("unix:x.sock", false)
                .unwrap_err()
                .contains("full path")
        );
        assert!(
            Url::parse("http://a:b@localhost/", false)
                .unwrap_err()
                .contains("header")
        );
        assert!(
            Url::parse("http://", false)
                .unwrap_err()
                .contains("was not found")
        );
    }

    #[test]
    fn another_machine_is_refused_before_its_name_is_looked_up() {
        // This name doesn't exist: a lookup would give another error.
        for text in [
            "http://no-such-host.invalid/",
            "https://192.0.2.1",
            "http://[fe80::1]:80/",
        ] {
            let why = Url::parse(text, false).unwrap_err();
            assert!(why.contains("--allow-remote"), "{why}");
        }
        let unknown = Url::parse("http://no-such-host.invalid/", true);
        assert!(unknown.unwrap_err().contains("was not found"));
        assert!(is_here("localhost") && is_here("a.localhost") && is_here("[::1]"));
    }

    #[test]
    fn only_loopback_and_sockets_are_local() {
        let local = |text: &str| Address::Tcp(text.parse().unwrap()).is_local();
        assert!(local("127.9.9.9:1") && local("[::1]:1") && local("[::ffff:127.0.0.1]:1"));
        assert!(!local("10.0.0.1:1") && !local("[fe80::1]:1"));
        let all = Address::of_listener("[::]:80".parse().unwrap());
        assert_eq!(all, Address::Tcp("[::1]:80".parse().unwrap()));
    }
}
