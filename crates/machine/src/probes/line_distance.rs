//! Line length and prefetching from hits at random signed distances.
//!
//! A load at a random place in a large buffer misses. A second load at distance d from it hits if it is in
//! the line that the first one fetched. With a random place within the line, P(hit at -d) = 1 - d/L, so the
//! area under P is (L - 1)/2, regardless of the costs. Distances must be random: prefetchers learn a pair
//! with a fixed distance, and strided copies give 64, 128 or 256 on the same processor. A prefetcher that
//! fetches the next line widens one side only. The narrower side gives the line, and the excess of the other
//! side is the prefetcher's reach.

use std::time::{Duration, Instant};

use crate::chase::Xorshift;
use crate::context::Context;
use crate::kernels;
use crate::mapping::{Mapping, Pages};
use crate::probes::line_slots::near_power_of_two;
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict};
use crate::samples::quantile;

const LINE: Heading = Heading {
    id: "cache_line_by_distance",
    title: "  by hits at random distances",
    unit: "B",
    method: "a load that misses is followed by a timed load at a random signed distance within the page; on the side \
         without prefetch, the area under the curve of hits by distance is half a line.",
};

const PREFETCH: Heading = Heading {
    id: "next_line_prefetch",
    title: "prefetch next to a missed line",
    unit: "lines",
    method: "the excess of hits on the wider side of the same test, in lines.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[LINE, PREFETCH];

/// Largest distance tested, in bytes.
const REACH: usize = 384;

/// One pair of loads: signed distance in bytes and whether the second one hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    /// Distance from the first load to the second, in bytes; never 0.
    pub distance: i32,
    /// Whether the second load was as fast as a hit.
    pub hit: bool,
}

/// Measures the line and the prefetch.
pub(crate) fn run(context: &Context) -> Vec<ProbeResult> {
    let refuse = |why: &str| vec![LINE.not_measurable(why), PREFETCH.not_measurable(why)];
    let Ok(buffer) = Mapping::touched(context.memory_set(), Pages::Huge) else {
        return refuse("no memory for the buffer");
    };
    let mut random = Xorshift::new(0xd157);
    let Some(threshold) = threshold(&buffer, &mut random) else {
        return refuse("the counter's steps are too coarse to tell a hit from a miss");
    };
    let pairs = collect(&buffer, threshold, &mut random, Duration::from_millis(400));
    answer(&pairs)
}

/// Returns a random address with a margin of `REACH` on both sides within its 4 KiB page.
fn place(buffer: &Mapping, random: &mut Xorshift) -> usize {
    let page = random.below(buffer.bytes() as u64 / 4096) as usize * 4096;
    page + REACH + random.below((4096 - 2 * REACH) as u64) as usize
}

/// Returns a threshold in ticks between a known hit and a known miss; `None` if they overlap.
fn threshold(buffer: &Mapping, random: &mut Xorshift) -> Option<u64> {
    let (mut hits, mut misses) = (Vec::new(), Vec::new());
    for _ in 0..2000 {
        let (first, second) = (place(buffer, random), place(buffer, random));
        // SAFETY: `place` stays inside the mapping.
        unsafe {
            kernels::fenced_load(buffer.base().add(first));
            hits.push(kernels::timed_load(buffer.base().add(first)) as f64);
            // First touch another byte of the second load's page, so that a miss isn't an address-cache miss:
            // a byte in the far half of the page, which no neighbour's prefetch reaches.
            kernels::fenced_load(buffer.base().add((second & !4095) + (second + 2048) % 4096));
            misses.push(kernels::timed_load(buffer.base().add(second)) as f64);
        }
    }
    let (hit, miss) = (quantile(&hits, 0.9)?, quantile(&misses, 0.2)?);
    (miss > hit * 1.3 && miss - hit >= 4.0).then_some(((hit + miss) / 2.0) as u64)
}

fn collect(buffer: &Mapping, threshold: u64, random: &mut Xorshift, time: Duration) -> Vec<Pair> {
    let start = Instant::now();
    let mut pairs = Vec::with_capacity(1 << 19);
    while pairs.len() < 400_000 && (pairs.len() % 512 != 0 || start.elapsed() < time) {
        let at = place(buffer, random);
        let far = 1 + random.below(REACH as u64) as i32;
        let distance = if random.next() >> 63 == 0 { far } else { -far };
        // SAFETY: `place` leaves REACH bytes on both sides.
        let ticks = unsafe {
            kernels::fenced_load(buffer.base().add(at));
            kernels::timed_load(buffer.base().add(at.wrapping_add_signed(distance as isize)))
        };
        pairs.push(Pair {
            distance,
            hit: ticks < threshold,
        });
    }
    pairs
}

