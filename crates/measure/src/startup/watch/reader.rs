//! Drains the pipe, and determines how late it was woken.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::Ordering;

use super::shared::Shared;
use super::waits::OwnWaits;
use crate::emptying::lock;
use crate::launcher::now_ns;

/// Sleeps until there is something to read, and reads it.
pub(super) fn read_when_woken(shared: &Shared, stop: RawFd) {
    let watch = |fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut polled = [watch(shared.pipe.as_raw_fd()), watch(stop)];
    let waits = OwnWaits::open();
    loop {
        let before = waits.read();
        // SAFETY: an array of two.
        let ready = unsafe { libc::poll(polled.as_mut_ptr(), 2, -1) };
        let at = now_ns();
        if ready < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
        if polled[1].revents != 0 {
            return;
        }
        if polled[0].revents & libc::POLLIN != 0 {
            let waited_ns = waits.since(before);
            let mut reading = lock(&shared.reading);
            reading.note(at, waited_ns);
            shared.taken.store(true, Ordering::SeqCst);
            if shared.empty(&mut reading) {
                // An earlier run woke the thread and the lock delayed it, so it read bytes of this run: they
                // had arrived by this time.
                reading.note(now_ns(), None);
            }
            shared.noted.notify_all();
        } else if polled[0].revents != 0 {
            // A closed pipe is reported forever; `poll` skips -1.
            polled[0].fd = -1;
        }
    }
}
