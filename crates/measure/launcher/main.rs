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

#[path = "account.rs"]
mod account;
#[path = "pipeline.rs"]
mod pipeline;
#[path = "record.rs"]
mod record;
#[path = "shared.rs"]
#[allow(dead_code)]
mod shared;
#[path = "system.rs"]
mod system;

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use record::Record;
use shared::{Answer, BASE, Control, Job, SIZE, SLOTS, Shared, Stage, Text, command, fd, step};
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

#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(left: *const u8, right: *const u8, length: usize) -> i32 {
    let mut i = 0;
    while i < length {
        // SAFETY: as in memset.
        let differ = unsafe { core::ptr::read_volatile(left.add(i)) != core::ptr::read_volatile(right.add(i)) };
        if differ {
            return 1;
        }
        i += 1;
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strlen(text: *const u8) -> usize {
    let mut length = 0;
    // SAFETY: the caller says that a zero byte ends the text.
    while unsafe { core::ptr::read_volatile(text.add(length)) } != 0 {
        length += 1;
    }
    length
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
            command::RUN => run_all(shared),
            // SAFETY: lies in the mapping, above the jobs; Fathom reads only `child` meanwhile.
            command::PIPELINE => unsafe { pipeline::run(&mut shared.control, &mut *pipeline::area()) },
            command::SWEEP => shared.control.immortal = sweep(),
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
        let highest = (*memory()).control.highest_fd;
        for descriptor in fd::COMMANDS..=if highest > fd::NULL { highest } else { fd::NULL } {
            call3(number::FCNTL, descriptor as usize, F_SETFD, FD_CLOEXEC);
        }
        // Fathom may have died before the death signal was asked for.
        if call3(number::GETPPID, 0, 0, 0) != (*memory()).control.parent as isize {
            system::exit(97);
        }
    }
}

fn open(directory: usize, path: usize, flags: usize) -> isize {
    // SAFETY: `path` is a string that ends with zero.
    unsafe { call(number::OPENAT, [directory, path, flags | O_CLOEXEC, 0o666, 0, 0]) }
}

/// Fathom is gone: nothing that it started may stay. What has ended is recorded first.
extern "C" fn on_death(_: i32) {
    DYING.store(true, Relaxed);
    if !RECORDING.load(Relaxed) {
        end()
    }
}

/// Whether a run has ended and is not in the record yet.
static RECORDING: AtomicBool = AtomicBool::new(false);
/// Whether the launcher is to end as soon as it is.
static DYING: AtomicBool = AtomicBool::new(false);

fn end() -> ! {
    sweep();
    system::exit(0)
}

/// Makes the jobs, one after the other, without a word to Fathom between them: waking it would let the
/// CPUs fall idle and caches cool, and the next run would be the slower for it.
fn run_all(shared: &mut Shared) {
    let control = &mut shared.control;
    let began = system::now();
    let mut record = Record::open();
    let mut placed = Placed::NOTHING;
    let mut at = 0;
    while at < (control.jobs as usize).min(SLOTS) {
        let job = &shared.jobs[at];
        let answer = &mut shared.answers[at];
        run(at, job, control, answer, &mut placed);
        at += 1;
        let killed = kill_wanted(control);
        if job.record_head != 0 && answer.failed_step == step::NONE && killed != at as u32 {
            record.add(job, answer, control);
        }
        RECORDING.store(false, Relaxed);
        if DYING.load(Relaxed) {
            end();
        }
        // SAFETY: an aligned word in the shared memory that Fathom reads meanwhile.
        unsafe { core::ptr::write_volatile(&raw mut control.answers, at as u32) };
        let ended_well = answer.failed_step == step::NONE && answer.status == 0;
        let used = answer.end_ns.saturating_sub(began);
        // A round is not split without need: the pause in between changes how fast the next run is.
        let time_is_up = used >= control.longest_ns || (used >= control.budget_ns && job.ends_round != 0);
        if killed != 0 || !ended_well || answer.left_behind != control.left_before || time_is_up {
            break;
        }
    }
    record.close();
    placed.let_go();
}

/// The number of the job that Fathom wants ended, 0 if none.
fn kill_wanted(control: &Control) -> u32 {
    // SAFETY: Fathom may set this at any time, hence volatile.
    unsafe { core::ptr::read_volatile(&raw const control.kill_tree) }
}

