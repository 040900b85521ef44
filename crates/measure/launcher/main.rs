//! The launcher: a static program of a few pages that starts the measured commands for Fathom.
//!
//! Why there is one at all: when a process executes a program, the kernel carries the largest
//! memory that the process had so far over into the program's own peak, however the process was
//! made. A child of Fathom would be reported with Fathom's memory. The launcher has next to none.
//! It is single-threaded, allocates nothing, and stays as it is however many runs there are.
//!
//! It also makes every descendant that loses its parent its own child, so that nothing escapes,
//! and it ends them all when Fathom dies.
#![no_std]
#![no_main]

#[path = "pipeline.rs"]
mod pipeline;
#[path = "shared.rs"]
#[allow(dead_code)]
mod shared;
#[path = "system.rs"]
mod system;

use shared::{Answer, BASE, Job, SIZE, Shared, Text, command, fd, step};
use system::{call, call3, number};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    system::exit(99)
}

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "and rsp, -16",
    "call {main}",
    "ud2",
    // A signal handler returns through here; ours never returns, but the kernel insists.
    ".globl fathom_restore",
    "fathom_restore:",
    "mov eax, 15",
    "syscall",
    main = sym launcher,
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "mov x29, xzr",
    "bl {main}",
    "brk 1",
    ".globl fathom_restore",
    "fathom_restore:",
    "mov x8, 139",
    "svc 0",
    main = sym launcher,
);

unsafe extern "C" {
    fn fathom_restore();
}

/// The precompiled core library refers to it; with `panic=abort` it is never called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

// The compiler may turn loops and copies into calls of these, and there is no libc to have them.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(target: *mut u8, value: i32, length: usize) -> *mut u8 {
    let mut i = 0;
    while i < length {
        // SAFETY: the caller says that `length` bytes are there; volatile keeps this from becoming a
        // call of itself.
        unsafe { core::ptr::write_volatile(target.add(i), value as u8) };
        i += 1;
    }
    target
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(target: *mut u8, source: *const u8, length: usize) -> *mut u8 {
    let mut i = 0;
    while i < length {
        // SAFETY: as in memset.
        unsafe { core::ptr::write_volatile(target.add(i), core::ptr::read_volatile(source.add(i))) };
        i += 1;
    }
    target
}

const PR_SET_PDEATHSIG: usize = 1;
const PR_SET_NAME: usize = 15;
const PR_SET_CHILD_SUBREAPER: usize = 36;
const SIGKILL: usize = 9;
const SIGTERM: usize = 15;
const O_WRONLY: usize = 1;
const O_RDWR: usize = 2;
const O_CREAT: usize = 0o100;
const O_TRUNC: usize = 0o1000;
const O_CLOEXEC: usize = 0o2000000;
const AT_FDCWD: usize = -100isize as usize;
const F_SETFD: usize = 2;
const FD_CLOEXEC: usize = 1;
const WNOHANG: usize = 1;
const WEXITED: usize = 4;
const WNOWAIT: usize = 0x0100_0000;
const EINTR: isize = -4;
const EPERM: isize = -1;
const P_PID: usize = 1;

/// Stack of the child until it executes its program.
#[repr(align(64))]
struct Stack(core::cell::UnsafeCell<[u8; 16384]>);
// SAFETY: we never touch it; one child at a time does.
unsafe impl Sync for Stack {}
static STACK: Stack = Stack(core::cell::UnsafeCell::new([0; 16384]));

fn memory() -> *mut Shared {
    BASE as *mut Shared
}

extern "C" fn launcher() -> ! {
    set_up();
    loop {
        let mut byte = 0u8;
        // SAFETY: one byte.
        match unsafe { call3(number::READ, fd::COMMANDS as usize, &raw mut byte as usize, 1) } {
            1 => {}
            EINTR => continue,
            _ => end(),
        }
        // SAFETY: mapped in set_up; Fathom touches it only while we wait for a command, but for
        // `kill_tree`, which is read by a volatile read.
        let shared = unsafe { &mut *memory() };
        match byte {
            command::RUN => run(&shared.job, &mut shared.answer),
            // SAFETY: lies in the mapping, above the job; Fathom reads only `child` meanwhile.
            command::PIPELINE => unsafe { pipeline::run(&mut *pipeline::area()) },
            command::SWEEP => {
                shared.answer.immortal = sweep();
                shared.answer.left_behind = 0;
            }
            _ => end(),
        }
        // SAFETY: one byte.
        unsafe { call3(number::WRITE, fd::DONE as usize, &raw const byte as usize, 1) };
    }
}

