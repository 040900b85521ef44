//! Finds the sockets that listen on this machine, and their owners.
//!
//! It uses netlink (`sock_diag`), which scans only listening sockets. A read of `/proc/net/tcp` walks the
//! whole hash table, which takes 4 ms.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Netlink family, message types and flags; `linux/netlink.h`, `linux/sock_diag.h`.
const NETLINK_SOCK_DIAG: libc::c_int = 4;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// `TCP_LISTEN` of `net/tcp_states.h`, as a bit.
const LISTENING: u32 = 1 << 10;
/// The lengths of `struct nlmsghdr` and `struct inet_diag_req_v2`.
const HEADER: usize = 16;
const REQUEST: usize = 56;
/// Offsets in `struct inet_diag_msg` from its beginning: family, source port, source address, inode.
const FAMILY_AT: usize = 0;
const PORT_AT: usize = 4;
const ADDRESS_AT: usize = 8;
const INODE_AT: usize = 68;
const MESSAGE: usize = 72;

/// A listening socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListeningSocket {
    /// The address at which it listens.
    pub address: SocketAddr,
    /// Its inode, as in `/proc/PID/fd`.
    pub inode: u64,
}

/// Returns all TCP sockets that listen in this network namespace.
///
/// # Errors
/// If the kernel doesn't answer.
pub fn listening() -> io::Result<Vec<ListeningSocket>> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: takes only numbers.
    let fd = unsafe { libc::socket(libc::AF_NETLINK, kind, NETLINK_SOCK_DIAG) };
    if fd == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was just created, with no other owner.
    let netlink = unsafe { OwnedFd::from_raw_fd(fd) };
    let mut found = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        dump(&netlink, family as u8, &mut found)?;
    }
    Ok(found)
}

