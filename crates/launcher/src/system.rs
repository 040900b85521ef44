//! The system calls that the launcher needs, without libc.

use core::arch::asm;

#[cfg(target_arch = "x86_64")]
pub(crate) mod number {
    pub(crate) const READ: usize = 0;
    pub(crate) const WRITE: usize = 1;
    pub(crate) const CLOSE: usize = 3;
    pub(crate) const MMAP: usize = 9;
    pub(crate) const LSEEK: usize = 8;
    pub(crate) const RT_SIGACTION: usize = 13;
    pub(crate) const PREAD64: usize = 17;
    pub(crate) const PWRITE64: usize = 18;
    pub(crate) const SENDMSG: usize = 46;
    pub(crate) const CLONE: usize = 56;
    pub(crate) const EXECVE: usize = 59;
    pub(crate) const WAIT4: usize = 61;
    pub(crate) const KILL: usize = 62;
    pub(crate) const FCNTL: usize = 72;
    pub(crate) const CHDIR: usize = 80;
    pub(crate) const SETPGID: usize = 109;
    pub(crate) const GETPPID: usize = 110;
    pub(crate) const PRCTL: usize = 157;
    pub(crate) const MOUNT: usize = 165;
    pub(crate) const SCHED_SETAFFINITY: usize = 203;
    pub(crate) const CLOCK_GETTIME: usize = 228;
    pub(crate) const EXIT_GROUP: usize = 231;
    pub(crate) const WAITID: usize = 247;
    pub(crate) const OPENAT: usize = 257;
    pub(crate) const PPOLL: usize = 271;
    pub(crate) const UNSHARE: usize = 272;
    pub(crate) const DUP3: usize = 292;
    pub(crate) const PIPE2: usize = 293;
    pub(crate) const SECCOMP: usize = 317;
    #[cfg(program = "joining")]
    pub(crate) const SCHED_YIELD: usize = 24;
    #[cfg(program = "joining")]
    pub(crate) const WRITEV: usize = 20;
    #[cfg(program = "joining")]
    pub(crate) const STATX: usize = 332;
    #[cfg(program = "joining")]
    pub(crate) const MPROTECT: usize = 10;
    #[cfg(program = "joining")]
    pub(crate) const MUNMAP: usize = 11;
    #[cfg(program = "joining")]
    pub(crate) const MREMAP: usize = 25;
    #[cfg(program = "joining")]
    pub(crate) const MADVISE: usize = 28;
    #[cfg(program = "joining")]
    pub(crate) const SETSOCKOPT: usize = 54;
    #[cfg(program = "joining")]
    pub(crate) const MBIND: usize = 237;
    #[cfg(program = "joining")]
    pub(crate) const TEE: usize = 276;
}

#[cfg(target_arch = "aarch64")]
pub(crate) mod number {
    pub(crate) const FCNTL: usize = 25;
    pub(crate) const DUP3: usize = 24;
    pub(crate) const MOUNT: usize = 40;
    pub(crate) const CHDIR: usize = 49;
    pub(crate) const OPENAT: usize = 56;
    pub(crate) const CLOSE: usize = 57;
    pub(crate) const PIPE2: usize = 59;
    pub(crate) const READ: usize = 63;
    pub(crate) const WRITE: usize = 64;
    pub(crate) const LSEEK: usize = 62;
    pub(crate) const PREAD64: usize = 67;
    pub(crate) const PWRITE64: usize = 68;
    pub(crate) const PPOLL: usize = 73;
    pub(crate) const EXIT_GROUP: usize = 94;
    pub(crate) const WAITID: usize = 95;
    pub(crate) const UNSHARE: usize = 97;
    pub(crate) const CLOCK_GETTIME: usize = 113;
    pub(crate) const SCHED_SETAFFINITY: usize = 122;
    pub(crate) const KILL: usize = 129;
    pub(crate) const RT_SIGACTION: usize = 134;
    pub(crate) const SETPGID: usize = 154;
    pub(crate) const PRCTL: usize = 167;
    pub(crate) const GETPPID: usize = 173;
    pub(crate) const SENDMSG: usize = 211;
    pub(crate) const CLONE: usize = 220;
    pub(crate) const EXECVE: usize = 221;
    pub(crate) const MMAP: usize = 222;
    pub(crate) const WAIT4: usize = 260;
    pub(crate) const SECCOMP: usize = 277;
    #[cfg(program = "joining")]
    pub(crate) const SCHED_YIELD: usize = 124;
    #[cfg(program = "joining")]
    pub(crate) const WRITEV: usize = 66;
    #[cfg(program = "joining")]
    pub(crate) const STATX: usize = 291;
    #[cfg(program = "joining")]
    pub(crate) const MPROTECT: usize = 226;
    #[cfg(program = "joining")]
    pub(crate) const MUNMAP: usize = 215;
    #[cfg(program = "joining")]
    pub(crate) const MREMAP: usize = 216;
    #[cfg(program = "joining")]
    pub(crate) const MADVISE: usize = 233;
    #[cfg(program = "joining")]
    pub(crate) const SETSOCKOPT: usize = 208;
    #[cfg(program = "joining")]
    pub(crate) const MBIND: usize = 235;
    #[cfg(program = "joining")]
    pub(crate) const TEE: usize = 77;
}

