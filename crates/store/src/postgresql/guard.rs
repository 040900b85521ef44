//! Limits on a server: the time of a call, the length of a message, and the bytes of an answer. The client
//! library itself waits forever, and allocates any announced length.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// The maximum size of a message before the login, in bytes: names, salts and settings.
const MESSAGE_OF_STRANGERS: u64 = 64 << 10;
const ALL_OF_STRANGERS: u64 = 1 << 20;
/// The maximum size of a whole answer in bytes, for any number of messages: 200,000 series take about 30 MB.
const ANSWER: u64 = 256 << 20;
/// The maximum number of SCRAM iterations; PostgreSQL's default is 4,096. Each takes a microsecond before the
/// password is verified.
const ITERATIONS: u64 = 1_000_000;

/// Limits on one call, shared by the caller and the stream.
#[derive(Clone, Default)]
pub(super) struct Limits(Arc<Mutex<Allowed>>);

#[derive(Default)]
struct Allowed {
    until: Option<Instant>,
    /// The allowed time, for error messages.
    time: Duration,
    bytes: u64,
    is_let_in: bool,
}

impl Limits {
    /// Begins a call with this time limit.
    pub(super) fn begin(&self, time: Duration) {
        self.change(|allowed| {
            allowed.until = Some(Instant::now() + time);
            allowed.time = time;
            allowed.bytes = match allowed.is_let_in {
                true => ANSWER,
                false => ALL_OF_STRANGERS,
            };
        });
    }

    /// Marks the user as logged in: longer answers are allowed from now on.
    pub(super) fn let_in(&self) {
        self.change(|allowed| allowed.is_let_in = true);
    }

    pub(super) fn until(&self) -> Option<Instant> {
        self.change(|allowed| allowed.until)
    }

    /// Returns the error for a call that exceeded its time limit.
    pub(super) fn too_late(&self) -> io::Error {
        let seconds = self.change(|allowed| allowed.time).as_secs_f64();
        let why = format!("the server did not answer within {seconds} s");
        io::Error::new(io::ErrorKind::TimedOut, why)
    }

    /// Applies the same limit to another future.
    pub(super) async fn in_time<T>(
        &self,
        waited: impl Future<Output = io::Result<T>>,
    ) -> io::Result<T> {
        match self.until() {
            Some(until) => tokio::time::timeout_at(until, waited)
                .await
                .map_err(|_| self.too_late())?,
            None => waited.await,
        }
    }

    fn change<T>(&self, body: impl FnOnce(&mut Allowed) -> T) -> T {
        body(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Guards one stream.
pub(super) struct Guard {
    limits: Limits,
    sleep: Option<Pin<Box<Sleep>>>,
    /// Kind and length of the incoming message.
    head: Vec<u8>,
    left: u64,
    /// The text of the incoming message, until the login.
    text: Vec<u8>,
}

impl Guard {
    pub(super) fn new(limits: Limits) -> Guard {
        Guard {
            limits,
            sleep: None,
            head: Vec::new(),
            left: 0,
            text: Vec::new(),
        }
    }

    /// Returns an error if the call has exceeded its time; otherwise schedules a wake-up at that time.
    pub(super) fn in_time(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let Some(until) = self.limits.until() else {
            self.sleep = None;
            return Ok(());
        };
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        if sleep.deadline() != until {
            sleep.as_mut().reset(until);
        }
        match sleep.as_mut().poll(context) {
            Poll::Ready(()) => Err(self.limits.too_late()),
            Poll::Pending => Ok(()),
        }
    }

    /// Inspects received bytes before any other code reads them.
    pub(super) fn look_at(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let (is_let_in, over) = self.limits.change(|allowed| {
            let rest = allowed.bytes.checked_sub(bytes.len() as u64);
            allowed.bytes = rest.unwrap_or(0);
            (allowed.is_let_in, rest.is_none())
        });
        if over {
            return Err(wrong("its answer is longer than any valid one"));
        }
        while !bytes.is_empty() {
            if self.left == 0 {
                let (more, rest) = bytes.split_at(bytes.len().min(5 - self.head.len()));
                self.head.extend_from_slice(more);
                bytes = rest;
                if let [_, length @ ..] = self.head.as_slice()
                    && let Ok(length) = <[u8; 4]>::try_from(length)
                {
                    self.left = self.begin(i32::from_be_bytes(length), is_let_in)?;
                    if self.left == 0 {
                        self.end()?;
                    }
                }
                continue;
            }
            let most = usize::try_from(self.left).unwrap_or(usize::MAX);
            let (body, rest) = bytes.split_at(bytes.len().min(most));
            if !is_let_in {
                self.text.extend_from_slice(body);
            }
            self.left -= body.len() as u64;
            bytes = rest;
            if self.left == 0 {
                self.end()?;
            }
        }
        Ok(())
    }

    /// Returns the size of a message's body. The announced `length` includes its own four bytes.
    fn begin(&self, length: i32, is_let_in: bool) -> io::Result<u64> {
        let most = match is_let_in {
            true => ANSWER,
            false => MESSAGE_OF_STRANGERS,
        };
        match u64::try_from(length) {
            Ok(length) if (4..=most).contains(&length) => Ok(length - 4),
            _ => Err(wrong(&format!(
                "it announces a message of invalid length ({length} bytes)"
            ))),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        let kind = self.head.first().copied();
        self.head.clear();
        let text = std::mem::take(&mut self.text);
        // This SCRAM message contains the number of iterations.
        if let (Some(b'R'), Some(said)) = (kind, text.strip_prefix(&[0, 0, 0, 11])) {
            let said = String::from_utf8_lossy(said);
            let asked = said.split(',').find_map(|part| part.strip_prefix("i="));
            let most = asked.and_then(|number| number.parse().ok());
            if most.is_none_or(|number: u64| number > ITERATIONS) {
                return Err(wrong("it requires too many rounds of password hashing"));
            }
        }
        Ok(())
    }
}

/// Returns the error for a server that isn't PostgreSQL or is malicious.
fn wrong(why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("it does not answer like PostgreSQL: {why}"),
    )
}
