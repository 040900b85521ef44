//! How fast the cores together read, write and copy memory, by number of threads.
//!
//! Every thread notes the beginning and end of each of its pieces; afterwards, the windows in which all
//! threads ran are added up. Adding up each thread's own best would count times at which they did not
//! overlap, and a main thread that reads counters would disturb one of them.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::affinity::Pinned;
use crate::context::{Context, NO_MEMORY_SET};
use crate::cpu_gate;
use crate::deadline;
use crate::kernels::streams;
use crate::mapping::{HUGE, Mapping, Pages};
use crate::probes::common_window::{Piece, together};
use crate::probes::core_to_core;
use crate::result::{Estimator, Heading, ProbeResult};
use crate::samples::{Agreement, Samples, judge};

const READ: Heading = Heading {
    id: "bandwidth_read",
    title: "reading memory, all cores",
    unit: "GB/s",
    method: "each pinned thread sums its own buffer, which was written before. Only the bytes read in those windows of \
         0.5 ms in which all threads ran are counted. The figure is the mean of the windows, by number of threads. \
         The pages are those that a program gets by default.",
};

const WRITE: Heading = Heading {
    id: "bandwidth_write",
    title: "writing memory, all cores",
    unit: "GB/s",
    method: "the same with plain stores; the lines that are fetched before a store are not counted.",
};

const AROUND: Heading = Heading {
    id: "bandwidth_write_around",
    title: "writing around caches, all cores",
    unit: "GB/s",
    method: "the same with non-temporal stores, which fetch no lines.",
};

const COPY: Heading = Heading {
    id: "bandwidth_copy",
    title: "copying memory, all cores",
    unit: "GB/s",
    method: "the same with plain loads and stores; bytes read and bytes written both count, as in STREAM; the target is \
         2 KiB away from the source within a page.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[READ, WRITE, AROUND, COPY];

const KINDS: [Heading; 4] = [READ, WRITE, AROUND, COPY];

/// Bytes of one piece between two checks for commands: 20 to 60 us.
const PIECE: usize = 512 << 10;

/// Offset of the target of a copy from its source within a page. At the same offset, a load waits for the
/// last store there, because the processor compares only the lowest 12 bits of the address: 16.9 instead of
/// 21.5 GB/s here.
const APART: usize = 2 << 10;

/// Duration of one pass.
const PASS: Duration = Duration::from_millis(50);

/// Maximum number of repetitions of a pass until [`ENOUGH`] windows counted.
const REPEATS: usize = 4;

/// Number of windows that is sufficient for a pass.
const ENOUGH: usize = 20;

/// Returns the thread counts to try: powers of two, then all CPUs.
fn counts(cpus: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = std::iter::successors(Some(1), |n| Some(n * 2))
        .take_while(|n| *n < cpus)
        .collect();
    counts.push(cpus.max(1));
    counts
}

/// Returns the size in bytes of each of the two buffers of one thread; `None` if there is too little memory.
fn buffer_bytes(context: &Context, threads: usize) -> Option<usize> {
    let wanted = (context.memory_set() / threads).max(16 << 20);
    let bytes = wanted.min(context.memory_budget / (2 * threads)) / HUGE * HUGE;
    (bytes * threads >= context.last_level_bytes() * 2).then_some(bytes)
}

/// A thread that streams on command, and returns its pieces.
struct Worker {
    orders: Sender<usize>,
    pieces: Receiver<Vec<Piece>>,
    thread: JoinHandle<()>,
}

/// Runs all kinds on 1, 2, 4 ... all CPUs.
pub(crate) fn run(context: &Context) -> Vec<ProbeResult> {
    let cpus = if context.cpus.is_empty() {
        vec![0]
    } else {
        context.cpus.clone()
    };
    let before = core_to_core::state(context);
    let mut passes: Vec<Vec<(usize, [Samples; 2])>> = vec![Vec::new(); KINDS.len()];
    for threads in counts(cpus.len()) {
        let Some(bytes) = buffer_bytes(context, threads) else {
            return KINDS.map(|kind| kind.not_measurable(NO_MEMORY_SET)).into();
        };
        // Begin with the CPU of the other probes, so that one thread uses the same core.
        let start = cpus.iter().position(|cpu| *cpu == context.cpu).unwrap_or(0);
        let epoch = Instant::now();
        let workers: Vec<Worker> = (0..threads)
            .map(|i| worker(cpus[(start + i) % cpus.len()], bytes, epoch))
            .collect();
        for (kind, results) in passes.iter_mut().enumerate() {
            results.push((threads, [pass(&workers, kind), Samples::default()]));
        }
        for (kind, results) in passes.iter_mut().enumerate() {
            if let Some((_, both)) = results.last_mut() {
                both[1] = pass(&workers, kind);
            }
        }
        for worker in workers {
            drop(worker.orders);
            let _ = worker.thread.join();
        }
    }
    let state = before.zip(core_to_core::state(context));
    KINDS
        .into_iter()
        .zip(passes)
        .map(|(kind, by_threads)| answer(kind, &by_threads, state))
        .collect()
}

/// Starts a thread that streams for [`PASS`] for each kind that it receives, until the channel closes.
fn worker(cpu: usize, bytes: usize, epoch: Instant) -> Worker {
    let (orders, kinds) = channel::<usize>();
    let (log, pieces) = channel();
    let until = deadline::current();
    let thread = std::thread::spawn(move || {
        deadline::adopt(until);
        let _pinned = Pinned::to(cpu);
        // The thread itself touches the memory first, so on a machine with several nodes the memory is on the
        // thread's node.
        let source = Mapping::touched(bytes, Pages::Given);
        let sink = Mapping::touched(bytes + APART, Pages::Given);
        let (Ok(source), Ok(sink)) = (source, sink) else {
            return;
        };
        let mut at = 0;
        for kind in kinds {
            // Room for pieces of 5 us: nothing is allocated during the pass.
            let mut log_of_pass: Vec<Piece> = Vec::with_capacity(10_000);
            let begin = Instant::now();
            let mut start = epoch.elapsed().as_nanos() as u64;
            while begin.elapsed() < PASS && log_of_pass.len() < log_of_pass.capacity() {
                // SAFETY: `at + PIECE` is at most `bytes`, a multiple of it; the sink is longer by
                // APART, and the thread alone uses both.
                unsafe { stream(kind, source.base().add(at), sink.base().add(at + APART)) };
                at = (at + PIECE) % bytes;
                let end = epoch.elapsed().as_nanos() as u64;
                log_of_pass.push((start, end));
                start = end;
            }
            if log.send(log_of_pass).is_err() {
                return;
            }
        }
    });
    Worker {
        orders,
        pieces,
        thread,
    }
}

/// Streams one piece of the kind at this index of [`KINDS`].
///
/// # Safety
/// Both places must be aligned to 32 and valid for [`PIECE`] bytes, and not overlap.
unsafe fn stream(kind: usize, from: *mut u8, to: *mut u8) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match kind {
            0 => {
                std::hint::black_box(streams::read(from, PIECE));
            }
            1 => streams::write(to, PIECE, 7),
            2 => streams::write_around(to, PIECE, 7),
            _ => streams::copy(from, to, PIECE),
        }
    }
}

