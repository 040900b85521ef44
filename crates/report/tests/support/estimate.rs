//! Simple estimates: medians with the sign test's interval, and the median of paired ratios.

use fathom_model::{
    BenchRecord, Comparison, Estimate, Metric, MoreRounds, Shift, Summary, Verdict,
};

pub(crate) fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn quantile(sorted: &[f64], p: f64) -> f64 {
    let place = p * (sorted.len() - 1) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// Returns the median with the order statistics of the sign test as its interval. Below six values, the
/// interval is the whole range, with the corresponding level.
pub(crate) fn median(sorted: &[f64]) -> Estimate {
    let n = sorted.len();
    let value = quantile(sorted, 0.5);
    if n < 6 {
        let level = 1.0 - 0.5f64.powi(n as i32 - 1);
        return Estimate {
            value,
            low: sorted[0],
            high: sorted[n - 1],
            level,
        };
    }
    let below = ((n as f64 / 2.0) - 0.98 * (n as f64).sqrt())
        .floor()
        .max(0.0) as usize;
    Estimate {
        value,
        low: sorted[below],
        high: sorted[n - 1 - below],
        level: 0.95,
    }
}

pub(crate) fn summaries(record: &BenchRecord, benchmark: usize) -> Vec<Summary> {
    let summary = |metric: Metric| {
        let values = values(record, benchmark, metric)
            .into_iter()
            .map(|(_, value)| value)
            .collect();
        let sorted = sorted(values);
        let n = sorted.len();
        if n == 0 {
            return None;
        }
        let mean = sorted.iter().sum::<f64>() / n as f64;
        let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Summary {
            metric,
            runs: n,
            median: median(&sorted),
            min: sorted[0],
            p10: quantile(&sorted, 0.1),
            p90: quantile(&sorted, 0.9),
            p99: quantile(&sorted, 0.99),
            max: sorted[n - 1],
            mean,
            standard_deviation: (squares / (n.max(2) - 1) as f64).sqrt(),
        })
    };
    Metric::ALL.into_iter().filter_map(summary).collect()
}

fn values(record: &BenchRecord, benchmark: usize, metric: Metric) -> Vec<(u32, f64)> {
    let runs = record.runs.iter().filter(|run| run.benchmark == benchmark);
    runs.filter_map(|run| metric.of(run).map(|value| (run.round, value)))
        .collect()
}

/// Compares the subject with benchmark 0; `None` if no round has both.
pub(crate) fn compare(record: &BenchRecord, subject: usize, metric: Metric) -> Option<Comparison> {
    let (reference, ours) = (values(record, 0, metric), values(record, subject, metric));
    let ratios: Vec<f64> = ours
        .iter()
        .filter_map(|(round, value)| {
            reference
                .iter()
                .find(|(other, _)| other == round)
                .map(|(_, base)| value / base)
        })
        .collect();
    if ratios.is_empty() {
        return None;
    }
    let rounds = ratios.len();
    let ratio = median(&sorted(ratios));
    let only = |list: Vec<(u32, f64)>| sorted(list.into_iter().map(|(_, value)| value).collect());
    let (reference, ours) = (only(reference), only(ours));
    let at = |p: f64| quantile(&ours, p) / quantile(&reference, p);
    let margin = record.conditions.margin;
    let (low, high) = (1.0 / (1.0 + margin), 1.0 + margin);
    let verdict = if rounds < 6 {
        // So few rounds can't reach 95 %.
        Verdict::Undecided
    } else if ratio.low > low && ratio.high < high {
        Verdict::Same
    } else if ratio.high < 1.0 {
        Verdict::Faster
    } else if ratio.low > 1.0 {
        Verdict::Slower
    } else {
        Verdict::Undecided
    };
    Some(Comparison {
        reference: 0,
        subject,
        metric,
        rounds,
        ratio,
        shift: Shift {
            p10: at(0.1),
            p50: at(0.5),
            p90: at(0.9),
        },
        p_value: if verdict == Verdict::Undecided {
            0.21
        } else {
            0.000_1
        },
        claim_level: 0.99,
        margin,
        verdict,
        more_rounds: (verdict == Verdict::Undecided).then_some(MoreRounds(2 * rounds as u64)),
    })
}
