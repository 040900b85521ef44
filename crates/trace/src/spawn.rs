//! How is the command started, held until tracing is armed, and never left behind?
//!
//! The child is forked, sets itself up, and waits on a pipe right before its `execve`. It dies with
//! the thread that made it (`PR_SET_PDEATHSIG`); what it made dies with its process group, which a
//! guardian process kills if the tracer is killed first.

use std::ffi::{CString, OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::command::{Io, TraceCommand};
use crate::error::{TraceError, system};
use crate::guardian::Guardian;
use crate::kernel::bpf::run_here;

/// A child that waits to be let go.
#[derive(Debug)]
pub(crate) struct Held {
    /// Its process number.
    pub pid: u32,
    /// Whether it leads a process group of its own.
    pub own_group: bool,
    /// Readable once it has ended.
    pub pidfd: OwnedFd,
    program: String,
    hold: std::fs::File,
    failure: std::fs::File,
    guardian: Option<Guardian>,
    reaped: bool,
}

/// Everything the child needs, made before the fork: after it nothing may be allocated.
struct Prepared {
    program: CString,
    argv: Vec<CString>,
    env: Vec<CString>,
    cwd: Option<CString>,
    stdio: [Option<RawFd>; 3],
    own_group: bool,
    follow: Option<RawFd>,
    _null: Option<OwnedFd>,
}

const STAGES: [&str; 5] = [
    "leading its own process group",
    "redirecting its input or output",
    "entering its working directory",
    "being followed by the kernel programs",
    "executing it",
];

/// Forks a child that is held before its `execve`. If `follow` is given, the child runs that
/// kernel program on itself as the last thing before.
pub(crate) fn hold(
    command: &TraceCommand,
    follow: Option<BorrowedFd<'_>>,
) -> Result<Held, TraceError> {
    let prepared = prepare(command, follow)?;
    let mut guardian = Guardian::start().map_err(system("starting the guardian"))?;
    let (hold_read, hold_write) = pipe().map_err(system("making a pipe"))?;
    let (failure_read, failure_write) = pipe().map_err(system("making a pipe"))?;
    let pointers = Pointers::of(&prepared);
    // SAFETY: the child calls only async-signal-safe functions on what was prepared above.
    let pid = unsafe { libc::fork() };
    match pid {
        -1 => Err(system("forking")(io::Error::last_os_error())),
        0 => child(
            &prepared,
            &pointers,
            &hold_read,
            &failure_write,
            &hold_write,
        ),
        pid => {
            drop((hold_read, failure_write));
            let pid = pid as u32;
            if prepared.own_group {
                guardian.guard(pid);
            }
            Ok(Held {
                pid,
                own_group: prepared.own_group,
                pidfd: pidfd(pid).map_err(system("opening the child's descriptor"))?,
                program: prepared.program.to_string_lossy().into_owned(),
                hold: hold_write.into(),
                failure: failure_read.into(),
                guardian: Some(guardian),
                reaped: false,
            })
        }
    }
}

impl Held {
    /// Waits until the child has its descriptors in place and is held.
    pub fn wait_ready(&mut self) -> Result<(), TraceError> {
        let mut ready = [0u8; 8];
        self.failure
            .read_exact(&mut ready[..1])
            .map_err(system("waiting for the child"))?;
        match ready[0] {
            b'r' => Ok(()),
            stage => self.failed(stage),
        }
    }

    /// Lets the child go on to its `execve`. Does not wait.
    pub fn release(&mut self) -> Result<(), TraceError> {
        self.hold
            .write_all(b"g")
            .map_err(system("releasing the child"))
    }

    /// Waits until the `execve` has succeeded, or says why it did not.
    pub fn wait_exec(&mut self) -> Result<(), TraceError> {
        let mut stage = [0u8; 1];
        match self.failure.read(&mut stage) {
            Ok(0) => Ok(()),
            Ok(_) => self.failed(stage[0]),
            Err(error) => Err(system("waiting for the child")(error)),
        }
    }

    fn failed(&mut self, stage: u8) -> Result<(), TraceError> {
        let mut errno = [0u8; 4];
        let read = self.failure.read_exact(&mut errno);
        read.map_err(system("waiting for the child"))?;
        Err(TraceError::NotStarted {
            program: self.program.clone(),
            stage: STAGES[usize::from(stage).min(STAGES.len() - 1)],
            error: io::Error::from_raw_os_error(i32::from_ne_bytes(errno)),
        })
    }

    /// Waits for the end and reaps.
    pub fn reap(&mut self) -> Result<(i32, libc::rusage), TraceError> {
        let mut status = 0;
        // SAFETY: an all-zero rusage is valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        loop {
            // SAFETY: both pointers are to live values.
            let got = unsafe { libc::wait4(self.pid as i32, &mut status, 0, &mut usage) };
            if got == self.pid as i32 && (libc::WIFEXITED(status) || libc::WIFSIGNALED(status)) {
                self.reaped();
                return Ok((status, usage));
            }
            let error = io::Error::last_os_error();
            if got == -1 && error.kind() != io::ErrorKind::Interrupted {
                return Err(system("waiting for the command")(error));
            }
        }
    }

    /// Notes that someone else has reaped the child, and ends what is left of its group.
    pub fn reaped(&mut self) {
        self.reaped = true;
        self.kill_group();
        self.guardian = None;
    }

    /// Kills the child and its process group.
    pub fn kill(&self) {
        self.kill_group();
        if !self.reaped {
            // SAFETY: the child is not reaped, so the number is still its own.
            unsafe { libc::kill(self.pid as i32, libc::SIGKILL) };
        }
    }

    fn kill_group(&self) {
        if self.own_group {
            // SAFETY: the group carries the child's number, which stays taken while the group lives.
            unsafe { libc::kill(-(self.pid as i32), libc::SIGKILL) };
        }
    }
}

