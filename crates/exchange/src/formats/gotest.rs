//! Text of `go test -bench`: `BenchmarkName/key=value-THREADS  N  VALUE UNIT  VALUE UNIT ...`.

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::lines;
use fathom_model::imported::Direction;

/// The maximum number of keys, which is more than any file of results has.
const MOST_KEYS: usize = 100;

pub(crate) fn can_read(head: &[u8]) -> bool {
    lines::of(head).take(10_000).any(|line| {
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let name = words
            .next()
            .is_some_and(|name| name.starts_with(b"Benchmark"));
        let count = words
            .next()
            .is_some_and(|word| word.iter().all(u8::is_ascii_digit));
        name && count && words.count() >= 2
    })
}

pub(crate) fn read(input: &mut dyn BufRead, out: &mut Collector) -> Result<(), Error> {
    let mut results = Results::default();
    lines::each(input, |line| {
        results.line(line, out);
        Ok(())
    })
}

/// Parser state, because the meaning of a line depends on the lines above; for example, `pkg:` applies until
/// the next one.
#[derive(Default)]
pub(crate) struct Results {
    package: String,
    /// `goos:`, `cpu:` and similar keys, each of which applies until it is written again.
    configuration: BTreeMap<String, String>,
    /// Where the samples of a name are stored: its units, in order, each with its series.
    known: HashMap<Vec<u8>, Vec<(String, usize)>>,
}

impl Results {
    pub(crate) fn package(&mut self, package: &str) {
        if self.package != package {
            package.clone_into(&mut self.package);
            self.known.clear();
        }
    }

    pub(crate) fn line(&mut self, line: &[u8], out: &mut Collector) {
        let line = line.trim_ascii();
        if line.starts_with(b"Benchmark") {
            if self.result(line, out).is_none() {
                out.left_out("lines", "a benchmark's name without a result");
            }
        } else if let Some((key, value)) = header(line) {
            match key {
                "pkg" => self.package(value),
                key => self.configure(key, value, out),
            }
        } else if let Some(unit) = line.strip_prefix(b"Unit ") {
            if describe(unit, out).is_none() {
                out.left_out("lines", "not results (PASS, ok, or text printed by a test)");
            }
        } else if let Some(rest) = line
            .strip_prefix(b"--- ")
            .filter(|rest| !rest.starts_with(b"BENCH"))
        {
            out.left_out(lines::shown(rest), "no result");
        } else if !line.is_empty() {
            out.left_out("lines", "not results (PASS, ok, or text printed by a test)");
        }
    }

    fn configure(&mut self, key: &str, value: &str, out: &mut Collector) {
        if self.configuration.get(key).is_some_and(|old| old == value) {
            return;
        }
        if self.configuration.len() >= MOST_KEYS && !self.configuration.contains_key(key) {
            out.left_out("environment", format!("more than {MOST_KEYS} keys"));
            return;
        }
        self.configuration.insert(key.to_owned(), value.to_owned());
        self.known.clear();
    }

    fn result(&mut self, line: &[u8], out: &mut Collector) -> Option<()> {
        let text = std::str::from_utf8(line).ok()?;
        let mut words = text.split_ascii_whitespace();
        let written = words.next()?;
        let iterations: u64 = words.next()?.parse().ok()?;
        let known = self.known.get(written.as_bytes());
        let mut places = Vec::new();
        let mut number = 0;
        while let Some(word) = words.next() {
            let (value, unit) = (word.parse().unwrap_or(f64::NAN), words.next()?);
            match known
                .and_then(|known| known.get(number))
                .filter(|(known, _)| known == unit)
            {
                Some((_, at)) => out.sample_at(*at, value, Some(iterations)),
                None => {
                    let measure = measure(written, unit, &self.package).under(&self.configuration);
                    let at = out.samples(measure, std::iter::empty(), &[]);
                    if let Some(at) = at {
                        out.sample_at(at, value, Some(iterations));
                        places.push((unit.to_owned(), at));
                    }
                }
            }
            number += 1;
        }
        if known.is_none() && !places.is_empty() {
            self.known.insert(written.as_bytes().to_vec(), places);
        }
        (number > 0).then_some(())
    }
}

/// Handles `widgets/s better=higher assume=exact` from Go's benchmark format.
fn describe(line: &[u8], out: &mut Collector) -> Option<()> {
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let unit = words.next()?;
    let (mut direction, mut exact) = (None, false);
    for word in words {
        match word.split_once('=')? {
            ("better", "higher") => direction = Some(Direction::HigherIsBetter),
            ("better", "lower") => direction = Some(Direction::LowerIsBetter),
            ("assume", assumed) => exact = assumed == "exact",
            _ => {}
        }
    }
    out.unit(unit, direction, exact);
    Some(())
}

fn header(line: &[u8]) -> Option<(&str, &str)> {
    let (key, value) = std::str::from_utf8(line).ok()?.split_once(": ")?;
    let plain = key
        .chars()
        .all(|char| char.is_ascii_lowercase() || char == '-' || char == '_');
    (plain && !key.is_empty()).then_some((key, value.trim()))
}

/// Returns the series for a name as written, and a unit.
pub(crate) fn measure(written: &str, unit: &str, package: &str) -> Measure {
    let (path, threads) = match written.rsplit_once('-') {
        Some((path, digits)) if digits.parse::<u64>().is_ok_and(|threads| threads > 0) => {
            (path, digits.parse().ok())
        }
        _ => (written, Some(1)),
    };
    let mut name = String::new();
    let mut parameters = BTreeMap::new();
    for (number, part) in path.split('/').enumerate() {
        match part
            .split_once('=')
            .filter(|(key, _)| number > 0 && !key.is_empty())
        {
            Some((key, value)) if !parameters.contains_key(key) => {
                parameters.insert(key.to_owned(), value.to_owned());
            }
            _ => {
                if number > 0 {
                    name.push('/');
                }
                name.push_str(part);
            }
        }
    }
    if !package.is_empty() {
        parameters.insert("pkg".to_owned(), package.to_owned());
    }
    let metric = if unit == "ns/op" || unit == "sec/op" {
        "wall"
    } else {
        unit
    };
    Measure::new(name, metric, unit)
        .with(&parameters)
        .threads(threads)
}
