//! Observations about the runs of one benchmark beyond its figures, and whether they affect how far the
//! figures can be trusted. Users would ignore a hint that appeared in every session.

use fathom_model::{Metric, Run, Warning};

use super::values;

/// An observation about the runs of one benchmark.
pub(super) struct Observation {
    /// Whether it should change a reader's conclusions; other observations are shown only on request.
    pub(super) changes_belief: bool,
    /// The warning text.
    pub(super) said: Warning,
}

/// If two groups of runs differ by at least this factor, neither a median between them nor that of the larger
/// group is what a user of the program experiences. A program that uses the core's other hyperthread for a
/// while separates the groups by 10 to 25 %.
const FAR_MODES: f64 = 1.3;
/// Like [`FAR_MODES`], for a decided comparison: it is paired by round, so both sides had both modes.
const FAR_MODES_OF_DECIDED: f64 = 2.0;
/// If the first and the last third of the runs differ by this share, the median describes a moving target.
const FAR_DRIFT: f64 = 0.1;
/// The share of the time from which steal time affects the result.
const MUCH_STEAL: f64 = 0.05;
/// If the first run takes at least this many times as long as the longest of the others, it did something
/// else.
const FAR_FIRST_RUN: f64 = 3.0;

/// Returns the observations about one benchmark. `decided`: all comparisons are decided, and no observation
/// can change them.
pub(super) fn of(runs: &[Run], benchmark: usize, decided: bool) -> Vec<Observation> {
    let mine: Vec<&Run> = runs
        .iter()
        .filter(|run| run.benchmark == benchmark)
        .collect();
    // Only successful runs, like the figures.
    let wall = values(runs, benchmark, Metric::Wall);
    let undisturbed = values(runs, benchmark, Metric::Undisturbed);
    // If waits are known, they are excluded when judging the distribution.
    let clean = if undisturbed.len() == wall.len() {
        &undisturbed
    } else {
        &wall
    };
    let mut found = of_shape(clean, decided);
    found.extend(of_machine(&mine, wall.iter().sum(), decided));
    let observation = |(id, changes_belief, message): Said| Observation {
        changes_belief,
        said: Warning {
            id: id.to_owned(),
            benchmark: Some(benchmark),
            message,
        },
    };
    found.into_iter().map(observation).collect()
}

