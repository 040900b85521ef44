//! A verb as a separate process, with its progress and its end.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;

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

/// The interval between two progress messages.
const BETWEEN: Duration = Duration::from_secs(1);
/// How long a verb that was asked to end has to stop everything it started and exit.
const TO_END: Duration = Duration::from_secs(10);
/// The maximum size of a record in bytes: a hundred times the summary of a million runs.
const MOST_BYTES: u64 = 256 << 20;
/// The maximum number of bytes of standard error to keep.
const MOST_WORDS: u64 = 64 << 10;

/// How a verb ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// The running processes, all of which are ended when the client disconnects.
#[derive(Debug, Clone, Default)]
pub(crate) struct Running(Arc<Mutex<Processes>>);

#[derive(Debug, Default)]
struct Processes {
    all: Vec<Arc<Mutex<Child>>>,
    /// Set once the client has disconnected: no new process is started.
    closed: bool,
}

impl Running {
    /// Ends all processes, waits for them, and prevents new ones from starting.
    pub(crate) async fn close(&self) {
        let all: Vec<_> = {
            let mut processes = lock(&self.0);
            processes.closed = true;
            processes.all.drain(..).collect()
        };
        let until = Instant::now() + TO_END;
        all.iter().for_each(|child| signal(child, libc::SIGTERM));
        while all.iter().any(|child| is_running(child)) && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        all.iter().for_each(|child| signal(child, libc::SIGKILL));
    }

    /// Runs a verb to completion. If the request is cancelled, asks the verb to end and waits for it.
    ///
    /// # Errors
    /// A message, if the verb can't be started.
    pub(crate) async fn run(
        &self,
        plan: &ServePlan,
        arguments: &[String],
        context: &RequestContext<RoleServer>,
    ) -> Result<Ended, String> {
        let mut command = Command::new(&plan.fathom);
        command
            .args(arguments)
            .current_dir(&plan.root)
            .envs(plan.variables.iter().cloned())
            .env(SERVER, std::process::id().to_string())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let (child, stdout, stderr) = {
            let mut processes = lock(&self.0);
            if processes.closed {
                return Err("the client has disconnected".to_owned());
            }
            let mut child = command
                .spawn()
                .map_err(|error| format!("can't start {}: {error}", plan.fathom.display()))?;
            let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
            let child = Arc::new(Mutex::new(child));
            processes.all.push(Arc::clone(&child));
            (child, stdout, stderr)
        };
        let (done, mut ended) = tokio::sync::oneshot::channel();
        let of_thread = Arc::clone(&child);
        std::thread::spawn(move || {
            let words = std::thread::spawn(move || read(stderr, MOST_WORDS));
            let stdout = read(stdout, MOST_BYTES);
            let stderr = words.join().unwrap_or_default();
            // There is no receiver if the client has disconnected.
            let _ = done.send((reap(&of_thread), stdout, stderr));
        });
        let began = Instant::now();
        let mut cancelled_at = None;
        let (status, stdout, stderr) = loop {
            tokio::select! {
                ended = &mut ended => {
                    break ended.map_err(|_| "the result of the measurement was lost".to_owned())?;
                }
                () = context.ct.cancelled(), if cancelled_at.is_none() => {
                    cancelled_at = Some(Instant::now());
                    signal(&child, libc::SIGTERM);
                }
                () = tokio::time::sleep(BETWEEN) => {
                    if cancelled_at.is_some_and(|at| at.elapsed() > TO_END) {
                        signal(&child, libc::SIGKILL);
                        // Don't wait for processes that hold its output open.
                        break (None, Vec::new(), Vec::new());
                    }
                    progress(context, began).await;
                }
            }
        };
        lock(&self.0)
            .all
            .retain(|other| !Arc::ptr_eq(other, &child));
        Ok(Ended {
            code: status.and_then(|status| status.code()),
            stdout,
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
        })
    }
}

/// Sends progress to the client that asked for it.
async fn progress(context: &RequestContext<RoleServer>, began: Instant) {
    let Some(token) = context.meta.get_progress_token() else {
        return;
    };
    let seconds = began.elapsed().as_secs_f64();
    let word = ProgressNotificationParam::new(token, seconds)
        .with_message(format!("measuring for {seconds:.0} s"));
    // A client that disconnected needs no answer.
    let _ = context.peer.notify_progress(word).await;
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends a signal to the process itself, which has not been reaped, so its pid is still valid.
fn signal(child: &Mutex<Child>, signal: i32) {
    let mut child = lock(child);
    if let (Ok(None), Ok(pid)) = (child.try_wait(), i32::try_from(child.id())) {
        // SAFETY: `kill` takes only numbers.
        unsafe { libc::kill(pid, signal) };
    }
}

fn is_running(child: &Mutex<Child>) -> bool {
    matches!(lock(child).try_wait(), Ok(None))
}

/// Reaps the process after it has closed its output, which happens when it exits.
fn reap(child: &Mutex<Child>) -> Option<ExitStatus> {
    lock(child).wait().ok()
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