fn dump(netlink: &OwnedFd, family: u8, found: &mut Vec<ListeningSocket>) -> io::Result<()> {
    let mut request = [0u8; HEADER + REQUEST];
    request[..4].copy_from_slice(&((HEADER + REQUEST) as u32).to_ne_bytes());
    request[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    request[6..8].copy_from_slice(&flags.to_ne_bytes());
    request[HEADER] = family;
    request[HEADER + 1] = libc::IPPROTO_TCP as u8;
    request[HEADER + 4..HEADER + 8].copy_from_slice(&LISTENING.to_ne_bytes());
    let fd = netlink.as_raw_fd();
    // SAFETY: reads the request.
    if unsafe { libc::send(fd, request.as_ptr().cast(), request.len(), 0) } == -1 {
        return Err(io::Error::last_os_error());
    }
    let mut buffer = vec![0u8; 32 << 10];
    loop {
        // SAFETY: writes at most the size of the buffer.
        let got = unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        let Ok(got) = usize::try_from(got) else {
            return Err(io::Error::last_os_error());
        };
        if !messages(&buffer[..got], found)? {
            return Ok(());
        }
    }
}

/// Extracts the sockets from the kernel's messages; returns whether more will follow.
fn messages(mut bytes: &[u8], found: &mut Vec<ListeningSocket>) -> io::Result<bool> {
    while bytes.len() >= HEADER {
        let length = number::<4>(bytes, 0).map_or(0, u32::from_ne_bytes) as usize;
        let kind = number::<2>(bytes, 4).map_or(0, u16::from_ne_bytes);
        if length < HEADER || length > bytes.len() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        match i32::from(kind) {
            libc::NLMSG_DONE => return Ok(false),
            libc::NLMSG_ERROR => {
                let error = number::<4>(bytes, HEADER).map_or(0, i32::from_ne_bytes);
                return match error {
                    0 => Ok(false),
                    error => Err(io::Error::from_raw_os_error(error.wrapping_neg())),
                };
            }
            _ => found.extend(socket(&bytes[HEADER..length])),
        }
        // Messages begin at multiples of four.
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(true)
}

fn socket(message: &[u8]) -> Option<ListeningSocket> {
    if message.len() < MESSAGE {
        return None;
    }
    let ip = match i32::from(message[FAMILY_AT]) {
        libc::AF_INET => IpAddr::from(Ipv4Addr::from(number::<4>(message, ADDRESS_AT)?)),
        libc::AF_INET6 => IpAddr::from(Ipv6Addr::from(number::<16>(message, ADDRESS_AT)?)),
        _ => return None,
    };
    let port = u16::from_be_bytes(number::<2>(message, PORT_AT)?);
    Some(ListeningSocket {
        address: SocketAddr::new(ip, port),
        inode: u64::from(u32::from_ne_bytes(number::<4>(message, INODE_AT)?)),
    })
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

/// Returns the sockets of a process; empty if its descriptors aren't visible.
pub(super) fn sockets_of(pid: u32) -> HashSet<u64> {
    let Ok(listing) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return HashSet::new();
    };
    let inode = |entry: io::Result<fs::DirEntry>| -> Option<u64> {
        let target = fs::read_link(entry.ok()?.path()).ok()?;
        let text = target.to_str()?.strip_prefix("socket:[")?;
        text.strip_suffix(']')?.parse().ok()
    };
    listing.filter_map(inode).collect()
}

/// Returns the pid and name of the first process found that has the socket open; `None` if it isn't visible.
pub fn owner(inode: u64) -> Option<(u32, String)> {
    let listing = fs::read_dir("/proc").ok()?;
    let pids = listing.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let pid = pids
        .into_iter()
        .find(|pid| sockets_of(*pid).contains(&inode))?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some((pid, name.trim_end().to_string()))
}

/// Returns a TCP port for a server: no process listens on it at any address, and it can be bound on loopback.
///
/// The port is free again when this returns, and the server binds it some time later. Therefore the port is
/// outside of the range that the kernel uses for outgoing connections and binds of port 0, if there is space
/// there, and processes that choose at the same time begin at different ports.
///
/// # Errors
/// If no port is free.
pub fn free_port() -> io::Result<u16> {
    static CHOSEN: AtomicU32 = AtomicU32::new(0);
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let range = ports_for_servers(&range);
    // If the kernel doesn't answer, the bind below decides alone.
    let all = listening().unwrap_or_default();
    let taken: HashSet<u16> = all.iter().map(|one| one.address.port()).collect();
    let bindable = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    for _ in 0..range.len() {
        let offset = std::process::id()
            .wrapping_mul(PORTS_OF_A_PROCESS)
            .wrapping_add(CHOSEN.fetch_add(1, Relaxed));
        let port = range.start + (offset % range.len() as u32) as u16;
        if !taken.contains(&port) && bindable(port).is_ok() {
            return Ok(port);
        }
    }
    Ok(bindable(0)?.local_addr()?.port())
}

/// The number of ports that a process can choose before it reaches those of the process with the next pid.
const PORTS_OF_A_PROCESS: u32 = 16;

/// Returns the ports outside of the kernel's own range, whose bounds are in `kernels`: those below the range,
/// or those above it if they are more.
fn ports_for_servers(kernels: &str) -> Range<u16> {
    let mut ends = kernels.split_whitespace().map(str::parse::<u16>);
    let (Some(Ok(first)), Some(Ok(last))) = (ends.next(), ends.next()) else {
        return 10_000..32_768;
    };
    let below = 10_000..first;
    let above = last.saturating_add(1)..u16::MAX;
    match below.len() >= above.len() {
        true => below,
        false => above,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutated::mutated;

    #[test]
    fn a_listening_socket_is_found_with_its_owner() {
        let listener = TcpListener::bind((Ipv6Addr::LOCALHOST, 0));
        let listener = listener.or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
        let address = listener.as_ref().unwrap().local_addr().unwrap();
        let all = listening().unwrap();
        let own = all.iter().find(|socket| socket.address == address).unwrap();
        assert_eq!(
            owner(own.inode).map(|(pid, _)| pid),
            Some(std::process::id())
        );
        drop(listener);
        assert!(
            listening()
                .unwrap()
                .iter()
                .all(|socket| socket.address != address)
        );
    }

    #[test]
    fn a_free_port_is_none_that_the_kernel_gives_and_none_twice() {
        let ports: Vec<u16> = (0..40).map(|_| free_port().unwrap()).collect();
        assert_eq!(ports.iter().collect::<HashSet<_>>().len(), 40);
        assert_eq!(ports_for_servers("32768\t60999\n"), 10_000..32_768);
        assert_eq!(ports_for_servers("1024 60999"), 61_000..65_535);
        assert!(ports_for_servers("1024 65535").is_empty());
        assert_eq!(ports_for_servers(""), 10_000..32_768);

        let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap();
        let range = ports_for_servers(&range);
        assert!(range.is_empty() || ports.iter().all(|port| range.contains(port)));
    }

    #[test]
    fn mutated_answers_of_the_kernel_do_not_panic() {
        let mut valid = vec![0u8; HEADER + MESSAGE];
        valid[..4].copy_from_slice(&((HEADER + MESSAGE) as u32).to_ne_bytes());
        valid[4] = SOCK_DIAG_BY_FAMILY as u8;
        valid[HEADER] = libc::AF_INET as u8;
        valid[HEADER + PORT_AT..HEADER + PORT_AT + 2].copy_from_slice(&[0x1f, 0x90]);
        let mut found = Vec::new();
        assert!(messages(&valid, &mut found).unwrap());
        assert_eq!(found[0].address, "0.0.0.0:8080".parse().unwrap());
        for bytes in mutated(&valid.repeat(3)) {
            let mut found = Vec::new();
            let _ = messages(&bytes, &mut found);
            assert!(found.len() <= bytes.len() / HEADER);
        }
    }
}