/// Kills the process behind a descriptor, and no other that may have got its number.
pub(crate) fn kill_by_pidfd(pidfd: &OwnedFd) {
    let (fd, none) = (pidfd.as_raw_fd(), 0usize);
    // SAFETY: takes integers and a null pointer for the optional details.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, fd, libc::SIGKILL, none, 0) };
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            // SAFETY: waits for our own child, which has just been killed.
            unsafe { libc::waitpid(self.pid as i32, std::ptr::null_mut(), libc::__WALL) };
        }
    }
}

fn prepare(command: &TraceCommand, follow: Option<BorrowedFd<'_>>) -> Result<Prepared, TraceError> {
    let first = command.argv.first().ok_or(TraceError::NoCommand)?;
    let env = command.env.clone();
    let env: Vec<(OsString, OsString)> = env.unwrap_or_else(|| std::env::vars_os().collect());
    let path = env.iter().find(|(name, _)| name == "PATH");
    let program = resolve(
        first,
        path.map(|(_, v)| v.as_os_str()),
        command.cwd.as_deref(),
    )?;
    let null = [&command.stdin, &command.stdout, &command.stderr]
        .iter()
        .any(|io| matches!(io, Io::Null))
        .then(|| {
            let mut options = std::fs::OpenOptions::new();
            options.read(true).write(true).open("/dev/null")
        })
        .transpose()
        .map_err(system("opening /dev/null"))?
        .map(OwnedFd::from);
    let source = |io: &Io| match io {
        Io::Inherit => None,
        Io::Null => null.as_ref().map(AsRawFd::as_raw_fd),
        Io::Fd(fd) => Some(fd.as_raw_fd()),
    };
    // A program that reads the terminal must stay in the terminal's foreground group.
    // SAFETY: isatty only looks at the descriptor.
    let on_terminal = matches!(command.stdin, Io::Inherit) && unsafe { libc::isatty(0) } == 1;
    Ok(Prepared {
        program,
        argv: command
            .argv
            .iter()
            .map(|a| c_string(a))
            .collect::<Result<_, _>>()?,
        env: env
            .iter()
            .map(|(name, value)| {
                let mut pair = name.clone().into_vec();
                pair.push(b'=');
                pair.extend_from_slice(value.as_bytes());
                c_string(&OsString::from_vec(pair))
            })
            .collect::<Result<_, _>>()?,
        cwd: command
            .cwd
            .as_ref()
            .map(|d| c_string(d.as_os_str()))
            .transpose()?,
        stdio: [
            source(&command.stdin),
            source(&command.stdout),
            source(&command.stderr),
        ],
        own_group: !on_terminal,
        follow: follow.map(|fd| fd.as_raw_fd()),
        _null: null,
    })
}

