//! Finds what a server waits for in polls, by the requests that it has read and not answered yet.
//!
//! A server waits for its clients if it holds no request. If it holds one, it waits for a peer that it has
//! asked itself, or for something of its own. It has waited for its own timers if it answers after the time
//! limit of a poll expired.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::descriptor::{DescriptorKind, Socket, SocketEnd};
use crate::records::Who;
use crate::result::{AwaitedPeer, Cause, InFlightRow};

/// The maximum number of peers of a process whose waits are kept apart.
const MOST_PEERS: usize = 64;

fn socket(kind: &Arc<DescriptorKind>) -> Option<&Socket> {
    match &**kind {
        DescriptorKind::Socket(socket) => Some(socket),
        _ => None,
    }
}

/// What a process that serves clients waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Awaited {
    /// A client, or a peer that was asked.
    Object(Arc<DescriptorKind>),
    /// Something of its own, in order to answer a request.
    Own,
}

/// A wait whose object is known only after the next answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub wait: (Who, (u32, i32), Cause),
    pub ns: u64,
    /// Its index in the timeline.
    pub interval: Option<usize>,
}

/// The waits of a thread since its process's last answer.
#[derive(Debug, Default)]
struct Waits {
    last: Option<Held>,
    by_limit: Vec<Held>,
}

/// The connections of a process.
#[derive(Debug, Default)]
struct Connections {
    /// The last accepted connection with a request.
    client: Option<Arc<DescriptorKind>>,
    /// Whether a request was ever answered; some protocols have no answers.
    answers: bool,
    /// Connections with an unanswered request: of a client, or to the peer of this kind.
    open: HashMap<i32, Option<Arc<DescriptorKind>>>,
    of_clients: usize,
}

impl Connections {
    fn close(&mut self, fd: i32) {
        if let Some(None) = self.open.remove(&fd) {
            self.of_clients -= 1;
        }
    }

    /// Returns the number of requests to peers that are not answered yet.
    fn in_flight(&self) -> usize {
        self.open.len() - self.of_clients
    }

    fn asked(&self) -> Option<&Arc<DescriptorKind>> {
        let peers = self.open.iter();
        let peers = peers.filter_map(|(fd, peer)| Some((fd, peer.as_ref()?)));
        peers.min_by_key(|(fd, _)| **fd).map(|(_, peer)| peer)
    }
}

/// The requests that the processes of a tree hold.
#[derive(Debug, Default)]
pub(super) struct Requests {
    processes: HashMap<u32, Connections>,
    waits: HashMap<u32, Waits>,
    /// The waits of each process for answers.
    in_flight: BTreeMap<u32, InFlightRow>,
    /// Waits in polls that a child ended before the process asked any peer.
    for_children: Vec<Held>,
    /// The processes that asked a peer.
    askers: HashSet<u32>,
}

impl Requests {
    /// Notes that a call read from a connection that was last written to, or wrote to one that was last read
    /// from. Returns the thread's waits that turn out to be for its own timers.
    pub(super) fn turned(
        &mut self,
        who: Who,
        fd: i32,
        kind: &Arc<DescriptorKind>,
        reads: bool,
    ) -> Vec<Held> {
        let DescriptorKind::Socket(Socket { end, .. }) = &**kind else {
            return Vec::new();
        };
        let of = self.processes.entry(who.pid).or_default();
        match (end, reads) {
            (SocketEnd::Accepted(_), true) => {
                of.client = Some(kind.clone());
                of.of_clients += usize::from(of.open.insert(fd, None).is_none());
                return Vec::new();
            }
            (SocketEnd::Accepted(_), false) => {
                of.answers |= of.open.contains_key(&fd);
                of.close(fd);
            }
            (SocketEnd::To(_), false) => {
                of.open.insert(fd, Some(kind.clone()));
                self.askers.insert(who.pid);
            }
            (SocketEnd::To(_), true) => {
                of.close(fd);
                return Vec::new();
            }
            _ => return Vec::new(),
        }
        let waits = self.waits.remove(&who.tid).unwrap_or_default();
        // Something else ended the last wait.
        if waits.last.is_some() {
            return Vec::new();
        }
        waits.by_limit
    }

    /// Notes a connection that existed before the trace. A client may have sent a request on it.
    pub(super) fn found(&mut self, pid: u32, fd: i32, kind: &Arc<DescriptorKind>) {
        let who = Who { tid: 0, pid };
        let is_clients = |socket: &Socket| matches!(socket.end, SocketEnd::Accepted(_));
        if matches!(&**kind, DescriptorKind::Socket(socket) if is_clients(socket)) {
            self.turned(who, fd, kind, true);
        }
    }

