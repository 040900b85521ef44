//! How many loads from memory one core can have in flight.

use std::time::{Duration, Instant};

use crate::chase::{Cycle, Layout};
use crate::context::{Context, NO_MEMORY_SET};
use crate::cpu_gate::CpuOf;
use crate::mapping::Pages;
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict, of_two};
use crate::samples::quantile;
use crate::track::sample;

const HEADING: Heading = Heading {
    id: "memory_parallelism",
    title: "loads in flight at a time",
    unit: "loads",
    method: "1 to 40 walks through one random cycle in memory, started equally far apart along it; the latency of one \
         walk divided by the least time per load (Little's law); the 10th percentile of the chunks.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[HEADING];

/// Numbers of lanes tried.
const LANES: [usize; 14] = [1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 40];

/// Steps of every lane in one chunk: 64 x 130 ns is 8 us, and up to 30 us at 40 lanes.
const STEPS: usize = 64;

/// Runs the probe.
pub(crate) fn run(context: &Context) -> ProbeResult {
    if !context.memory_set_is_memory() {
        return HEADING.not_measurable(NO_MEMORY_SET);
    }
    let slots = context.memory_set() / 64;
    let Ok(mut cycle) = Cycle::new(slots, Layout::every(64), Pages::Huge, 0x317) else {
        return HEADING.not_measurable("no memory");
    };
    cycle.grow(slots);
    // The starts for the most lanes also serve fewer lanes: any subset is as far apart.
    let (starts, distance) = cycle.starts(40);
    if distance < slots / 40 || starts.len() < 40 {
        return HEADING.no_answer("the walks do not start far enough apart");
    }
    let first = pass(&starts);
    of_two(first, pass(&starts), 0.15)
}

fn pass(starts: &[*const u8]) -> ProbeResult {
    let mut points = Vec::new();
    for lanes in LANES {
        // Evenly spread over the forty starts.
        let mut at: Vec<*const u8> = (0..lanes).map(|lane| starts[lane * 40 / lanes]).collect();
        let mut chunk = || {
            let start = Instant::now();
            step(&mut at);
            start.elapsed().as_nanos() as f64 / (STEPS * lanes) as f64
        };
        let samples = sample(CpuOf::Thread, Duration::from_millis(20), &mut chunk);
        if samples.values.len() >= 20
            && let Some(ns) = quantile(&samples.values, 0.1)
        {
            points.push((lanes as f64, ns));
        }
    }
    answer(points)
}

/// Moves every lane [`STEPS`] steps ahead, alternating between the lanes.
fn step(at: &mut [*const u8]) {
    /// Keeps the lanes in registers, or at least at fixed places on the stack.
    fn fixed<const N: usize>(at: &mut [*const u8]) {
        let Ok(lanes) = <&mut [*const u8; N]>::try_from(at) else {
            return;
        };
        let mut here = *lanes;
        for _ in 0..STEPS {
            for lane in &mut here {
                // SAFETY: every lane is a slot of a live cycle, whose slots point to slots.
                *lane = unsafe { lane.cast::<*const u8>().read() };
            }
        }
        *lanes = std::hint::black_box(here);
    }
    match at.len() {
        1 => fixed::<1>(at),
        2 => fixed::<2>(at),
        3 => fixed::<3>(at),
        4 => fixed::<4>(at),
        6 => fixed::<6>(at),
        8 => fixed::<8>(at),
        10 => fixed::<10>(at),
        12 => fixed::<12>(at),
        16 => fixed::<16>(at),
        20 => fixed::<20>(at),
        24 => fixed::<24>(at),
        28 => fixed::<28>(at),
        32 => fixed::<32>(at),
        _ => fixed::<40>(at),
    }
}

/// Returns the concurrency: the latency of one lane divided by the best time per load of many lanes.
fn answer(points: Vec<(f64, f64)>) -> ProbeResult {
    let mut result = HEADING.blank(Estimator::Derived, ProbeVerdict::NoAnswer);
    result.n = points.len();
    let best = points
        .iter()
        .map(|(_, ns)| *ns)
        .fold(f64::INFINITY, f64::min);
    match points.first() {
        Some((1.0, alone)) if points.len() >= LANES.len() - 2 && best > 0.0 => {
            result.value = Some((alone / best * 10.0).round() / 10.0);
            result.verdict = ProbeVerdict::Ok;
            let enough = points
                .iter()
                .find(|(_, ns)| *ns <= best * 1.1)
                .map_or(0.0, |p| p.0);
            result.add_note(format!(
                "{alone:.0} ns per load with one walk, {best:.1} ns at best; {enough:.0} walks come within 10 % of \
                 that"
            ));
        }
        _ => result
            .add_note("for too many numbers of walks, the CPU was not available for long enough"),
    }
    result.set_points("lanes", "ns", points);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lane_ends_where_its_steps_lead() {
        let mut cycle = Cycle::new(4000, Layout::every(64), Pages::Small, 3).unwrap();
        cycle.grow(4000);
        let (starts, distance) = cycle.starts(40);
        assert_eq!(distance, 100);
        for lanes in LANES {
            let mut at: Vec<_> = starts[..lanes].to_vec();
            step(&mut at);
            for (lane, end) in at.iter().enumerate() {
                let mut expected = starts[lane];
                for _ in 0..STEPS {
                    // SAFETY: a slot of the live cycle.
                    expected = unsafe { expected.cast::<*const u8>().read() };
                }
                assert_eq!(*end, expected, "lane {lane} of {lanes}");
            }
        }
    }

    #[test]
    fn concurrency_is_latency_over_the_best_time_per_load() {
        let points = LANES.map(|n| (n as f64, 120.0 / (n.min(20)) as f64));
        let result = answer(points.to_vec());
        assert_eq!(result.value, Some(20.0));
        assert_eq!(answer(vec![(2.0, 9.0)]).value, None);
    }
}
