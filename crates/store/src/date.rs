//! Times in milliseconds since 1970 (UTC), and their text format.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;

/// Parses `2026-11-25`, or `2026-11-25T20:00:34Z`, also with a fraction or an offset (`+01:00`), to
/// milliseconds. Without an offset, the time is UTC. A date alone means its beginning.
pub fn parse(text: &str) -> Option<i64> {
    // ISO 8601 also allows dates without hyphens, but here such a text is a revision.
    if text.as_bytes().get(4) != Some(&b'-') {
        return None;
    }
    let in_utc = || {
        let local: DateTime = match text.len() {
            10 => text.parse::<Date>().ok()?.into(),
            _ => text.parse().ok()?,
        };
        Offset::UTC.to_timestamp(local).ok()
    };
    let time: Timestamp = text.parse().ok().or_else(in_utc)?;
    Some(time.as_millisecond())
}

/// Formats a time as RFC 3339 with whole seconds. A time outside the calendar becomes the nearest time inside
/// it.
pub fn text(milliseconds: i64) -> String {
    let nearest = match milliseconds {
        ..0 => Timestamp::MIN,
        _ => Timestamp::MAX,
    };
    let time = Timestamp::from_second(milliseconds.div_euclid(1000)).unwrap_or(nearest);
    format!("{time:.0}")
}

/// Returns the current time.
pub fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_written() {
        for (date, milliseconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-28T23:59:59Z", 951_782_399_000),
            ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("2024-12-31T23:59:59Z", 1_735_689_599_000),
            ("2026-11-21T00:00:00Z", 1_795_219_200_000),
            ("1969-12-31T23:59:59Z", -1000),
        ] {
            assert_eq!(parse(date), Some(milliseconds), "{date}");
            assert_eq!(text(milliseconds), date);
        }
        assert_eq!(parse("2026-11-21"), Some(1_795_219_200_000));
        assert_eq!(
            parse("2026-11-21 01:00:00.25+01:00"),
            Some(1_795_219_200_250)
        );
        assert_eq!(parse("2026-11-21T00:00"), Some(1_795_219_200_000));
        assert_eq!(parse("2026-11-20T23:59:60Z"), Some(1_795_219_199_000));
        assert_eq!(text(1_795_219_200_999), "2026-11-21T00:00:00Z");
        assert_eq!(text(i64::MAX), "9999-12-30T22:00:00Z");
    }

    #[test]
    fn what_is_no_date_is_none() {
        for wrong in [
            "",
            "v1",
            "2026-13-01",
            "2026-02-29",
            "2026-1-1",
            "2026-11-21T",
            "2026-11-21T25:00",
            "abc-de-fg",
            // This is a revision, not a date.
            "20261121",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
