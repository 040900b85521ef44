//! The command that builds a revision.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use fathom_measure::interrupt;
use fathom_store::git;

/// How often it is looked whether it has ended: a build takes seconds.
const AGAIN: Duration = Duration::from_millis(20);
/// What is kept of the end of what a build wrote.
const KEPT_BYTES: u64 = 8 << 10;
/// Lines of it.
const KEPT_LINES: usize = 20;

/// Where a build is run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'p> {
    /// The files of the revision.
    pub tree: &'p Path,
    /// The user's own tree.
    pub repository: &'p Path,
    /// Where it writes what it says.
    pub log: &'p Path,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Built {
    /// It ended with 0.
    Well,
    /// It did not; the end of what it wrote.
    Failed(String),
    /// There came a reason to stop; all of it was ended.
    Stopped,
}

/// Runs `command` by a shell until it ends. `lock` is an empty file that all of it holds open: as
/// long as a part of a build is left after a `kill -9`, the lock is held.
///
/// # Errors
/// When there is no shell, or the log can't be written.
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
        // Ctrl-C is for Fathom: it ends the whole group.
        .process_group(0);
    for name in git::ELSEWHERE {
        shell.env_remove(name);
    }
    ends_with_fathom(&mut shell);
    // Ends what it leaves running, in whatever session, when this returns.
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

/// The shell is ended when Fathom is, even by `kill -9`.
fn ends_with_fathom(shell: &mut Command) {
    // SAFETY: between fork and exec only these calls are made, which take numbers.
    unsafe {
        shell.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
            libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
            Ok(())
        });
    }
}

/// `None` if there came a reason to stop: then the whole group was ended.
fn wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if interrupt::stopped() {
            // SAFETY: takes numbers; the group is the one that was made for this child, which is
            // not reaped yet.
            unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(AGAIN);
    }
}

/// The last lines of a file.
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