/// Makes one system call; the result is negative on error.
///
/// # Safety
/// The arguments must be valid for the call.
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn call(nr: usize, a: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the caller guarantees the arguments; the instruction overwrites rcx and r11.
    unsafe {
        asm!("syscall", inlateout("rax") nr => result, in("rdi") a[0], in("rsi") a[1], in("rdx") a[2],
            in("r10") a[3], in("r8") a[4], in("r9") a[5], out("rcx") _, out("r11") _, options(nostack));
    }
    result
}

/// Makes one system call; the result is negative on error.
///
/// # Safety
/// The arguments must be valid for the call.
#[cfg(target_arch = "aarch64")]
pub(crate) unsafe fn call(nr: usize, a: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the caller guarantees the arguments.
    unsafe {
        asm!("svc 0", in("x8") nr, inlateout("x0") a[0] => result, in("x1") a[1], in("x2") a[2],
            in("x3") a[3], in("x4") a[4], in("x5") a[5], options(nostack));
    }
    result
}

/// Makes a system call with up to three arguments, the most common form.
///
/// # Safety
/// Same as [`call`].
pub(crate) unsafe fn call3(nr: usize, a: usize, b: usize, c: usize) -> isize {
    // SAFETY: guaranteed by the caller.
    unsafe { call(nr, [a, b, c, 0, 0, 0]) }
}

const CLONE_VM: usize = 0x100;
const CLONE_PIDFD: usize = 0x1000;
const CLONE_PARENT_SETTID: usize = 0x10_0000;
const SIGCHLD: usize = 17;

/// Creates a process as [`spawn`] does, and stores a descriptor of it in `pidfd`, which becomes readable once
/// the process has exited.
///
/// # Safety
/// Same as [`spawn`].
pub(crate) unsafe fn spawn_with_descriptor(
    stack_top: usize,
    body: extern "C" fn(usize) -> !,
    argument: usize,
    pidfd: &mut i32,
) -> isize {
    // SAFETY: the caller guarantees the rest; the kernel writes one descriptor before it returns.
    unsafe {
        clone(
            CLONE_VM | CLONE_PIDFD | SIGCHLD,
            stack_top,
            body,
            argument,
            pidfd,
        )
    }
}

/// Creates a process that shares our memory, as vfork does, and runs `body(argument)` on `stack_top`. No page
/// table is copied. Unlike with vfork, the parent isn't suspended: waking it when the child executes its
/// program would only take time from the child (5 of 560 µs if both share a CPU). The child's process id is
/// in `pid` before the child runs, because the child may stop or kill us immediately.
///
/// # Safety
/// `body` must not return, must only touch memory that may change, and nothing may use the stack until the
/// child has executed a program or exited.
pub(crate) unsafe fn spawn(
    stack_top: usize,
    body: extern "C" fn(usize) -> !,
    argument: usize,
    pid: &mut i32,
) -> isize {
    // SAFETY: the caller guarantees the rest; the kernel writes one number before the child runs.
    unsafe {
        clone(
            CLONE_VM | CLONE_PARENT_SETTID | SIGCHLD,
            stack_top,
            body,
            argument,
            pid,
        )
    }
}

/// See [`spawn`].
///
/// # Safety
/// Same as [`spawn`].
#[cfg(target_arch = "x86_64")]
unsafe fn clone(
    flags: usize,
    stack_top: usize,
    body: extern "C" fn(usize) -> !,
    argument: usize,
    written: *mut i32,
) -> isize {
    let result: isize;
    // SAFETY: the child gets its own stack and never returns past the call; the parent continues at label 2
    // with its registers preserved.
    unsafe {
        asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            // Either operand may be in rbp.
            "mov rdi, {argument}",
            "mov rax, {body}",
            "xor ebp, ebp",
            "call rax",
            "ud2",
            "2:",
            argument = in(reg) argument,
            body = in(reg) body,
            inlateout("rax") number::CLONE => result,
            in("rdi") flags,
            in("rsi") stack_top,
            in("rdx") written, in("r10") 0, in("r8") 0,
            out("rcx") _, out("r11") _,
        );
    }
    result
}

/// See the x86-64 version.
///
/// # Safety
/// Same as there.
#[cfg(target_arch = "aarch64")]
unsafe fn clone(
    flags: usize,
    stack_top: usize,
    body: extern "C" fn(usize) -> !,
    argument: usize,
    written: *mut i32,
) -> isize {
    let result: isize;
    // SAFETY: same as for x86-64.
    unsafe {
        asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x0, {argument}",
            "blr {body}",
            "brk 1",
            "2:",
            argument = in(reg) argument,
            body = in(reg) body,
            in("x8") number::CLONE,
            inlateout("x0") flags => result,
            in("x1") stack_top,
            in("x2") written, in("x3") 0, in("x4") 0,
        );
    }
    result
}

/// Returns nanoseconds of `CLOCK_MONOTONIC`. Uses the system call (0.2 µs), because the vDSO would have to be
/// looked up.
pub(crate) fn now() -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: the call fills two words.
    unsafe { call3(number::CLOCK_GETTIME, 1, time.as_mut_ptr() as usize, 0) };
    time[0] * 1_000_000_000 + time[1]
}

/// Ends the process.
pub(crate) fn exit(code: usize) -> ! {
    loop {
        // SAFETY: takes a number.
        unsafe { call3(number::EXIT_GROUP, code, 0, 0) };
    }
}
