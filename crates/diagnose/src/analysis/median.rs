//! The median.

/// Returns the median, which is the mean of the middle two for an even number of values; `None` if there are
/// no values.
pub(super) fn median(mut values: Vec<u64>) -> Option<f64> {
    values.sort_unstable();
    let n = values.len();
    let middle = values.get(n / 2)?;
    Some(match n % 2 {
        1 => *middle as f64,
        _ => (*middle as f64 + values[n / 2 - 1] as f64) / 2.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(median(vec![4, 1, 3, 2]), Some(2.5));
        assert_eq!(median(vec![9]), Some(9.0));
        assert_eq!(median(vec![]), None);
    }
}
