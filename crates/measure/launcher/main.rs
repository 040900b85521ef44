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
#[path = "files.rs"]
mod files;
#[path = "library.rs"]
mod library;
#[path = "pipeline.rs"]
mod pipeline;
#[path = "record.rs"]
mod record;
#[path = "shared.rs"]
#[allow(dead_code)]
mod shared;
#[path = "system.rs"]
mod system;
#[path = "tree.rs"]
mod tree;

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use files::{AT_FDCWD, O_CLOEXEC, Placed, open, open_of, read_and_close, read_text};
use record::Record;
use shared::{Answer, BASE, Control, Job, SIZE, SLOTS, Shared, Stage, Text, command, fd, step};
use system::{call, call3, number};
use tree::{count_left, sweep};

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

const PR_SET_PDEATHSIG: usize = 1;
const PR_SET_NAME: usize = 15;
const PR_SET_CHILD_SUBREAPER: usize = 36;
const SIGTERM: usize = 15;
const O_RDWR: usize = 2;
const F_SETFD: usize = 2;
const FD_CLOEXEC: usize = 1;
const WEXITED: usize = 4;
const WNOWAIT: usize = 0x0100_0000;
const EINTR: isize = -4;
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
    answer.before_exec.length = 0;
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

    answer.cpu = if control.wants_cpu != 0 { last_cpu(pid) } else { -1 };
    take_accounts(pid, if control.early_io != 0 { Some(early) } else { None }, answer);
    placed.after(job);
    if kill_wanted(control) == at as u32 + 1 {
        control.immortal = sweep();
    } else {
        answer.left_behind = count_left();
    }
}

/// The CPU on which a dead process ran last, the 39th field of `/proc/PID/stat`; -1 if the kernel does not say.
fn last_cpu(pid: isize) -> i32 {
    let mut stat = Text::<1024> { length: 0, bytes: [0; 1024] };
    read_and_close(open_of(pid, b"/stat\0"), &mut stat);
    let length = if stat.length > 0 { stat.length as usize } else { 0 };
    let text = stat.bytes.get(..length).unwrap_or_default();
    // The second field, a name in brackets, may hold anything.
    let Some(name_end) = text.iter().rposition(|byte| *byte == b')') else { return -1 };
    let Some(field) = text[name_end..].split(|byte| *byte == b' ').nth(37) else { return -1 };
    let mut cpu = 0;
    for byte in field {
        if !byte.is_ascii_digit() || cpu > 1 << 20 {
            return -1;
        }
        cpu = cpu * 10 + i32::from(byte - b'0');
    }
    if field.is_empty() { -1 } else { cpu }
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
        if (*shared).control.wants_cpu != 0 {
            let own = open(AT_FDCWD, c"/proc/thread-self/schedstat".as_ptr() as usize, 0);
            read_and_close(own, &mut (*answer).before_exec);
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