/// Searches `PATH` here, so that the search is no part of what is traced.
fn resolve(
    program: &OsStr,
    path: Option<&OsStr>,
    cwd: Option<&Path>,
) -> Result<CString, TraceError> {
    if program.as_bytes().contains(&b'/') {
        return c_string(program);
    }
    let path = path.unwrap_or(OsStr::new("/bin:/usr/bin"));
    let base = cwd.unwrap_or(Path::new("."));
    for directory in std::env::split_paths(path) {
        let candidate = directory.join(program);
        let seen_from_here = match candidate.is_absolute() {
            true => candidate.clone(),
            false => base.join(&candidate),
        };
        let Ok(text) = c_string(seen_from_here.as_os_str()) else {
            continue;
        };
        // SAFETY: the text is a live zero-terminated string.
        let runs = unsafe { libc::access(text.as_ptr(), libc::X_OK) } == 0;
        if runs && seen_from_here.is_file() {
            return c_string(candidate.as_os_str());
        }
    }
    Err(TraceError::NotFound(program.to_string_lossy().into_owned()))
}

fn c_string(text: &OsStr) -> Result<CString, TraceError> {
    let error = || TraceError::ZeroByte(text.to_string_lossy().into_owned());
    CString::new(text.as_bytes()).map_err(|_| error())
}

pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: the array has room for both descriptors.
    if unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) } == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both were just made and nobody else owns them.
    Ok(unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) })
}

fn pidfd(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: takes two integers.
    match unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: it was just made and nobody else owns it.
        fd => Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) }),
    }
}

/// Zero-terminated pointer lists for `execve`.
struct Pointers {
    argv: Vec<*const libc::c_char>,
    env: Vec<*const libc::c_char>,
}

impl Pointers {
    fn of(prepared: &Prepared) -> Self {
        let list = |texts: &[CString]| {
            let pointers = texts.iter().map(|t| t.as_ptr());
            pointers.chain([std::ptr::null()]).collect()
        };
        Self {
            argv: list(&prepared.argv),
            env: list(&prepared.env),
        }
    }
}

fn child(
    prepared: &Prepared,
    pointers: &Pointers,
    hold: &OwnedFd,
    failure: &OwnedFd,
    other_end: &OwnedFd,
) -> ! {
    // SAFETY: from here to the end only async-signal-safe calls on memory made before the fork.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // Else the child would keep its own pipe open and never see that the tracer is gone.
        libc::close(other_end.as_raw_fd());
        let failure = failure.as_raw_fd();
        if prepared.own_group && libc::setpgid(0, 0) == -1 {
            give_up(failure, 0);
        }
        redirect(prepared, failure);
        if let Some(cwd) = &prepared.cwd
            && libc::chdir(cwd.as_ptr()) == -1
        {
            give_up(failure, 2);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::write(failure, b"r".as_ptr().cast(), 1);
        let mut go = 0u8;
        loop {
            match libc::read(hold.as_raw_fd(), (&raw mut go).cast(), 1) {
                1 => break,
                -1 if *libc::__errno_location() == libc::EINTR => {}
                _ => libc::_exit(127),
            }
        }
        if let Some(program) = prepared.follow
            && let Err(error) = run_here(BorrowedFd::borrow_raw(program))
        {
            *libc::__errno_location() = error.raw_os_error().unwrap_or(0);
            give_up(failure, 3);
        }
        let program = prepared.program.as_ptr();
        libc::execve(program, pointers.argv.as_ptr(), pointers.env.as_ptr());
        give_up(failure, 4)
    }
}

/// Puts the standard descriptors in place.
///
/// # Safety
/// Only in a forked child.
unsafe fn redirect(prepared: &Prepared, failure: RawFd) {
    let mut copies = [-1; 3];
    for (source, copy) in prepared.stdio.iter().zip(&mut copies) {
        if let Some(fd) = source {
            // Copied out of the way first: a source may itself be 0, 1 or 2.
            // SAFETY: takes integers only.
            *copy = unsafe { libc::fcntl(*fd, libc::F_DUPFD_CLOEXEC, 10) };
            if *copy == -1 {
                // SAFETY: in a forked child.
                unsafe { give_up(failure, 1) };
            }
        }
    }
    for (target, copy) in (0..).zip(copies) {
        // SAFETY: takes integers only; in a forked child.
        unsafe {
            if copy != -1 && libc::dup2(copy, target) == -1 {
                give_up(failure, 1);
            }
        }
    }
}

/// Tells the parent which step failed and why, and ends.
///
/// # Safety
/// Only in a forked child.
unsafe fn give_up(failure: RawFd, stage: u8) -> ! {
    // SAFETY: async-signal-safe calls on the frame's own memory.
    unsafe {
        let errno = (*libc::__errno_location()).to_ne_bytes();
        let message = [stage, errno[0], errno[1], errno[2], errno[3]];
        libc::write(failure, message.as_ptr().cast(), message.len());
        libc::_exit(127)
    }
}
