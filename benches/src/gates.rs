//! Measures how often a gate fails a suite in which nothing changed, and how often it finds a real change.
//!
//! Recorded runs of 13 programs are replayed. Suites are drawn from them in blocks of consecutive rounds, all
//! programs together, and the arms of each block are randomly assigned to base and head. All arms are the
//! same command, so only the inserted effect differs.

use fathom_stats::{
    BestOf, Gate, GateAnswer, GateQuestion, GateRound, GateRun, best_of, best_of_on_itself,
};

use crate::Result;
use crate::options::Options;
use crate::random::Random;
use crate::recorded::{ARMS, Program, Regime, regimes};
use crate::sample_tests::{mann_whitney, proportion_interval, welch};
use crate::table::{Table, result};
use crate::tools::median;

/// Decides from the samples of base and head whether head is worse.
type Rule<'a> = dyn Fn(&[f64], &[f64]) -> bool + 'a;

/// Number of suites for each regime and effect.
const SUITES: usize = 2_000;
/// Number of consecutive rounds that are drawn together.
const BLOCK: usize = 10;
/// Default time limit of a gate in seconds.
const TIME: f64 = 300.0;
const SCREENING: f64 = 0.75;
/// Number of runs of each side for the other tests.
const RUNS: usize = 40;
const MARGIN: f64 = 0.03;
const COMPATIBLE: BestOf = BestOf {
    max_regression: 0.08,
    max_geomean: 0.03,
    runs: 5,
};

/// A drawn suite: an endless sequence of rounds.
struct Drawn<'a> {
    regime: &'a Regime,
    random: Random,
    /// The slower program, and the factor by which it is slower.
    slow: (usize, f64),
    /// The recorded round, and the order of its arms, for each drawn round.
    rounds: Vec<(usize, [usize; ARMS])>,
}

impl Drawn<'_> {
    fn round(&mut self, number: usize, program: usize) -> GateRound {
        while self.rounds.len() <= number {
            let start = self.random.below(self.regime.rounds());
            let mut arms = [0, 1, 2, 3];
            for last in (1..ARMS).rev() {
                arms.swap(last, self.random.below(last + 1));
            }
            let stretch = (start..start + BLOCK).map(|round| (round % self.regime.rounds(), arms));
            self.rounds.extend(stretch);
        }
        let (round, arms) = self.rounds[number];
        let factor = if self.slow.0 == program {
            self.slow.1
        } else {
            1.0
        };
        let program = &self.regime.programs[program];
        let run = |arm: usize, factor: f64| run(program, arm, round, factor);
        GateRound {
            base: [run(arms[0], 1.0), run(arms[1], 1.0)],
            head: [run(arms[2], factor), run(arms[3], factor)],
        }
    }
}

fn run(program: &Program, arm: usize, round: usize, factor: f64) -> GateRun {
    let free = program.cpu_wait_free.as_ref().map(|arms| arms[arm][round]);
    GateRun {
        value: program.wall[arm][round] * factor,
        cpu_wait_free: free.filter(|free| *free > 0.0).map(|free| free * factor),
    }
}

/// The result of one suite.
struct Ended {
    answers: Vec<GateAnswer>,
    null_arm_failed: bool,
    /// Wall time of the runs in seconds.
    seconds: f64,
}

fn judge(drawn: &mut Drawn<'_>) -> Ended {
    let programs = drawn.regime.programs.len();
    let mut gate = Gate::new((0..programs).map(|_| GateQuestion {
        metric: None,
        margin: MARGIN,
        floor: None,
    }));
    let (mut seconds, mut number) = (0.0, 0);
    loop {
        let limit = if gate.is_screening() {
            SCREENING * TIME
        } else {
            TIME
        };
        let mut wanted = gate.wanted();
        if wanted.iter().all(|rounds| *rounds == 0) {
            break;
        }
        while seconds < limit && wanted.iter().any(|rounds| *rounds > 0) {
            for (program, rounds) in wanted
                .iter_mut()
                .enumerate()
                .filter(|(_, rounds)| **rounds > 0)
            {
                let round = drawn.round(number, program);
                seconds += round
                    .base
                    .iter()
                    .chain(&round.head)
                    .map(|run| run.value)
                    .sum::<f64>();
                gate.add(program, &round);
                *rounds -= 1;
            }
            number += 1;
        }
        if seconds < limit {
            gate.analyse();
        } else if gate.is_screening() {
            gate.end_screening();
        } else {
            gate.end();
            break;
        }
    }
    Ended {
        answers: gate
            .findings()
            .iter()
            .map(|finding| finding.answer)
            .collect(),
        null_arm_failed: gate.null_arm_fails(),
        seconds,
    }
}

