//! The connections of a client that speaks HTTP/2, each with the same number of places.

use super::Exchange;
use super::talk::{Talk, may_be_sent_again, refusal};
use crate::clock::now;
use crate::desk::Desk;
use crate::epoll::Epoll;
use crate::link::{Link, Making, Refusal, Stage};
use crate::request::Request;
use crate::task::Task;

struct Connection {
    link: Link,
    talk: Option<Talk>,
    /// The server takes no further requests on it.
    leaves: bool,
}

/// Each connection has the places from `its number x streams` on.
pub(crate) struct Http2 {
    streams: usize,
    connections: Vec<Connection>,
    exchanges: Vec<Exchange>,
    /// Places whose request was sent a second time, on another connection.
    sent_again: Vec<bool>,
    /// Connections that have something to send.
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

    /// Sends the next request on a place; its connection is made if there is none.
    pub(crate) fn begin(&mut self, place: usize, desk: &mut Desk, epoll: &Epoll) {
        let connection = place / self.streams;
        self.sent_again[place] = false;
        match self.connections[connection].link.stage() {
            Stage::Open => self.send(place, desk, epoll),
            Stage::Closed => self.connect(connection, desk, epoll),
            Stage::Connecting | Stage::Securing => {}
        }
    }

    fn connect(&mut self, number: usize, desk: &mut Desk, epoll: &Epoll) {
        desk.outcome.connects += 1;
        if let Err(why) = self.connections[number]
            .link
            .begin(&desk.task, epoll, number)
        {
            self.end(number, why, desk);
        }
    }

    fn send(&mut self, place: usize, desk: &mut Desk, epoll: &Epoll) {
        let number = place / self.streams;
        let connection = &mut self.connections[number];
        let Some(talk) = connection.talk.as_ref().filter(|_| !connection.leaves) else {
            // It is sent when there is another connection.
            return;
        };
        let Request::Http2(request) = desk.request(place) else {
            return;
        };
        match self.exchanges[place].begin(request, talk) {
            Ok(()) => self.unflushed.push(number),
            Err(error) if may_be_sent_again(&error) => self.leave(number, desk, epoll),
            Err(error) => self.end(number, refusal(&error), desk),
        }
    }

    /// Sends what was begun; whether places became free by that.
    pub(crate) fn flush(&mut self, desk: &mut Desk, epoll: &Epoll) -> bool {
        let mut freed = false;
        while let Some(number) = self.unflushed.pop() {
            // Places of one connection often come one after the other.
            if self.unflushed.last() != Some(&number) {
                freed |= self.drive(number, false, desk, epoll);
            }
        }
        freed
    }

    pub(crate) fn on_event(
        &mut self,
        number: usize,
        desk: &mut Desk,
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
                            if desk.places[place].ticket.is_some() {
                                self.send(place, desk, epoll);
                            }
                        }
                        self.drive(number, true, desk, epoll);
                    }
                    Err(why) => self.end(number, why, desk),
                }
            }
            Stage::Open => {
                self.drive(number, true, desk, epoll);
            }
        }
    }

    /// Sends and receives what can be; whether places became free.
    fn drive(&mut self, number: usize, readable: bool, desk: &mut Desk, epoll: &Epoll) -> bool {
        let (mut freed, mut readable) = (false, readable);
        loop {
            let Some(talk) = &mut self.connections[number].talk else {
                return freed;
            };
            let ended = talk.go_on(readable);
            // From here on it only sends. What comes meanwhile epoll reports.
            readable = false;
            desk.outcome.received_bytes += talk.received();
            let at = now();
            let mut moved = false;
            for place in self.places(number) {
                let exchange = &mut self.exchanges[place];
                if !exchange.take_flag() {
                    continue;
                }
                moved = true;
                match exchange.go_on(&mut desk.body(place)) {
                    None => {}
                    Some(Ok(answer)) => {
                        desk.answered(place, answer, at);
                        freed = true;
                    }
                    Some(Err(error)) => self.lost(place, &error, desk, epoll),
                }
            }
            if let Some(why) = ended {
                self.ended(number, why, desk, epoll);
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
            self.leave(number, desk, epoll);
        }
        freed
    }

    /// A request has no answer on this connection.
    fn lost(&mut self, place: usize, error: &h2::Error, desk: &mut Desk, epoll: &Epoll) {
        if !may_be_sent_again(error) || self.sent_again[place] {
            let (why, text) = refusal(error);
            return desk.failed(place, why, text);
        }
        self.sent_again[place] = true;
        match error.is_go_away() {
            true => self.connections[place / self.streams].leaves = true,
            false => self.send(place, desk, epoll),
        }
    }

    /// A connection is at its end. What was under way has failed; what was not sent any more, as the
    /// server had said that it leaves, is sent on another one.
    fn ended(&mut self, number: usize, (why, text): Refusal, desk: &mut Desk, epoll: &Epoll) {
        if self.connections[number].leaves {
            for place in self.places(number) {
                if self.exchanges[place].is_under_way() {
                    desk.failed(place, why, text);
                }
            }
            self.connections[number].talk = None;
            self.leave(number, desk, epoll);
        } else {
            self.end(number, (why, text), desk);
        }
    }

    /// The server takes no further requests on a connection: when those that are under way have
    /// their answers, the others are sent on another one.
    fn leave(&mut self, number: usize, desk: &mut Desk, epoll: &Epoll) {
        self.connections[number].leaves = true;
        let busy = |place: usize| self.exchanges[place].is_under_way();
        if self.connections[number].talk.is_some() && self.places(number).any(busy) {
            return;
        }
        self.drop_connection(number);
        let waits = |place: usize| desk.places[place].ticket.is_some();
        if self.places(number).any(waits) {
            self.connect(number, desk, epoll);
        }
    }

    /// A connection is at its end, and what was under way on it has failed.
    pub(crate) fn end(&mut self, number: usize, (why, text): Refusal, desk: &mut Desk) {
        self.drop_connection(number);
        for place in self.places(number) {
            desk.failed(place, why, text);
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

    /// What was asked for on a place isn't wanted any more. A connection that was never made is
    /// given up: it may be one to nowhere.
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

    /// The fewest requests that a server allows at a time on a connection.
    pub(crate) fn most_streams(&self) -> Option<usize> {
        let open = self.connections.iter().filter_map(|c| c.talk.as_ref());
        open.map(Talk::most_streams).min()
    }
}
