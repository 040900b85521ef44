//! Follows a running process in the kernel.

use std::time::{Duration, SystemTime};

use super::layout::{cause, connection, pace, task};
use super::observe::{Gathering, READING, alive, losses};
use super::programs::Sides;
use super::session::Session;
use super::urgent::Urgent;
use crate::attach::{Found, Reading, Readings, Target, complete, limits, read_thread};
use crate::calls;
use crate::collect::Collector;
use crate::command::TraceOptions;
use crate::error::{TraceError, system};
use crate::records::Who;
use crate::result::Trace;
use crate::sample::parse::Doing;
use crate::watch::now;

/// Maximum number of attempts to read a thread that changes between being read and being added.
const TRIES: u32 = 8;

/// Follows the tree for a while and reports what the kernel saw.
pub(crate) fn attach(
    target: &Target,
    time: Duration,
    options: &TraceOptions,
) -> Result<Trace, TraceError> {
    // The process may serve clients, so it is never held back.
    let mut session = Session::arm_with(options, Sides::default(), false)?;
    let mut collector = Collector::new(now(), &[], options.timeline.map(|t| t.most));
    collector.time_faults(options.fault_times.then_some(&session.untimed_faults));
    let mut gathering = Gathering::begin(collector, &[], options, &session.maps);

    let start = now();
    let limits = limits(time, options);
    let (mut found, mut before) = (Found::default(), Readings::default());
    found.search_all(target.pid, |pid, tid| {
        if let Some(reading) = follow(&session, Who { tid, pid }, start)? {
            before.add(pid, tid, reading);
        }
        Ok(())
    })?;
    for thread in found.take_left_out() {
        let removed = session.maps.tasks.remove(&thread.tid.to_ne_bytes());
        removed.map_err(system("removing a thread from the kernel's table"))?;
        gathering.collector.leave_out(thread.pid, thread.has_rights);
    }
    gathering.collector.attach(start, &found);
    found.name_descriptors(&mut gathering.collector.names, &options.labels);
    for (pid, fd) in gathering.collector.open_connections() {
        let key = [pid.to_ne_bytes(), fd.to_ne_bytes()].concat();
        let nothing = u64::from(connection::NOTHING.unsigned_abs()).to_ne_bytes();
        // A connection beyond the table's size is not followed.
        _ = session.maps.connections.add(&key, &nothing);
    }
    let since = target.began().unwrap_or_else(SystemTime::now);
    gathering.attach(found.processes.iter().map(|one| one.pid), since);

    let urgent = Urgent::raise();
    let (mut ended, mut wait) = (false, READING);
    while !ended && !limits.reached() {
        ended = target.has_ended(limits.shorten(wait));
        wait = gathering.read(&mut session)?;
    }
    let end = now();
    drop(urgent);
    // Later events don't belong to the trace: the tables stay as they are.
    session.disarm();
    let alive = alive(&session)?;
    gathering.drain(&mut session);
    let pids = found.processes.iter().map(|one| one.pid);
    gathering.add_blocked(pids, &before, (start, end));
    let fault_overhead = session.faults.take();
    let losses = losses(&session)?;
    let held_back_ns = session.maps.counter(pace::HELD)?;
    let mut trace = Trace {
        held_back_ns,
        started_clock_ns: start,
        duration_ns: end - start,
        fault_overhead: fault_overhead.and_then(|faults| faults.overhead(None)),
        ..gathering.finish(&session, &alive, losses, end)?
    };
    complete(&mut trace, &before, target, &found, ended);
    Ok(trace)
}

