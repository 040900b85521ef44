//! Tracks a server's whole process tree, and kills it whatever happens to Fathom.
//!
//! Each server has a keeper, a forked process that makes only a few calls. The keeper is the parent of
//! everything that the server leaves behind (a subreaper), so processes that daemonize don't escape, and the
//! trees of several servers stay separate. It sleeps until a child ends or Fathom sends a command. End of
//! file on the pipe, even after a `kill -9` of Fathom, means 'kill everything'. The keeper starts the server
//! with vfork semantics in its own copied memory: the server's `execve` then doesn't have to tear down
//! Fathom's memory, which took 0.3 to 0.6 ms.

use std::ffi::CString;
use std::os::fd::RawFd;

use super::filter::{self, Filter};

/// Descriptor numbers in the keeper; all others are closed.
const CONTROL: RawFd = 3;
const REPORTS: RawFd = 4;
const HANDOVER: RawFd = 5;
const STDIO: RawFd = 6;
/// Descriptors are moved above this before they get those numbers.
const ABOVE: RawFd = 64;
/// More stack than the code between the clone and the `execve` needs.
const STACK_BYTES: usize = 64 << 10;
/// The time limit for killed processes to disappear. They are gone much sooner, unless a disk delays them.
const KILLED_WITHIN_NS: u64 = 5_000_000_000;

/// A report of the keeper. Written in one call, so that it arrives complete.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Report {
    pub(super) kind: u32,
    pub(super) value: i32,
    pub(super) at: u64,
    pub(super) more: u64,
}

/// The server is running. Contains its pid, when it called `execve`, and when that took effect.
pub(super) const STARTED: u32 = 1;
/// The server could not be started. Contains the error, and in which of [`STEPS`] it occurred.
pub(super) const NOT_STARTED: u32 = 2;
/// The started process has ended. Contains its status, as from `wait`.
pub(super) const ENDED: u32 = 3;
/// Nothing of the tree is left, except `more` processes that could not be killed. Contains how many had to be
/// killed.
pub(super) const GONE: u32 = 4;

/// A command of Fathom.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Order {
    /// Nanoseconds that the tree has to end by itself after SIGTERM.
    pub(super) patience: u64,
}

/// The steps that may fail, as named in errors.
pub(super) const STEPS: [&str; 5] = [
    "make a process",
    "redirect input and output",
    "enter its directory",
    "use these CPUs",
    "execute it",
];

/// Everything that the keeper and the server need: nothing may be allocated after the fork.
pub(super) struct Plan {
    pub(super) program: CString,
    pub(super) arguments: Vec<CString>,
    pub(super) environment: Vec<CString>,
    pub(super) directory: Option<CString>,
    pub(super) cpus: Option<Box<libc::cpu_set_t>>,
    pub(super) filter: Option<Filter>,
    /// Fathom's descriptors for control, reports, handover, and the server's input, output and standard
    /// error.
    pub(super) descriptors: [RawFd; 6],
}

/// The data through which the keeper and the server, which share memory, communicate.
struct Shared<'p> {
    plan: &'p Plan,
    arguments: Vec<*const libc::c_char>,
    environment: Vec<*const libc::c_char>,
    launched: u64,
    failed_step: usize,
    error: i32,
}

/// Starts a keeper with its server; returns the keeper's pid.
///
/// # Errors
/// If no further process can be created.
pub(super) fn start(plan: &Plan) -> std::io::Result<i32> {
    let list = |texts: &[CString]| {
        let pointers = texts.iter().map(|text| text.as_ptr());
        pointers.chain([std::ptr::null()]).collect()
    };
    let mut shared = Shared {
        plan,
        arguments: list(&plan.arguments),
        environment: list(&plan.environment),
        launched: 0,
        failed_step: usize::MAX,
        error: 0,
    };
    let mut stack = vec![0u8; STACK_BYTES];
    // SAFETY: the child calls only async-signal-safe functions, on data created above.
    match unsafe { libc::fork() } {
        -1 => Err(std::io::Error::last_os_error()),
        // SAFETY: in the forked child.
        0 => unsafe { keep(&mut shared, &mut stack) },
        pid => Ok(pid),
    }
}

