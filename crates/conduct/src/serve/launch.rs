//! Launches a server once, and measures from its start to its first good answer.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use fathom_load::clock::now;
use fathom_load::{Address, Ask, Failing, First, NoAnswer, RequestPlan};
use fathom_measure::MeasureError;
use fathom_measure::server::{
    KILLED_PARENT, Listening, Place, Server, ServerEvent, StartOptions, free_port, listening, owner,
};

use super::plan::ServePlan;
use crate::{ConductError, Target};

/// The first pause, in nanoseconds, before a server that wasn't ready is probed again; later pauses are a
/// share of the elapsed time.
const FIRST_PAUSE_NS: u64 = 50_000;
const PAUSE_SHARE: u64 = 33;

/// A server that has answered.
pub(super) struct Launched {
    pub(super) server: Server,
    pub(super) address: Address,
    pub(super) listening: Option<Listening>,
    pub(super) first: First,
    /// The number of answers before the first good one.
    pub(super) answers_before: u32,
    /// Whether the started process has ended while others continue.
    pub(super) daemonised: bool,
}

/// Starts a server and probes it until it gives a good answer.
///
/// # Errors
/// If it gives none; the message says what it did instead.
pub(super) fn launch(
    plan: &ServePlan,
    target: &Target,
    cpus: &[usize],
) -> Result<Launched, ConductError> {
    let port = port(plan, target)?;
    let takes_port = takes_port(target);
    let mut command = target.command.clone();
    for word in &mut command.arguments {
        *word = with_port(word, port);
    }
    for (_, value) in &mut command.variables {
        *value = with_port(value, port);
    }
    let options = StartOptions {
        cpus: cpus.to_vec(),
        wanted_line: plan.ready.line.clone(),
        show_output: plan.terms.show_output,
        variables: vec![("PORT".into(), port.to_string().into())],
    };
    let server = Server::start(&command, &options)?;
    let wanted_port = (takes_port || plan.port.is_some()).then_some(port);
    let until = server.launched() + plan.launch_timeout.as_nanos() as u64;
    let mut launching = Launching {
        plan,
        name: &target.benchmark.name,
        server,
        wanted_port,
        until,
        seen: Vec::new(),
        next: 0,
        line_came: plan.ready.line.is_none(),
        answers_before: 0,
        last: None,
        daemonised: false,
    };
    let (address, first) = launching.until_ready()?;
    let of = |listening: &&Listening| address_of(&listening.place) == address;
    Ok(Launched {
        listening: launching.seen.iter().find(of).cloned(),
        address,
        first,
        answers_before: launching.answers_before,
        daemonised: launching.daemonised,
        server: launching.server,
    })
}

/// Refuses a server if another process listens on its port too, because that process would get some of the
/// requests.
///
/// # Errors
/// [`ConductError::Refused`], naming the other process.
pub(super) fn check_alone(launched: &Launched) -> Result<(), ConductError> {
    let Address::Tcp(address) = &launched.address else {
        return Ok(());
    };
    let own = launched.server.sockets();
    let all = listening().unwrap_or_default();
    let stranger = all.iter().find(|socket| {
        socket.address.port() == address.port()
            && (socket.address.ip() == address.ip() || socket.address.ip().is_unspecified())
            && !own.contains(&socket.inode)
    });
    match stranger {
        Some(socket) if own.is_empty() || owner(socket.inode).is_some() => {
            Err(taken(address.port(), socket.inode))
        }
        _ => Ok(()),
    }
}

struct Launching<'l> {
    plan: &'l ServePlan,
    name: &'l str,
    server: Server,
    wanted_port: Option<u16>,
    until: u64,
    /// Its listening addresses, in the order in which they appeared.
    seen: Vec<Listening>,
    /// The index of the address to probe next.
    next: usize,
    line_came: bool,
    answers_before: u32,
    /// The last answer that was not good, or why there was no answer.
    last: Option<Result<u16, NoAnswer>>,
    daemonised: bool,
}

