//! Parses lists and limits as typed on the command line.

use std::time::Duration;

use fathom_conduct::serve::{Limit, Limited, Ramp};
use fathom_load::Rate;

use crate::cli::quantities;

/// Values of `--connections`.
#[derive(Debug, Clone)]
pub(crate) struct Connections(pub Vec<u32>);
/// Values of `--rate`.
#[derive(Debug, Clone)]
pub(crate) struct Rates(pub Vec<f64>);
/// Values of `--status`.
#[derive(Debug, Clone)]
pub(crate) struct Status(pub Vec<u16>);
/// Values of `--budget`.
#[derive(Debug, Clone)]
pub(crate) struct Budget(pub Vec<Limit>);

/// Maximum number of connections. A single address doesn't have enough ports for more.
const MOST_CONNECTIONS: u32 = 28_000;

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim)
}

/// Parses `1,16,64`; 0 means no connections.
///
/// # Errors
/// A message that says which values are accepted.
pub(super) fn connections(text: &str) -> Result<Connections, String> {
    let all: Result<Vec<u32>, String> = parts(text).map(quantities::whole).collect();
    let mut all = all.map_err(|_| "write connection counts such as 64, or 1,16,64".to_string())?;
    if let Some(many) = all.iter().find(|number| **number > MOST_CONNECTIONS) {
        return Err(format!(
            "{many} connections need more ports than one address has: give at most {MOST_CONNECTIONS}"
        ));
    }
    all.retain(|number| *number > 0);
    all.dedup();
    Ok(Connections(all))
}

/// Parses the number of threads of the generator.
///
/// # Errors
/// A message that says which values are accepted.
pub(super) fn threads(text: &str) -> Result<u32, String> {
    let threads: u32 = quantities::whole(text)?;
    let cpus = fathom_trace::allowed_cpus().len() as u32;
    match threads {
        0 => Err("the generator needs at least one thread".to_string()),
        1 => Ok(1),
        many if many < cpus => Ok(many),
        many => Err(format!(
            "{many} threads with a CPU each would leave none of the {cpus} CPUs for the servers: give at most {}",
            cpus.saturating_sub(1).max(1)
        )),
    }
}

/// Parses the number of concurrent requests on an HTTP/2 connection.
///
/// # Errors
/// A message that says which values are accepted.
pub(super) fn streams(text: &str) -> Result<u32, String> {
    let streams: u32 = quantities::whole(text)?;
    match streams {
        1..=1000 => Ok(streams),
        _ => Err("a connection can carry 1 to 1000 requests at a time".to_string()),
    }
}

/// Parses the length of a message, which must have room for a number.
///
/// # Errors
/// A message that says which values are accepted.
pub(super) fn message_bytes(text: &str) -> Result<usize, String> {
    let bytes: u32 = quantities::whole(text)?;
    match bytes {
        9..=1_048_576 => Ok(bytes as usize),
        _ => Err("a message can be 9 bytes to 1 MiB (1048576) long".to_string()),
    }
}

/// Parses `1000` or `500,1000`; 0 means no rates.
///
/// # Errors
/// A message that says which values are accepted.
pub(super) fn rates(text: &str) -> Result<Rates, String> {
    let wrong = || "write requests per second such as 1000, or 500,1000".to_string();
    let rate = |text: &str| {
        let number = text.strip_suffix("/s").unwrap_or(text);
        let rate: f64 = number.parse().map_err(|_| wrong())?;
        match (0.0..=10_000_000.0).contains(&rate) {
            true => Ok(rate),
            false => Err(wrong()),
        }
    };
    let all: Result<Vec<f64>, String> = parts(text).map(rate).collect();
    let mut all = all?;
    all.retain(|rate| *rate > 0.0);
    Ok(Rates(all))
}

/// Parses `100..5000/30s`: from a rate to a higher one, over a duration.
///
/// # Errors
/// A message that says which values are accepted.
pub(super) fn ramp(text: &str) -> Result<Ramp, String> {
    const SHORTEST: Duration = Duration::from_secs(3);
    let wrong =
        || format!("{text:?} is not a ramp; write two rates and a duration, such as 100..5000/30s");
    let (range, time) = text.rsplit_once('/').ok_or_else(wrong)?;
    let (from, to) = range.split_once("..").ok_or_else(wrong)?;
    let rate = |text: &str| {
        let rate: Option<f64> = text.trim().parse().ok();
        let rate = rate.filter(|rate| (0.0..=10_000_000.0).contains(rate));
        rate.ok_or_else(wrong)
    };
    let rate = Rate {
        from: rate(from)?,
        to: rate(to)?,
    };
    if rate.from >= rate.to {
        return Err(format!(
            "the rate in {text:?} does not increase; write the lower rate first"
        ));
    }
    let length = quantities::duration(time)?;
    match length >= SHORTEST {
        true => Ok(Ramp { rate, length }),
        false => Err("a ramp must last at least 3 s: it is evaluated second by second".to_owned()),
    }
}

