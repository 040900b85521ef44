//! Continues the launcher when a command has stopped it.
//!
//! The launcher is a command's parent, which the command may stop (`kill -STOP $PPID`). Then the end of the
//! run would go unnoticed, and processes that it left behind could not be killed. Therefore a thread sleeps
//! until the kernel reports that the launcher has stopped. The thread then ends the run, which can no longer
//! be measured, and continues the launcher.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread::JoinHandle;

use super::memory::Memory;

/// The value that means that there is no job.
const NONE: i32 = -1;

/// The thread that watches; it ends with the launcher.
#[derive(Debug)]
pub(super) struct Watchdog {
    /// The job that was running when the launcher was stopped.
    stopped_in: Arc<AtomicI32>,
    /// An eventfd that is readable once the launcher was stopped.
    noticed: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Watches `launcher`, a child of this process.
    ///
    /// # Errors
    /// Errors of the system, if no further thread or descriptor is available.
    pub(super) fn start(launcher: libc::pid_t, memory: Memory) -> io::Result<Watchdog> {
        // SAFETY: takes only numbers.
        let process = unsafe { libc::syscall(libc::SYS_pidfd_open, launcher, 0) } as libc::c_int;
        if process < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: takes only numbers.
        let noticed = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if noticed < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just created, with no other owner.
        let noticed = Arc::new(unsafe { OwnedFd::from_raw_fd(noticed) });
        let stopped_in = Arc::new(AtomicI32::new(NONE));
        let watch = Watch {
            noticed: Arc::clone(&noticed),
            // SAFETY: just created, with no other owner.
            process: unsafe { OwnedFd::from_raw_fd(process) },
            memory,
            stopped_in: Arc::clone(&stopped_in),
        };
        let thread = std::thread::Builder::new()
            .name("watchdog".into())
            .stack_size(128 * 1024)
            .spawn(move || watch.until_it_ends())?;
        Ok(Watchdog {
            stopped_in,
            noticed,
            thread: Some(thread),
        })
    }

    /// Attributes stops from now on to the next runs.
    pub(super) fn begin(&self) {
        self.stopped_in.store(NONE, Ordering::Relaxed);
        let mut count = [0u8; 8];
        // SAFETY: reads eight bytes; the descriptor is non-blocking.
        unsafe { libc::read(self.descriptor(), count.as_mut_ptr().cast(), count.len()) };
    }

    /// Returns a descriptor that is readable once a job was ended because the launcher was stopped.
    pub(super) fn descriptor(&self) -> RawFd {
        self.noticed.as_raw_fd()
    }

    /// Returns the job that was running when the launcher was stopped, and was therefore ended.
    pub(super) fn stopped_in(&self) -> Option<usize> {
        usize::try_from(self.stopped_in.load(Ordering::Acquire)).ok()
    }

    /// Waits for the thread, once the launcher has ended.
    pub(super) fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // The thread doesn't panic.
            let _ = thread.join();
        }
    }
}

struct Watch {
    process: OwnedFd,
    memory: Memory,
    stopped_in: Arc<AtomicI32>,
    noticed: Arc<OwnedFd>,
}

// SAFETY: the memory stays mapped until the thread is joined, and any thread may use it in this way.
unsafe impl Send for Watch {}

impl Watch {
    fn until_it_ends(self) {
        while self.has_stopped() {
            // The launcher is stopped, so this is its current job, and its processes have not been reaped.
            // The waiting side kills a process that the launcher had created but not yet recorded.
            let (job, _) = self.memory.current();
            self.memory.kill_tree(job);
            self.stopped_in.store(job as i32, Ordering::Release);
            let (none, one) = (0usize, 1u64.to_ne_bytes());
            // SAFETY: passes only numbers, a null pointer for the optional details, and a buffer of eight
            // bytes.
            unsafe {
                libc::write(self.noticed.as_raw_fd(), one.as_ptr().cast(), one.len());
                libc::syscall(
                    libc::SYS_pidfd_send_signal,
                    self.process.as_raw_fd(),
                    libc::SIGCONT,
                    none,
                    0,
                )
            };
        }
    }

    /// Sleeps until the launcher stops. Returns false once it has ended, and leaves the exit status for
    /// another wait.
    fn has_stopped(&self) -> bool {
        loop {
            // SAFETY: an all-zero siginfo is valid; the call fills it in.
            let (waited, about) = unsafe {
                let mut about: libc::siginfo_t = std::mem::zeroed();
                let waited = libc::waitid(
                    libc::P_PIDFD,
                    self.process.as_raw_fd() as libc::id_t,
                    &raw mut about,
                    libc::WSTOPPED | libc::WEXITED | libc::WNOWAIT,
                );
                (waited, about)
            };
            match waited {
                0 => return about.si_code == libc::CLD_STOPPED,
                _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                _ => return false,
            }
        }
    }
}
