//! How is it said that programs waited for a CPU?

use crate::quantity::{counted, format_count, format_share};

/// From this share of the time on, waiting for a CPU is worth a word.
pub(crate) const BUSY_FROM: f64 = 0.01;

/// So much is no sign of a busy machine: a new process is put on a CPU 5 to 7 µs after it is ready wherever it runs,
/// which alone is over 1 % of a start that takes half a millisecond.
const USUAL_NS: u64 = 10_000;

/// A label and a sentence; `None` where the waits are too little to speak of.
///
/// `waits`: of each run how long it waited for a CPU and how long it took, ns. `who` waited: empty, or
/// with a space at its end. How many runs waited is said: two long waits in fifty runs are another matter
/// than a busy machine.
pub(crate) fn disturbance(waits: &[(u64, u64)], who: &str) -> Option<(&'static str, String)> {
    let sum = |of: &dyn Fn(&(u64, u64)) -> u64| waits.iter().map(|run| of(run) as f64).sum::<f64>();
    let beyond_usual = sum(&|run| run.0.saturating_sub(USUAL_NS));
    if beyond_usual <= BUSY_FROM * sum(&|run| run.1) {
        return None;
    }
    let long = |(waited, took): &&(u64, u64)| {
        *waited > USUAL_NS && *waited as f64 > BUSY_FROM * *took as f64
    };
    let count = waits.iter().filter(long).count();
    let label = if 2 * count >= waits.len() {
        "busy machine"
    } else {
        "disturbed"
    };
    let text = format!(
        "{} of {} waited {who}more than {} of their time for a CPU",
        format_count(count as f64),
        counted(waits.len() as u64, "run", "runs"),
        format_share(BUSY_FROM)
    );
    Some((label, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_waits_are_a_busy_machine_and_few_a_disturbance() {
        const MS: u64 = 1_000_000;
        assert_eq!(disturbance(&[], ""), None);
        assert_eq!(disturbance(&[(MS, 100 * MS), (0, 100 * MS)], ""), None);
        let runs = [(50 * MS, 100 * MS), (30 * MS, 100 * MS), (0, 100 * MS)];
        let (label, text) = disturbance(&runs, "").unwrap();
        assert_eq!(label, "busy machine");
        assert_eq!(
            text,
            "2 of 3 runs waited more than 1\u{a0}% of their time for a CPU"
        );
        let runs = [(50 * MS, 100 * MS), (0, 100 * MS), (0, 100 * MS)];
        let (label, text) = disturbance(&runs, "here ").unwrap();
        assert_eq!(label, "disturbed");
        assert!(text.contains("1 of 3 runs waited here more"), "{text}");
    }

    #[test]
    fn what_every_new_process_waits_is_no_disturbance() {
        assert_eq!(disturbance(&[(7_000, 300_000); 20], ""), None);
        assert!(disturbance(&[(20_000, 300_000); 20], "").is_some());
    }
}
