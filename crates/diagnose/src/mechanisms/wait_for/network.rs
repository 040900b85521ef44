//! Detects that the command waits for replies from a socket.

use super::requests::{
    Awaited, FEWEST_REQUESTS, asked_together, awaited, in_flight, in_turn, made, waiter,
};
use crate::mechanisms::prelude::*;

/// The minimum number of requests in flight, on average, from which no more of them at a time are advised.
/// Eight threads that send the requests of a list have 6 to 8, four have less than 4.
const SEVERAL: f64 = 4.0;
/// The time, in ns, from which a `connect` was delayed because the kernel had to repeat its request. It does that
/// after one second.
const CONNECT_REPEATED_NS: f64 = 0.9e9;

/// Returns whether the peer is a name server, by the port of DNS.
fn is_name_server(peer: &str) -> bool {
    peer.ends_with(":53")
}

fn in_words(peer: &str) -> String {
    match is_name_server(peer) {
        true => format!("the name server {peer}"),
        false => peer.to_owned(),
    }
}

/// Returns the waits in `connect`, scaled to an untraced run, in ns: those of all threads together, and the longest.
fn connecting_ns(analysis: &Analysis<'_>) -> (f64, f64) {
    let rows = analysis.asleep_in(|call| call == "connect");
    let (mut all, mut longest) = (0, 0);
    for row in rows {
        all += row.total_ns;
        longest = longest.max(row.longest_ns.unwrap_or(0));
    }
    (
        analysis.untraced(all as f64),
        analysis.untraced(longest as f64),
    )
}

/// Returns whether the answers may come from the command itself. Samples don't show which thread ended a
/// wait, so another thread of the command may have sent the answer if it computes for as long as the wait and
/// hardly waits for the network itself.
fn may_be_own(analysis: &Analysis<'_>, wait: f64) -> bool {
    let waiter = waiter(analysis).map(|times| times.tid);
    let answers = |times: &ThreadTimes| {
        let (computed, waited) = (times.on_cpu_ns, times.sums.get(TimeCategory::Network));
        let is_other = Some(times.tid) != waiter;
        is_other && waited < computed && analysis.untraced(computed) >= t::BUSY_THREAD * wait
    };
    analysis.only_samples() && analysis.threads.iter().any(answers)
}

