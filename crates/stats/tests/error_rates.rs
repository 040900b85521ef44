//! Tests the promised error rates of each statistic on simulated machines with known truth and fixed seeds. A
//! limit is the promised rate plus the excess that chance causes in one of 1,000 simulations.

mod simulate;

use fathom_stats::{is_autocorrelated, median_interval, paired_ratio, slope_in_rounds, two_modes};
use simulate::{Noise, Order, Random, Shape, family, measure, mixture, share, upper_limit};

#[test]
fn the_interval_of_the_median_covers_it() {
    for n in [6, 10, 35, 100] {
        for (shape, truth) in [
            (Shape::Normal, 10.0),
            (Shape::Exponential, std::f64::consts::LN_2),
        ] {
            let mut random = Random::new(n as u64);
            let missed = share(2_000, || {
                let median = median_interval(&shape.values(n, &mut random), 0.95).unwrap();
                !(median.low..=median.high).contains(&truth)
            });
            assert!(
                missed <= upper_limit(0.05, 2_000),
                "{shape:?}, n = {n}: {missed}"
            );
        }
    }
}

#[test]
fn identical_programs_are_told_apart_in_at_most_one_of_a_hundred_comparisons() {
    for noise in Noise::ALL {
        for rounds in [6, 10, 50, 120] {
            let mut random = Random::new(rounds as u64);
            let claims = share(1_000, || {
                let (a, b) = measure(noise, Order::Rounds, rounds, 1.0, &mut random);
                simulate::claim(&a, &b).is_some()
            });
            assert!(
                claims <= upper_limit(0.01, 1_000),
                "{noise:?}, {rounds} rounds: {claims}"
            );
        }
    }
}

#[test]
fn ties_do_not_raise_the_error_rate() {
    let mut random = Random::new(9);
    let claims = share(2_000, || {
        let mut counts = || {
            (0..30)
                .map(|_| 3.0 + random.below(3) as f64)
                .collect::<Vec<_>>()
        };
        paired_ratio(&counts(), &counts(), 0.95).unwrap().p_value <= 0.05
    });
    assert!(claims <= upper_limit(0.05, 2_000), "{claims}");
}

#[test]
fn the_interval_of_the_ratio_covers_it() {
    for noise in Noise::ALL {
        let mut random = Random::new(10);
        let missed = share(1_000, || {
            let (a, b) = measure(noise, Order::Rounds, 40, 1.1, &mut random);
            let ratio = paired_ratio(&a, &b, 0.95).unwrap().ratio;
            !(ratio.low..=ratio.high).contains(&1.1)
        });
        assert!(missed <= upper_limit(0.05, 1_000), "{noise:?}: {missed}");
    }
}

#[test]
fn stopping_early_keeps_the_error_rate() {
    for noise in Noise::ALL {
        let mut random = Random::new(11);
        let claims = share(600, || {
            simulate::stop_by_rule(noise, 80, 1.0, &mut random).is_some()
        });
        assert!(claims <= upper_limit(0.01, 600), "{noise:?}: {claims}");
    }
}

#[test]
fn peeking_would_not_keep_it() {
    // This is the reason for the stopping rule: testing p < 0.05 after each of 60 rounds errs three times as
    // often.
    let mut random = Random::new(12);
    let claims = share(200, || {
        simulate::stop_by_peeking(Noise::Independent, 60, &mut random)
    });
    assert!(claims > 0.15, "{claims}");
}

#[test]
fn two_percent_is_found_and_the_direction_is_right() {
    let mut random = Random::new(13);
    let mut wrong = 0;
    let found = share(400, || {
        let (a, b) = measure(Noise::Waves, Order::Rounds, 50, 1.02, &mut random);
        let claim = simulate::claim(&a, &b);
        wrong += u32::from(claim == Some(false));
        claim == Some(true)
    });
    assert!(found >= 0.9, "{found}");
    assert_eq!(wrong, 0);

    let found = share(200, || {
        simulate::stop_by_rule(Noise::Waves, 100, 1.02, &mut random)
            .is_some_and(|(_, slower)| slower)
    });
    assert!(found >= 0.9, "{found}");
}

