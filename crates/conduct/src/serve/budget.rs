//! Checks the limits of the budget.

use fathom_model::{LoadResult, ServeBudget, ServedServer};

use super::plan::{Limit, Limited};

/// Checks every limit against every server.
pub(super) fn budget(limits: &[Limit], servers: &[ServedServer]) -> Vec<ServeBudget> {
    let pairs = servers.iter().enumerate();
    pairs
        .flat_map(|(server, served)| {
            limits.iter().map(move |limit| {
                let mut along = served.ramp.iter().flat_map(|ramp| &ramp.limits);
                let along = along.find(|one| one.limit == limit.text);
                let is_alone = along.is_some() && served.load.is_empty();
                let value = match along {
                    Some(along) if is_alone => along.worst,
                    _ => value(limit.of, served),
                };
                // A limit on an unknown value doesn't hold. Along a ramp, a limit holds if it is kept up to
                // the end.
                let kept = along.is_none_or(|along| along.left_in.is_none());
                ServeBudget {
                    server,
                    limit: limit.text.clone(),
                    value,
                    met: kept && value.is_some_and(|value| is_alone || value <= limit.most),
                }
            })
        })
        .collect()
}

/// Returns the worst value of a server, over the open loops if there are any, and otherwise over the closed
/// ones.
fn value(of: Limited, server: &ServedServer) -> Option<f64> {
    let open = |load: &&LoadResult| load.rate_per_second.is_some();
    let has_open = server.load.iter().any(|load| open(&load));
    let loads = server.load.iter().filter(|load| !has_open || open(load));
    let worst = |values: Vec<Option<f64>>| -> Option<f64> {
        let all: Option<Vec<f64>> = values.into_iter().collect();
        all?.into_iter().reduce(f64::max)
    };
    match of {
        Limited::Response(share) => worst(
            loads
                .map(|load| percentile(&load.histogram_ns, share))
                .collect(),
        ),
        Limited::Errors => {
            let all = server.load.iter().map(|load| load.errors + load.dropped);
            (!server.load.is_empty()).then(|| all.sum::<u64>() as f64)
        }
        Limited::Ready => server.cold.as_ref().map(|cold| cold.ready_ms.p90),
        Limited::Cpu => worst(loads.map(|load| load.server_cpu_us_per_request).collect()),
    }
}

/// Returns a percentile in milliseconds; `None` if too few values lie beyond it.
pub(super) fn percentile(histogram: &[(u64, u64)], share: f64) -> Option<f64> {
    fathom_stats::percentile_of_steps(histogram, share).map(|ns| ns as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_read_from_steps_if_enough_lie_beyond() {
        let histogram = [(1_000_000, 900), (2_000_000, 90), (5_000_000, 10)];
        assert_eq!(percentile(&histogram, 0.5), Some(1.0));
        assert_eq!(percentile(&histogram, 0.99), Some(2.0));
        assert_eq!(percentile(&histogram, 0.999), None);
        assert_eq!(percentile(&histogram, 1.0), Some(5.0));
        assert_eq!(percentile(&[], 1.0), None);
    }
}
