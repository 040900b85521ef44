//! Measures the cost of a page fault and of a call beyond the part that the programs see.
//!
//! The programs see a fault from the tracepoint at its beginning to the kernel's count at its end. The
//! processor's exception and return (in a virtual machine also the hypervisor's part, which is far more) and
//! parts of the programs themselves are outside this interval. Their sum is the same for each fault, so it is
//! measured here: this thread touches fresh memory, and its CPU clock gives the total. The time that the
//! programs see of a call lacks the way into the kernel and out of it, but contains a part of the programs
//! themselves. It is measured in the same way.
//!
//! All of this depends on what shares the core: a fault of which the programs saw 530 ns took another 605,
//! and one of 880 ns took another 740 to 775, for seconds or minutes. If faults matter, they are therefore
//! measured after the run as well.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use super::bpf;
use super::layout::{lost, task};
use super::session::Session;
use crate::records::{Alive, CallKey, CallTotals, Record, record};
use crate::result::{CallOverhead, FaultOverhead};

/// Pages per measurement. Clearing them evicts the programs and their tables from the nearest caches, as in a
/// program that touches much memory.
pub(super) const PAGES: usize = 512;
/// Number of measurements, each made with and without the programs; about 15 ms in total.
const ROUNDS: usize = 8;

/// Minimum ratio of the seen times of two measurements to use the pair for the slope, which says how the
/// unseen part depends on the seen one. [`ENOUGH_PAIRS`] such pairs are required.
const FAR_MORE: f64 = 1.35;
const ENOUGH_PAIRS: usize = 5;
/// Slope used if there are too few pairs: measurements gave 0.37 to 0.45 (Intel of 2023).
const USUAL_SLOPE: f64 = 0.4;
/// How far below and above the measurements the line is extrapolated, as factors of the lowest and the
/// highest seen time.
const LEAST_SEEN: f64 = 0.6;
const MOST_SEEN: f64 = 1.3;

/// Number of calls per measurement, so that they take 20 to 100 times as long as the two clock readings.
const CALLS: usize = 100;
/// Number of computation steps between two calls, each 6 cycles. Calls directly after each other are faster
/// than those of any real program: of a program's calls, which took 141 ns each with 270 ns of computation in
/// between, the programs saw 156 ns; of calls in a row, they saw 105 ns.
const STEPS: usize = 100;
/// Number of measurements of calls, each with and without the programs. The minimum counts, because anything
/// above it is caused by neighbours, and measurements with and without the programs can't alternate.
const CALL_ROUNDS: usize = 30;

/// CPU time of this thread's faults and calls without tracing, in ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Untraced {
    fault_ns: Option<f64>,
    call_ns: Option<f64>,
}

impl Untraced {
    /// Measures both. Call this before the programs are attached.
    pub(super) fn measure(faults: bool) -> Self {
        let null = null();
        Self {
            fault_ns: untraced_fault().filter(|_| faults),
            call_ns: null.and_then(|null| cheap_call(&null)),
        }
    }
}

/// Measures by how much the programs see too little or too much. Afterwards, the tables contain nothing of
/// this thread.
pub(super) fn measure(
    session: &mut Session,
    untraced: Untraced,
) -> (Option<Faults>, Option<Calls>) {
    let Some(tid) = follow(session) else {
        return (None, None);
    };
    let faults = untraced
        .fault_ns
        .and_then(|ns| faults(session, tid).beside(ns));
    let calls = untraced.call_ns.and_then(|ns| calls(session, tid, ns));
    match forget(session, tid) {
        Ok(()) => (faults, calls),
        Err(_) => (None, None),
    }
}

/// Makes the programs follow this thread. Returns the kernel's id of the thread, which in a container differs
/// from ours.
fn follow(session: &mut Session) -> Option<u32> {
    bpf::run_here(session.follow()).ok()?;
    let mut own = None;
    session.ring.drain(|bytes| {
        if let Some(Record::Follow { who, .. }) = record(bytes) {
            own = Some(who.tid);
        }
    });
    own
}

/// Returns the CPU time in ns of a fault of this thread without tracing. The minimum counts, because
/// disturbances only add time.
pub(super) fn untraced_fault() -> Option<f64> {
    least((0..ROUNDS).filter_map(|_| touch()))
}

/// Faults of this thread, with and without the programs.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    /// For each measurement, the CPU time per fault that the programs saw and the time that they didn't see,
    /// in ns.
    rounds: Vec<(f64, f64)>,
    /// Minimum CPU time per fault with tracing, in ns.
    traced_ns: f64,
    /// Minimum CPU time per fault without tracing, in ns.
    untraced_ns: f64,
}

impl Faults {
    /// Combines both into one measurement.
    pub(super) fn and(mut self, others: Self) -> Self {
        self.rounds.extend(others.rounds);
        self.traced_ns = f64::midpoint(self.traced_ns, others.traced_ns);
        self.untraced_ns = f64::midpoint(self.untraced_ns, others.untraced_ns);
        self
    }