fn set_up() {
    // SAFETY: plain calls with numbers, paths that end with zero, and a fixed mapping at an address
    // where a static program has nothing.
    unsafe {
        call3(number::SETPGID, 0, 0, 0);
        call3(number::PRCTL, PR_SET_CHILD_SUBREAPER, 1, 0);
        let handler = [
            on_death as extern "C" fn(i32) as usize,
            0x0400_0000, // SA_RESTORER
            fathom_restore as unsafe extern "C" fn() as usize,
            0,
        ];
        call(number::RT_SIGACTION, [SIGTERM, handler.as_ptr() as usize, 0, 8, 0, 0]);
        call3(number::PRCTL, PR_SET_PDEATHSIG, SIGTERM, 0);
        // Else it would be called by the number of the descriptor that it was started from.
        call3(number::PRCTL, PR_SET_NAME, c"fathom-launcher".as_ptr() as usize, 0);
        // PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE
        let at = call(
            number::MMAP,
            [BASE as usize, SIZE, 3, 0x10_0001, fd::MEMORY as usize, 0],
        );
        if at != BASE as isize {
            system::exit(98);
        }
        for (path, flags, place) in [
            (c"/proc", 0o200000 * (cfg!(target_arch = "x86_64") as usize), fd::PROC),
            (c"/proc/self/schedstat", 0, fd::OWN_SCHEDSTAT),
            (c"/dev/null", O_RDWR, fd::NULL),
        ] {
            let got = open(AT_FDCWD, path.as_ptr() as usize, flags);
            if got >= 0 && got != place as isize {
                call3(number::DUP3, got as usize, place as usize, O_CLOEXEC);
                call3(number::CLOSE, got as usize, 0, 0);
            }
        }
        let highest = (*memory()).job.highest_fd;
        for descriptor in fd::COMMANDS..=if highest > fd::NULL { highest } else { fd::NULL } {
            call3(number::FCNTL, descriptor as usize, F_SETFD, FD_CLOEXEC);
        }
        // Fathom may have died before the death signal was asked for.
        if call3(number::GETPPID, 0, 0, 0) != (*memory()).job.parent as isize {
            system::exit(97);
        }
    }
}

fn open(directory: usize, path: usize, flags: usize) -> isize {
    // SAFETY: `path` is a string that ends with zero.
    unsafe { call(number::OPENAT, [directory, path, flags | O_CLOEXEC, 0o666, 0, 0]) }
}

/// Fathom is gone: nothing that it started may stay.
extern "C" fn on_death(_: i32) {
    end()
}

fn end() -> ! {
    sweep();
    system::exit(0)
}

fn run(job: &Job, answer: &mut Answer) {
    answer.child = 0;
    answer.failed_step = step::NONE;
    answer.error = 0;
    answer.left_behind = 0;
    answer.exec_ns = 0;
    let null = fd::NULL as isize;
    if let Err((failed, error)) = place_descriptors(job, null, job.output_fd as isize) {
        answer.failed_step = failed;
        answer.error = -error as i32;
        restore_descriptors();
        return;
    }
    // SAFETY: the child runs `child` on a stack of its own and ends in execve or exit.
    let pid = unsafe {
        let top = STACK.0.get() as usize + 16384;
        answer.start_ns = system::now();
        system::spawn(top, child, memory() as usize)
    };
    if pid < 0 {
        answer.failed_step = step::CLONE;
        answer.error = -pid as i32;
        restore_descriptors();
        return;
    }
    // SAFETY: an aligned word in the shared memory that Fathom reads to end the run.
    unsafe { core::ptr::write_volatile(&raw mut answer.child, pid as i32) };
    let early = if job.early_io != 0 { open_of(pid, b"/io\0") } else { -1 };
    read_text(fd::OWN_SCHEDSTAT as isize, &mut answer.own_before);
    wait_for_exit(pid);
    answer.end_ns = system::now();
    read_text(fd::OWN_SCHEDSTAT as isize, &mut answer.own_after);

    take_accounts(pid, if job.early_io != 0 { Some(early) } else { None }, answer);
    restore_descriptors();
    // SAFETY: Fathom may set this at any time, hence volatile.
    if unsafe { core::ptr::read_volatile(&raw const job.kill_tree) } != 0 {
        answer.immortal = sweep();
    } else {
        answer.left_behind = count_left();
    }
}

