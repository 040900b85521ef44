//! Parses durations, shares and CPU lists given by the user.

use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;
use std::time::Duration;

use fathom_model::Metric;

use crate::cli::failure::{Failure, usage};

/// Parses `60s`, `500ms`, `2m` or `1.5h`. A bare number is refused for all options alike, because it would
/// mean seconds for some options and milliseconds for others.
///
/// # Errors
/// A message that lists what is accepted.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    if text.starts_with('-') {
        return Err("the time must be more than zero, such as 500ms, 60s, 2m or 1h".to_string());
    }
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit.trim() {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "" if number.parse::<f64>().is_ok_and(|number| number > 0.0) => {
            return Err(format!("add its unit: {number}s, or {number}ms"));
        }
        "" => 1.0,
        _ => {
            return Err(format!(
                "{unit:?} is not a unit of time; write 500ms, 60s, 2m or 1h"
            ));
        }
    };
    let number: f64 = number
        .parse()
        .map_err(|_| "write a duration such as 500ms, 60s, 2m or 1h".to_string())?;
    let seconds = number * factor;
    if seconds <= 0.0 {
        return Err("the time must be more than zero".to_string());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| "the time is too long".to_string())
}

/// Parses a share such as `1%` or `0.01`. It must be greater than 0 and less than 1.
///
/// # Errors
/// A message that lists what is accepted.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let (number, factor) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), 0.01),
        None => (text.trim(), 1.0),
    };
    let value: f64 = number
        .parse()
        .map_err(|_| "write a share such as 1% or 0.01".to_string())?;
    let value = value * factor;
    if value > 0.0 && value < 1.0 {
        return Ok(value);
    }
    Err("the share must be more than 0 and less than 100 %; write it as 1% or 0.01".to_string())
}

/// Parses a number of runs or rounds, or a seed.
///
/// # Errors
/// A message that lists what is accepted.
pub(super) fn whole<T: FromStr<Err = ParseIntError>>(text: &str) -> Result<T, String> {
    text.trim()
        .parse()
        .map_err(|error: ParseIntError| match error.kind() {
            IntErrorKind::PosOverflow => "the number is too large".to_owned(),
            _ => "write a whole number such as 20".to_owned(),
        })
}

/// Parses `500M`, `2G`, `100000` as bytes, with units of 1024.
///
/// # Errors
/// A message that lists what is accepted.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a size; write 500M, 2G or a number of bytes");
    let trimmed = text
        .trim()
        .trim_end_matches(['B', 'b'])
        .trim_end_matches('i');
    let (number, shift) = match trimmed.chars().last() {
        Some('k' | 'K') => (&trimmed[..trimmed.len() - 1], 10),
        Some('m' | 'M') => (&trimmed[..trimmed.len() - 1], 20),
        Some('g' | 'G') => (&trimmed[..trimmed.len() - 1], 30),
        _ => (trimmed, 0),
    };
    let number: u64 = number.trim().parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

/// A metric, optionally with its own margin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MetricAndMargin {
    pub metric: Metric,
    pub margin: Option<f64>,
}

/// Refuses a metric that is given twice, because it would have two margins.
///
/// # Errors
/// [`Failure::Usage`].
pub(super) fn each_once(metrics: &[MetricAndMargin]) -> Result<(), Failure> {
    for (place, one) in metrics.iter().enumerate() {
        if metrics[..place]
            .iter()
            .any(|other| other.metric == one.metric)
        {
            return usage(format!("--metric {} is given twice", one.metric.name()));
        }
    }
    Ok(())
}

/// Parses `peak_memory` or `peak_memory=5%`.
pub(super) fn asked_metric(text: &str) -> Result<MetricAndMargin, String> {
    let (name, margin) = match text.split_once('=') {
        Some((name, margin)) => (name, Some(share(margin)?)),
        None => (text, None),
    };
    Ok(MetricAndMargin {
        metric: metric(name)?,
        margin,
    })
}

