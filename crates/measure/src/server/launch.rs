//! Prepares the start of a server, and explains failures to start.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::filter::Filter;
use super::keeper::{self, Plan};
use crate::process::environment_of;
use crate::{CommandLine, Input, MeasureError, Output};

/// Options for starting a server.
#[derive(Debug, Clone, Default)]
pub struct StartOptions {
    /// CPUs that it may use; all if empty.
    pub cpus: Vec<usize>,
    /// The line to look for in standard output and standard error.
    pub wanted_line: Option<String>,
    /// Whether the server may write to the terminal.
    pub show_output: bool,
    /// Variables in addition to those of the command, such as `PORT`.
    pub variables: Vec<(OsString, OsString)>,
}

/// Returns the data that the keeper needs, prepared before it is started.
pub(super) fn plan(
    command: &CommandLine,
    options: &StartOptions,
    descriptors: [RawFd; 6],
) -> io::Result<Plan> {
    let directory = command.directory.as_ref();
    Ok(Plan {
        program: text(command.program.as_os_str())?,
        arguments: texts(command.arguments.iter().map(|word| word.as_bytes()))?,
        environment: environment(command, options)?,
        directory: directory
            .map(|directory| text(directory.as_os_str()))
            .transpose()?,
        cpus: (!options.cpus.is_empty()).then(|| Box::new(cpu_set(&options.cpus))),
        filter: (!gains_privileges(command)).then(Filter::new),
        descriptors,
    })
}

/// Returns the error for the step of the keeper that failed.
pub(super) fn not_started(
    command: &CommandLine,
    options: &StartOptions,
    step: usize,
    error: io::Error,
) -> MeasureError {
    match step {
        2 => MeasureError::Directory {
            path: command.folder().to_path_buf(),
            error,
        },
        3 => MeasureError::Pin {
            cpus: options.cpus.clone(),
            error,
        },
        4 => MeasureError::NotExecutable {
            path: command.program.clone(),
            reason: error.to_string(),
        },
        step => MeasureError::Spawn {
            name: format!(
                "{} (to {})",
                command.program.display(),
                keeper::STEPS[step.min(4)]
            ),
            error,
        },
    }
}

/// Reports whether executing the program changes the user or adds capabilities, which the filter would
/// prevent.
fn gains_privileges(command: &CommandLine) -> bool {
    let path = match command.program.is_absolute() {
        true => command.program.clone(),
        false => command.folder().join(&command.program),
    };
    let mode = std::fs::metadata(&path).map_or(0, |about| about.permissions().mode());
    if mode & (libc::S_ISUID | libc::S_ISGID) != 0 {
        return true;
    }
    let Ok(path) = text(path.as_os_str()) else {
        return false;
    };
    let name = c"security.capability".as_ptr();
    // SAFETY: two NUL-terminated strings; only queries a length.
    unsafe { libc::getxattr(path.as_ptr(), name, std::ptr::null_mut(), 0) > 0 }
}

pub(super) fn open_input(input: &Input) -> Result<OwnedFd, MeasureError> {
    let path = match input {
        Input::Null => Path::new("/dev/null"),
        Input::File(path) => path,
    };
    crate::input::open(path).map(Into::into)
}

/// Returns the end that Fathom reads, if Fathom reads the output, and the end that the server writes to,
/// unless that is Fathom's own standard output.
pub(super) fn open_output(
    command: &CommandLine,
    options: &StartOptions,
) -> Result<(Option<OwnedFd>, Option<OwnedFd>), MeasureError> {
    let path = match &command.output {
        _ if options.show_output => return Ok((None, None)),
        Output::Inherit => return Ok((None, None)),
        Output::Null if options.wanted_line.is_none() => PathBuf::from("/dev/null"),
        Output::File(path) => path.clone(),
        Output::Pipe | Output::Null => {
            let (read, write) = pipe().map_err(|error| MeasureError::Spawn {
                name: command.program.display().to_string(),
                error,
            })?;
            return Ok((Some(read), Some(write)));
        }
    };
    let opened = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path);
    let opened = opened.map_err(|error| MeasureError::Output { path, error })?;
    Ok((None, Some(opened.into())))
}

fn environment(command: &CommandLine, options: &StartOptions) -> io::Result<Vec<CString>> {
    let all = environment_of(command).into_iter();
    let given = |name: &OsStr| command.variables.iter().any(|(n, _)| n == name);
    let added = options.variables.iter().filter(|(name, _)| !given(name));
    let replaced = |pair: &Vec<u8>| {
        let mut names = added.clone().map(|(name, _)| name.as_bytes());
        names.any(|name| pair.starts_with(name) && pair.get(name.len()) == Some(&b'='))
    };
    let mut pairs: Vec<Vec<u8>> = all.filter(|pair| !replaced(pair)).collect();
    pairs.extend(added.map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat()));
    texts(pairs.iter().map(Vec::as_slice))
}

fn text(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn texts<'a>(texts: impl Iterator<Item = &'a [u8]>) -> io::Result<Vec<CString>> {
    let text = |bytes| CString::new(bytes).map_err(|_| io::ErrorKind::InvalidInput.into());
    texts.map(text).collect()
}

fn cpu_set(cpus: &[usize]) -> libc::cpu_set_t {
    // SAFETY: all-zero is a valid, empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for cpu in cpus.iter().filter(|cpu| **cpu < libc::CPU_SETSIZE as usize) {
        // SAFETY: the number is less than the set's size.
        unsafe { libc::CPU_SET(*cpu, &mut set) };
    }
    set
}

pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: the array has space for both descriptors.
    if unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) } == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both were just created, with no other owner.
    Ok(unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) })
}

pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (a, b) = std::os::unix::net::UnixDatagram::pair()?;
    Ok((a.into(), b.into()))
}

pub(super) fn nonblocking(fd: &OwnedFd) -> io::Result<()> {
    // SAFETY: takes only numbers.
    match unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