/// Reads the accounts of a process that is dead and not yet reaped, and reaps it. `early`: its `io`,
/// where that can only be opened while the process lives.
fn take_accounts(pid: isize, early: Option<isize>, answer: &mut Answer) {
    read_and_close(open_of(pid, b"/schedstat\0"), &mut answer.schedstat);
    let io = match early {
        Some(io) => io,
        None => open_of(pid, b"/io\0"),
    };
    read_and_close(io, &mut answer.io);
    // SAFETY: status and usage have the sizes that the call writes.
    unsafe {
        call(
            number::WAIT4,
            [
                pid as usize,
                &raw mut answer.status as usize,
                0,
                &raw mut answer.usage as usize,
                0,
                0,
            ],
        )
    };
}

/// Puts the child's standard descriptors and directory in place in ourselves, before the clock
/// starts: the child inherits them and has nothing left to do. The two descriptors are used where the
/// job names no file.
fn place_descriptors(
    job: &Job,
    input_fd: isize,
    output_fd: isize,
) -> Result<(), (u32, isize)> {
    let mut opened = [-1isize; 2];
    let input = if job.input == 0 {
        input_fd
    } else {
        opened[0] = open(AT_FDCWD, job.input as usize, 0);
        opened[0]
    };
    if input < 0 {
        return Err((step::INPUT, input));
    }
    let output = if job.output == 0 {
        output_fd
    } else {
        opened[1] = open(AT_FDCWD, job.output as usize, O_WRONLY | O_CREAT | O_TRUNC);
        opened[1]
    };
    let result = if output < 0 { Err((step::OUTPUT, output)) } else { Ok(()) };
    // SAFETY: descriptors that are open; 0, 1 and 2 are never used by the launcher itself.
    unsafe {
        if result.is_ok() {
            call3(number::DUP3, input as usize, 0, 0);
            call3(number::DUP3, output as usize, 1, 0);
            call3(number::DUP3, job.error_fd as usize, 2, 0);
        }
        for descriptor in opened {
            if descriptor >= 0 {
                call3(number::CLOSE, descriptor as usize, 0, 0);
            }
        }
        result?;
        if job.directory != 0 {
            let changed = call3(number::CHDIR, job.directory as usize, 0, 0);
            if changed < 0 {
                return Err((step::DIRECTORY, changed));
            }
        }
    }
    Ok(())
}

/// Lets go of the command's files, so that a pipe or file isn't held open between runs.
fn restore_descriptors() {
    for place in 0..3 {
        // SAFETY: open descriptors.
        unsafe { call3(number::DUP3, fd::NULL as usize, place, 0) };
    }
}

/// What the child does: as little as possible.
extern "C" fn child(shared: usize) -> ! {
    // SAFETY: our parent has mapped the memory, and writes to none of these fields until we have ended.
    unsafe {
        let shared = shared as *mut Shared;
        let job = &(*shared).job;
        let answer = &raw mut (*shared).answer;
        call3(number::SETPGID, 0, 0, 0);
        if job.cpu_mask != 0 {
            let pinned = call3(
                number::SCHED_SETAFFINITY,
                0,
                job.cpu_mask_length as usize,
                job.cpu_mask as usize,
            );
            if pinned < 0 {
                (*answer).failed_step = step::PIN;
                (*answer).error = -pinned as i32;
                call3(number::EXIT, 127, 0, 0);
            }
        }
        (*answer).exec_ns = system::now();
        let failed = call3(
            number::EXECVE,
            job.path as usize,
            job.argv as usize,
            job.envp as usize,
        );
        (*answer).failed_step = step::EXEC;
        (*answer).error = -failed as i32;
        call3(number::EXIT, 127, 0, 0);
    }
    system::exit(127)
}

