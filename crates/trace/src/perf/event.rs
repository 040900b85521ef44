//! Opens perf events.
//!
//! Events are owned descriptors: closing them (which the kernel also does when this process is killed)
//! removes them. Layout: the third version of `struct perf_event_attr` of `include/uapi/linux/perf_event.h`,
//! whose first 64 bytes are the same as in the first version.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use fathom_stacks::Registers;

const TYPE_SOFTWARE: u32 = 1;
const TYPE_TRACEPOINT: u32 = 2;
const FLAG_FD_CLOEXEC: u64 = 8;
const IOC_ENABLE: libc::c_ulong = 0x2400;
const IOC_DISABLE: libc::c_ulong = 0x2401;
const IOC_PERIOD: libc::c_ulong = 0x4008_2404;
const IOC_SET_OUTPUT: libc::c_ulong = 0x2405;
const IOC_ID: libc::c_ulong = 0x8008_2407;

/// Software events of the kernel, by their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum SoftwareEvent {
    /// The clock of a CPU: one event is one ns.
    CpuClock = 0,
    /// A page fault was served without a disk.
    MinorFault = 5,
    /// A page fault was served from a disk.
    MajorFault = 6,
    /// Never counts; it carries records.
    Dummy = 9,
}

/// Bits of `Attributes::flags`.
pub(crate) mod flag {
    pub(crate) const DISABLED: u64 = 1;
    /// Children and threads that are created from now on are also watched.
    pub(crate) const INHERIT: u64 = 1 << 1;
    pub(crate) const EXCLUDE_KERNEL: u64 = 1 << 5;
    pub(crate) const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
    pub(crate) const EXCLUDE_IDLE: u64 = 1 << 7;
    pub(crate) const EXCLUDE_KERNELS_CALLERS: u64 = 1 << 21;
    /// Records of executable file mappings, with the inodes of the files.
    pub(crate) const MAPPED: u64 = 1 << 8 | 1 << 23;
    /// Also records of mappings that aren't executable.
    pub(crate) const MAPPED_DATA: u64 = 1 << 17;
    /// Records of threads that get a new name.
    pub(crate) const NAMES: u64 = 1 << 9;
    /// Records of threads that begin and end.
    pub(crate) const TASKS: u64 = 1 << 13;
    /// Every record ends with the thread and the time.
    pub(crate) const WHO_AND_WHEN: u64 = 1 << 18;
    /// Names given by `execve` are marked.
    pub(crate) const MARK_EXEC: u64 = 1 << 24;
    /// Record times come from the clock in `Attributes::clock`.
    pub(crate) const CLOCK: u64 = 1 << 25;
    /// Records of switches to and from a CPU.
    pub(crate) const SWITCHES: u64 = 1 << 26;
}

/// `sample_type`: address, process with thread, and time.
const WHERE: u64 = 1;
/// See [`WHERE`].
const WHO: u64 = 1 << 1;
/// See [`WHERE`].
const WHEN: u64 = 1 << 2;

/// `sample_type`: return addresses, as far as frame pointers lead.
const CALLERS: u64 = 1 << 5;
/// `sample_type`: registers of the user's code.
const USER_REGISTERS: u64 = 1 << 12;
/// `sample_type`: a copy of the user's stack.
const USER_STACK: u64 = 1 << 13;
/// `sample_type`: the event's id, at the front.
const EVENT: u64 = 1 << 16;

/// Maximum size of a stack in a record, with room for the rest of the record.
const MOST_STACK: u32 = 63 << 10;

/// Which threads are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    /// Every thread of the machine; needs `CAP_PERFMON`.
    Any,
    /// One thread, and its descendants if the event is inherited.
    Thread(u32),
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    pub(crate) period: u64,
    sample_type: u64,
    read_format: u64,
    pub(crate) flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    user_registers: u64,
    user_stack: u32,
    clock: i32,
}

impl Attributes {
    /// Returns a software event without any records.
    pub(crate) fn software(event: SoftwareEvent) -> Self {
        Self {
            kind: TYPE_SOFTWARE,
            size: size_of::<Self>() as u32,
            config: event as u64,
            ..Self::default()
        }
    }

    /// Returns an event of the kernel's tracing, by its id, that is only counted.
    pub(crate) fn tracepoint(number: u64, flags: u64) -> Self {
        Self {
            kind: TYPE_TRACEPOINT,
            config: number,
            flags,
            ..Self::software(SoftwareEvent::Dummy)
        }
    }

    /// Returns an event that records beginnings, ends, names and mappings. With `samples`, it also records
    /// the position in the program's own code, once per this interval of CPU time. `flags` selects additional
    /// records.
    pub(crate) fn recording(samples: Option<Duration>, flags: u64) -> Self {
        let event = match samples {
            Some(_) => SoftwareEvent::CpuClock,
            None => SoftwareEvent::Dummy,
        };
        Self {
            period: samples.map_or(0, |period| period.as_nanos() as u64),
            sample_type: WHERE | WHO | WHEN,
            clock: libc::CLOCK_MONOTONIC,
            flags: flags
                | flag::EXCLUDE_KERNEL
                | flag::EXCLUDE_HYPERVISOR
                | flag::MAPPED
                | flag::NAMES
                | flag::TASKS
                | flag::WHO_AND_WHEN
                | flag::MARK_EXEC
                | flag::CLOCK,
            ..Self::software(event)
        }
    }

