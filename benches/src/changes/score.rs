//! Measures how well the reported points agree with the true ones.

/// A point counts as found if a reported point is at most this number of points away.
pub(crate) const TOLERANCE: usize = 5;

/// Counts over many series.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Score {
    pub found: usize,
    pub missed: usize,
    pub wrong: usize,
}

impl Score {
    /// Matches each true point with the nearest remaining reported one within the tolerance. Returns which of
    /// the true points were found.
    pub(crate) fn add(&mut self, truth: &[usize], reported: &[usize]) -> Vec<bool> {
        let mut pairs: Vec<(usize, usize, usize)> = Vec::new();
        for (t, true_index) in truth.iter().enumerate() {
            for (r, index) in reported.iter().enumerate() {
                let distance = true_index.abs_diff(*index);
                if distance <= TOLERANCE {
                    pairs.push((distance, t, r));
                }
            }
        }
        pairs.sort_unstable();
        let mut found = vec![false; truth.len()];
        let mut used = vec![false; reported.len()];
        for (_, t, r) in pairs {
            if !found[t] && !used[r] {
                (found[t], used[r]) = (true, true);
            }
        }
        let hits = found.iter().filter(|hit| **hit).count();
        self.found += hits;
        self.missed += truth.len() - hits;
        self.wrong += reported.len() - hits;
        found
    }

    pub(crate) fn precision(&self) -> f64 {
        self.found as f64 / (self.found + self.wrong).max(1) as f64
    }

    pub(crate) fn recall(&self) -> f64 {
        self.found as f64 / (self.found + self.missed).max(1) as f64
    }

    pub(crate) fn f1(&self) -> f64 {
        let all = 2 * self.found + self.missed + self.wrong;
        2.0 * self.found as f64 / all.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reported_point_is_found_once() {
        let mut score = Score::default();
        assert_eq!(score.add(&[50, 100], &[48, 52, 106]), [true, false]);
        assert_eq!(
            score,
            Score {
                found: 1,
                missed: 1,
                wrong: 2
            }
        );
        assert!((score.f1() - 0.4).abs() < 1e-12);
    }
}
