//! Waits for many sockets and a point in time.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum number of events that one call returns.
const MOST_EVENTS: usize = 512;

/// Whether this kernel lacks `epoll_pwait2` (before 5.11): wake-ups are then only accurate to a millisecond.
static COARSE: AtomicBool = AtomicBool::new(false);

/// An epoll instance with room for its events.
pub(crate) struct Epoll {
    fd: OwnedFd,
    events: Vec<libc::epoll_event>,
}

impl Epoll {
    pub(crate) fn new() -> io::Result<Epoll> {
        // SAFETY: takes a number.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok(Epoll {
            // SAFETY: it was just created and has no other owner.
            fd: unsafe { OwnedFd::from_raw_fd(fd) },
            events: vec![libc::epoll_event { events: 0, u64: 0 }; MOST_EVENTS],
        })
    }

    pub(crate) fn add(&self, fd: RawFd, number: usize, writes: bool) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, number, writes)
    }

    pub(crate) fn change(&self, fd: RawFd, number: usize, writes: bool) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, number, writes)
    }

    fn control(&self, what: i32, fd: RawFd, number: usize, writes: bool) -> io::Result<()> {
        let wanted = libc::EPOLLIN | if writes { libc::EPOLLOUT } else { 0 };
        let mut event = libc::epoll_event {
            events: wanted as u32,
            u64: number as u64,
        };
        // SAFETY: two descriptors and a live event.
        match unsafe { libc::epoll_ctl(self.fd.as_raw_fd(), what, fd, &raw mut event) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Waits for events for at most `wait` nanoseconds; returns their number.
    pub(crate) fn wait(&mut self, wait: u64) -> io::Result<usize> {
        let (fd, at) = (self.fd.as_raw_fd(), self.events.as_mut_ptr());
        let got = if COARSE.load(Ordering::Relaxed) {
            let ms = wait.div_ceil(1_000_000).min(60_000) as libc::c_int;
            // SAFETY: room for that many events.
            unsafe { libc::epoll_wait(fd, at, MOST_EVENTS as libc::c_int, ms) }
        } else {
            let time = libc::timespec {
                tv_sec: (wait / 1_000_000_000) as libc::time_t,
                tv_nsec: (wait % 1_000_000_000) as libc::c_long,
            };
            let no_mask = std::ptr::null::<libc::sigset_t>();
            // SAFETY: room for that many events, a live time, no signal mask.
            let got = unsafe {
                let number = libc::SYS_epoll_pwait2;
                libc::syscall(
                    number,
                    fd,
                    at,
                    MOST_EVENTS,
                    &raw const time,
                    no_mask,
                    0usize,
                )
            };
            got as libc::c_int
        };
        if let Ok(got) = usize::try_from(got) {
            return Ok(got);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => Ok(0),
            Some(libc::ENOSYS) => {
                COARSE.store(true, Ordering::Relaxed);
                Ok(0)
            }
            _ => Err(error),
        }
    }

    /// Returns the number of a connection and its events.
    pub(crate) fn event(&self, index: usize) -> (usize, u32) {
        let event = self.events[index];
        (event.u64 as usize, event.events)
    }
}

/// Returns whether wake-ups are only accurate to a millisecond.
pub fn is_coarse() -> bool {
    COARSE.load(Ordering::Relaxed)
}
