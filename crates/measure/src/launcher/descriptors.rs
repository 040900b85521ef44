//! Pipes, copies of descriptors, and files that exist in memory only, all out of the way of the
//! launcher's own numbers.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = io::pipe()?;
    Ok((high(read.into())?, high(write.into())?))
}

/// A copy at 64 or above, out of the way of the launcher's own numbers.
fn high(descriptor: OwnedFd) -> io::Result<OwnedFd> {
    duplicate(descriptor.as_raw_fd())
}

pub(super) fn duplicate(descriptor: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: takes numbers.
    let copy = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 64) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just made, owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

pub(crate) fn anonymous_file(name: &std::ffi::CStr, flags: libc::c_uint) -> io::Result<OwnedFd> {
    let flags = libc::MFD_CLOEXEC | flags;
    // SAFETY: a string that ends with zero, and numbers. As a call of the kernel: glibc has it since 2.27.
    let file = unsafe { libc::syscall(libc::SYS_memfd_create, name.as_ptr(), flags) };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just made, owned by nobody else.
    high(unsafe { OwnedFd::from_raw_fd(file as RawFd) })
}

/// An executable that exists in memory only.
pub(super) fn program_file(name: &std::ffi::CStr, content: &[u8]) -> io::Result<OwnedFd> {
    use std::io::Write;
    // Kernels before 6.3 don't know MFD_EXEC and make every memory file executable.
    let writable = anonymous_file(name, libc::MFD_EXEC).or_else(|_| anonymous_file(name, 0))?;
    let mut file = File::from(writable);
    file.write_all(content)?;
    // A file that is open for writing can't be executed: open it again for reading.
    let readable = File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    high(readable.into())
}