fn run(at: usize, job: &Job, control: &mut Control, answer: &mut Answer, placed: &mut Placed) {
    answer.child = 0;
    answer.failed_step = step::NONE;
    answer.error = 0;
    answer.status = 0;
    answer.left_behind = 0;
    answer.exec_ns = 0;
    if let Err((failed, error)) = placed.place(job, fd::NULL, job.output_fd) {
        answer.failed_step = failed;
        answer.error = -error as i32;
        return;
    }
    // SAFETY: the child runs `child` on a stack of its own and ends in execve or exit.
    let pid = unsafe {
        let top = STACK.0.get() as usize + 16384;
        let start = system::now();
        core::ptr::write_volatile(&raw mut answer.start_ns, start);
        system::spawn(top, child, at)
    };
    if pid < 0 {
        answer.failed_step = step::CLONE;
        answer.error = -pid as i32;
        return;
    }
    // SAFETY: an aligned word in the shared memory that Fathom reads to end the run.
    unsafe { core::ptr::write_volatile(&raw mut answer.child, pid as i32) };
    let early = if control.early_io != 0 { open_of(pid, b"/io\0") } else { -1 };
    read_text(fd::OWN_SCHEDSTAT as isize, &mut answer.own_before);
    wait_for_exit(pid);
    RECORDING.store(true, Relaxed);
    answer.end_ns = system::now();
    read_text(fd::OWN_SCHEDSTAT as isize, &mut answer.own_after);

    take_accounts(pid, if control.early_io != 0 { Some(early) } else { None }, answer);
    placed.after(job);
    if kill_wanted(control) == at as u32 + 1 {
        control.immortal = sweep();
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

/// What our own standard descriptors are, so that what the next job wants the same isn't placed again.
struct Placed {
    input_fd: i32,
    output_fd: i32,
    error_fd: i32,
}

impl Placed {
    const NOTHING: Placed = Placed { input_fd: -1, output_fd: -1, error_fd: -1 };

    /// Puts the child's standard descriptors and directory in place in ourselves, before the clock
    /// starts: the child inherits them and has nothing left to do. The two descriptors are used where
    /// the job names no file.
    fn place(&mut self, job: &Job, input_fd: i32, output_fd: i32) -> Result<(), (u32, isize)> {
        if job.input != 0 {
            self.input_fd = -1;
            let opened = open(AT_FDCWD, job.input as usize, 0);
            move_to(opened, 0).map_err(|error| (step::INPUT, error))?;
        } else if input_fd < 0 || self.input_fd != input_fd {
            copy_to(input_fd, 0).map_err(|error| (step::INPUT, error))?;
            self.input_fd = input_fd;
        }
        if job.output != 0 {
            self.output_fd = -1;
            let opened = open(AT_FDCWD, job.output as usize, O_WRONLY | O_CREAT | O_TRUNC);
            move_to(opened, 1).map_err(|error| (step::OUTPUT, error))?;
        } else if output_fd < 0 || self.output_fd != output_fd {
            copy_to(output_fd, 1).map_err(|error| (step::OUTPUT, error))?;
            self.output_fd = output_fd;
        }
        if self.error_fd != job.error_fd {
            copy_to(job.error_fd, 2).map_err(|error| (step::OUTPUT, error))?;
            self.error_fd = job.error_fd;
        }
        if job.directory != 0 {
            // SAFETY: a string that ends with zero.
            let changed = unsafe { call3(number::CHDIR, job.directory as usize, 0, 0) };
            if changed < 0 {
                return Err((step::DIRECTORY, changed));
            }
        }
        Ok(())
    }

    /// Lets go of the files of the job that has ended: what it wrote is closed before anything else
    /// reads it.
    fn after(&mut self, job: &Job) {
        if job.input != 0 && copy_to(fd::NULL, 0).is_ok() {
            self.input_fd = fd::NULL;
        }
        if job.output != 0 && copy_to(fd::NULL, 1).is_ok() {
            self.output_fd = fd::NULL;
        }
    }

    /// Lets go of everything, so that a pipe or file isn't held open between hand-overs.
    fn let_go(&mut self) {
        for place in 0..3 {
            // It is open; if not, the next job says so.
            let _ = copy_to(fd::NULL, place);
        }
        *self = Placed::NOTHING;
    }
}

/// Copies an open descriptor to a standard one, which the launcher itself never uses.
fn copy_to(descriptor: i32, place: usize) -> Result<(), isize> {
    // SAFETY: takes numbers.
    match unsafe { call3(number::DUP3, descriptor as usize, place, 0) } {
        error if error < 0 => Err(error),
        _ => Ok(()),
    }
}

/// The same, and closes the original; passes on the error of opening it.
fn move_to(opened: isize, place: usize) -> Result<(), isize> {
    if opened < 0 {
        return Err(opened);
    }
    let copied = copy_to(opened as i32, place);
    // SAFETY: an open descriptor.
    unsafe { call3(number::CLOSE, opened as usize, 0, 0) };
    copied
}

/// What the child does: as little as possible. `what` is the number of a job, or the address of a stage.
extern "C" fn child(what: usize) -> ! {
    // SAFETY: our parent has mapped the memory, and writes to none of these fields until we have ended.
    unsafe {
        let shared = memory();
        let (job, answer) = if what < SLOTS {
            (&raw const (*shared).jobs[what], &raw mut (*shared).answers[what])
        } else {
            let stage = what as *mut Stage;
            (&raw const (*stage).job, &raw mut (*stage).answer)
        };
        call3(number::SETPGID, 0, 0, 0);
        if (*job).cpu_mask != 0 {
            let pinned = call3(
                number::SCHED_SETAFFINITY,
                0,
                (*job).cpu_mask_length as usize,
                (*job).cpu_mask as usize,
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
            (*job).path as usize,
            (*job).argv as usize,
            (*job).envp as usize,
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

fn read_text<const N: usize>(from: isize, into: &mut Text<N>) {
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

fn read_and_close<const N: usize>(from: isize, into: &mut Text<N>) {
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
