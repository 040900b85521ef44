//! Saves a record, its labels and its points, all of them or nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::chunk;
use crate::database::{Cell, Database, insert, select_in};
use crate::read::tail_of;
use crate::records::label;
use crate::rename::aliases;
use crate::{Draft, Error, NewPoint, Point, Segment, Store, date};

/// A series is checked after about every 64th new point. The choice is random, so that 450 series are not
/// sealed in the same save. At least 448 points, usually 512, are then sealed together.
const LOOK_EVERY: u64 = 64;
const SEALED: usize = 448;
/// Maximum number of points in a chunk: reading a few of them requires decoding all.
const LARGEST: usize = 1024;

/// Result of saving.
#[derive(Debug, Clone, PartialEq)]
pub struct Saved {
    /// The record's id.
    pub id: String,
    /// False if the store already had the record. In this case, only its labels were added.
    pub new: bool,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// A possible problem in saved data.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Warning {
    /// The clock is earlier than the time of a record already saved in the same environment. A record that
    /// merely started earlier is not a problem, since measurements may overlap.
    #[error(
        "the clock was set back: it shows {}, but a record saved earlier is dated {}. This record is kept and \
         sorted after that one; set the clock (`timedatectl`) before you measure again",
        date::text(*.now), date::text(*.before)
    )]
    ClockJumpedBack {
        /// Time when this record was saved.
        now: i64,
        /// Time of the other record.
        before: i64,
    },
}

impl Store {
    /// Saves a record. It is durable when this returns.
    ///
    /// # Errors
    /// Database errors; in this case nothing is saved. [`crate::save_or_keep`] writes the record to a file
    /// instead.
    pub fn save(&mut self, draft: &Draft) -> Result<Saved, Error> {
        let mut saved = self.save_all(std::slice::from_ref(draft))?;
        Ok(saved.remove(0))
    }

    /// Saves records in one transaction, all of them or none.
    ///
    /// # Errors
    /// Database errors.
    pub fn save_all(&mut self, drafts: &[Draft]) -> Result<Vec<Saved>, Error> {
        // Packing takes longer than writing, so it is done before the transaction, while others can write.
        let packed: Vec<Vec<u8>> = drafts
            .iter()
            .map(|draft| chunk::pack(draft.text.as_bytes()))
            .collect();
        self.writing(|database| {
            let mut keys = Keys::new(database)?;
            let mut saved = Vec::new();
            let mut new: BTreeMap<i64, Vec<Point>> = BTreeMap::new();
            for (draft, packed) in drafts.iter().zip(packed) {
                let environment = environment(database, &draft.segment)?;
                let (record, turn, one) = record(database, draft, environment, packed)?;
                if one.new {
                    let at = Point {
                        time: turn,
                        place: draft.committed.unwrap_or(turn),
                        record,
                        environment,
                        runs: 0,
                        value: 0.0,
                        low: 0.0,
                        high: 0.0,
                    };
                    let series = keys.of(database, &draft.points)?;
                    for (point, key) in draft.points.iter().zip(series) {
                        let points = new.entry(key).or_default();
                        // If two benchmarks of a record were renamed to the same name, keep the first one.
                        if points.last().is_none_or(|last| last.record != record) {
                            points.push(with_figure(at, point));
                        }
                    }
                }
                saved.push(one);
            }
            for key in write(database, new)? {
                seal(database, key)?;
            }
            Ok(saved)
        })
    }
}

/// Returns the number of a segment. Creates the segment if it has no measurements yet.
fn environment(database: &mut dyn Database, segment: &Segment) -> Result<i64, Error> {
    let key = [
        Cell::from(segment.key.as_str()),
        Cell::from(segment.facts.to_string().as_str()),
    ];
    let insert =
        "INSERT INTO environment (key, facts) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING";
    database.query(insert, &key)?;
    let rows = database.query("SELECT id FROM environment WHERE key = $1", &key[..1])?;
    Ok(rows.into_iter().next().map_or(0, |mut row| row.int()))
}

/// Returns the time by which a record is ordered (its turn), and a warning if the clock disagrees. A new
/// record is never ordered before the existing records of its environment.
fn turn(
    database: &mut dyn Database,
    draft: &Draft,
    environment: i64,
) -> Result<(i64, Option<Warning>), Error> {
    let newest = "SELECT MAX(newest) FROM (
             SELECT MAX(time) AS newest FROM record WHERE environment = $1
             UNION ALL SELECT MAX(turn) FROM record WHERE environment = $1 AND turn IS NOT NULL) AS both_kinds";
    let newest = database.query(newest, &[environment.into()])?;
    let newest = newest
        .into_iter()
        .next()
        .and_then(|mut row| row.maybe_int());
    let now = date::now();
    let ahead = newest.filter(|newest| *newest > now);
    let set_back = ahead.map(|before| Warning::ClockJumpedBack { now, before });
    let turn = match draft.is_new {
        true => newest.map_or(draft.time, |newest| newest.max(draft.time)),
        false => draft.turn.unwrap_or(draft.time),
    };
    Ok((turn, set_back))
}

