//! How many pages the core can address quickly, and what huge pages win.

use std::time::Duration;

use crate::chase::{Cycle, Layout};
use crate::gate::CpuOf;
use crate::kernels;
use crate::mapping::Pages;
use crate::result::{Estimator, Heading, ProbeResult, Verdict};
use crate::ruler::Ruler;
use crate::samples::quantile;
use crate::track::sample;

const REACH: Heading = Heading {
    id: "tlb_reach",
    title: "address cache, first level",
    unit: "pages",
    method: "one line in each of n pages of 4 KiB, chased at random, the lines spread over the \
             sets; the last n before a load costs 3 cycles more than with few pages.",
};

const GAIN: Heading = Heading {
    id: "huge_page_gain",
    title: "huge pages, gain per load",
    unit: "ns",
    method: "the same random chase over 32 MiB in pages of 4 KiB less that in huge pages of \
             2 MiB; the lowest tenth of the chunks of each.",
};

/// What is measured here.
pub const HEADINGS: &[Heading] = &[REACH, GAIN];

/// Pages tried for the reach: six an octave around common sizes.
const PAGES: [usize; 22] = [
    16, 24, 32, 40, 48, 56, 64, 72, 80, 96, 112, 128, 160, 192, 256, 512, 1024, 1536, 2048, 3072,
    4096, 6144,
];

/// Both figures.
pub fn run() -> Vec<ProbeResult> {
    vec![reach(), gain()]
}

/// What a load takes over `slots` slots in `layout` and `pages`, by what `time` says of a load in so many
/// rounds of 16.
fn latency(
    slots: usize,
    layout: Layout,
    pages: Pages,
    time: &mut dyn FnMut(&mut Cycle, u64) -> f64,
) -> Option<(f64, Option<usize>)> {
    let mut cycle = Cycle::new(slots, layout, pages, 0x71b).ok()?;
    cycle.grow(slots);
    cycle.walk((slots * 2 / 16) as u64 + 1);
    let rounds = if slots > 4096 { 40 } else { 300 };
    let mut chunk = || time(&mut cycle, rounds);
    let samples = sample(CpuOf::Thread, Duration::from_millis(8), &mut chunk);
    let low = (samples.values.len() >= 5)
        .then(|| quantile(&samples.values, 0.05))
        .flatten()?;
    Some((low, cycle.mapping().huge_bytes()))
}

fn reach() -> ProbeResult {
    if !kernels::EXACT {
        return ProbeResult::not_measurable(REACH, kernels::NO_MACHINE_CODE);
    }
    let layout = Layout {
        spacing: 4096,
        rotation: 64,
        rotation_period: 4096,
    };
    let mut ruler = Ruler::new();
    let mut cycles =
        |cycle: &mut Cycle, rounds| ruler.cycles(|| cycle.walk(rounds)) / (rounds * 16) as f64;
    let points: Vec<(f64, f64)> = PAGES
        .iter()
        .filter_map(|pages| {
            // A second look where another program may have emptied the address cache.
            let a = latency(*pages, layout, Pages::Small, &mut cycles)?.0;
            let b = latency(*pages, layout, Pages::Small, &mut cycles)?.0;
            Some((*pages as f64, a.min(b)))
        })
        .collect();
    knee(points)
}

/// The last number of pages before the cost rises by 3 cycles, while all lines still fit the
/// first-level cache of data (they do up to some 500 lines).
fn knee(points: Vec<(f64, f64)>) -> ProbeResult {
    let mut result = ProbeResult::blank(REACH, Estimator::Derived, Verdict::NoAnswer);
    result.n = points.len();
    let base = points
        .iter()
        .take(3)
        .map(|(_, cycles)| *cycles)
        .fold(f64::INFINITY, f64::min);
    let above = points.iter().position(|(_, cycles)| *cycles > base + 3.0);
    match above {
        Some(at) if at > 0 && points.len() == PAGES.len() && points[at].0 <= 512.0 => {
            result.value = Some(points[at - 1].0);
            result.verdict = Verdict::Ok;
            result.add_note(format!(
                "covers {} in pages of 4 KiB; {:.1} cycles a load within, {:.1} at 256 pages",
                crate::table::bytes(points[at - 1].0 * 4096.0),
                base,
                points
                    .iter()
                    .find(|(n, _)| *n == 256.0)
                    .map_or(f64::NAN, |(_, c)| *c)
            ));
        }
        _ => result.add_note("no clear knee up to 512 pages"),
    }
    result.set_points("pages", "cycles", points);
    result
}

fn gain() -> ProbeResult {
    let slots = (32 << 20) / 64;
    let pass = || {
        Some((
            latency(slots, Layout::every(64), Pages::Small, &mut Cycle::load_ns)?,
            latency(slots, Layout::every(64), Pages::Huge, &mut Cycle::load_ns)?,
        ))
    };
    let (Some(((a, _), (b, backed))), Some(((c, _), (d, _)))) = (pass(), pass()) else {
        return ProbeResult::no_answer(GAIN, "the CPU was not had for long enough");
    };
    // The kernel's own account says whether the huge pages really came.
    if backed.unwrap_or(0) < 24 << 20 {
        return ProbeResult::not_measurable(GAIN, "the system granted no huge pages");
    }
    gain_of([(a, b), (c, d)])
}

/// Judges two passes of (ns in small pages, ns in huge ones).
fn gain_of(passes: [(f64, f64); 2]) -> ProbeResult {
    let [first, second] = passes.map(|(small, huge)| {
        let mut result = ProbeResult::blank(GAIN, Estimator::Derived, Verdict::Ok);
        result.value = Some((small - huge).max(0.0));
        result.n = 1;
        result.add_note(format!(
            "{small:.1} ns in small pages, {huge:.1} ns in huge ones"
        ));
        if small < huge * 1.1 {
            result.add_note(
                "no clear gain: the host may map the memory in small pages underneath the guest",
            );
        }
        result
    });
    ProbeResult::of_two(first, second, 0.3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reach_ends_before_the_cost_rises() {
        let points = PAGES.map(|n| (n as f64, if n <= 72 { 4.0 } else { 11.0 }));
        assert_eq!(knee(points.to_vec()).value, Some(72.0));
    }

    #[test]
    fn two_passes_must_agree_on_the_gain() {
        assert_eq!(gain_of([(140.0, 110.0), (142.0, 110.0)]).value, Some(30.0));
        assert_eq!(
            gain_of([(140.0, 110.0), (113.0, 110.0)]).verdict,
            Verdict::Disturbed
        );
    }

    #[test]
    fn a_flat_or_incomplete_curve_gives_no_answer() {
        assert_eq!(
            knee(PAGES.map(|n| (n as f64, 4.0)).to_vec()).verdict,
            Verdict::NoAnswer
        );
        assert_eq!(
            knee(vec![(16.0, 4.0), (24.0, 9.0)]).verdict,
            Verdict::NoAnswer
        );
    }
}