pub(crate) fn network(analysis: &Analysis<'_>) -> Option<Claim> {
    let wait = analysis.spent_ns(TimeCategory::Network);
    // This includes polls, for which the socket is unknown.
    let waits = analysis.waits_for(TimeCategory::Network);
    let mut least = Least::OF_WAITING;
    // Waking a peer on the same machine and being woken by it takes 50 to 200 µs, so a few such waits don't
    // mean that answers are slow.
    if waits.is_some_and(|count| wait < count as f64 * t::WAKING_A_PEER_NS) {
        least.ns = t::LEAST_OF_SHORT_REPLIES_NS;
    }
    let awaited = awaited(analysis);
    let peer = awaited.map(|awaited| awaited.peer);
    if peer.is_some_and(|peer| analysis.descriptors.answers_at(peer)) {
        least.share = t::SHARE_OF_OWN_REPLIES;
    }
    let at_once = peer.and_then(|peer| in_flight(analysis, peer));
    let together = match (at_once, waits.zip(awaited)) {
        (Some(at_once), _) => at_once >= SEVERAL,
        (None, known) => known.is_some_and(|(waits, peer)| asked_together(analysis, waits, peer)),
    };
    if together || may_be_own(analysis, wait) {
        return None;
    }
    let whom = match awaited {
        Some(Awaited { peer, others, .. }) => {
            let mostly = if others { "mostly " } else { "" };
            format!(", {mostly}for {}", in_words(peer))
        }
        None => String::new(),
    };
    let (in_vain, in_vain_ns) = analysis.unanswered;
    let in_vain =
        (analysis.untraced(in_vain_ns as f64) >= t::PART_BY_LIMIT * wait).then_some(in_vain);
    let unanswered = match in_vain {
        Some(1) => "; one of the waits timed out without an answer".to_owned(),
        Some(n) => format!("; {} of the waits timed out without an answer", count(n)),
        None => String::new(),
    };
    let (connecting_ns, longest) = connecting_ns(analysis);
    let late = longest >= CONNECT_REPEATED_NS && connecting_ns >= t::PART_BY_LIMIT * wait;
    let in_turn = match late {
        true => Some("; a `connect` waited for a second or more".to_owned()),
        false => awaited.and_then(|awaited| in_turn(analysis, awaited, wait)),
    };
    let in_turn = in_turn.filter(|_| in_vain.is_none()).unwrap_or_default();
    let made = peer.map_or(0, |peer| made(analysis, peer));
    let connects = made >= FEWEST_REQUESTS && in_vain.is_none();
    let connecting = if_so(connects, || {
        format!(" It made {} connections there.", count(made))
    });
    // Samples don't show what the server did before it answered.
    let of_own_server =
        analysis.only_samples() && peer.is_some_and(|peer| analysis.descriptors.answers_at(peer));
    let own = if_so(of_own_server, || {
        ", a server of the command itself".to_owned()
    });
    let statement = format!(
        "The command waited for the network for {}{whom}{own}{in_turn}{unanswered}.{connecting}",
        analysis.time_and_share(wait),
    );
    let of_names = peer.is_some_and(is_name_server);
    let advice = match in_vain {
        Some(_) if of_names => {
            "Find out why the name server doesn't answer (`/etc/resolv.conf`). Omit the lookup if the address is \
             enough, look up once and keep the answer, or shorten the timeout (`options timeout:1 attempts:1`)."
        }
        None if of_names => {
            "Look up each name once and keep the answer, omit the lookup if the address is enough, or run a caching \
             name server on this machine."
        }
        Some(_) => {
            "Find out why there is no answer. Put a server that does answer first, or try several at once, and \
             shorten the timeout."
        }
        None if late => {
            "Let the server accept sooner, or with a longer queue (the backlog of `listen`): the kernel repeats a \
             request for a connection that got no answer after one second, then after two."
        }
        None if of_own_server => {
            "Find out what the server does before it answers. As root, Fathom attributes these waits to the server's \
             own work and waits."
        }
        None if connects => {
            "Keep connections and use each for many requests (a session, a pool); then request more at a time, or \
             keep the answers."
        }
        None => {
            "Request more at a time, keep several requests in flight, reuse connections, or keep the answers."
        }
    };
    Some(
        Claim::new(FindingId::WaitingForNetwork, analysis, wait, statement)
            .evidence("time asleep", wait, "ns")
            .evidence_if("waits", waits, "calls")
            .evidence_if("waits that timed out", in_vain, "calls")
            .evidence_if("connections made", connects.then_some(made), "connections")
            .advice(advice)
            .observed()
            .of_waits(analysis, |_, spent| spent == TimeCategory::Network)
            .least(least),
    )
}

#[cfg(test)]
mod tests {
    use fathom_trace::{Cause, Tier};

    use crate::fake::{Fake, ROOT};

    #[test]
    fn replies_that_take_long_are_found() {
        let mut fake = Fake::new(1000);
        fake.waits(Some("recvfrom"), Some(3), Cause::Asleep, 100, 6_000);
        assert_eq!(fake.ids(), ["waiting-for-network"]);
    }

    #[test]
    fn requests_that_nobody_answers_are_named_as_that() {
        let reported = |connected: bool| {
            let mut fake = Fake::new(1000);
            fake.descriptor(5, "inet socket");
            fake.waits(Some("poll"), Some(5), Cause::Asleep, 8, 100_000);
            let polls = fake.calls("poll", Some(5), 16, 0, 50_000_000);
            polls.polls = Some(fathom_trace::PollEnds {
                by_limit: 8,
                by_limit_ns: 799_000_000,
                total_ns: 800_000_000,
            });
            fake.calls("recvfrom", Some(5), 8, 9, 1_000);
            if connected {
                fake.calls("sendto", Some(5), 16, 12, 1_000);
            }
            let found = fake.findings();
            (found[0].id.as_str(), found[0].statement.clone())
        };
        let (id, statement) = reported(true);
        assert_eq!(id, "waiting-for-network");
        let end = "; 8 of the waits timed out without an answer.";
        assert!(statement.ends_with(end), "{statement}");
        assert_eq!(reported(false).0, "sleeping");
    }

