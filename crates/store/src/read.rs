//! Series and their points.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use crate::chunk;
use crate::database::{Cell, Database, Row, select_in};
use crate::records::{Head, heads};
use crate::rename::aliases;
use crate::{Error, Point, Store};

/// One metric of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The number of the series in this store.
    pub number: i64,
    /// Name of the benchmark.
    pub benchmark: String,
    /// The benchmark's parameters: names and values.
    pub parameters: Vec<(String, String)>,
    /// Name of the metric.
    pub metric: String,
    /// Unit of the values.
    pub unit: String,
    /// `lower_is_better` or `higher_is_better`, if known.
    pub direction: Option<String>,
    /// Description of the metric.
    pub meaning: String,
    /// The newest points, oldest first; their number is the one that was requested.
    pub last: Vec<Point>,
}

/// A point with its record.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryPoint {
    /// The figure.
    pub point: Point,
    /// The record.
    pub record: Head,
}

/// Selects series.
#[derive(Debug, Clone, Default)]
pub struct SeriesFilter {
    /// Names of benchmarks, old or new; `*` matches any characters. If empty, all benchmarks.
    pub benchmarks: Vec<String>,
    /// Name of the metric; `None` for all.
    pub metric: Option<String>,
}

/// Which points are selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Since {
    /// All points.
    Start,
    /// Points measured at this time or later, milliseconds since 1970 ([`crate::date::parse`]).
    Time(i64),
    /// Points of one of these revisions, measured at any time ([`crate::git::since`]).
    Revisions(HashSet<String>),
}

impl Store {
    /// Returns series, sorted by name, each with its `last` newest points.
    ///
    /// # Errors
    /// Database errors.
    pub fn series(&mut self, filter: &SeriesFilter, last: usize) -> Result<Vec<Series>, Error> {
        self.reading(|database| {
            let mut found = list(database, filter)?;
            if last > 0 {
                let numbers: Vec<i64> = found.iter().map(|series| series.number).collect();
                let mut points = newest(database, &numbers, last)?;
                for series in &mut found {
                    series.last = points.remove(&series.number).unwrap_or_default();
                }
            }
            Ok(found)
        })
    }

    /// Returns the `last` newest points of each of these series, oldest first.
    ///
    /// # Errors
    /// Database errors.
    pub fn newest(
        &mut self,
        series: &[i64],
        last: usize,
    ) -> Result<HashMap<i64, Vec<Point>>, Error> {
        self.reading(|database| newest(database, series, last))
    }

    /// Returns the [`Point::place`] of the newest point of each series that has points.
    ///
    /// # Errors
    /// Database errors.
    pub fn last_places(&mut self, series: &[i64]) -> Result<HashMap<i64, i64>, Error> {
        self.reading(|database| last_places(database, series))
    }

    /// Returns the points of several series, each in its order ([`Point::order`]).
    ///
    /// # Errors
    /// Database errors.
    pub fn points_of(
        &mut self,
        series: &[i64],
        since: &Since,
    ) -> Result<HashMap<i64, Vec<Point>>, Error> {
        self.reading(|database| points_of(database, series, since))
    }

    /// Returns the heads of records, by their numbers.
    ///
    /// # Errors
    /// Database errors.
    pub fn heads(
        &mut self,
        numbers: impl Iterator<Item = i64>,
    ) -> Result<HashMap<i64, Head>, Error> {
        self.reading(|database| heads(database, numbers))
    }

    /// Returns the points of a series in their order ([`Point::order`]).
    ///
    /// # Errors
    /// Database errors.
    pub fn points(&mut self, series: i64, since: &Since) -> Result<Vec<Point>, Error> {
        self.reading(|database| points(database, series, since))
    }

    /// Returns the points of a series with their records.
    ///
    /// # Errors
    /// Database errors.
    pub fn history(&mut self, series: i64, since: &Since) -> Result<Vec<HistoryPoint>, Error> {
        self.reading(|database| {
            let points = points(database, series, since)?;
            let mut records = heads(database, points.iter().map(|point| point.record))?;
            let with_record = |point: Point| {
                Some(HistoryPoint {
                    point,
                    record: records.remove(&point.record)?,
                })
            };
            Ok(points.into_iter().filter_map(with_record).collect())
        })
    }

