//! How does a program run when the kernel counts an event?
//!
//! Perf's software events as owned descriptors, one for each CPU: closing them (also by the kernel,
//! when the process is killed) removes them. Layout: `struct perf_event_attr` of
//! `include/uapi/linux/perf_event.h` in its first version.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

const TYPE_SOFTWARE: u32 = 1;
const DISABLED: u64 = 1;
const FLAG_FD_CLOEXEC: u64 = 8;
const IOC_ENABLE: libc::c_ulong = 0x2400;
const IOC_SET_BPF: libc::c_ulong = 0x4004_2408;

/// Events that the kernel counts itself, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum SoftwareEvent {
    /// A page fault was served without a disk.
    MinorFault = 5,
    /// A page fault was served from a disk.
    MajorFault = 6,
}

#[repr(C)]
#[derive(Default)]
struct EventAttr {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

/// Runs the program for each such event of any thread, on all CPUs that are there.
///
/// # Errors
/// The kernel's: `EACCES` or `EPERM` without `CAP_PERFMON`, `ENOSYS` without perf, `EMFILE` where
/// there are more CPUs than free descriptors. Nothing is attached then.
pub fn run_on(event: SoftwareEvent, program: BorrowedFd<'_>) -> io::Result<Vec<OwnedFd>> {
    // SAFETY: asks for a constant of the system.
    let cpus = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    let mut opened = Vec::new();
    for cpu in 0..cpus.max(1) as i32 {
        match open(event, cpu) {
            Ok(fd) => {
                attach(&fd, program)?;
                opened.push(fd);
            }
            // This one is switched off.
            Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(opened)
}

/// An event of every thread on this CPU, not counting yet.
fn open(event: SoftwareEvent, cpu: i32) -> io::Result<OwnedFd> {
    const ANY_THREAD: i32 = -1;
    const NO_GROUP: i32 = -1;
    let attr = EventAttr {
        kind: TYPE_SOFTWARE,
        size: std::mem::size_of::<EventAttr>() as u32,
        config: event as u64,
        period: 1,
        flags: DISABLED,
        ..EventAttr::default()
    };
    // SAFETY: `attr` is a live repr(C) first version of the kernel's struct and says its own size.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::from_ref(&attr),
            ANY_THREAD,
            cpu,
            NO_GROUP,
            FLAG_FD_CLOEXEC,
        )
    };
    match fd {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: the kernel has just returned this descriptor to us; nobody else owns it.
        fd => Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) }),
    }
}

fn attach(event: &OwnedFd, program: BorrowedFd<'_>) -> io::Result<()> {
    for (request, argument) in [(IOC_SET_BPF, program.as_raw_fd()), (IOC_ENABLE, 0)] {
        // SAFETY: both requests take an integer.
        if unsafe { libc::ioctl(event.as_raw_fd(), request as _, argument) } == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
