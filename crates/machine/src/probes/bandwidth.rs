//! How fast the cores together read, write and copy memory, by number of threads.
//!
//! All threads run while the main thread reads their byte counters at the two ends of a common
//! window. Adding up each thread's own best would count times at which they did not overlap.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::affinity::Pinned;
use crate::context::Context;
use crate::gate::{self, LEAST_SHARE};
use crate::kernels::streams;
use crate::mapping::{HUGE, Mapping, Pages};
use crate::probes::core_to_core;
use crate::result::{Estimator, Heading, ProbeResult};
use crate::samples::{Agreement, Samples, estimate, judge};

const READ: Heading = Heading {
    id: "bandwidth_read",
    title: "reading memory, all cores",
    unit: "GB/s",
    method: "pinned threads sum their own written buffers; bytes of all in a common window of \
             4 ms in which all had their CPU; the median window. By number of threads.",
};

const WRITE: Heading = Heading {
    id: "bandwidth_write",
    title: "writing memory, all cores",
    unit: "GB/s",
    method: "the same with plain stores; the lines that stores fetch first are not counted.",
};

const AROUND: Heading = Heading {
    id: "bandwidth_write_around",
    title: "writing around caches, all cores",
    unit: "GB/s",
    method: "the same with non-temporal stores, which fetch nothing.",
};

const COPY: Heading = Heading {
    id: "bandwidth_copy",
    title: "copying memory, all cores",
    unit: "GB/s",
    method: "the same with plain loads and stores; read and written bytes both count, as in \
             STREAM.",
};

const KINDS: [Heading; 4] = [READ, WRITE, AROUND, COPY];

/// Bytes of one piece between two looks at the orders: 20 to 60 us.
const PIECE: usize = 512 << 10;

/// Windows of one pass. They are short because at load 6 no window of 10 ms had both CPUs.
const WINDOWS: usize = 12;

/// Windows of a pass of which few had all CPUs.
const MOST_WINDOWS: usize = 60;

/// Longest pass: at load 10 each window of 4 ms took 15 to 30.
const LONGEST: Duration = Duration::from_millis(250);

const WINDOW: Duration = Duration::from_millis(4);

/// Most CPUs are tried in powers of two up to this many threads, then all.
fn counts(cpus: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = std::iter::successors(Some(1), |n| Some(n * 2))
        .take_while(|n| *n < cpus)
        .collect();
    counts.push(cpus.max(1));
    counts
}

/// Bytes of each of the two buffers of one thread; `None` if there is too little memory.
fn buffer_bytes(context: &Context, threads: usize) -> Option<usize> {
    let wanted = (context.memory_set() / threads).max(16 << 20);
    let bytes = wanted.min(context.memory_budget / (2 * threads)) / HUGE * HUGE;
    (bytes * threads >= context.last_level_bytes() * 2).then_some(bytes)
}

/// The orders that all threads follow, each counter in a line of its own.
struct Orders {
    kind: AtomicUsize,
    stop: AtomicBool,
}

#[repr(align(256))]
struct Counter(AtomicU64);

struct Worker {
    bytes: Arc<Counter>,
    cpu_clock: libc::clockid_t,
    thread: JoinHandle<()>,
}

/// Runs all kinds on 1, 2, 4 ... all CPUs.
pub fn run(context: &Context) -> Vec<ProbeResult> {
    let cpus = if context.cpus.is_empty() {
        vec![0]
    } else {
        context.cpus.clone()
    };
    let before = core_to_core::state(context);
    let mut passes: Vec<Vec<(usize, [Samples; 2])>> = vec![Vec::new(); KINDS.len()];
    for threads in counts(cpus.len()) {
        let Some(bytes) = buffer_bytes(context, threads) else {
            return KINDS
                .map(|kind| ProbeResult::not_measurable(kind, "too little memory is available"))
                .into();
        };
        let orders = Arc::new(Orders {
            kind: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
        });
        // Begin with the CPU of the other probes, so that one thread means the same core.
        let start = cpus.iter().position(|cpu| *cpu == context.cpu).unwrap_or(0);
        let workers: Option<Vec<Worker>> = (0..threads)
            .map(|i| worker(cpus[(start + i) % cpus.len()], bytes, Arc::clone(&orders)))
            .collect();
        if let Some(workers) = &workers {
            for pass in 0..2 {
                for (kind, results) in passes.iter_mut().enumerate() {
                    orders.kind.store(kind, Ordering::Relaxed);
                    let samples = windows(workers);
                    if pass == 0 {
                        results.push((threads, [samples, Samples::default()]));
                    } else if let Some((_, both)) = results.last_mut() {
                        both[1] = samples;
                    }
                }
            }
        }
        orders.stop.store(true, Ordering::Relaxed);
        for worker in workers.into_iter().flatten() {
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

/// Starts a thread that streams until it is told to stop; returns once its buffers are written.
fn worker(cpu: usize, bytes: usize, orders: Arc<Orders>) -> Option<Worker> {
    let counter = Arc::new(Counter(AtomicU64::new(0)));
    let mine = Arc::clone(&counter);
    let (ready, is_ready) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let _pinned = Pinned::to(cpu);
        // First touch by the thread itself: on several nodes the memory is then its own node's.
        let buffers = (
            Mapping::touched(bytes, Pages::Huge),
            Mapping::touched(bytes, Pages::Huge),
        );
        let (Ok(source), Ok(sink)) = buffers else {
            let _ = ready.send(None);
            return;
        };
        let _ = ready.send(own_cpu_clock());
        let mut at = 0;
        while !orders.stop.load(Ordering::Relaxed) {
            // SAFETY: `at + PIECE` lies inside both mappings, whose lengths are multiples of it.
            let moved = unsafe {
                let (from, to) = (source.base().add(at), sink.base().add(at));
                match orders.kind.load(Ordering::Relaxed) {
                    0 => {
                        std::hint::black_box(streams::read(from, PIECE));
                        PIECE
                    }
                    1 => {
                        streams::write(to, PIECE, at as u64);
                        PIECE
                    }
                    2 => {
                        streams::write_around(to, PIECE, at as u64);
                        PIECE
                    }
                    _ => {
                        streams::copy(from, to, PIECE);
                        2 * PIECE
                    }
                }
            };
            mine.0.fetch_add(moved as u64, Ordering::Relaxed);
            at = (at + PIECE) % bytes;
        }
    });
    let cpu_clock = is_ready.recv().ok().flatten();
    match cpu_clock {
        Some(cpu_clock) => Some(Worker {
            bytes: counter,
            cpu_clock,
            thread,
        }),
        None => {
            let _ = thread.join();
            None
        }
    }
}

/// A clock of the calling thread's CPU time that other threads can read.
fn own_cpu_clock() -> Option<libc::clockid_t> {
    let mut id: libc::clockid_t = 0;
    // SAFETY: the calling thread is alive and `id` is a valid place.
    #[cfg(target_os = "linux")]
    let error = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut id) };
    #[cfg(not(target_os = "linux"))]
    let error = {
        id += 1;
        1
    };
    (error == 0).then_some(id)
}

