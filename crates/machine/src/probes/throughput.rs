//! How many operations of one kind a core starts per cycle.

use std::time::Duration;

use crate::cpu_gate::CpuOf;
use crate::kernels::chains::{self, CHAINS, Operation, PER_TURN};
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict};
use crate::ruler::Ruler;
use crate::samples::quantile;
use crate::track::sample;

const METHOD: &str = "1 to 8 independent chains of the instruction; the operations per cycle, with enough chains that adding more no \
     longer helps; the fastest chunks of two passes.";

const PROBES: [(Operation, Heading); 5] = [
    (
        Operation::Add,
        heading("throughput_add", "integer additions"),
    ),
    (
        Operation::Multiply,
        heading("throughput_multiply", "integer multiplications"),
    ),
    (
        Operation::Load,
        heading("throughput_load", "loads, first level"),
    ),
    (
        Operation::FloatAdd,
        heading("throughput_float_add", "floating additions, scalar"),
    ),
    (
        Operation::FusedMultiplyAdd,
        heading("throughput_fma", "multiply-adds, vectors"),
    ),
];

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[
    PROBES[0].1,
    PROBES[1].1,
    PROBES[2].1,
    PROBES[3].1,
    PROBES[4].1,
];

const fn heading(id: &'static str, title: &'static str) -> Heading {
    Heading {
        id,
        title,
        unit: "/cycle",
        method: METHOD,
    }
}

/// Returns the iterations of the loop in one chunk with `chains` chains: about 12000 operations.
fn turns(chains: usize) -> u64 {
    12_000 / (chains as u64 * PER_TURN)
}

/// Measures one figure for each operation.
pub(crate) fn run() -> Vec<ProbeResult> {
    PROBES
        .iter()
        .map(|(operation, heading)| {
            if !chains::available(*operation) {
                return heading.not_measurable("this processor does not have the instruction");
            }
            let first = pass(*operation);
            let second = pass(*operation);
            answer(*heading, *operation, &first, &second)
        })
        .collect()
}

/// Returns operations per cycle by number of chains.
fn pass(operation: Operation) -> Vec<(f64, f64)> {
    let mut ruler = Ruler::new();
    let mut rate = |chains: usize| {
        let count = (turns(chains) * PER_TURN * chains as u64) as f64;
        let mut chunk = || ruler.cycles(|| chains::run(operation, chains, turns(chains)));
        let samples = sample(CpuOf::Thread, Duration::from_millis(2), &mut chunk);
        Some((chains as f64, count / quantile(&samples.values, 0.0)?))
    };
    CHAINS.iter().filter_map(|chains| rate(*chains)).collect()
}

fn answer(
    heading: Heading,
    operation: Operation,
    first: &[(f64, f64)],
    second: &[(f64, f64)],
) -> ProbeResult {
    let best = |points: &[(f64, f64)]| points.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let (a, b) = (best(first), best(second));
    let mut result = heading.blank(Estimator::Derived, ProbeVerdict::NoAnswer);
    result.n = first.len() + second.len();
    result.set_points("chains", "/cycle", second.to_vec());
    if first.len() < CHAINS.len() || second.len() < CHAINS.len() {
        result.add_note("the CPU was not available for long enough");
        return result;
    }
    let high = a.max(b);
    result.spread = Some((a - b).abs() / high);
    if (a - b).abs() > high * 0.05 {
        result.verdict = ProbeVerdict::Disturbed;
        result.add_note(format!("two passes gave {a:.2} and {b:.2}"));
        return result;
    }
    result.value = Some((high * 100.0).round() / 100.0);
    result.verdict = ProbeVerdict::Ok;
    if operation != Operation::Load
        && let Some((_, one)) = second.first()
    {
        result.add_note(format!("latency {:.1} cycles", 1.0 / one));
    }
    if operation == Operation::FusedMultiplyAdd {
        let doubles = chains::VECTOR_DOUBLES;
        result.add_note(format!(
            "of {doubles} doubles each: {:.0} floating-point operations per cycle",
            high * doubles as f64 * 2.0
        ));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(most: f64) -> Vec<(f64, f64)> {
        CHAINS
            .map(|chains| (chains as f64, (chains as f64 / 3.0).min(most)))
            .to_vec()
    }

    #[test]
    fn throughput_is_where_more_chains_no_longer_help() {
        let (head, op) = (PROBES[1].1, Operation::Multiply);
        let result = answer(head, op, &curve(1.0), &curve(1.0));
        assert_eq!(result.value, Some(1.0));
        assert_eq!(result.note.as_deref(), Some("latency 3.0 cycles"));
        assert_eq!(
            answer(head, op, &curve(1.0), &curve(0.8)).verdict,
            ProbeVerdict::Disturbed
        );
        assert_eq!(
            answer(head, op, &[], &curve(0.8)).verdict,
            ProbeVerdict::NoAnswer
        );
    }

    #[test]
    fn chunks_hold_whole_turns() {
        assert!(CHAINS.iter().all(|chains| turns(*chains) > 50));
    }
}
