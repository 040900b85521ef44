//! Extracts numbers from the output of the other tools.

/// Returns the first number after `label`.
pub(super) fn number_after(text: &str, label: &str) -> Option<f64> {
    let rest = &text[text.find(label)? + label.len()..];
    rest.split(|c: char| c.is_whitespace() || c == ':')
        .find_map(|word| word.parse().ok())
}

/// Returns the last number of the last line that has one.
pub(super) fn last_number(text: &str) -> Option<f64> {
    text.lines().rev().find_map(|line| {
        line.split_ascii_whitespace()
            .rev()
            .find_map(|w| w.parse().ok())
    })
}

/// Returns the smallest number of all lines that have a single number, or one number after a row's name, as
/// in the matrix printed by `pingpong`.
pub(super) fn least_in_matrix(text: &str) -> Option<f64> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .flat_map(|(_, cells)| cells.split_ascii_whitespace())
        .filter_map(|word| word.parse::<f64>().ok())
        .min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_where_the_tools_put_them() {
        let tiny = " SSE2 nontemporal fill         :  11304.8 MB/s (32.2%)\n";
        assert_eq!(number_after(tiny, "SSE2 nontemporal fill"), Some(11304.8));
        let stream = "Copy:           29508.2     0.032734     0.018194\n";
        assert_eq!(number_after(stream, "Copy:"), Some(29508.2));
        assert_eq!(
            number_after("Simple syscall: 0.2727 microseconds", "syscall:"),
            Some(0.2727)
        );
        assert_eq!(number_after("nothing", "Copy:"), None);
        assert_eq!(last_number("\n\"size=0k ovr=0.82\n2 3.95\n"), Some(3.95));
        assert_eq!(last_number("268.44 16052.42\n"), Some(16052.42));
        assert_eq!(
            least_in_matrix("times are in ns\n\n  1\n 0:  32.6 \n"),
            Some(32.6)
        );
    }
}
