//! Runs a program when the kernel counts an event.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use crate::perf::event::{self, Attributes, Watched, flag};

pub(super) use crate::perf::event::SoftwareEvent;

const IOC_SET_BPF: libc::c_ulong = 0x4004_2408;

/// Runs the program for each event of this kind in any thread, on all present CPUs.
///
/// # Errors
/// Those of [`event::open`]. In this case, nothing is attached.
pub(super) fn run_on(event: SoftwareEvent, program: BorrowedFd<'_>) -> io::Result<Vec<OwnedFd>> {
    let mut attributes = Attributes::software(event);
    attributes.period = 1;
    attributes.flags = flag::DISABLED;
    let mut opened = Vec::new();
    for cpu in event::cpus() {
        if let Some(fd) = event::open(&attributes, Watched::Any, cpu)? {
            attach(&fd, program)?;
            opened.push(fd);
        }
    }
    Ok(opened)
}

fn attach(event: &OwnedFd, program: BorrowedFd<'_>) -> io::Result<()> {
    event::request(event, IOC_SET_BPF, program.as_raw_fd())?;
    event::start(event)
}