    #[test]
    fn one_connect_that_takes_most_of_the_time_is_not_the_mean_of_all_requests() {
        let reported = |longest_us: u64| {
            let mut fake = Fake::new(2000);
            fake.descriptor(3, "socket to 127.0.0.1:80");
            fake.calls("sendto", Some(3), 20, 100, 1_000);
            fake.calls("recvfrom", Some(3), 20, 100, 1_000);
            fake.waits(Some("recvfrom"), Some(3), Cause::Asleep, 20, 40_000);
            fake.waits(Some("connect"), Some(3), Cause::Asleep, 1, longest_us);
            fake.findings().swap_remove(0)
        };
        let (mean, late) = (reported(10_000), reported(1_050_000));
        let (requests, connect) = (
            "20 requests one after another",
            "; a `connect` waited for a second or more",
        );
        assert!(mean.statement.contains(requests), "{}", mean.statement);
        assert!(late.statement.contains(connect), "{}", late.statement);
        assert!(!late.statement.contains(requests), "{}", late.statement);
        assert!(late.advice.contains("backlog"), "{}", late.advice);
    }

    #[test]
    fn a_number_that_was_many_files_waits_for_the_name_server_that_it_was_then() {
        let mut fake = Fake::new(5000);
        for name in ["/etc/hosts", "/etc/resolv.conf", "socket to 192.0.2.1:53"] {
            fake.descriptor(3, name);
        }
        fake.calls("read", Some(3), 90, 700, 2_000);
        fake.file("/etc/hosts", 40, 80, 0, 0);
        fake.calls("connect", Some(3), 4, 0, 2_000);
        let polls = fake.calls("poll", Some(3), 5, 0, 800_000_000);
        polls.polls = Some(fathom_trace::PollEnds {
            by_limit: 5,
            by_limit_ns: 4_500_000_000,
            total_ns: 4_500_000_000,
        });
        fake.waits(Some("poll"), Some(3), Cause::Asleep, 4, 1_000_000);
        fake.waits(Some("poll"), Some(3), Cause::Asleep, 1, 500_000);
        fake.trace.objects = vec![
            "socket at 127.0.0.1:80".into(),
            "socket to 192.0.2.1:53".into(),
        ];
        let rows = fake.trace.off_cpu.iter_mut().rev().take(2);
        for (row, object) in rows.zip([0, 1]) {
            row.object = Some(object);
            row.limited = fathom_trace::Limited {
                calls: row.count,
                ns: row.total_ns,
            };
        }
        let found = fake.findings();
        assert_eq!(found[0].id.as_str(), "waiting-for-network");
        let words = ", for the name server 192.0.2.1:53; 4 of the waits timed out";
        assert!(found[0].statement.contains(words), "{}", found[0].statement);
        assert!(found[0].advice.contains("resolv.conf"));
    }

    #[test]
    fn a_sockets_own_time_limit_is_one_too() {
        let mut fake = Fake::new(1000);
        fake.descriptor(3, "socket to 192.0.2.1:7");
        fake.waits(Some("recvfrom"), Some(3), Cause::Asleep, 3, 300_000);
        let row = fake.trace.off_cpu.last_mut().expect("the waits");
        row.limited = fathom_trace::Limited {
            calls: 3,
            ns: 900_000_000,
        };
        let statement = &fake.findings()[0].statement;
        let words = "3 of the waits timed out without an answer";
        assert!(statement.contains(words), "{statement}");
    }

    #[test]
    fn what_another_thread_computes_meanwhile_may_be_the_reply() {
        let reported = |tier| {
            let mut fake = Fake::new(1000);
            fake.trace.tier = Some(tier);
            fake.waits(Some("recvfrom"), Some(3), Cause::Asleep, 3, 300_000);
            fake.thread(ROOT, ROOT + 1, 0, 1000, 950);
            fake.ids()
        };
        assert!(reported(Tier::Perf).is_empty());
        assert_eq!(reported(Tier::Kernel), ["waiting-for-network"]);
    }

