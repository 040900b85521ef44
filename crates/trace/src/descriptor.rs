//! The targets of descriptors.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Prefix of the path of a named pipe.
const NAMED_PIPE: &str = "named pipe ";

/// Suffix of a socket whose small writes don't wait for an acknowledgement.
const NODELAY: &str = " (TCP_NODELAY)";

/// Descriptors that other threads or the kernel make readable, by the kernel's names and by the names of the
/// calls that create them.
const EVENTS: [&str; 7] = [
    "epoll",
    "eventfd",
    "eventpoll",
    "inotify",
    "pidfd",
    "pidfd_open",
    "signalfd",
];

/// The target of a descriptor. In JSON it is the text written by `Display`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum DescriptorKind {
    /// A path as it was opened, a label of the caller, or an object without a path that doesn't belong to the
    /// other variants, such as `memfd`. This variant is only created from text, so that a file is never read
    /// back as another variant.
    File(String),
    /// The path of a terminal.
    Terminal(String),
    /// The path of a named pipe.
    NamedPipe(String),
    /// A pipe, with its number if the caller's label contains one.
    Pipe(Option<u64>),
    /// Both ends were created by one process, for itself or its children: not a network connection.
    SocketPair,
    /// Any other socket.
    Socket(Socket),
    /// A descriptor that another thread or the kernel makes readable, such as `eventfd` or `epoll`.
    Events(&'static str),
    /// `timerfd`.
    Timer,
    /// A descriptor that existed before the trace began, with its number, or without a number if it is a copy
    /// of such a descriptor.
    Unknown(Option<i32>),
    /// A file whose path could not be read from the program's memory.
    #[default]
    Unnamed,
}

/// A socket, as far as calls have shown it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Socket {
    /// Its endpoint.
    pub end: SocketEnd,
    /// Whether its small writes don't wait for an acknowledgement (`TCP_NODELAY`).
    pub nodelay: bool,
}

/// The endpoint of a socket. Addresses are written in the usual form: `127.0.0.1:80`, `[::1]:80`, a path, or
/// `@` and an abstract name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SocketEnd {
    /// Neither connected nor bound, as far as is known.
    Loose(SocketFamily),
    /// Connected to this address.
    To(String),
    /// Bound to this address.
    At(String),
    /// Accepted by a listening socket, with that socket's text if known.
    Accepted(Option<String>),
}

/// The first argument of `socket`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SocketFamily {
    /// `AF_UNIX`.
    Unix,
    /// `AF_INET` and `AF_INET6`.
    Inet,
    /// `AF_NETLINK`.
    Netlink,
    /// Another or an unknown family.
    Other,
}

impl From<SocketEnd> for Socket {
    fn from(end: SocketEnd) -> Self {
        let nodelay = false;
        Self { end, nodelay }
    }
}

impl From<SocketEnd> for DescriptorKind {
    fn from(end: SocketEnd) -> Self {
        Self::Socket(end.into())
    }
}

impl DescriptorKind {
    /// Returns its text; borrowed if it is a file.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::File(path) | Self::Terminal(path) => path.into(),
            other => other.to_string().into(),
        }
    }

    /// Returns the path of a file, a terminal or a named pipe.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::File(path) | Self::Terminal(path) | Self::NamedPipe(path) => Some(path),
            _ => None,
        }
    }

    /// Returns the absolute path of a file or terminal.
    pub(crate) fn absolute(&self) -> Option<&str> {
        match self {
            Self::File(path) | Self::Terminal(path) => path.starts_with('/').then_some(path),
            _ => None,
        }
    }
}

impl Socket {
    /// Parses the text of a socket, if it is one.
    fn parse(text: &str) -> Option<Self> {
        let (text, nodelay) = match text.strip_suffix(NODELAY) {
            Some(bare) => (bare, true),
            None => (text, false),
        };
        let end = match text {
            "unix socket" => SocketEnd::Loose(SocketFamily::Unix),
            "inet socket" => SocketEnd::Loose(SocketFamily::Inet),
            "netlink socket" => SocketEnd::Loose(SocketFamily::Netlink),
            "socket" => SocketEnd::Loose(SocketFamily::Other),
            "accepted socket" => SocketEnd::Accepted(None),
            _ => {
                if let Some(address) = text.strip_prefix("socket to ") {
                    SocketEnd::To(address.to_owned())
                } else if let Some(address) = text.strip_prefix("socket at ") {
                    SocketEnd::At(address.to_owned())
                } else {
                    let from = text.strip_prefix("accepted socket from ")?;
                    SocketEnd::Accepted(Some(from.to_owned()))
                }
            }
        };
        Some(Self { end, nodelay })
    }
}

impl fmt::Display for SocketEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loose(SocketFamily::Unix) => f.write_str("unix socket"),
            Self::Loose(SocketFamily::Inet) => f.write_str("inet socket"),
            Self::Loose(SocketFamily::Netlink) => f.write_str("netlink socket"),
            Self::Loose(SocketFamily::Other) => f.write_str("socket"),
            Self::To(address) => write!(f, "socket to {address}"),
            Self::At(address) => write!(f, "socket at {address}"),
            Self::Accepted(None) => f.write_str("accepted socket"),
            Self::Accepted(Some(from)) => write!(f, "accepted socket from {from}"),
        }
    }
}

