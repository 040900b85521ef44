//! The latency of a load from memory while other cores read memory as fast as they can.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::affinity::Pinned;
use crate::chase::{Cycle, Layout};
use crate::context::{Context, NO_MEMORY_SET};
use crate::cpu_gate::{CpuOf, Stretch};
use crate::kernels::streams;
use crate::mapping::{HUGE, Mapping, Pages};
use crate::probes::common_window::{Piece, all_ran, limits};
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict};
use crate::samples::{Agreement, Samples, judge, quantile};

const HEADING: Heading = Heading {
    id: "loaded_latency",
    title: "load, memory, others reading",
    unit: "ns",
    method: "the memory latency chase on one CPU while each other CPU streams through its own buffer; only chunks \
         during which all of them ran count; the median, by number of readers.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[HEADING];

/// Bytes between two clock readings of a reader: 20 to 60 us.
const PIECE: usize = 512 << 10;

/// Duration of one pass.
const PASS: Duration = Duration::from_millis(60);

/// Maximum number of repetitions of a pass until [`ENOUGH`] chunks counted.
const REPEATS: usize = 4;

/// Number of chunks that is sufficient for a pass.
const ENOUGH: usize = 40;

/// Distance between slots in bytes.
const SPACING: usize = 64;

/// Loads per chunk / 16: 480 loads are about 60 us.
const ROUNDS: u64 = 30;

/// Returns the numbers of readers: none, 1, 2, 4 ... all other CPUs.
fn counts(others: usize) -> Vec<usize> {
    let mut counts = vec![0];
    counts.extend(std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n < others));
    if others > 0 {
        counts.push(others);
    }
    counts
}

/// A thread that reads until stopped, and returns its pieces.
struct Reader {
    thread: JoinHandle<Option<Vec<Piece>>>,
}

/// Readers that are stopped when dropped.
struct Readers {
    stop: Arc<AtomicBool>,
    readers: Vec<Reader>,
}

impl Readers {
    fn start(cpus: &[usize], bytes: usize, epoch: Instant) -> Readers {
        let stop = Arc::new(AtomicBool::new(false));
        let readers = cpus
            .iter()
            .map(|cpu| reader(*cpu, bytes, epoch, Arc::clone(&stop)))
            .collect();
        Readers { stop, readers }
    }

