//! One HTTP/2 connection: that of the h2 crate, over a stream that reports what it is blocked on.

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

/// Bytes of bodies that a server may send before it hears that they were read: a megabyte for
/// each request, so that the network and not this is the limit.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;
/// Longest head of an answer, as with HTTP/1.1.
const MOST_HEAD: u32 = 64 << 10;

/// What the stream knows beside its bytes.
#[derive(Default)]
pub(crate) struct Seen {
    /// There may be something to receive.
    readable: Cell<bool>,
    /// It has bytes that the socket doesn't take now.
    pub(crate) blocked: Cell<bool>,
    /// Bytes that came.
    received: Cell<u64>,
}

/// A connection that is open.
pub(crate) struct Talk {
    pub(crate) sender: SendRequest<Bytes>,
    connection: Connection<Io, Bytes>,
    pub(crate) seen: Rc<Seen>,
}

impl Talk {
    /// # Errors
    /// When the other side agreed on another protocol, or is gone.
    pub(crate) fn open(stream: Stream) -> Result<Talk, Refusal> {
        if stream.has_tls() && !stream.agreed_on_http2() {
            return Err((Failing::Handshake, "it doesn't agree to speak HTTP/2"));
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
            Poll::Pending => Err((Failing::Closed, "it takes not a byte")),
        }
    }

    /// Sends what it can and, if there may be something, receives what is here, at most as much as
    /// windows allow: of a body without end the caller forgets the rest. `Some` when the connection
    /// is at its end.
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

    /// Bytes that came since this was asked last.
    pub(crate) fn received(&self) -> u64 {
        self.seen.received.take()
    }

    /// Requests that the server allows at a time.
    pub(crate) fn most_streams(&self) -> usize {
        self.connection.max_concurrent_send_streams()
    }
}

/// What an error of h2 means for a request.
pub(crate) fn refusal(error: &h2::Error) -> Refusal {
    if let Some(io) = error.get_io() {
        return match io.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => (Failing::Closed, ""),
            _ => (failing(io, false), tls::reason(io).unwrap_or_default()),
        };
    }
    match error.is_remote() {
        true if error.is_go_away() => (Failing::Closed, "it says so by GOAWAY"),
        true => (Failing::Reset, "it resets the stream"),
        false => (
            Failing::Malformed,
            "what it sends is no HTTP/2, or breaks its rules",
        ),
    }
}

/// Whether the server has not looked at this request, and ends the connection in good order: it
/// may be sent on another one.
pub(crate) fn may_be_sent_again(error: &h2::Error) -> bool {
    let refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
    let leaves = error.is_go_away() && error.reason() == Some(h2::Reason::NO_ERROR);
    error.is_remote() && (refused || leaves)
}

/// What h2 reads from and writes to. It never sleeps: the loop calls again when epoll says so.
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
                // What isn't full was all that there was: no call to hear that.
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
