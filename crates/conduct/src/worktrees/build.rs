//! Runs the command that builds a revision.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use fathom_measure::interrupt;
use fathom_store::git;

/// The interval between checks whether a build has ended; builds take seconds.
const AGAIN: Duration = Duration::from_millis(20);
/// The number of bytes to keep from the end of a build's output.
const KEPT_BYTES: u64 = 8 << 10;
/// The maximum number of lines to keep from these bytes.
const KEPT_LINES: usize = 20;

/// Where a build runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'p> {
    /// The files of the revision.
    pub tree: &'p Path,
    /// The user's own work tree.
    pub repository: &'p Path,
    /// The log file for its output.
    pub log: &'p Path,
}

/// The result of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Built {
    /// The build exited with status 0.
    Well,
    /// The build failed; holds the end of its output.
    Failed(String),
    /// The build was told to stop, and all of its processes were killed.
    Stopped,
}

/// Runs `command` in a shell until it ends. `lock` is an empty file that all of its processes hold open: as
/// long as any process of a build survives a `kill -9` of Fathom, the lock is held.
///
/// # Errors
/// If there is no shell, or the log can't be written.
pub(super) fn build(command: &str, place: Place<'_>, lock: &File) -> io::Result<Built> {
    let log = File::create(place.log)?;
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", command])
        .current_dir(place.tree)
        .env("FATHOM_REPO", place.repository)
        .env_remove("FATHOM_STORE")
        .stdin(lock.try_clone()?)
        .stdout(log.try_clone()?)
        .stderr(log)
        // Only Fathom gets Ctrl-C: it then kills the whole group.
        .process_group(0);
    for name in git::ELSEWHERE {
        shell.env_remove(name);
    }
    ends_with_fathom(&mut shell);
    // On return, dropping this kills the processes that were left running, whatever session they are in.
    let _orphans = fathom_trace::Orphans::adopt();
    let mut child = shell.spawn()?;
    let Some(status) = wait(&mut child)? else {
        return Ok(Built::Stopped);
    };
    if status.success() {
        return Ok(Built::Well);
    }
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, signal) => format!("ended by signal {}", signal.unwrap_or_default()),
    };
    Ok(Built::Failed(match end_of(place.log)? {
        said if said.is_empty() => format!("{how}; it wrote nothing"),
        said => format!("{how}\n{said}"),
    }))
}

/// Makes the shell end when Fathom does, even by `kill -9`.
fn ends_with_fathom(shell: &mut Command) {
    // SAFETY: these calls are the only ones made between fork and exec, and they take only numbers.
    unsafe {
        shell.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
            libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
            Ok(())
        });
    }
}

/// Waits for the shell. Returns `None` if Fathom was told to stop, in which case the whole group was killed.
fn wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if interrupt::stopped() {
            // SAFETY: the call takes only numbers; the group was created for this child, which has not been
            // reaped yet.
            unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(AGAIN);
    }
}

/// Returns the last lines of a file.
fn end_of(log: &Path) -> io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(KEPT_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    Ok(lines[lines.len().saturating_sub(KEPT_LINES)..]
        .join("\n")
        .trim()
        .to_owned())
}