/// Adds a thread to the table of followed threads, in its current state. Returns the reading of that state;
/// `None` if it is already followed, because its creator is, or if it has ended.
fn follow(session: &Session, who: Who, start: u64) -> Result<Option<Reading>, TraceError> {
    let key = who.tid.to_ne_bytes();
    let tasks = &session.maps.tasks;
    let failed = |error| system("adding a thread to the kernel's table")(error);
    for attempt in 0..TRIES {
        let Some(reading) = read_thread(who.pid, who.tid) else {
            return Ok(None);
        };
        if !tasks
            .add(&key, &state(who, &reading, start))
            .map_err(failed)?
        {
            return Ok(None);
        }
        // Activity before the thread was added isn't seen, so its state must not have changed by then.
        let same = |now: &Reading| (now.state, now.turns) == (reading.state, reading.turns);
        match read_thread(who.pid, who.tid) {
            Some(now) if same(&now) || attempt + 1 == TRIES => return Ok(Some(reading)),
            Some(_) => tasks.remove(&key).map_err(failed)?,
            // The thread ended, maybe before it was added.
            None => {
                tasks.remove(&key).map_err(failed)?;
                return Ok(None);
            }
        }
    }
    Ok(None)
}

/// Returns the state of a thread as it would be if the programs had followed it since `start`.
fn state(who: Who, reading: &Reading, start: u64) -> [u8; task::SIZE] {
    let mut state = [0; task::SIZE];
    let mut word = |at: i16, value: u32| put(&mut state, at, &value.to_ne_bytes());
    for key in [task::CALL_KEY, task::OFF_KEY] {
        word(key + task::TID, who.tid);
        word(key + task::TGID, who.pid);
    }
    let call = match reading.doing {
        Some(Doing::Call(number, first)) => Some((number, first)),
        _ => None,
    };
    let (number, fd) = match call {
        Some((number, first)) => {
            let flags = calls::flags(number);
            word(task::FLAGS, flags);
            let has_fd = flags & calls::FD != 0;
            (number, if has_fd { first as u32 } else { u32::MAX })
        }
        None => (u32::MAX, u32::MAX),
    };
    if call.is_some() {
        word(task::NR, number);
        word(task::FD, fd);
    }
    word(task::OFF_NR, number);
    word(task::OFF_NR + 4, fd);
    word(
        task::OFF_CAUSE,
        match reading.state {
            b'D' => cause::UNINTERRUPTIBLE,
            b'T' | b't' => cause::STOPPED,
            _ => cause::SLEEP,
        } as u32,
    );
    let mut long = |at: i16, value: u64| put(&mut state, at, &value.to_ne_bytes());
    long(task::STARTED, start);
    long(task::ENTER, call.map_or(0, |_| start));
    // 0 means that nothing was recorded.
    long(task::RAN, reading.on_cpu | 1);
    long(task::VOLUNTARY, reading.switches.0);
    match reading.state {
        b'R' => long(task::ON_SINCE, start),
        _ => long(task::OFF_SINCE, start),
    }
    state
}

fn put(state: &mut [u8], at: i16, bytes: &[u8]) {
    let at = at as usize;
    state[at..at + bytes.len()].copy_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Alive;
    use crate::result::Cause;

    #[test]
    fn who_waits_in_a_call_has_waited_in_it_since_the_start() {
        let who = Who { tid: 7, pid: 5 };
        let reading = Reading {
            state: b'S',
            doing: Some(Doing::Call(libc::SYS_read as u32, 3)),
            ..Reading::default()
        };
        let read = Alive::decode(&state(who, &reading, 1_000)).expect("decodes");
        assert_eq!((read.call.who, read.call.fd), (who, 3));
        assert_eq!(
            (read.enter, read.off_since, read.on_since),
            (1_000, 1_000, 0)
        );
        assert_eq!(read.off_call, Some((libc::SYS_read as u32, 3)));
        assert_eq!(read.cause, Cause::Asleep);
        let runs = Reading {
            state: b'R',
            doing: Some(Doing::Running),
            ..Reading::default()
        };
        let read = Alive::decode(&state(who, &runs, 1_000)).expect("decodes");
        assert_eq!((read.enter, read.off_since, read.on_since), (0, 0, 1_000));
        assert_eq!(read.off_call, None);
    }
}
