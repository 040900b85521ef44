//! The other verbs as child processes: their JSON is the evidence that stays.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use fathom_measure::interrupt;

/// How a verb ended.
#[derive(Debug)]
pub struct VerbEnd {
    /// Its exit code; 128 and more for signals.
    pub code: i32,
    /// What it said to standard error.
    pub said: String,
    /// It was ended because its time was up; what it has measured by then is in its record.
    pub cut: bool,
}

/// How long a verb that was told to end may take to write what it has. It ends its runs at once; a record
/// takes milliseconds, closing the last tracepoint 100 to 230 ms.
const TO_CONCLUDE: Duration = Duration::from_secs(5);

/// Runs `program` (Fathom itself) with these arguments and waits. A signal that only this process got is
/// handed on, so that the verb ends its runs and keeps what it has. So is the end of the time.
///
/// # Errors
/// When it can't be started.
pub fn run(
    program: &Path,
    arguments: &[String],
    log: &Path,
    deadline: Option<Instant>,
) -> std::io::Result<VerbEnd> {
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
    let (status, cut) = wait(child.id() as libc::pid_t, deadline)?;
    Ok(VerbEnd {
        code: status
            .code()
            .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
        said: super::command::head(log, 4096),
        cut,
    })
}

/// The child's end, and whether it came because the time was up.
fn wait(id: libc::pid_t, deadline: Option<Instant>) -> std::io::Result<(ExitStatus, bool)> {
    let mut told = false;
    let mut cut = false;
    let mut killed = false;
    loop {
        let late = deadline.map(|deadline| Instant::now().saturating_duration_since(deadline));
        let over = late.is_some_and(|late| !late.is_zero());
        if (interrupt::received().is_some() || over) && !told {
            cut = interrupt::received().is_none();
            // SAFETY: our own child, not reaped yet.
            unsafe { libc::kill(id, libc::SIGINT) };
            told = true;
        }
        if cut && !killed && late.is_some_and(|late| late > TO_CONCLUDE) {
            // Its guards end what it runs when it dies.
            // SAFETY: our own child, not reaped yet.
            unsafe { libc::kill(id, libc::SIGKILL) };
            killed = true;
        }
        let mut status = 0;
        // SAFETY: our own child; one int. WNOHANG, since a signal may come just before the call.
        let got = unsafe { libc::waitpid(id, &raw mut status, libc::WNOHANG) };
        if got == id {
            return Ok((ExitStatus::from_raw(status), cut));
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
