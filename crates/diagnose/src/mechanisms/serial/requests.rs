//! Detects a server in which one thread handles the requests of several clients one after another: an event
//! loop that its own handlers block, or a loop that accepts a connection, serves it and accepts the next one.

use fathom_model::CodePlace;
use fathom_trace::{Activity, StackRow};

use crate::descriptors;
use crate::intervals::most_at_once;
use crate::mechanisms::per_item::below::own_caller;
use crate::mechanisms::prelude::*;

/// The minimum number of requests, or of connections of a server that reads one connection at a time, that shows
/// a pattern.
const FEWEST: u64 = 5;
/// The minimum time of a request, in ns, that is long for others to wait. A loop that handles more than 500
/// requests a second is busy, but each of them only waits for a short time.
const LONG_NS: f64 = 2e6;
/// The maximum part of the time for which the thread had nothing to do. Clients of a server that is idle for longer
/// hardly wait for each other.
const MOST_IDLE: f64 = 0.3;
/// The maximum number of times that the thread waited for something to do, for each request. A single client that
/// sends its next request after each answer lets the thread wait once for each.
const MOST_WAITS: f64 = 0.5;
/// The minimum number of connections in use at once, if the thread is its own client: requests that it sends one
/// after another never let it wait. A connection that is closed may overlap with the next one.
const SEVERAL: usize = 3;

/// How a thread serves.
struct Service {
    pid: u32,
    tid: u32,
    requests: u64,
    /// Whether its polls are for several connections, in an event loop.
    is_loop: bool,
    /// The time between its waits for something to do: on a CPU, and asleep in calls.
    on_cpu_ns: f64,
    blocked_ns: f64,
    /// The number of connections that were in use at once, at least 2.
    at_once: usize,
}

/// Returns the address at which one of a descriptor's connections was accepted.
fn door<'a>(analysis: &Analysis<'a>, pid: u32, fd: Option<i32>) -> Option<&'a str> {
    let mut names = analysis.descriptors.names(pid, fd?).iter();
    names.find_map(descriptors::door_of)
}

/// Returns whether a thread connected to a server. A call that doesn't wait for the connection returns an error.
fn connects(analysis: &Analysis<'_>, tid: u32) -> bool {
    analysis.rows_of(tid).any(|row| row.name == "connect")
}

/// Returns the threads that read from accepted connections, if each is alone at its door. In a process that has
/// its clients in other threads, descriptors have the same numbers one after another; threads that only connect are
/// clients.
fn alone_at_doors(analysis: &Analysis<'_>) -> BTreeSet<(u32, u32)> {
    let is_client = |tid: u32| {
        connects(analysis, tid) && !analysis.rows_of(tid).any(|row| calls::is_accept(&row.name))
    };
    // Before the first connection, the same numbers are those of files that a program reads when it starts.
    let accepts = analysis.calls(|row| calls::is_accept(&row.name) && row.calls > row.errors);
    let mut first_accept: BTreeMap<u32, u64> = BTreeMap::new();
    for row in accepts {
        let first = first_accept.entry(row.pid).or_insert(row.first_ns);
        *first = row.first_ns.min(*first);
    }
    let serves = |row: &SyscallRow| {
        let accepted = first_accept.get(&row.pid).copied().unwrap_or(0);
        row.last_moved_ns.is_none_or(|last| last >= accepted)
    };
    let reads = analysis.calls(|row| calls::is_read(&row.name) && row.bytes > 0 && serves(row));
    let servers = reads.filter_map(|row| {
        let door = door(analysis, row.pid, row.fd)?;
        Some((door, (row.pid, row.tid)))
    });
    let by_door = grouped(servers.filter(|(_, (_, tid))| !is_client(*tid)));
    let alone = by_door.into_values().filter(|threads| {
        let first = threads.first();
        threads.iter().all(|thread| Some(thread) == first)
    });
    alone
        .filter_map(|threads| threads.first().copied())
        .collect()
}

/// Returns how many reads and how many writes moved data through accepted connections of a process.
fn moved(analysis: &Analysis<'_>, pid: u32) -> (u64, u64) {
    let uses = analysis.trace.uses.iter();
    let of_clients = uses.filter(|row| row.pid == pid && descriptors::is_accepted(&row.name));
    of_clients.fold((0, 0), |(reads, writes), row| {
        (
            reads + row.moved.read.calls - row.moved.read.errors,
            writes + row.moved.written.calls - row.moved.written.errors,
        )
    })
}

