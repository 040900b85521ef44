//! A non-blocking connection with or without TLS.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};

use rustls::ClientConnection;

use crate::address::Address;
use crate::socket::Socket;
use crate::tls::{TlsTerms, broken};

/// Bytes to and from a server.
#[derive(Debug)]
pub(crate) struct Stream {
    socket: Socket,
    tls: Option<Box<ClientConnection>>,
}

impl Stream {
    /// Begins to connect; the stream becomes writable when connected.
    ///
    /// # Errors
    /// Errors that are known immediately.
    pub(crate) fn connect(address: &Address, tls: Option<&TlsTerms>) -> io::Result<Stream> {
        Ok(Stream {
            tls: tls.map(TlsTerms::connection).transpose()?.map(Box::new),
            socket: Socket::connect(address)?,
        })
    }

    /// Returns the result of connecting, once the socket is writable.
    pub(crate) fn connected(&self) -> io::Result<()> {
        self.socket.connected()
    }

    /// Continues the handshake; returns whether it is done. Without TLS it is done immediately.
    ///
    /// # Errors
    /// If the negotiation fails, or the server disconnects.
    pub(crate) fn secure(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else {
            return Ok(true);
        };
        loop {
            if !flush(tls, &self.socket)? {
                return Ok(false);
            }
            if !tls.is_handshaking() {
                return Ok(true);
            }
            match fill(tls, &self.socket) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => {
                    // Send the alert, so that the server knows the reason.
                    let _ = flush(tls, &self.socket);
                    return Err(error);
                }
            }
        }
    }

    pub(crate) fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Returns whether HTTP/2 was negotiated.
    pub(crate) fn agreed_on_http2(&self) -> bool {
        let agreed = self.tls.as_ref().and_then(|tls| tls.alpn_protocol());
        agreed == Some(b"h2")
    }

    /// Returns whether it has bytes that the socket hasn't accepted yet.
    pub(crate) fn has_unsent(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    /// Takes bytes to send, and sends as much as possible.
    ///
    /// # Errors
    /// `WouldBlock` if it can't take any.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return self.socket.send(bytes);
        };
        let taken = tls.writer().write(bytes)?;
        let all = flush(tls, &self.socket)?;
        match taken {
            0 if !bytes.is_empty() && !all => Err(io::ErrorKind::WouldBlock.into()),
            taken => Ok(taken),
        }
    }

    /// Receives data; returns 0 at the end.
    ///
    /// # Errors
    /// `WouldBlock` if nothing has arrived.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return self.socket.receive(buffer);
        };
        loop {
            match tls.reader().read(buffer) {
                // Many servers close the connection without a TLS close notification.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            fill(tls, &self.socket)?;
        }
    }

    /// Returns whether the socket had only TLS's own data, such as session tickets.
    pub(crate) fn had_its_own_only(&mut self, buffer: &mut [u8]) -> bool {
        let nothing = |error: &io::Error| error.kind() == io::ErrorKind::WouldBlock;
        self.tls.is_some() && self.receive(buffer).is_err_and(|error| nothing(&error))
    }
}

impl AsRawFd for Stream {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

/// Sends the session's data; returns whether all of it was sent.
fn flush(tls: &mut ClientConnection, socket: &Socket) -> io::Result<bool> {
    while tls.wants_write() {
        match tls.write_tls(&mut Raw(socket)) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Receives and processes the available data.
fn fill(tls: &mut ClientConnection, socket: &Socket) -> io::Result<usize> {
    let got = tls.read_tls(&mut Raw(socket))?;
    tls.process_new_packets().map_err(broken)?;
    Ok(got)
}

/// The socket under TLS.
struct Raw<'s>(&'s Socket);

impl Read for Raw<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.receive(buffer)
    }
}

impl Write for Raw<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
