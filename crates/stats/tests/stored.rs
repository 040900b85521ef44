//! Tests comparisons of measurements from different times: at most one in twenty may call identical code
//! different, for any drift between the measurements.

mod simulate;

use fathom_model::Verdict;
use fathom_stats::{
    BetweenSessions, Measured, between_sessions, judge_unpaired, median_interval, unpaired_ratio,
};
use simulate::{Random, share, upper_limit};

/// How measurements of the same code differ.
#[derive(Debug, Clone, Copy)]
enum Drift {
    /// Each measurement has its own level, for example from memory layout or another host.
    Independent,
    /// Like `Independent`, but one measurement in ten is far off.
    Outliers,
    /// Neighbouring measurements are similar, with a correlation of 0.9.
    Waves,
    /// A random walk that never returns, such as an ageing disk or a growing cache.
    Walk,
}

const ALL: [Drift; 4] = [
    Drift::Independent,
    Drift::Outliers,
    Drift::Waves,
    Drift::Walk,
];

impl Drift {
    /// Returns the levels of consecutive measurements, with a spread of `size`.
    fn levels(self, count: usize, size: f64, random: &mut Random) -> Vec<f64> {
        let mut wave = random.normal();
        let level = |_| {
            let own = random.normal();
            let log = match self {
                Drift::Independent => own,
                Drift::Outliers if random.below(10) == 0 => own * 5.0,
                Drift::Outliers => own,
                Drift::Waves => {
                    wave = 0.9 * wave + 0.19f64.sqrt() * own;
                    wave
                }
                Drift::Walk => {
                    wave += 0.3 * own;
                    wave
                }
            };
            (size * log).exp()
        };
        (0..count).map(level).collect()
    }
}

/// Returns a session of `runs` runs at this level.
fn session(level: f64, runs: usize, random: &mut Random) -> Measured {
    let samples: Vec<f64> = (0..runs)
        .map(|_| level * (0.02 * random.normal()).exp())
        .collect();
    let estimate = median_interval(&samples, 0.95).unwrap();
    Measured { samples, estimate }
}

/// Returns whether two neighbours in a history of identical code are called different.
fn claims(drift: Drift, earlier: usize, coded: bool, random: &mut Random) -> bool {
    let levels = drift.levels(earlier + 1, 0.04, random);
    let sessions: Vec<Measured> = levels
        .iter()
        .map(|level| session(*level, 12, random))
        .collect();
    let (before, head) = sessions.split_at(earlier);
    let known: Vec<(f64, Option<u8>)> = before
        .iter()
        .map(|one| (one.estimate.value, coded.then_some(1)))
        .collect();
    let (between, same) = between_sessions(&known, 1).unwrap();
    assert_eq!(same, coded);
    let found = unpaired_ratio(&before[earlier - 1..], head, between, 0.0).unwrap();
    let verdict = judge_unpaired(&[found], 0.01)[0];
    matches!(verdict, Verdict::Faster | Verdict::Slower)
}

#[test]
fn identical_code_is_called_different_in_at_most_one_of_twenty_cases_under_drift() {
    for drift in ALL {
        for (earlier, coded) in [(4, true), (4, false), (8, true), (8, false), (30, false)] {
            let mut random = Random::new(earlier as u64);
            let claimed = share(2_000, || claims(drift, earlier, coded, &mut random));
            assert!(
                claimed <= upper_limit(0.05, 2_000),
                "{drift:?}, {earlier} earlier, code known: {coded}: {claimed}"
            );
        }
    }
}

/// Without an assumed drift between measurements, most of them would be called different.
#[test]
fn without_the_drift_most_identical_code_would_be_called_different() {
    let mut random = Random::new(1);
    let claimed = share(500, || {
        let levels = Drift::Independent.levels(2, 0.04, &mut random);
        let both: Vec<Measured> = levels
            .into_iter()
            .map(|level| session(level, 12, &mut random))
            .collect();
        let found =
            unpaired_ratio(&both[..1], &both[1..], BetweenSessions::Assumed(0.0), 0.0).unwrap();
        judge_unpaired(&[found], 0.01)[0] != Verdict::Undecided
    });
    assert!(claimed > 0.5, "{claimed}");
}

#[test]
fn a_real_step_is_found_beside_the_drift() {
    for coded in [true, false] {
        let mut random = Random::new(3);
        let found = share(500, || {
            let levels = Drift::Independent.levels(9, 0.01, &mut random);
            let sessions: Vec<Measured> = levels
                .iter()
                .map(|level| session(*level, 12, &mut random))
                .collect();
            let known: Vec<(f64, Option<u8>)> = sessions
                .iter()
                .map(|one| (one.estimate.value, coded.then_some(1)))
                .collect();
            let (between, _) = between_sessions(&known, 1).unwrap();
            let head = session(1.2 * levels[8], 12, &mut random);
            let found = unpaired_ratio(&sessions[8..], &[head], between, 0.0).unwrap();
            judge_unpaired(&[found], 0.01)[0] == Verdict::Slower
        });
        assert!(found > 0.95, "{found}");
    }
}

#[test]
fn several_measurements_of_each_side_know_more() {
    let mut random = Random::new(4);
    let sessions: Vec<Measured> = (0..8).map(|_| session(1.0, 12, &mut random)).collect();
    let between = BetweenSessions::Measured {
        variance: 0.0016,
        freedom: 20.0,
    };
    let width = |n: usize| {
        let found = unpaired_ratio(&sessions[..n], &sessions[4..4 + n], between, 0.0).unwrap();
        found.ratio.high.ln() - found.ratio.low.ln()
    };
    assert!((width(1) / width(4) - 2.0).abs() < 1e-9);
    assert!(unpaired_ratio(&[], &sessions, between, 0.0).is_none());
}