    /// Returns the facts of all environments, by number.
    ///
    /// # Errors
    /// Database errors.
    pub fn environments(&mut self) -> Result<BTreeMap<i64, Value>, Error> {
        let facts = |row: &mut Row| serde_json::from_str(&row.text()).unwrap_or(Value::Null);
        self.reading(|database| {
            let rows = database.query("SELECT id, facts FROM environment", &[])?;
            Ok(rows
                .into_iter()
                .map(|mut row| (row.int(), facts(&mut row)))
                .collect())
        })
    }
}

pub(crate) fn list(
    database: &mut dyn Database,
    filter: &SeriesFilter,
) -> Result<Vec<Series>, Error> {
    let aliases = match filter.benchmarks.is_empty() {
        true => HashMap::new(),
        false => aliases(database)?,
    };
    let names: Vec<&str> = filter
        .benchmarks
        .iter()
        .map(|name| aliases.get(name).unwrap_or(name).as_str())
        .collect();
    let wanted = |series: &Series| {
        let named = names.is_empty() || names.iter().any(|name| fits(name, &series.benchmark));
        named
            && filter
                .metric
                .as_ref()
                .is_none_or(|metric| *metric == series.metric)
    };
    let all = "SELECT id, benchmark, parameters, metric, unit, direction, meaning FROM series ORDER BY id";
    let read = |mut row: Row| Series {
        number: row.int(),
        benchmark: row.text(),
        parameters: serde_json::from_str(&row.text()).unwrap_or_default(),
        metric: row.text(),
        unit: row.text(),
        direction: row.maybe_text(),
        meaning: row.text(),
        last: Vec::new(),
    };
    Ok(database
        .query(all, &[])?
        .into_iter()
        .map(read)
        .filter(wanted)
        .collect())
}

/// Returns whether a name matches a pattern in which `*` matches any characters. A name that equals the
/// pattern always matches, even if it contains stars.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return pattern == name,
        }
    }
    rest.ends_with(last) || pattern == name
}

const TAIL: &str =
    "record, environment, time, COALESCE(place, time) AS place, value, low, high, runs";

fn point(row: &mut Row) -> Point {
    Point {
        record: row.int(),
        environment: row.int(),
        time: row.int(),
        place: row.int(),
        value: row.real(),
        low: row.real(),
        high: row.real(),
        runs: row.int() as u32,
    }
}

/// Returns the unsealed points, in no particular order.
pub(crate) fn tail_of(database: &mut dyn Database, series: i64) -> Result<Vec<Point>, Error> {
    let statement = format!("SELECT {TAIL} FROM tail WHERE series = $1");
    let rows = database.query(&statement, &[series.into()])?;
    Ok(rows.into_iter().map(|mut row| point(&mut row)).collect())
}

/// Returns the newest points of each series. It uses one statement for all tails and one for the places of
/// all chunks. After that, it reads the next chunk of every series that needs more points, one statement at a
/// time for all of them; usually one is enough. A statement for each series took 10 ms over a network.
fn newest(
    database: &mut dyn Database,
    series: &[i64],
    last: usize,
) -> Result<HashMap<i64, Vec<Point>>, Error> {
    let keys: Vec<Cell> = series.iter().map(|number| (*number).into()).collect();
    let tails = format!(
        "SELECT series, {TAIL} FROM (SELECT series, {TAIL}, ROW_NUMBER() OVER
             (PARTITION BY series ORDER BY COALESCE(place, time) DESC, time DESC, record DESC) AS behind
             FROM tail WHERE series"
    );
    let mut found: HashMap<i64, Vec<Point>> = HashMap::new();
    let end = format!(") AS placed WHERE behind <= {last}");
    for mut row in select_in(database, &tails, &keys, &end)? {
        found.entry(row.int()).or_default().push(point(&mut row));
    }
    // The chunks of each series that were not opened yet, the newest last.
    let mut closed: HashMap<i64, Vec<(i64, i64)>> = HashMap::new();
    let places = "SELECT series, COALESCE(place, last) AS newest, id FROM chunk WHERE series";
    for mut row in select_in(database, places, &keys, "ORDER BY newest")? {
        let chunks = closed.entry(row.int()).or_default();
        chunks.push((row.int(), row.int()));
    }
    loop {
        let mut wanted: Vec<Cell> = Vec::new();
        for (series, chunks) in &mut closed {
            let points = found.entry(*series).or_default();
            points.sort_by_key(|point| std::cmp::Reverse(point.order()));
            points.truncate(last);
            let Some((newest, chunk)) = chunks.pop() else {
                continue;
            };
            // No remaining chunk can contain a newer point.
            match points
                .get(last - 1)
                .is_some_and(|point| point.place > newest)
            {
                true => chunks.clear(),
                false => wanted.push(chunk.into()),
            }
        }
        if wanted.is_empty() {
            break;
        }
        let packed = "SELECT series, environment, packed FROM chunk WHERE id";
        for mut row in select_in(database, packed, &wanted, "")? {
            let series = row.int();
            let points = opened(database, row, series)?;
            found.entry(series).or_default().extend(points);
        }
    }
    for points in found.values_mut() {
        points.sort_by_key(Point::order);
    }
    Ok(found)
}