fn wait_for_exit(pid: isize) {
    let mut info = [0u64; 16];
    // SAFETY: siginfo is 128 bytes.
    while unsafe {
        call(
            number::WAITID,
            [P_PID, pid as usize, info.as_mut_ptr() as usize, WEXITED | WNOWAIT, 0, 0],
        )
    } == EINTR
    {}
}

/// Opens `/proc/PID/NAME`; `name` begins with a slash and ends with a zero.
fn open_of(pid: isize, name: &[u8]) -> isize {
    let mut path = [0u8; 40];
    let mut digits = [0u8; 20];
    let mut length = 0;
    let mut rest = pid as u64;
    while rest > 0 {
        digits[length] = b'0' + (rest % 10) as u8;
        rest /= 10;
        length += 1;
    }
    let mut at = 0;
    while at < length {
        path[at] = digits[length - 1 - at];
        at += 1;
    }
    for byte in name {
        path[at] = *byte;
        at += 1;
    }
    open(fd::PROC as usize, path.as_ptr() as usize, 0)
}

fn read_text(from: isize, into: &mut Text) {
    if from < 0 {
        into.length = from as i64;
        return;
    }
    // SAFETY: reads at most the size of the buffer.
    into.length = unsafe {
        call(
            number::PREAD64,
            [from as usize, into.bytes.as_mut_ptr() as usize, into.bytes.len(), 0, 0, 0],
        )
    } as i64;
}

fn read_and_close(from: isize, into: &mut Text) {
    read_text(from, into);
    if from >= 0 {
        // SAFETY: an open descriptor.
        unsafe { call3(number::CLOSE, from as usize, 0, 0) };
    }
}

/// Calls `act` for each of our children that is alive or not reaped; returns how many there are.
fn each_child(act: fn(isize) -> bool) -> (u32, u32) {
    let listing = open(AT_FDCWD, c"/proc/thread-self/children".as_ptr() as usize, 0);
    if listing < 0 {
        return (0, 0);
    }
    let (mut count, mut refused, mut pid) = (0, 0, 0isize);
    let mut buffer = [0u8; 512];
    loop {
        // SAFETY: reads at most the size of the buffer.
        let got = unsafe { call3(number::READ, listing as usize, buffer.as_mut_ptr() as usize, 512) };
        if got <= 0 {
            break;
        }
        for byte in buffer.iter().take(got as usize) {
            if byte.is_ascii_digit() {
                pid = pid * 10 + (byte - b'0') as isize;
            } else if pid > 0 {
                count += 1;
                refused += !act(pid) as u32;
                pid = 0;
            }
        }
    }
    // SAFETY: an open descriptor.
    unsafe { call3(number::CLOSE, listing as usize, 0, 0) };
    (count, refused)
}

fn kill(pid: isize) -> bool {
    // SAFETY: takes numbers. The group first: it has the same number if the child leads one.
    unsafe {
        call3(number::KILL, -pid as usize, SIGKILL, 0);
        call3(number::KILL, pid as usize, SIGKILL, 0) != EPERM
    }
}

/// Reaps children that have ended, without waiting. True while any are left.
fn reap(flags: usize) -> bool {
    loop {
        // SAFETY: nothing is written.
        match unsafe { call(number::WAIT4, [usize::MAX, 0, flags, 0, 0, 0]) } {
            0 => return true,
            EINTR => {}
            pid if pid > 0 => {
                if flags == 0 {
                    return true;
                }
            }
            _ => return false,
        }
    }
}

fn count_left() -> u32 {
    if reap(WNOHANG) { each_child(|_| true).0 } else { 0 }
}

/// Ends every descendant: when a child dies its own children become ours, so this goes on until
/// there are none. Returns how many we are not allowed to end (set-uid programs).
fn sweep() -> u32 {
    while reap(WNOHANG) {
        let (count, refused) = each_child(kill);
        if refused > 0 {
            return refused;
        }
        if count == 0 {
            break;
        }
        reap(0);
    }
    0
}