    /// Returns the additional cost of faults of which the programs saw `seen_ns` each on average; if that is
    /// `None`, the cost of the measured faults.
    pub(super) fn overhead(&self, seen_ns: Option<f64>) -> Option<FaultOverhead> {
        let outside_ns = outside_of(&self.rounds, seen_ns)?;
        Some(FaultOverhead {
            outside_ns: outside_ns.max(0.0),
            tracer_ns: (self.traced_ns - self.untraced_ns).max(0.0),
            tick_skid_share: None,
        })
    }
}

/// Returns the unseen part of a fault of which `seen_ns` were seen. It is on the line through measurements
/// with different seen parts. The line isn't extended far beyond the measurements, because faults there are
/// of another kind.
fn outside_of(rounds: &[(f64, f64)], seen_ns: Option<f64>) -> Option<f64> {
    let pairs = rounds.iter().enumerate();
    let pairs = pairs.flat_map(|(at, one)| rounds[at + 1..].iter().map(move |other| (one, other)));
    let apart = pairs.filter(|(one, other)| one.0.max(other.0) > FAR_MORE * one.0.min(other.0));
    let slopes: Vec<f64> = apart
        .map(|(one, other)| (other.1 - one.1) / (other.0 - one.0))
        .collect();
    let slope = match slopes.len() >= ENOUGH_PAIRS {
        true => median(slopes)?.clamp(0.0, 1.0),
        false => USUAL_SLOPE,
    };
    let seen = || rounds.iter().map(|round| round.0);
    let middle = median(seen().collect())?;
    let (low, high) = (least(seen())?, seen().fold(0.0, f64::max));
    let at = seen_ns
        .unwrap_or(middle)
        .clamp(LEAST_SEEN * low, MOST_SEEN * high);
    median(
        rounds
            .iter()
            .map(|round| round.1 + slope * (at - round.0))
            .collect(),
    )
}

/// Measures faults after the run, and detaches the programs. Read the losses of the run before calling this.
pub(super) fn faults_again(session: &mut Session) -> Option<Faults> {
    let tid = follow(session)?;
    let rounds = faults(session, tid);
    forget(session, tid).ok()?;
    session.disarm();
    rounds.beside(untraced_fault()?)
}

/// Measurements of faults with tracing: the seen and the unseen part of each, in ns.
struct TracedFaults(Vec<(f64, f64)>);

impl TracedFaults {
    fn beside(self, untraced_ns: f64) -> Option<Faults> {
        let traced_ns = least(self.0.iter().map(|(seen, outside)| seen + outside))?;
        Some(Faults {
            rounds: self.0,
            traced_ns,
            untraced_ns,
        })
    }
}

fn faults(session: &Session, tid: u32) -> TracedFaults {
    let round = |_| {
        let before = served(session, tid)?;
        let whole = touch()?;
        let after = served(session, tid)?;
        let faults = after.0.saturating_sub(before.0);
        let seen = after.1.saturating_sub(before.1) as f64 / faults.max(1) as f64;
        (faults as usize >= PAGES).then_some((seen, whole - seen))
    };
    TracedFaults((0..ROUNDS).filter_map(round).collect())
}

/// CPU time of a cheap call of this thread, in ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls {
    /// Without tracing.
    pub untraced_ns: f64,
    /// With tracing.
    traced_ns: f64,
    /// The part that the programs see.
    seen_ns: f64,
}

impl Calls {
    pub(super) fn overhead(self, tick_skid_ns: Option<f64>) -> CallOverhead {
        CallOverhead {
            outside_ns: (self.untraced_ns - self.seen_ns).round(),
            tracer_ns: (self.traced_ns - self.untraced_ns).max(0.0).round(),
            tick_skid_ns,
        }
    }
}

fn calls(session: &Session, tid: u32, untraced_ns: f64) -> Option<Calls> {
    let null = null()?;
    let (mut seen, mut wholes) = (Vec::new(), Vec::new());
    for _ in 0..CALL_ROUNDS {
        let before = timed_reads(session, tid);
        let whole = calls_in_turn(Some(&null), CALLS);
        let after = timed_reads(session, tid)?;
        let (calls, ns) = before.map_or(after, |b| (after.0 - b.0, after.1 - b.1));
        if calls as usize >= CALLS {
            seen.push(ns as f64 / calls as f64);
            wholes.push(whole);
        }
    }
    Some(Calls {
        untraced_ns,
        traced_ns: least(wholes)? - computing()?,
        seen_ns: least(seen)?,
    })
}

/// Returns the number and the total time in ns of this thread's reads, as seen by the programs.
fn timed_reads(session: &Session, tid: u32) -> Option<(u64, u64)> {
    let rows = session.maps.calls.entries().ok()?;
    let rows = rows
        .iter()
        .filter_map(|(key, row)| CallKey::decode(key).zip(CallTotals::decode(row)));
    let own = rows.filter(|(key, _)| key.who.tid == tid && i64::from(key.nr) == libc::SYS_read);
    own.map(|(_, row)| (row.calls, row.total))
        .reduce(|a, b| (a.0 + b.0, a.1 + b.1))
}

