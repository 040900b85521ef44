//! Checks whether something could not be started because of a limit on open files or processes.

use std::io;

/// The number of open files that the launcher needs.
const ENOUGH_OPEN_FILES: u64 = 96;

/// Adds the limit that may be the cause to an error at the start.
pub(super) fn with_the_limit(error: io::Error) -> io::Error {
    if error.raw_os_error() == Some(libc::EAGAIN) {
        return io::Error::other(crate::NO_FURTHER_THREAD);
    }
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the pointer is to a live value.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0;
    let may_be = [libc::EINVAL, libc::EMFILE].contains(&error.raw_os_error().unwrap_or(0));
    match known && may_be && limit.rlim_cur < ENOUGH_OPEN_FILES {
        true => io::Error::other(format!(
            "only {} files may be open (`ulimit -n`), but {ENOUGH_OPEN_FILES} are needed",
            limit.rlim_cur
        )),
        false => error,
    }
}
