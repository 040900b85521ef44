//! Checks whether a warm-up run did something that the other runs didn't. Pure functions.

use fathom_measure::WarmUp;
use fathom_model::quantity::short_time;
use fathom_model::{Run, Warning};

/// If a warm-up run takes this many times as long as the longest counted run, it did something else: it built
/// a cache, compiled, or waited for a service to start.
const FAR: f64 = 3.0;
/// The run must also be longer by at least this time, in nanoseconds: cold caches cost the first start of any
/// program a few milliseconds.
const LONGER_NS: u64 = 20_000_000;

/// Returns a warning if a warm-up run of benchmark `index` took far longer than all its counted runs.
pub(super) fn warning(index: usize, warmups: &[WarmUp], runs: &[Run]) -> Option<Warning> {
    let working = |run: &Run| run.wall_ns.saturating_sub(run.waited_for_cpu_ns());
    let mine = runs.iter().filter(|run| run.benchmark == index);
    let longest = mine.map(working).max()?;
    let slowest = warmups.iter().filter(|one| one.run.benchmark == index);
    let slowest = slowest.map(|one| &one.run).max_by_key(|run| working(run))?;
    let took = working(slowest);
    if (took as f64) < FAR * longest as f64 || took - longest < LONGER_NS {
        return None;
    }
    let read = slowest.io.map_or(0, |io| io.device_read_bytes);
    let from_storage = match read {
        0 => String::new(),
        read => format!(
            ", {} from storage",
            fathom_model::quantity::format_bytes(read as f64)
        ),
    };
    let seconds = |ns: u64| short_time(ns as f64 / 1e9);
    Some(Warning {
        id: "slow_warmup".to_string(),
        benchmark: Some(index),
        message: format!(
            "the warm-up run took {}{from_storage}, every later run at most {}: work that only the first run does \
             is not timed; to time it in every run, restore the initial state with --prepare",
            seconds(slowest.wall_ns),
            seconds(longest)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_measure::Attempt;
    use fathom_measure::simulated::quiet_run;

    fn run(wall_ms: u64) -> Run {
        let attempt = Attempt {
            benchmark: 0,
            warmup: false,
            round: 0,
            position: 0,
        };
        quiet_run(&attempt, wall_ms * 1_000_000)
    }

    fn warned(warmup_ms: u64, runs_ms: &[u64]) -> Option<String> {
        let warmups = [WarmUp {
            run: run(warmup_ms),
            piped_bytes: None,
        }];
        let runs: Vec<Run> = runs_ms.iter().map(|ms| run(*ms)).collect();
        warning(0, &warmups, &runs).map(|warning| warning.message)
    }

    #[test]
    fn a_first_run_that_makes_a_cache_is_reported() {
        let said = warned(1002, &[2, 1, 2]).unwrap();
        assert!(
            said.starts_with("the warm-up run took 1.00 s, every later run at most 2.00 ms"),
            "{said}"
        );
    }

    #[test]
    fn cold_caches_and_one_slow_run_among_all_are_not() {
        assert_eq!(warned(12, &[2, 1, 2]), None);
        assert_eq!(warned(1002, &[2, 1, 900]), None);
        assert_eq!(warned(1002, &[]), None);
    }

    #[test]
    fn a_wait_for_a_cpu_is_no_work() {
        let mut waited = run(1002);
        waited.run_queue_wait_ns = Some(1_000_000_000);
        let warmups = [WarmUp {
            run: waited,
            piped_bytes: None,
        }];
        assert_eq!(warning(0, &warmups, &[run(2)]), None);
    }
}