    #[test]
    fn what_is_left_beside_answers_of_its_own_is_waking_each_other() {
        let reported = |peer: &str, wait_us| {
            let mut fake = Fake::new(1000);
            fake.descriptor(3, &format!("socket to {peer}"));
            fake.descriptor(4, "accepted socket from socket at 127.0.0.1:8080");
            fake.waits(Some("recvfrom"), Some(3), Cause::Asleep, 100, wait_us);
            fake.ids()
        };
        assert_eq!(reported("127.0.0.1:8080", 6_000), ["waiting-for-network"]);
        assert!(reported("127.0.0.1:8080", 2_500).is_empty());
        assert_eq!(reported("10.0.0.5:5432", 2_500), ["waiting-for-network"]);
    }

    #[test]
    fn the_answers_of_its_own_server_are_not_to_be_asked_for_together() {
        let advised = |tier| {
            let mut fake = Fake::new(1000);
            fake.trace.tier = Some(tier);
            fake.descriptor(3, "socket to 127.0.0.1:8080");
            fake.descriptor(4, "accepted socket from socket at 127.0.0.1:8080");
            fake.waits(Some("recvfrom"), Some(3), Cause::Asleep, 100, 6_000);
            let found = fake.findings().swap_remove(0);
            let own = found.statement.contains("a server of the command itself");
            assert_eq!(own, found.advice.starts_with("Find out"), "{found:?}");
            own
        };
        assert!(advised(Tier::Perf) && !advised(Tier::Kernel));
    }

    #[test]
    fn a_few_quick_replies_are_not() {
        let reported = |count| {
            let mut fake = Fake::new(40);
            fake.waits(Some("recvfrom"), Some(3), Cause::Asleep, count, 140);
            fake.ids()
        };
        assert!(reported(40).is_empty());
        assert_eq!(reported(200), ["waiting-for-network"]);
    }

    #[test]
    fn polls_are_among_the_waits_and_what_follows_a_wait_is_not() {
        let mut fake = Fake::new(1000);
        fake.descriptor(3, "socket to 10.1.2.3:80");
        fake.calls("recvfrom", Some(3), 100, 900, 2_000);
        fake.waits(Some("epoll_wait"), Some(4), Cause::Asleep, 100, 6_000);
        fake.waits(Some("epoll_wait"), Some(4), Cause::Ready, 100, 10);
        let found = fake.findings();
        let waits = found[0].evidence.iter().find(|e| e.name == "waits");
        assert_eq!(waits.map(|waits| waits.value), Some(100.0));
        assert!(!found[0].advice.contains("seen"), "{}", found[0].advice);
    }

    #[test]
    fn requests_one_after_another_are_counted() {
        let said = |sent: u64| {
            let mut fake = Fake::new(1000);
            fake.descriptor(3, "socket to 127.0.0.1:6379");
            fake.calls("sendto", Some(3), sent, 20, 1_000);
            fake.calls("recvfrom", Some(3), 3_000, 9, 1_000);
            fake.waits(Some("recvfrom"), Some(3), Cause::Asleep, 2_500, 240);
            fake.findings()[0].statement.clone()
        };
        let words = ", for 127.0.0.1:6379: 3,000 requests one after another, 200 µs each.";
        assert!(said(3_000).ends_with(words), "{}", said(3_000));
        assert!(!said(5).contains("one after another"));
    }

    #[test]
    fn requests_through_connections_side_by_side_are_not_called_one_after_another() {
        let said = |second_from_ms: u64| {
            let mut fake = Fake::new(1000);
            for (fd, from_ms) in [(3, 0), (4, second_from_ms)] {
                fake.descriptor(fd, "socket to 10.0.0.5:3001");
                for name in ["write", "read"] {
                    let row = fake.calls(name, Some(fd), 100, 20, 1_000);
                    row.first_moved_ns = Some(from_ms * 1_000_000);
                    row.last_moved_ns = Some((from_ms + 400) * 1_000_000);
                }
            }
            fake.waits(Some("epoll_wait"), Some(9), Cause::Asleep, 200, 4_000);
            fake.findings()[0].statement.clone()
        };
        let words = ", for 10.0.0.5:3001: 200 requests through 2 connections.";
        assert!(said(10).ends_with(words), "{}", said(10));
        let words = "200 requests one after another, 4.00 ms each.";
        assert!(said(500).ends_with(words), "{}", said(500));
    }