/// Returns whether a wait of a thread in this call is below a function that its event loop called.
fn is_in_handler(analysis: &Analysis<'_>, loops: &[bool], at: usize, row: &StackRow) -> bool {
    let Some(stacks) = &analysis.trace.stacks else {
        return false;
    };
    let frames = row.node.into_iter();
    let outermost_last: Vec<u32> = frames
        .flat_map(|node| stacks.tree.frame_numbers_of(node))
        .collect();
    let mut of_loops = outermost_last.iter().enumerate();
    let Some((in_loop, _)) = of_loops.rfind(|(_, frame)| loops[**frame as usize]) else {
        return false;
    };
    let inner = &outermost_last[..in_loop];
    let own = own_caller(analysis, at);
    let binary = |frame: u32| &stacks.tree.frames[frame as usize].binary;
    let of_loop = binary(outermost_last[in_loop]);
    inner.iter().any(|frame| {
        // A loop within a loop waits for what the handler began. What a loop calls in its own library is not a handler.
        match binary(*frame) == of_loop {
            true => loops[*frame as usize],
            false => Some(*frame) == own,
        }
    })
}

/// Returns the part of each of a thread's polls, by call and descriptor, that handlers make, 0 to 1.
fn polls_in_handlers<'a>(
    analysis: &'a Analysis<'_>,
    tid: u32,
) -> BTreeMap<(&'a str, Option<i32>), f64> {
    let loops = analysis.frames_for(Use::RunsLoop);
    let mut parts: BTreeMap<(&str, Option<i32>), (u64, u64)> = BTreeMap::new();
    let rows = analysis.trace.stacks.iter().flat_map(|it| &it.rows);
    for (at, row) in rows.enumerate().filter(|(_, row)| row.tid == tid) {
        let Some(call) = row.call.as_deref().filter(|call| calls::is_poll(call)) else {
            continue;
        };
        if row.activity == Activity::Wait {
            let (inside, all) = parts.entry((call, row.fd)).or_default();
            *all += row.ns;
            *inside += if is_in_handler(analysis, &loops, at, row) {
                row.ns
            } else {
                0
            };
        }
    }
    let part = |(inside, all): (u64, u64)| inside as f64 / all.max(1) as f64;
    parts.into_iter().map(|(key, ns)| (key, part(ns))).collect()
}

/// Returns how a thread serves its clients, if these wait for each other.
fn service(analysis: &Analysis<'_>, (pid, tid): (u32, u32)) -> Option<Service> {
    let (reads, writes) = moved(analysis, pid);
    let mut accepts = 0;
    let mut spans: BTreeMap<i32, (u64, u64)> = BTreeMap::new();
    let (mut from, mut to) = (u64::MAX, 0);
    for row in analysis.rows_of(tid) {
        let accepted = calls::is_accept(&row.name);
        if accepted {
            accepts += row.calls.saturating_sub(row.errors.max(row.would_block));
        } else if row.bytes == 0 || door(analysis, pid, row.fd).is_none() {
            continue;
        }
        from = from.min(row.first_ns);
        if let (Some(fd), Some(first), Some(last)) = (row.fd, row.first_moved_ns, row.last_moved_ns)
        {
            let span = spans.entry(fd).or_insert((first, last));
            *span = (span.0.min(first), span.1.max(last));
            to = to.max(last);
        }
    }
    let in_handlers = polls_in_handlers(analysis, tid);
    let (mut idle_ns, mut idle) = (0.0, 0.0);
    let (mut blocked_ns, mut ready_ns, mut reads_waited) = (0.0, 0.0, 0);
    for wait in analysis.trace.timeline.as_ref()? {
        if wait.tid != tid || wait.from_ns < from || wait.from_ns > to {
            continue;
        }
        let woken = wait.woken_ns.unwrap_or(wait.from_ns).min(wait.to_ns);
        let ns = woken.saturating_sub(wait.from_ns) as f64;
        ready_ns += wait.to_ns.saturating_sub(woken) as f64;
        let call = wait.call.as_deref().unwrap_or_default();
        // A number may refer to a client's connection and later to another server's.
        let object = wait
            .object
            .and_then(|at| analysis.trace.objects.get(at as usize));
        let object = object.or_else(|| analysis.descriptors.waited_for_name(pid, wait.fd?));
        // An event loop that is its own client, or asks others, waits for them as for its clients.
        let asks_peer = !call.starts_with("epoll_")
            && object.is_some_and(|name| descriptors::peer_of(name).is_some());
        let of_client = object.is_some_and(descriptors::is_accepted);
        let in_handler = match calls::is_poll(call) || calls::is_accept(call) {
            true if asks_peer => 1.0,
            true => in_handlers.get(&(call, wait.fd)).copied().unwrap_or(0.0),
            false => 1.0,
        };
        reads_waited += u64::from(calls::is_read(call) && of_client);
        if wait.cause == Cause::Asleep {
            idle += 1.0 - in_handler;
        }
        idle_ns += ns * (1.0 - in_handler);
        blocked_ns += ns * in_handler;
    }
    // A thread that waits in reads serves a connection until its client closes it.
    let one_at_a_time = reads_waited * 10 > reads;
    let requests = match one_at_a_time {
        true => accepts,
        false => accepts.max(u64::min(reads, writes)),
    };
    let window = to.saturating_sub(from) as f64;
    let at_once = most_at_once(spans.into_values().collect());
    let own_client = connects(analysis, tid);
    // Who waits for one connection after another needs no set of descriptors.
    let has_epoll = analysis
        .rows_of(tid)
        .any(|row| row.name.starts_with("epoll_"));
    let on_cpu_ns = (window - idle_ns - blocked_ns - ready_ns).max(0.0);
    let waits_for_others = requests >= FEWEST
        && idle <= MOST_WAITS * requests as f64
        && idle_ns <= MOST_IDLE * (window - ready_ns)
        && on_cpu_ns + blocked_ns >= LONG_NS * requests as f64
        && (!own_client || at_once >= SEVERAL);
    waits_for_others.then_some(Service {
        pid,
        tid,
        requests,
        is_loop: !one_at_a_time && has_epoll,
        on_cpu_ns,
        blocked_ns,
        at_once: at_once.max(2),
    })
}

