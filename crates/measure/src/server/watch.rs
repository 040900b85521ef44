//! The events of a server: it listens, writes, ends.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use fathom_model::Exit;

use super::keeper::{self, Report, now};
use super::place::{Place, place_of};
use super::{filter, sockets, tree};
use crate::emptying::{Empty, Tail, read};
use crate::interrupt;

/// If listening can't be reported, Fathom first checks after this time, and then in steps of a fraction of
/// the elapsed time: precision better than 3 % is not worth the CPU time taken from the server.
const FIRST_LOOK_NS: u64 = 500_000;
const LOOK_SHARE: u64 = 33;
/// The same if listening is reported: servers that listen through io_uring must be polled for.
const FIRST_LOOK_BESIDE_NS: u64 = 20_000_000;
const LOOK_SHARE_BESIDE: u64 = 10;
/// The number of bytes read from a pipe at once.
const CHUNK: usize = 16 << 10;

/// How the listening was detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeenBy {
    /// The kernel held the call for Fathom: as precise as the timestamp.
    Kernel,
    /// By scanning all listening sockets, this many nanoseconds after the previous scan.
    Look(u64),
}

/// A process of a server began to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listening {
    /// When, in nanoseconds of `CLOCK_MONOTONIC`.
    pub at: u64,
    /// The address.
    pub place: Place,
    /// How it was detected.
    pub seen_by: SeenBy,
}

/// An event returned by `Server::wait`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerEvent {
    /// One of its processes listens.
    Listens(Listening),
    /// The server wrote the requested line, at this time.
    WroteLine(u64),
    /// The started process has ended; other processes of the server may be left.
    Ended(Exit),
    /// The server's parent, which tracks its process tree, was killed.
    KilledParent,
    /// A signal arrived, or the deadline passed.
    Interrupted,
}

/// The descriptors through which a server is watched.
pub(super) struct Pipes {
    pub(super) reports: OwnedFd,
    pub(super) calls: Option<OwnedFd>,
    pub(super) output: Option<OwnedFd>,
    pub(super) errors: Option<OwnedFd>,
}

/// The descriptors of a server, and what was received from them.
pub(super) struct Watch {
    pub(super) pid: i32,
    keeper: i32,
    pub(super) launched: u64,
    pub(super) executed: u64,
    pub(super) pipes: Pipes,
    pub(super) tail: Tail,
    wanted_line: Option<Vec<u8>>,
    line: Vec<u8>,
    events: VecDeque<ServerEvent>,
    pub(super) ended: Option<Exit>,
    pub(super) gone: Option<Report>,
    /// Whether the keeper sends no more reports.
    silent: bool,
    /// Sockets already known to listen.
    known: Vec<u64>,
    last_look: u64,
    next_look: u64,
    buffer: Vec<u8>,
}

impl Watch {
    pub(super) fn new(
        keeper: i32,
        started: Report,
        pipes: Pipes,
        wanted_line: Option<&str>,
    ) -> Watch {
        let first_look = match pipes.calls {
            Some(_) => FIRST_LOOK_BESIDE_NS,
            None => FIRST_LOOK_NS,
        };
        Watch {
            pid: started.value,
            keeper,
            launched: started.at,
            executed: started.more,
            pipes,
            tail: Tail::default(),
            wanted_line: wanted_line.map(|line| line.as_bytes().to_vec()),
            line: Vec::new(),
            events: VecDeque::new(),
            ended: None,
            gone: None,
            silent: false,
            known: Vec::new(),
            last_look: started.at,
            next_look: started.at + first_look,
            buffer: vec![0; CHUNK],
        }
    }

    pub(super) fn descriptors(&self) -> Vec<RawFd> {
        let optional = [&self.pipes.calls, &self.pipes.output, &self.pipes.errors];
        let optional = optional.into_iter().flatten().map(AsRawFd::as_raw_fd);
        [self.pipes.reports.as_raw_fd()]
            .into_iter()
            .chain(optional)
            .collect()
    }

    pub(super) fn wait(&mut self, until: u64) -> Option<ServerEvent> {
        loop {
            self.empty();
            if now() >= self.next_look {
                self.look();
            }
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if interrupt::stopped() {
                return Some(ServerEvent::Interrupted);
            }
            if now() >= until {
                return None;
            }
            let mut watched = self.descriptors();
            watched.push(interrupt::descriptor());
            poll(&watched, until.min(self.next_look));
        }
    }

    /// Scans all listening sockets for those of this tree.
    fn look(&mut self) {
        let at = now();
        let before = std::mem::replace(&mut self.last_look, at);
        let share = match self.pipes.calls {
            Some(_) => LOOK_SHARE_BESIDE,
            None => LOOK_SHARE,
        };
        let least = match self.pipes.calls {
            Some(_) => FIRST_LOOK_BESIDE_NS,
            None => FIRST_LOOK_NS,
        };
        self.next_look = at + (at.saturating_sub(self.launched) / share).max(least);
        let Ok(all) = sockets::listening() else {
            return;
        };
        if all.iter().all(|socket| self.known.contains(&socket.inode)) {
            return;
        }
        let pids = tree::descendants(self.keeper.unsigned_abs());
        let own: HashSet<u64> = pids.into_iter().flat_map(sockets::sockets_of).collect();
        for socket in all {
            if own.contains(&socket.inode) && !self.known.contains(&socket.inode) {
                self.known.push(socket.inode);
                self.events.push_back(ServerEvent::Listens(Listening {
                    at,
                    place: Place::Tcp(socket.address),
                    seen_by: SeenBy::Look(at - before),
                }));
            }
        }
    }

