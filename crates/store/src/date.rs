//! Points in time: milliseconds since 1970, UTC, and the texts that stand for them.

/// Milliseconds of `2026-11-25`, `2026-11-25T20:00:34Z`, with a fraction, or with an offset
/// (`+01:00`); a date alone is its beginning in UTC.
pub fn parse(text: &str) -> Option<i64> {
    let (date, clock) = match text.split_once(['T', 't', ' ']) {
        Some((date, clock)) => (date, Some(clock)),
        None => (text, None),
    };
    let mut parts = date.split('-').map(digits);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || date.len() != 10 || !(1..=12).contains(&month) {
        return None;
    }
    if day < 1 || day > days_of(year, month) {
        return None;
    }
    let midnight = days(year, month, day) * 86_400_000;
    clock.map_or(Some(midnight), |clock| Some(midnight + of_day(clock)?))
}

/// As RFC 3339 with whole seconds.
pub fn text(milliseconds: i64) -> String {
    let seconds = milliseconds.div_euclid(1000);
    let (day, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days to civil date: the era of 400 years begins on 1 March.
    let (era, of_era) = (
        (day + 719_468).div_euclid(146_097),
        (day + 719_468).rem_euclid(146_097),
    );
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = (from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    let date = of_year - (153 * from_march + 2) / 5 + 1;
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Now.
pub fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as i64)
}

fn digits(text: &str) -> Option<i64> {
    let all = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    all.then(|| text.parse().ok())?
}

fn days_of(year: i64, month: i64) -> i64 {
    let (next_year, next) = if month == 12 {
        (year + 1, 1)
    } else {
        (year, month + 1)
    };
    days(next_year, next, 1) - days(year, month, 1)
}

/// Days from 1970-01-01, by eras of 400 years that begin on 1 March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Milliseconds from midnight UTC; negative or over a day where the offset says so.
fn of_day(clock: &str) -> Option<i64> {
    let zone = clock.find(['Z', 'z', '+', '-']).unwrap_or(clock.len());
    let (clock, zone) = clock.split_at(zone);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = clock.split(':').map(digits);
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().unwrap_or(Some(0))?;
    digits(fraction)?;
    let thousandths = digits(&format!("{fraction:0<3}")[..3])?;
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let offset = match zone.split_at_checked(1) {
        None | Some(("Z" | "z", "")) => 0,
        Some((sign @ ("+" | "-"), offset)) => {
            let (hours, minutes) = offset.split_once(':')?;
            let minutes = digits(hours)? * 60 + digits(minutes)?;
            if sign == "+" { minutes } else { -minutes }
        }
        Some(_) => return None,
    };
    Some((hour * 3600 + (minute - offset) * 60 + second) * 1000 + thousandths)
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
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
