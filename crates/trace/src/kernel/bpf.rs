//! An interface to the kernel's `bpf(2)`.
//!
//! Maps, programs and their attachments are owned descriptors: closing them (which the kernel also does when
//! the process is killed) removes everything. Layouts follow `union bpf_attr` of `include/uapi/linux/bpf.h`;
//! omitted trailing fields count as zero.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

const MAP_CREATE: i32 = 0;
const MAP_LOOKUP: i32 = 1;
const MAP_UPDATE: i32 = 2;
const MAP_DELETE: i32 = 3;
const PROG_LOAD: i32 = 5;
const PROG_TEST_RUN: i32 = 10;
const RAW_TRACEPOINT_OPEN: i32 = 17;
const MAP_LOOKUP_BATCH: i32 = 24;
const MAP_DELETE_BATCH: i32 = 27;
const LINK_CREATE: i32 = 28;

/// Number of entries requested at once. The kernel returns whole buckets of its table, which hold a few
/// entries each.
const BATCH: usize = 512;

const TYPE_KPROBE: u32 = 2;
const TYPE_PERF_EVENT: u32 = 7;
const TYPE_RAW_TRACEPOINT: u32 = 17;
const TYPE_TRACING: u32 = 26;
const ATTACH_TRACE_RAW_TP: u32 = 23;
const ATTACH_TRACE_UPROBE_MULTI: u32 = 48;

/// Required by the kernel for programs that read other tasks' memory.
const LICENSE: &CStr = c"Dual MIT/GPL";

/// Kind of a map, as numbered by the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum MapKind {
    /// Keys are hashed; entries are allocated when the map is created.
    Hash = 1,
    /// Keys are indices from 0.
    Array = 2,
    /// An array with one value for each CPU.
    PerCpuArray = 6,
    /// A byte ring that programs write and this process reads.
    Ring = 27,
}

#[repr(C)]
#[derive(Default)]
struct MapCreate {
    kind: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    flags: u32,
    inner_fd: u32,
    numa_node: u32,
    name: [u8; 16],
}

#[repr(C)]
#[derive(Default)]
struct MapElement {
    fd: u32,
    pad: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
#[derive(Default)]
struct MapBatch {
    from: u64,
    next: u64,
    keys: u64,
    values: u64,
    count: u32,
    fd: u32,
    element_flags: u64,
    flags: u64,
}

#[repr(C)]
#[derive(Default)]
struct ProgLoad {
    kind: u32,
    insn_count: u32,
    insns: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    ifindex: u32,
    expected_attach: u32,
    btf_fd: u32,
    func_info_size: u32,
    func_info: u64,
    func_info_count: u32,
    line_info_size: u32,
    line_info: u64,
    line_info_count: u32,
    attach_btf_id: u32,
}

#[repr(C)]
#[derive(Default)]
struct RawTracepoint {
    name: u64,
    fd: u32,
    pad: u32,
}

#[repr(C)]
#[derive(Default)]
struct LinkUprobes {
    program: u32,
    target: u32,
    kind: u32,
    link_flags: u32,
    path: u64,
    offsets: u64,
    counters: u64,
    cookies: u64,
    count: u32,
    flags: u32,
    pid: u32,
    /// The kernel requires 0 here, and padding would be undefined.
    rest: u32,
}

#[repr(C)]
#[derive(Default)]
struct TestRun {
    fd: u32,
    rest: [u32; 15],
}

fn bpf<T>(command: i32, attr: &mut T) -> io::Result<i32> {
    let size = std::mem::size_of::<T>();
    // SAFETY: `attr` is a live repr(C) prefix of `union bpf_attr` of the given size, and every
    // pointer in it was taken from a slice that outlives this call.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attr), size) };
    match result {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value as i32),
    }
}

