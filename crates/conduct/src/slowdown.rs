//! How much slower observing may make a program before its observed times are no times of it.

/// Beyond this, times of an observed run are only quoted as modelled for an untraced one.
const QUOTABLE: f64 = 1.1;

/// Whether times are quoted that were observed at this slow-down (observed time by timed time), as
/// it is shown: with two digits.
pub(crate) fn is_quotable(slowdown: f64) -> bool {
    (slowdown * 100.0).round() <= QUOTABLE * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_as_the_limit_is_within_it() {
        assert!(is_quotable(0.9));
        assert!(is_quotable(1.1049));
        assert!(!is_quotable(1.1051));
    }
}