/// Returns nanoseconds of `CLOCK_MONOTONIC`.
pub(super) fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to a live timespec; this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// # Safety
/// Must only be called in a forked child.
unsafe fn keep(shared: &mut Shared<'_>, stack: &mut [u8]) -> ! {
    // SAFETY: async-signal-safe calls, on memory allocated before the fork.
    unsafe {
        // Leave the terminal's group: Ctrl-C is for Fathom, which then sends a command.
        libc::setsid();
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
        let mut moved = shared.plan.descriptors;
        for fd in &mut moved {
            *fd = libc::fcntl(*fd, libc::F_DUPFD_CLOEXEC, ABOVE);
        }
        for (number, fd) in moved.iter().enumerate() {
            libc::dup3(*fd, CONTROL + number as RawFd, libc::O_CLOEXEC);
        }
        let above = STDIO + 3;
        fathom_trace::close_from(above as u32);
        let mut child_ends: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut child_ends);
        libc::sigaddset(&raw mut child_ends, libc::SIGCHLD);
        let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
        let signals = libc::signalfd(-1, &raw const child_ends, flags);

        let top = stack.as_mut_ptr().add(stack.len() & !15);
        let top = top.sub(top as usize % 16);
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let argument = std::ptr::from_mut(shared).cast();
        let server = libc::clone(serve, top.cast(), flags, argument);
        let executed = now();
        if server == -1 {
            shared.failed_step = 0;
            shared.error = *libc::__errno_location();
        }
        if shared.failed_step != usize::MAX {
            report(NOT_STARTED, shared.error, shared.failed_step as u64, 0);
            libc::waitpid(server, std::ptr::null_mut(), 0);
            libc::_exit(0);
        }
        for fd in HANDOVER..above {
            libc::close(fd);
        }
        report(STARTED, server, shared.launched, executed);
        wait_for_orders(server, signals)
    }
}