    fn take_calls(&mut self) {
        let Some(calls) = &self.pipes.calls else {
            return;
        };
        while let Some(call) = filter::next(calls) {
            let Some((place, inode)) = place_of(call) else {
                continue;
            };
            if self.known.contains(&inode) {
                continue;
            }
            self.known.push(inode);
            self.events.push_back(ServerEvent::Listens(Listening {
                at: call.at,
                place,
                seen_by: SeenBy::Kernel,
            }));
        }
    }

    fn take_reports(&mut self) {
        while let Some(report) = self.next_report() {
            match report.kind {
                keeper::ENDED => {
                    let status = report.value;
                    let exit = match libc::WIFSIGNALED(status) {
                        true => Exit::Signal(libc::WTERMSIG(status)),
                        false => Exit::Code(libc::WEXITSTATUS(status)),
                    };
                    self.ended = Some(exit);
                    self.events.push_back(ServerEvent::Ended(exit));
                }
                keeper::GONE => self.gone = Some(report),
                _ => {}
            }
        }
    }

    fn next_report(&mut self) -> Option<Report> {
        match next_report(&self.pipes.reports) {
            Ok(report) => Some(report),
            Err(error) => {
                let ends = error.kind() == io::ErrorKind::UnexpectedEof && !self.silent;
                self.silent |= ends;
                if ends && self.is_unkept() {
                    self.events.push_back(ServerEvent::KilledParent);
                }
                None
            }
        }
    }

    /// Reports whether the keeper has ended before the server.
    pub(super) fn is_unkept(&self) -> bool {
        self.silent && self.gone.is_none()
    }

    fn take_output(&mut self) {
        // Read at most a pipe's capacity: a process that writes endlessly must not delay the others.
        for _ in 0..8 {
            let mut got = 0;
            if let Some(output) = &self.pipes.output {
                got = read(output, &mut self.buffer);
                let bytes = self.buffer[..got].to_vec();
                self.look_for_line(&bytes);
            }
            if let Some(errors) = &self.pipes.errors {
                let more = read(errors, &mut self.buffer);
                self.tail.add(&self.buffer[..more]);
                if self.wanted_line.is_some() {
                    let bytes = self.buffer[..more].to_vec();
                    self.look_for_line(&bytes);
                }
                got += more;
            }
            if got == 0 {
                return;
            }
        }
    }

    fn look_for_line(&mut self, bytes: &[u8]) {
        let Some(wanted) = &self.wanted_line else {
            return;
        };
        let found = bytes.iter().any(|byte| {
            self.line.push(*byte);
            let found = self.line.ends_with(wanted);
            if *byte == b'\n' || self.line.len() > 4 * CHUNK {
                self.line.clear();
            }
            found
        });
        if found {
            self.wanted_line = None;
            self.events.push_back(ServerEvent::WroteLine(now()));
        }
    }
}

impl Empty for Watch {
    fn empty(&mut self) {
        self.take_calls();
        self.take_output();
        self.take_reports();
    }
}

/// Waits until one of the descriptors is readable, at most until the given time.
pub(super) fn poll(descriptors: &[RawFd], until: u64) {
    let mut polled: Vec<libc::pollfd> = descriptors
        .iter()
        .map(|fd| libc::pollfd {
            fd: *fd,
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    let left = until.saturating_sub(now());
    let wait = libc::timespec {
        tv_sec: (left / 1_000_000_000) as libc::time_t,
        tv_nsec: (left % 1_000_000_000) as libc::c_long,
    };
    let (at, count) = (polled.as_mut_ptr(), polled.len() as libc::nfds_t);
    // SAFETY: `count` is the length of `polled`, `wait` is live, and a null signal mask is allowed.
    let ready = unsafe { libc::ppoll(at, count, &raw const wait, std::ptr::null()) };
    let hung_up = libc::POLLHUP | libc::POLLERR;
    let has_bytes = polled.iter().any(|entry| entry.revents & libc::POLLIN != 0);
    if ready > 0 && !has_bytes && polled.iter().any(|entry| entry.revents & hung_up != 0) {
        // A pipe without a writer is reported forever.
        std::thread::sleep(std::time::Duration::from_micros(500));
    }
}

/// Returns the next report of the keeper.
///
/// # Errors
/// `WouldBlock` if there is no report yet, `UnexpectedEof` if there won't be another one.
pub(super) fn next_report(reports: &OwnedFd) -> io::Result<Report> {
    let mut report = Report::default();
    let size = size_of::<Report>();
    loop {
        // SAFETY: reads at most the size of the report, for which any bytes are valid.
        let got = unsafe { libc::read(reports.as_raw_fd(), (&raw mut report).cast(), size) };
        if got == size as isize {
            return Ok(report);
        }
        if got >= 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
