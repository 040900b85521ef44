//! The other verbs as child processes: their JSON is the evidence that stays.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use fathom_measure::interrupt;

/// How a verb ended.
#[derive(Debug)]
pub struct VerbEnd {
    /// Its exit code; 128 and more for signals.
    pub code: i32,
    /// What it said to standard error.
    pub said: String,
}

/// Runs `program` (Fathom itself) with these arguments and waits. A signal that only this process got is
/// handed on, so that the verb ends its runs and keeps what it has.
///
/// # Errors
/// When it can't be started.
pub fn run(program: &Path, arguments: &[String], log: &Path) -> std::io::Result<VerbEnd> {
    let errors = File::create(log)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(errors);
    let parent = std::process::id();
    // SAFETY: only async-signal-safe calls between fork and exec.
    unsafe {
        command.pre_exec(move || {
            // If Fathom is killed, the verb dies, and its own guards end what it runs.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if libc::getppid() as u32 != parent {
                libc::_exit(127);
            }
            Ok(())
        });
    }
    let child = command.spawn()?;
    let status = wait(child.id() as libc::pid_t)?;
    Ok(VerbEnd {
        code: status
            .code()
            .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
        said: super::command::head(log, 4096),
    })
}

fn wait(id: libc::pid_t) -> std::io::Result<ExitStatus> {
    let mut told = false;
    loop {
        if interrupt::received().is_some() && !told {
            // SAFETY: our own child, not reaped yet.
            unsafe { libc::kill(id, libc::SIGINT) };
            told = true;
        }
        let mut status = 0;
        // SAFETY: our own child; one int. WNOHANG, since a signal may come just before the call.
        let got = unsafe { libc::waitpid(id, &raw mut status, libc::WNOHANG) };
        if got == id {
            return Ok(ExitStatus::from_raw(status));
        }
        if got < 0 {
            let error = std::io::Error::last_os_error();
            if error.kind() != std::io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        // The verb measures meanwhile: 50 looks a second cost it nothing that could be seen.
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
