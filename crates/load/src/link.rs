//! A connection while it is being established: the socket, then TLS; and the events that epoll reports for
//! it.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use crate::clock::now;
use crate::epoll::Epoll;
use crate::latencies::Latencies;
use crate::ledger::Failing;
use crate::socket::failing;
use crate::stream::Stream;
use crate::task::Task;
use crate::tls;

/// The state of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// No socket.
    Closed,
    Connecting,
    Securing,
    /// Requests may be sent.
    Open,
}

/// Time to establish connections, over the life of a client.
#[derive(Debug, Clone, Default)]
pub struct Making {
    /// Time until the kernel had accepted a connection.
    pub connecting: Latencies,
    /// Time from then until the TLS handshake completed.
    pub securing: Latencies,
}

impl Making {
    /// Adds the figures of another client.
    pub fn add(&mut self, other: &Making) {
        self.connecting.add(&other.connecting);
        self.securing.add(&other.securing);
    }
}

/// Why a connection can't be established; the text adds details if there are any.
pub(crate) type Refusal = (Failing, &'static str);

/// A connection that is watched by epoll while it has a socket.
pub(crate) struct Link {
    stage: Stage,
    /// The stream, until the protocol implementation takes it.
    stream: Option<Stream>,
    fd: RawFd,
    /// Whether epoll reports when the socket is writable.
    writes: bool,
    begun: u64,
}

impl Link {
    pub(crate) fn new() -> Link {
        Link {
            stage: Stage::Closed,
            stream: None,
            fd: -1,
            writes: false,
            begun: 0,
        }
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage
    }

    /// Begins to connect; epoll reports its events with `number`.
    ///
    /// # Errors
    /// Errors that are known immediately.
    pub(crate) fn begin(
        &mut self,
        task: &Task,
        epoll: &Epoll,
        number: usize,
    ) -> Result<(), Refusal> {
        self.begun = now();
        let stream = Stream::connect(&task.address, task.tls.as_ref());
        let stream = stream.map_err(|error| refused(&error))?;
        let added = epoll.add(stream.as_raw_fd(), number, true);
        added.map_err(|error| refused(&error))?;
        self.fd = stream.as_raw_fd();
        self.stream = Some(stream);
        self.stage = Stage::Connecting;
        self.writes = true;
        Ok(())
    }

    /// Continues as far as possible; returns whether it is open.
    ///
    /// # Errors
    /// The reason why it can't be opened, after which it is unusable.
    pub(crate) fn go_on(
        &mut self,
        epoll: &Epoll,
        number: usize,
        making: &mut Making,
    ) -> Result<bool, Refusal> {
        let Some(stream) = &mut self.stream else {
            return Ok(false);
        };
        if self.stage == Stage::Connecting {
            stream.connected().map_err(|error| refused(&error))?;
            let at = now();
            making.connecting.record(at - self.begun);
            self.begun = at;
            self.stage = Stage::Securing;
        }
        if !stream.secure().map_err(|error| insecure(&error))? {
            let writes = stream.has_unsent();
            self.watch_writes(epoll, number, writes);
            return Ok(false);
        }
        if stream.has_tls() {
            making.securing.record(now() - self.begun);
        }
        self.stage = Stage::Open;
        self.watch_writes(epoll, number, false);
        Ok(true)
    }

    pub(crate) fn watch_writes(&mut self, epoll: &Epoll, number: usize, writes: bool) {
        if self.writes != writes {
            // It is registered while its socket exists.
            let _ = epoll.change(self.fd, number, writes);
            self.writes = writes;
        }
    }

    pub(crate) fn stream(&mut self) -> Option<&mut Stream> {
        self.stream.as_mut()
    }

    /// Passes the stream to the protocol implementation; epoll still watches it.
    pub(crate) fn take(&mut self) -> Option<Stream> {
        self.stream.take()
    }

    /// Closes the socket, which also removes it from the epoll set.
    pub(crate) fn close(&mut self) {
        self.stream = None;
        self.stage = Stage::Closed;
    }
}

pub(crate) fn refused(error: &io::Error) -> Refusal {
    (failing(error, true), "")
}

pub(crate) fn insecure(error: &io::Error) -> Refusal {
    let reason = tls::reason(error).unwrap_or("the connection ended during the handshake");
    (Failing::Handshake, reason)
}
