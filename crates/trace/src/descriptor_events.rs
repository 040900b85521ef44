//! Changes of the descriptor table by system calls.
//!
//! Converts one call with its arguments, its result and the memory copied from it to changes of [`Names`];
//! shared by the tiers that see individual calls.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use crate::calls::{self, TOTALS, TOTALS_OF_CALL};
use crate::descriptor::{DescriptorKind, Socket, SocketEnd, SocketFamily};
use crate::names::Names;
use crate::uses::{Flow, Moved};

/// One call that created, named or closed a descriptor, or did not find a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DescriptorEvent<'a> {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Number of the call.
    pub nr: u32,
    /// Its result, negative for an error.
    pub result: i64,
    /// Its first three arguments.
    pub args: [u64; 3],
    /// A path, a pair of descriptors, an address or totals, as required by `calls::flags`.
    pub payload: &'a [u8],
    /// When it returned.
    pub time: u64,
}

/// Applies one call.
pub(crate) fn apply(names: &mut Names, event: &DescriptorEvent<'_>) {
    let name = calls::name(event.nr);
    let flags = calls::flags(event.nr);
    let DescriptorEvent { pid, time, .. } = *event;
    let fd = event.args[0] as i32;
    if event.result < 0 && flags & (calls::PATH0 | calls::PATH1) != 0 {
        let path = path(names, event, flags);
        names.failed(pid, (event.nr, &name), &path, -event.result as i32, time);
        return;
    }
    let result = event.result as i32;
    let cloexec = libc::O_CLOEXEC as u64;
    match name.as_str() {
        "open" | "openat" | "openat2" | "creat" => {
            let path = path(names, event, flags);
            let marked = match name.as_str() {
                "open" => event.args[1] & cloexec != 0,
                "openat" => event.args[2] & cloexec != 0,
                _ => false,
            };
            names.opened(pid, result, file(path), marked, true, time);
        }
        "chdir" => {
            let path = path(names, event, flags);
            names.moved_to(pid, &path);
        }
        "fchdir" => {
            let kind = names.kind(pid, fd).unwrap_or_default();
            names.moved_to(pid, &kind.text());
        }
        "close" => {
            settle(names, event, fd);
            names.closed(pid, fd);
        }
        "dup" => names.duplicated(pid, fd, result, false, time),
        "dup2" | "dup3" => {
            let to = event.args[1] as i32;
            settle(names, event, to);
            let marked = name == "dup3" && event.args[2] & cloexec != 0;
            names.duplicated(pid, fd, to, marked, time);
        }
        "fcntl" => {
            let marked = event.args[1] == libc::F_DUPFD_CLOEXEC as u64;
            names.duplicated(pid, fd, result, marked, time);
        }
        "pipe" | "pipe2" | "socketpair" => {
            let marked = name == "pipe2" && event.args[1] & cloexec != 0
                || name == "socketpair" && event.args[1] & libc::SOCK_CLOEXEC as u64 != 0;
            let kind = match name.as_str() {
                "socketpair" => DescriptorKind::SocketPair,
                _ => DescriptorKind::Pipe(None),
            };
            let kind = Arc::new(kind);
            for half in event.payload.chunks_exact(4).take(2) {
                let fd = i32::from_ne_bytes([half[0], half[1], half[2], half[3]]);
                names.opened(pid, fd, kind.clone(), marked, true, time);
            }
        }
        "connect" | "bind" | "getsockname" | "setsockopt" | "accept" | "accept4" | "socket" => {
            of_socket(names, event, &name, (fd, result));
        }
        "kill" => {
            let signal = event.args[1] as i32;
            names.signals.sent(pid, fd, signal, time);
        }
        "pidfd_send_signal" => {
            let signal = event.args[1] as i32;
            names.signals.sent_through(pid, fd, signal, time);
        }
        other if flags & calls::RECORD_OK != 0 => {
            if other == "pidfd_open" {
                names.signals.watches(pid, result, fd as u32);
            }
            let kind = other.trim_end_matches(|c: char| c.is_ascii_digit());
            let kind = kind.trim_end_matches("_create").trim_end_matches("_init");
            names.opened(pid, result, DescriptorKind::from(kind), false, true, time);
        }
        _ => {}
    }
}