    #[test]
    fn several_requests_in_flight_are_not_to_be_more_unless_four_of_them_are_too_few() {
        let reported = |requests: u64, clients: Option<u64>| {
            let mut fake = Fake::new(1000);
            fake.descriptor(3, "socket to 10.0.0.5:3001");
            if let Some(clients) = clients {
                fake.descriptor(4, "accepted socket from socket at 10.0.0.4:80");
                fake.calls("read", Some(4), clients, 20, 1_000);
            }
            fake.calls("write", Some(3), 100, 20, 1_000);
            fake.calls("read", Some(3), 100, 20, 1_000);
            fake.waits(Some("epoll_wait"), Some(9), Cause::Asleep, 100, 8_000);
            fake.trace.in_flight = vec![fathom_trace::InFlightRow {
                pid: ROOT,
                waited_ns: 800,
                requests_ns: 800 * requests,
                peers: Vec::new(),
            }];
            fake.ids().contains(&"waiting-for-network")
        };
        assert!(reported(3, None) && reported(8, Some(10)));
        assert!(!reported(8, None) && !reported(8, Some(90)));
    }

    #[test]
    fn a_wait_for_requests_that_are_all_in_flight_is_not_one_for_a_single_request() {
        let reported = |waits| {
            let mut fake = Fake::new(1000);
            for fd in 10..50 {
                fake.descriptor(fd, "socket to 10.0.0.5:3001");
                for (name, at_ms) in [("sendto", 10), ("recvfrom", 900)] {
                    let row = fake.calls(name, Some(fd), 1, 20, 1_000);
                    row.first_moved_ns = Some(at_ms * 1_000_000);
                    row.last_moved_ns = row.first_moved_ns;
                }
            }
            let each_us = 800_000 / waits;
            fake.waits(Some("epoll_wait"), Some(9), Cause::Asleep, waits, each_us);
            fake.ids().contains(&"waiting-for-network")
        };
        assert!(reported(40));
        assert!(!reported(2));
    }

    /// Returns a client of one server that polls 90 times, 80 of them until the time limit.
    fn polled_in_slices() -> Fake {
        let mut fake = Fake::new(1000);
        fake.descriptor(3, "socket to 10.0.0.5:5432");
        fake.waits(Some("poll"), Some(3), Cause::Asleep, 90, 10_000);
        let polls = fake.calls("poll", Some(3), 90, 0, 10_000_000);
        polls.polls = Some(fathom_trace::PollEnds {
            by_limit: 80,
            by_limit_ns: 820_000_000,
            total_ns: 900_000_000,
        });
        fake
    }

    /// Returns the finding about a client that made this many connections for 60 requests, polled in slices,
    /// and took its leave from each.
    fn through_new(connections: u64) -> fathom_model::Finding {
        let mut fake = polled_in_slices();
        fake.calls("connect", Some(3), connections, 0, 1_000);
        fake.calls("sendto", Some(3), 60 + connections, 20, 1_000);
        fake.calls("recvfrom", Some(3), 60, 20, 1_000);
        fake.findings().remove(0)
    }

    #[test]
    fn connections_that_could_be_kept_are_counted() {
        let (many, one) = (through_new(30), through_new(1));
        let words = "each. It made 30 connections there.";
        assert!(many.statement.ends_with(words), "{}", many.statement);
        assert!(many.advice.starts_with("Keep connections"));
        assert!(!one.statement.contains("It made"), "{}", one.statement);
        assert!(one.statement.contains("60 requests"), "{}", one.statement);
    }

    #[test]
    fn an_answer_that_is_awaited_in_slices_does_arrive() {
        let mut fake = polled_in_slices();
        fake.calls("sendto", Some(3), 10, 20, 1_000);
        fake.calls("recvfrom", Some(3), 10, 20, 1_000);
        let found = fake.findings();
        assert_eq!(found[0].id.as_str(), "waiting-for-network");
        let statement = &found[0].statement;
        assert!(!statement.contains("timed out"), "{statement}");
    }

