//! Warnings about how far the numbers can be trusted. Pure functions.

use fathom_model::{Cache, Exit, StampedBy, StartupRun, Warning};

/// If the first byte comes after this share of the run, it was probably held back.
const LATE_SHARE: f64 = 0.9;
/// The minimum duration, in nanoseconds, of a run whose program is run on a terminal. A shorter run can
/// hardly hold anything back, and its single run on a terminal would be dominated by noise.
const WORTH_ASKING_NS: u64 = 20_000_000;
/// If the first byte comes in at most this share of the time, the difference can't be noise in the single run
/// on a terminal.
const EARLIER_SHARE: f64 = 0.5;
/// The maximum difference, in nanoseconds, between the two ways of timestamping the first byte for them to
/// agree.
const EXACT_NS: u64 = 50_000;
/// The start-up time, in nanoseconds, above which 50 µs don't matter, because they are less than a
/// thousandth.
const MATTERS_NS: u64 = 50_000_000;

/// Returns one warning for each issue.
pub(super) fn of(runs: &[StartupRun], programs: usize) -> Vec<Warning> {
    (0..programs)
        .flat_map(|program| {
            let mine: Vec<&StartupRun> = runs.iter().filter(|run| run.program == program).collect();
            about(program, &mine)
        })
        .collect()
}

fn about(program: usize, runs: &[&StartupRun]) -> Vec<Warning> {
    let mut found = Vec::new();
    let mut say = |id: &str, message: String| {
        found.push(Warning {
            id: id.to_string(),
            benchmark: Some(program),
            message,
        });
    };
    let all = runs.len();
    let silent = runs.iter().filter(|r| r.first_output_ns.is_none()).count();
    let ended = runs.iter().filter(|run| was_ended(run)).count();
    if silent > 0 {
        let nothing = "wrote nothing to standard output";
        let message = match (silent == all, ended == all) {
            (true, true) => {
                format!("it {nothing} before it was ended, so none of its times could be measured")
            }
            (true, false) => format!("it {nothing}: only the time to exit could be measured"),
            _ => format!("{silent} of {all} runs {nothing}; the time to exit is compared instead"),
        };
        say("no_output", message);
    }
    let loose = runs.iter().filter(|run| is_loose(run)).count();
    if loose * 10 > all {
        say(
            "late_stamps",
            format!(
                "in {loose} of {all} runs, the first byte was seen late, by an unknown amount of more than 50 µs: \
                 the machine is busy"
            ),
        );
    }
    let left = runs.iter().filter(|run| run.left_behind > 0).count();
    if left > 0 {
        say(
            "left_behind",
            format!(
                "{left} of {all} runs left processes running (a daemon?): the time to exit is that of the command \
                 itself; Fathom ended the other processes after each run"
            ),
        );
    }
    if ended > 0 {
        say(
            "failures",
            format!(
                "{ended} of {all} runs were ended by --timeout: the times to exit leave them out"
            ),
        );
    }
    let failed = runs.iter().filter(|run| !run.exit.is_success()).count() - ended;
    if failed > 0 {
        say("failures", format!("{failed} of {all} runs failed"));
    }
    let cold: Vec<_> = runs.iter().filter(|r| r.cache == Cache::Cold).collect();
    let void = cold.iter().filter(|run| run.void).count();
    if void > 0 {
        say(
            "not_cold_runs",
            format!(
                "{void} of {} cold runs read nothing from the device: they were not cold and were discarded",
                cold.len()
            ),
        );
    }
    let read = runs
        .iter()
        .filter(|run| run.cache == Cache::Warm && run.major_faults > 0)
        .count();
    if read * 10 > all {
        say(
            "warm_runs_read",
            format!("{read} warm runs read from the device: they were not fully warm"),
        );
    }
    found
}

/// Reports whether Fathom ended the run at its time limit.
fn was_ended(run: &StartupRun) -> bool {
    run.exit == Exit::TimedOut
}

/// Reports whether the uncertainty of the time of the first byte exceeds 50 µs and is large enough to matter.
fn is_loose(run: &StartupRun) -> bool {
    run.first_output_ns.is_some_and(|first| first < MATTERS_NS)
        && match run.first_output_by {
            Some(StampedBy::Watch) => run
                .first_output_uncertainty_ns
                .is_none_or(|ns| ns > EXACT_NS),
            Some(StampedBy::WokenReader) => false,
            Some(StampedBy::LateReader) | None => true,
        }
}

