//! A verb as a separate process, from its start to its end.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use crate::ServePlan;

/// The environment variable with the pid of the server that started a verb.
pub const SERVER: &str = "FATHOM_SERVER";

/// Ends this process when the server that started it ends, for any reason. The verb itself must request this:
/// the kernel drops a request made before an exec if the program's file has capabilities.
pub fn end_with(server: &str) {
    // SAFETY: `prctl` gets only numbers, and `getppid` takes no arguments.
    let parent = unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
        libc::getppid()
    };
    // The server may have ended before the request.
    if server != parent.to_string() {
        std::process::exit(130);
    }
}

/// The maximum size of a record in bytes: a hundred times the summary of a million runs.
const MOST_BYTES: u64 = 256 << 20;
/// The maximum number of bytes of standard error to keep.
const MOST_WORDS: u64 = 64 << 10;

/// What a verb wrote.
#[derive(Debug)]
pub(crate) struct Output {
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// A verb that was started.
#[derive(Debug)]
pub(crate) struct Verb {
    child: Child,
    pub began: Instant,
}

impl Verb {
    /// Starts a verb. `ended` gets its output once the verb has closed it, which happens when it exits.
    ///
    /// # Errors
    /// A message, if the verb can't be started.
    pub(crate) fn start(
        plan: &ServePlan,
        arguments: &[String],
        ended: impl FnOnce(Output) + Send + 'static,
    ) -> Result<Verb, String> {
        let mut child = Command::new(&plan.fathom)
            .args(arguments)
            .current_dir(&plan.root)
            .envs(plan.variables.iter().cloned())
            .env(SERVER, std::process::id().to_string())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("can't start {}: {error}", plan.fathom.display()))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        std::thread::spawn(move || {
            let words = std::thread::spawn(move || read(stderr, MOST_WORDS));
            let stdout = read(stdout, MOST_BYTES);
            let words = words.join().unwrap_or_default();
            let stderr = String::from_utf8_lossy(&words).into_owned();
            ended(Output { stdout, stderr });
        });
        Ok(Verb {
            child,
            began: Instant::now(),
        })
    }

    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Asks the verb to stop everything that it started and to exit.
    pub(crate) fn end(&mut self) {
        // The process has not been reaped, so its pid is still valid.
        if self.is_running()
            && let Ok(pid) = i32::try_from(self.child.id())
        {
            // SAFETY: `kill` takes only numbers.
            unsafe { libc::kill(pid, libc::SIGTERM) };
        }
    }

    pub(crate) fn kill(&mut self) {
        // It fails only if the process has already been reaped.
        let _ = self.child.kill();
    }

    /// Waits for the verb to exit. Returns its exit code, or `None` if a signal ended it.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.child.wait().ok().and_then(|status| status.code())
    }
}

fn read(from: Option<impl Read>, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut from) = from {
        // The rest is read and discarded, so that no writer blocks.
        let _ = from.by_ref().take(most).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut from, &mut std::io::sink());
    }
    bytes
}
