//! Pipes, descriptor copies and in-memory files, all with numbers that don't collide with the launcher's own.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = io::pipe()?;
    Ok((high(read.into())?, high(write.into())?))
}

/// Returns a copy numbered 64 or above, which doesn't collide with the launcher's own numbers.
fn high(descriptor: OwnedFd) -> io::Result<OwnedFd> {
    duplicate(descriptor.as_raw_fd())
}

pub(super) fn duplicate(descriptor: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: takes only numbers.
    let copy = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 64) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just created, with no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

pub(crate) fn anonymous_file(name: &std::ffi::CStr, flags: libc::c_uint) -> io::Result<OwnedFd> {
    let flags = libc::MFD_CLOEXEC | flags;
    // SAFETY: a NUL-terminated string and numbers. This is a raw system call because glibc has the function
    // only since 2.27.
    let file = unsafe { libc::syscall(libc::SYS_memfd_create, name.as_ptr(), flags) };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just created, with no other owner.
    high(unsafe { OwnedFd::from_raw_fd(file as RawFd) })
}

/// Creates an executable that exists only in memory.
pub(super) fn program_file(name: &std::ffi::CStr, content: &[u8]) -> io::Result<OwnedFd> {
    use std::io::Write;
    // Kernels before 6.3 don't know MFD_EXEC and make every memory file executable.
    let writable = anonymous_file(name, libc::MFD_EXEC).or_else(|_| anonymous_file(name, 0))?;
    let mut file = File::from(writable);
    file.write_all(content)?;
    // A file that is open for writing can't be executed, so it is opened again for reading.
    let readable = File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    high(readable.into())
}
