//! Combined rates of several threads, from the times at which each really ran. Pure computation.

/// One piece of work: its beginning and end, in ns of one clock for all threads.
pub(crate) type Piece = (u64, u64);

/// Length of a window in ns. At a load of 8, both CPUs of a machine were available together for about 0.5 ms,
/// and never for 4.
const WINDOW_NS: u64 = 500_000;

/// A piece longer than this multiple of its thread's fast ones was interrupted.
const INTERRUPTED: u64 = 3;

/// The combined work of all threads.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Together {
    /// Bytes per ns of all threads, one value for each window in which all of them ran.
    pub rates: Vec<f64>,
    /// Number of windows in which a thread was interrupted.
    pub rejected: usize,
}

/// Divides the time after all threads began and before any ended into windows of 0.5 ms, and adds up the
/// bytes of all threads in windows without an interruption.
///
/// `logs` has one list of pieces per thread, in order; every piece moved `bytes`.
pub(crate) fn together(logs: &[Vec<Piece>], bytes: usize) -> Together {
    let mut result = Together::default();
    let from = logs
        .iter()
        .map(|log| log.first().map_or(u64::MAX, |piece| piece.0))
        .max();
    let to = logs
        .iter()
        .map(|log| log.last().map_or(0, |piece| piece.1))
        .min();
    let (Some(mut at), Some(to)) = (from, to) else {
        return result;
    };
    let limits = limits(logs);
    while at.saturating_add(WINDOW_NS) <= to {
        let moved: Option<f64> = logs
            .iter()
            .zip(&limits)
            .map(|(log, limit)| moved(log, at, at + WINDOW_NS, *limit, bytes))
            .sum();
        match moved {
            Some(bytes) => result.rates.push(bytes / WINDOW_NS as f64),
            None => result.rejected += 1,
        }
        at += WINDOW_NS;
    }
    result
}

/// Returns whether all of `logs` moved bytes from `from` to `to` without an interruption.
pub(crate) fn all_ran(logs: &[Vec<Piece>], limits: &[u64], from: u64, to: u64) -> bool {
    logs.iter()
        .zip(limits)
        .all(|(log, limit)| moved(log, from, to, *limit, 1).is_some())
}

/// Returns the longest duration of an uninterrupted piece for each log.
pub(crate) fn limits(logs: &[Vec<Piece>]) -> Vec<u64> {
    logs.iter().map(|log| limit(log)).collect()
}

/// Returns the longest duration of an uninterrupted piece, derived from the lower quartile.
fn limit(log: &[Piece]) -> u64 {
    let mut times: Vec<u64> = log.iter().map(|(start, end)| end - start).collect();
    times.sort_unstable();
    times
        .get(times.len() / 4)
        .map_or(0, |quick| quick * INTERRUPTED)
}

/// Returns the bytes that one thread moved in the window; `None` if it was interrupted in it.
fn moved(log: &[Piece], from: u64, to: u64, limit: u64, bytes: usize) -> Option<f64> {
    let first = log.partition_point(|(_, end)| *end <= from);
    let mut sum = 0.0;
    let mut covered = from;
    for &(start, end) in &log[first..] {
        if start >= to {
            break;
        }
        // Two pieces are about 50 ns apart; a longer gap is an interruption, as is a long piece.
        if end - start > limit || start > covered.saturating_add(limit) {
            return None;
        }
        let part = end.min(to) - start.max(from);
        sum += bytes as f64 * part as f64 / (end - start).max(1) as f64;
        covered = end;
    }
    (covered >= to).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns consecutive pieces of 20 us.
    fn steady(from: u64, count: u64) -> Vec<Piece> {
        (0..count)
            .map(|i| (from + i * 20_000, from + (i + 1) * 20_000))
            .collect()
    }

    #[test]
    fn rates_of_threads_that_run_together_add_up() {
        let found = together(&[steady(0, 100), steady(7_000, 100)], 200_000);
        assert_eq!(found.rejected, 0);
        assert_eq!(found.rates.len(), 3);
        assert!(
            found.rates.iter().all(|rate| (rate - 20.0).abs() < 1e-9),
            "{:?}",
            found.rates
        );
    }

    #[test]
    fn windows_in_which_one_was_interrupted_do_not_count() {
        let mut late = steady(0, 30);
        // A gap of 3 ms, after which the pieces continue.
        late.push((600_000, 3_600_000));
        late.extend(steady(3_600_000, 100));
        let found = together(&[steady(0, 300), late], 200_000);
        assert!(found.rates.iter().all(|rate| (rate - 20.0).abs() < 1e-9));
        assert!(found.rejected >= 6 && found.rates.len() >= 3, "{found:?}");
    }

    #[test]
    fn threads_that_never_overlap_have_no_common_rate() {
        let found = together(&[steady(0, 100), steady(9_000_000, 100)], 200_000);
        assert_eq!(found, Together::default());
        assert_eq!(together(&[], 1), Together::default());
        assert_eq!(
            together(&[Vec::new(), steady(0, 100)], 1),
            Together::default()
        );
    }
}
