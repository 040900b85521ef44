//! Servers with all their seconds under load: one stalls for a moment.

use fathom_model::{LoadResult, LoadRound, LoadSecond, Percentiles, ServeRecord, SlowLaunch};

use super::{full, launch, load, plain};

/// Seconds of load, given by their values in nanoseconds, and the results computed from these values.
pub(crate) struct Seconds {
    /// Values by round and second.
    pub(crate) rounds: Vec<Vec<Vec<u64>>>,
}

impl Seconds {
    /// Values around `median` nanoseconds with a long tail; `stall` selects a second in which nothing is
    /// answered for 400 ms.
    fn new(rounds: u32, a_second: u64, median: f64, stall: Option<(u32, u32)>) -> Seconds {
        let mut state = 0x9e37_79b9_7f4a_7c15u64 ^ a_second;
        let mut random = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut second = |round, number| -> Vec<u64> {
            let values = (0..a_second).map(|at| {
                let tail = (1.0 - random()).powf(-0.35);
                let into = at as f64 / a_second as f64;
                let waits = match stall == Some((round, number)) {
                    true => (0.4 - into).max(0.0) * 1e9,
                    false => 0.0,
                };
                // Three digits, as in the histograms.
                let value = median * 0.78 * tail + waits;
                let digit = 10f64.powf(value.log10().floor() - 2.0);
                ((value / digit).round() * digit) as u64
            });
            let mut values: Vec<u64> = values.collect();
            values.sort_unstable();
            values
        };
        let rounds = 0..rounds;
        Seconds {
            rounds: rounds
                .map(|round| (0..3).map(|number| second(round, number)).collect())
                .collect(),
        }
    }

    pub(crate) fn all(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.rounds.iter().flatten().flatten().copied().collect();
        all.sort_unstable();
        all
    }
}

/// Returns the percentile of sorted values in seconds, if ten values are beyond it.
pub(crate) fn percentile(sorted: &[u64], per_mille: u64) -> Option<f64> {
    let count = sorted.len() as u64;
    let enough = count * (1000 - per_mille) >= 10_000;
    let rank = (count * per_mille).div_ceil(1000);
    enough.then(|| sorted[rank as usize - 1] as f64 / 1e9)
}

fn steps(sorted: &[u64]) -> Vec<(u64, u64)> {
    let mut steps: Vec<(u64, u64)> = Vec::new();
    for value in sorted {
        match steps.last_mut() {
            Some((last, count)) if last == value => *count += 1,
            _ => steps.push((*value, 1)),
        }
    }
    steps
}

fn loaded(load: &mut LoadResult, seconds: &Seconds) {
    let all = seconds.all();
    let ms = |per_mille| percentile(&all, per_mille).map(|seconds| seconds * 1e3);
    load.response_ms = Percentiles {
        mean: Some(all.iter().sum::<u64>() as f64 / all.len() as f64 / 1e6),
        p50: ms(500),
        p90: ms(900),
        p95: ms(950),
        p99: ms(990),
        p999: ms(999),
        max: all.last().map(|ns| *ns as f64 / 1e6),
    };
    load.histogram_ns = steps(&all);
    (load.scheduled, load.completed) = (all.len() as u64, all.len() as u64);
    let template = load.rounds[0].clone();
    (load.rounds, load.seconds) = (Vec::new(), Vec::new());
    for (round, of_round) in seconds.rounds.iter().enumerate() {
        load.rounds.push(LoadRound {
            round: round as u32,
            ..template.clone()
        });
        for (second, values) in of_round.iter().enumerate() {
            load.seconds.push(LoadSecond {
                round: round as u32,
                second: second as u32,
                failed: u64::from(round == 1 && second == 2),
                histogram_ns: steps(values),
            });
        }
    }
}

/// A server that stalls once for 400 ms, and the seconds of each load.
pub(crate) fn stalling() -> (ServeRecord, Vec<Seconds>) {
    let mut record = plain();
    let server = &mut record.servers[0];
    server.name = "node server.js --port {port} --workers 4".to_owned();
    server.load = vec![
        load(1, None, 900.0),
        load(16, None, 1800.0),
        load(64, None, 2100.0),
        load(64, Some(1470.0), 1470.0),
    ];
    let seconds = vec![
        Seconds::new(5, 900, 1.1e6, None),
        Seconds::new(5, 1800, 8.3e6, None),
        Seconds::new(5, 2100, 29e6, None),
        Seconds::new(5, 1470, 1.9e6, Some((2, 1))),
    ];
    for (load, seconds) in server.load.iter_mut().zip(&seconds) {
        loaded(load, seconds);
    }
    let cold = server.cold.as_mut().expect("it was launched");
    // Enough launches for a p99.
    let launches = (0..120).map(|at| {
        let late = if at % 40 == 7 { 30.0 } else { 0.0 };
        let slow = (late > 0.0).then_some(SlowLaunch::WaitedForCpu);
        launch(at, 44.0 + f64::from(at * 37 % 100) / 10.0 + late, slow)
    });
    cold.runs = launches.collect();
    cold.launches = cold.runs.len();
    for spread in [
        &mut cold.accepted_ms,
        &mut cold.first_byte_ms,
        &mut cold.ready_ms,
    ] {
        spread.p99 = Some(spread.p50 * 1.6);
    }
    record.conditions.launches = 120;
    (record, seconds)
}

/// Two servers with all kinds of results, and seconds under load.
pub(crate) fn pair() -> ServeRecord {
    let mut record = full();
    for (index, server) in record.servers.iter_mut().enumerate() {
        for (at, load) in server.load.iter_mut().enumerate() {
            let median = 1e6 * (1.0 + at as f64) / (1.0 + 2.0 * index as f64);
            let stall = (at == 2).then_some((1, index as u32));
            loaded(load, &Seconds::new(2, 700 + 400 * at as u64, median, stall));
        }
    }
    record
}
