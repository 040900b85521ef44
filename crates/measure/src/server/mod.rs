//! A server: started, watched until it listens, and ended with everything that it made.

mod filter;
mod keeper;
mod sockets;
mod tree;

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use fathom_model::Exit;
use filter::{Call, Filter};
use keeper::{Order, Plan, Report, now};
pub use sockets::{ListeningSocket, free_port, listening, owner};
pub use tree::TreeUsage;

use crate::emptying::{Empty, Emptying, Tail, read};
use crate::process::environment_of;
use crate::{CommandLine, Input, MeasureError, Output, interrupt};

/// Where listening can't be reported, it is looked for after this time, and then in steps of a
/// fraction of the time that has passed: 3 % more precision is not worth the CPU time it takes from
/// the server.
const FIRST_LOOK_NS: u64 = 500_000;
const LOOK_SHARE: u64 = 33;
/// Where it is reported, servers that listen by io_uring still have to be looked for.
const FIRST_LOOK_BESIDE_NS: u64 = 20_000_000;
const LOOK_SHARE_BESIDE: u64 = 10;
/// The keeper ends what is left within five seconds.
const KEEPER_ENDS_NS: u64 = 8_000_000_000;
/// Bytes that are read from a pipe at a time.
const CHUNK: usize = 16 << 10;

/// How a server is started.
#[derive(Debug, Clone, Default)]
pub struct StartOptions {
    /// CPUs that it may use; all if empty.
    pub cpus: Vec<usize>,
    /// Lines of standard output and standard error are looked for this.
    pub wanted_line: Option<String>,
    /// Let it write to the terminal.
    pub show_output: bool,
    /// Variables beside those of the command, such as `PORT`.
    pub variables: Vec<(OsString, OsString)>,
}

/// Who saw a server listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeenBy {
    /// The kernel held the call for Fathom: as precise as the stamp.
    Kernel,
    /// A look at all sockets that listen, this many nanoseconds after the look before.
    Look(u64),
}

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// At a TCP address.
    Tcp(SocketAddr),
    /// At a socket in the file system.
    Unix(PathBuf),
}

/// A process of a server began to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listening {
    /// When, in nanoseconds of `CLOCK_MONOTONIC`.
    pub at: u64,
    /// Where.
    pub place: Place,
    /// Who saw it.
    pub seen_by: SeenBy,
}

/// What [`Server::wait`] waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerEvent {
    /// A process of it listens.
    Listens(Listening),
    /// The line that was asked for came, at this moment.
    WroteLine(u64),
    /// The process that was started has ended; others may be left.
    Ended(Exit),
    /// A signal came, or the time is up.
    Interrupted,
}

/// How a server was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// Nanoseconds from SIGTERM until nothing was left.
    pub took_ns: u64,
    /// Processes that did not end by themselves and were killed.
    pub killed: u32,
    /// Processes that may not be killed and are still there.
    pub left: u32,
}

/// A server that was started. Dropping it ends it with everything that it made.
pub struct Server {
    keeper: i32,
    control: Option<OwnedFd>,
    running: Running,
}

/// What is watched.
enum Running {
    /// By who calls [`Server::wait`].
    Watched(Box<Watch>),
    /// By a thread of its own.
    Kept(Emptying<Watch>),
    /// No more.
    Over,
}

/// The descriptors of a server and what came through them.
struct Watch {
    pid: i32,
    keeper: i32,
    launched: u64,
    executed: u64,
    reports: OwnedFd,
    calls: Option<OwnedFd>,
    output: Option<OwnedFd>,
    errors: Option<OwnedFd>,
    tail: Tail,
    wanted_line: Option<Vec<u8>>,
    line: Vec<u8>,
    events: std::collections::VecDeque<ServerEvent>,
    ended: Option<Exit>,
    gone: Option<Report>,
    /// Sockets that are known to listen.
    known: Vec<u64>,
    last_look: u64,
    next_look: u64,
    buffer: Vec<u8>,
}