/// The id, whether it changes conclusions, and the text.
type Said = (&'static str, bool, String);

/// Describes how the values are distributed, and whether that changed.
fn of_shape(clean: &[f64], decided: bool) -> Vec<Said> {
    let mut found = Vec::new();
    let mut say = |id, changes_belief, message| found.push((id, changes_belief, message));
    if let Some(modes) = fathom_stats::two_modes(clean) {
        let far = if decided {
            FAR_MODES_OF_DECIDED
        } else {
            FAR_MODES
        };
        let (low, high) = (time(modes.low), time(modes.high));
        let share = 100.0 * modes.high_share;
        say(
            "two_modes",
            modes.high >= far * modes.low,
            format!(
                "the runs fall into two groups, {:.0} % around {low} and {share:.0} % around {high}",
                100.0 - share
            ),
        );
    } else if fathom_stats::is_autocorrelated(clean) {
        let drift = drift(clean);
        let by = match drift.abs() >= 0.01 {
            true => format!(" by {:.0} %", 100.0 * drift.abs()),
            false => String::new(),
        };
        say(
            "drift",
            !decided && drift.abs() >= FAR_DRIFT,
            format!(
                "speed drifted{by} during the measurement: the median is less certain than its interval suggests"
            ),
        );
    }
    if let Some((first, others)) = slow_first_run(clean) {
        say(
            "slow_first_run",
            first >= FAR_FIRST_RUN * others,
            format!(
                "the first run took {}, and every later run at most {}; -w 1 would turn it into a warm-up run, \
                 which doesn't count",
                time(first),
                time(others)
            ),
        );
    }
    found
}

/// Describes steal time, and processes that the runs left behind.
fn of_machine(mine: &[&Run], wall: f64, decided: bool) -> Vec<Said> {
    let mut found = Vec::new();
    let mut say = |id, changes_belief, message| found.push((id, changes_belief, message));
    let stolen = mine.iter().filter(|run| run.steal_ns.unwrap_or(0) > 0);
    let hit = stolen.clone().count();
    if hit > 0 {
        let steal: u64 = stolen.filter_map(|run| run.steal_ns).sum();
        let runs = if hit == 1 { "run" } else { "runs" };
        say(
            "steal",
            !decided && steal as f64 >= MUCH_STEAL * 1e9 * wall,
            format!("CPU steal in {hit} {runs}: the hypervisor gave CPU time to other machines"),
        );
    }
    let left = mine.iter().filter(|run| run.left_behind > 0).count();
    if left > 0 {
        say(
            "left_behind",
            true,
            format!(
                "{left} of {} runs left processes running; Fathom terminated them, and the numbers exclude their \
                 time",
                mine.len()
            ),
        );
    }
    found
}

/// Returns how much longer the last third of the runs takes than the first, as a share.
fn drift(values: &[f64]) -> f64 {
    let third = values.len() / 3;
    let median = |part: &[f64]| {
        let mut sorted = part.to_vec();
        sorted.sort_by(f64::total_cmp);
        fathom_stats::quantile(&sorted, 0.5)
    };
    match third {
        0 => 0.0,
        third => median(&values[values.len() - third..]) / median(&values[..third]) - 1.0,
    }
}

/// Returns the first run and the longest of the others, if the first is far longer.
fn slow_first_run(values: &[f64]) -> Option<(f64, f64)> {
    let (first, rest) = values.split_first()?;
    // With two runs, either may be the unusual one.
    if rest.len() < 2 {
        return None;
    }
    let mut sorted = rest.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quartile = |q| fathom_stats::quantile(&sorted, q);
    let limit = (quartile(0.75) + 5.0 * (quartile(0.75) - quartile(0.25))).max(1.2 * quartile(0.5));
    let longest = *sorted.last()?;
    let few = rest.len() < 5 && *first < FAR_FIRST_RUN * longest;
    (*first > limit && *first > longest && !few).then_some((*first, longest))
}

fn time(seconds: f64) -> String {
    fathom_model::quantity::short_time(seconds)
}

#[cfg(test)]
mod tests {
    use fathom_model::Exit;

    use super::*;
    use crate::Attempt;
    use crate::simulated::quiet_run;

    fn runs(walls_ms: &[u64]) -> Vec<Run> {
        let run = |(position, wall): (usize, &u64)| {
            let attempt = Attempt {
                benchmark: 0,
                warmup: false,
                round: position as u32,
                position: position as u32,
            };
            quiet_run(&attempt, wall * 1_000_000)
        };
        walls_ms.iter().enumerate().map(run).collect()
    }

    fn found(walls_ms: &[u64], decided: bool) -> Vec<(String, bool)> {
        let all = of(&runs(walls_ms), 0, decided);
        let short = |one: Observation| (one.said.id, one.changes_belief);
        all.into_iter().map(short).collect()
    }

    #[test]
    fn two_groups_that_are_near_are_only_a_note() {
        let groups = |low: u64, high: u64| -> Vec<u64> {
            (0..40)
                .map(|n| if n % 3 == 0 { high } else { low } + n % 2)
                .collect()
        };
        assert_eq!(
            found(&groups(100, 120), false),
            [("two_modes".to_string(), false)]
        );
        assert_eq!(
            found(&groups(100, 150), false),
            [("two_modes".to_string(), true)]
        );
        assert_eq!(
            found(&groups(100, 150), true),
            [("two_modes".to_string(), false)]
        );
    }

    #[test]
    fn failed_runs_are_no_second_group() {
        let walls: Vec<u64> = (0..40)
            .map(|n| if n % 3 == 0 { 10 } else { 100 } + n % 7)
            .collect();
        let mut runs = runs(&walls);
        let has_groups = |runs: &[Run]| {
            let said = of(runs, 0, false);
            said.iter().any(|one| one.said.id == "two_modes")
        };
        assert!(has_groups(&runs));
        for run in runs.iter_mut().step_by(3) {
            run.exit = Exit::Code(1);
        }
        assert!(!has_groups(&runs));
    }

    #[test]
    fn a_drift_is_a_warning_only_where_it_is_far_and_nothing_is_paired() {
        let rising = |by: u64| -> Vec<u64> { (0..40).map(|n| 10_000 + by * n).collect() };
        assert_eq!(found(&rising(10), false), [("drift".to_string(), false)]);
        assert_eq!(found(&rising(60), false), [("drift".to_string(), true)]);
        assert_eq!(found(&rising(60), true), [("drift".to_string(), false)]);
    }

    #[test]
    fn a_first_run_that_did_something_else_is_a_warning() {
        assert_eq!(
            found(&[900, 10, 11, 10], false),
            [("slow_first_run".to_string(), true)]
        );
        assert!(found(&[12, 10, 11, 10], false).is_empty());
    }

    #[test]
    fn steal_is_counted_and_little_of_it_is_only_a_note() {
        let mut runs = runs(&[1000; 10]);
        runs[3].steal_ns = Some(10_000_000);
        let of_one = of(&runs, 0, false);
        assert!(of_one[0].said.message.starts_with("CPU steal in 1 run:"));
        assert!(!of_one[0].changes_belief);
        runs[4].steal_ns = Some(800_000_000);
        assert!(of(&runs, 0, false)[0].changes_belief);
        assert!(!of(&runs, 0, true)[0].changes_belief);
    }
}