/// Counts over all suites of a regime and an effect.
#[derive(Default)]
struct Counts {
    fathom: usize,
    found: usize,
    machine: usize,
    undecided: usize,
    seconds: Vec<f64>,
    others: [usize; 4],
    others_found: [usize; 4],
}

const OTHERS: [&str; 4] = [
    "best of 5, 8 % and 3 %",
    "> 5 % of medians",
    "Welch p < 0.05",
    "Mann-Whitney p < 0.05",
];

/// Draws suites on all CPUs. Each suite has its own seed, so the result is always the same.
fn count(regime: &Regime, effect: f64, suites: usize) -> Counts {
    let mut seeds = Random::new(39);
    let seeds: Vec<u64> = (0..suites).map(|_| seeds.next()).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = seeds.chunks(suites.div_ceil(threads));
    let counted: Vec<Counts> = std::thread::scope(|scope| {
        let started: Vec<_> = parts
            .map(|part| {
                scope.spawn(move || {
                    part.iter()
                        .map(|seed| one(regime, effect, *seed))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let ended = started
            .into_iter()
            .map(|thread| thread.join().unwrap_or_default());
        ended.flatten().collect()
    });
    let mut all = Counts::default();
    for counts in counted {
        all.fathom += counts.fathom;
        all.found += counts.found;
        all.machine += counts.machine;
        all.undecided += counts.undecided;
        all.seconds.extend(counts.seconds);
        for rule in 0..OTHERS.len() {
            all.others[rule] += counts.others[rule];
            all.others_found[rule] += counts.others_found[rule];
        }
    }
    all
}

/// Runs one suite, in which one program is slower by `effect`.
fn one(regime: &Regime, effect: f64, seed: u64) -> Counts {
    let mut counts = Counts::default();
    let mut random = Random::new(seed);
    let programs = regime.programs.len();
    let slow = (random.below(programs), 1.0 + effect);
    let mut drawn = Drawn {
        regime,
        random,
        slow,
        rounds: Vec::new(),
    };
    let ended = judge(&mut drawn);
    let worse = |place: usize| ended.answers[place] == GateAnswer::Worse;
    if ended.null_arm_failed {
        counts.machine = 1;
    } else {
        counts.fathom = usize::from((0..programs).any(worse));
        counts.found = usize::from(worse(slow.0));
    }
    let undecided = ended
        .answers
        .iter()
        .filter(|one| **one == GateAnswer::CannotTell);
    counts.undecided = undecided.count();
    counts.seconds.push(ended.seconds);
    let runs: Vec<(Vec<f64>, Vec<f64>)> = (0..programs)
        .map(|program| {
            let rounds: Vec<GateRound> = (0..RUNS / 2)
                .map(|number| drawn.round(number, program))
                .collect();
            let walls = |runs: fn(&GateRound) -> [GateRun; 2]| {
                rounds
                    .iter()
                    .flat_map(|round| runs(round).map(|run| run.value))
                    .collect()
            };
            (walls(|round| round.base), walls(|round| round.head))
        })
        .collect();
    let (fails, finds) = others(&runs, slow.0);
    counts.others = fails.map(usize::from);
    counts.others_found = finds.map(usize::from);
    counts
}

/// Returns which of the other rules fail the suite, and which of them report that `slow` is slower.
fn others(runs: &[(Vec<f64>, Vec<f64>)], slow: usize) -> ([bool; 4], [bool; 4]) {
    let suite: Vec<(&[f64], &[f64])> = runs
        .iter()
        .map(|(base, head)| (&base[..], &head[..]))
        .collect();
    let compatible = best_of(&COMPATIBLE, &suite, &vec![false; suite.len()]);
    let slower = |base: &[f64], head: &[f64]| median(head) > median(base);
    let rules: [&Rule<'_>; 3] = [
        &|base, head| median(head) > 1.05 * median(base),
        &|base, head| slower(base, head) && welch(base, head) < 0.05,
        &|base, head| slower(base, head) && mann_whitney(base, head) < 0.05,
    ];
    let (mut fails, mut finds) = (
        [compatible.fails(); 4],
        [compatible.worse.contains(&slow); 4],
    );
    for (place, rule) in rules.iter().enumerate() {
        let worse: Vec<bool> = suite.iter().map(|(base, head)| rule(base, head)).collect();
        fails[place + 1] = worse.contains(&true);
        finds[place + 1] = worse[slow];
    }
    (fails, finds)
}

/// Returns the required detection rates of a regime, at 5 % and at 10 %.
fn asked(regime: &str) -> [f64; 2] {
    if regime == "quiet" {
        [0.90, 0.98]
    } else {
        [0.80, 0.95]
    }
}

/// Returns the number of suites of identical code that the common rule fails; `None` if it is unknown.
fn compatible_on_itself(regime: &Regime, suites: usize) -> Option<usize> {
    let programs = regime.programs.iter();
    let null = programs.map(|program| (program.wall[0].clone(), program.wall[1].clone()));
    let null: Vec<(Vec<f64>, Vec<f64>)> = null.collect();
    let chance = best_of_on_itself(&COMPATIBLE, &null, &vec![false; null.len()], suites);
    Some(chance?.failed)
}

/// Returns the tables of `gates`.
///
/// # Errors
/// If the recorded runs are damaged.
pub(crate) fn measure(options: &Options) -> Result<Vec<Table>> {
    let suites = options.scaled(SUITES);
    let mut headers = vec![
        "regime",
        "in one of 13",
        "Fathom fails",
        "finds it",
        "asked",
        "result",
        "blames the machine",
        "undecided of 13",
        "median s",
    ];
    headers.extend(OTHERS);
    let title = format!("Gates: {suites} suites drawn from recorded runs");
    let mut table = Table::new(&title, &headers);
    let percent = |count: usize| format!("{:.1} %", 100.0 * count as f64 / suites as f64);
    for regime in regimes()? {
        for (place, effect) in [0.0, 0.05, 0.10].into_iter().enumerate() {
            eprintln!("  {}, {:.0} %", regime.name, 100.0 * effect);
            let counts = count(&regime, effect, suites);
            let (low, high) = proportion_interval(counts.fathom, suites);
            let share = |count: usize| count as f64 / suites as f64;
            let mut row = vec![
                regime.name.to_string(),
                format!("{:+.0} %", 100.0 * effect),
                format!(
                    "{} ({:.2} to {:.2})",
                    percent(counts.fathom),
                    100.0 * low,
                    100.0 * high
                ),
                if place > 0 {
                    percent(counts.found)
                } else {
                    String::new()
                },
            ];
            row.extend(match place {
                0 => [
                    "at most 0.5 %".to_string(),
                    result(share(counts.fathom) <= 0.005),
                ],
                _ => {
                    let asked = asked(regime.name)[place - 1];
                    [
                        format!("{:.0} % found", 100.0 * asked),
                        result(share(counts.found) >= asked),
                    ]
                }
            });
            row.extend([
                percent(counts.machine),
                format!("{:.2}", counts.undecided as f64 / suites as f64),
                format!("{:.0}", median(&counts.seconds)),
            ]);
            let columns = counts.others.iter().zip(counts.others_found);
            row.extend(columns.map(|(fails, found)| match place {
                0 => percent(*fails),
                _ => format!("{} (finds {})", percent(*fails), percent(found)),
            }));
            table.row(row);
        }
        if let Some(failed) = compatible_on_itself(&regime, suites) {
            table.note(format!(
                "{}: from the null arm, the rule 'best of 5, 8 % and 3 %' fails identical code in {} of suites.",
                regime.name,
                percent(failed)
            ));
        }
    }
    table.note(format!(
        "Margin 3 %, at most {TIME:.0} s of runs, screening at most {:.0} % of it. The other rules have {RUNS} interleaved runs of either side.",
        100.0 * SCREENING
    ));
    Ok(vec![table])
}
