//! Which sockets listen on this machine, and whose are they?
//!
//! By netlink (`sock_diag`), which looks only at those that listen: `/proc/net/tcp` walks the whole
//! hash table, 4 ms a read.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Netlink family, message types and flags; `linux/netlink.h`, `linux/sock_diag.h`.
const NETLINK_SOCK_DIAG: libc::c_int = 4;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// `TCP_LISTEN` of `net/tcp_states.h`, as a bit.
const LISTENING: u32 = 1 << 10;
/// Length of `struct nlmsghdr` and of `struct inet_diag_req_v2`.
const HEADER: usize = 16;
const REQUEST: usize = 56;
/// Offsets in `struct inet_diag_msg`, from its begin: family, source port, source address, inode.
const FAMILY_AT: usize = 0;
const PORT_AT: usize = 4;
const ADDRESS_AT: usize = 8;
const INODE_AT: usize = 68;
const MESSAGE: usize = 72;

/// A socket that listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListeningSocket {
    /// Where.
    pub address: SocketAddr,
    /// Its number, as in `/proc/PID/fd`.
    pub inode: u64,
}

/// All TCP sockets that listen in this network namespace.
///
/// # Errors
/// When the kernel doesn't answer.
pub fn listening() -> io::Result<Vec<ListeningSocket>> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: takes numbers.
    let fd = unsafe { libc::socket(libc::AF_NETLINK, kind, NETLINK_SOCK_DIAG) };
    if fd == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was just made and nobody else owns it.
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

/// Takes the sockets out of what the kernel wrote; whether more is to come.
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

/// The sockets of a process; none where its descriptors may not be seen.
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

/// Who holds a socket: number and name of the first process that is found; `None` where nothing
/// may be seen of him.
pub fn owner(inode: u64) -> Option<(u32, String)> {
    let listing = fs::read_dir("/proc").ok()?;
    let pids = listing.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let pid = pids
        .into_iter()
        .find(|pid| sockets_of(*pid).contains(&inode))?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some((pid, name.trim_end().to_string()))
}

/// A TCP port that nobody uses now. It is free again when this returns; who takes it in between
/// shows when the server can't have it.
///
/// # Errors
/// When there is none.
pub fn free_port() -> io::Result<u16> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutated::mutated;

    #[test]
    fn a_listening_socket_is_found_with_its_owner() {
        let listener = std::net::TcpListener::bind((Ipv6Addr::LOCALHOST, 0));
        let listener = listener.or_else(|_| std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
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
