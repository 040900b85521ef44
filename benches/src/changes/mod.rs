//! Measures how many change points are found, and how many of the reported ones are wrong, compared with four
//! published rules on the same series.

mod rivals;
mod score;
mod series;

use std::time::Instant;

use fathom_model::ChangeKind;
use score::Score;
use series::{Content, Labelled, Noise, STEPS, labelled};

use crate::Result;
use crate::options::Options;
use crate::random::Random;
use crate::recorded::{ARMS, regimes};
use crate::table::{Table, result};

/// Number of series of each content and noise.
const REPETITIONS: usize = 8;
/// Number of consecutive runs; their median is one point of a recorded series.
const RUNS: usize = 3;
/// Maximum scatter of recorded noise, as a fraction.
const SCATTER: f64 = 0.015;

/// A rule: maps values to positions.
type Rule = fn(&[f64]) -> Vec<usize>;

fn own(values: &[f64]) -> Vec<usize> {
    let found = fathom_stats::change_points(values).change_points;
    found.iter().map(|point| point.index).collect()
}

/// Returns series with known change points, the same each time.
fn all_series(repetitions: usize) -> Result<Vec<Labelled>> {
    let mut noises = vec![
        Noise::Normal(0.02),
        Noise::Heavy(0.01),
        Noise::Heavy(0.02),
        Noise::Correlated(0.5, 0.015),
        Noise::Quantised(0.02, 0.02),
    ];
    for regime in regimes()? {
        for program in &regime.programs {
            let arms = program.cpu_wait_free.as_ref().unwrap_or(&program.wall);
            noises.push(Noise::Recorded(regime.name.to_owned(), residuals(arms)));
        }
    }
    let mut random = Random::new(39);
    let mut all = Vec::new();
    for noise in &noises {
        let repetitions = match noise {
            Noise::Recorded(..) => repetitions.div_ceil(8),
            _ => repetitions,
        };
        for content in Content::ALL {
            all.extend((0..repetitions).map(|_| labelled(noise, content, &mut random)));
        }
    }
    Ok(all)
}

/// Returns the logarithms of the medians of consecutive runs, relative to the median of all, in order. The
/// points of a history scatter by 1 to 2 %. Runs recorded on a busy machine scatter by more, so they are
/// scaled down to that. This preserves their shape: outliers, levels, and the correlation of neighbours.
fn residuals(arms: &[Vec<f64>; ARMS]) -> Vec<f64> {
    let mut all = Vec::new();
    for runs in arms {
        let known: Vec<f64> = runs.iter().copied().filter(|run| *run > 0.0).collect();
        let level = crate::tools::median(&known);
        let few = known.chunks_exact(RUNS);
        all.extend(few.map(|few| (crate::tools::median(few) / level).ln()));
    }
    let middle = crate::tools::median(&all);
    let distances: Vec<f64> = all.iter().map(|value| (value - middle).abs()).collect();
    let scatter = 1.4826 * crate::tools::median(&distances);
    let scale = (SCATTER / scatter).min(1.0);
    all.iter().map(|value| (value - middle) * scale).collect()
}

