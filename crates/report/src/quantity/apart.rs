//! Formats the values of one column with enough digits that different values don't print the same.

/// Values closer than this only differ by rounding errors.
const SAME: f64 = 1e-9;
/// The maximum number of additional decimals of a row; a smaller difference isn't readable.
const MOST: usize = 9;

/// Returns the text of each value: `write(index, more)` formats a row with `more` additional decimals. Only
/// rows that would print the same get any.
pub(crate) fn apart(values: &[f64], write: &dyn Fn(usize, usize) -> String) -> Vec<String> {
    let more = decimals_apart(values, write).into_iter().enumerate();
    more.map(|(row, more)| write(row, more)).collect()
}

/// Returns how many additional decimals each row gets in [`apart`], so that its interval can be formatted
/// with the same number.
pub(crate) fn decimals_apart(values: &[f64], write: &dyn Fn(usize, usize) -> String) -> Vec<usize> {
    decimals_where(values.len(), &|a, b| differ(values[a], values[b]), write)
}

/// Like [`decimals_apart`] for `rows` rows, where `differ` decides which two must not print the same.
pub(crate) fn decimals_where(
    rows: usize,
    differ: &dyn Fn(usize, usize) -> bool,
    write: &dyn Fn(usize, usize) -> String,
) -> Vec<usize> {
    let mut more = vec![0; rows];
    let mut texts: Vec<String> = (0..rows).map(|row| write(row, 0)).collect();
    for _ in 0..MOST {
        let alike: Vec<usize> = (0..rows)
            .filter(|&a| (0..rows).any(|b| texts[a] == texts[b] && differ(a, b)))
            .collect();
        if alike.is_empty() {
            break;
        }
        for row in alike {
            more[row] += 1;
            texts[row] = write(row, more[row]);
        }
    }
    more
}

/// Returns whether two values differ by more than rounding errors.
pub(crate) fn differ(a: f64, b: f64) -> bool {
    (a - b).abs() > SAME * a.abs().max(b.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(values: &[f64]) -> Vec<String> {
        apart(values, &|row, more| format!("{:.more$}", values[row]))
    }

    #[test]
    fn only_rows_that_would_print_alike_get_more_digits() {
        assert_eq!(written(&[1.2, 1.4, 7.0]), ["1.2", "1.4", "7"]);
        assert_eq!(written(&[2.0, 2.0, 3.5]), ["2", "2", "4"]);
        assert_eq!(written(&[0.3, 0.1 + 0.2]), ["0", "0"]);
    }

    proptest::proptest! {
        #[test]
        fn two_that_differ_never_print_alike(power in -4.0f64..12.0, by in 1e-4f64..1.0) {
            let value = 10f64.powf(power);
            let texts = written(&[value, value * (1.0 + by)]);
            proptest::prop_assert!(texts[0] != texts[1], "{texts:?}");
        }
    }
}
