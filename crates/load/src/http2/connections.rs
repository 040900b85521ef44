//! The connections of an HTTP/2 client, each with the same number of slots.

use super::Exchange;
use super::talk::{Talk, may_be_sent_again, refusal};
use crate::clock::now;
use crate::dispatcher::Dispatcher;
use crate::epoll::Epoll;
use crate::link::{Link, Making, Refusal, Stage};
use crate::request::Request;
use crate::task::Task;

struct Connection {
    link: Link,
    talk: Option<Talk>,
    /// Whether the server accepts no more requests on this connection.
    leaves: bool,
}

/// The connections of a client. Connection `n` has the slots from `n x streams` on.
pub(crate) struct Http2 {
    streams: usize,
    connections: Vec<Connection>,
    exchanges: Vec<Exchange>,
    /// Slots whose request was sent a second time, on another connection.
    sent_again: Vec<bool>,
    /// Connections that have data to send.
    unflushed: Vec<usize>,
}

impl Http2 {
    pub(crate) fn new(task: &Task, connections: usize) -> Http2 {
        let connection = |_| Connection {
            link: Link::new(),
            talk: None,
            leaves: false,
        };
        let places = connections * task.streams;
        Http2 {
            streams: task.streams,
            connections: (0..connections).map(connection).collect(),
            exchanges: (0..places).map(|_| Exchange::new()).collect(),
            sent_again: vec![false; places],
            unflushed: Vec::with_capacity(connections),
        }
    }

    pub(crate) fn link(&mut self, connection: usize) -> &mut Link {
        &mut self.connections[connection].link
    }

    fn places(&self, connection: usize) -> std::ops::Range<usize> {
        connection * self.streams..(connection + 1) * self.streams
    }

    /// Sends the next request on a slot, and connects first if necessary.
    pub(crate) fn begin(&mut self, place: usize, dispatcher: &mut Dispatcher, epoll: &Epoll) {
        let connection = place / self.streams;
        self.sent_again[place] = false;
        match self.connections[connection].link.stage() {
            Stage::Open => self.send(place, dispatcher, epoll),
            Stage::Closed => self.connect(connection, dispatcher, epoll),
            Stage::Connecting | Stage::Securing => {}
        }
    }

    fn connect(&mut self, number: usize, dispatcher: &mut Dispatcher, epoll: &Epoll) {
        dispatcher.outcome.connects += 1;
        if let Err(why) = self.connections[number]
            .link
            .begin(&dispatcher.task, epoll, number)
        {
            self.end(number, why, dispatcher);
        }
    }

    fn send(&mut self, place: usize, dispatcher: &mut Dispatcher, epoll: &Epoll) {
        let number = place / self.streams;
        let connection = &mut self.connections[number];
        let Some(talk) = connection.talk.as_ref().filter(|_| !connection.leaves) else {
            // The request is sent once there is another connection.
            return;
        };
        let Request::Http2(request) = dispatcher.request(place) else {
            return;
        };
        match self.exchanges[place].begin(request, talk) {
            Ok(()) => self.unflushed.push(number),
            Err(error) if may_be_sent_again(&error) => self.leave(number, dispatcher, epoll),
            Err(error) => self.end(number, refusal(&error), dispatcher),
        }
    }

    /// Sends the requests that were begun; returns whether that freed slots.
    pub(crate) fn flush(&mut self, dispatcher: &mut Dispatcher, epoll: &Epoll) -> bool {
        let mut freed = false;
        while let Some(number) = self.unflushed.pop() {
            // Slots of one connection often come in sequence.
            if self.unflushed.last() != Some(&number) {
                freed |= self.drive(number, false, dispatcher, epoll);
            }
        }
        freed
    }

    pub(crate) fn on_event(
        &mut self,
        number: usize,
        dispatcher: &mut Dispatcher,
        epoll: &Epoll,
        making: &mut Making,
    ) {
        let connection = &mut self.connections[number];
        match connection.link.stage() {
            Stage::Closed => {}
            Stage::Connecting | Stage::Securing => {
                let opened = connection.link.go_on(epoll, number, making);
                let opened = opened.and_then(|is_open| {
                    let link = &mut connection.link;
                    let stream = if is_open { link.take() } else { None };
                    stream.map(Talk::open).transpose()
                });
                match opened {
                    Ok(None) => {}
                    Ok(Some(talk)) => {
                        connection.talk = Some(talk);
                        connection.leaves = false;
                        for place in self.places(number) {
                            if dispatcher.places[place].ticket.is_some() {
                                self.send(place, dispatcher, epoll);
                            }
                        }
                        self.drive(number, true, dispatcher, epoll);
                    }
                    Err(why) => self.end(number, why, dispatcher),
                }
            }
            Stage::Open => {
                self.drive(number, true, dispatcher, epoll);
            }
        }
    }