/// Reports whether the first bytes came so late (in the last tenth of the runs) that they may have been held
/// back. A run on a terminal then shows whether they were.
pub(super) fn may_be_held_back(runs: &[StartupRun], program: usize) -> bool {
    let mine: Vec<&StartupRun> = runs
        .iter()
        .filter(|run| run.program == program && run.cache == Cache::Warm)
        .collect();
    let late = |run: &&&StartupRun| {
        !was_ended(run)
            && run.exit_ns > WORTH_ASKING_NS
            && run
                .first_output_ns
                .is_some_and(|first| first as f64 > LATE_SHARE * run.exit_ns as f64)
    };
    mine.iter().filter(late).count() * 2 > mine.len()
}

/// Returns a warning if the first byte came much earlier on a terminal than through a pipe.
pub(super) fn held_back(program: usize, pipe_ns: f64, terminal_ns: u64) -> Option<Warning> {
    let much_earlier = (terminal_ns as f64) < EARLIER_SHARE * pipe_ns;
    much_earlier.then(|| Warning {
        id: "output_held_back".to_string(),
        benchmark: Some(program),
        message: format!(
            "when writing to a pipe, it holds back its output until it exits, after {:.0} ms; on a terminal its \
             first byte comes after {:.0} ms (one run). Flush after the first line to show it earlier",
            pipe_ns / 1e6,
            terminal_ns as f64 / 1e6
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(first_output_ns: Option<u64>, exit_ns: u64) -> StartupRun {
        StartupRun {
            program: 0,
            round: 0,
            position: 0,
            cache: Cache::Warm,
            first_output_ns,
            first_output_by: Some(StampedBy::Watch),
            first_output_uncertainty_ns: Some(400),
            exit_ns,
            exit_corrected: true,
            output_bytes: 6,
            run_queue_wait_ns: Some(0),
            throttled_ns: None,
            wait_is_exact: true,
            cpu_ns: 0,
            minor_faults: 0,
            major_faults: 0,
            cpu: None,
            cycles_per_addition: None,
            read_bytes: Some(0),
            void: false,
            left_behind: 0,
            exit: Exit::Code(0),
        }
    }

    fn ids(runs: &[StartupRun]) -> Vec<String> {
        of(runs, 1).into_iter().map(|warning| warning.id).collect()
    }

    #[test]
    fn a_plain_hello_gets_no_warning() {
        assert!(ids(&[run(Some(500_000), 520_000)]).is_empty());
    }

    #[test]
    fn silence_late_output_and_daemons_get_a_warning() {
        assert_eq!(ids(&[run(None, 500_000)]), ["no_output"]);
        let late = run(Some(990_000_000), 1_000_000_000);
        assert!(may_be_held_back(&[late], 0));
        assert!(!may_be_held_back(&[run(Some(500_000), 520_000)], 0));
        assert!(held_back(0, 990e6, 20_000_000).is_some());
        assert!(held_back(0, 990e6, 900_000_000).is_none());
        let daemon = StartupRun {
            left_behind: 1,
            ..run(Some(500_000), 520_000)
        };
        assert_eq!(ids(&[daemon]), ["left_behind"]);
    }

    #[test]
    fn runs_that_were_ended_are_no_runs_that_failed() {
        let ended = |first| StartupRun {
            exit: Exit::TimedOut,
            ..run(first, 1_000_000_000)
        };
        let failed = StartupRun {
            exit: Exit::Code(7),
            ..run(Some(500_000), 520_000)
        };
        let messages: Vec<String> = of(&[ended(None), ended(None)], 1)
            .into_iter()
            .map(|warning| warning.message)
            .collect();
        assert!(messages[0].contains("before it was ended"), "{messages:?}");
        assert!(
            messages[1].starts_with("2 of 2 runs were ended by --timeout"),
            "{messages:?}"
        );
        assert_eq!(messages.len(), 2);
        let both = [ended(Some(990_000_000)), failed];
        assert_eq!(ids(&both), ["failures", "failures"]);
        assert!(!may_be_held_back(&both[..1], 0), "its end is not its own");
    }

    #[test]
    fn a_cold_run_that_read_nothing_is_void() {
        let void = StartupRun {
            cache: Cache::Cold,
            void: true,
            ..run(Some(500_000), 520_000)
        };
        assert_eq!(ids(&[void]), ["not_cold_runs"]);
    }
}
