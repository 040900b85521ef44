//! The optimal partition of ranks (PELT: Killick, Fearnhead and Eckley 2012; on ranks: Lung-Yut-Fong,
//! Lévy-Leduc and Cappé 2015) in windows of 100 points that overlap by half, with the usual penalty of 3 ln
//! n. PELT's pruning changes only the time, not the result, and is omitted.

const WINDOW: usize = 100;
const SHORTEST: usize = 3;
const PENALTY: f64 = 3.0;

pub(crate) fn change_points(values: &[f64]) -> Vec<usize> {
    let count = values.len();
    let last = count.saturating_sub(WINDOW);
    let mut found = Vec::new();
    let starts = (0..last.div_ceil(WINDOW / 2)).map(|number| number * WINDOW / 2);
    for start in starts.chain([last]) {
        let end = (start + WINDOW).min(count);
        let first = if start == 0 { 0 } else { start + WINDOW / 4 };
        let beyond = if end == count {
            count
        } else {
            end - WINDOW / 4
        };
        for cut in partition(&values[start..end]) {
            let index = start + cut;
            let near = |other: &usize| index.abs_diff(*other) < SHORTEST;
            if (first..beyond).contains(&index) && !found.iter().any(near) {
                found.push(index);
            }
        }
    }
    found.sort_unstable();
    found
}

fn partition(values: &[f64]) -> Vec<usize> {
    let n = values.len();
    let rank = |value: f64| {
        let below = values.iter().filter(|other| **other < value).count();
        let equal = values.iter().filter(|other| **other == value).count();
        below as f64 + (equal as f64 + 1.0) / 2.0 - (n as f64 + 1.0) / 2.0
    };
    let ranks: Vec<f64> = values.iter().map(|value| rank(*value)).collect();
    let variance = ranks.iter().map(|rank| rank * rank).sum::<f64>() / n as f64;
    if variance == 0.0 {
        return Vec::new();
    }
    let mut sums = vec![0.0];
    ranks
        .iter()
        .for_each(|rank| sums.push(sums[sums.len() - 1] + rank));
    let penalty = PENALTY * (n as f64).ln();
    let mut cost = vec![f64::INFINITY; n + 1];
    let mut cut_before = vec![0; n + 1];
    cost[0] = -penalty;
    for end in SHORTEST..=n {
        for start in 0..=end - SHORTEST {
            let sum = sums[end] - sums[start];
            let with = cost[start] - sum * sum / variance / (end - start) as f64 + penalty;
            if with < cost[end] {
                cost[end] = with;
                cut_before[end] = start;
            }
        }
    }
    let mut cuts = Vec::new();
    let mut end = cut_before[n];
    while end > 0 {
        cuts.push(end);
        end = cut_before[end];
    }
    cuts
}
