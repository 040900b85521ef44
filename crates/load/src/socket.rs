//! A non-blocking connection.

use std::io;
use std::mem::size_of;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;

use crate::address::Address;
use crate::ledger::Failing;

/// A stream socket.
#[derive(Debug)]
pub(crate) struct Socket(OwnedFd);

impl Socket {
    /// Begins to connect; the socket becomes writable when connected.
    ///
    /// # Errors
    /// Errors that are known immediately.
    pub(crate) fn connect(address: &Address) -> io::Result<Socket> {
        let family = match address {
            Address::Tcp(SocketAddr::V4(_)) => libc::AF_INET,
            Address::Tcp(SocketAddr::V6(_)) => libc::AF_INET6,
            Address::Unix(_) => libc::AF_UNIX,
        };
        let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: takes numbers.
        let fd = unsafe { libc::socket(family, kind, 0) };
        if fd == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it was just created and has no other owner.
        let socket = Socket(unsafe { OwnedFd::from_raw_fd(fd) });
        if family != libc::AF_UNIX {
            socket.without_delay();
        }
        let (storage, length) = raw(address)?;
        // SAFETY: an address of the given length.
        let connected = unsafe { libc::connect(fd, (&raw const storage).cast(), length) };
        if connected == 0 {
            return Ok(socket);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINPROGRESS | libc::EINTR) => Ok(socket),
            _ => Err(error),
        }
    }

    fn without_delay(&self) {
        let one: libc::c_int = 1;
        let (level, name) = (libc::IPPROTO_TCP, libc::TCP_NODELAY);
        let size = size_of::<libc::c_int>() as libc::socklen_t;
        // SAFETY: an int of its size.
        unsafe {
            libc::setsockopt(
                self.0.as_raw_fd(),
                level,
                name,
                (&raw const one).cast(),
                size,
            )
        };
    }

    /// Returns the result of connecting, once the socket is writable.
    pub(crate) fn connected(&self) -> io::Result<()> {
        let mut error: libc::c_int = 0;
        let mut size = size_of::<libc::c_int>() as libc::socklen_t;
        let fd = self.0.as_raw_fd();
        // SAFETY: room for an int of the given size.
        let got = unsafe {
            let at = (&raw mut error).cast();
            libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_ERROR, at, &raw mut size)
        };
        match (got, error) {
            (0, 0) => Ok(()),
            (0, error) => Err(io::Error::from_raw_os_error(error)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(crate) fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        let fd = self.0.as_raw_fd();
        // SAFETY: reads at most the slice.
        let sent =
            unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }

    pub(crate) fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let fd = self.0.as_raw_fd();
        // SAFETY: writes at most the slice.
        let got = unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        usize::try_from(got).map_err(|_| io::Error::last_os_error())
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Converts a socket error to the failure of the request on it.
pub(crate) fn failing(error: &io::Error, connecting: bool) -> Failing {
    match error.raw_os_error() {
        Some(libc::EADDRNOTAVAIL | libc::EMFILE | libc::ENFILE | libc::ENOBUFS) => Failing::NoPort,
        _ if connecting => Failing::Connect,
        _ if error.kind() == io::ErrorKind::UnexpectedEof => Failing::Closed,
        _ => Failing::Reset,
    }
}

fn raw(address: &Address) -> io::Result<(libc::sockaddr_storage, libc::socklen_t)> {
    // SAFETY: an all-zero address is one of no family.
    let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let at = &raw mut storage;
    // SAFETY: the storage has room for an address of every family, and is aligned for them.
    let length = unsafe {
        match address {
            Address::Tcp(SocketAddr::V4(address)) => {
                let four = &mut *at.cast::<libc::sockaddr_in>();
                four.sin_family = libc::AF_INET as libc::sa_family_t;
                four.sin_port = address.port().to_be();
                four.sin_addr.s_addr = u32::from_ne_bytes(address.ip().octets());
                size_of::<libc::sockaddr_in>()
            }
            Address::Tcp(SocketAddr::V6(address)) => {
                let six = &mut *at.cast::<libc::sockaddr_in6>();
                six.sin6_family = libc::AF_INET6 as libc::sa_family_t;
                six.sin6_port = address.port().to_be();
                six.sin6_addr.s6_addr = address.ip().octets();
                six.sin6_scope_id = address.scope_id();
                size_of::<libc::sockaddr_in6>()
            }
            Address::Unix(path) => {
                let unix = &mut *at.cast::<libc::sockaddr_un>();
                unix.sun_family = libc::AF_UNIX as libc::sa_family_t;
                let bytes = path.as_os_str().as_bytes();
                if bytes.len() >= unix.sun_path.len() {
                    return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
                }
                for (to, from) in unix.sun_path.iter_mut().zip(bytes) {
                    *to = *from as libc::c_char;
                }
                size_of::<libc::sockaddr_un>()
            }
        }
    };
    Ok((storage, length as libc::socklen_t))
}
