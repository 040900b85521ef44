//! The slope of a line, from rounds whose levels may differ.

use fathom_model::Estimate;

use crate::intervals::normal_half_width;

/// Returns the slope of y over x, from rounds of points `[x, y]`: the weighted median of the slopes between all
/// points of the same round, each weighted by the difference of its x. The interval consists of the slopes that a
/// rank test of the residuals (Sievers 1978, with rounds as blocks as in Hirsch, Slack and Smith 1982) doesn't
/// reject at `level`; it tolerates a few values that are far off. If there are too few points for `level`, it
/// reaches from the smallest to the largest slope, and its own level is lower. `None` if no round has two
/// different x.
///
/// ```
/// let rounds: Vec<Vec<[f64; 2]>> = (0..3)
///     .map(|round| (0..4).map(|at| [f64::from(at), f64::from(100 * round + 2 * at)]).collect())
///     .collect();
/// let slope = fathom_stats::slope_in_rounds(&rounds, 0.95).unwrap();
/// assert_eq!((slope.value, slope.low, slope.high), (2.0, 2.0, 2.0));
/// ```
pub fn slope_in_rounds(rounds: &[Vec<[f64; 2]>], level: f64) -> Option<Estimate> {
    // Each slope with its weight.
    let mut slopes: Vec<[f64; 2]> = Vec::new();
    let mut variance = 0.0;
    for points in rounds {
        let n = points.len() as f64;
        let mean = points.iter().map(|[x, _]| x).sum::<f64>() / n;
        let spread: f64 = points.iter().map(|[x, _]| (x - mean).powi(2)).sum();
        variance += spread * n * (n + 1.0) / 3.0;
        for (at, [x, y]) in points.iter().enumerate() {
            for [other_x, other_y] in &points[at + 1..] {
                let across = other_x - x;
                if across != 0.0 {
                    slopes.push([(other_y - y) / across, across.abs()]);
                }
            }
        }
    }
    slopes.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let all: f64 = slopes.iter().map(|[_, weight]| weight).sum();
    let (first, last) = (slopes.first()?, slopes.last()?);
    let half_width = normal_half_width(level) * variance.sqrt();
    let (low, high, level) = match half_width < all {
        true => (
            nth(&slopes, (all - half_width) / 2.0),
            nth(&slopes, (all + half_width) / 2.0),
            level,
        ),
        false => (first[0], last[0], 1.0 - 2.0 * chance_of_one_order(rounds)),
    };
    Some(Estimate {
        value: nth(&slopes, all / 2.0),
        low,
        high,
        level,
    })
}

/// Returns the first slope at which the weights sum up to `weight`.
fn nth(slopes: &[[f64; 2]], weight: f64) -> f64 {
    let mut sum = 0.0;
    let reached = slopes.iter().find(|[_, own]| {
        sum += own;
        sum >= weight
    });
    reached
        .or(slopes.last())
        .map_or(f64::NAN, |[slope, _]| *slope)
}

/// Returns the chance that in all rounds the residuals are in the order of x.
fn chance_of_one_order(rounds: &[Vec<[f64; 2]>]) -> f64 {
    let orders = |points: &Vec<[f64; 2]>| (1..=points.len()).map(|n| n as f64).product::<f64>();
    rounds.iter().map(|points| 1.0 / orders(points)).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns rounds of four points with slope 1, and different levels.
    fn rounds(count: usize) -> Vec<Vec<[f64; 2]>> {
        let level = |round: usize| 1_000.0 * (round % 3) as f64;
        (0..count)
            .map(|round| {
                (0..4)
                    .map(|at| [f64::from(at), level(round) + f64::from(at)])
                    .collect()
            })
            .collect()
    }

    #[test]
    fn a_value_far_off_does_not_move_it() {
        let mut rounds = rounds(4);
        rounds[1][0][1] += 500.0;
        let slope = slope_in_rounds(&rounds, 0.95).unwrap();
        assert_eq!((slope.value, slope.low, slope.high), (1.0, 1.0, 1.0));
    }

    #[test]
    fn too_few_points_have_a_lower_level() {
        let slope = slope_in_rounds(&rounds(1), 0.95).unwrap();
        assert!((slope.level - (1.0 - 2.0 / 24.0)).abs() < 1e-9, "{slope:?}");
        assert_eq!(slope_in_rounds(&rounds(2), 0.95).unwrap().level, 0.95);
    }

    #[test]
    fn nothing_follows_from_one_place() {
        assert_eq!(slope_in_rounds(&[], 0.95), None);
        assert_eq!(slope_in_rounds(&[vec![[1.0, 2.0], [1.0, 3.0]]], 0.95), None);
    }
}
