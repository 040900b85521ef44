//! HTTP/1.1: one request at a time on each connection.

use std::io;

use crate::clock::now;
use crate::dispatcher::Dispatcher;
use crate::epoll::Epoll;
use crate::ledger::Failing;
use crate::link::{Link, Making, Refusal, Stage};
use crate::request::Request;
use crate::response::{Progress, Reader};
use crate::socket::failing;
use crate::task::Task;

/// Maximum number of bytes in one receive call.
const BUFFER: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Idle.
    Free,
    /// This many bytes of the request have been sent.
    Sending(usize),
    Waiting,
}

struct Connection {
    link: Link,
    state: State,
    reader: Reader,
}

/// The connections of a client; each is the slot with the same number.
pub(crate) struct Http1 {
    connections: Vec<Connection>,
    buffer: Vec<u8>,
}

impl Http1 {
    pub(crate) fn new(task: &Task, connections: usize) -> Http1 {
        let connection = |_| Connection {
            link: Link::new(),
            state: State::Free,
            reader: Reader::new(task.head_only),
        };
        Http1 {
            connections: (0..connections).map(connection).collect(),
            buffer: vec![0; BUFFER],
        }
    }

    pub(crate) fn link(&mut self, index: usize) -> &mut Link {
        &mut self.connections[index].link
    }

    /// Sends the next request on a connection, and connects first if necessary.
    pub(crate) fn begin(&mut self, index: usize, dispatcher: &mut Dispatcher, epoll: &Epoll) {
        let connection = &mut self.connections[index];
        connection.state = State::Sending(0);
        match connection.link.stage() {
            Stage::Open => self.send(index, dispatcher, epoll),
            Stage::Closed => {
                dispatcher.outcome.connects += 1;
                if let Err(why) = connection.link.begin(&dispatcher.task, epoll, index) {
                    self.fail(index, why, dispatcher);
                }
            }
            Stage::Connecting | Stage::Securing => {}
        }
    }

    fn send(&mut self, index: usize, dispatcher: &mut Dispatcher, epoll: &Epoll) {
        let connection = &mut self.connections[index];
        let (State::Sending(sent), Some(stream)) = (connection.state, connection.link.stream())
        else {
            return;
        };
        let Request::Http1(request) = dispatcher.request(index) else {
            return;
        };
        let sent = match stream.send(&request[sent..]) {
            Ok(bytes) => sent + bytes,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => sent,
            Err(error) => return self.fail(index, (failing(&error, false), ""), dispatcher),
        };
        let is_whole = sent == request.len() && !stream.has_unsent();
        connection.state = match is_whole {
            true => State::Waiting,
            false => State::Sending(sent),
        };
        connection.link.watch_writes(epoll, index, !is_whole);
    }

    pub(crate) fn on_event(
        &mut self,
        index: usize,
        events: u32,
        dispatcher: &mut Dispatcher,
        epoll: &Epoll,
        making: &mut Making,
    ) {
        let readable = libc::EPOLLIN | libc::EPOLLERR | libc::EPOLLHUP;
        let connection = &mut self.connections[index];
        match connection.link.stage() {
            Stage::Closed => {}
            Stage::Connecting | Stage::Securing => {
                match connection.link.go_on(epoll, index, making) {
                    // If no request is waiting, the connection was made for later requests.
                    Ok(true) if dispatcher.places[index].ticket.is_some() => {
                        self.send(index, dispatcher, epoll);
                    }
                    Ok(_) => {}
                    Err(why) => self.fail(index, why, dispatcher),
                }
            }
            Stage::Open if connection.state == State::Free => {
                let stream = connection.link.stream();
                let harmless = stream.is_some_and(|s| s.had_its_own_only(&mut self.buffer));
                if !harmless {
                    // The server closed the connection, or sent unrequested data.
                    self.close(index);
                }
            }
            Stage::Open => {
                if events & readable as u32 != 0 {
                    self.receive(index, dispatcher);
                }
                if events & libc::EPOLLOUT as u32 != 0 {
                    self.send(index, dispatcher, epoll);
                }
            }
        }
    }

    fn receive(&mut self, index: usize, dispatcher: &mut Dispatcher) {
        let connection = &mut self.connections[index];
        let Some(stream) = connection.link.stream() else {
            return;
        };
        let got = match stream.receive(&mut self.buffer) {
            Ok(got) => got,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(error) => return self.fail(index, (failing(&error, false), ""), dispatcher),
        };
        let at = now();
        dispatcher.outcome.received_bytes += got as u64;
        if got == 0 {
            return match connection.reader.end(&mut dispatcher.body(index)) {
                Some(answer) => {
                    self.close(index);
                    dispatcher.answered(index, answer, at);
                }
                None => self.fail(index, (Failing::Closed, ""), dispatcher),
            };
        }
        match connection
            .reader
            .feed(&self.buffer[..got], &mut dispatcher.body(index))
        {
            Ok(Progress::More) => {}
            Ok(Progress::Done(used, answer)) => {
                let unasked = used < got;
                dispatcher.outcome.unasked += u64::from(unasked);
                // A server that responds before the whole request was sent may take the rest for another
                // request.
                let whole = connection.state == State::Waiting;
                connection.state = State::Free;
                if !(whole && !unasked && answer.keeps_alive && dispatcher.task.keep_alive) {
                    self.close(index);
                }
                dispatcher.answered(index, answer, at);
            }
            Err(malformed) => self.fail(index, (Failing::Malformed, malformed.0), dispatcher),
        }
    }

    /// Fails the request on a connection, and closes the connection.
    pub(crate) fn fail(&mut self, index: usize, (why, text): Refusal, dispatcher: &mut Dispatcher) {
        self.close(index);
        dispatcher.failed(index, why, text);
    }

    pub(crate) fn close(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        connection.link.close();
        connection.state = State::Free;
        connection.reader.reset();
    }
}
