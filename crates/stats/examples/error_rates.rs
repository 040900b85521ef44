//! Prints the tables of error rates in `docs/statistics.md` and `docs/log/statistics.md`, from fixed seeds (about
//! a minute of CPU time): `cargo run -p fathom-stats --example error_rates --release`
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example prints"
)]

#[path = "../tests/simulate/mod.rs"]
mod simulate;

use simulate::rejected::RULES;
use simulate::{Noise, Order, Random, Shape, family, measure, mixture, share};

fn main() {
    median_coverage();
    fixed_number_of_runs();
    stopping();
    many_comparisons();
    rejected();
    two_modes();
    autocorrelation();
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn median_coverage() {
    println!("## Coverage of the 95 % interval for the median (10,000 samples each)\n");
    println!("| n | normal | exponential | lognormal |\n|---|---|---|---|");
    for n in [6, 10, 20, 50, 200] {
        let mut random = Random::new(n as u64);
        let mut covers = |shape: Shape, truth: f64| {
            percent(share(10_000, || {
                let values = shape.values(n, &mut random);
                let median = fathom_stats::median_interval(&values, 0.95).unwrap();
                (median.low..=median.high).contains(&truth)
            }))
        };
        let cells = [
            covers(Shape::Normal, 10.0),
            covers(Shape::Exponential, std::f64::consts::LN_2),
            covers(Shape::Lognormal, 1.0),
        ];
        println!("| {n} | {} |", cells.join(" | "));
    }
}

fn fixed_number_of_runs() {
    println!(
        "\n## False claims between identical programs, number of runs fixed (10,000 comparisons each)\n"
    );
    println!(
        "| rounds | {} |\n|---|---|---|---|---|",
        Noise::ALL.map(name).join(" | ")
    );
    for rounds in [10, 20, 50, 150] {
        let cells = Noise::ALL.map(|noise| {
            let mut random = Random::new(2);
            percent(share(10_000, || {
                let (a, b) = measure(noise, Order::Rounds, rounds, 1.0, &mut random);
                simulate::claim(&a, &b).is_some()
            }))
        });
        println!("| {rounds} | {} |", cells.join(" | "));
    }
}

fn stopping() {
    println!("\n## Stopping early: at most 100 rounds (4,000 comparisons each; peeking 1,000)\n");
    println!(
        "| | {} |\n|---|---|---|---|---|",
        Noise::ALL.map(name).join(" | ")
    );
    let claims = Noise::ALL.map(|noise| {
        let mut random = Random::new(3);
        percent(share(4_000, || {
            simulate::stop_by_rule(noise, 100, 1.0, &mut random).is_some()
        }))
    });
    println!("| false claims, the rule | {} |", claims.join(" | "));
    let peeking = Noise::ALL.map(|noise| {
        let mut random = Random::new(4);
        percent(share(1_000, || {
            simulate::stop_by_peeking(noise, 100, &mut random)
        }))
    });
    println!(
        "| false claims, p < 0.05 after each round | {} |",
        peeking.join(" | ")
    );
    for ratio in [1.01, 1.02, 1.05] {
        let mut rounds = Vec::new();
        let found = Noise::ALL.map(|noise| {
            let mut random = Random::new(5);
            let mut used = 0;
            let share = share(1_000, || {
                let claim = simulate::stop_by_rule(noise, 100, ratio, &mut random);
                used += claim.map_or(100, |(n, _)| n);
                claim.is_some_and(|(_, slower)| slower)
            });
            rounds.push(format!("{:.0}", f64::from(used) / 1_000.0));
            percent(share)
        });
        println!(
            "| {} % slower is found | {} |",
            (ratio * 100.0f64 - 100.0).round(),
            found.join(" | ")
        );
        println!("| ... after rounds, mean | {} |", rounds.join(" | "));
        let fixed = Noise::ALL.map(|noise| {
            let mut random = Random::new(5);
            percent(share(1_000, || {
                let (a, b) = measure(noise, Order::Rounds, 100, ratio, &mut random);
                simulate::claim(&a, &b) == Some(true)
            }))
        });
        println!("| ... with 100 rounds, fixed | {} |", fixed.join(" | "));
    }
}

fn many_comparisons() {
    println!("\n## Ten comparisons at once, 30 rounds (2,000 families each)\n");
    println!(
        "| really different (3 %) | rule | false of all claims | any false claim | found |\n|---|---|---|---|---|"
    );
    for real in [0, 3, 7] {
        for (rule, corrected) in [("Benjamini-Hochberg", true), ("each at 1 %", false)] {
            let mut random = Random::new(6);
            let (mut discovery, mut any, mut found) = (0.0, 0u32, 0usize);
            for _ in 0..2_000 {
                let (right, wrong) = family(real, 30, corrected, &mut random);
                discovery += wrong as f64 / (right + wrong).max(1) as f64;
                any += u32::from(wrong > 0);
                found += right;
            }
            let found = match real {
                0 => "-".to_string(),
                _ => percent(found as f64 / (2_000 * real) as f64),
            };
            println!(
                "| {real} of 10 | {rule} | {} | {} | {found} |",
                percent(discovery / 2_000.0),
                percent(f64::from(any) / 2_000.0),
            );
        }
    }
}

fn rejected() {
    println!("\n## Rules side by side, 50 runs each (2,000 comparisons each)\n");
    println!(
        "| rule | A/A in sequence: independent | drift | waves | A/A in rounds: worst of four \
         | 2 % found in rounds: independent | outliers | drift | waves |\n|---|---|---|---|---|---|---|---|---|"
    );
    for (rule, claims) in RULES {
        let rate = |noise, order, ratio| {
            let mut random = Random::new(7);
            share(2_000, || {
                let (a, b) = measure(noise, order, 50, ratio, &mut random);
                claims(&a, &b, &mut random)
            })
        };
        let sequence = [Noise::Independent, Noise::Drift, Noise::Waves]
            .map(|noise| percent(rate(noise, Order::Sequential, 1.0)));
        let worst = Noise::ALL
            .map(|noise| rate(noise, Order::Rounds, 1.0))
            .into_iter()
            .fold(0.0, f64::max);
        let power = Noise::ALL.map(|noise| percent(rate(noise, Order::Rounds, 1.02)));
        println!(
            "| {rule} | {} | {} | {} |",
            sequence.join(" | "),
            percent(worst),
            power.join(" | ")
        );
    }
}

fn two_modes() {
    println!("\n## Two modes found (4,000 samples each; the last two columns should find them)\n");
    println!(
        "| n | {} | 50/50, 6 sigma | 80/20, 6 sigma |",
        Shape::ALL.map(|s| format!("{s:?}")).join(" | ")
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for n in [20, 30, 50, 100, 200] {
        let mut random = Random::new(8);
        let mut found = |draw: &dyn Fn(&mut Random) -> Vec<f64>| {
            format!(
                "{:.2} %",
                100.0
                    * share(4_000, || fathom_stats::two_modes(&draw(&mut random))
                        .is_some())
            )
        };
        let mut cells: Vec<String> = Shape::ALL
            .iter()
            .map(|s| found(&|r| s.values(n, r)))
            .collect();
        cells.push(found(&|r| mixture(n, 2, 6.0, r)));
        cells.push(found(&|r| mixture(n, 5, 6.0, r)));
        println!("| {n} | {} |", cells.join(" | "));
    }
}

fn autocorrelation() {
    println!("\n## Runs found to be autocorrelated (10,000 samples each)\n");
    println!("| n | independent | slow waves (0.9) |\n|---|---|---|");
    for n in [20, 50, 100, 200] {
        let mut random = Random::new(9);
        let mut called = |noise: Noise| {
            percent(share(10_000, || {
                fathom_stats::is_autocorrelated(&noise.factors(n, &mut random))
            }))
        };
        println!(
            "| {n} | {} | {} |",
            called(Noise::Independent),
            called(Noise::Waves)
        );
    }
}

fn name(noise: Noise) -> &'static str {
    match noise {
        Noise::Independent => "independent",
        Noise::Outliers => "outliers",
        Noise::Drift => "drift",
        Noise::Waves => "waves",
    }
}
