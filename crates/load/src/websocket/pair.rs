//! Two clients connected through a server: they exchange messages back and forth, one at a time.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::check_answer;
use super::frames::{CLOSE, Frames, Message, PONG, TEXT, write_compressed, write_frame};
use crate::address::Address;
use crate::clock::{now, thread_cpu};
use crate::latencies::Latencies;
use crate::request::Extensions;

/// Every client's frames must be masked; this mask is arbitrary.
const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
/// How long the second client may take to receive the first client's message, before checking whether the
/// first received its own.
const RELAYED_WITHIN: u64 = 1_000_000_000;
/// Maximum length of the head of the handshake response.
const MOST_HEAD: usize = 64 << 10;
/// Length of the shortest message: the sender and a number.
const SHORTEST: usize = 9;

/// How a client waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// It sleeps until data arrives, as most programs do: four wake-ups per round trip.
    Blocking,
    /// It polls continuously, and so adds no wake-up.
    Spinning,
}

/// What a server does with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// It sends the message to the other client.
    Relay,
    /// It sends the message back to its sender.
    Echo,
}

/// The messages to exchange, and the server.
#[derive(Debug, Clone)]
pub struct PairTask {
    /// The server.
    pub address: Address,
    /// The handshake, ready to be sent.
    pub handshake: Vec<u8>,
    /// The extensions offered.
    pub extensions: Extensions,
    /// Length of a message in bytes; at least 9.
    pub bytes: usize,
    /// Nanoseconds after which a missing message counts as lost.
    pub timeout: u64,
}

/// The results of an exchange.
#[derive(Debug, Clone, Default)]
pub struct Exchange {
    /// Duration of each round trip: one message in each direction.
    pub round_trips: Latencies,
    /// Number of expected messages received.
    pub messages: u64,
    /// Number of other messages received, such as a client's own.
    pub others: u64,
    /// CPU time of this thread, nanoseconds.
    pub cpu: u64,
    /// Wall time, in nanoseconds.
    pub wall: u64,
}

/// Two connected clients.
pub struct Pair {
    task: PairTask,
    peers: Vec<Peer>,
    /// What the server does with a message.
    pub link: Link,
    /// The extensions that the server agreed on, as written by it.
    pub extensions: Option<String>,
    sent: u64,
}

impl Pair {
    /// Connects both clients, and finds out what the server does with a message.
    ///
    /// # Errors
    /// A sentence that says what the server did instead.
    pub fn connect(task: PairTask) -> Result<Pair, String> {
        let (first, extensions) = Peer::connect(&task)?;
        let (second, _) = Peer::connect(&task)?;
        let mut pair = Pair {
            task,
            peers: vec![first, second],
            link: Link::Relay,
            extensions,
            sent: 0,
        };
        pair.find_link()?;
        Ok(pair)
    }

    fn find_link(&mut self) -> Result<(), String> {
        let message = self.message('a');
        self.send(0, &message)?;
        let mut exchange = Exchange::default();
        let until = now() + RELAYED_WITHIN.min(self.task.timeout);
        let stop = AtomicBool::new(false);
        if self
            .expect(1, &message, Client::Blocking, until, &stop, &mut exchange)
            .is_ok()
        {
            return Ok(());
        }
        let until = now() + RELAYED_WITHIN.min(self.task.timeout);
        self.expect(0, &message, Client::Blocking, until, &stop, &mut exchange)
            .map_err(|_| {
                "it neither relays a message to the other client nor sends it back".to_string()
            })?;
        self.link = Link::Echo;
        self.peers.truncate(1);
        Ok(())
    }

    /// Exchanges messages in sequence for `length` nanoseconds.
    ///
    /// # Errors
    /// A sentence that says which message was lost, and why.
    pub fn run(
        &mut self,
        length: u64,
        client: Client,
        stop: &AtomicBool,
    ) -> Result<Exchange, String> {
        for peer in &mut self.peers {
            let wait = peer.stream.wait_by(client, Duration::from_millis(50));
            wait.map_err(|error| error.to_string())?;
        }
        let mut exchange = Exchange::default();
        let (begin_cpu, begin) = (thread_cpu(), now());
        let mut at = begin;
        while at - begin < length && !stop.load(Ordering::Relaxed) {
            self.round_trip(client, stop, &mut exchange)?;
            let done = now();
            exchange.round_trips.record(done - at);
            at = done;
        }
        exchange.cpu = thread_cpu() - begin_cpu;
        exchange.wall = at - begin;
        Ok(exchange)
    }

    fn round_trip(
        &mut self,
        client: Client,
        stop: &AtomicBool,
        exchange: &mut Exchange,
    ) -> Result<(), String> {
        let until = now() + self.task.timeout;
        let there = self.message('a');
        self.send(0, &there)?;
        if self.link == Link::Echo {
            return self.expect(0, &there, client, until, stop, exchange);
        }
        self.expect(1, &there, client, until, stop, exchange)?;
        let back = self.message('b');
        self.send(1, &back)?;
        self.expect(0, &back, client, until, stop, exchange)
    }

    /// Returns the sender and a number, padded: each message is unique.
    fn message(&mut self, sender: char) -> Vec<u8> {
        self.sent += 1;
        let text = format!("{sender}{:08}", self.sent % 100_000_000);
        let mut message = text.into_bytes();
        message.resize(self.task.bytes.max(SHORTEST), b'.');
        message
    }