/// Applies one call on a socket.
fn of_socket(names: &mut Names, event: &DescriptorEvent<'_>, name: &str, (fd, result): (i32, i32)) {
    let DescriptorEvent { pid, time, .. } = *event;
    let before = socket(names, pid, fd);
    let refined = match (name, before) {
        ("connect" | "bind", before) => {
            let ongoing = event.result == -i64::from(libc::EINPROGRESS);
            let done = event.result >= 0 || ongoing;
            if let Some(address) = address(event.payload).filter(|_| !done && name == "connect") {
                let errno = -event.result as i32;
                names.signals.refused(pid, address, errno, time);
            }
            let end = address(event.payload)
                .filter(|_| done)
                .map(|address| match name {
                    "connect" => SocketEnd::To(address),
                    _ => SocketEnd::At(address),
                });
            let nodelay = before.is_some_and(|before| before.nodelay);
            end.map(|end| Socket { end, nodelay })
        }
        // A program that binds to port 0 queries the port that it got.
        ("getsockname", Some(before)) => match &before.end {
            SocketEnd::At(asked) if asked.ends_with(":0") => {
                if let Some(address) = address(event.payload) {
                    let end = SocketEnd::At(address);
                    let kind = DescriptorKind::Socket(Socket { end, ..before });
                    names.refined_everywhere(pid, fd, kind, time);
                }
                None
            }
            _ => None,
        },
        ("setsockopt", Some(before)) => {
            let nodelay = [libc::IPPROTO_TCP as u64, libc::TCP_NODELAY as u64];
            // The value isn't visible: setting the option again disables it, as Go's `SetNoDelay(false)`
            // does.
            (event.args[1..] == nodelay).then_some(Socket {
                nodelay: !before.nodelay,
                ..before
            })
        }
        ("accept" | "accept4", before) => {
            // It inherits the options of the listening socket.
            let nodelay = before.is_some_and(|listening| listening.nodelay);
            let from = names.kind(pid, fd).map(|listening| match &*listening {
                DescriptorKind::Socket(socket) => socket.end.to_string(),
                other => other.to_string(),
            });
            let end = SocketEnd::Accepted(from);
            let kind = DescriptorKind::Socket(Socket { end, nodelay });
            return names.opened(pid, result, kind, false, true, time);
        }
        ("socket", _) => {
            let family = match event.args[0] as i32 {
                libc::AF_UNIX => SocketFamily::Unix,
                libc::AF_INET | libc::AF_INET6 => SocketFamily::Inet,
                libc::AF_NETLINK => SocketFamily::Netlink,
                _ => SocketFamily::Other,
            };
            let kind = DescriptorKind::from(SocketEnd::Loose(family));
            let marked = event.args[1] & libc::SOCK_CLOEXEC as u64 != 0;
            return names.opened(pid, result, kind, marked, true, time);
        }
        _ => None,
    };
    if let Some(socket) = refined {
        names.refined(pid, fd, DescriptorKind::Socket(socket), time);
    }
}

/// Classifies a path by its text, as a reader of the trace would.
fn file(path: String) -> DescriptorKind {
    path.as_str().into()
}

/// Returns the socket of a descriptor, if known.
fn socket(names: &Names, pid: u32, fd: i32) -> Option<Socket> {
    match &*names.kind(pid, fd)? {
        DescriptorKind::Socket(socket) => Some(socket.clone()),
        // It existed before the trace: only a socket accepts socket options and addresses.
        DescriptorKind::Unknown(_) => Some(SocketEnd::Loose(SocketFamily::Other).into()),
        _ => None,
    }
}

/// Returns the path as it was named; a relative path is prefixed with its directory, if that is known.
pub(crate) fn path(names: &Names, event: &DescriptorEvent<'_>, flags: u32) -> String {
    let end = event.payload.iter().position(|b| *b == 0);
    let named = String::from_utf8_lossy(&event.payload[..end.unwrap_or(event.payload.len())]);
    let directory = event.args[0] as i32;
    let to_cwd = flags & calls::PATH1 == 0 || directory == libc::AT_FDCWD;
    // Without a path, a call refers to the directory's descriptor, or its path could not be copied.
    if named.starts_with('/') || named.is_empty() && to_cwd {
        return named.into_owned();
    }
    let of_fd = || {
        names
            .kind(event.pid, directory)
            .map(|kind| kind.to_string())
    };
    let base = match to_cwd {
        true => names.cwd(event.pid).map(str::to_owned),
        false => of_fd(),
    };
    match (base, named.strip_prefix("./").unwrap_or(&named)) {
        (Some(base), "" | ".") => base,
        (Some(base), below) => format!("{}/{below}", base.trim_end_matches('/')),
        (None, _) => named.into_owned(),
    }
}

