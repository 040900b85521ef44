//! Prepares a child before it is forked.
//!
//! After the fork of a program with threads, nothing may be allocated, so all allocations are made here.

use std::ffi::{CString, OsStr, OsString};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::command::{Io, TraceCommand};
use crate::error::{TraceError, system};
use crate::rights;

/// Everything that the child needs, allocated before the fork.
pub(super) struct Prepared {
    pub program: CString,
    pub argv: Vec<CString>,
    pub env: Vec<CString>,
    pub cwd: Option<CString>,
    pub stdio: [Option<RawFd>; 3],
    pub own_group: bool,
    pub follow: Option<RawFd>,
    /// Whether the child must not gain privileges by set-uid bits and similar. Otherwise its user could see
    /// through this process what such a program does.
    pub no_new_rights: bool,
    /// Descriptors of the tracer that the held child must not keep open.
    pub unwanted: Vec<RawFd>,
    _null: Option<OwnedFd>,
}

/// Resolves the program and converts everything to system call arguments.
pub(super) fn prepare(
    command: &TraceCommand,
    follow: Option<BorrowedFd<'_>>,
) -> Result<Prepared, TraceError> {
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
    // SAFETY: isatty only queries the descriptor. A program that reads the terminal must stay in the
    // terminal's foreground group.
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
        no_new_rights: !rights::caller_is_root(),
        unwanted: Vec::new(),
        _null: null,
    })
}

/// Searches `PATH` here rather than in the child, so that the search isn't traced.
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
        // SAFETY: the text is a live, zero-terminated string.
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

/// Lists of pointers for `execve`, terminated by a null pointer.
pub(super) struct Pointers {
    pub argv: Vec<*const libc::c_char>,
    pub env: Vec<*const libc::c_char>,
}

impl Pointers {
    pub(super) fn of(prepared: &Prepared) -> Self {
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