impl Launching<'_> {
    fn until_ready(&mut self) -> Result<(Address, First), ConductError> {
        let mut requests = self.plan.requests.clone();
        if let Some(path) = &self.plan.ready.path {
            requests.paths = vec![path.clone()];
        }
        requests.keep_alive = true;
        let plan = self.plan;
        let path = &plan.requests.paths[0];
        let mut ask_again = 0;
        let mut asking: Option<(Address, Ask)> = None;
        loop {
            while let Some(event) = self.server.wait(0) {
                self.on(event)?;
            }
            let at = now();
            if at >= self.until {
                return Err(self.timed_out());
            }
            if let Some((address, ask)) = &mut asking {
                match ask.go_on(self.until, &self.server.descriptors()) {
                    Ok(None) => continue,
                    Ok(Some(first)) if self.is_good(first.expected.answer.status) => {
                        return Ok((address.clone(), first));
                    }
                    Ok(Some(first)) => {
                        let status = first.expected.answer.status;
                        self.answers_before += 1;
                        self.last = Some(Ok(status));
                        if self.speaks_no_websocket(status) {
                            return Err(self.failure(super::words::no_websocket(status, path)));
                        }
                    }
                    Err(why) => self.failed(why),
                }
                asking = None;
                ask_again = self.pause();
                continue;
            }
            let place = self.seen.get(self.next % self.seen.len().max(1));
            let Some(place) = place.filter(|_| self.line_came) else {
                let event = self.server.wait(self.until);
                if let Some(event) = event {
                    self.on(event)?;
                }
                continue;
            };
            if at < ask_again {
                let event = self.server.wait(ask_again);
                if let Some(event) = event {
                    self.on(event)?;
                }
                continue;
            }
            let address = address_of(&place.place);
            match self.begin(&requests, &address)? {
                Ok(ask) => asking = Some((address, ask)),
                Err(why) => {
                    self.failed(why);
                    ask_again = self.pause();
                }
            }
        }
    }

    fn on(&mut self, event: ServerEvent) -> Result<(), ConductError> {
        match event {
            ServerEvent::Listens(listening) => {
                let suits = match (&listening.place, self.wanted_port) {
                    (Place::Tcp(address), Some(port)) => address.port() == port,
                    (Place::Unix(_), Some(_)) => false,
                    (_, None) => true,
                };
                if suits {
                    self.seen.push(listening);
                }
            }
            ServerEvent::WroteLine(_) => self.line_came = true,
            ServerEvent::Ended(exit) => {
                // A program that daemonizes exits successfully and leaves other processes running.
                if !exit.is_success() || self.server.processes().is_empty() {
                    let when = match (&self.last, self.seen.is_empty()) {
                        (_, true) => "before it listened",
                        (Some(Ok(_)), false) => "before it gave a valid answer",
                        (_, false) => "before it answered",
                    };
                    return Err(self.failure(format!("{} {when}", super::words::ended(exit))));
                }
                self.daemonised = true;
            }
            ServerEvent::KilledParent => {
                return Err(self.failure(KILLED_PARENT.to_owned()));
            }
            ServerEvent::Interrupted => return Err(MeasureError::Interrupted.into()),
        }
        Ok(())
    }

    fn begin(
        &self,
        requests: &RequestPlan,
        address: &Address,
    ) -> Result<Result<Ask, NoAnswer>, ConductError> {
        let tls = self.plan.tls.as_ref().map(|tls| tls.of(&address.host()));
        let tls = tls.transpose().map_err(ConductError::Refused)?;
        let all = requests.requests(&address.host(), tls.is_some());
        let first = all.map_err(ConductError::Refused)?.swap_remove(0);
        Ok(Ask::begin(address, tls.as_ref(), first, requests.reader()))
    }

    fn failed(&mut self, why: NoAnswer) {
        // A listening port is reported shortly before it accepts connections.
        if why.0 != Failing::Connect {
            self.answers_before += 1;
            // Not every port of a server speaks HTTP.
            self.next += 1;
        }
        // An earlier attempt that got a response says more than this one, which the deadline cut off.
        let was_answered = |last| !matches!(last, Err(NoAnswer(Failing::Connect, _)));
        if why.0 != Failing::TimedOut || !self.last.is_some_and(was_answered) {
            self.last = Some(Err(why));
        }
    }

    fn pause(&self) -> u64 {
        let at = now();
        let passed = at.saturating_sub(self.server.launched());
        match self.last {
            Some(Err(NoAnswer(Failing::Connect, _))) => at + FIRST_PAUSE_NS,
            _ => at + (passed / PAUSE_SHARE).max(FIRST_PAUSE_NS),
        }
    }

    fn is_good(&self, status: u16) -> bool {
        match self.plan.ready.status.is_empty() {
            true => self.plan.checks.status_is_good(status),
            false => self.plan.ready.status.contains(&status),
        }
    }

    /// Reports whether the server answered a WebSocket handshake as if it were any other request. A server
    /// error doesn't count, because a server may answer with one while it is starting.
    fn speaks_no_websocket(&self, status: u16) -> bool {
        let is_asked = self.plan.requests.websocket.is_some() && self.plan.ready.path.is_none();
        is_asked && status < 500
    }

    fn timed_out(&mut self) -> ConductError {
        let seconds = self.plan.launch_timeout.as_secs_f64();
        let path = self.plan.ready.path.as_ref();
        let path = path.unwrap_or(&self.plan.requests.paths[0]).clone();
        let what = match (&self.last, self.seen.is_empty(), self.wanted_port) {
            (_, true, Some(port)) => format!(
                "is not listening on port {port} after {seconds} s: pass the port as {{port}} or through the \
                 variable PORT, or name the port it listens on with --port"
            ),
            (_, true, None) => {
                format!("did not listen within {seconds} s; --timeout allows more time")
            }
            (_, false, _) if !self.line_came => format!(
                "did not write '{}' within {seconds} s",
                self.plan.ready.line.as_deref().unwrap_or_default()
            ),
            (Some(Ok(status)), ..) => super::words::wrong_status(*status, &path),
            (Some(Err(why)), ..) => format!(
                "did not answer within {seconds} s: {}",
                super::words::no_answer(*why)
            ),
            (None, ..) => format!("listens, but gave no complete answer within {seconds} s"),
        };
        self.failure(what)
    }

    fn failure(&mut self, what: String) -> ConductError {
        let stderr = self.server.stderr_tail();
        MeasureError::ServerFailed {
            server: super::words::short(self.name),
            what,
            stderr,
        }
        .into()
    }
}

