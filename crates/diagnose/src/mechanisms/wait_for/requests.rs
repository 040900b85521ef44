//! Counts the requests to a peer: which peer is awaited, and how many requests are in flight.

use super::peer::waited_for;
use crate::descriptors;
use crate::intervals::most_at_once;
use crate::mechanisms::prelude::*;

/// The minimum number of requests that counts as a pattern.
pub(super) const FEWEST_REQUESTS: u64 = 20;
/// The minimum number of requests of a server for each of its clients' from which they may be fewer.
const SEVERAL_PER_CLIENT: f64 = 1.5;
/// The minimum number of requests for each wait, and of connections at once, if requests were made together.
/// It is used where the number in flight isn't known.
const TOGETHER: u64 = 16;
/// The minimum time for which a peer outside of the command is awaited, as a part of that for the command's own
/// server, if the server waits for that peer meanwhile. Threads that queue for the server wait longer than it does.
const PART_OF_AN_OUTSIDE_PEER: f64 = 0.25;
/// The maximum number of calls for one request or one answer.
const PIECES: u64 = 4;

/// A peer for which the command waits.
#[derive(Clone, Copy)]
pub(super) struct Awaited<'a> {
    pub(super) peer: &'a str,
    /// Whether there are others.
    pub(super) others: bool,
    /// The part of the waits for peers that was for this one, 0 to 1, if known.
    pub(super) part: Option<f64>,
}

/// Returns the peer for which the command waits most. Where the trace shows whose answers were awaited, that time
/// ranks the peers. Otherwise the time asleep in calls on a connection does and, for polls, the reads that followed.
pub(super) fn awaited<'a>(analysis: &'a Analysis<'_>) -> Option<Awaited<'a>> {
    let mut by_time: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for row in analysis.trace.in_flight.iter().flat_map(|row| &row.peers) {
        by_time.entry(row.peer.as_str()).or_default().0 += row.waited_ns;
    }
    let is_known = !by_time.is_empty();
    let peers = match is_known {
        true => by_time,
        false => waited_for(
            analysis,
            |row| match analysis.object_of(row) {
                Some(object) => descriptors::peer_of(object),
                None => analysis.descriptors.peer(row.pid, row.fd?),
            },
            |row| {
                let fd = row.fd.filter(|_| calls::is_read(&row.name))?;
                analysis.descriptors.peer(row.pid, fd)
            },
        ),
    };
    let all: u64 = peers.values().map(|(ns, _)| ns).sum();
    let (_, most) = peers.iter().max_by_key(|(_, score)| **score)?;
    // A thread that waits for the command's own server waits, in effect, for what the server waits for.
    let counts = |(peer, (ns, _)): &(&&str, &(u64, u64))| {
        let outside = !analysis.descriptors.answers_at(peer);
        outside && *ns as f64 >= PART_OF_AN_OUTSIDE_PEER * most.0 as f64 && *ns > 0
    };
    let outside = peers.iter().filter(counts);
    let outside = outside.max_by_key(|(_, score)| **score);
    let named = outside.or_else(|| peers.iter().max_by_key(|(_, score)| **score));
    let (peer, (ns, _)) = named?;
    Some(Awaited {
        peer,
        others: peers.len() > 1,
        part: is_known.then(|| *ns as f64 / all.max(1) as f64),
    })
}

/// Returns how many connections to this peer were in use at the same time, at most.
fn connections(analysis: &Analysis<'_>, peer: &str) -> usize {
    let mut spans: BTreeMap<(u32, i32), (u64, u64)> = BTreeMap::new();
    let moves = analysis.calls(|row| row.bytes > 0);
    for row in moves {
        let (Some(fd), Some(first), Some(last)) = (row.fd, row.first_moved_ns, row.last_moved_ns)
        else {
            continue;
        };
        if analysis.descriptors.peer(row.pid, fd) == Some(peer) {
            let span = spans.entry((row.pid, fd)).or_insert((first, last));
            *span = (span.0.min(first), span.1.max(last));
        }
    }
    most_at_once(spans.into_values().collect())
}

/// Returns the thread whose waits for the network take most of the critical path.
pub(super) fn waiter<'a>(analysis: &'a Analysis<'_>) -> Option<&'a ThreadTimes> {
    largest(&analysis.threads, |times| {
        let waited = times.sums.get(TimeCategory::Network);
        waited * analysis.path.wait_weight(times.tid, TimeCategory::Network)
    })
}