/// Saves a record unless it exists. Returns its number, its turn and the result.
fn record(
    database: &mut dyn Database,
    draft: &Draft,
    environment: i64,
    packed: Vec<u8>,
) -> Result<(i64, i64, Saved), Error> {
    let id = draft.id();
    let known = database.query(
        "SELECT id FROM record WHERE hash = $1",
        &[id.as_str().into()],
    )?;
    if let Some(mut row) = known.into_iter().next() {
        let record = row.int();
        label(database, record, &draft.labels)?;
        return Ok((
            record,
            draft.time,
            Saved {
                id,
                new: false,
                warnings: Vec::new(),
            },
        ));
    }
    let (turn, set_back) = turn(database, draft, environment)?;
    let revision = draft.revision.as_ref();
    let cells = [
        id.as_str().into(),
        draft.kind.as_str().into(),
        draft.time.into(),
        environment.into(),
        revision.map(|revision| revision.id.as_str()).into(),
        revision
            .and_then(|revision| revision.branch.as_deref())
            .into(),
        i64::from(revision.is_some_and(|revision| revision.dirty)).into(),
        draft.command.as_str().into(),
        serde_json::to_string(&draft.inputs)
            .expect("texts are JSON")
            .as_str()
            .into(),
        draft.seed.map(|seed| seed.to_string()).as_deref().into(),
        draft.fathom_version.as_str().into(),
        draft.committed.into(),
        Some(turn).filter(|turn| *turn != draft.time).into(),
    ];
    let rows = database.query(
        "INSERT INTO record (hash, kind, time, environment, revision, branch, dirty, command, inputs, seed,
             fathom_version, place, turn)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING id",
        &cells,
    )?;
    let record = rows.into_iter().next().map_or(0, |mut row| row.int());
    match &draft.pruned {
        None => {
            let body = [record.into(), Cell::Bytes(packed)];
            database.query("INSERT INTO body (record, packed) VALUES ($1, $2)", &body)?;
        }
        Some(pruned) => {
            let cells = [pruned.at.into(), record.into()];
            database.query("UPDATE record SET pruned = $1 WHERE id = $2", &cells)?;
        }
    }
    label(database, record, &draft.labels)?;
    Ok((
        record,
        turn,
        Saved {
            id,
            new: true,
            warnings: Vec::from_iter(set_back),
        },
    ))
}

fn with_figure(at: Point, point: &NewPoint) -> Point {
    Point {
        runs: point.runs,
        value: point.value,
        low: point.low,
        high: point.high,
        ..at
    }
}

/// Writes points by series. They go to the tails or, if there are enough for chunks (from a large bundle),
/// directly to sealed chunks, since points in a tail are written, read and deleted again. Returns the series
/// whose tails must be checked.
fn write(database: &mut dyn Database, new: BTreeMap<i64, Vec<Point>>) -> Result<Vec<i64>, Error> {
    let mut cells: Vec<Cell> = Vec::new();
    let mut touched = Vec::new();
    for (series, points) in new {
        if points.len() >= SEALED {
            seal_points(database, series, points)?;
            continue;
        }
        let looked_at = |point: &Point| {
            let mixed = (point.record ^ (series << 20))
                .unsigned_abs()
                .wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed >> 32).is_multiple_of(LOOK_EVERY)
        };
        if points.len() as u64 >= LOOK_EVERY || points.iter().any(looked_at) {
            touched.push(series);
        }
        for point in points {
            cells.extend([
                series.into(),
                point.record.into(),
                point.environment.into(),
                point.time.into(),
            ]);
            cells.extend([point.value.into(), point.low.into(), point.high.into()]);
            let place = Some(point.place).filter(|place| *place != point.time);
            cells.extend([i64::from(point.runs).into(), place.into()]);
        }
    }
    let head =
        "INSERT INTO tail (series, record, environment, time, value, low, high, runs, place)";
    insert(database, head, 9, &cells, "ON CONFLICT DO NOTHING")?;
    Ok(touched)
}

type Name = (String, String, String);

/// The numbers and units of series, by name, for the duration of one transaction.
struct Keys {
    known: HashMap<Name, (i64, String)>,
    aliases: HashMap<String, String>,
}

impl Keys {
    fn new(database: &mut dyn Database) -> Result<Keys, Error> {
        Ok(Keys {
            known: HashMap::new(),
            aliases: aliases(database)?,
        })
    }

