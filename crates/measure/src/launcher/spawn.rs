//! Starts the launcher without copying Fathom's memory: it is there before Fathom goes on.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::ptr::null_mut;

/// Runs the program behind a descriptor, called `name`, with nothing as standard input, output and
/// error, no environment, and each of `places` (ours, its own). No number of its own may be one of
/// ours.
pub(super) fn spawn(
    program: RawFd,
    name: &CStr,
    places: &[(RawFd, RawFd)],
) -> io::Result<libc::pid_t> {
    let path = CString::new(format!("/proc/self/fd/{program}"))?;
    let mut how = Attributes::new()?;
    for (place, flags) in [
        (0, libc::O_RDONLY),
        (1, libc::O_WRONLY),
        (2, libc::O_WRONLY),
    ] {
        how.open(place, flags)?;
    }
    for (source, place) in places {
        how.copy(*source, *place)?;
    }
    let arguments = [name.as_ptr().cast_mut(), null_mut()];
    let environment = [null_mut()];
    let mut pid = 0;
    // SAFETY: strings that end with zero, arrays that end with null, attributes that were made.
    check(unsafe {
        libc::posix_spawn(
            &raw mut pid,
            path.as_ptr(),
            how.actions.as_ptr(),
            how.attributes.as_ptr(),
            arguments.as_ptr(),
            environment.as_ptr(),
        )
    })?;
    Ok(pid)
}

/// What happens between its creation and its program. Signals are as a program expects them: none
/// is held back, and SIGPIPE, which Rust ignores, and SIGXFSZ, which Fathom does, end it.
struct Attributes {
    actions: MaybeUninit<libc::posix_spawn_file_actions_t>,
    attributes: MaybeUninit<libc::posix_spawnattr_t>,
}

impl Attributes {
    fn new() -> io::Result<Attributes> {
        let mut actions = MaybeUninit::uninit();
        let mut attributes = MaybeUninit::uninit();
        let mut signals = MaybeUninit::uninit();
        let flags = libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK;
        // SAFETY: each call fills what it is given, before another one reads it.
        unsafe {
            check(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
            check(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
            libc::sigemptyset(signals.as_mut_ptr());
            check(libc::posix_spawnattr_setsigmask(
                attributes.as_mut_ptr(),
                signals.as_ptr(),
            ))?;
            libc::sigaddset(signals.as_mut_ptr(), libc::SIGPIPE);
            libc::sigaddset(signals.as_mut_ptr(), libc::SIGXFSZ);
            check(libc::posix_spawnattr_setsigdefault(
                attributes.as_mut_ptr(),
                signals.as_ptr(),
            ))?;
            check(libc::posix_spawnattr_setflags(
                attributes.as_mut_ptr(),
                flags as libc::c_short,
            ))?;
        }
        Ok(Attributes {
            actions,
            attributes,
        })
    }

    /// Nothing, at this number of its own.
    fn open(&mut self, place: RawFd, flags: libc::c_int) -> io::Result<()> {
        let (actions, path) = (self.actions.as_mut_ptr(), c"/dev/null");
        // SAFETY: made in `new`; the path is copied.
        check(unsafe {
            libc::posix_spawn_file_actions_addopen(actions, place, path.as_ptr(), flags, 0)
        })
    }

    fn copy(&mut self, source: RawFd, place: RawFd) -> io::Result<()> {
        // SAFETY: made in `new`.
        check(unsafe {
            libc::posix_spawn_file_actions_adddup2(self.actions.as_mut_ptr(), source, place)
        })
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: made in `new`, used by nobody any more.
        unsafe {
            libc::posix_spawn_file_actions_destroy(self.actions.as_mut_ptr());
            libc::posix_spawnattr_destroy(self.attributes.as_mut_ptr());
        }
    }
}

fn check(error: libc::c_int) -> io::Result<()> {
    match error {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}