    /// Stops the readers and returns the pieces of each; `None` if one had no memory.
    fn finish(mut self) -> Option<Vec<Vec<Piece>>> {
        self.stop.store(true, Ordering::Relaxed);
        std::mem::take(&mut self.readers)
            .into_iter()
            .map(|reader| reader.thread.join().ok().flatten())
            .collect()
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn reader(cpu: usize, bytes: usize, epoch: Instant, stop: Arc<AtomicBool>) -> Reader {
    let until = crate::deadline::current();
    let thread = std::thread::spawn(move || {
        crate::deadline::adopt(until);
        let _pinned = Pinned::to(cpu);
        let buffer = Mapping::touched(bytes, Pages::Huge).ok()?;
        let mut log = Vec::with_capacity(20_000);
        let mut at = 0;
        let mut start = epoch.elapsed().as_nanos() as u64;
        while !stop.load(Ordering::Relaxed) && log.len() < log.capacity() {
            // SAFETY: the piece lies inside the mapping, whose length is a multiple of it.
            std::hint::black_box(unsafe { streams::read(buffer.base().add(at), PIECE) });
            at = (at + PIECE) % buffer.bytes();
            let end = epoch.elapsed().as_nanos() as u64;
            log.push((start, end));
            start = end;
        }
        Some(log)
    });
    Reader { thread }
}

/// Runs the probe.
pub(crate) fn run(context: &Context) -> ProbeResult {
    let others: Vec<usize> = context
        .cpus
        .iter()
        .copied()
        .filter(|cpu| *cpu != context.cpu)
        .collect();
    if others.is_empty() {
        return HEADING.not_measurable("only one CPU may be used");
    }
    let bytes = context.memory_set();
    let each = context.memory_budget.saturating_sub(bytes) / others.len();
    let each = each.min(bytes) / HUGE * HUGE;
    if !context.memory_set_is_memory() || each * others.len() < context.last_level_bytes() {
        return HEADING.not_measurable(NO_MEMORY_SET);
    }
    let Ok(mut cycle) = Cycle::new(bytes / SPACING, Layout::every(SPACING), Pages::Huge, 0x10ad)
    else {
        return HEADING.not_measurable("no memory");
    };
    cycle.grow(bytes / SPACING);
    let by_readers = counts(others.len())
        .into_iter()
        .map(|readers| {
            let cpus = &others[..readers];
            let passes = [pass(&mut cycle, cpus, each), pass(&mut cycle, cpus, each)];
            (readers, passes)
        })
        .collect();
    answer(by_readers)
}

/// Measures chunks of the chase with readers running on `cpus`.
fn pass(cycle: &mut Cycle, cpus: &[usize], bytes: usize) -> Samples {
    let mut samples = Samples::default();
    let mut windows = 0;
    for _ in 0..REPEATS {
        if crate::deadline::passed() {
            break;
        }
        let epoch = Instant::now();
        let readers = Readers::start(cpus, bytes, epoch);
        let chunks = chase(cycle, epoch, cpus.is_empty());
        let Some(logs) = readers.finish() else { break };
        let limits = limits(&logs);
        windows += chunks.len();
        for (from, to, ns) in chunks {
            if all_ran(&logs, &limits, from, to) {
                samples.values.push(ns);
            }
        }
        if samples.values.len() >= ENOUGH {
            break;
        }
    }
    samples.rejected = windows - samples.values.len();
    samples.share = (windows > 0).then(|| samples.values.len() as f64 / windows as f64);
    samples
}

/// Returns beginning, end and ns per load of the chunks in batches that had the CPU. With readers, it
/// continues until they have had time to touch their memory for the first time, which takes longer than a
/// pass.
fn chase(cycle: &mut Cycle, epoch: Instant, alone: bool) -> Vec<(u64, u64, f64)> {
    let mut chunks = Vec::with_capacity(20_000);
    let length = if alone { PASS } else { PASS * 4 };
    while epoch.elapsed() < length {
        let stretch = Stretch::begin(CpuOf::Thread);
        let before = chunks.len();
        while stretch.wall_ns() < 1_000_000 {
            let start = epoch.elapsed().as_nanos() as u64;
            std::hint::black_box(cycle.walk(ROUNDS));
            let end = epoch.elapsed().as_nanos() as u64;
            chunks.push((start, end, (end - start) as f64 / (ROUNDS * 16) as f64));
        }
        if !stretch.passes() {
            chunks.truncate(before);
        }
    }
    chunks
}

fn answer(by_readers: Vec<(usize, [Samples; 2])>) -> ProbeResult {
    let agreement = Agreement {
        estimator: Estimator::Median,
        tolerance: 0.15,
    };
    let most = by_readers.last().map_or(0, |(readers, _)| *readers);
    let judged: Vec<(usize, ProbeResult)> = by_readers
        .iter()
        .map(|(readers, passes)| (*readers, judge(HEADING, agreement, passes)))
        .collect();
    let points: Vec<(f64, f64)> = judged
        .iter()
        .filter_map(|(readers, result)| Some((*readers as f64, result.value?)))
        .collect();
    let Some((_, result)) = judged.into_iter().next_back() else {
        return HEADING.no_answer("nothing was measured");
    };
    let mut result = result;
    if result.value.is_none() && result.verdict == ProbeVerdict::NoAnswer {
        result.add_note("the readers did not run at the same time as this core");
    }
    if let (Some(loaded), Some((_, idle))) = (result.value, points.first())
        && points.len() > 1
    {
        let plural = if most == 1 { "" } else { "s" };
        result.add_note(format!(
            "{:.2} times the {idle:.0} ns without load, with {most} reader{plural}; `memory_latency` may differ, \
             because it is the value of its best pass",
            loaded / idle
        ));
    }
    let all: Vec<f64> = by_readers
        .last()
        .into_iter()
        .flat_map(|(_, passes)| passes.iter().flat_map(|pass| pass.values.iter().copied()))
        .collect();
    if let (Some(high), Some(_)) = (quantile(&all, 0.9), result.value) {
        result.add_note(format!("p90 {high:.0} ns"));
    }
    result.set_points("readers", "ns", points);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(ns: f64) -> [Samples; 2] {
        let pass = Samples {
            values: vec![ns; 50],
            ..Samples::default()
        };
        [pass.clone(), pass]
    }

    #[test]
    fn readers_double_up_to_all_other_cpus() {
        assert_eq!(counts(0), [0]);
        assert_eq!(counts(1), [0, 1]);
        assert_eq!(counts(7), [0, 1, 2, 4, 7]);
    }

    #[test]
    fn the_figure_is_that_beside_all_readers() {
        let result = answer(vec![(0, steady(100.0)), (1, steady(150.0))]);
        assert_eq!(
            (result.value, result.verdict),
            (Some(150.0), ProbeVerdict::Ok)
        );
        assert!(result.note.unwrap().starts_with("1.50 times the 100 ns"));
        assert_eq!(result.points.unwrap(), [(0.0, 100.0), (1.0, 150.0)]);
    }

    #[test]
    fn readers_that_never_ran_give_no_figure() {
        let none = [Samples::default(), Samples::default()];
        let result = answer(vec![(0, steady(100.0)), (1, none)]);
        assert_eq!(
            (result.value, result.verdict),
            (None, ProbeVerdict::NoAnswer)
        );
    }

    #[test]
    fn readers_end_when_they_are_told() {
        let cpus = crate::affinity::allowed_cpus();
        let readers = Readers::start(&cpus[..1], HUGE, Instant::now());
        assert_eq!(readers.finish().map(|logs| logs.len()), Some(1));
    }
}
