//! Turns the steps of a server under one load into a result for the record.

use fathom_load::{Failing, Latencies, Making, Observed, Totals, doubts, is_steady};
use fathom_measure::server::TreeUsage;
use fathom_model::{Doubt, Estimate, LoadResult, LoadRound, LoadSecond, Percentiles};
use fathom_stats::median_interval;

use super::plan::ServePlan;
use super::rounds::{Load, Made};

/// The confidence level of intervals.
const LEVEL: f64 = 0.95;

/// Returns the result of all steps of one server under one load; `None` if there are none.
pub(super) fn result(plan: &ServePlan, load: Load, steps: &[&Made]) -> Option<LoadResult> {
    let mut all = Totals::default();
    for step in steps {
        all.add(&step.done.outcome.totals);
    }
    let rounds: Vec<LoadRound> = steps.iter().map(|step| round(step)).collect();
    let rates = rounds.iter().map(|round| round.requests_per_second);
    let interval = median_interval(&rates.collect::<Vec<f64>>(), LEVEL)?;
    let sum = |of: fn(&Made) -> u64| steps.iter().map(|step| of(step)).sum::<u64>();
    let used = |of: fn(&TreeUsage) -> u64| {
        let used = steps.iter().map(|step| step.done.used.as_ref().map(of));
        used.sum::<Option<u64>>()
    };
    let most = |of: fn(&TreeUsage) -> u64| {
        let totals = steps.iter().filter_map(|step| step.done.total.as_ref());
        totals.map(of).max()
    };
    let requests = all.completed.max(1) as f64;
    let per_request = |value: Option<u64>| value.map(|value| value as f64 / requests);
    let (response, service) = (all.response(), all.service());
    let places = u64::from(load.connections) * u64::from(plan.streams.max(1));
    let little = all.little(load.rate.is_none().then_some(places));
    let made = |of: fn(&Making) -> &Latencies| {
        let mut all = Latencies::new();
        steps.iter().for_each(|step| all.add(of(&step.done.making)));
        all
    };
    let (connecting, securing) = (made(|m| &m.connecting), made(|m| &m.securing));
    let generator_cpu = sum(|step| step.done.outcome.cpu_with_drain);
    let (cpu, wall) = (sum(|s| s.done.outcome.cpu), sum(|s| s.done.outcome.wall));
    let generator_cpu_share = cpu as f64 / wall.max(1) as f64;
    let verdicts = verdicts(&all, &rounds, load, generator_cpu_share, little);
    let errors_by_kind = Failing::ALL.iter().zip(all.failed);
    let errors_by_kind = errors_by_kind.filter(|(_, count)| *count > 0);
    let errors_by_kind = errors_by_kind.map(|(kind, count)| (kind.name().to_string(), count));
    Some(LoadResult {
        connections: load.connections,
        rate_per_second: load.rate,
        arrivals: load.rate.map(|_| plan.arrivals_name().to_owned()),
        requests_per_second: interval.value,
        requests_per_second_interval: interval,
        scheduled: all.scheduled,
        completed: all.completed,
        dropped: all.dropped,
        errors: all.errors(),
        errors_by_kind: errors_by_kind.collect(),
        response_ms: percentiles(&response, 1e6),
        service_ms: percentiles(&service, 1e6),
        generator_lag_us: percentiles(&all.lag, 1e3),
        connect_ms: percentiles(&connecting, 1e6),
        handshake_ms: (securing.count() > 0).then(|| percentiles(&securing, 1e6)),
        waited_for_connection: all.waited,
        most_waiting: all.most_waiting,
        little,
        server_cpu_us_per_request: per_request(used(|used| used.cpu_ns)).map(|ns| ns / 1e3),
        generator_cpu_us_per_request: generator_cpu as f64 / requests / 1e3,
        generator_cpu_share,
        server_cpus_used: used(|used| used.cpu_ns)
            .map(|ns| ns as f64 / sum(|step| step.done.lasted).max(1) as f64),
        server_peak_memory_bytes: most(|total| total.peak_memory_bytes),
        server_threads: most(|total| total.threads),
        server_voluntary_switches_per_request: per_request(used(|used| used.voluntary_switches)),
        server_involuntary_switches_per_request: per_request(used(|used| {
            used.involuntary_switches
        })),
        reconnects: sum(|step| step.done.outcome.connects),
        other_bodies: sum(|step| step.done.outcome.other_bodies),
        received_bytes: sum(|step| step.done.outcome.received_bytes),
        verdicts,
        seconds: steps.iter().flat_map(|step| seconds(step)).collect(),
        histogram_ns: response.steps(),
        rounds,
    })
}

/// Returns the reasons for doubting the figures.
fn verdicts(
    all: &Totals,
    rounds: &[LoadRound],
    load: Load,
    generator_cpu_share: f64,
    little: Option<f64>,
) -> Vec<Doubt> {
    let response = all.response();
    let mut verdicts = doubts(&Observed {
        open: load.rate.is_some(),
        generator_cpu_share,
        lag_p95_ns: all.lag.percentile(0.95),
        response_p50_ns: response.percentile(0.5),
        neighbours_share: median(rounds.iter().map(|round| round.neighbours_share).collect()),
        little,
        answered: response.count(),
    });
    let costs = rounds
        .iter()
        .filter_map(|round| round.server_cpu_us_per_request);
    if !is_steady(&costs.collect::<Vec<f64>>()) {
        verdicts.push(Doubt::NotSteady);
    }
    verdicts
}

fn round(step: &Made) -> LoadRound {
    let (done, totals) = (&step.done, &step.done.outcome.totals);
    let response = totals.response();
    let milliseconds = |share| response.percentile(share).map(|ns| ns as f64 / 1e6);
    let requests = totals.completed.max(1) as f64;
    let used = done.used.map(|used| used.cpu_ns as f64);
    LoadRound {
        round: step.round,
        position: step.position,
        requests_per_second: totals.requests_per_second(),
        p50_ms: milliseconds(0.5),
        p90_ms: milliseconds(0.9),
        p95_ms: milliseconds(0.95),
        p99_ms: milliseconds(0.99),
        server_cpu_us_per_request: used.map(|ns| ns / requests / 1e3),
        generator_cpu_us_per_request: done.outcome.cpu_with_drain as f64 / requests / 1e3,
        generator_cpu_share: done.outcome.cpu as f64 / done.outcome.wall.max(1) as f64,
        server_cpus_used: used.map(|ns| ns / done.lasted.max(1) as f64),
        neighbours_share: done.neighbours_share,
        errors: totals.errors(),
    }
}

fn seconds(step: &Made) -> Vec<LoadSecond> {
    let seconds = step.done.outcome.totals.seconds.iter().enumerate();
    seconds
        .map(|(number, second)| LoadSecond {
            round: step.round,
            second: number as u32,
            failed: second.failed,
            histogram_ns: second.response.steps(),
        })
        .collect()
}

/// Returns the percentiles in multiples of `unit` nanoseconds.
pub(super) fn percentiles(latencies: &Latencies, unit: f64) -> Percentiles {
    let of = |q| latencies.percentile(q).map(|ns| ns as f64 / unit);
    Percentiles {
        mean: (latencies.count() > 0).then(|| latencies.mean() / unit),
        p50: of(0.5),
        p90: of(0.9),
        p95: of(0.95),
        p99: of(0.99),
        p999: of(0.999),
        max: latencies.max().map(|ns| ns as f64 / unit),
    }
}

fn median(values: Vec<f64>) -> f64 {
    median_interval(&values, LEVEL).map_or(0.0, |estimate: Estimate| estimate.value)
}
