//! Requests to `ptrace(2)`.

use std::io;

use fathom_stacks::Registers;

/// A system call as a stop shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SyscallStop {
    /// The call is about to be made, with this number as reported by the tiers and these arguments.
    Entry { nr: u32, args: [u64; 6] },
    /// The call has just returned this result.
    Exit { result: i64 },
}

const INFO_ENTRY: u8 = 1;
const INFO_EXIT: u8 = 2;

fn request(request: libc::c_uint, tid: u32, address: usize, data: usize) -> io::Result<i64> {
    // SAFETY: every request below takes integers, or a pointer to a live value of the size given.
    match unsafe { libc::ptrace(request, tid as libc::pid_t, address, data) } {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value),
    }
}

/// Begins to trace a thread of a child without stopping it. Its descendants are traced too, and all of them
/// die with the tracer.
pub(super) fn seize(tid: u32) -> io::Result<()> {
    let options = libc::PTRACE_O_TRACESYSGOOD
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_EXITKILL;
    request(libc::PTRACE_SEIZE, tid, 0, options as usize).map(drop)
}

/// Requests that a running thread stop.
pub(super) fn interrupt(tid: u32) -> io::Result<()> {
    request(libc::PTRACE_INTERRUPT, tid, 0, 0).map(drop)
}

/// Lets a stopped thread run to its next call, delivering `signal` if not 0.
pub(super) fn to_next_call(tid: u32, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_SYSCALL, tid, 0, signal as usize).map(drop)
}

/// Lets a stopped thread run until an event stops it, delivering `signal` if not 0.
pub(super) fn to_next_event(tid: u32, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_CONT, tid, 0, signal as usize).map(drop)
}

/// Keeps a thread stopped that a job-control signal has stopped, but reports the end of that stop.
pub(super) fn listen(tid: u32) -> io::Result<()> {
    request(libc::PTRACE_LISTEN, tid, 0, 0).map(drop)
}

/// Stops tracing a stopped thread and continues it.
pub(super) fn detach(tid: u32, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_DETACH, tid, 0, signal as usize).map(drop)
}

/// Returns the id that an event reports: that of a new thread, or the former id of a thread that execs.
pub(super) fn event_message(tid: u32) -> io::Result<u32> {
    let mut message: libc::c_ulong = 0;
    let at = std::ptr::from_mut(&mut message) as usize;
    request(libc::PTRACE_GETEVENTMSG, tid, 0, at)?;
    Ok(message as u32)
}

/// Returns the call that a stop shows; `None` if it is another kind of stop.
pub(super) fn syscall(tid: u32) -> io::Result<Option<SyscallStop>> {
    // SAFETY: an all-zero ptrace_syscall_info is valid.
    let mut info: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
    let size = std::mem::size_of_val(&info);
    let at = std::ptr::from_mut(&mut info) as usize;
    request(libc::PTRACE_GET_SYSCALL_INFO, tid, size, at)?;
    Ok(match info.op {
        INFO_ENTRY => {
            // SAFETY: the kernel reports that it filled in this member.
            let entry = unsafe { info.u.entry };
            let (nr, args) = (entry.nr as u32, entry.args);
            Some(match is_native(info.arch) {
                true => SyscallStop::Entry { nr, args },
                false => SyscallStop::Entry {
                    nr: crate::calls::through_32_bit_entry(nr),
                    args: args.map(|argument| u64::from(argument as u32)),
                },
            })
        }
        INFO_EXIT => {
            // SAFETY: as above.
            let exit = unsafe { info.u.exit };
            Some(SyscallStop::Exit { result: exit.sval })
        }
        _ => None,
    })
}

/// Returns whether an `AUDIT_ARCH_...` number is this program's own architecture.
fn is_native(arch: u32) -> bool {
    const LITTLE_64: u32 = 0xc000_0000;
    match std::env::consts::ARCH {
        "x86_64" => arch == LITTLE_64 | 62,
        "aarch64" => arch == LITTLE_64 | 183,
        _ => true,
    }
}

/// Reads up to `len` bytes at `address` of a traced thread; returns fewer if its memory ends before that.
pub(super) fn memory(tid: u32, address: u64, len: usize) -> Vec<u8> {
    const PAGE: usize = 4096;
    let mut bytes = vec![0u8; len];
    let first = len.min(PAGE - address as usize % PAGE);
    let local = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: len,
    };
    // The read is split into two pieces, because a piece that extends into a missing page is not read at all.
    let piece = |at: u64, len: usize| libc::iovec {
        iov_base: at as *mut libc::c_void,
        iov_len: len,
    };
    let remote = [
        piece(address, first),
        piece(address + first as u64, len - first),
    ];
    // SAFETY: the local vector covers `bytes`; the kernel checks the remote one.
    let got =
        unsafe { libc::process_vm_readv(tid as i32, &raw const local, 1, remote.as_ptr(), 2, 0) };
    bytes.truncate(got.max(0) as usize);
    bytes
}

/// Returns the registers of a stopped thread.
pub(super) fn registers(tid: u32) -> io::Result<Registers> {
    saved_registers(tid).map(|saved| Registers::of_ptrace(&saved))
}

/// Returns the registers as the kernel saved them. Fails for a 32-bit program, which has other registers.
fn saved_registers(tid: u32) -> io::Result<libc::user_regs_struct> {
    // SAFETY: registers that are all zero are valid.
    let mut saved: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    match exchange(libc::PTRACE_GETREGSET, tid, &mut saved)? == size_of_val(&saved) {
        true => Ok(saved),
        false => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Reads or writes the registers; returns their size in bytes.
fn exchange(
    way: libc::c_uint,
    tid: u32,
    registers: &mut libc::user_regs_struct,
) -> io::Result<usize> {
    let mut vector = libc::iovec {
        iov_base: std::ptr::from_mut(registers).cast(),
        iov_len: size_of_val(registers),
    };
    let at = std::ptr::from_mut(&mut vector) as usize;
    request(way, tid, libc::NT_PRSTATUS as usize, at)?;
    Ok(vector.iov_len)
}

/// Writes a word into a stopped thread's memory, including code.
pub(super) fn put(tid: u32, address: u64, word: u64) -> io::Result<()> {
    request(libc::PTRACE_POKETEXT, tid, address as usize, word as usize).map(drop)
}

/// The breakpoint instruction as a number, and the mask of the bits that it occupies.
#[cfg(target_arch = "x86_64")]
pub(super) const BREAKPOINT: (u64, u64) = (0xcc, 0xff); // int3
#[cfg(not(target_arch = "x86_64"))]
pub(super) const BREAKPOINT: (u64, u64) = (0xd420_0000, 0xffff_ffff); // brk #0 of AArch64

/// Returns whether a stopped thread has reached the breakpoint at `address`; if so, sets it back to that
/// address.
#[cfg(target_arch = "x86_64")]
pub(super) fn step_back_to(tid: u32, address: u64) -> io::Result<bool> {
    let mut saved = saved_registers(tid)?;
    if saved.rip != address + 1 {
        return Ok(false);
    }
    saved.rip = address;
    exchange(libc::PTRACE_SETREGSET, tid, &mut saved).map(|_| true)
}

/// Returns whether a stopped thread has reached the breakpoint at `address`, where AArch64 leaves it.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn step_back_to(tid: u32, address: u64) -> io::Result<bool> {
    saved_registers(tid).map(|saved| saved.pc == address)
}