    /// Sends and receives as far as possible; returns whether that freed slots.
    fn drive(
        &mut self,
        number: usize,
        readable: bool,
        dispatcher: &mut Dispatcher,
        epoll: &Epoll,
    ) -> bool {
        let (mut freed, mut readable) = (false, readable);
        loop {
            let Some(talk) = &mut self.connections[number].talk else {
                return freed;
            };
            let ended = talk.go_on(readable);
            // From here on, the loop only sends. epoll reports data that arrives in the meantime.
            readable = false;
            dispatcher.outcome.received_bytes += talk.received();
            let at = now();
            let mut moved = false;
            for place in self.places(number) {
                let exchange = &mut self.exchanges[place];
                if !exchange.take_flag() {
                    continue;
                }
                moved = true;
                match exchange.go_on(&mut dispatcher.body(place)) {
                    None => {}
                    Some(Ok(answer)) => {
                        dispatcher.answered(place, answer, at);
                        freed = true;
                    }
                    Some(Err(error)) => self.lost(place, &error, dispatcher, epoll),
                }
            }
            if let Some(why) = ended {
                self.ended(number, why, dispatcher, epoll);
                return freed;
            }
            if !moved {
                break;
            }
        }
        let connection = &mut self.connections[number];
        let blocked = connection
            .talk
            .as_ref()
            .is_some_and(|talk| talk.seen.blocked.get());
        connection.link.watch_writes(epoll, number, blocked);
        if connection.leaves {
            self.leave(number, dispatcher, epoll);
        }
        freed
    }

    /// Handles a request that gets no response on this connection.
    fn lost(
        &mut self,
        place: usize,
        error: &h2::Error,
        dispatcher: &mut Dispatcher,
        epoll: &Epoll,
    ) {
        if !may_be_sent_again(error) || self.sent_again[place] {
            let (why, text) = refusal(error);
            return dispatcher.failed(place, why, text);
        }
        self.sent_again[place] = true;
        match error.is_go_away() {
            true => self.connections[place / self.streams].leaves = true,
            false => self.send(place, dispatcher, epoll),
        }
    }

    /// Ends a connection. Outstanding requests have failed; requests that weren't sent because the server
    /// announced that it closes the connection are sent on another one.
    fn ended(
        &mut self,
        number: usize,
        (why, text): Refusal,
        dispatcher: &mut Dispatcher,
        epoll: &Epoll,
    ) {
        if self.connections[number].leaves {
            for place in self.places(number) {
                if self.exchanges[place].is_under_way() {
                    dispatcher.failed(place, why, text);
                }
            }
            self.connections[number].talk = None;
            self.leave(number, dispatcher, epoll);
        } else {
            self.end(number, (why, text), dispatcher);
        }
    }

    /// Handles a server that accepts no more requests on a connection: once the outstanding requests have
    /// their responses, the others are sent on another connection.
    fn leave(&mut self, number: usize, dispatcher: &mut Dispatcher, epoll: &Epoll) {
        self.connections[number].leaves = true;
        let busy = |place: usize| self.exchanges[place].is_under_way();
        if self.connections[number].talk.is_some() && self.places(number).any(busy) {
            return;
        }
        self.drop_connection(number);
        let waits = |place: usize| dispatcher.places[place].ticket.is_some();
        if self.places(number).any(waits) {
            self.connect(number, dispatcher, epoll);
        }
    }

    /// Ends a connection; its outstanding requests have failed.
    pub(crate) fn end(&mut self, number: usize, (why, text): Refusal, dispatcher: &mut Dispatcher) {
        self.drop_connection(number);
        for place in self.places(number) {
            dispatcher.failed(place, why, text);
        }
    }

    fn drop_connection(&mut self, number: usize) {
        for place in self.places(number) {
            self.exchanges[place].forget();
        }
        let connection = &mut self.connections[number];
        connection.talk = None;
        connection.link.close();
    }

    /// Drops the outstanding request of a slot. A connection that was never established is given up, because
    /// its address may be unreachable.
    pub(crate) fn forget(&mut self, place: usize) {
        let number = place / self.streams;
        match self.connections[number].link.stage() {
            Stage::Open => {
                self.exchanges[place].forget();
                self.unflushed.push(number);
            }
            _ => self.drop_connection(number),
        }
    }

    /// Returns the smallest number of concurrent requests that the server allows on a connection.
    pub(crate) fn most_streams(&self) -> Option<usize> {
        let open = self.connections.iter().filter_map(|c| c.talk.as_ref());
        open.map(Talk::most_streams).min()
    }
}