fn rules() -> [(&'static str, Rule); 5] {
    [
        ("Fathom", own),
        (
            "rank-PELT in windows of 100 (Killick 2012, Lung-Yut-Fong 2015)",
            rivals::rank_pelt::change_points,
        ),
        (
            "E-divisive (Matteson and James 2014)",
            rivals::e_divisive::change_points,
        ),
        (
            "Hunter / Otava, defaults (Fleming 2023)",
            rivals::hunter::change_points,
        ),
        (
            "more than 5 % from the previous point",
            rivals::previous_point,
        ),
    ]
}

/// Returns the tables of `changes`.
///
/// # Errors
/// If the recorded runs are damaged.
pub(crate) fn measure(options: &Options) -> Result<Vec<Table>> {
    let series = all_series(options.scaled(REPETITIONS))?;
    let steps: Vec<&Labelled> = series
        .iter()
        .filter(|one| one.content != Content::Drift)
        .collect();
    let mut headers = ["rule", "F1", "precision", "recall"]
        .map(str::to_owned)
        .to_vec();
    headers.extend(STEPS.map(|size| format!("{:.0} %", 100.0 * size)));
    headers.extend(["wrong without change".to_string(), "ms a series".into()]);
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    let title = format!(
        "Change points in {} series, found within 5 points",
        steps.len()
    );
    let mut table = Table::new(&title, &headers);
    let mut by_noise: Vec<(&str, Vec<f64>)> = Vec::new();
    for one in &steps {
        if by_noise.iter().all(|(noise, _)| *noise != one.noise) {
            by_noise.push((&one.noise, Vec::new()));
        }
    }
    let mut scores = Vec::new();
    for (name, rule) in rules() {
        let began = Instant::now();
        let reported: Vec<Vec<usize>> = steps.iter().map(|one| rule(&one.values)).collect();
        let each = began.elapsed().as_secs_f64() * 1e3 / steps.len() as f64;
        let (score, sizes) = total(&steps, &reported);
        let nothing = steps
            .iter()
            .zip(&reported)
            .filter(|(one, _)| one.content == Content::Nothing);
        let (wrong, points) = nothing.fold((0, 0), |(wrong, points), (one, reported)| {
            (wrong + reported.len(), points + one.values.len())
        });
        let mut row = vec![
            name.to_string(),
            format!("{:.3}", score.f1()),
            format!("{:.3}", score.precision()),
            format!("{:.3}", score.recall()),
        ];
        row.extend(sizes.map(|(found, all)| format!("{found}/{all}")));
        row.extend([format!("{wrong} in {points}"), format!("{each:.2}")]);
        table.row(row);
        scores.push((score, wrong as f64 / points as f64));
        for (noise, cells) in &mut by_noise {
            let own: (Vec<&Labelled>, Vec<Vec<usize>>) = steps
                .iter()
                .zip(&reported)
                .filter(|(one, _)| one.noise == *noise)
                .map(|(one, reported)| (*one, reported.clone()))
                .unzip();
            cells.push(total(&own.0, &own.1).0.f1());
        }
    }
    let best = scores[1..]
        .iter()
        .map(|(score, _)| score.f1())
        .fold(0.0, f64::max);
    let ahead = scores[0].0.f1() - best;
    table.note(format!(
        "F1 {ahead:+.3} beside the best of the others; asked +0.01: {}.",
        result(ahead >= 0.01)
    ));
    table.note(format!(
        "Wrong points without change: {:.2} in 4,000; asked at most 1: {}.",
        scores[0].1 * 4000.0,
        result(scores[0].1 * 4000.0 <= 1.0)
    ));
    Ok(vec![
        table,
        by_noise_table(by_noise),
        others(&series),
        speed(),
    ])
}

fn by_noise_table(by_noise: Vec<(&str, Vec<f64>)>) -> Table {
    let mut table = Table::new(
        "The same by noise: F1",
        &[
            "noise",
            "Fathom",
            "rank-PELT",
            "E-divisive",
            "Hunter",
            "previous",
        ],
    );
    for (noise, cells) in by_noise {
        let cells = cells.into_iter().map(|f1| format!("{f1:.3}"));
        table.row(std::iter::once(noise.to_owned()).chain(cells));
    }
    table
}

fn truth(one: &Labelled) -> Vec<usize> {
    one.steps.iter().map(|(at, _)| *at).collect()
}

/// Returns the total score, and for each size the number of points found and of true points.
fn total(steps: &[&Labelled], reported: &[Vec<usize>]) -> (Score, [(usize, usize); STEPS.len()]) {
    let mut score = Score::default();
    let mut sizes = [(0, 0); STEPS.len()];
    for (one, reported) in steps.iter().zip(reported) {
        let found = score.add(&truth(one), reported);
        for ((_, size), found) in one.steps.iter().zip(found) {
            if let Some(place) = STEPS.iter().position(|step| step == size) {
                sizes[place].0 += usize::from(found);
                sizes[place].1 += 1;
            }
        }
    }
    (score, sizes)
}

/// Returns the table for drift and spikes, which only Fathom reports.
fn others(series: &[Labelled]) -> Table {
    let mut table = Table::new("Drift and spikes", &["what", "how many", "named so"]);
    let drifts: Vec<_> = series
        .iter()
        .filter_map(|one| Some((one, one.drift?)))
        .collect();
    let (mut named, mut found) = (0, 0);
    for (one, (start, end)) in &drifts {
        let points = fathom_stats::change_points(&one.values).change_points;
        found += usize::from(!points.is_empty());
        let overlaps = |index: usize, until: usize| index <= *end && until >= *start;
        named +=
            usize::from(points.iter().any(|point| {
                point.kind == ChangeKind::Drift && overlaps(point.index, point.until)
            }));
    }
    table.row([
        "slopes".into(),
        format!("{} ({found} found at all)", drifts.len()),
        named.to_string(),
    ]);
    let (mut spikes, mut named, mut as_change) = (0, 0, 0);
    let (mut stepped, mut as_drift) = (0, 0);
    for one in series {
        let found = fathom_stats::change_points(&one.values);
        spikes += one.spikes.len();
        named += one
            .spikes
            .iter()
            .filter(|at| found.spikes.contains(at))
            .count();
        let near = |at: &&usize| {
            found
                .change_points
                .iter()
                .any(|point| point.index.abs_diff(**at) <= 1)
        };
        let true_step = |at: &&usize| one.steps.iter().any(|(step, _)| step.abs_diff(**at) <= 8);
        as_change += one
            .spikes
            .iter()
            .filter(|at| near(at) && !true_step(at))
            .count();
        if one.drift.is_none() {
            stepped += found.change_points.len();
            as_drift += found
                .change_points
                .iter()
                .filter(|point| point.kind == ChangeKind::Drift)
                .count();
        }
    }
    table.row([
        "spikes".into(),
        format!("{spikes} ({as_change} taken for a change)"),
        named.to_string(),
    ]);
    table.row([
        "steps taken for drift".into(),
        stepped.to_string(),
        as_drift.to_string(),
    ]);
    table
}

/// Measures how long 10,000 points take at once, and one more at the end.
fn speed() -> Table {
    let mut table = Table::new("Time for 10,000 points", &["what", "ms", "asked", "result"]);
    let mut random = Random::new(7);
    let mut level = 0.0;
    let values: Vec<f64> = (0..10_001)
        .map(|index| {
            if index % 400 == 399 {
                level += if random.unit() < 0.5 { 0.05 } else { -0.05 };
            }
            (level + 0.02 * random.heavy()).exp()
        })
        .collect();
    let best_of = |work: &dyn Fn()| {
        let timed = (0..9).map(|_| {
            let began = Instant::now();
            work();
            began.elapsed().as_secs_f64() * 1e3
        });
        timed.fold(f64::INFINITY, f64::min)
    };
    let before = fathom_stats::change_points(&values[..10_000]);
    let all = best_of(&|| drop(std::hint::black_box(fathom_stats::change_points(&values))));
    let tail = best_of(&|| {
        drop(std::hint::black_box(fathom_stats::follow(
            &before, 10_000, &values,
        )));
    });
    for (what, ms, asked) in [
        ("the whole series", all, 100.0),
        ("one new point", tail, 1.0),
    ] {
        table.row([
            what.into(),
            format!("{ms:.2}"),
            format!("under {asked}"),
            result(ms < asked),
        ]);
    }
    table
}
