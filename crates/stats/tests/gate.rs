//! Tests the promises of the gate's decision on simulated machines with known truth and fixed seeds.

use fathom_stats::{Gate, GateAnswer, GateFinding, GateQuestion, GateRound, GateRun};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

const BENCHMARKS: usize = 13;
const QUESTION: GateQuestion = GateQuestion {
    metric: None,
    margin: 0.03,
    floor: None,
};

/// A machine that simulates runs. Their times scatter by `noise`, and one run in ten is much slower unless
/// the noise is small. Benchmark 0 is slower at head by `factor`.
struct Machine {
    random: SmallRng,
    noise: f64,
    factor: f64,
    /// Waiting time for a CPU, as a share of the work.
    waits: f64,
}

impl Machine {
    fn run(&mut self, factor: f64) -> GateRun {
        let normal = (0..12)
            .map(|_| self.random.random_range(0.0..1.0f64))
            .sum::<f64>()
            - 6.0;
        let spike = if self.noise >= 0.01 && self.random.random_bool(0.1) {
            1.5
        } else {
            1.0
        };
        let work = factor * (1.0 + self.noise * normal).max(0.1) * spike / 100.0;
        let wait = self.waits * self.random.random_range(0.0..2.0f64) / 100.0;
        GateRun {
            value: work + wait,
            cpu_wait_free: Some(work),
        }
    }

    fn round(&mut self, benchmark: usize) -> GateRound {
        let factor = if benchmark == 0 { self.factor } else { 1.0 };
        GateRound {
            base: [self.run(1.0), self.run(1.0)],
            head: [self.run(factor), self.run(factor)],
        }
    }

    /// Judges as the caller does, with at most `most` rounds for all benchmarks together.
    fn judge(&mut self, most: usize) -> (Vec<GateFinding>, bool) {
        self.decide(Gate::new([QUESTION; BENCHMARKS]), 0, most)
    }

    /// Like [`Machine::judge`], with each benchmark in its own gate.
    fn judge_parts(&mut self, most: usize) -> (Vec<GateFinding>, bool) {
        let (mut all, mut blamed) = (Vec::new(), false);
        for part in 0..BENCHMARKS {
            let gate = Gate::new([QUESTION]).one_of(BENCHMARKS);
            let (findings, this) = self.decide(gate, part, most / BENCHMARKS);
            all.extend(findings);
            blamed |= this;
        }
        (all, blamed)
    }

    fn decide(&mut self, mut gate: Gate, first: usize, most: usize) -> (Vec<GateFinding>, bool) {
        let mut made = 0;
        loop {
            let wanted = gate.wanted();
            if wanted.iter().all(|rounds| *rounds == 0) {
                break;
            }
            for (benchmark, rounds) in wanted.into_iter().enumerate() {
                for _ in 0..rounds {
                    gate.add(benchmark, &self.round(first + benchmark));
                    made += 1;
                }
            }
            if made < most {
                gate.analyse();
            } else if gate.is_screening() {
                gate.end_screening();
            } else {
                gate.end();
                break;
            }
        }
        (gate.findings(), gate.null_arm_fails())
    }
}

fn machine(seed: u64, noise: f64, factor: f64) -> Machine {
    Machine {
        random: SmallRng::seed_from_u64(seed),
        noise,
        factor,
        waits: 0.0,
    }
}

fn worse(findings: &[GateFinding]) -> usize {
    findings
        .iter()
        .filter(|finding| finding.answer == GateAnswer::Worse)
        .count()
}

#[test]
fn identical_code_never_fails_in_200_suites() {
    for noise in [0.01, 0.1] {
        let failed = (0..200)
            .filter(|seed| {
                let (findings, blamed) = machine(*seed, noise, 1.0).judge(3_000);
                worse(&findings) > 0 || blamed
            })
            .count();
        // The promise is 0.5 %.
        assert!(failed <= 1, "noise {noise}: {failed} of 200");
    }
}

#[test]
fn five_percent_in_one_of_thirteen_are_found_and_nothing_else() {
    let found = (0..50)
        .filter(|seed| {
            let (findings, _) = machine(*seed, 0.02, 1.05).judge(10_000);
            assert_eq!(worse(&findings[1..]), 0);
            findings[0].answer == GateAnswer::Worse
        })
        .count();
    assert!(found >= 45, "{found} of 50");
}

#[test]
fn quiet_benchmarks_take_ten_rounds() {
    let (findings, _) = machine(1, 0.003, 1.0).judge(10_000);
    for finding in findings {
        assert_eq!((finding.answer, finding.rounds), (GateAnswer::NotWorse, 10));
        assert_eq!(finding.confirmation_rounds, 0);
    }
}