#[test]
fn of_ten_comparisons_at_once_one_claim_in_a_hundred_is_false_at_most() {
    for real in [0, 5] {
        let mut random = Random::new(14);
        let mut false_share = 0.0;
        for _ in 0..600 {
            let (right, wrong) = family(real, 30, true, &mut random);
            false_share += wrong as f64 / (right + wrong).max(1) as f64;
        }
        assert!(
            false_share / 600.0 <= upper_limit(0.01, 600),
            "{real}: {}",
            false_share / 600.0
        );
    }
}

#[test]
fn one_mode_is_not_taken_for_two() {
    for shape in Shape::ALL
        .into_iter()
        .filter(|s| !matches!(s, Shape::Uniform))
    {
        for n in [20, 30, 60, 200] {
            let mut random = Random::new(15);
            let found = share(1_000, || two_modes(&shape.values(n, &mut random)).is_some());
            assert!(
                found <= upper_limit(0.01, 1_000),
                "{shape:?}, n = {n}: {found}"
            );
        }
    }
}

#[test]
fn two_modes_six_sigma_apart_are_found() {
    for (n, least) in [(20, 0.8), (40, 0.93), (100, 0.98), (200, 0.99)] {
        for (one_in, share_of_high) in [(2, 0.5), (5, 0.2)] {
            let mut random = Random::new(16);
            let found = share(500, || {
                two_modes(&mixture(n, one_in, 6.0, &mut random)).is_some_and(|modes| {
                    (modes.low - 1.0).abs() < 0.03
                        && (modes.high - 1.12).abs() < 0.03
                        && (modes.high_share - share_of_high).abs() < 0.06
                })
            });
            assert!(found >= least, "n = {n}, 1 in {one_in}: {found}");
        }
    }
}

#[test]
fn independent_runs_are_rarely_called_alike_and_waves_mostly() {
    let mut random = Random::new(17);
    let called = share(2_000, || {
        is_autocorrelated(&Shape::Exponential.values(50, &mut random))
    });
    assert!(called <= upper_limit(0.01, 2_000), "{called}");
    let called = share(500, || {
        is_autocorrelated(&Noise::Waves.factors(60, &mut random))
    });
    assert!(called >= 0.95, "{called}");
}

#[test]
fn the_interval_of_a_slope_covers_it() {
    for (count, shape, far_off) in [
        (4, Shape::Normal, 0.0),
        (4, Shape::Exponential, 0.0),
        (8, Shape::Normal, 0.1),
        (20, Shape::Exponential, 0.1),
    ] {
        let mut random = Random::new(count as u64);
        let missed = share(1_000, || {
            let noise = shape.values(4 * count, &mut random);
            let rounds: Vec<Vec<[f64; 2]>> = noise
                .chunks(4)
                .enumerate()
                .map(|(round, noise)| {
                    let points = noise.iter().zip([0.0, 0.5, 0.75, 1.0]);
                    let level = 3.0 * round as f64;
                    let y = |x: f64, noise: f64, late: f64| level + 0.4 * x + noise + late;
                    let points = points.map(|(noise, x)| {
                        let late = if random.below(1_000) < (1_000.0 * far_off) as usize {
                            50.0
                        } else {
                            0.0
                        };
                        [x, y(x, *noise, late)]
                    });
                    points.collect()
                })
                .collect();
            let slope = slope_in_rounds(&rounds, 0.95).unwrap();
            !(slope.low..=slope.high).contains(&0.4)
        });
        assert!(
            missed <= upper_limit(0.05, 1_000),
            "{shape:?}, {count} rounds: {missed}"
        );
    }
}
