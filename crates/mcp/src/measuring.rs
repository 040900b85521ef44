//! A verb as a process of its own, with its progress and its end.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;

use crate::ServePlan;

/// The variable by which a verb learns which server started it.
pub const SERVER: &str = "FATHOM_SERVER";

/// Ends this process with the server that started it, however that one ends. A verb asks for this itself: what is asked
/// for before an exec the kernel forgets where the program's file has capabilities.
pub fn end_with(server: &str) {
    // SAFETY: prctl takes numbers, getppid nothing.
    let parent = unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
        libc::getppid()
    };
    // It may have ended before it was asked for.
    if server != parent.to_string() {
        std::process::exit(130);
    }
}

/// Between two words of progress.
const BETWEEN: Duration = Duration::from_secs(1);
/// In which a verb that was told to end has ended what it started, and itself.
const TO_END: Duration = Duration::from_secs(10);
/// The largest record that is read: a hundred times that of a million runs' summary.
const MOST_BYTES: u64 = 256 << 20;
/// What is kept of standard error.
const MOST_WORDS: u64 = 64 << 10;

/// How a verb ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// What runs, so that all of it can be ended when the client goes away.
#[derive(Debug, Clone, Default)]
pub(crate) struct Running(Arc<Mutex<Processes>>);

#[derive(Debug, Default)]
struct Processes {
    all: Vec<Arc<Mutex<Child>>>,
    /// The client is gone: nothing is started any more.
    closed: bool,
}

impl Running {
    /// Ends all of them, waits until that is done, and lets nothing start any more.
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

    /// Runs a verb to its end, or until it is cancelled: then it ends what it measures, and this waits
    /// for it.
    ///
    /// # Errors
    /// When it can't be started, in words.
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
                return Err("the client is gone".to_owned());
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
            // Nobody is there where the client went away.
            let _ = done.send((reap(&of_thread), stdout, stderr));
        });
        let began = Instant::now();
        let mut cancelled_at = None;
        let (status, stdout, stderr) = loop {
            tokio::select! {
                ended = &mut ended => {
                    break ended.map_err(|_| "the measurement's end was missed".to_owned())?;
                }
                () = context.ct.cancelled(), if cancelled_at.is_none() => {
                    cancelled_at = Some(Instant::now());
                    signal(&child, libc::SIGTERM);
                }
                () = tokio::time::sleep(BETWEEN) => {
                    if cancelled_at.is_some_and(|at| at.elapsed() > TO_END) {
                        signal(&child, libc::SIGKILL);
                        // Whatever holds its output open isn't waited for.
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

/// Says that it goes on, to who asked for that.
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

/// To the process itself, which has not been reaped: its number is its own.
fn signal(child: &Mutex<Child>, signal: i32) {
    let mut child = lock(child);
    if let (Ok(None), Ok(pid)) = (child.try_wait(), i32::try_from(child.id())) {
        // SAFETY: takes numbers.
        unsafe { libc::kill(pid, signal) };
    }
}

fn is_running(child: &Mutex<Child>) -> bool {
    matches!(lock(child).try_wait(), Ok(None))
}

/// After it has closed what it writes to, which it does by ending.
fn reap(child: &Mutex<Child>) -> Option<ExitStatus> {
    lock(child).wait().ok()
}

fn read(from: Option<impl Read>, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut from) = from {
        // What is beyond is read and dropped, so that nobody waits for a reader.
        let _ = from.by_ref().take(most).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut from, &mut std::io::sink());
    }
    bytes
}