/// Returns the port for this launch, on which no other process listens.
fn port(plan: &ServePlan, target: &Target) -> Result<u16, ConductError> {
    let Some(port) = plan.port else {
        return free_port().map_err(|error| {
            MeasureError::Spawn {
                name: format!(
                    "{}: no port is free",
                    super::words::short(&target.benchmark.name)
                ),
                error,
            }
            .into()
        });
    };
    let all = listening().unwrap_or_default();
    match all.iter().find(|socket| socket.address.port() == port) {
        Some(socket) => Err(taken(port, socket.inode)),
        None => Ok(port),
    }
}

fn taken(port: u16, inode: u64) -> ConductError {
    let by = match owner(inode) {
        Some((pid, name)) => format!("process {pid} ({name})"),
        None => "a process of another user".to_string(),
    };
    ConductError::Refused(format!(
        "port {port} is already used by {by}, which would be measured instead; end it, or choose another port"
    ))
}

fn takes_port(target: &Target) -> bool {
    let words = target.command.arguments.iter();
    let values = target.command.variables.iter().map(|(_, value)| value);
    let has = |word: &OsString| find(word.as_bytes(), 0).is_some();
    words.chain(values).any(has)
}

const PLACE: &[u8] = b"{port}";

fn find(word: &[u8], from: usize) -> Option<usize> {
    let rest = word.get(from..)?;
    let at = rest.windows(PLACE.len()).position(|part| part == PLACE)?;
    Some(from + at)
}

/// Returns the word with its placeholder replaced by the port.
fn with_port(word: &OsStr, port: u16) -> OsString {
    let bytes = word.as_bytes();
    let (mut filled, mut from) = (Vec::new(), 0);
    while let Some(at) = find(bytes, from) {
        filled.extend_from_slice(&bytes[from..at]);
        filled.extend_from_slice(port.to_string().as_bytes());
        from = at + PLACE.len();
    }
    filled.extend_from_slice(&bytes[from..]);
    OsString::from_vec(filled)
}

fn address_of(place: &Place) -> Address {
    match place {
        Place::Tcp(address) => Address::of_listener(*address),
        Place::Unix(path) => Address::Unix(path.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_put_wherever_its_place_is() {
        let filled = |word: &str| with_port(OsStr::new(word), 8080);
        assert_eq!(filled("{port}"), "8080");
        assert_eq!(filled("-l{port}:{port}x"), "-l8080:8080x");
        assert_eq!(filled("{ports}{por"), "{ports}{por");
        let bytes = OsString::from_vec(b"\xff{port}".to_vec());
        assert_eq!(with_port(&bytes, 1), OsString::from_vec(b"\xff1".to_vec()));
    }
}