/// Returns the GB/s of all workers together, for each window in which all had their CPU.
fn pass(workers: &[Worker], kind: usize) -> Samples {
    let bytes = if kind == 3 { 2 * PIECE } else { PIECE };
    let mut samples = Samples::default();
    let (steal, switches) = (cpu_gate::steal_ns(), cpu_gate::involuntary_switches());
    for _ in 0..REPEATS {
        if deadline::passed() {
            break;
        }
        let ordered = workers
            .iter()
            .all(|worker| worker.orders.send(kind).is_ok());
        let logs: Vec<Vec<Piece>> = workers
            .iter()
            .map_while(|worker| worker.pieces.recv().ok())
            .collect();
        if !ordered || logs.len() < workers.len() {
            break;
        }
        let found = together(&logs, bytes);
        samples.values.extend(found.rates);
        samples.rejected += found.rejected;
        if samples.values.len() >= ENOUGH {
            break;
        }
    }
    let windows = samples.values.len() + samples.rejected;
    samples.share = (windows > 0).then(|| samples.values.len() as f64 / windows as f64);
    samples.steal_ns = cpu_gate::steal_ns().saturating_sub(steal);
    samples.involuntary_switches = cpu_gate::involuntary_switches().saturating_sub(switches);
    samples
}

fn answer(
    heading: Heading,
    by_threads: &[(usize, [Samples; 2])],
    state: Option<(f64, f64)>,
) -> ProbeResult {
    let agreement = Agreement {
        estimator: Estimator::Mean,
        tolerance: 0.15,
    };
    let judged: Vec<(usize, ProbeResult)> = by_threads
        .iter()
        .map(|(threads, passes)| (*threads, judge(heading, agreement, passes)))
        .collect();
    let points: Vec<(f64, f64)> = judged
        .iter()
        .filter_map(|(threads, r)| Some((*threads as f64, r.value?)))
        .collect();
    let mut result = match judged.last() {
        Some((_, result)) => result.clone(),
        None => heading.no_answer("the threads could not be started"),
    };
    let best = points.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    if let Some((threads, rate)) = points.iter().find(|(_, rate)| *rate >= best * 0.9)
        && result.value.is_some()
    {
        result.add_note(match *threads {
            1.0 => format!("1 thread reaches {rate:.1}"),
            _ => format!("{threads:.0} threads reach {rate:.1}"),
        });
    }
    result.core_to_core_ns = state;
    if let Some((before, after)) = state {
        result.add_note(format!(
            "core to core {before:.0} ns before, {after:.0} after"
        ));
        let ratio = before.max(after) / before.min(after);
        if ratio > 2.0 && by_threads.len() > 1 && result.value.is_some() {
            let why = "the latency between the cores changed during the measurement";
            result.withdraw(crate::result::ProbeVerdict::Disturbed, why);
        }
    }
    result.set_points("threads", "GB/s", points);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::ProbeVerdict;

    fn steady(rate: f64) -> [Samples; 2] {
        let pass = Samples {
            values: vec![rate; 6],
            share: Some(1.0),
            ..Samples::default()
        };
        [pass.clone(), pass]
    }

    #[test]
    fn threads_double_up_to_all_cpus() {
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(2), [1, 2]);
        assert_eq!(counts(6), [1, 2, 4, 6]);
        assert_eq!(counts(0), [1]);
    }

    #[test]
    fn the_figure_is_that_of_all_cpus_and_the_knee_is_told() {
        let result = answer(
            READ,
            &[(1, steady(20.0)), (2, steady(21.0))],
            Some((30.0, 31.0)),
        );
        assert_eq!(
            (result.value, result.verdict),
            (Some(21.0), ProbeVerdict::Ok)
        );
        assert!(result.note.unwrap().starts_with("1 thread reaches 20.0"));
        assert_eq!(result.points.unwrap().len(), 2);
    }

    #[test]
    fn cores_that_move_apart_take_the_figure_back() {
        let result = answer(
            READ,
            &[(1, steady(20.0)), (2, steady(40.0))],
            Some((30.0, 150.0)),
        );
        assert_eq!(
            (result.value, result.verdict),
            (None, ProbeVerdict::Disturbed)
        );
    }
}
