//! Checks whether a program writes earlier to a terminal than to a pipe.
//!
//! The C library and most languages buffer output until a buffer is full or the program ends, unless the
//! output goes to a terminal. One run on a separate terminal shows the difference.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{CommandLine, Input, MeasureError};

/// Returns how long the command takes, in nanoseconds, to write its first byte to a terminal; `None` if it
/// takes longer than `most`. The command is then killed, with its process group.
///
/// # Errors
/// If it can't be started.
pub fn first_output_on_a_terminal(
    command: &CommandLine,
    most: Duration,
) -> Result<Option<u64>, MeasureError> {
    let failed = |error| MeasureError::Spawn {
        name: command.arguments[0].to_string_lossy().into_owned(),
        error,
    };
    let input = match &command.input {
        Input::Null => Stdio::null(),
        Input::File(path) => crate::input::open(path)?.into(),
    };
    let (ours, theirs) = open_terminal().map_err(failed)?;
    let began = Instant::now();
    let child = start(command, input, theirs).map_err(failed)?;
    let group = Group(child);
    let came = wait_for_byte(&ours, began + most);
    drop(group);
    Ok(came.then(|| began.elapsed().as_nanos() as u64))
}

fn start(command: &CommandLine, input: Stdio, terminal: OwnedFd) -> io::Result<Child> {
    let mut started = Command::new(&command.program);
    started
        .arg0(&command.arguments[0])
        .args(&command.arguments[1..])
        .envs(command.variables.iter().map(|(name, value)| (name, value)))
        .stdin(input)
        .stdout(terminal)
        .stderr(Stdio::null())
        .process_group(0);
    if let Some(directory) = &command.directory {
        started.current_dir(directory);
    }
    // SAFETY: both calls are permitted between fork and exec, and take numbers.
    unsafe {
        started.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
            Ok(())
        });
    }
    started.spawn()
}

/// Opens a terminal: returns the end to read, and the end that programs see as a terminal.
fn open_terminal() -> io::Result<(OwnedFd, OwnedFd)> {
    let opened = |descriptor: libc::c_int| {
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just opened, with no other owner.
        Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
    };
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: takes only numbers.
    let ours = opened(unsafe { libc::posix_openpt(flags) })?;
    let mut name: [libc::c_char; 64] = [0; 64];
    // SAFETY: an open terminal, and space for a name with its NUL.
    let refused = unsafe {
        libc::grantpt(ours.as_raw_fd()) != 0
            || libc::unlockpt(ours.as_raw_fd()) != 0
            || libc::ptsname_r(ours.as_raw_fd(), name.as_mut_ptr(), name.len()) != 0
    };
    if refused {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call NUL-terminated the name.
    let theirs = opened(unsafe { libc::open(CStr::from_ptr(name.as_ptr()).as_ptr(), flags) })?;
    Ok((ours, theirs))
}

/// Waits until there is something to read, the other end is closed, or the time is up.
fn wait_for_byte(terminal: &OwnedFd, until: Instant) -> bool {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || crate::interrupt::stopped() {
            return false;
        }
        let mut polled = libc::pollfd {
            fd: terminal.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let patience = left.as_millis().clamp(1, 100) as libc::c_int;
        // SAFETY: one entry.
        if unsafe { libc::poll(&raw mut polled, 1, patience) } > 0 {
            return polled.revents & libc::POLLIN != 0;
        }
    }
}

/// A child that leads a process group; killed and reaped when dropped.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        // SAFETY: takes only numbers. The group was created for this child, its leader, which hasn't been
        // reaped yet.
        unsafe { libc::kill(-(self.0.id() as libc::pid_t), libc::SIGKILL) };
        // It may already have been reaped, which is fine.
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> CommandLine {
        CommandLine {
            arguments: ["sh", "-c", script].map(Into::into).to_vec(),
            program: "/bin/sh".into(),
            directory: None,
            variables: Vec::new(),
            input: Input::Null,
            output: crate::Output::Pipe,
            expect: None,
            without: crate::Without::default(),
        }
    }

    #[test]
    fn a_program_on_a_terminal_is_seen_and_ended() {
        let most = Duration::from_secs(60);
        let script = "test -t 1 && echo yes; exec sleep 1000";
        let came = first_output_on_a_terminal(&shell(script), most).unwrap();
        assert!(came.is_some(), "it is a terminal, so it wrote");
    }

    #[test]
    fn a_silent_program_has_no_first_byte() {
        let most = Duration::from_secs(60);
        assert_eq!(first_output_on_a_terminal(&shell(":"), most).unwrap(), None);
    }
}
