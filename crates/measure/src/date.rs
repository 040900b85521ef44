//! The current time, for records.

use jiff::Timestamp;

/// Returns the current UTC time as RFC 3339 with whole seconds.
pub fn now_rfc3339() -> String {
    format!("{:.0}", Timestamp::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_record_has_whole_seconds() {
        let before = Timestamp::now().as_second();
        let text = now_rfc3339();
        let time: Timestamp = text.parse().expect("RFC 3339");
        assert!((before..=Timestamp::now().as_second()).contains(&time.as_second()));
        assert_eq!((text.len(), time.subsec_nanosecond()), (20, 0), "{text}");
    }
}