fn settle(names: &mut Names, event: &DescriptorEvent<'_>, fd: i32) {
    let mut moved = Moved::default();
    let numbers = event.payload.as_chunks::<8>().0;
    let numbers: Vec<u64> = numbers.iter().map(|n| u64::from_ne_bytes(*n)).collect();
    let calls = numbers.as_chunks::<TOTALS_OF_CALL>().0;
    for (name, [calls, bytes, errors, total_ns, blocked_ns]) in TOTALS.iter().zip(calls) {
        let flow = Flow {
            calls: *calls,
            bytes: *bytes,
            errors: *errors,
            total_ns: *total_ns,
            blocked_ns: *blocked_ns,
        };
        add(&mut moved, name, flow);
    }
    if calls.len() >= TOTALS.len() {
        names.settle((event.pid, event.tid), fd, moved, event.time);
    }
}

/// Adds calls of this name to the totals of their direction.
pub(crate) fn add(moved: &mut Moved, name: &str, flow: Flow) {
    match calls::direction(name) {
        Some(calls::Direction::Read) => moved.read += flow,
        Some(calls::Direction::Write) => moved.written += flow,
        None if name == "lseek" => moved.sought += flow,
        None => {}
    }
}

/// Formats a socket address in the usual form.
fn address(bytes: &[u8]) -> Option<String> {
    let family = i32::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?));
    let port = || Some(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?));
    match family {
        libc::AF_INET => {
            let host: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
            Some(format!("{}:{}", Ipv4Addr::from(host), port()?))
        }
        libc::AF_INET6 => {
            let host: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
            Some(format!("[{}]:{}", Ipv6Addr::from(host), port()?))
        }
        libc::AF_UNIX => {
            let path = bytes.get(2..)?;
            let (mark, path) = match path.split_first() {
                Some((0, rest)) => ("@", rest),
                // A relative path must not look like a host name.
                Some((first, _)) if *first != b'/' => ("./", path),
                _ => ("", path),
            };
            let end = path.iter().position(|b| *b == 0).unwrap_or(path.len());
            Some(format!("{mark}{}", String::from_utf8_lossy(&path[..end])))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event_of<'a>(
        name: &str,
        args: [u64; 3],
        result: i64,
        payload: &'a [u8],
    ) -> DescriptorEvent<'a> {
        DescriptorEvent {
            pid: 1,
            tid: 1,
            nr: calls::number(name).expect("a call of this architecture"),
            result,
            args,
            payload,
            time: 0,
        }
    }

    /// Returns the address of this port of 127.0.0.1, as the kernel has it.
    fn internet(port: u16) -> Vec<u8> {
        let mut bytes = (libc::AF_INET as u16).to_ne_bytes().to_vec();
        bytes.extend(port.to_be_bytes());
        bytes.extend([127, 0, 0, 1]);
        bytes
    }

    #[test]
    fn a_server_at_any_port_has_the_one_that_it_got() {
        let mut names = Names::default();
        let inet = libc::AF_INET as u64;
        apply(&mut names, &event_of("socket", [inet, 1, 0], 3, &[]));
        apply(&mut names, &event_of("bind", [3, 0, 16], 0, &internet(0)));
        apply(
            &mut names,
            &event_of("getsockname", [3, 0, 0], 0, &internet(4711)),
        );
        apply(&mut names, &event_of("accept", [3, 0, 0], 4, &[]));
        // The address of the connecting peer gives no new information.
        apply(&mut names, &event_of("socket", [inet, 1, 0], 5, &[]));
        apply(
            &mut names,
            &event_of("connect", [5, 0, 16], 0, &internet(80)),
        );
        apply(
            &mut names,
            &event_of("getsockname", [5, 0, 0], 0, &internet(5000)),
        );
        let name = |fd| names.kind(1, fd).map(|kind| kind.to_string());
        assert_eq!(name(3).as_deref(), Some("socket at 127.0.0.1:4711"));
        let accepted = "accepted socket from socket at 127.0.0.1:4711";
        assert_eq!(name(4).as_deref(), Some(accepted));
        assert_eq!(name(5).as_deref(), Some("socket to 127.0.0.1:80"));
    }

    #[test]
    fn a_child_accepts_at_the_port_that_its_parent_queried() {
        let mut names = Names::default();
        let inet = libc::AF_INET as u64;
        let (any, one) = (internet(0), internet(4711));
        for fd in [3, 4] {
            apply(&mut names, &event_of("socket", [inet, 1, 0], fd, &[]));
            apply(&mut names, &event_of("bind", [fd as u64, 0, 16], 0, &any));
        }
        names.forked(1, 2);
        apply(&mut names, &event_of("getsockname", [3, 0, 0], 0, &one));
        let accepts = |fd: u64| DescriptorEvent {
            pid: 2,
            ..event_of("accept", [fd, 0, 0], fd as i64 + 2, &[])
        };
        apply(&mut names, &accepts(3));
        apply(&mut names, &accepts(4));
        let name = |fd| names.kind(2, fd).map(|kind| kind.to_string());
        let accepted = "accepted socket from socket at 127.0.0.1:4711";
        assert_eq!(name(5).as_deref(), Some(accepted));
        let other = "accepted socket from socket at 127.0.0.1:0";
        assert_eq!(name(6).as_deref(), Some(other));
    }

    #[test]
    fn a_socket_in_the_current_folder_is_no_host() {
        let mut unix = (libc::AF_UNIX as u16).to_ne_bytes().to_vec();
        unix.extend(b"u.sock\0");
        assert_eq!(address(&unix).as_deref(), Some("./u.sock"));
    }

    #[test]
    fn a_socket_that_waits_for_no_acknowledgement_is_marked_and_stays_so() {
        let mut names = Names::default();
        apply(
            &mut names,
            &event_of("socket", [libc::AF_INET as u64, 1, 0], 3, &[]),
        );
        let option = [3, libc::IPPROTO_TCP as u64, libc::TCP_NODELAY as u64];
        for _ in 0..3 {
            apply(&mut names, &event_of("setsockopt", option, 0, &[]));
        }
        let mut address = (libc::AF_INET as u16).to_ne_bytes().to_vec();
        address.extend([0, 80, 127, 0, 0, 1]);
        apply(&mut names, &event_of("connect", [3, 0, 0], 0, &address));
        let name = names.kind(1, 3).map(|name| name.to_string());
        assert_eq!(
            name.as_deref(),
            Some("socket to 127.0.0.1:80 (TCP_NODELAY)")
        );
        let other = [3, libc::SOL_SOCKET as u64, libc::SO_REUSEADDR as u64];
        apply(
            &mut names,
            &event_of("socket", [libc::AF_INET as u64, 1, 0], 4, &[]),
        );
        apply(
            &mut names,
            &event_of("setsockopt", [4, other[1], other[2]], 0, &[]),
        );
        assert_eq!(
            names.kind(1, 4).map(|name| name.to_string()).as_deref(),
            Some("inet socket")
        );
    }

    #[test]
    fn connections_that_were_refused_are_kept_by_address_and_reason() {
        let mut names = Names::default();
        let mut address = (libc::AF_INET as u16).to_ne_bytes().to_vec();
        address.extend([0, 80, 127, 0, 0, 1]);
        let refused = -i64::from(libc::ECONNREFUSED);
        for _ in 0..3 {
            apply(
                &mut names,
                &event_of("connect", [3, 0, 16], refused, &address),
            );
        }
        apply(&mut names, &event_of("connect", [3, 0, 16], 0, &address));
        apply(&mut names, &event_of("kill", [9, 15, 0], 0, &[]));
        let rows = names.rows();
        let row = &rows.refused[0];
        let reported = (row.address.as_str(), row.errno, row.calls);
        assert_eq!(reported, ("127.0.0.1:80", libc::ECONNREFUSED, 3));
        let sent = (rows.signals[0].target, rows.signals[0].signal);
        assert_eq!(sent, (Some(9), 15));
    }

    #[test]
    fn opens_relative_to_an_open_directory_get_its_name() {
        let mut n = Names::default();
        apply(
            &mut n,
            &event_of("openat", [-100i64 as u64, 0, 0], 3, b"/etc\0"),
        );
        apply(&mut n, &event_of("openat", [3, 0, 0], 4, b"hosts\0"));
        assert_eq!(n.kind(1, 4).as_deref(), Some(&"/etc/hosts".into()));
    }

    #[test]
    fn relative_paths_get_the_working_directory_of_their_process() {
        let mut n = Names::default();
        n.moved_to(1, "/home/me");
        n.forked(1, 2);
        let at_cwd = [-100i64 as u64, 0, 0];
        apply(&mut n, &event_of("openat", at_cwd, 3, b"./src\0"));
        apply(&mut n, &event_of("chdir", [0; 3], 0, b"work\0"));
        apply(&mut n, &event_of("openat", at_cwd, 4, b"a.txt\0"));
        apply(&mut n, &event_of("chdir", [0; 3], -2, b"nowhere\0"));
        apply(&mut n, &event_of("openat", at_cwd, 5, b"b.txt\0"));
        apply(&mut n, &event_of("fchdir", [3, 0, 0], 0, &[]));
        apply(&mut n, &event_of("openat", at_cwd, 6, b"c.txt\0"));
        let name = |fd| n.kind(1, fd).map(|name| name.to_string());
        let names = [3, 4, 5, 6].map(|fd| name(fd).expect("open"));
        let work = ["/home/me/work/a.txt", "/home/me/work/b.txt"];
        assert_eq!(names[0], "/home/me/src");
        assert_eq!(names[1..3], work);
        assert_eq!(names[3], "/home/me/src/c.txt");
        assert_eq!(n.cwd(2), Some("/home/me"));
    }

    #[test]
    fn a_directory_that_nobody_knows_leaves_paths_as_they_were_named() {
        let mut n = Names::default();
        n.moved_to(1, "/home/me");
        apply(&mut n, &event_of("fchdir", [9, 0, 0], 0, &[]));
        apply(
            &mut n,
            &event_of("openat", [-100i64 as u64, 0, 0], 3, b"a.txt\0"),
        );
        assert_eq!(n.kind(1, 3).as_deref(), Some(&"a.txt".into()));
    }

    #[test]
    fn pipes_and_duplicates_and_closes_are_followed() {
        let mut n = Names::default();
        let pair = [5i32.to_ne_bytes(), 6i32.to_ne_bytes()].concat();
        apply(&mut n, &event_of("pipe2", [0, 0, 0], 0, &pair));
        apply(&mut n, &event_of("dup3", [6, 1, 0], 1, &[]));
        apply(&mut n, &event_of("close", [6, 0, 0], 0, &[]));
        assert_eq!(n.kind(1, 1).as_deref(), Some(&"pipe".into()));
        assert_eq!(n.kind(1, 6), None);
    }

    #[test]
    fn addresses_are_written_as_people_write_them() {
        let mut inet = (libc::AF_INET as u16).to_ne_bytes().to_vec();
        inet.extend([0x1f, 0x90, 127, 0, 0, 1]);
        assert_eq!(address(&inet).as_deref(), Some("127.0.0.1:8080"));
        let mut unix = (libc::AF_UNIX as u16).to_ne_bytes().to_vec();
        unix.extend(b"/run/x\0");
        assert_eq!(address(&unix).as_deref(), Some("/run/x"));
        assert_eq!(address(&[1]), None);
    }

    #[test]
    fn a_close_settles_what_the_file_got() {
        let mut n = Names::default();
        apply(
            &mut n,
            &event_of("openat", [-100i64 as u64, 0, 0], 3, b"f\0"),
        );
        let mut totals = [0u64; TOTALS.len() * TOTALS_OF_CALL];
        // Totals of `read`, `pread64` and `lseek`.
        totals[..5].copy_from_slice(&[4, 40, 1, 900, 300]);
        totals[10..15].copy_from_slice(&[1, 7, 0, 100, 0]);
        totals[30] = 2;
        let totals: Vec<u8> = totals.iter().flat_map(|v| v.to_ne_bytes()).collect();
        apply(&mut n, &event_of("close", [3, 0, 0], 0, &totals));
        let rows = n.rows();
        assert_eq!((rows.files[0].reads, rows.files[0].read_bytes), (5, 47));
        let read = Flow {
            calls: 5,
            bytes: 47,
            errors: 1,
            total_ns: 1000,
            blocked_ns: 300,
        };
        let moved = rows.uses[0].moved;
        assert_eq!((moved.read, moved.sought.calls), (read, 2));
    }

    #[test]
    fn no_payload_makes_it_panic() {
        let totals: Vec<u8> = (0..TOTALS.len() * TOTALS_OF_CALL)
            .flat_map(usize::to_ne_bytes)
            .collect();
        let mut unix = (libc::AF_UNIX as u16).to_ne_bytes().to_vec();
        unix.extend(b"/run/x\0");
        let mut inet6 = (libc::AF_INET6 as u16).to_ne_bytes().to_vec();
        inet6.extend([9; 26]);
        let payloads = [b"/a/./b\0".to_vec(), totals, unix, inet6, vec![1; 8]];
        let calls = [
            "openat",
            "close",
            "connect",
            "bind",
            "pipe2",
            "dup3",
            "chdir",
            "accept4",
            "fcntl",
            "socketpair",
            "setsockopt",
            "eventfd2",
        ];
        fathom_test_memory::survives(&payloads, 1 << 14, |payload| {
            let mut names = Names::default();
            for name in calls {
                let first = payload.first().copied().unwrap_or(0);
                for result in [i64::from(first), -2] {
                    apply(&mut names, &event_of(name, [3, 3, 3], result, payload));
                }
            }
            _ = names.rows();
        });
    }
}
