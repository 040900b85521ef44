//! Finds the address of the socket for which a process calls `listen`.

use std::ffi::OsStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::filter::Call;
use super::keeper::now;

/// The address at which a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A TCP address.
    Tcp(SocketAddr),
    /// A socket in the file system.
    Unix(PathBuf),
}

/// Returns the address of the socket for which a process called `listen`, and its inode. The process
/// continues in the meantime, so a socket without an address may get one first.
pub(super) fn place_of(call: Call) -> Option<(Place, u64)> {
    // A descriptor belongs to all threads of a process, and a pidfd refers to the first one.
    let status = std::fs::read_to_string(format!("/proc/{}/status", call.thread)).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    let process: libc::pid_t = line.trim().parse().ok()?;
    // SAFETY: the calls take only numbers, and nothing else owns the descriptors.
    let socket = unsafe {
        let pidfd = libc::syscall(libc::SYS_pidfd_open, process, 0);
        if pidfd == -1 {
            return None;
        }
        let pidfd = OwnedFd::from_raw_fd(pidfd as RawFd);
        let got = libc::syscall(libc::SYS_pidfd_getfd, pidfd.as_raw_fd(), call.descriptor, 0);
        if got == -1 {
            return None;
        }
        OwnedFd::from_raw_fd(got as RawFd)
    };
    let inode = {
        // SAFETY: the structure consists of plain numbers; the call fills it in or fails.
        let mut about: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: writes to a live structure.
        let known = unsafe { libc::fstat(socket.as_raw_fd(), &raw mut about) } == 0;
        if known { about.st_ino } else { 0 }
    };
    let until = now() + 2_000_000;
    loop {
        let place = bound_to(&socket)?;
        match &place {
            Place::Tcp(address) if address.port() == 0 && now() < until => std::hint::spin_loop(),
            _ => return Some((place, inode)),
        }
    }
}

fn bound_to(socket: &OwnedFd) -> Option<Place> {
    // SAFETY: an all-zero address has no family; the call fills it in as far as there is space.
    let (storage, length) = unsafe {
        let mut storage: libc::sockaddr_storage = std::mem::zeroed();
        let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        let at = (&raw mut storage).cast();
        if libc::getsockname(socket.as_raw_fd(), at, &raw mut length) == -1 {
            return None;
        }
        (storage, length as usize)
    };
    let at = &raw const storage;
    match i32::from(storage.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family determines the structure; the storage is aligned for all.
            let four = unsafe { &*at.cast::<libc::sockaddr_in>() };
            let ip = Ipv4Addr::from(four.sin_addr.s_addr.to_ne_bytes());
            let address = SocketAddr::new(IpAddr::V4(ip), u16::from_be(four.sin_port));
            Some(Place::Tcp(address))
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let six = unsafe { &*at.cast::<libc::sockaddr_in6>() };
            let ip = Ipv6Addr::from(six.sin6_addr.s6_addr);
            let address = SocketAddr::new(IpAddr::V6(ip), u16::from_be(six.sin6_port));
            Some(Place::Tcp(address))
        }
        libc::AF_UNIX => {
            // SAFETY: as above.
            let unix = unsafe { &*at.cast::<libc::sockaddr_un>() };
            let used = length.saturating_sub(std::mem::offset_of!(libc::sockaddr_un, sun_path));
            let bytes: Vec<u8> = unix.sun_path.iter().take(used).map(|c| *c as u8).collect();
            let path = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
            // A socket without a name, or with an abstract one, has no place in the file system.
            (!path.is_empty()).then(|| Place::Unix(OsStr::from_bytes(path).into()))
        }
        _ => None,
    }
}
