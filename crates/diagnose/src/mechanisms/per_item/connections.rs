//! Detects connections to one address that are made anew for a few requests each.
//!
//! Setting a connection up and closing it takes calls on both sides, and a library's own work: a look-up of the
//! name, buffers, a handshake.

use fathom_trace::Activity;

use super::below::{below, way_to};
use crate::descriptors;
use crate::mechanisms::prelude::*;

/// Calls that only sockets need, by either side.
const OF_SOCKETS: [&str; 10] = [
    "socket",
    "connect",
    "accept",
    "accept4",
    "bind",
    "setsockopt",
    "getsockopt",
    "getsockname",
    "getpeername",
    "shutdown",
];
/// Calls that also sockets need.
const OF_ALL: [&str; 3] = ["close", "fcntl", "ioctl"];

/// The minimum number of connections to one address.
const MANY: u64 = 100;
/// The maximum number of calls of a request or an answer, and of requests on each connection.
const FEW: u64 = 4;

/// The connections that a process made to one address.
struct Made<'a> {
    pid: u32,
    peer: &'a str,
    connections: u64,
    requests: u64,
}

/// Returns what the process did that made most connections to one address. A descriptor's number may be that of a
/// client and of a server in turn, so the sockets are counted by what they are connected to.
fn most_made<'a>(analysis: &Analysis<'a>) -> Option<Made<'a>> {
    let mut made: BTreeMap<(u32, &str), (u64, u64, u64)> = BTreeMap::new();
    for row in &analysis.trace.files {
        if let Some(peer) = descriptors::peer_of(&row.name) {
            let (connections, reads, writes) = made.entry((row.pid, peer)).or_default();
            // A connection is another object once it has an option.
            *connections = row.opens.max(*connections);
            *reads += row.reads;
            *writes += row.writes;
        }
    }
    let most = made.into_iter().max_by_key(|(_, (made, ..))| *made);
    let ((pid, peer), (connections, reads, writes)) = most?;
    Some(Made {
        pid,
        peer,
        connections,
        requests: reads.min(writes),
    })
}

/// Returns the program's function that connects most often, as the number of a frame.
fn connecter(analysis: &Analysis<'_>, pid: u32) -> Option<u32> {
    let rows = analysis.trace.stacks.iter().flat_map(|it| &it.rows);
    let connects = rows.enumerate().filter(|(_, row)| {
        let by_call = matches!(row.activity, Activity::Call | Activity::Wait);
        row.pid == pid && by_call && row.call.as_deref() == Some("connect")
    });
    let routes = analysis.routes();
    most(connects.filter_map(|(at, row)| Some((routes.own_caller(at)?, row.samples))))
}

pub(crate) fn connections(analysis: &Analysis<'_>) -> Option<Claim> {
    let made = most_made(analysis)?;
    let is_few = (made.connections..=FEW * made.connections).contains(&made.requests);
    if made.connections < MANY || !is_few {
        return None;
    }
    // The other side, if it is in the tree.
    let answers = analysis.descriptors.answers_at(made.peer);
    let pids = analysis.trace.processes.iter().map(|process| process.pid);
    let ends = pids.filter(|pid| *pid == made.pid || answers && analysis.descriptors.accepts(*pid));
    let ends: BTreeSet<u32> = ends.collect();
    let calls = CallCost::of(analysis, |row| {
        let on_socket = |fd| analysis.descriptors.mostly(row.pid, fd) == WaitKind::Socket;
        let name = row.name.as_str();
        let sets_up =
            OF_SOCKETS.contains(&name) || OF_ALL.contains(&name) && row.fd.is_some_and(on_socket);
        sets_up && ends.contains(&row.pid)
    });
    let connects = analysis.frames_for(Use::Connects);
    let stacks = analysis.trace.stacks.as_ref();
    let own = below(analysis, |at| {
        let stacks = stacks?;
        let row = stacks.rows.get(at).filter(|row| ends.contains(&row.pid))?;
        let mut frames = row
            .node
            .into_iter()
            .flat_map(|node| stacks.tree.frame_numbers_of(node));
        let is_connecting = frames.any(|number| connects[number as usize]);
        is_connecting.then(|| ((), way_to(analysis, at)))
    });
    let own = own.into_values().next().unwrap_or_default();
    // What the samples show isn't modelled as well.
    let calls = match own.samples >= t::LEAST_SAMPLES {
        true => calls.without_library(),
        false => calls,
    };
    let part = 1.0 - 1.0 / made.connections as f64;
    let cost = calls
        .plus(CallCost::of_part(TimeCategory::UserCode, own.ns))
        .part(part);
    let code = connecter(analysis, made.pid).or_else(|| own.main_caller());
    let code = code.and_then(|frame| analysis.place_of_frame(frame));
    let ns = cost.ns(analysis);
    let mut pieces = cost.calls;
    pieces.push(Piece::of(TimeCategory::UserCode, cost.library_ns));
    let statement = format!(
        "The command made {} connections to {} for {} requests; making and closing them took {}.",
        count(made.connections),
        made.peer,
        count(made.requests),
        analysis.time_and_share(ns),
    );
    let mut claim = Claim::new(FindingId::WaitingForNetwork, analysis, ns, statement);
    claim.code = code.unwrap_or_default();
    Some(
        claim
            .pieces(pieces)
            .evidence("connections made", made.connections, "connections")
            .evidence("requests", made.requests, "requests")
            .evidence("own code to connect", own.ns, "ns")
            .advice(
                analysis
                    .runtime(Some(made.pid))
                    .advice(&[Topic::Connections]),
            )
            .pid(made.pid)
            .on(None, Some(made.peer.to_owned()))
            .likely(),
    )
}

#[cfg(test)]
mod tests {
    use crate::fake::{Fake, hold_words};

    /// Returns a client that makes this many connections for 2,000 requests.
    fn client(connections: u64) -> Fake {
        let mut fake = Fake::new(1000);
        fake.descriptor(3, "socket to 10.0.0.5:80");
        for name in ["socket", "connect", "close"] {
            let fd = (name != "socket").then_some(3);
            fake.calls(name, fd, connections, 0, 100_000);
        }
        fake.calls("sendto", Some(3), 2_000, 90, 20_000);
        fake.calls("recvfrom", Some(3), 2_000, 900, 20_000);
        fake.file("socket to 10.0.0.5:80", connections, 2_000, 0, 0);
        let socket = fake.trace.files.last_mut().expect("just made");
        (socket.writes, socket.fd) = (2_000, Some(3));
        fake
    }

    #[test]
    fn connections_for_single_requests_are_named_with_their_cost() {
        let found = client(2_000).findings();
        hold_words("connections", &found[0]);
        let words = "2,000 connections to 10.0.0.5:80 for 2,000 requests";
        assert!(found[0].statement.contains(words), "{found:?}");
        assert!(found[0].could_win_ns > 550_000_000, "{found:?}");
    }

    #[test]
    fn connections_that_serve_many_requests_are_not() {
        assert!(!client(400).ids().contains(&"waiting-for-network"));
    }
}