impl fmt::Display for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.end.fmt(f)?;
        f.write_str(if self.nodelay { NODELAY } else { "" })
    }
}

impl fmt::Display for DescriptorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) | Self::Terminal(path) => f.write_str(path),
            Self::NamedPipe(path) => write!(f, "{NAMED_PIPE}{path}"),
            Self::Pipe(None) => f.write_str("pipe"),
            Self::Pipe(Some(number)) => write!(f, "pipe:[{number}]"),
            Self::SocketPair => f.write_str("socket pair"),
            Self::Socket(socket) => socket.fmt(f),
            Self::Events(name) => f.write_str(name),
            Self::Timer => f.write_str("timerfd"),
            Self::Unknown(None) => f.write_str("unknown"),
            Self::Unknown(Some(number)) => write!(f, "descriptor {number}"),
            Self::Unnamed => Ok(()),
        }
    }
}

/// Parses a number in the form in which this program writes it.
fn number<N: std::str::FromStr + ToString>(text: &str) -> Option<N> {
    let number: N = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

impl From<&str> for DescriptorKind {
    /// Accepts any text: text of no other form is a file.
    fn from(text: &str) -> Self {
        if let Some(name) = EVENTS.into_iter().find(|name| *name == text) {
            return Self::Events(name);
        }
        match text {
            "" => return Self::Unnamed,
            "pipe" => return Self::Pipe(None),
            "socket pair" => return Self::SocketPair,
            "timerfd" => return Self::Timer,
            "unknown" => return Self::Unknown(None),
            "/dev/console" => return Self::Terminal(text.to_owned()),
            _ => {}
        }
        let terminals = ["/dev/pts/", "/dev/tty"];
        if terminals.iter().any(|start| text.starts_with(start)) {
            return Self::Terminal(text.to_owned());
        }
        if let Some(path) = text.strip_prefix(NAMED_PIPE) {
            return Self::NamedPipe(path.to_owned());
        }
        let pipe = text.strip_prefix("pipe:[");
        let pipe = pipe.and_then(|rest| number(rest.strip_suffix(']')?));
        let unknown = text.strip_prefix("descriptor ").and_then(number);
        let pipe = pipe.map(|number| Self::Pipe(Some(number)));
        pipe.or_else(|| unknown.map(|number| Self::Unknown(Some(number))))
            .or_else(|| Socket::parse(text).map(Self::Socket))
            .unwrap_or_else(|| Self::File(text.to_owned()))
    }
}

impl Serialize for DescriptorKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for DescriptorKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(String::deserialize(deserializer)?.as_str().into())
    }
}

impl PartialEq<str> for DescriptorKind {
    fn eq(&self, text: &str) -> bool {
        self.text() == text
    }
}

impl PartialEq<&str> for DescriptorKind {
    fn eq(&self, text: &&str) -> bool {
        self == *text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(end: SocketEnd, nodelay: bool) -> DescriptorKind {
        DescriptorKind::Socket(Socket { end, nodelay })
    }

    #[test]
    fn texts_are_read_as_what_they_were_written_from() {
        use DescriptorKind as K;
        let at = "socket at [::]:80".to_owned();
        for (text, kind) in [
            ("", K::Unnamed),
            ("pipe", K::Pipe(None)),
            ("pipe:[9]", K::Pipe(Some(9))),
            ("named pipe /run/x", K::NamedPipe("/run/x".into())),
            ("socket pair", K::SocketPair),
            ("socket", SocketEnd::Loose(SocketFamily::Other).into()),
            (
                "inet socket (TCP_NODELAY)",
                socket(SocketEnd::Loose(SocketFamily::Inet), true),
            ),
            (
                "socket to ./a.sock",
                SocketEnd::To("./a.sock".into()).into(),
            ),
            (
                "socket to [::1]:80 (TCP_NODELAY)",
                socket(SocketEnd::To("[::1]:80".into()), true),
            ),
            ("accepted socket", SocketEnd::Accepted(None).into()),
            (
                "accepted socket from socket at [::]:80",
                SocketEnd::Accepted(Some(at)).into(),
            ),
            ("/dev/pts/3", K::Terminal("/dev/pts/3".into())),
            ("eventfd", K::Events("eventfd")),
            ("timerfd", K::Timer),
            ("unknown", K::Unknown(None)),
            ("descriptor 9", K::Unknown(Some(9))),
            ("/dev/null", K::File("/dev/null".into())),
            ("memfd", K::File("memfd".into())),
        ] {
            assert_eq!(K::from(text), kind, "{text}");
            assert_eq!(kind.to_string(), text);
            let json = serde_json::to_value(&kind).expect("it has a text");
            assert_eq!(json, text);
            assert_eq!(serde_json::from_value::<K>(json).expect("any text"), kind);
        }
    }

    #[test]
    fn files_with_names_like_other_things_keep_them() {
        let like = [
            "pipe:[007]",
            "pipe:[9",
            "pipe.rs",
            "descriptor +9",
            "socketry",
            "timerfd.c",
            "socket pair ",
            "socket pair (TCP_NODELAY)",
            "websocket.js",
            "event.log",
            "descriptor 99999999999",
        ];
        for text in like {
            assert_eq!(
                DescriptorKind::from(text),
                DescriptorKind::File(text.into())
            );
        }
    }
}