impl Server {
    /// Starts it; it has executed its program when this returns.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn start(command: &CommandLine, options: &StartOptions) -> Result<Server, MeasureError> {
        let name = || command.program.display().to_string();
        let spawn = |error: io::Error| MeasureError::Spawn {
            name: name(),
            error,
        };
        let (control_read, control) = pipe().map_err(spawn)?;
        let (reports, reports_write) = pipe().map_err(spawn)?;
        let (handover, handover_write) = pair().map_err(spawn)?;
        let (errors, errors_write) = pipe().map_err(spawn)?;
        let input = open_input(&command.input)?;
        let (output, output_write) = open_output(command, options)?;
        let shown = options.show_output;
        let plan = Plan {
            program: text(command.program.as_os_str()).map_err(spawn)?,
            arguments: texts(command.arguments.iter().map(|word| word.as_bytes()))
                .map_err(spawn)?,
            environment: environment(command, options).map_err(spawn)?,
            directory: command
                .directory
                .as_ref()
                .map(|directory| text(directory.as_os_str()))
                .transpose()
                .map_err(spawn)?,
            cpus: (!options.cpus.is_empty()).then(|| Box::new(cpu_set(&options.cpus))),
            filter: (!gains_privileges(command)).then(Filter::new),
            descriptors: [
                control_read.as_raw_fd(),
                reports_write.as_raw_fd(),
                handover_write.as_raw_fd(),
                input.as_raw_fd(),
                output_write.as_ref().map_or(1, AsRawFd::as_raw_fd),
                if shown { 2 } else { errors_write.as_raw_fd() },
            ],
        };
        let keeper = keeper::start(&plan).map_err(spawn)?;
        drop((control_read, reports_write, handover_write, errors_write));
        drop((input, output_write));
        let mut server = Server {
            keeper,
            control: Some(control),
            running: Running::Over,
        };
        let started = next_report(&reports).unwrap_or_default();
        match started.kind {
            keeper::STARTED => {}
            keeper::NOT_STARTED => {
                let error = io::Error::from_raw_os_error(started.value);
                return Err(not_started(command, options, started.at as usize, error));
            }
            _ => return Err(spawn(io::ErrorKind::BrokenPipe.into())),
        }
        nonblocking(&reports).map_err(spawn)?;
        for pipe in output.iter().chain([&errors]) {
            nonblocking(pipe).map_err(spawn)?;
        }
        let calls = filter::receive(&handover);
        let first_look = match calls {
            Some(_) => FIRST_LOOK_BESIDE_NS,
            None => FIRST_LOOK_NS,
        };
        server.running = Running::Watched(Box::new(Watch {
            pid: started.value,
            keeper,
            launched: started.at,
            executed: started.more,
            reports,
            calls,
            output,
            errors: (!shown).then_some(errors),
            tail: Tail::default(),
            wanted_line: options.wanted_line.clone().map(String::into_bytes),
            line: Vec::new(),
            events: std::collections::VecDeque::new(),
            ended: None,
            gone: None,
            known: Vec::new(),
            last_look: started.at,
            next_look: started.at + first_look,
            buffer: vec![0; CHUNK],
        }));
        Ok(server)
    }

    /// The number of the process that was started.
    pub fn pid(&self) -> u32 {
        self.with(|watch| watch.pid).unsigned_abs()
    }

    /// When it called `execve`: the launch.
    pub fn launched(&self) -> u64 {
        self.with(|watch| watch.launched)
    }

    /// When its program had taken the place of Fathom's.
    pub fn executed(&self) -> u64 {
        self.with(|watch| watch.executed)
    }

    /// Whether the kernel reports when it listens; else it is looked for.
    pub fn listening_is_reported(&self) -> bool {
        self.with(|watch| watch.calls.is_some())
    }

    /// The end of what it wrote to standard error.
    pub fn stderr_tail(&mut self) -> Vec<u8> {
        self.with_mut(|watch| {
            watch.empty();
            watch.tail.bytes()
        })
    }

    /// How the process that was started ended, if it has.
    pub fn ended(&self) -> Option<Exit> {
        self.with(|watch| watch.ended)
    }

    /// What its whole tree has used so far.
    pub fn usage(&self) -> TreeUsage {
        tree::usage(self.keeper.unsigned_abs())
    }

    /// The processes of its tree.
    pub fn processes(&self) -> Vec<u32> {
        tree::descendants(self.keeper.unsigned_abs())
    }

    /// The sockets that its tree has open.
    pub fn sockets(&self) -> std::collections::HashSet<u64> {
        let pids = self.processes().into_iter();
        pids.flat_map(sockets::sockets_of).collect()
    }

    /// Descriptors that are readable when [`Server::wait`] has something to do. Whoever waits for
    /// something else meanwhile must look at them: a server that wants to listen waits for that.
    pub fn descriptors(&self) -> Vec<RawFd> {
        let mut all = self.with(Watch::descriptors);
        all.push(interrupt::descriptor());
        all
    }

    /// The next that happens, until the moment `until`; `None` if nothing does. Only before
    /// [`Server::keep`].
    pub fn wait(&mut self, until: u64) -> Option<ServerEvent> {
        match &mut self.running {
            Running::Watched(watch) => watch.wait(until),
            _ => None,
        }
    }

    /// From now on a thread looks after it: lets it listen again, takes what it writes.
    ///
    /// # Errors
    /// When there can be no thread.
    pub fn keep(&mut self) -> io::Result<()> {
        let Running::Watched(watch) = std::mem::replace(&mut self.running, Running::Over) else {
            return Ok(());
        };
        let watched = watch.descriptors();
        self.running = Running::Kept(Emptying::start("server", watched, *watch)?);
        Ok(())
    }

    /// Asks it to end (SIGTERM), gives it `patience` nanoseconds, and kills what is left.
    ///
    /// # Errors
    /// [`MeasureError::Spawn`] when nobody says that it is gone.
    pub fn stop(mut self, patience: u64) -> Result<Stopped, MeasureError> {
        let begun = now();
        let order = Order { patience };
        if let Some(control) = &self.control {
            // SAFETY: as many bytes as there are. A keeper that is gone has said so.
            unsafe {
                let bytes = (&raw const order).cast();
                libc::write(control.as_raw_fd(), bytes, size_of::<Order>())
            };
        }
        let until = begun
            .saturating_add(patience)
            .saturating_add(KEEPER_ENDS_NS);
        let gone = loop {
            let gone = self.with_mut(|watch| {
                watch.empty();
                watch.gone
            });
            if gone.is_some() || now() >= until {
                break gone;
            }
            let (reports, others) =
                self.with(|watch| (watch.reports.as_raw_fd(), watch.descriptors()));
            match self.running {
                Running::Watched(_) => poll(&others, until.min(now() + 50_000_000)),
                _ => poll(&[reports], until.min(now() + 1_000_000)),
            }
        };
        match gone {
            Some(report) => Ok(Stopped {
                took_ns: report.at.saturating_sub(begun),
                killed: report.value.unsigned_abs(),
                left: report.more as u32,
            }),
            None => Err(MeasureError::Spawn {
                name: "what ends a server".to_string(),
                error: io::ErrorKind::TimedOut.into(),
            }),
        }
    }

    fn with<T>(&self, act: impl FnOnce(&Watch) -> T) -> T {
        match &self.running {
            Running::Watched(watch) => act(watch),
            Running::Kept(kept) => act(&kept.lock()),
            Running::Over => unreachable!("a server that was started is watched"),
        }
    }

    fn with_mut<T>(&mut self, act: impl FnOnce(&mut Watch) -> T) -> T {
        match &mut self.running {
            Running::Watched(watch) => act(watch),
            Running::Kept(kept) => act(&mut kept.lock()),
            Running::Over => unreachable!("a server that was started is watched"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The end of this pipe means 'end it all'. While the tree is being ended it may still want
        // to listen, so the watch goes last.
        self.control = None;
        // SAFETY: our own child, which ends within a bounded time.
        unsafe { libc::waitpid(self.keeper, std::ptr::null_mut(), 0) };
    }
}

impl Watch {
    fn descriptors(&self) -> Vec<RawFd> {
        let optional = [&self.calls, &self.output, &self.errors];
        let optional = optional.into_iter().flatten().map(AsRawFd::as_raw_fd);
        [self.reports.as_raw_fd()]
            .into_iter()
            .chain(optional)
            .collect()
    }

    fn wait(&mut self, until: u64) -> Option<ServerEvent> {
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

    /// Looks at all sockets that listen for those of this tree.
    fn look(&mut self) {
        let at = now();
        let before = std::mem::replace(&mut self.last_look, at);
        let share = match self.calls {
            Some(_) => LOOK_SHARE_BESIDE,
            None => LOOK_SHARE,
        };
        let least = match self.calls {
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
        let own: std::collections::HashSet<u64> =
            pids.into_iter().flat_map(sockets::sockets_of).collect();
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
        let Some(calls) = &self.calls else { return };
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
        while let Some(report) = next_report(&self.reports) {
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

    fn take_output(&mut self) {
        // As much as a pipe holds: who writes without end must not hold up the others.
        for _ in 0..8 {
            let mut got = 0;
            if let Some(output) = &self.output {
                got = read(output, &mut self.buffer);
                let bytes = self.buffer[..got].to_vec();
                self.look_for_line(&bytes);
            }
            if let Some(errors) = &self.errors {
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

/// Where the socket is bound for which somebody called `listen`, and its number. He goes on
/// meanwhile, so that a socket without an address may get it first.
fn place_of(call: Call) -> Option<(Place, u64)> {
    // A descriptor belongs to all threads of a process; a pidfd is of its first.
    let status = std::fs::read_to_string(format!("/proc/{}/status", call.thread)).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    let process: libc::pid_t = line.trim().parse().ok()?;
    // SAFETY: take numbers; the descriptors are ours alone.
    let socket = unsafe {
        let pidfd = libc::syscall(libc::SYS_pidfd_open, process, 0);
        if pidfd == -1 {
            return None;
        }
        let pidfd = OwnedFd::from_raw_fd(pidfd as RawFd);
        let got = libc::syscall(libc::SYS_pidfd_getfd, pidfd.as_raw_fd(), call.descriptor, 0);
        if got == -1 {
            return None;
        }
        OwnedFd::from_raw_fd(got as RawFd)
    };
    let inode = {
        // SAFETY: the structure is plain numbers; the call fills it or fails.
        let mut about: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: writes to a live structure.
        let known = unsafe { libc::fstat(socket.as_raw_fd(), &raw mut about) } == 0;
        if known { about.st_ino } else { 0 }
    };
    let until = now() + 2_000_000;
    loop {
        let place = bound_to(&socket)?;
        match &place {
            Place::Tcp(address) if address.port() == 0 && now() < until => std::hint::spin_loop(),
            _ => return Some((place, inode)),
        }
    }
}

fn bound_to(socket: &OwnedFd) -> Option<Place> {
    // SAFETY: an all-zero address is one of no family; the call fills it as far as it has room.
    let (storage, length) = unsafe {
        let mut storage: libc::sockaddr_storage = std::mem::zeroed();
        let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        let at = (&raw mut storage).cast();
        if libc::getsockname(socket.as_raw_fd(), at, &raw mut length) == -1 {
            return None;
        }
        (storage, length as usize)
    };
    let at = &raw const storage;
    match i32::from(storage.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family says which structure it is; the storage is aligned for all.
            let four = unsafe { &*at.cast::<libc::sockaddr_in>() };
            let ip = Ipv4Addr::from(four.sin_addr.s_addr.to_ne_bytes());
            let address = SocketAddr::new(IpAddr::V4(ip), u16::from_be(four.sin_port));
            Some(Place::Tcp(address))
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let six = unsafe { &*at.cast::<libc::sockaddr_in6>() };
            let ip = Ipv6Addr::from(six.sin6_addr.s6_addr);
            let address = SocketAddr::new(IpAddr::V6(ip), u16::from_be(six.sin6_port));
            Some(Place::Tcp(address))
        }
        libc::AF_UNIX => {
            // SAFETY: as above.
            let unix = unsafe { &*at.cast::<libc::sockaddr_un>() };
            let used = length.saturating_sub(std::mem::offset_of!(libc::sockaddr_un, sun_path));
            let bytes: Vec<u8> = unix.sun_path.iter().take(used).map(|c| *c as u8).collect();
            let path = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
            // One without a name, or with an abstract one, is no place in the file system.
            (!path.is_empty()).then(|| Place::Unix(OsStr::from_bytes(path).into()))
        }
        _ => None,
    }
}

/// Waits until one of them is readable, at most until a moment.
fn poll(descriptors: &[RawFd], until: u64) {
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
    // SAFETY: as many entries as are said, a live time, no signal mask.
    let ready = unsafe { libc::ppoll(at, count, &raw const wait, std::ptr::null()) };
    let hung_up = libc::POLLHUP | libc::POLLERR;
    let has_bytes = polled.iter().any(|entry| entry.revents & libc::POLLIN != 0);
    if ready > 0 && !has_bytes && polled.iter().any(|entry| entry.revents & hung_up != 0) {
        // A pipe without a writer reports itself without end.
        std::thread::sleep(std::time::Duration::from_micros(500));
    }
}

fn next_report(reports: &OwnedFd) -> Option<Report> {
    let mut report = Report::default();
    let size = size_of::<Report>();
    loop {
        // SAFETY: at most the size of the report, which any bytes make a valid one.
        let got = unsafe { libc::read(reports.as_raw_fd(), (&raw mut report).cast(), size) };
        if got == size as isize {
            return Some(report);
        }
        if got != -1 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
}

fn not_started(
    command: &CommandLine,
    options: &StartOptions,
    step: usize,
    error: io::Error,
) -> MeasureError {
    match step {
        2 => MeasureError::Directory {
            path: command.folder().to_path_buf(),
            error,
        },
        3 => MeasureError::Pin {
            cpus: options.cpus.clone(),
            error,
        },
        4 => MeasureError::NotExecutable {
            path: command.program.clone(),
            reason: error.to_string(),
        },
        step => MeasureError::Spawn {
            name: format!(
                "{} (to {})",
                command.program.display(),
                keeper::STEPS[step.min(4)]
            ),
            error,
        },
    }
}

/// Whether executing the program changes the user or adds capabilities: under the filter it
/// wouldn't.
fn gains_privileges(command: &CommandLine) -> bool {
    let path = match command.program.is_absolute() {
        true => command.program.clone(),
        false => command.folder().join(&command.program),
    };
    let mode = std::fs::metadata(&path).map_or(0, |about| about.permissions().mode());
    if mode & (libc::S_ISUID | libc::S_ISGID) != 0 {
        return true;
    }
    let Ok(path) = text(path.as_os_str()) else {
        return false;
    };
    let name = c"security.capability".as_ptr();
    // SAFETY: two texts; asks for a length only.
    unsafe { libc::getxattr(path.as_ptr(), name, std::ptr::null_mut(), 0) > 0 }
}

fn open_input(input: &Input) -> Result<OwnedFd, MeasureError> {
    let path = match input {
        Input::Null => "/dev/null".into(),
        Input::File(path) => path.clone(),
    };
    let opened = std::fs::File::open(&path);
    let opened = opened.map_err(|error| MeasureError::Input { path, error })?;
    Ok(opened.into())
}

/// The end that Fathom reads, if it does; the end that the server writes to, if it isn't Fathom's
/// own standard output.
fn open_output(
    command: &CommandLine,
    options: &StartOptions,
) -> Result<(Option<OwnedFd>, Option<OwnedFd>), MeasureError> {
    let path = match &command.output {
        _ if options.show_output => return Ok((None, None)),
        Output::Inherit => return Ok((None, None)),
        Output::Null if options.wanted_line.is_none() => PathBuf::from("/dev/null"),
        Output::File(path) => path.clone(),
        Output::Pipe | Output::Null => {
            let (read, write) = pipe().map_err(|error| MeasureError::Spawn {
                name: command.program.display().to_string(),
                error,
            })?;
            return Ok((Some(read), Some(write)));
        }
    };
    let opened = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path);
    let opened = opened.map_err(|error| MeasureError::Output { path, error })?;
    Ok((None, Some(opened.into())))
}

fn environment(command: &CommandLine, options: &StartOptions) -> io::Result<Vec<CString>> {
    let all = environment_of(command).into_iter();
    let given = |name: &OsStr| command.variables.iter().any(|(n, _)| n == name);
    let added = options.variables.iter().filter(|(name, _)| !given(name));
    let replaced = |pair: &Vec<u8>| {
        let mut names = added.clone().map(|(name, _)| name.as_bytes());
        names.any(|name| pair.starts_with(name) && pair.get(name.len()) == Some(&b'='))
    };
    let mut pairs: Vec<Vec<u8>> = all.filter(|pair| !replaced(pair)).collect();
    pairs.extend(added.map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat()));
    texts(pairs.iter().map(Vec::as_slice))
}

fn text(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn texts<'a>(texts: impl Iterator<Item = &'a [u8]>) -> io::Result<Vec<CString>> {
    let text = |bytes| CString::new(bytes).map_err(|_| io::ErrorKind::InvalidInput.into());
    texts.map(text).collect()
}

fn cpu_set(cpus: &[usize]) -> libc::cpu_set_t {
    // SAFETY: all-zero is a valid, empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for cpu in cpus.iter().filter(|cpu| **cpu < libc::CPU_SETSIZE as usize) {
        // SAFETY: the number is below the set's size.
        unsafe { libc::CPU_SET(*cpu, &mut set) };
    }
    set
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: the array has room for both descriptors.
    if unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) } == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both were just made and nobody else owns them.
    Ok(unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) })
}

fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (a, b) = std::os::unix::net::UnixDatagram::pair()?;
    Ok((a.into(), b.into()))
}

fn nonblocking(fd: &OwnedFd) -> io::Result<()> {
    // SAFETY: takes numbers.
    match unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