    /// Returns an event that records all mappings, executable or not.
    pub(crate) fn mappings() -> Self {
        Self {
            sample_type: WHO | WHEN,
            clock: libc::CLOCK_MONOTONIC,
            flags: flag::EXCLUDE_KERNEL
                | flag::EXCLUDE_HYPERVISOR
                | flag::MAPPED
                | flag::MAPPED_DATA
                | flag::WHO_AND_WHEN
                | flag::CLOCK,
            ..Self::software(SoftwareEvent::Dummy)
        }
    }

    /// Adds registers and a copy of the stack to each sample. The copy has at most `bytes` bytes; if this is
    /// 0, neither is added.
    pub(crate) fn with_stacks(self, bytes: u32) -> Self {
        match bytes {
            0 => self,
            _ => Self {
                sample_type: self.sample_type | CALLERS | USER_REGISTERS | USER_STACK,
                flags: self.flags | flag::EXCLUDE_KERNELS_CALLERS,
                user_registers: Registers::PERF_MASK,
                // A record's length is a 16-bit number.
                user_stack: bytes.min(MOST_STACK).next_multiple_of(8),
                ..self
            },
        }
    }

    /// Returns whether samples have stacks.
    pub(crate) fn has_stacks(&self) -> bool {
        self.user_stack > 0
    }

    /// Returns an event that is recorded when a thread reaches this offset of this file. The record has the
    /// event's id, the thread, the time, and these registers, given as a bit set of perf's numbers. `kind` is
    /// the type of `uprobe` events. Keep the path alive until the event is opened.
    pub(crate) fn probe(kind: u32, path: &CStr, offset: u64, registers: u64) -> Self {
        Self {
            kind,
            config: 0,
            config1: path.as_ptr() as u64,
            config2: offset,
            period: 1,
            sample_type: EVENT | WHO | WHEN | USER_REGISTERS,
            user_registers: registers,
            clock: libc::CLOCK_MONOTONIC,
            flags: flag::CLOCK,
            ..Self::software(SoftwareEvent::Dummy)
        }
    }
}

/// Returns the numbers of the CPUs that may exist.
pub(crate) fn cpus() -> std::ops::Range<i32> {
    // SAFETY: queries a constant of the system.
    let cpus = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    0..cpus.max(1) as i32
}

/// Opens an event for these threads while they run on this CPU; `None` for a CPU that is offline.
///
/// # Errors
/// The kernel's: `EACCES` or `EPERM` without permission, `ENOSYS` without perf, `EMFILE` without free
/// descriptors, `ESRCH` for a thread that has ended.
pub(crate) fn open(
    attributes: &Attributes,
    watched: Watched,
    cpu: i32,
) -> io::Result<Option<OwnedFd>> {
    const NO_GROUP: i32 = -1;
    let pid = match watched {
        Watched::Any => -1,
        Watched::Thread(tid) => tid as i32,
    };
    // SAFETY: the pointer is to a live repr(C) value of the third version of the kernel's struct, which
    // contains its own size.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::from_ref(attributes),
            pid,
            cpu,
            NO_GROUP,
            FLAG_FD_CLOEXEC,
        )
    };
    match fd {
        -1 => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ENODEV) => Ok(None),
            error => Err(error),
        },
        // SAFETY: the kernel has just returned this descriptor to us; it has no other owner.
        fd => Ok(Some(unsafe { OwnedFd::from_raw_fd(fd as i32) })),
    }
}

/// Starts counting an event.
///
/// # Errors
/// The kernel's, if the descriptor is not an event.
pub(crate) fn start(event: &OwnedFd) -> io::Result<()> {
    request(event, IOC_ENABLE, 0)
}

/// Stops counting until the event is started again.
///
/// # Errors
/// Those of [`start`].
pub(crate) fn stop(event: &OwnedFd) -> io::Result<()> {
    request(event, IOC_DISABLE, 0)
}

/// Makes an `ioctl` request that takes an integer.
///
/// # Errors
/// The kernel's.
pub(crate) fn request(event: &OwnedFd, number: libc::c_ulong, argument: i32) -> io::Result<()> {
    // SAFETY: the requests made here take an integer.
    match unsafe { libc::ioctl(event.as_raw_fd(), number as _, argument) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Redirects an event's records into the buffer of another event on the same CPU.
///
/// # Errors
/// The kernel's.
pub(crate) fn tell_into(event: &OwnedFd, other: i32) -> io::Result<()> {
    request(event, IOC_SET_OUTPUT, other)
}

/// Sets a new period for an event and starts it. Inherited copies of the event keep their own period.
///
/// # Errors
/// The kernel's.
pub(crate) fn set_period(event: RawFd, period: u64) -> io::Result<()> {
    // SAFETY: this request reads a 64-bit number from a live variable.
    match unsafe { libc::ioctl(event, IOC_PERIOD as _, &raw const period) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Returns the id by which records refer to an event.
///
/// # Errors
/// The kernel's.
pub(crate) fn number(event: &OwnedFd) -> io::Result<u64> {
    let mut number = 0u64;
    // SAFETY: this request writes a 64-bit number to a live variable.
    match unsafe { libc::ioctl(event.as_raw_fd(), IOC_ID as _, &raw mut number) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(number),
    }
}