/// Returns the place in the program where the thread spends most of its time between its waits for something to
/// do, in calls or not.
fn place(analysis: &Analysis<'_>, service: &Service) -> Option<CodePlace> {
    let loops = analysis.frames_for(Use::RunsLoop);
    let rows = analysis.trace.stacks.iter().flat_map(|it| &it.rows);
    let of_thread = rows.enumerate().filter(|(at, row)| {
        let call = row.call.as_deref().unwrap_or_default();
        let polls = calls::is_poll(call) || calls::is_accept(call);
        row.tid == service.tid && (!polls || is_in_handler(analysis, &loops, *at, row))
    });
    let own = of_thread.filter_map(|(at, row)| Some((own_caller(analysis, at)?, row.ns)));
    analysis.place_of_frame(most(own)?)
}

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let found = alone_at_doors(analysis).into_iter();
    let found = found.filter_map(|thread| service(analysis, thread));
    let service = largest(found, |service| service.on_cpu_ns + service.blocked_ns)?;
    let saved = |of: usize| 1.0 - 1.0 / of.max(1) as f64;
    // What is computed can be divided among the CPUs that nobody uses; what waits needs none.
    let cpus = analysis.observation.cpus;
    let room = analysis.wall_ns - analysis.cpu_ns / cpus.max(1) as f64;
    let computing = analysis.untraced(service.on_cpu_ns * saved(cpus.min(service.at_once)));
    let waiting = analysis.untraced(service.blocked_ns * saved(service.at_once));
    let saving = computing.min(room.max(0.0)) + waiting;
    let busy_ns = service.on_cpu_ns + service.blocked_ns;
    let each = busy_ns / service.requests as f64;
    let place = place(analysis, &service);
    let mostly = match service.blocked_ns > service.on_cpu_ns {
        true => "waiting",
        false => "computing",
    };
    let function = place.as_ref().and_then(|place| place.function.as_deref());
    let function = function.map_or_else(String::new, |function| {
        format!(" in `{}`", fathom_model::without_type_arguments(function))
    });
    let (who, others) = match service.is_loop {
        true => (
            "The event loop was blocked: one thread",
            "other connections and timers",
        ),
        false => ("One thread", "other clients"),
    };
    let statement = format!(
        "{who} handled {} requests one after another, {} each, mostly {mostly}{function}, while {others} waited; side by side, \
         they would take {} less, {} of the wall time.",
        count(service.requests),
        time(each),
        time(saving),
        analysis.percent(saving),
    );
    let runtime = analysis.runtime(Some(service.pid));
    let topic = match service.is_loop {
        true => Topic::BlockedLoop,
        false => Topic::ServedInTurn,
    };
    let mut claim = Claim::new(FindingId::SerialRequests, analysis, saving, statement)
        .evidence("requests", service.requests, "requests")
        .evidence("time of a request", each, "ns")
        .evidence("time waiting in calls", service.blocked_ns, "ns")
        .advice(runtime.advice(&[topic]))
        .pid(service.pid)
        .tid(service.tid)
        .likely();
    if let Some(place) = place {
        claim.finding.code = place;
    }
    Some(claim)
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;
    use fathom_stacks::Frame;
    use fathom_trace::{Activity, Flow, Moved, UseRow};

    use crate::fake::{Fake, MS, ROOT, hold_words};

    const ACCEPTED: &str = "accepted socket from socket at 127.0.0.1:8080";

    /// Returns a server that takes 50 ms for each of 20 requests. It reads from this many connections, and waits
    /// for something to do before `waits` of the requests.
    fn serves(connections: i32, waits: u64) -> Fake {
        let mut fake = Fake::new(1000);
        fake.cpus = 4;
        fake.calls("accept4", Some(3), 20, 0, 10_000).first_ns = 0;
        fake.calls("epoll_wait", Some(9), 40, 0, 1_000);
        for fd in 4..4 + connections {
            fake.descriptor(fd, ACCEPTED);
            for call in ["read", "write"] {
                let row = fake.calls(call, Some(fd), 20 / connections as u64, 100, 10_000);
                (row.first_moved_ns, row.last_moved_ns) = (Some(MS), Some(999 * MS));
            }
            let flow = Flow {
                calls: 20 / connections as u64,
                bytes: 2_000,
                ..Flow::default()
            };
            let moved = Moved {
                read: flow,
                written: flow,
                ..Moved::default()
            };
            fake.trace.uses.push(UseRow {
                pid: ROOT,
                fd,
                name: ACCEPTED.into(),
                moved,
            });
        }
        fake.trace.timeline.get_or_insert_default();
        for request in 0..waits {
            let at = request * 50;
            fake.wait_for(ROOT, "epoll_wait", Some(9), (at, at + 1, at + 1), None);
        }
        fake
    }

    #[test]
    fn an_event_loop_that_handlers_block_is_found() {
        let found = serves(4, 2).findings();
        assert_eq!(found[0].id, FindingId::SerialRequests, "{found:?}");
        hold_words("blocked_loop", &found[0]);
    }

    #[test]
    fn a_loop_that_waits_for_each_request_of_its_client_is_not_blocked() {
        assert!(!serves(1, 20).ids().contains(&"serial-requests"));
        assert!(serves(1, 2).ids().contains(&"serial-requests"));
        // Nor one that waits for the answers of another server.
        let mut fake = serves(4, 20);
        fake.descriptor(9, "socket to 127.0.0.1:8081");
        assert!(!fake.ids().contains(&"serial-requests"));
    }

    #[test]
    fn a_loop_s_own_polls_are_no_part_of_a_handler() {
        let frame = |(function, binary): &(&str, &str)| Frame {
            function: Some((*function).to_owned()),
            binary: (*binary).to_owned(),
            ..Frame::default()
        };
        let reported = |below: &[(&str, &str)]| {
            let mut fake = serves(1, 20);
            let mut functions = vec![("uv_run", "/lib/libuv.so.1")];
            functions.extend(below);
            fake.stack(
                Activity::Wait,
                Some("epoll_wait"),
                functions.iter().map(frame),
                20,
            );
            let rows = fake.trace.stacks.iter_mut().flat_map(|it| &mut it.rows);
            rows.for_each(|row| row.fd = Some(9));
            fake.ids().contains(&"serial-requests")
        };
        assert!(!reported(&[("uv__io_poll", "/lib/libuv.so.1")]));
        let waits_for_child = [
            ("execSync", "/lib/libnode.so"),
            ("uv_run", "/lib/libuv.so.1"),
        ];
        assert!(reported(&waits_for_child));
    }

    #[test]
    fn threads_that_share_the_connections_do_not_serve_in_turn() {
        let mut fake = serves(4, 2);
        fake.thread(ROOT, 101, 0, 1000, 900);
        fake.calls_of(101, "read", Some(4), 20, 100, 10_000);
        assert!(!fake.ids().contains(&"serial-requests"));
        // A client in the same process isn't another server, although its descriptors have had the same numbers.
        fake.calls_of(101, "connect", Some(4), 20, 0, 10_000);
        assert!(fake.ids().contains(&"serial-requests"));
    }

    #[test]
    fn many_short_requests_are_not_long_to_wait_for() {
        let mut fake = serves(4, 2);
        for row in &mut fake.trace.uses {
            row.moved.read.calls *= 100;
            row.moved.written.calls *= 100;
        }
        assert!(!fake.ids().contains(&"serial-requests"));
    }
}