fn least(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    values.into_iter().min_by(f64::total_cmp)
}

pub(super) fn null() -> Option<File> {
    File::open("/dev/null").ok()
}

/// Returns the CPU time in ns of a cheap call in a program that also computes.
fn cheap_call(null: &File) -> Option<f64> {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..CALL_ROUNDS {
        with.push(calls_in_turn(Some(null), CALLS));
        without.push(calls_in_turn(None, CALLS));
    }
    Some((least(with)? - least(without)?).max(0.0))
}

/// Returns the CPU time in ns of the computation between two calls.
fn computing() -> Option<f64> {
    least((0..CALL_ROUNDS).map(|_| calls_in_turn(None, CALLS)))
}

/// Returns the mean CPU time in ns of the computation between two calls, plus that of a call if `null` is
/// given.
pub(super) fn calls_in_turn(null: Option<&File>, calls: usize) -> f64 {
    let mut byte = 0u8;
    let mut number = 1u64;
    let before = cpu_ns();
    for _ in 0..calls {
        if let Some(null) = null {
            // SAFETY: at most one live byte is written. This doesn't use `read`, which does more in a program
            // with threads.
            unsafe { libc::syscall(libc::SYS_read, null.as_raw_fd(), &raw mut byte, 1usize) };
        }
        for _ in 0..STEPS {
            // The number is kept in a register, so that nothing depends on the predictor state that a call
            // leaves.
            number ^= number << 13;
            number ^= number >> 7;
            number ^= number << 17;
        }
    }
    std::hint::black_box(number);
    (cpu_ns() - before) as f64 / calls as f64
}

/// Returns the number of timed faults so far and their total time.
fn served(session: &Session, tid: u32) -> Option<(u64, u64)> {
    let state = session.maps.tasks.get(&tid.to_ne_bytes()).ok()??;
    let state = Alive::decode(&state)?;
    Some((state.faults, state.fault_total))
}

/// Removes this thread from the tables, and resets the counters of losses.
fn forget(session: &mut Session, tid: u32) -> io::Result<()> {
    let maps = &session.maps;
    maps.tasks.remove(&tid.to_ne_bytes())?;
    for map in [&maps.calls, &maps.calls_rest, &maps.off_cpu] {
        let from = task::TID as usize;
        for (key, _) in map.entries()? {
            if key.get(from..from + 4) == Some(&tid.to_ne_bytes()) {
                map.remove(&key)?;
            }
        }
    }
    for which in 0..lost::COUNT as i32 {
        maps.lost.set(&which.to_ne_bytes(), &0u64.to_ne_bytes())?;
    }
    session.ring.drain(|_| ());
    Ok(())
}

/// Touches fresh memory; returns the CPU time per page in ns.
pub(super) fn touch() -> Option<f64> {
    const PAGE: usize = 4096;
    let len = PAGES * PAGE;
    // SAFETY: a fresh private mapping placed by the kernel; it is only written to, and is unmapped before the
    // pointer is dropped.
    unsafe {
        let at = libc::mmap(
            std::ptr::null_mut(),
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if at == libc::MAP_FAILED {
            return None;
        }
        libc::madvise(at, len, libc::MADV_NOHUGEPAGE);
        let before = cpu_ns();
        for page in 0..PAGES {
            at.cast::<u8>().add(page * PAGE).write_volatile(1);
        }
        let after = cpu_ns();
        libc::munmap(at, len);
        Some((after - before) as f64 / PAGES as f64)
    }
}

/// Returns the CPU time of this thread.
pub(super) fn cpu_ns() -> i64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to one live value.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut t) };
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_of_a_fault_goes_with_what_is() {
        // Measurements with the core to itself, and with a shared core.
        let both = |alone: usize, shared: usize| {
            let mut rounds = vec![(600.0, 610.0); alone];
            rounds.extend(vec![(900.0, 730.0); shared]);
            rounds
        };
        let reported =
            |rounds: &[(f64, f64)], seen| outside_of(rounds, Some(seen)).unwrap().round();
        assert_eq!(reported(&both(8, 8), 600.0), 610.0);
        assert_eq!(reported(&both(8, 8), 750.0), 670.0);
        assert_eq!(reported(&both(2, 8), 600.0), 610.0);
        // Nothing is known far beyond the measurements.
        assert_eq!(reported(&both(8, 8), 2000.0), 838.0);
        assert_eq!(reported(&both(8, 8), 9000.0), 838.0);
        // All measurements are equal.
        assert_eq!(reported(&both(0, 16), 600.0), 610.0);
        assert_eq!(outside_of(&[], Some(600.0)), None);
        assert_eq!(outside_of(&both(5, 3), None).unwrap().round(), 610.0);
    }
}
