//! Rules of other tools, implemented from their papers, to compare with Fathom's own on the same series.

pub(crate) mod e_divisive;
pub(crate) mod hunter;
pub(crate) mod rank_pelt;

/// Compares each point with the previous one, as most gates in use do.
pub(crate) fn previous_point(values: &[f64]) -> Vec<usize> {
    (1..values.len())
        .filter(|&index| (values[index] / values[index - 1] - 1.0).abs() > 0.05)
        .collect()
}
