//! The time that the machine takes away from a core that only spins.

use std::time::{Duration, Instant};

use fathom_model::Gaps;
use fathom_model::quantity::{Nanoseconds, Ratio, short_time};

use crate::cpu_gate;
use crate::kernels;
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict, difference};
use crate::samples::quantile;

pub(crate) const HEADING: Heading = Heading {
    id: "noise_lost",
    title: "time lost to others",
    unit: "%",
    method: "a spinning core reads the counter continuously; the time in gaps above 1 us belongs to interrupts, the \
         scheduler, the hypervisor or the firmware.",
};

/// Smallest gap that counts, in ns: reading the counter takes about 10 to 30.
const LEAST_GAP_NS: f64 = 1000.0;

/// Maximum number of gaps kept; more than 1 in 10 us are not expected even on a busy machine.
const MOST_GAPS: usize = 1 << 18;

/// Spins for `time` on the CPU to which the caller is pinned (`cpu`).
pub(crate) fn spin(time: Duration, cpu: usize) -> Gaps {
    // Writing to each page now keeps page faults out of the gaps; a vector of zeros would not have its pages
    // yet.
    let mut gaps = vec![(1u64, 1u64); MOST_GAPS];
    gaps.clear();
    let interrupts = interrupts(cpu);
    let (switches, steal) = (cpu_gate::involuntary_switches(), cpu_gate::steal_ns());
    let threshold = (LEAST_GAP_NS / rough_ns_per_tick()) as u64;
    let clock = Instant::now();
    let first = kernels::ticks();
    let mut last = first;
    let mut reads = 0u32;
    loop {
        let now = kernels::ticks();
        let gap = now.wrapping_sub(last);
        if gap > threshold && gaps.len() < MOST_GAPS {
            gaps.push((now, gap));
        }
        last = now;
        reads = reads.wrapping_add(1);
        if reads.is_multiple_of(1024) && clock.elapsed() >= time {
            break;
        }
    }
    let wall_ns = clock.elapsed().as_nanos() as f64;
    let ns_per_tick = wall_ns / (last.wrapping_sub(first)).max(1) as f64;
    let middle = first.wrapping_add(last.wrapping_sub(first) / 2);
    let of_first = gaps.iter().filter(|(at, _)| *at < middle).count();
    let gaps_ns: Vec<f64> = gaps
        .iter()
        .map(|(_, gap)| *gap as f64 * ns_per_tick)
        .collect();
    summarise(
        gaps_ns.split_at(of_first),
        wall_ns,
        cpu_gate::involuntary_switches().saturating_sub(switches),
        cpu_gate::steal_ns().saturating_sub(steal),
        interrupts
            .zip(self::interrupts(cpu))
            .map(|(before, after)| after.saturating_sub(before)),
    )
}

fn rough_ns_per_tick() -> f64 {
    let (clock, first) = (Instant::now(), kernels::ticks());
    while clock.elapsed() < Duration::from_millis(1) {
        std::hint::spin_loop();
    }
    clock.elapsed().as_nanos() as f64 / kernels::ticks().wrapping_sub(first).max(1) as f64
}

/// Summarises the gaps. `by_half` has the gaps of the first and of the second half, in ns.
fn summarise(
    by_half: (&[f64], &[f64]),
    wall_ns: f64,
    scheduler: u64,
    steal_ns: Nanoseconds,
    interrupts: Option<u64>,
) -> Gaps {
    let gaps_ns = [by_half.0, by_half.1].concat();
    let lost = |gaps: &[f64], of_ns: f64| (gaps.iter().sum::<f64>() / of_ns).min(1.0);
    let mut by_decade = [0; 5];
    for gap in &gaps_ns {
        by_decade[((gap / LEAST_GAP_NS).log10().floor().max(0.0) as usize).min(4)] += 1;
    }
    Gaps {
        seconds: wall_ns / 1e9,
        count: gaps_ns.len(),
        lost: Ratio(lost(&gaps_ns, wall_ns)),
        lost_by_half: [by_half.0, by_half.1].map(|half| Ratio(lost(half, wall_ns / 2.0))),
        longest_ns: quantile(&gaps_ns, 1.0).unwrap_or(0.0),
        by_decade,
        scheduler,
        steal_ns,
        interrupts,
    }
}

/// Returns the number of interrupts that `cpu` has handled since boot (`/proc/interrupts`).
fn interrupts(cpu: usize) -> Option<u64> {
    parse_interrupts(&std::fs::read_to_string("/proc/interrupts").ok()?, cpu)
}

pub(crate) fn parse_interrupts(text: &str, cpu: usize) -> Option<u64> {
    let mut lines = text.lines();
    let name = format!("CPU{cpu}");
    let column = lines
        .next()?
        .split_whitespace()
        .position(|word| word == name)?;
    Some(
        lines
            .filter_map(|line| line.split_whitespace().nth(column + 1)?.parse::<u64>().ok())
            .fold(0, u64::saturating_add),
    )
}

/// Returns the gaps as a probe result.
pub(crate) fn result(gaps: &Gaps) -> ProbeResult {
    let mut result = HEADING.blank(Estimator::Derived, ProbeVerdict::Ok);
    result.n = gaps.count;
    result.value = Some(gaps.lost.percent());
    let [first, second] = gaps.lost_by_half;
    result.spread = Some(difference(first.0, second.0));
    result.steal_ns = gaps.steal_ns;
    result.involuntary_switches = gaps.scheduler;
    result.points_over = Some("gap from ns".into());
    result.points = Some(
        (0..5)
            .map(|i| (1e3 * 10f64.powi(i), gaps.by_decade[i as usize] as f64))
            .collect(),
    );
    result.add_note(format!(
        "{} gaps in {:.1} s, the longest {}; {} by the scheduler, {} stolen{}",
        gaps.count,
        gaps.seconds,
        short_time(gaps.longest_ns / 1e9),
        gaps.scheduler,
        gaps.steal_ns,
        gaps.interrupts
            .map_or(String::new(), |count| format!(", {count} interrupts")),
    ));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_counted_by_decade() {
        let gaps = summarise(
            (&[1500.0, 9000.0], &[5e4, 2e7]),
            1e8,
            1,
            Nanoseconds(0),
            Some(3),
        );
        assert_eq!(gaps.by_decade, [2, 1, 0, 0, 1]);
        assert!((gaps.lost.0 - 0.200605).abs() < 1e-9);
        assert_eq!(gaps.longest_ns, 2e7);
        assert!((gaps.lost_by_half[0].0 - 0.00021).abs() < 1e-9);
        assert!((gaps.lost_by_half[1].0 - 0.401).abs() < 1e-9);
    }

    #[test]
    fn interrupts_are_summed_in_the_column_of_the_cpu() {
        let text =
            "           CPU0       CPU2\n  0:   5   7  IO-APIC timer\nLOC:  10  20 Local\nERR: 0\n";
        assert_eq!(parse_interrupts(text, 0), Some(15));
        assert_eq!(parse_interrupts(text, 2), Some(27));
        assert_eq!(parse_interrupts(text, 1), None);
    }

    #[test]
    fn a_spin_is_as_long_as_asked() {
        let gaps = spin(Duration::from_millis(2), 0);
        assert!(gaps.seconds >= 0.002);
        assert!((0.0..=1.0).contains(&gaps.lost.0));
        assert_eq!(gaps.by_decade.iter().sum::<usize>(), gaps.count);
    }
}
