//! Compares each server with the first, paired by round.

use fathom_model::{LoadResult, Metric, ServeComparison, ServeMetric, ServedServer, Verdict};
use fathom_stats::{PairData, judge, sequential};

use crate::bench::ALPHA;

/// A comparison that hasn't been judged yet.
struct Pair {
    subject: usize,
    metric: ServeMetric,
    load: Option<usize>,
    reference_values: Vec<f64>,
    subject_values: Vec<f64>,
}

/// Returns all comparisons, judged together to limit the share of false claims.
pub(super) fn comparisons(servers: &[ServedServer], margin: f64) -> Vec<ServeComparison> {
    let Some((reference, others)) = servers.split_first() else {
        return Vec::new();
    };
    let mut pairs = Vec::new();
    for (index, other) in others.iter().enumerate() {
        add(reference, other, index + 1, &mut pairs);
    }
    let data: Vec<PairData<'_>> = pairs
        .iter()
        .map(|pair| PairData {
            reference_index: 0,
            subject_index: pair.subject,
            // All values are durations, so lower is better.
            metric: Metric::Wall,
            reference: &pair.reference_values,
            subject: &pair.subject_values,
            margin,
        })
        .collect();
    let judged = judge(&data, sequential::last(ALPHA, &[]));
    // Pairs without a usable round are missing from both lists.
    pairs
        .iter()
        .zip(judged)
        .map(|(pair, judged)| {
            let doubts = doubts(&servers[0], &servers[pair.subject], pair.load);
            ServeComparison {
                reference: 0,
                subject: pair.subject,
                metric: pair.metric,
                load: pair.load,
                rounds: judged.rounds,
                ratio: judged.ratio,
                claim_level: judged.claim_level,
                verdict: match doubts.is_empty() {
                    true => judged.verdict,
                    // A server that answers less often, or differently, is not faster.
                    false => Verdict::Undecided,
                },
                more_rounds: judged.more_rounds.filter(|_| doubts.is_empty()),
                doubts,
            }
        })
        .collect()
}

fn add(reference: &ServedServer, other: &ServedServer, subject: usize, pairs: &mut Vec<Pair>) {
    let mut push = |metric, load, values: Vec<(f64, f64)>| {
        let usable = |pair: &&(f64, f64)| pair.0 > 0.0 && pair.1 > 0.0;
        let values: Vec<&(f64, f64)> = values.iter().filter(usable).collect();
        if !values.is_empty() {
            pairs.push(Pair {
                subject,
                metric,
                load,
                reference_values: values.iter().map(|pair| pair.0).collect(),
                subject_values: values.iter().map(|pair| pair.1).collect(),
            });
        }
    };
    if let (Some(a), Some(b)) = (&reference.cold, &other.cold) {
        let both = a.runs.iter().zip(&b.runs);
        let values = both.map(|(a, b)| (a.ready_ms, b.ready_ms)).collect();
        push(ServeMetric::Ready, None, values);
    }
    for (index, (a, b)) in reference.load.iter().zip(&other.load).enumerate() {
        let load = Some(index);
        if a.rate_per_second.is_none() {
            push(
                ServeMetric::TimePerRequest,
                load,
                by_round(a, b, |round| Some(1.0 / round.requests_per_second)),
            );
        } else {
            push(ServeMetric::P99, load, by_round(a, b, |round| round.p99_ms));
        }
        push(
            ServeMetric::ServerCpu,
            load,
            by_round(a, b, |round| round.server_cpu_us_per_request),
        );
    }
}

fn by_round(
    a: &LoadResult,
    b: &LoadResult,
    value: impl Fn(&fathom_model::LoadRound) -> Option<f64>,
) -> Vec<(f64, f64)> {
    let pair = |round: &fathom_model::LoadRound| {
        let other = b.rounds.iter().find(|other| other.round == round.round)?;
        let (a, b) = (value(round)?, value(other)?);
        (a.is_finite() && b.is_finite()).then_some((a, b))
    };
    a.rounds.iter().filter_map(pair).collect()
}

/// Returns the reasons for suspecting that the two servers did different work.
fn doubts(reference: &ServedServer, subject: &ServedServer, load: Option<usize>) -> Vec<String> {
    let mut found = Vec::new();
    let share = |server: &ServedServer| {
        let load = server.load.get(load?)?;
        Some((load.errors + load.dropped) as f64 / load.scheduled.max(1) as f64)
    };
    if let (Some(a), Some(b)) = (share(reference), share(subject))
        && (a - b).abs() > 0.001
    {
        found.push("errors differ".to_string());
    }
    if (reference.status, reference.body_bytes) != (subject.status, subject.body_bytes) {
        found.push("responses differ".to_string());
    }
    found
}