/// Parses `200` or `200,204`.
///
/// # Errors
/// A message that says which values are accepted.
pub(super) fn status(text: &str) -> Result<Status, String> {
    let code = |text: &str| {
        let code: Option<u16> = text.parse().ok();
        code.filter(|code| (200..600).contains(code))
            .ok_or_else(|| "write status codes such as 200, or 200,204".to_string())
    };
    let all: Result<Vec<u16>, String> = parts(text).map(code).collect();
    all.map(Status)
}

/// Parses `p99<5ms`: a percentile of the response time.
///
/// # Errors
/// A message that says which values are accepted.
pub(super) fn response_limit(text: &str) -> Result<Limit, String> {
    let limit = limit(text)?;
    match limit.of {
        Limited::Response(_) => Ok(limit),
        _ => Err(
            "write a percentile of the response time and its limit, such as 'p99<5ms'".to_string(),
        ),
    }
}

/// Parses `p99=2ms,errors=0`.
///
/// # Errors
/// A message that says which values are accepted.
pub(super) fn budget(text: &str) -> Result<Budget, String> {
    let all: Result<Vec<Limit>, String> = parts(text).map(limit).collect();
    all.map(Budget)
}

fn limit(text: &str) -> Result<Limit, String> {
    let wrong = || {
        format!(
            "{text:?} is not a limit; write p99=2ms, max=20ms, errors=0, ready=50ms or cpu=30us"
        )
    };
    let (name, value) = text.split_once(['=', '<']).ok_or_else(wrong)?;
    let of = match name.trim() {
        "p50" => Limited::Response(0.5),
        "p90" => Limited::Response(0.9),
        "p95" => Limited::Response(0.95),
        "p99" => Limited::Response(0.99),
        "p99.9" | "p999" => Limited::Response(0.999),
        "max" => Limited::Response(1.0),
        "errors" => Limited::Errors,
        "ready" => Limited::Ready,
        "cpu" => Limited::Cpu,
        _ => return Err(wrong()),
    };
    let value = value.trim_start_matches('=').trim();
    let most = match of {
        Limited::Errors => f64::from(quantities::whole::<u32>(value).map_err(|_| wrong())?),
        Limited::Cpu => quantities::duration(value)?.as_secs_f64() * 1e6,
        Limited::Response(_) | Limited::Ready => quantities::duration(value)?.as_secs_f64() * 1e3,
    };
    Ok(Limit {
        text: text.to_string(),
        of,
        most,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_0_is_none() {
        assert_eq!(connections("1,16, 64").unwrap().0, [1, 16, 64]);
        assert!(connections("0").unwrap().0.is_empty());
        assert!(connections("x").unwrap_err().contains("1,16,64"));
        assert!(connections("99999").unwrap_err().contains("ports"));
        assert_eq!(rates("500/s,1e3").unwrap().0, [500.0, 1000.0]);
        assert!(rates("0").unwrap().0.is_empty());
        assert!(rates("nan").is_err() && rates("-1").is_err());
        let found = ramp("100..5e3/30s").unwrap();
        assert_eq!((found.rate.from, found.rate.to), (100.0, 5000.0));
        assert_eq!(found.length, Duration::from_secs(30));
        assert!(ramp("0..10/1m").is_ok());
        for (text, said) in [
            ("100-200/30s", "100..5000/30s"),
            ("100..200", "100..5000/30s"),
            ("200..100/30s", "does not increase"),
            ("x..100/30s", "is not a ramp"),
            ("1..100/30", "unit"),
            ("1..100/2s", "at least 3 s"),
        ] {
            let error = ramp(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
        assert_eq!(status("200,204").unwrap().0, [200, 204]);
        assert!(status("99").is_err());
    }

    #[test]
    fn limits_have_their_unit() {
        assert_eq!(budget("p95=2ms").unwrap().0[0].of, Limited::Response(0.95));
        let all = budget("p99=2ms,errors=0,cpu<30us, max = 1s").unwrap().0;
        let most: Vec<f64> = all.iter().map(|limit| limit.most).collect();
        assert_eq!(most, [2.0, 0.0, 30.0, 1000.0]);
        assert_eq!(all[0].of, Limited::Response(0.99));
        assert!(budget("p99=2").unwrap_err().contains("unit"));
        assert!(budget("p98=2ms").unwrap_err().contains("p99=2ms"));
        assert!(
            response_limit("errors=0")
                .unwrap_err()
                .contains("'p99<5ms'")
        );
        assert_eq!(response_limit("p99<=5ms").unwrap().most, 5.0);
    }
}
