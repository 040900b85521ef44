//! What does a page fault take beside what the programs see of it?
//!
//! They see it from the tracepoint at its beginning to the kernel's count at its end. Before and after
//! lie the processor's exception and return (in a virtual machine the hypervisor's, by far more) and
//! part of the programs themselves. Together that is the same for each fault, so it is measured here:
//! this thread touches fresh memory, and its own clock tells what all of it took.

use std::io;

use super::bpf;
use super::layout::task;
use super::session::Session;
use crate::records::{Alive, Record, record};
use crate::result::FaultEdges;

/// Pages of one measurement: with 64 the two looks at the clock are 1 % of it.
const PAGES: usize = 64;
/// Measurements with and without the programs; the median of each counts. About 3 ms in all.
const ROUNDS: usize = 8;

/// A fault of this thread's when nobody looks, ns.
pub(super) fn untraced_ns() -> Option<f64> {
    median((0..ROUNDS).filter_map(|_| touch()).collect())
}

/// What [`FaultEdges`] says; `None` if the thread could not be followed. Leaves no trace of this thread.
pub(super) fn measure(session: &mut Session, untraced_ns: f64) -> Option<FaultEdges> {
    bpf::run_here(session.follow()).ok()?;
    let mut own = None;
    session.ring.drain(|bytes| {
        if let Some(Record::Follow { who, .. }) = record(bytes) {
            own = Some(who);
        }
    });
    // By the kernel's own number, which in a container is not ours.
    let own = own?;
    let (mut edges, mut wholes) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let before = served(session, own.tid);
        let whole = touch();
        let after = served(session, own.tid);
        if let (Some(before), Some(whole), Some(after)) = (before, whole, after) {
            let faults = after.0.saturating_sub(before.0);
            let seen = after.1.saturating_sub(before.1) as f64;
            if faults as usize >= PAGES {
                edges.push(whole - seen / faults as f64);
                wholes.push(whole);
            }
        }
    }
    let forgotten = forget(session, own.tid);
    let (edge, whole) = (median(edges)?, median(wholes)?);
    forgotten.ok()?;
    Some(FaultEdges {
        outside_ns: edge.max(0.0),
        tracer_ns: (whole - untraced_ns).max(0.0),
    })
}

/// Faults that were timed and their time, so far.
fn served(session: &Session, tid: u32) -> Option<(u64, u64)> {
    let state = session.maps.tasks.get(&tid.to_ne_bytes()).ok()??;
    let state = Alive::decode(&state)?;
    Some((state.faults, state.fault_total))
}

/// Takes this thread out of the tables.
fn forget(session: &mut Session, tid: u32) -> io::Result<()> {
    let maps = &session.maps;
    maps.tasks.remove(&tid.to_ne_bytes())?;
    for map in [&maps.calls, &maps.off_cpu] {
        let from = task::TID as usize;
        for (key, _) in map.entries()? {
            if key.get(from..from + 4) == Some(&tid.to_ne_bytes()) {
                map.remove(&key)?;
            }
        }
    }
    session.ring.drain(|_| ());
    Ok(())
}

/// Touches fresh memory: CPU time for each page, ns.
fn touch() -> Option<f64> {
    const PAGE: usize = 4096;
    let len = PAGES * PAGE;
    // SAFETY: a fresh private mapping placed by the kernel; only it is written to, and it is
    // unmapped before the pointer goes.
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

/// CPU time of this thread.
fn cpu_ns() -> i64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes one live value.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