#[test]
fn what_is_worse_was_confirmed_by_fresh_rounds() {
    let (findings, _) = machine(2, 0.02, 1.10).judge(10_000);
    let slow = &findings[0];
    assert_eq!(slow.answer, GateAnswer::Worse);
    assert!(
        slow.looked_worse && slow.confirmation_rounds >= 10,
        "{slow:?}"
    );
    let ratio = slow.ratio.expect("it was measured");
    assert!(
        ratio.low > 1.03 && (ratio.value - 1.10).abs() < 0.03,
        "{ratio:?}"
    );
}

#[test]
fn without_time_it_cannot_tell_and_says_what_would_settle_it() {
    let (findings, _) = machine(3, 0.3, 1.0).judge(1);
    let undecided: Vec<&GateFinding> = findings
        .iter()
        .filter(|finding| finding.answer == GateAnswer::CannotTell)
        .collect();
    assert!(undecided.len() > 6, "{}", undecided.len());
    assert!(
        undecided
            .iter()
            .any(|finding| finding.rounds_to_decide > Some(10))
    );
}

#[test]
fn a_suite_in_parts_errs_as_rarely_and_finds_as_much() {
    let failed = (0..200)
        .filter(|seed| {
            let (findings, blamed) = machine(*seed, 0.1, 1.0).judge_parts(3_000);
            worse(&findings) > 0 || blamed
        })
        .count();
    assert!(failed <= 1, "{failed} of 200");
    let found = (0..50)
        .filter(|seed| {
            let (findings, _) = machine(*seed, 0.02, 1.05).judge_parts(10_000);
            findings[0].answer == GateAnswer::Worse
        })
        .count();
    assert!(found >= 45, "{found} of 50");
}

#[test]
fn a_known_noise_floor_is_a_limit() {
    let mut machine = machine(4, 0.005, 1.06);
    let mut gate = Gate::new([GateQuestion {
        metric: None,
        margin: 0.03,
        floor: Some(0.10),
    }]);
    for _ in 0..6 {
        for _ in 0..gate.wanted()[0] {
            gate.add(0, &machine.round(0));
        }
        gate.analyse();
    }
    gate.end_screening();
    assert_eq!(gate.findings()[0].answer, GateAnswer::CannotTell);
}

#[test]
fn a_program_that_differs_from_itself_blames_the_machine() {
    let mut gate = Gate::new([QUESTION; 2]);
    let run = |value: f64| GateRun {
        value,
        cpu_wait_free: None,
    };
    for round in 0..20 {
        let jitter = 1.0 + f64::from(round % 5) / 1000.0;
        let both = [run(0.01 * jitter), run(0.012)];
        gate.add(
            0,
            &GateRound {
                base: both,
                head: both,
            },
        );
        gate.add(
            1,
            &GateRound {
                base: [run(0.01); 2],
                head: [run(0.01); 2],
            },
        );
    }
    assert!(gate.null_arm_fails());
    assert!(!gate.one_of(1_000_000).null_arm_fails(), "it may err less");
}

/// Returns the answer of a gate whose two copies of base differ by 20 %, and whether its null arm failed.
fn answer_beside_copies_that_differ(head: f64) -> (GateAnswer, bool) {
    let run = |value: f64| GateRun {
        value,
        cpu_wait_free: None,
    };
    let mut gate = Gate::new([QUESTION]);
    while gate.wanted()[0] > 0 {
        for round in 0..gate.wanted()[0] {
            let jitter = 1.0 + (round % 5) as f64 / 1000.0;
            let round = GateRound {
                base: [run(0.01 * jitter), run(0.012)],
                head: [run(head * jitter), run(head)],
            };
            gate.add(0, &round);
        }
        gate.analyse();
    }
    (gate.findings()[0].answer, gate.null_arm_fails())
}

#[test]
fn what_is_worse_by_far_more_than_copies_differ_is_worse() {
    let (answer, failed) = answer_beside_copies_that_differ(2.0);
    assert_eq!((answer, failed), (GateAnswer::Worse, false));
    let (_, failed) = answer_beside_copies_that_differ(0.0145);
    assert!(failed, "a third more may be what copies differ by");
}

#[test]
fn waits_for_a_cpu_are_left_out_where_they_are_known() {
    let mut busy = Machine {
        waits: 1.0,
        ..machine(5, 0.01, 1.08)
    };
    let (findings, _) = busy.judge(10_000);
    assert_eq!(findings[0].metric, fathom_model::Metric::Undisturbed);
    assert_eq!(findings[0].answer, GateAnswer::Worse);
    assert_eq!(worse(&findings[1..]), 0);
}

#[test]
fn a_side_without_known_waits_is_compared_by_wall_time() {
    let mut busy = Machine {
        waits: 0.2,
        ..machine(6, 0.01, 1.5)
    };
    let mut gate = Gate::new([QUESTION]);
    for _ in 0..10 {
        let mut round = busy.round(0);
        for run in &mut round.head {
            run.cpu_wait_free = None;
        }
        gate.add(0, &round);
    }
    let finding = &gate.findings()[0];
    assert_eq!(finding.metric, fathom_model::Metric::Wall);
    assert!(finding.ratio.is_some());
}
