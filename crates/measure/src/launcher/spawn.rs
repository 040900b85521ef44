//! Starts the launcher without copying Fathom's memory. Fathom continues once the launcher exists.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::ptr::null_mut;

/// Runs the program behind a descriptor under the given `name`, with `/dev/null` as standard input, output
/// and error, and no environment. `places` lists the descriptors that it gets: our number and its number.
/// None of its numbers may equal one of ours.
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
    // SAFETY: NUL-terminated strings, null-terminated arrays, initialized attributes.
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

/// Attributes applied between the child's creation and its exec. Signals have the state that programs expect:
/// none is blocked, and SIGPIPE, which Rust ignores, and SIGXFSZ, which Fathom ignores, have their default
/// action.
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
        // SAFETY: each call initializes its argument before another one reads it.
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

    /// Opens `/dev/null` at this number in the child.
    fn open(&mut self, place: RawFd, flags: libc::c_int) -> io::Result<()> {
        let (actions, path) = (self.actions.as_mut_ptr(), c"/dev/null");
        // SAFETY: created in `new`; the path is copied.
        check(unsafe {
            libc::posix_spawn_file_actions_addopen(actions, place, path.as_ptr(), flags, 0)
        })
    }

    fn copy(&mut self, source: RawFd, place: RawFd) -> io::Result<()> {
        // SAFETY: created in `new`.
        check(unsafe {
            libc::posix_spawn_file_actions_adddup2(self.actions.as_mut_ptr(), source, place)
        })
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: created in `new`, and no longer used.
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