    fn send(&mut self, peer: usize, message: &[u8]) -> Result<(), String> {
        let peer = &mut self.peers[peer];
        peer.out.clear();
        match peer.deflate {
            true => write_compressed(message, Some(MASK), &mut peer.out),
            false => write_frame(TEXT, message, Some(MASK), &mut peer.out),
        }
        peer.flush(now() + self.task.timeout)
    }

    /// Waits for this message; counts other messages.
    fn expect(
        &mut self,
        peer: usize,
        message: &[u8],
        client: Client,
        until: u64,
        stop: &AtomicBool,
        exchange: &mut Exchange,
    ) -> Result<(), String> {
        let peer = &mut self.peers[peer];
        let mut turns = 0u32;
        loop {
            while let Some(came) = peer.frames.next_message().map_err(|m| m.0.to_string())? {
                match came {
                    Message::Data(data) if data == message => {
                        exchange.messages += 1;
                        return Ok(());
                    }
                    Message::Data(_) => exchange.others += 1,
                    Message::Ping(payload) => {
                        peer.out.clear();
                        write_frame(PONG, &payload, Some(MASK), &mut peer.out);
                        peer.flush(until)?;
                    }
                    Message::Pong => {}
                    Message::Close => return Err("it closed the connection".to_string()),
                }
            }
            if !peer.receive()? {
                turns = turns.wrapping_add(1);
                // Reading the clock in each iteration would double its duration.
                let look = client == Client::Blocking || turns.is_multiple_of(256);
                if look && now() >= until {
                    return Err("a message did not arrive in time".to_string());
                }
                if look && stop.load(Ordering::Relaxed) && now() + 1_000_000_000 < until {
                    return Err("interrupted".to_string());
                }
                std::hint::spin_loop();
            }
        }
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for peer in &mut self.peers {
            peer.out.clear();
            write_frame(CLOSE, &1000u16.to_be_bytes(), Some(MASK), &mut peer.out);
            // A peer that has disconnected needs no close frame.
            let _ = peer.flush(now() + 1_000_000);
        }
    }
}

struct Peer {
    stream: Stream,
    frames: Frames,
    deflate: bool,
    out: Vec<u8>,
    buffer: Vec<u8>,
}

impl Peer {
    fn connect(task: &PairTask) -> Result<(Peer, Option<String>), String> {
        let timeout = Duration::from_nanos(task.timeout);
        let failed = |error: io::Error| format!("can't open a WebSocket: {error}");
        let mut stream = Stream::connect(&task.address, timeout).map_err(failed)?;
        stream
            .wait_by(Client::Blocking, Duration::from_millis(50))
            .map_err(failed)?;
        let mut peer = Peer {
            stream,
            frames: Frames::default(),
            deflate: false,
            out: task.handshake.clone(),
            buffer: vec![0; 64 << 10],
        };
        let until = now() + task.timeout;
        peer.flush(until)?;
        let mut head = Vec::new();
        let end = loop {
            match peer.stream.read(&mut peer.buffer) {
                Ok(0) => {
                    return Err("it closed the connection before its answer was complete".into());
                }
                Ok(got) => head.extend_from_slice(&peer.buffer[..got]),
                Err(error) if nothing_yet(&error) => {}
                Err(error) => return Err(failed(error)),
            }
            if let Some(at) = head.windows(4).position(|part| part == b"\r\n\r\n") {
                break at + 4;
            }
            if head.len() > MOST_HEAD || now() >= until {
                return Err("its answer was not complete in time".to_string());
            }
        };
        let extensions = check_answer(&head[..end], task.extensions)?;
        peer.deflate = extensions.is_some();
        peer.frames = Frames::new(peer.deflate);
        peer.frames.add(&head[end..]);
        Ok((peer, extensions))
    }

    /// Sends the pending data.
    fn flush(&mut self, until: u64) -> Result<(), String> {
        let mut sent = 0;
        while sent < self.out.len() {
            match self.stream.write(&self.out[sent..]) {
                Ok(bytes) => sent += bytes,
                Err(error) if nothing_yet(&error) && now() < until => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(())
    }

    /// Returns whether data was received.
    fn receive(&mut self) -> Result<bool, String> {
        match self.stream.read(&mut self.buffer) {
            Ok(0) => Err("it closed the connection".to_string()),
            Ok(got) => {
                self.frames.add(&self.buffer[..got]);
                Ok(true)
            }
            Err(error) if nothing_yet(&error) => Ok(false),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn nothing_yet(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn connect(address: &Address, timeout: Duration) -> io::Result<Stream> {
        match address {
            Address::Tcp(address) => Stream::tcp(address, timeout),
            Address::Unix(path) => UnixStream::connect(path).map(Stream::Unix),
        }
    }

    fn tcp(address: &SocketAddr, timeout: Duration) -> io::Result<Stream> {
        let stream = TcpStream::connect_timeout(address, timeout)?;
        stream.set_nodelay(true)?;
        Ok(Stream::Tcp(stream))
    }

    /// Waits; a blocking client wakes up after `look` to check the time.
    fn wait_by(&mut self, client: Client, look: Duration) -> io::Result<()> {
        let spins = client == Client::Spinning;
        match self {
            Stream::Tcp(stream) => {
                stream.set_nonblocking(spins)?;
                stream.set_read_timeout(Some(look))
            }
            Stream::Unix(stream) => {
                stream.set_nonblocking(spins)?;
                stream.set_read_timeout(Some(look))
            }
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Unix(stream) => stream.read(buffer),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write(bytes),
            Stream::Unix(stream) => stream.write(bytes),
        }
    }
}
