//! Commands around the runs: `--setup`, `--prepare`, `--conclude`, `--cleanup`.

use std::ffi::OsString;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use crate::{Iteration, MeasureError};

/// A command line for a shell, run to its end and never timed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// `--prepare` or one of the others, for messages.
    pub role: &'static str,
    /// Program and arguments that interpret it, such as `/bin/sh -c`, followed by the command.
    pub arguments: Vec<OsString>,
    /// The command as it was given.
    pub text: String,
    /// Working directory, if it was set.
    pub directory: Option<PathBuf>,
    /// Variables added to the environment.
    pub variables: Vec<(OsString, OsString)>,
    /// Let it write to the terminal.
    pub show_output: bool,
}

impl Hook {
    /// Runs it with `iteration` in its environment.
    ///
    /// # Errors
    /// [`MeasureError::HookFailed`] unless it exits with 0.
    pub fn run(&self, iteration: Option<Iteration>) -> Result<(), MeasureError> {
        let failed = |exit: String, stderr: Vec<u8>| MeasureError::HookFailed {
            role: self.role,
            command: self.text.clone(),
            exit,
            stderr,
        };
        let mut command = Command::new(&self.arguments[0]);
        command.args(&self.arguments[1..]).stdin(Stdio::null());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(iteration) = iteration {
            command.env("FATHOM_ITERATION", iteration.to_string());
            command.env("HYPERFINE_ITERATION", iteration.to_string());
        }
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        // A file, so that a server which the hook leaves running can go on writing.
        let mut errors = None;
        if !self.show_output {
            let file = unnamed_file().map_err(|e| failed(e.to_string(), Vec::new()))?;
            let writer = file
                .try_clone()
                .map_err(|e| failed(e.to_string(), Vec::new()))?;
            command.stdout(Stdio::null()).stderr(writer);
            errors = Some(file);
        }
        // Ctrl-C is for Fathom: it decides what becomes of the hook.
        command.process_group(0);
        let mut child = command
            .spawn()
            .map_err(|error| failed(error.to_string(), Vec::new()))?;
        let status = wait(&mut child).map_err(|error| failed(error.to_string(), Vec::new()))?;
        let Some(status) = status else {
            return Err(MeasureError::Interrupted);
        };
        if status.success() {
            return Ok(());
        }
        let mut tail = Vec::new();
        if let Some(mut file) = errors {
            let length = file.seek(SeekFrom::End(0)).unwrap_or(0);
            let _ = file.seek(SeekFrom::Start(length.saturating_sub(4096)));
            let _ = file.take(4096).read_to_end(&mut tail);
        }
        Err(failed(describe(status), tail))
    }
}

/// Waits; `None` if there came a reason to stop, in which case the whole group was ended.
fn wait(child: &mut std::process::Child) -> std::io::Result<Option<ExitStatus>> {
    let id = child.id() as libc::pid_t;
    // SAFETY: takes numbers; the child is our own and not reaped elsewhere.
    let ended = unsafe { libc::syscall(libc::SYS_pidfd_open, id, 0) } as libc::c_int;
    if ended < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: just made, owned by nobody else.
    let ended = unsafe { OwnedFd::from_raw_fd(ended) };
    // `--cleanup` runs after what stopped the others; another signal ends it.
    let watched = if crate::interrupt::stopped() { 1 } else { 2 };
    loop {
        let watch = |fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        let mut polled = [
            watch(ended.as_raw_fd()),
            watch(crate::interrupt::descriptor()),
        ];
        // SAFETY: at most as many entries as there are.
        unsafe { libc::poll(polled.as_mut_ptr(), watched, -1) };
        if polled[0].revents != 0 {
            return child.wait().map(Some);
        }
        if crate::interrupt::stopped() {
            // SAFETY: the group that we made for it.
            unsafe { libc::kill(-id, libc::SIGKILL) };
            return child.wait().map(|_| None);
        }
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => crate::error::signal_name(signal),
        _ => "unknown".to_string(),
    }
}

fn unnamed_file() -> std::io::Result<std::fs::File> {
    // SAFETY: a string that ends with zero; the descriptor is new.
    unsafe {
        let file = libc::memfd_create(c"fathom-hook-errors".as_ptr(), libc::MFD_CLOEXEC);
        if file < 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(std::fs::File::from_raw_fd(file))
    }
}