/// The results of one side of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Side {
    /// Area under the share of hits above the floor, in bytes.
    area: f64,
    /// Share of hits at the far end, where only other lines are.
    floor: f64,
}

fn side(pairs: &[Pair], sign: i32) -> Option<Side> {
    let mut hits = vec![0usize; REACH];
    let mut total = vec![0usize; REACH];
    for pair in pairs.iter().filter(|pair| pair.distance.signum() == sign) {
        let at = pair.distance.unsigned_abs() as usize - 1;
        total[at] += 1;
        hits[at] += usize::from(pair.hit);
    }
    if total.iter().any(|count| *count < 20) {
        return None;
    }
    let share: Vec<f64> = hits
        .iter()
        .zip(&total)
        .map(|(h, t)| *h as f64 / *t as f64)
        .collect();
    let end = &share[REACH - 64..];
    let floor = end.iter().sum::<f64>() / end.len() as f64;
    if floor > 0.5 {
        return None;
    }
    let area = share.iter().map(|p| (p - floor) / (1.0 - floor)).sum();
    Some(Side { area, floor })
}

fn answer(pairs: &[Pair]) -> Vec<ProbeResult> {
    let (Some(down), Some(up)) = (side(pairs, -1), side(pairs, 1)) else {
        let why = "too few pairs of loads, or hits even where nothing was fetched";
        return vec![LINE.no_answer(why), PREFETCH.no_answer(why)];
    };
    let (narrow, wide) = if down.area <= up.area {
        (down, up)
    } else {
        (up, down)
    };
    let raw = 2.0 * narrow.area + 1.0;
    let mut line = LINE.blank(Estimator::Derived, ProbeVerdict::NoAnswer);
    line.n = pairs.len();
    line.median = Some(raw);
    line.value = near_power_of_two(raw);
    line.add_note(format!(
        "{raw:.1} before rounding, {:.1} % false hits",
        narrow.floor * 100.0
    ));
    let mut prefetch = PREFETCH.no_answer("without a line length");
    if let Some(length) = line.value {
        line.verdict = ProbeVerdict::Ok;
        // Each additional line that is always fetched adds L to the area of its side.
        let excess = (wide.area - narrow.area) / length;
        prefetch = PREFETCH.blank(Estimator::Derived, ProbeVerdict::Ok);
        prefetch.n = pairs.len();
        prefetch.value = Some((excess * 10.0).round() / 10.0);
        if excess > 0.3 {
            let towards = if up.area > down.area {
                "higher"
            } else {
                "lower"
            };
            prefetch.add_note(format!("towards {towards} addresses"));
        }
    } else {
        line.add_note("not near a power of two");
    }
    vec![line, prefetch]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns pairs on a machine with lines of `line` bytes that fetches `ahead` additional lines, with
    /// `noise` of 1000 loads that hit by chance.
    fn pairs(line: i32, ahead: i32, noise: u64) -> Vec<Pair> {
        let mut random = Xorshift::new(1);
        (0..300_000)
            .map(|_| {
                let at = random.below(4096) as i32 + 4096;
                let far = 1 + random.below(REACH as u64) as i32;
                let distance = if random.next() >> 63 == 0 { far } else { -far };
                let lines = (at + distance) / line - at / line;
                let hit = (0..=ahead).contains(&lines) || random.below(1000) < noise;
                Pair { distance, hit }
            })
            .collect()
    }

    #[test]
    fn the_line_is_found_whatever_its_length() {
        for line in [32, 64, 128] {
            let results = answer(&pairs(line, 0, 20));
            assert_eq!(results[0].value, Some(f64::from(line)));
            assert_eq!(results[1].value, Some(0.0));
        }
    }

    #[test]
    fn a_next_line_prefetch_does_not_fool_it_and_is_reported() {
        let results = answer(&pairs(64, 1, 20));
        assert_eq!(results[0].value, Some(64.0));
        assert_eq!(results[1].value, Some(1.0));
        assert_eq!(results[1].note.as_deref(), Some("towards higher addresses"));
    }

    #[test]
    fn hits_everywhere_give_no_answer() {
        assert_eq!(
            answer(&pairs(64, 0, 900))[0].verdict,
            ProbeVerdict::NoAnswer
        );
        assert_eq!(
            answer(&pairs(64, 0, 20)[..500])[0].verdict,
            ProbeVerdict::NoAnswer
        );
    }
}
