//! How does one ask `ptrace(2)`?

use std::io;

use fathom_stacks::Registers;

/// A system call as a stop shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SyscallStop {
    /// About to be made: number as the tiers report it, and arguments.
    Entry { nr: u32, args: [u64; 6] },
    /// Just made: its result.
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

/// Begins to trace a thread of a child without stopping it; what it makes is traced too, and all
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

/// Stops a running thread soon.
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

/// Leaves a thread stopped by a job-control signal stopped, but listening for its end.
pub(super) fn listen(tid: u32) -> io::Result<()> {
    request(libc::PTRACE_LISTEN, tid, 0, 0).map(drop)
}

/// Lets a stopped thread go for good.
pub(super) fn detach(tid: u32, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_DETACH, tid, 0, signal as usize).map(drop)
}

/// The number that came with an event: a new thread, or the former number of one that execs.
pub(super) fn event_message(tid: u32) -> io::Result<u32> {
    let mut message: libc::c_ulong = 0;
    let at = std::ptr::from_mut(&mut message) as usize;
    request(libc::PTRACE_GETEVENTMSG, tid, 0, at)?;
    Ok(message as u32)
}

/// What a stop at a call shows; `None` if it is no such stop.
pub(super) fn syscall(tid: u32) -> io::Result<Option<SyscallStop>> {
    // SAFETY: an all-zero ptrace_syscall_info is valid.
    let mut info: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
    let size = std::mem::size_of_val(&info);
    let at = std::ptr::from_mut(&mut info) as usize;
    request(libc::PTRACE_GET_SYSCALL_INFO, tid, size, at)?;
    Ok(match info.op {
        INFO_ENTRY => {
            // SAFETY: the kernel says that it filled in this member.
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

/// Whether an `AUDIT_ARCH_...` number is this program's own architecture.
fn is_native(arch: u32) -> bool {
    const LITTLE_64: u32 = 0xc000_0000;
    match std::env::consts::ARCH {
        "x86_64" => arch == LITTLE_64 | 62,
        "aarch64" => arch == LITTLE_64 | 183,
        _ => true,
    }
}

/// Reads up to `len` bytes at `address` of a traced thread; fewer where its memory ends.
pub(super) fn memory(tid: u32, address: u64, len: usize) -> Vec<u8> {
    const PAGE: usize = 4096;
    let mut bytes = vec![0u8; len];
    let first = len.min(PAGE - address as usize % PAGE);
    let local = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: len,
    };
    // In two pieces, as a piece that crosses into a missing page is not read at all.
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

/// Registers of a stopped thread.
#[cfg(target_arch = "x86_64")]
pub(super) fn registers(tid: u32) -> io::Result<Registers> {
    // SAFETY: registers that are all zero are valid.
    let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    let at = std::ptr::from_mut(&mut registers) as usize;
    request(libc::PTRACE_GETREGS, tid, 0, at)?;
    Ok(Registers::of_ptrace(&registers))
}

/// Those of other architectures are asked for otherwise, which nobody tried.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn registers(_: u32) -> io::Result<Registers> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Writes a word into a stopped thread's memory, code included.
pub(super) fn put(tid: u32, address: u64, word: u64) -> io::Result<()> {
    request(libc::PTRACE_POKETEXT, tid, address as usize, word as usize).map(drop)
}

/// Whether a stopped thread has just executed an `int3` at `address`; if so it is set back to
/// there.
#[cfg(target_arch = "x86_64")]
pub(super) fn step_back_to(tid: u32, address: u64) -> io::Result<bool> {
    // SAFETY: registers that are all zero are valid.
    let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    let at = std::ptr::from_mut(&mut registers) as usize;
    request(libc::PTRACE_GETREGS, tid, 0, at)?;
    if registers.rip != address + 1 {
        return Ok(false);
    }
    registers.rip = address;
    let at = std::ptr::from_ref(&registers) as usize;
    request(libc::PTRACE_SETREGS, tid, 0, at).map(|_| true)
}

/// Nothing puts an `int3` into programs of other architectures.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn step_back_to(_: u32, _: u64) -> io::Result<bool> {
    Ok(false)
}