    /// Notes that a descriptor is closed.
    pub(super) fn closed(&mut self, pid: u32, fd: i32) {
        if let Some(of) = self.processes.get_mut(&pid) {
            of.close(fd);
        }
    }

    /// Notes the end of a process.
    pub(super) fn ended(&mut self, pid: u32) {
        self.processes.remove(&pid);
    }

    /// Returns what a process waits for in polls on `fd`, or on a set or several descriptors; `None` if that
    /// isn't known.
    pub(super) fn awaited(&self, pid: u32, fd: i32) -> Option<Awaited> {
        let of = self.processes.get(&pid)?;
        if let Some(Some(peer)) = of.open.get(&fd) {
            return Some(Awaited::Object(peer.clone()));
        }
        let client = of.client.as_ref()?;
        match (of.of_clients, of.asked().filter(|_| of.answers)) {
            (0, _) => of.answers.then(|| Awaited::Object(client.clone())),
            (_, Some(peer)) => Some(Awaited::Object(peer.clone())),
            (_, None) => Some(Awaited::Own),
        }
    }

    /// Notes that a thread was asleep for `ns` in a call on `fd` or in a poll, and counts the wait if answers
    /// of peers were awaited.
    pub(super) fn slept(&mut self, pid: u32, fd: i32, polls: bool, ns: u64) {
        let Some(of) = self.processes.get(&pid) else {
            return;
        };
        let requests = of.in_flight() as u64;
        let asked: Vec<&Socket> = match of.open.get(&fd) {
            Some(Some(peer)) => socket(peer).into_iter().collect(),
            _ if polls => of.open.values().flatten().filter_map(socket).collect(),
            _ => Vec::new(),
        };
        if asked.is_empty() {
            return;
        }
        let row = self.in_flight.entry(pid).or_insert_with(|| InFlightRow {
            pid,
            ..InFlightRow::default()
        });
        row.waited_ns += ns;
        row.requests_ns += requests * ns;
        let each = ns / asked.len() as u64;
        for socket in asked {
            let SocketEnd::To(peer) = &socket.end else {
                continue;
            };
            let at = row.peers.iter().position(|known| known.peer == *peer);
            match at {
                Some(at) => row.peers[at].waited_ns += each,
                None if row.peers.len() < MOST_PEERS => row.peers.push(AwaitedPeer {
                    peer: peer.clone(),
                    waited_ns: each,
                }),
                None => {}
            }
        }
    }

    /// Returns whether a process has sent a request to a peer.
    pub(super) fn has_asked(&self, pid: u32) -> bool {
        self.askers.contains(&pid)
    }

    /// Notes a wait in a poll that a child of the process ended. Before the process asks any peer, it waits for
    /// what the child says.
    pub(super) fn ended_by_child(&mut self, held: Held) {
        self.for_children.push(held);
    }

    /// Returns the noted waits for children of processes that asked peers later.
    pub(super) fn for_children(&mut self) -> Vec<Held> {
        let mut waits = std::mem::take(&mut self.for_children);
        waits.retain(|held| self.askers.contains(&held.wait.0.pid));
        waits
    }

    /// Returns how many requests were in flight while processes waited for answers.
    pub(super) fn in_flight(self) -> Vec<InFlightRow> {
        let mut rows: Vec<InFlightRow> = self.in_flight.into_values().collect();
        for row in &mut rows {
            row.peers.sort_by(|a, b| a.peer.cmp(&b.peer));
        }
        rows
    }

    /// Notes that a thread waited for something of its own.
    pub(super) fn waited(&mut self, tid: u32, held: Held) {
        self.waits.entry(tid).or_default().last = Some(held);
    }

