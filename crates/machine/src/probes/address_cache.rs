//! How many pages the core can address quickly, and the gain from huge pages.

use std::time::Duration;

use crate::chase::{Cycle, Layout};
use crate::context::Context;
use crate::cpu_gate::CpuOf;
use crate::mapping::Pages;
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict, difference_if_both};
use crate::ruler::Ruler;
use crate::samples::{LEAST_CHUNKS, Samples, quantile};
use crate::track::sample;

const REACH: Heading = Heading {
    id: "tlb_reach",
    title: "address cache, first level",
    unit: "pages",
    method: "one cache line in each of n 4 KiB pages is visited in random order, with the lines spread over the sets; \
         the figure is the largest n for which a load costs less than 3 cycles more than with few pages.",
};

const GAIN: Heading = Heading {
    id: "huge_page_gain",
    title: "huge pages, gain per load",
    unit: "ns",
    method: "the time per load of the memory latency chase in 4 KiB pages, minus that in 2 MiB huge pages, measured \
         alternately; the median of the differences.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[REACH, GAIN];

/// Page counts tried for the reach: six per octave around common sizes.
const PAGES: [usize; 22] = [
    16, 24, 32, 40, 48, 56, 64, 72, 80, 96, 112, 128, 160, 192, 256, 512, 1024, 1536, 2048, 3072,
    4096, 6144,
];

/// A gain below this fraction of a load's duration counts as no gain.
const NO_GAIN: f64 = 0.03;

/// Measures both figures.
pub(crate) fn run(context: &Context) -> Vec<ProbeResult> {
    vec![reach(), gain(context)]
}

/// Returns the duration of a load over `slots` slots in `layout`, in small pages; `time` measures a load in
/// the given number of rounds of 16.
fn latency(
    slots: usize,
    layout: Layout,
    time: &mut dyn FnMut(&mut Cycle, u64) -> f64,
) -> Option<f64> {
    let mut cycle = Cycle::new(slots, layout, Pages::Small, 0x71b).ok()?;
    cycle.grow(slots);
    cycle.walk((slots * 2 / 16) as u64 + 1);
    let rounds = if slots > 4096 { 40 } else { 300 };
    let mut chunk = || time(&mut cycle, rounds);
    let samples = sample(CpuOf::Thread, Duration::from_millis(8), &mut chunk);
    (samples.values.len() >= LEAST_CHUNKS)
        .then(|| quantile(&samples.values, 0.05))
        .flatten()
}

fn reach() -> ProbeResult {
    let layout = Layout {
        spacing: 4096,
        rotation: 64,
        rotation_period: 4096,
    };
    let mut ruler = Ruler::new();
    let mut cycles =
        |cycle: &mut Cycle, rounds| ruler.cycles(|| cycle.walk(rounds)) / (rounds * 16) as f64;
    let pairs: Vec<(f64, [f64; 2])> = PAGES
        .iter()
        .filter_map(|pages| {
            // Measure again, because another program may have evicted the address cache.
            let a = latency(*pages, layout, &mut cycles)?;
            let b = latency(*pages, layout, &mut cycles)?;
            Some((*pages as f64, [a, b]))
        })
        .collect();
    knee_of(&pairs)
}

/// Returns the knee of the curve that takes the better value of each pair. The spread is the difference
/// between the knees of the two separate curves.
fn knee_of(pairs: &[(f64, [f64; 2])]) -> ProbeResult {
    let by = |cost: &dyn Fn([f64; 2]) -> f64| {
        knee(
            pairs
                .iter()
                .map(|(pages, both)| (*pages, cost(*both)))
                .collect(),
        )
    };
    let mut result = by(&|[a, b]| a.min(b));
    let each = [by(&|[a, _]| a).value, by(&|[_, b]| b).value];
    if result.value.is_some() {
        result.spread = difference_if_both(each);
    }
    result
}

/// Returns the last number of pages before the cost rises by 3 cycles, while all lines still fit the
/// first-level data cache (up to about 500 lines).
fn knee(points: Vec<(f64, f64)>) -> ProbeResult {
    let mut result = REACH.blank(Estimator::Derived, ProbeVerdict::NoAnswer);
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
            result.verdict = ProbeVerdict::Ok;
            result.add_note(format!(
                "covers {} in 4 KiB pages; {:.1} cycles per load within this reach, {:.1} at 256 pages",
                fathom_model::quantity::format_size(points[at - 1].0 * 4096.0),
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

/// One pass: pairs of chunks that alternate between small and huge pages, so that any other use of the memory
/// affects both.
struct Pass {
    /// Small minus huge for each pair, in ns per load.
    gains: Samples,
    /// Median load in huge pages, in ns.
    huge: f64,
}

fn gain(context: &Context) -> ProbeResult {
    let bytes = context.memory_set().min(context.memory_budget / 2);
    if bytes < context.last_level_bytes() {
        return GAIN.not_measurable("too little memory is available");
    }
    let chase = |pages| {
        let slots = bytes / 64;
        let mut cycle = Cycle::new(slots, Layout::every(64), pages, 0x71b)?;
        cycle.grow(slots);
        std::io::Result::Ok(cycle)
    };
    let (Ok(mut small), Ok(mut huge)) = (chase(Pages::Small), chase(Pages::Huge)) else {
        return GAIN.not_measurable("no memory");
    };
    // The kernel's own accounting tells whether huge pages were used.
    if huge.mapping().huge_bytes().unwrap_or(0) < bytes / 4 * 3 {
        return GAIN.not_measurable("the system granted no huge pages");
    }
    gain_of([(); 2].map(|()| pass(&mut small, &mut huge)))
}

fn pass(small: &mut Cycle, huge: &mut Cycle) -> Pass {
    // 480 loads: about 60 us.
    const ROUNDS: u64 = 30;
    let mut of_huge = Vec::new();
    let mut chunk = || {
        let (a, b) = (small.load_ns(ROUNDS), huge.load_ns(ROUNDS));
        of_huge.push(b);
        a - b
    };
    let gains = sample(CpuOf::Thread, Duration::from_millis(150), &mut chunk);
    Pass {
        gains,
        huge: quantile(&of_huge, 0.5).unwrap_or(f64::NAN),
    }
}

/// Returns the gain of two passes, which must agree within 30 % of the gain or a fraction of a load's
/// duration, whichever is more.
fn gain_of(passes: [Pass; 2]) -> ProbeResult {
    let [Some(a), Some(b)] =
        [&passes[0], &passes[1]].map(|pass| pass.gains.estimate(Estimator::Median))
    else {
        return GAIN.no_answer("the CPU was not available for long enough");
    };
    let all: Vec<f64> = passes
        .iter()
        .flat_map(|pass| pass.gains.values.iter().copied())
        .collect();
    let huge = (passes[0].huge + passes[1].huge) / 2.0;
    let value = (a + b) / 2.0;
    let nothing = NO_GAIN * huge;
    let mut result = GAIN.blank(Estimator::Median, ProbeVerdict::Ok);
    result.n = all.len();
    result.min = quantile(&all, 0.0);
    result.p10 = quantile(&all, 0.1);
    result.median = quantile(&all, 0.5);
    result.value = Some(value);
    result.add_note(format!("a load takes {huge:.1} ns with huge pages"));
    if value.abs() > nothing {
        result.spread = Some((a - b).abs() / value.abs());
    } else {
        result.add_note(
            "no clear gain: the host may map the memory in small pages underneath the guest",
        );
    }
    if (a - b).abs() > nothing.max(0.3 * a.max(b)) {
        result.withdraw(
            ProbeVerdict::Disturbed,
            format!("two passes differ too much ({a:.1} and {b:.1} ns)"),
        );
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reach_ends_before_the_cost_rises() {
        let points = PAGES.map(|n| (n as f64, if n <= 72 { 4.0 } else { 11.0 }));
        assert_eq!(knee(points.to_vec()).value, Some(72.0));
        let pairs = PAGES.map(|n| {
            let cost = |limit| if n <= limit { 4.0 } else { 11.0 };
            (n as f64, [cost(72), cost(64)])
        });
        let result = knee_of(&pairs);
        assert_eq!(
            (result.value, result.spread),
            (Some(72.0), Some(8.0 / 72.0))
        );
    }

    #[test]
    fn two_passes_must_agree_on_the_gain() {
        let pass = |small: f64, huge: f64| Pass {
            gains: Samples {
                values: vec![small - huge; 20],
                ..Samples::default()
            },
            huge,
        };
        let agreed = gain_of([pass(140.0, 110.0), pass(142.0, 110.0)]);
        assert_eq!(
            (agreed.value, agreed.verdict),
            (Some(31.0), ProbeVerdict::Ok)
        );
        assert!(agreed.spread.is_some_and(|spread| spread < 0.1));
        let differing = gain_of([pass(140.0, 110.0), pass(116.0, 110.0)]);
        assert_eq!(
            (differing.value, differing.verdict),
            (None, ProbeVerdict::Disturbed)
        );
        // Two gains close to zero are a valid result, however large their ratio.
        let none = gain_of([pass(110.2, 110.0), pass(111.0, 110.0)]);
        assert_eq!(none.verdict, ProbeVerdict::Ok);
        assert!(none.note.is_some_and(|note| note.contains("no clear gain")));
        let mut starved = [pass(140.0, 110.0), pass(140.0, 110.0)];
        starved[1].gains.values.clear();
        assert_eq!(gain_of(starved).verdict, ProbeVerdict::NoAnswer);
    }

    #[test]
    fn a_flat_or_incomplete_curve_gives_no_answer() {
        assert_eq!(
            knee(PAGES.map(|n| (n as f64, 4.0)).to_vec()).verdict,
            ProbeVerdict::NoAnswer
        );
        assert_eq!(
            knee(vec![(16.0, 4.0), (24.0, 9.0)]).verdict,
            ProbeVerdict::NoAnswer
        );
    }
}