    /// Returns the series of a point, by the name in its record.
    fn name(&self, point: &NewPoint) -> Name {
        let benchmark = self
            .aliases
            .get(&point.benchmark)
            .unwrap_or(&point.benchmark);
        let parameters = serde_json::to_string(&point.parameters).expect("texts are JSON");
        (benchmark.clone(), parameters, point.metric.clone())
    }

    /// Returns the name for a point whose unit differs from the unit of its series. Values of two units can't
    /// be ordered, so the point belongs to a separate series.
    fn name_with_unit(&self, point: &NewPoint) -> Name {
        let mut apart = point.clone();
        apart
            .parameters
            .push(("unit".to_owned(), point.unit.clone()));
        self.name(&apart)
    }

    /// Returns the name of each point's series. In a new series, the first point determines the unit.
    fn names(&self, points: &[NewPoint], named: Vec<Name>) -> Vec<Name> {
        let mut new: HashMap<Name, &str> = HashMap::new();
        let mut names = Vec::with_capacity(points.len());
        for (point, name) in points.iter().zip(named) {
            let unit: &str = match self.known.get(&name) {
                Some((_, unit)) => unit,
                None => new.entry(name.clone()).or_insert(&point.unit),
            };
            names.push(match unit == point.unit {
                true => name,
                false => self.name_with_unit(point),
            });
        }
        names
    }

    /// Returns the number of each point's series. Creates the series that are new.
    fn of(&mut self, database: &mut dyn Database, points: &[NewPoint]) -> Result<Vec<i64>, Error> {
        let named: Vec<Name> = points.iter().map(|point| self.name(point)).collect();
        self.look_up(database, &named)?;
        let names = self.names(points, named);
        let mut cells = Vec::new();
        for (point, name) in points.iter().zip(&names) {
            if !self.known.contains_key(name) {
                cells.extend([&name.0, &name.1, &name.2].map(|text| Cell::from(text.as_str())));
                cells.extend([
                    point.unit.as_str().into(),
                    point.direction.as_deref().into(),
                ]);
                cells.push(point.meaning.as_str().into());
            }
        }
        if !cells.is_empty() {
            let head =
                "INSERT INTO series (benchmark, parameters, metric, unit, direction, meaning)";
            insert(database, head, 6, &cells, "ON CONFLICT DO NOTHING")?;
            self.look_up(database, &names)?;
        }
        let number = |name: &Name| {
            let missing = || Error::Damaged {
                store: database.name().to_owned(),
                what: format!("the series {:?} can't be created", name.0),
            };
            self.known
                .get(name)
                .map(|known| known.0)
                .ok_or_else(missing)
        };
        names.iter().map(number).collect()
    }

    fn look_up(&mut self, database: &mut dyn Database, names: &[Name]) -> Result<(), Error> {
        let missing = names.iter().filter(|name| !self.known.contains_key(*name));
        let missing: BTreeSet<&str> = missing.map(|name| name.0.as_str()).collect();
        let cells: Vec<Cell> = missing.into_iter().map(Cell::from).collect();
        let head = "SELECT id, benchmark, parameters, metric, unit FROM series WHERE benchmark";
        for mut row in select_in(database, head, &cells, "")? {
            let key = row.int();
            let name = (row.text(), row.text(), row.text());
            self.known.insert(name, (key, row.text()));
        }
        Ok(())
    }
}

/// Moves a tail that is long enough to chunks, one or more for each segment.
pub(crate) fn seal(database: &mut dyn Database, series: i64) -> Result<(), Error> {
    let tail = tail_of(database, series)?;
    if tail.len() < SEALED {
        return Ok(());
    }
    seal_points(database, series, tail)?;
    database.query("DELETE FROM tail WHERE series = $1", &[series.into()])?;
    Ok(())
}

/// Writes points to chunks, one or more for each segment.
fn seal_points(database: &mut dyn Database, series: i64, points: Vec<Point>) -> Result<(), Error> {
    let mut segments: BTreeMap<i64, Vec<Point>> = BTreeMap::new();
    for point in points {
        segments.entry(point.environment).or_default().push(point);
    }
    for (environment, mut points) in segments {
        points.sort_by_key(Point::order);
        let chunks = points.len().div_ceil(LARGEST);
        for points in points.chunks(points.len().div_ceil(chunks)) {
            let last = points.iter().map(|point| point.time).max().unwrap_or(0);
            let place = points.last().map_or(0, |point| point.place);
            let cells = [
                series.into(),
                environment.into(),
                last.into(),
                (points.len() as i64).into(),
                Cell::Bytes(chunk::seal(points)),
                place.into(),
            ];
            database.query(
                "INSERT INTO chunk (series, environment, last, points, packed, place) VALUES ($1, $2, $3, $4, $5, $6)",
                &cells,
            )?;
        }
    }
    Ok(())
}