/// Returns how many requests a server sent to peers for each request that it read from its clients.
fn requests_per_client(analysis: &Analysis<'_>, pid: u32) -> f64 {
    let moved = |is: fn(&str) -> bool, accepted: bool| {
        analysis.traced_calls(|row| {
            let of = row
                .fd
                .filter(|_| row.pid == pid && row.bytes > 0 && is(&row.name));
            of.is_some_and(|fd| match accepted {
                true => analysis.descriptors.is_accepted(pid, fd),
                false => analysis.descriptors.peer(pid, fd).is_some(),
            })
        })
    };
    moved(calls::is_write, false) as f64 / moved(calls::is_read, true).max(1) as f64
}

/// Returns how many requests the command had in flight on average while it waited for this peer, if that is known
/// and up to the command. How many a server that sends several for each client has in flight is up to its clients.
pub(super) fn in_flight(analysis: &Analysis<'_>, peer: &str) -> Option<f64> {
    let pid = waiter(analysis).map(|times| times.pid);
    let for_peer = |row: &InFlightRow| {
        let known = row.peers.iter().find(|known| known.peer == peer);
        known.map_or(0, |known| known.waited_ns)
    };
    let rows = &analysis.trace.in_flight;
    let by_peer = largest(rows, |row| for_peer(row) as f64).filter(|row| for_peer(row) > 0);
    let row = by_peer.or_else(|| rows.iter().find(|row| Some(row.pid) == pid))?;
    let serves = analysis.descriptors.accepts(row.pid) && !analysis.descriptors.answers_at(peer);
    if serves && requests_per_client(analysis, row.pid) >= SEVERAL_PER_CLIENT {
        return Some(0.0);
    }
    // Processes that ask the same peer side by side have requests in flight together.
    let life = |row: &InFlightRow| {
        let process = analysis.process(row.pid);
        process.map_or((0, 0), |process| {
            let end = process.ended_ns.unwrap_or(analysis.trace.duration_ns);
            (process.started_ns, end)
        })
    };
    let (from, to) = life(row);
    let at_once = |other: &InFlightRow| {
        let (begun, ended) = life(other);
        let both = ended.min(to).saturating_sub(begun.max(from));
        let asks = other.pid == row.pid || 2 * for_peer(other) >= for_peer(row);
        let part = both as f64 / to.saturating_sub(from).max(1) as f64;
        let requests = other.requests_ns as f64 / other.waited_ns.max(1) as f64;
        if asks { requests * part } else { 0.0 }
    };
    Some(rows.iter().map(at_once).sum())
}

/// Returns whether so many requests were in flight at once that a wait was for many answers. Nothing more could
/// be requested at a time. It is used where the number in flight isn't known.
pub(super) fn asked_together(analysis: &Analysis<'_>, waits: u64, awaited: Awaited<'_>) -> bool {
    let to_peer = |row: &SyscallRow| {
        let fd = row.fd.and_then(|fd| analysis.descriptors.peer(row.pid, fd));
        calls::is_write(&row.name) && fd == Some(awaited.peer)
    };
    let sent = analysis.traced_calls(to_peer);
    !awaited.others
        && sent >= TOGETHER * waits
        && connections(analysis, awaited.peer) as u64 >= TOGETHER
}

/// Returns the number of connections that were made to this peer.
pub(super) fn made(analysis: &Analysis<'_>, peer: &str) -> u64 {
    let to_peer = |row: &SyscallRow| {
        let fd = row.fd.and_then(|fd| analysis.descriptors.peer(row.pid, fd));
        row.name == "connect" && fd == Some(peer)
    };
    analysis.traced_calls(to_peer)
}

/// Returns `: 6,002 requests one after another, 0.12 ms each` if enough requests were sent one at a time,
/// each answered before the next. If they went through several connections, it isn't known whether some of
/// them were sent before others were answered.
pub(super) fn in_turn(
    analysis: &Analysis<'_>,
    awaited: Awaited<'_>,
    wait_ns: f64,
) -> Option<String> {
    let Awaited { peer, part, .. } = awaited;
    let to_peer = |row: &SyscallRow| {
        let fd = row.fd.and_then(|fd| analysis.descriptors.peer(row.pid, fd));
        fd == Some(peer) && row.bytes > 0
    };
    let sent = analysis.traced_calls(|row| calls::is_write(&row.name) && to_peer(row));
    let read = analysis.traced_calls(|row| calls::is_read(&row.name) && to_peer(row));
    // A request may be sent, and an answer read, in a few pieces.
    let requests = sent.min(read);
    let each = wait_ns * part.unwrap_or(1.0) / requests.max(1) as f64;
    (requests >= FEWEST_REQUESTS && sent.max(read) <= PIECES * requests).then(|| {
        let (requests, each) = (count(requests), time(each));
        match connections(analysis, peer) {
            several @ 2.. => format!(": {requests} requests through {several} connections"),
            _ => format!(": {requests} requests one after another, {each} each"),
        }
    })
}