    #[test]
    fn whoever_is_waited_for_is_named() {
        let mut fake = Fake::new(1000);
        fake.descriptor(3, "socket to 10.1.2.3:80");
        fake.calls("recvfrom", Some(3), 100, 900, 2_000);
        fake.waits(Some("recvfrom"), Some(3), Cause::Asleep, 100, 6_000);
        let reported = |fake: &mut Fake| fake.findings()[0].statement.clone();
        assert!(reported(&mut fake).ends_with(", for 10.1.2.3:80."));
        fake.descriptor(4, "socket to 10.1.2.4:80");
        fake.waits(Some("recvfrom"), Some(4), Cause::Asleep, 10, 1_000);
        assert!(reported(&mut fake).ends_with(", mostly for 10.1.2.3:80."));
    }

    fn awaited(peers: &[(&str, u64)]) -> Vec<fathom_trace::InFlightRow> {
        let waited: u64 = peers.iter().map(|(_, ms)| ms * 1_000_000).sum();
        let peers = peers.iter().map(|(peer, ms)| fathom_trace::AwaitedPeer {
            peer: (*peer).to_owned(),
            waited_ns: ms * 1_000_000,
        });
        vec![fathom_trace::InFlightRow {
            pid: ROOT,
            waited_ns: waited,
            requests_ns: waited,
            peers: peers.collect(),
        }]
    }

    #[test]
    fn a_slow_peer_with_few_requests_is_named_with_its_own_mean() {
        let mut fake = Fake::new(1000);
        for (fd, peer, calls) in [(3, "10.0.0.5:80", 800), (4, "10.0.0.6:80", 40)] {
            fake.descriptor(fd, &format!("socket to {peer}"));
            fake.calls("sendto", Some(fd), calls, 20, 1_000);
            fake.calls("recvfrom", Some(fd), calls, 20, 1_000);
        }
        fake.waits(Some("epoll_wait"), Some(9), Cause::Asleep, 840, 1_000);
        fake.trace.in_flight = awaited(&[("10.0.0.5:80", 210), ("10.0.0.6:80", 630)]);
        let statement = &fake.findings()[0].statement;
        let words = ", mostly for 10.0.0.6:80: 40 requests one after another, 15.8 ms each.";
        assert!(statement.ends_with(words), "{statement}");
    }

    #[test]
    fn who_waits_for_its_own_server_waits_for_what_that_one_asks() {
        let named = |outside_ms| {
            let mut fake = Fake::new(1000);
            fake.descriptor(3, "socket to 127.0.0.9:8080");
            fake.descriptor(4, "accepted socket from socket at 127.0.0.9:8080");
            fake.waits(Some("recvfrom"), Some(3), Cause::Asleep, 3, 300_000);
            fake.trace.in_flight =
                awaited(&[("127.0.0.9:8080", 900), ("127.0.0.99:53", outside_ms)]);
            let statement = fake.findings()[0].statement.clone();
            statement.contains("the name server 127.0.0.99:53")
        };
        assert!(named(850));
        assert!(!named(20));
    }

    #[test]
    fn processes_that_ask_side_by_side_have_their_requests_in_flight_together() {
        let reported = |side_by_side: bool| {
            let mut fake = Fake::new(1000);
            fake.descriptor(3, "socket to 10.0.0.5:80");
            fake.waits(Some("recvfrom"), Some(3), Cause::Asleep, 90, 10_000);
            fake.trace.in_flight = awaited(&[("10.0.0.5:80", 900)]);
            for pid in 200..207 {
                let turn = u64::from(pid - 200) * 120 + 1;
                let (from, to) = if side_by_side {
                    (1, 999)
                } else {
                    (turn, turn + 110)
                };
                fake.child(pid, from, to, 1);
                let mut row = fake.trace.in_flight[0].clone();
                row.pid = pid;
                fake.trace.in_flight.push(row);
            }
            fake.ids().contains(&"waiting-for-network")
        };
        assert!(!reported(true) && reported(false));
    }
}
