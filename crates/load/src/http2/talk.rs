//! One HTTP/2 connection of the h2 crate, over a stream that reports what it is blocked on.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::client::{Builder, Connection, SendRequest};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::ledger::Failing;
use crate::link::Refusal;
use crate::socket::failing;
use crate::stream::Stream;
use crate::tls;

/// Bytes of a body that a server may send before it learns that they were read: a megabyte for each request,
/// so the limit is the network and not this window.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;
/// Maximum length of the head of a response, as with HTTP/1.1.
const MOST_HEAD: u32 = 64 << 10;

/// State of the stream other than its bytes.
#[derive(Default)]
pub(crate) struct Seen {
    /// Whether there may be data to receive.
    readable: Cell<bool>,
    /// Whether the stream has bytes that the socket doesn't accept yet.
    pub(crate) blocked: Cell<bool>,
    /// Number of received bytes.
    received: Cell<u64>,
}

/// An open connection.
pub(crate) struct Talk {
    pub(crate) sender: SendRequest<Bytes>,
    connection: Connection<Io, Bytes>,
    pub(crate) seen: Rc<Seen>,
}

impl Talk {
    /// Opens an HTTP/2 connection on the stream.
    ///
    /// # Errors
    /// If the peer agreed on another protocol, or is gone.
    pub(crate) fn open(stream: Stream) -> Result<Talk, Refusal> {
        if stream.has_tls() && !stream.agreed_on_http2() {
            return Err((Failing::Handshake, "it did not negotiate HTTP/2"));
        }
        let seen = Rc::new(Seen::default());
        let io = Io {
            stream,
            seen: Rc::clone(&seen),
        };
        let mut builder = Builder::new();
        builder
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(MOST_HEAD);
        // The 24 bytes of the preface fit into every new socket.
        let opening = pin!(builder.handshake::<_, Bytes>(io));
        match opening.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok((sender, connection))) => Ok(Talk {
                sender,
                connection,
                seen,
            }),
            Poll::Ready(Err(error)) => Err(refusal(&error)),
            Poll::Pending => Err((Failing::Closed, "it does not accept data")),
        }
    }

    /// Sends what it can and, if there may be data, receives what has arrived, at most as much as the windows
    /// allow: the caller drops the rest of an endless body. Returns `Some` when the connection ends.
    pub(crate) fn go_on(&mut self, readable: bool) -> Option<Refusal> {
        self.seen.readable.set(readable);
        self.seen.blocked.set(false);
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(&mut self.connection).poll(&mut context) {
            Poll::Pending => None,
            Poll::Ready(Ok(())) => Some((Failing::Closed, "")),
            Poll::Ready(Err(error)) => Some(refusal(&error)),
        }
    }

    /// Returns the bytes received since the last call.
    pub(crate) fn received(&self) -> u64 {
        self.seen.received.take()
    }

    /// Returns the number of concurrent requests that the server allows.
    pub(crate) fn most_streams(&self) -> usize {
        self.connection.max_concurrent_send_streams()
    }
}

/// Converts an error of h2 to the failure of a request.
pub(crate) fn refusal(error: &h2::Error) -> Refusal {
    if let Some(io) = error.get_io() {
        return match io.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => (Failing::Closed, ""),
            _ => (failing(io, false), tls::reason(io).unwrap_or_default()),
        };
    }
    match error.is_remote() {
        true if error.is_go_away() => (Failing::Closed, "it sent GOAWAY"),
        true => (Failing::Reset, "it reset the stream"),
        false => (Failing::Malformed, "its data is not valid HTTP/2"),
    }
}

/// Returns whether the server has not processed this request and closes the connection gracefully: it may be
/// sent on another one.
pub(crate) fn may_be_sent_again(error: &h2::Error) -> bool {
    let refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
    let leaves = error.is_go_away() && error.reason() == Some(h2::Reason::NO_ERROR);
    error.is_remote() && (refused || leaves)
}

/// The I/O stream for h2. It never sleeps: the loop calls again when epoll reports an event.
struct Io {
    stream: Stream,
    seen: Rc<Seen>,
}

impl AsyncRead for Io {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.seen.readable.get() {
            return Poll::Pending;
        }
        let room = buffer.initialize_unfilled();
        let most = room.len();
        match this.stream.receive(room) {
            Ok(got) => {
                // A buffer that isn't full shows that there was no more data, so another call isn't needed.
                let drained = got > 0 && got < most && !this.stream.has_tls();
                this.seen.readable.set(!drained);
                this.seen
                    .received
                    .set(this.seen.received.get() + got as u64);
                buffer.advance(got);
                Poll::Ready(Ok(()))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                this.seen.readable.set(false);
                Poll::Pending
            }
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl AsyncWrite for Io {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        match this.stream.send(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                this.seen.blocked.set(true);
                Poll::Pending
            }
            done => Poll::Ready(done),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.stream.has_unsent() {
            return Poll::Ready(Ok(()));
        }
        match this.stream.send(&[]) {
            Err(error) => Poll::Ready(Err(error)),
            Ok(_) if this.stream.has_unsent() => {
                this.seen.blocked.set(true);
                Poll::Pending
            }
            Ok(_) => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}