/// GB/s of all workers together, window by window, where all had their CPU.
fn windows(workers: &[Worker]) -> Samples {
    let mut samples = Samples::default();
    let (steal, switches) = (gate::steal_ns(), gate::involuntary_switches());
    // The first window after a change of kind still holds pieces of the last one.
    std::thread::sleep(Duration::from_millis(2));
    let mut shares = Vec::new();
    let whole = Instant::now();
    for window in 0..MOST_WINDOWS {
        let enough = window >= WINDOWS && samples.values.len() >= WINDOWS / 2;
        if enough || whole.elapsed() > LONGEST {
            break;
        }
        let start = Instant::now();
        let cpu: Vec<u64> = workers
            .iter()
            .map(|w| gate::clock_ns(w.cpu_clock))
            .collect();
        let before: u64 = workers
            .iter()
            .map(|w| w.bytes.0.load(Ordering::Relaxed))
            .sum();
        std::thread::sleep(WINDOW);
        let after: u64 = workers
            .iter()
            .map(|w| w.bytes.0.load(Ordering::Relaxed))
            .sum();
        let ns = start.elapsed().as_nanos() as f64;
        let least = workers
            .iter()
            .zip(cpu)
            .map(|(w, cpu)| gate::clock_ns(w.cpu_clock).saturating_sub(cpu) as f64 / ns)
            .fold(1.0, f64::min);
        shares.push(least);
        if least >= LEAST_SHARE {
            samples.values.push((after - before) as f64 / ns);
        } else {
            samples.rejected += 1;
        }
    }
    samples.share = estimate(&shares, Estimator::Median);
    samples.steal_ns = gate::steal_ns().saturating_sub(steal);
    samples.involuntary_switches = gate::involuntary_switches().saturating_sub(switches);
    samples
}

fn answer(
    heading: Heading,
    by_threads: &[(usize, [Samples; 2])],
    state: Option<(f64, f64)>,
) -> ProbeResult {
    let agreement = Agreement {
        estimator: Estimator::Median,
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
        None => ProbeResult::no_answer(heading, "the threads could not be started"),
    };
    let best = points.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    if let Some((threads, rate)) = points.iter().find(|(_, rate)| *rate >= best * 0.9)
        && result.value.is_some()
    {
        let plural = if *threads == 1.0 { "" } else { "s" };
        result.add_note(format!("{threads:.0} thread{plural} reach {rate:.1}"));
    }
    result.core_to_core_ns = state;
    if let Some((before, after)) = state {
        result.add_note(format!(
            "core to core {before:.0} ns before, {after:.0} after"
        ));
        let apart = before.max(after) / before.min(after);
        if apart > 2.0 && by_threads.len() > 1 && result.value.is_some() {
            let why = "the cores moved closer or farther apart meanwhile";
            result.withdraw(crate::result::Verdict::Disturbed, why);
        }
    }
    result.set_points("threads", "GB/s", points);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Verdict;

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
        assert_eq!((result.value, result.verdict), (Some(21.0), Verdict::Ok));
        assert!(result.note.unwrap().starts_with("1 thread reach 20.0"));
        assert_eq!(result.points.unwrap().len(), 2);
    }

    #[test]
    fn cores_that_move_apart_take_the_figure_back() {
        let result = answer(
            READ,
            &[(1, steady(20.0)), (2, steady(40.0))],
            Some((30.0, 150.0)),
        );
        assert_eq!((result.value, result.verdict), (None, Verdict::Disturbed));
    }
}