    /// Notes that the time limit of a poll ended the thread's last wait.
    pub(super) fn time_was_up(&mut self, tid: u32) {
        if let Some(waits) = self.waits.get_mut(&tid) {
            waits.by_limit.extend(waits.last.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHO: Who = Who { tid: 7, pid: 5 };

    fn kind(text: &str) -> Arc<DescriptorKind> {
        Arc::new(text.into())
    }

    fn held(ns: u64) -> Held {
        Held {
            wait: (WHO, (0, 3), Cause::Asleep),
            ns,
            interval: None,
        }
    }

    /// Returns the requests of a server that has answered once.
    fn server() -> (Requests, Arc<DescriptorKind>) {
        let client = kind("accepted socket from socket at 127.0.0.1:80");
        let mut requests = Requests::default();
        requests.turned(WHO, 9, &client, true);
        let own = Some(Awaited::Own);
        assert_eq!(requests.awaited(5, 3), own, "it may still be answered");
        requests.turned(WHO, 9, &client, false);
        (requests, client)
    }

    #[test]
    fn a_server_without_a_request_waits_for_its_clients_and_with_one_for_what_it_asked() {
        let (mut requests, client) = server();
        assert_eq!(
            requests.awaited(5, 3),
            Some(Awaited::Object(client.clone()))
        );
        requests.turned(WHO, 10, &client, true);
        assert_eq!(requests.awaited(5, 3), Some(Awaited::Own));
        let peer = kind("socket to 10.0.0.5:5432");
        requests.turned(WHO, 11, &peer, false);
        assert_eq!(requests.awaited(5, 3), Some(Awaited::Object(peer.clone())));
        requests.turned(WHO, 11, &peer, true);
        assert_eq!(requests.awaited(5, 3), Some(Awaited::Own));
        requests.closed(5, 10);
        assert_eq!(requests.awaited(5, 3), Some(Awaited::Object(client)));
        requests.ended(5);
        assert_eq!(requests.awaited(5, 3), None);
    }

    #[test]
    fn waits_for_answers_count_with_the_requests_that_are_in_flight() {
        let (mut requests, client) = server();
        requests.turned(WHO, 9, &client, true);
        let peer = kind("socket to 10.0.0.5:5432");
        for fd in [11, 12, 13] {
            requests.turned(WHO, fd, &peer, false);
        }
        requests.slept(5, 12, false, 10);
        requests.slept(5, 3, true, 20);
        requests.slept(5, 3, false, 40);
        for fd in [11, 12, 13] {
            requests.turned(WHO, fd, &peer, true);
        }
        requests.slept(5, 3, true, 80);
        let row = InFlightRow {
            pid: 5,
            waited_ns: 30,
            requests_ns: 90,
            peers: vec![AwaitedPeer {
                peer: "10.0.0.5:5432".to_owned(),
                waited_ns: 28,
            }],
        };
        assert_eq!(requests.in_flight(), [row]);
    }

    #[test]
    fn waits_are_kept_apart_by_the_peer_that_is_asked() {
        let mut requests = Requests::default();
        let (fast, slow) = (kind("socket to 10.0.0.5:80"), kind("socket to 10.0.0.6:53"));
        requests.turned(WHO, 11, &fast, false);
        requests.slept(5, 3, true, 10);
        requests.turned(WHO, 12, &slow, false);
        requests.slept(5, 12, true, 400);
        requests.slept(5, 3, true, 20);
        let rows = requests.in_flight();
        let peers = rows[0].peers.iter();
        let peers = peers.map(|known| (known.peer.as_str(), known.waited_ns));
        let wanted = [("10.0.0.5:80", 20), ("10.0.0.6:53", 410)];
        assert_eq!(peers.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn a_poll_for_one_connection_is_for_its_peer_whatever_else_was_asked() {
        let (mut requests, client) = server();
        requests.turned(WHO, 9, &client, true);
        let (own, names) = (kind("socket to 10.0.0.5:80"), kind("socket to 10.0.0.6:53"));
        requests.turned(WHO, 4, &own, false);
        requests.turned(WHO, 8, &names, false);
        assert_eq!(requests.awaited(5, 8), Some(Awaited::Object(names)));
    }

    #[test]
    fn before_the_first_request_polls_are_for_the_child_that_ended_them() {
        let peer = kind("socket to 10.0.0.5:5432");
        let mut requests = Requests::default();
        requests.ended_by_child(held(10));
        assert_eq!(requests.for_children(), [], "nobody is asked");
        requests.ended_by_child(held(20));
        assert!(!requests.has_asked(5));
        requests.turned(WHO, 11, &peer, false);
        assert!(requests.has_asked(5));
        assert_eq!(requests.for_children(), [held(20)]);
    }

    #[test]
    fn an_answer_after_time_limits_was_a_matter_of_timers() {
        let (mut requests, client) = server();
        requests.turned(WHO, 9, &client, true);
        for ns in [10, 20] {
            requests.waited(7, held(ns));
            requests.time_was_up(7);
        }
        let timers = requests.turned(WHO, 9, &client, false);
        assert_eq!(timers, [held(10), held(20)]);
    }

    #[test]
    fn an_answer_after_an_event_was_not_whatever_ticks_meanwhile() {
        let (mut requests, client) = server();
        requests.turned(WHO, 9, &client, true);
        requests.waited(7, held(10));
        requests.time_was_up(7);
        requests.waited(7, held(20));
        assert_eq!(requests.turned(WHO, 9, &client, false), []);
        requests.turned(WHO, 9, &client, true);
        assert_eq!(requests.turned(WHO, 9, &client, false), []);
    }
}