/// # Safety
/// Must only be called in the keeper.
unsafe fn wait_for_orders(server: i32, signals: RawFd) -> ! {
    let mut running = true;
    let mut deadline = u64::MAX;
    let polled = |fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut both = [polled(signals), polled(CONTROL)];
    loop {
        let left = deadline.saturating_sub(now()).min(3_600_000_000_000);
        let wait = libc::timespec {
            tv_sec: (left / 1_000_000_000) as libc::time_t,
            tv_nsec: (left % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: async-signal-safe calls on the frame's own memory.
        unsafe {
            libc::ppoll(both.as_mut_ptr(), 2, &raw const wait, std::ptr::null());
            let mut ignored = [0u8; 128];
            while libc::read(signals, ignored.as_mut_ptr().cast(), 128) > 0 {}
            loop {
                let mut status = 0;
                let ended = libc::waitpid(-1, &raw mut status, libc::WNOHANG);
                if ended == server {
                    running = false;
                    report(ENDED, status, now(), 0);
                }
                if ended > 0 {
                    continue;
                }
                if ended == -1 && deadline != u64::MAX {
                    report(GONE, 0, now(), 0);
                    libc::_exit(0);
                }
                break;
            }
            if both[1].revents != 0 {
                let mut order = Order { patience: 0 };
                let size = size_of::<Order>();
                let got = libc::read(CONTROL, (&raw mut order).cast(), size);
                if got != size as isize {
                    end_all();
                }
                deadline = now().saturating_add(order.patience);
                // Processes that were reparented to us get a signal to end as well.
                if running {
                    libc::kill(-server, libc::SIGTERM);
                }
                each_child(&mut |pid| {
                    if !(running && pid == server) {
                        libc::kill(pid, libc::SIGTERM);
                    }
                });
                // If there are no children, no end of a child will wake us.
                let mut about: libc::siginfo_t = std::mem::zeroed();
                let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
                if libc::waitid(libc::P_ALL, 0, &raw mut about, flags) == -1 {
                    report(GONE, 0, now(), 0);
                    libc::_exit(0);
                }
            }
            if now() >= deadline {
                end_all();
            }
        }
    }
}

/// Kills every descendant: when a child dies, its own children become ours, so this continues until there are
/// none.
///
/// # Safety
/// Must only be called in the keeper.
unsafe fn end_all() -> ! {
    let until = now() + KILLED_WITHIN_NS;
    let mut killed = 0;
    // SAFETY: async-signal-safe calls on the frame's own memory.
    unsafe {
        loop {
            let ended = loop {
                let ended = libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG);
                if ended <= 0 {
                    break ended;
                }
            };
            let mut left = 0;
            if ended == 0 {
                each_child(&mut |pid| {
                    left += 1;
                    libc::kill(-pid, libc::SIGKILL);
                    libc::kill(pid, libc::SIGKILL);
                });
                killed = killed.max(left);
            }
            if ended == -1 || now() > until {
                report(GONE, killed, now(), left as u64);
                libc::_exit(0);
            }
            let pause = libc::timespec {
                tv_sec: 0,
                tv_nsec: 200_000,
            };
            libc::nanosleep(&raw const pause, std::ptr::null_mut());
        }
    }
}

/// Calls `act` for each child of the calling process, which is single-threaded.
///
/// # Safety
/// Must only be called in the keeper.
unsafe fn each_child(act: &mut dyn FnMut(i32)) {
    let path = c"/proc/thread-self/children".as_ptr();
    let mut pid = 0i32;
    let mut buffer = [0u8; 512];
    // SAFETY: async-signal-safe calls; reads at most the size of the buffer.
    unsafe {
        let listing = libc::open(path, libc::O_RDONLY | libc::O_CLOEXEC);
        loop {
            let got = libc::read(listing, buffer.as_mut_ptr().cast(), buffer.len());
            if got <= 0 {
                break;
            }
            for byte in buffer.iter().take(got as usize) {
                if byte.is_ascii_digit() {
                    pid = pid.wrapping_mul(10).wrapping_add(i32::from(byte - b'0'));
                } else if pid > 0 {
                    act(pid);
                    pid = 0;
                }
            }
        }
        libc::close(listing);
    }
}

/// # Safety
/// Must only be called in the keeper.
unsafe fn report(kind: u32, value: i32, at: u64, more: u64) {
    let report = Report {
        kind,
        value,
        at,
        more,
    };
    // SAFETY: writes the size of the report. If it fails, the reader is gone.
    unsafe { libc::write(REPORTS, (&raw const report).cast(), size_of::<Report>()) };
}

/// Runs in the server before its program, and does as little as possible. Shares the keeper's memory.
extern "C" fn serve(shared: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the keeper passed `shared` and sleeps until we have called exec or ended; async-signal-safe
    // calls.
    unsafe {
        let shared = &mut *shared.cast::<Shared<'_>>();
        let plan = shared.plan;
        let fails = |shared: &mut Shared<'_>, step: usize| {
            shared.error = *libc::__errno_location();
            shared.failed_step = step;
            libc::_exit(127)
        };
        libc::setsid();
        for signal in [
            libc::SIGINT,
            libc::SIGTERM,
            libc::SIGHUP,
            libc::SIGPIPE,
            libc::SIGXFSZ,
            libc::SIGCHLD,
        ] {
            libc::signal(signal, libc::SIG_DFL);
        }
        for number in 0..3 {
            if libc::dup2(STDIO + number, number) == -1 {
                fails(shared, 1);
            }
        }
        if let Some(directory) = &plan.directory
            && libc::chdir(directory.as_ptr()) == -1
        {
            fails(shared, 2);
        }
        if let Some(cpus) = &plan.cpus
            && libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const **cpus) == -1
        {
            fails(shared, 3);
        }
        // If this fails, Fathom notices because it gets no descriptor.
        if let Some(filter) = &plan.filter {
            filter::install(filter, HANDOVER);
        }
        fathom_trace::close_from(3);
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        shared.launched = now();
        libc::execve(
            plan.program.as_ptr(),
            shared.arguments.as_ptr(),
            shared.environment.as_ptr(),
        );
        fails(shared, 4);
    }
    127
}