fn owned(fd: i32) -> OwnedFd {
    // SAFETY: the kernel has just returned this descriptor to us; it has no other owner.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

fn name16(name: &str) -> [u8; 16] {
    let mut out = [0; 16];
    let len = name.len().min(15);
    out[..len].copy_from_slice(&name.as_bytes()[..len]);
    out
}

/// A map in the kernel; freed when this value and all programs that use the map are closed.
#[derive(Debug)]
pub(crate) struct Map {
    fd: OwnedFd,
    key_size: usize,
    value_size: usize,
}

impl Map {
    /// Creates a map. Sizes are in bytes; for [`MapKind::Ring`] both are 0 and `entries` is the size in
    /// bytes, a power of 2.
    ///
    /// # Errors
    /// The kernel's: `EPERM` without `CAP_BPF`, `ENOMEM`, `EINVAL` for an unknown kind.
    pub(crate) fn create(
        kind: MapKind,
        name: &str,
        key_size: usize,
        value_size: usize,
        entries: u32,
    ) -> io::Result<Self> {
        let mut attr = MapCreate {
            kind: kind as u32,
            key_size: key_size as u32,
            value_size: value_size as u32,
            max_entries: entries,
            name: name16(name),
            ..MapCreate::default()
        };
        let fd = owned(bpf(MAP_CREATE, &mut attr)?);
        Ok(Self {
            fd,
            key_size,
            value_size,
        })
    }

    /// Returns the descriptor, for [`super::asm::Asm::load_map`].
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    fn element(&self, key: Option<&[u8]>, value: *const u8) -> MapElement {
        MapElement {
            fd: self.fd.as_raw_fd() as u32,
            key: key.map_or(0, |k| k.as_ptr() as u64),
            value: value as u64,
            ..MapElement::default()
        }
    }

    /// Writes one entry.
    ///
    /// # Errors
    /// The kernel's, or `InvalidInput` if a size doesn't match the map.
    pub(crate) fn set(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        if key.len() != self.key_size || value.len() != self.value_size {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut attr = self.element(Some(key), value.as_ptr());
        bpf(MAP_UPDATE, &mut attr).map(drop)
    }

    /// Adds one new entry; returns `false` if it already exists.
    ///
    /// # Errors
    /// Those of [`Map::set`].
    pub(crate) fn add(&self, key: &[u8], value: &[u8]) -> io::Result<bool> {
        /// `BPF_NOEXIST`.
        const ONLY_NEW: u64 = 1;
        if key.len() != self.key_size || value.len() != self.value_size {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut attr = self.element(Some(key), value.as_ptr());
        attr.flags = ONLY_NEW;
        match bpf(MAP_UPDATE, &mut attr) {
            Ok(_) => Ok(true),
            Err(error) if error.raw_os_error() == Some(libc::EEXIST) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Reads one entry; `None` if there is none. Not for per-CPU maps.
    ///
    /// # Errors
    /// The kernel's; `InvalidInput` if the size doesn't match the map.
    pub(crate) fn get(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        if key.len() != self.key_size {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut value = vec![0u8; self.value_size];
        let mut attr = self.element(Some(key), value.as_mut_ptr());
        match bpf(MAP_LOOKUP, &mut attr) {
            Ok(_) => Ok(Some(value)),
            Err(e) if e.raw_os_error() == Some(libc::ENOENT) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Removes one entry, if it exists.
    ///
    /// # Errors
    /// The kernel's; `InvalidInput` if the size doesn't match the map.
    pub(crate) fn remove(&self, key: &[u8]) -> io::Result<()> {
        if key.len() != self.key_size {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut attr = self.element(Some(key), std::ptr::null());
        match bpf(MAP_DELETE, &mut attr) {
            Err(e) if e.raw_os_error() != Some(libc::ENOENT) => Err(e),
            _ => Ok(()),
        }
    }

    /// Returns every entry of a hash as (key, value). Reads them in batches: if they were read one at a time,
    /// a busy machine could add entries as fast as they are read. Entries that are added or removed at the
    /// same time may be missed.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn entries(&self) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut out = Vec::new();
        let (mut from, mut next) = (0u32, 0u32);
        let mut begun = false;
        let mut room = BATCH;
        loop {
            let mut keys = vec![0u8; room * self.key_size];
            let mut values = vec![0u8; room * self.value_size];
            let mut attr = MapBatch {
                from: if begun { &raw const from as u64 } else { 0 },
                next: &raw mut next as u64,
                keys: keys.as_mut_ptr() as u64,
                values: values.as_mut_ptr() as u64,
                count: room as u32,
                fd: self.fd.as_raw_fd() as u32,
                ..MapBatch::default()
            };
            let read = bpf(MAP_LOOKUP_BATCH, &mut attr);
            let is_last = match read {
                Ok(_) => false,
                Err(e) if e.raw_os_error() == Some(libc::ENOENT) => true,
                // The bucket has more entries than there is space for.
                Err(e) if e.raw_os_error() == Some(libc::ENOSPC) => {
                    room *= 2;
                    continue;
                }
                Err(e) => return Err(e),
            };
            let entries = keys
                .chunks_exact(self.key_size)
                .zip(values.chunks_exact(self.value_size))
                .take(attr.count as usize);
            out.extend(entries.map(|(key, value)| (key.to_vec(), value.to_vec())));
            if is_last {
                return Ok(out);
            }
            (from, begun) = (next, true);
        }
    }

    /// Removes these entries; those that no longer exist are skipped.
    ///
    /// # Errors
    /// The kernel's; `InvalidInput` if a size doesn't match the map.
    pub(crate) fn remove_all<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> io::Result<()> {
        let mut all = Vec::new();
        for key in keys {
            if key.len() != self.key_size {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            all.extend_from_slice(key);
        }
        let mut left = &all[..];
        while !left.is_empty() {
            let mut attr = MapBatch {
                keys: left.as_ptr() as u64,
                count: (left.len() / self.key_size) as u32,
                fd: self.fd.as_raw_fd() as u32,
                ..MapBatch::default()
            };
            let removed = bpf(MAP_DELETE_BATCH, &mut attr);
            let done = match removed {
                Ok(_) => return Ok(()),
                // The kernel stops at an entry that no longer exists.
                Err(e) if e.raw_os_error() == Some(libc::ENOENT) => attr.count as usize + 1,
                Err(e) => return Err(e),
            };
            left = &left[(done * self.key_size).min(left.len())..];
        }
        Ok(())
    }
}

/// Why a program was refused.
#[derive(Debug)]
pub(crate) struct Refused {
    /// The kernel's errno.
    pub error: io::Error,
    /// The end of the verifier's log; may be empty.
    pub log: String,
}

/// A loaded program; freed when this value and its attachment are closed.
#[derive(Debug)]
pub(crate) struct Program {
    fd: OwnedFd,
}

impl Program {
    /// Loads a program for the tracepoint whose `btf_trace_...` type has the number `tracepoint`.
    ///
    /// # Errors
    /// The kernel's errno and the verifier's log.
    pub(crate) fn tracing(name: &str, code: &[u64], tracepoint: u32) -> Result<Self, Refused> {
        Self::load(name, code, |attr| {
            attr.kind = TYPE_TRACING;
            attr.expected_attach = ATTACH_TRACE_RAW_TP;
            attr.attach_btf_id = tracepoint;
        })
    }

    /// Loads a program that is only run by [`Program::run_here`].
    ///
    /// # Errors
    /// The kernel's errno and the verifier's log.
    pub(crate) fn callable(name: &str, code: &[u64]) -> Result<Self, Refused> {
        Self::load(name, code, |attr| attr.kind = TYPE_RAW_TRACEPOINT)
    }

    /// Loads a program that runs for perf events: see [`super::perf`].
    ///
    /// # Errors
    /// The kernel's errno and the verifier's log.
    pub(crate) fn perf_event(name: &str, code: &[u64]) -> Result<Self, Refused> {
        Self::load(name, code, |attr| attr.kind = TYPE_PERF_EVENT)
    }

    /// Loads a program for probes in the code of a process: see [`Program::attach_in`].
    ///
    /// # Errors
    /// The kernel's errno and the verifier's log; `EINVAL` before Linux 6.6.
    pub(crate) fn in_process(name: &str, code: &[u64]) -> Result<Self, Refused> {
        Self::load(name, code, |attr| {
            attr.kind = TYPE_KPROBE;
            attr.expected_attach = ATTACH_TRACE_UPROBE_MULTI;
        })
    }

    fn load(name: &str, code: &[u64], set: impl Fn(&mut ProgLoad)) -> Result<Self, Refused> {
        let mut attr = ProgLoad {
            insn_count: code.len() as u32,
            insns: code.as_ptr() as u64,
            license: LICENSE.as_ptr() as u64,
            name: name16(name),
            ..ProgLoad::default()
        };
        set(&mut attr);
        let mut attempts = 0;
        let error = loop {
            attempts += 1;
            match bpf(PROG_LOAD, &mut attr) {
                Ok(fd) => return Ok(Self { fd: owned(fd) }),
                // A signal ended the verification.
                Err(error) if error.raw_os_error() == Some(libc::EAGAIN) && attempts < 5 => {}
                Err(error) => break error,
            }
        };
        if error.raw_os_error() == Some(libc::EPERM) {
            let log = String::new();
            return Err(Refused { error, log });
        }
        // The program is loaded a second time to get the log: requesting the log at first makes every load
        // slower.
        let mut log = vec![0u8; 1 << 20];
        attr.log_level = 1;
        attr.log_size = log.len() as u32;
        attr.log = log.as_mut_ptr() as u64;
        match bpf(PROG_LOAD, &mut attr) {
            Ok(fd) => Ok(Self { fd: owned(fd) }),
            Err(error) => {
                let end = log.iter().position(|b| *b == 0).unwrap_or(log.len());
                let start = end.saturating_sub(2000);
                let log = String::from_utf8_lossy(&log[start..end]).into_owned();
                Err(Refused { error, log })
            }
        }
    }

    /// Attaches the program to its tracepoint.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn attach(&self) -> io::Result<OwnedFd> {
        let mut attr = RawTracepoint {
            fd: self.fd.as_raw_fd() as u32,
            ..RawTracepoint::default()
        };
        bpf(RAW_TRACEPOINT_OPEN, &mut attr).map(owned)
    }

    /// Runs the program when this process, and no other, reaches one of these offsets of a file. The number
    /// paired with the offset is passed as its cookie.
    ///
    /// # Errors
    /// The kernel's: `EINVAL` before Linux 6.6, `ESRCH` for a process that has ended.
    pub(crate) fn attach_in(
        &self,
        pid: u32,
        path: &CStr,
        places: &[(u64, u64)],
    ) -> io::Result<OwnedFd> {
        let (offsets, cookies): (Vec<u64>, Vec<u64>) = places.iter().copied().unzip();
        let mut attr = LinkUprobes {
            program: self.fd.as_raw_fd() as u32,
            kind: ATTACH_TRACE_UPROBE_MULTI,
            path: path.as_ptr() as u64,
            offsets: offsets.as_ptr() as u64,
            cookies: cookies.as_ptr() as u64,
            count: places.len() as u32,
            pid,
            ..LinkUprobes::default()
        };
        bpf(LINK_CREATE, &mut attr).map(owned)
    }

    /// Returns the descriptor, for [`run_here`].
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Runs a [`Program::callable`] once in the calling thread.
///
/// Allocates nothing and takes no lock, so a child may call it between `fork` and `exec`.
///
/// # Errors
/// The kernel's; `ENOTSUPP` (524) before Linux 5.10.
pub(crate) fn run_here(program: BorrowedFd<'_>) -> io::Result<()> {
    let mut attr = TestRun {
        fd: program.as_raw_fd() as u32,
        ..TestRun::default()
    };
    bpf(PROG_TEST_RUN, &mut attr).map(drop)
}