/// Finds a metric by its name.
///
/// # Errors
/// A list of the known names.
pub(super) fn metric(text: &str) -> Result<Metric, String> {
    let wanted = text.trim().replace('-', "_");
    let all = Metric::ALL.into_iter();
    all.clone()
        .find(|metric| metric.name() == wanted)
        .ok_or_else(|| {
            let names: Vec<&str> = all.map(Metric::name).collect();
            format!("no metric {text:?}; the metrics are {}", names.join(", "))
        })
}

/// Like [`whole`], but refuses 0.
///
/// # Errors
/// A message that lists what is accepted.
pub(super) fn at_least_one(text: &str) -> Result<u32, String> {
    match whole(text)? {
        0 => Err("zero measures nothing; give at least 1".to_owned()),
        number => Ok(number),
    }
}

/// Parses `1`, `0,2`, `0-3`.
///
/// # Errors
/// A message that lists what is accepted.
pub(super) fn cpus(text: &str) -> Result<Vec<usize>, String> {
    let wrong = || format!("{text:?} is not a list of CPUs; write 1, or 0,2, or 0-3");
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let number = |text: &str| {
            let cpu: usize = text.trim().parse().map_err(|_| wrong())?;
            if cpu < 4096 {
                Ok(cpu)
            } else {
                Err(format!("no CPU {cpu}"))
            }
        };
        match part.split_once('-') {
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                if first > last {
                    return Err(wrong());
                }
                cpus.extend(first..=last);
            }
            None => cpus.push(number(part)?),
        }
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_unit() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("60").unwrap_err(), "add its unit: 60s, or 60ms");
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert!(duration("0").is_err());
        assert!(duration("5 parsecs").unwrap_err().contains("parsecs"));
        assert!(duration("").is_err());
        assert!(duration("-3s").unwrap_err().contains("more than zero"));
        assert!(duration("1e300s").is_err());
    }

    #[test]
    fn whole_numbers_say_what_is_wrong() {
        assert_eq!(whole("20"), Ok(20u64));
        for wrong in ["abc", "1.5", "-1", ""] {
            assert_eq!(
                whole::<u32>(wrong).unwrap_err(),
                "write a whole number such as 20"
            );
        }
        assert!(
            whole::<u32>("99999999999")
                .unwrap_err()
                .contains("too large")
        );
        assert!(at_least_one("0").unwrap_err().contains("at least 1"));
    }

    #[test]
    fn shares_are_read_as_percent_or_fraction() {
        assert_eq!(share("1%"), Ok(0.01));
        assert_eq!(share("0.02"), Ok(0.02));
        assert!(share("0%").is_err());
        assert!(share("100%").is_err());
        assert!(share("-1%").unwrap_err().contains("more than 0"));
        assert!(share("nan").is_err());
        assert!(share("x").is_err());
    }

    #[test]
    fn sizes_have_units_of_1024() {
        assert_eq!(size("500M"), Ok(500 << 20));
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert_eq!(size("4096"), Ok(4096));
        assert!(size("many").unwrap_err().contains("500M"));
        assert!(size("99999999999G").is_err());
    }

    #[test]
    fn metrics_go_by_their_names() {
        assert_eq!(metric("peak_memory"), Ok(Metric::PeakMemory));
        assert_eq!(metric("write-calls"), Ok(Metric::WriteCalls));
        assert!(
            metric("speed")
                .unwrap_err()
                .contains("wall, cpu_wait_free,")
        );
    }

    #[test]
    fn cpu_lists_may_have_ranges() {
        assert_eq!(cpus("1"), Ok(vec![1]));
        assert_eq!(cpus("3,0-1"), Ok(vec![0, 1, 3]));
        assert!(cpus("2-1").is_err());
        assert!(cpus("a").is_err());
        assert!(cpus("99999999").is_err());
    }
}
