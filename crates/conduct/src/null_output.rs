//! Detects programs that do less because their output goes to `/dev/null`. Pure functions.
//!
//! GNU grep checks whether its standard output is `/dev/null`, and if so stops at the first match in a file:
//! it made 15 reads of a 27 MB file instead of 285. GNU tar doesn't even open the files in that case: it took
//! 25 ms instead of 108. Therefore the last warm-up run writes to a pipe whose bytes are counted, and is
//! compared with the counted runs.

use fathom_measure::WarmUp;
use fathom_model::quantity::format_bytes;
use fathom_model::{Run, Warning};

/// The warning requires that all runs read or wrote less than this part of what the run with the pipe did:
/// output may vary by some bytes, for example if it contains the time.
const LESS: f64 = 0.5;
/// The minimum amount of reading, in bytes, that counts as evidence. The loader alone can read this much: a
/// first run may well read another file of that size.
const FEWEST_READ: u64 = 256 << 10;

/// Returns a warning if the runs of benchmark `index` did less than the run whose output went to a pipe.
pub(crate) fn warning(index: usize, warmups: &[WarmUp], runs: &[Run]) -> Option<Warning> {
    let piped = warmups
        .iter()
        .rfind(|warmup| warmup.run.benchmark == index && warmup.piped_bytes.is_some())?;
    let (to_pipe, io) = (piped.piped_bytes?, piped.run.io?);
    // Only a program that printed something can depend on where its output goes.
    if to_pipe == 0 || !piped.run.exit.is_success() {
        return None;
    }
    let mine = runs
        .iter()
        .filter(|run| run.benchmark == index && run.exit.is_success());
    let counts: Vec<_> = mine.map(|run| run.io).collect::<Option<_>>()?;
    let written = counts.iter().map(|io| io.written_bytes).max()?;
    let read = counts.iter().map(|io| io.read_bytes).max()?;
    let is_less = |now: u64, then: u64| (now as f64) < LESS * then as f64;
    let (verb, now, then) = if is_less(written, to_pipe) {
        ("wrote", written, to_pipe)
    } else if io.read_bytes >= FEWEST_READ && is_less(read, io.read_bytes) {
        ("read", read, io.read_bytes)
    } else {
        return None;
    };
    let (now, then) = (format_bytes(now as f64), format_bytes(then as f64));
    Some(Warning {
        id: "less_for_null".to_string(),
        benchmark: Some(index),
        message: format!(
            "{verb} {now} when its output goes to /dev/null, but {then} when it goes to a pipe (in the warm-up \
             run): to time all of its work, use --output pipe"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_measure::Attempt;
    use fathom_measure::simulated::quiet_run;
    use fathom_model::IoCounts;

    fn run(read_bytes: u64, written_bytes: u64) -> Run {
        let attempt = Attempt {
            benchmark: 0,
            warmup: false,
            round: 0,
            position: 0,
        };
        Run {
            io: Some(IoCounts {
                read_bytes,
                written_bytes,
                ..IoCounts::default()
            }),
            ..quiet_run(&attempt, 1_000_000)
        }
    }

    fn warmup(read: u64, written: u64, piped_bytes: Option<u64>) -> [WarmUp; 1] {
        [WarmUp {
            run: run(read, written),
            piped_bytes,
        }]
    }

    #[test]
    fn who_writes_less_for_null_is_named() {
        let piped = warmup(9_000, 80_000_000, Some(80_000_000));
        let said = warning(0, &piped, &[run(9_000, 0), run(9_000, 0)]).unwrap();
        assert!(
            said.message
                .starts_with("wrote 0 B when its output goes to /dev/null, but 76.3 MiB")
        );
        assert!(warning(0, &piped, &[run(9_000, 0), run(9_000, 80_000_000)]).is_none());
        assert!(warning(1, &piped, &[run(9_000, 0)]).is_none());
    }

    #[test]
    fn who_reads_less_for_null_is_named() {
        let piped = warmup(27_000_000, 5, Some(5));
        let said = warning(0, &piped, &[run(1_500_000, 5)]).unwrap();
        assert!(
            said.message.starts_with("read 1.43 MiB"),
            "{}",
            said.message
        );
        // A file of the loader's size is not evidence.
        assert!(warning(0, &warmup(9_000, 5, Some(5)), &[run(3_000, 5)]).is_none());
    }

    #[test]
    fn what_was_written_elsewhere_is_no_output() {
        // The first run created a file; all runs print the same output.
        assert!(warning(0, &warmup(0, 5_000, Some(3)), &[run(0, 3)]).is_none());
        assert!(warning(0, &warmup(0, 5_000, Some(0)), &[run(0, 0)]).is_none());
    }

    #[test]
    fn without_a_pipe_or_counts_nothing_is_claimed() {
        assert!(warning(0, &warmup(0, 80_000, None), &[run(0, 0)]).is_none());
        assert!(warning(0, &[], &[run(0, 0)]).is_none());
        let uncounted = Run {
            io: None,
            ..run(0, 0)
        };
        assert!(warning(0, &warmup(0, 80_000, Some(80_000)), &[uncounted]).is_none());
    }
}
