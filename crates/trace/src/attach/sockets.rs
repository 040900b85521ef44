//! The existing sockets and their peers.
//!
//! If a program is observed from its start, its calls show them. For a program that is already running, the
//! kernel's tables show them. Reading these takes some milliseconds if there are thousands of sockets.

use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::descriptor::{DescriptorKind, SocketEnd, SocketFamily};

/// Sockets of one network namespace by their inodes.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    ends: HashMap<u64, SocketEnd>,
    listening: Vec<u64>,
}

impl Sockets {
    /// Returns the kind of the socket with this inode.
    pub(crate) fn kind(&self, inode: u64) -> Option<DescriptorKind> {
        self.ends.get(&inode).cloned().map(Into::into)
    }

    /// Returns whether it accepts connections.
    pub(crate) fn listens(&self, inode: u64) -> bool {
        self.listening.contains(&inode)
    }

    /// Adds a table of internet sockets.
    fn internet(&mut self, text: &str, is_stream: bool) {
        let rows: Vec<Row> = text.lines().skip(1).filter_map(Row::parse).collect();
        let at = |address: &SocketAddr| format!("socket at {address}");
        let listens: Vec<&Row> = rows
            .iter()
            .filter(|row| is_stream && row.state == LISTENS)
            .collect();
        self.listening.extend(listens.iter().map(|row| row.inode));
        for row in &rows {
            let same_port = |one: &&&Row| one.local.port() == row.local.port();
            let end = match (listens.iter().find(same_port), row.remote.port()) {
                (_, 0) if row.local.port() == 0 => SocketEnd::Loose(SocketFamily::Inet),
                (_, 0) => SocketEnd::At(row.local.to_string()),
                (Some(listener), _) => SocketEnd::Accepted(Some(at(&listener.local))),
                (None, _) => SocketEnd::To(row.remote.to_string()),
            };
            self.ends.insert(row.inode, end);
        }
    }

    /// Adds the table of Unix sockets.
    fn unix(&mut self, text: &str) {
        /// `__SO_ACCEPTCON` among the flags.
        const ACCEPTS: u32 = 1 << 16;
        for line in text.lines().skip(1) {
            // Num RefCount Protocol Flags Type St Inode Path
            let mut words = line.split_ascii_whitespace().skip(3);
            let Some(flags) = words
                .next()
                .and_then(|word| u32::from_str_radix(word, 16).ok())
            else {
                continue;
            };
            let Some(inode) = words.nth(2).and_then(|word| word.parse().ok()) else {
                continue;
            };
            let path = words.next();
            let listens = flags & ACCEPTS != 0;
            self.listening.extend(listens.then_some(inode));
            // An accepted socket has the path of its listener.
            let end = match path {
                Some(path) if listens => SocketEnd::At(path.to_owned()),
                Some(path) => SocketEnd::Accepted(Some(format!("socket at {path}"))),
                None => SocketEnd::Loose(SocketFamily::Unix),
            };
            self.ends.insert(inode, end);
        }
    }
}

/// `TCP_LISTEN`.
const LISTENS: u8 = 10;

/// A line of `/proc/net/tcp`.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    local: SocketAddr,
    remote: SocketAddr,
    state: u8,
    inode: u64,
}

impl Row {
    fn parse(line: &str) -> Option<Self> {
        // sl local remote st queues timer retransmits uid timeout inode
        let mut words = line.split_ascii_whitespace().skip(1);
        Some(Self {
            local: address(words.next()?)?,
            remote: address(words.next()?)?,
            state: u8::from_str_radix(words.next()?, 16).ok()?,
            inode: words.nth(5)?.parse().ok()?,
        })
    }
}

/// Parses an address such as `0100007F:1F90`: 32-bit words in the machine's order, then the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| {
        let digits = address.get(at..at + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    let address = match address.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for (index, chunk) in bytes.chunks_exact_mut(4).enumerate() {
                chunk.copy_from_slice(&word(8 * index)?);
            }
            IpAddr::V6(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

/// Returns the sockets in a process's network namespace.
pub(super) fn of(pid: u32) -> Sockets {
    let mut sockets = Sockets::default();
    let read = |table: &str| {
        let bytes = fs::read(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    for (table, is_stream) in [
        ("tcp", true),
        ("tcp6", true),
        ("udp", false),
        ("udp6", false),
    ] {
        sockets.internet(&read(table), is_stream);
    }
    sockets.unix(&read("unix"));
    sockets
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 12 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:D431 0200007F:0050 01 00000000:00000000 00:00000000 00000000     0        0 13 1 0000000000000000 20 4 30 10 -1
";

    #[cfg(target_endian = "little")]
    #[test]
    fn listeners_their_connections_and_connections_to_others_are_distinguished() {
        let mut sockets = Sockets::default();
        sockets.internet(TCP, true);
        let kind = |inode| sockets.kind(inode).expect("it is there").to_string();
        assert_eq!(kind(11), "socket at 127.0.0.1:8080");
        assert_eq!(kind(12), "accepted socket from socket at 127.0.0.1:8080");
        assert_eq!(kind(13), "socket to 127.0.0.2:80");
        assert!(sockets.listens(11) && !sockets.listens(12));
        assert_eq!(sockets.kind(14), None);
    }

    #[test]
    fn unix_sockets_have_paths() {
        let mut sockets = Sockets::default();
        sockets.unix(
            "Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 21 /run/x.sock
0000000000000000: 00000003 00000000 00000000 0001 03 22 /run/x.sock
0000000000000000: 00000003 00000000 00000000 0001 03 23
",
        );
        let kind = |inode| sockets.kind(inode).expect("it is there").to_string();
        assert_eq!(kind(21), "socket at /run/x.sock");
        assert_eq!(kind(22), "accepted socket from socket at /run/x.sock");
        assert_eq!(kind(23), "unix socket");
        assert!(sockets.listens(21) && !sockets.listens(22));
    }

    #[test]
    fn no_table_makes_them_panic() {
        let texts = [TCP.as_bytes().to_vec()];
        fathom_test_memory::survives(&texts, 1 << 12, |text| {
            let text = String::from_utf8_lossy(text);
            let mut sockets = Sockets::default();
            sockets.internet(&text, true);
            sockets.unix(&text);
        });
    }
}
