//! Ranks of values among their neighbours.

/// Returns ranks as scores with mean 0 and mean square 1; equal values share a score. `None` if all values
/// are equal.
pub(super) fn normal_scores(values: &[f64]) -> Option<Vec<f64>> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut scores = vec![0.0; values.len()];
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let (mut first, mut square) = (0, 0.0);
    for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let score = first as f64 + (tied.len() as f64 - 1.0) / 2.0 - middle;
        for &index in tied {
            scores[index] = score;
        }
        square += score * score * tied.len() as f64;
        first += tied.len();
    }
    if square == 0.0 {
        return None;
    }
    let scale = (square / values.len() as f64).sqrt();
    for score in &mut scores {
        *score /= scale;
    }
    Some(scores)
}