fn last_places(database: &mut dyn Database, series: &[i64]) -> Result<HashMap<i64, i64>, Error> {
    let keys: Vec<Cell> = series.iter().map(|number| (*number).into()).collect();
    let mut found: HashMap<i64, i64> = HashMap::new();
    for (table, time) in [("tail", "time"), ("chunk", "last")] {
        let head = format!("SELECT series, MAX(COALESCE(place, {time})) FROM {table} WHERE series");
        for mut row in select_in(database, &head, &keys, "GROUP BY series")? {
            let (series, place) = (row.int(), row.int());
            let newest = found.entry(series).or_insert(place);
            *newest = place.max(*newest);
        }
    }
    Ok(found)
}

fn opened(database: &dyn Database, mut row: Row, series: i64) -> Result<Vec<Point>, Error> {
    let environment = row.int();
    chunk::open(&row.blob(), environment).ok_or_else(|| Error::Damaged {
        store: database.name().to_owned(),
        what: format!("sealed points of series {series}"),
    })
}

/// Returns the points of one series in their order.
pub(crate) fn points(
    database: &mut dyn Database,
    series: i64,
    since: &Since,
) -> Result<Vec<Point>, Error> {
    let mut found = points_of(database, &[series], since)?;
    Ok(found.remove(&series).unwrap_or_default())
}

/// Returns the points of several series, each in its order.
fn points_of(
    database: &mut dyn Database,
    series: &[i64],
    since: &Since,
) -> Result<HashMap<i64, Vec<Point>>, Error> {
    let keys: Vec<Cell> = series.iter().map(|number| (*number).into()).collect();
    let (from, sealed) = match since {
        Since::Time(from) => (*from, format!("AND last >= {from}")),
        _ => (i64::MIN, String::new()),
    };
    let mut found: HashMap<i64, Vec<Point>> = HashMap::new();
    let tails = format!("SELECT series, {TAIL} FROM tail WHERE series");
    for mut row in select_in(database, &tails, &keys, "")? {
        found.entry(row.int()).or_default().push(point(&mut row));
    }
    let chunks = "SELECT series, environment, packed FROM chunk WHERE series";
    for mut row in select_in(database, chunks, &keys, &sealed)? {
        let series = row.int();
        let points = opened(database, row, series)?;
        found.entry(series).or_default().extend(points);
    }
    let of_these = match since {
        Since::Revisions(revisions) => Some(records_of(database, revisions)?),
        _ => None,
    };
    for points in found.values_mut() {
        points.retain(|point| {
            let wanted = of_these
                .as_ref()
                .is_none_or(|of| of.contains(&point.record));
            wanted && point.time >= from
        });
        points.sort_by_key(Point::order);
    }
    Ok(found)
}

fn records_of(
    database: &mut dyn Database,
    revisions: &HashSet<String>,
) -> Result<HashSet<i64>, Error> {
    let cells: Vec<Cell> = revisions.iter().map(|id| id.as_str().into()).collect();
    let rows = select_in(database, "SELECT id FROM record WHERE revision", &cells, "")?;
    Ok(rows.into_iter().map(|mut row| row.int()).collect())
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars_stand_for_any_letters() {
        for (pattern, name, expected) in [
            ("seq 10", "seq 10", true),
            ("seq", "seq 10", false),
            ("seq*", "seq 10", true),
            ("*10", "seq 10", true),
            ("s*q*0", "seq 10", true),
            ("s*x*0", "seq 10", false),
            ("*", "", true),
            ("ab*ba", "aba", false),
            ("ls *.rs", "ls *.rs", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
