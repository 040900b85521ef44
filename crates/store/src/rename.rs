//! Renames a benchmark and keeps its history.

use std::collections::{HashMap, HashSet};

use crate::database::{Cell, Database, Row};
use crate::read::{Since, points};
use crate::{Error, Store};

impl Store {
    /// Renames a benchmark. Its points continue under the new name. Points saved later under the old name (by
    /// an old branch's suite) join them. If a benchmark with the new name exists, the two are merged. Returns
    /// the number of series.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Rename`] if a record has both names, since they are then two benchmarks.
    pub fn rename(&mut self, old: &str, new: &str) -> Result<usize, Error> {
        self.writing(|database| rename(database, old, new))
    }

    /// Returns old names with their current names.
    ///
    /// # Errors
    /// Database errors.
    pub fn renamed(&mut self) -> Result<HashMap<String, String>, Error> {
        self.reading(aliases)
    }
}

/// Returns old names with their current names. A current name is never also an old one.
pub(crate) fn aliases(database: &mut dyn Database) -> Result<HashMap<String, String>, Error> {
    let rows = database.query("SELECT old, new FROM alias", &[])?;
    Ok(rows
        .into_iter()
        .map(|mut row| (row.text(), row.text()))
        .collect())
}

pub(crate) fn rename(database: &mut dyn Database, old: &str, new: &str) -> Result<usize, Error> {
    let refused = |why: &str| Error::Rename {
        old: old.to_owned(),
        new: new.to_owned(),
        why: why.to_owned(),
    };
    let known = aliases(database)?;
    let today = known.get(old).map_or(old, String::as_str);
    if today == new {
        return Err(refused("that is already its name"));
    }
    let series = series_of(database, today)?;
    if series.is_empty() {
        let what = format!("benchmark {old:?}");
        return Err(Error::NotFound {
            store: database.name().to_owned(),
            what,
        });
    }
    let mut there = series_of(database, new)?;
    for (name, (from, unit)) in &series {
        match there.remove(name) {
            None => {
                let cells = [new.into(), (*from).into()];
                database.query("UPDATE series SET benchmark = $1 WHERE id = $2", &cells)?;
            }
            Some((_, other)) if other != *unit => return Err(refused("their units differ")),
            Some((to, _)) => join(database, *from, to)?
                .then_some(())
                .ok_or_else(|| refused("one record contains both, so they are two benchmarks"))?,
        }
    }
    alias(database, today, new)?;
    Ok(series.len())
}

/// Records that `old` was renamed to `new`.
pub(crate) fn alias(database: &mut dyn Database, old: &str, new: &str) -> Result<(), Error> {
    database.query("DELETE FROM alias WHERE old = $1", &[new.into()])?; // `new` is in use again
    database.query(
        "UPDATE alias SET new = $1 WHERE new = $2",
        &[new.into(), old.into()],
    )?;
    let insert = "INSERT INTO alias (old, new) VALUES ($1, $2) ON CONFLICT (old) DO UPDATE SET new = excluded.new";
    database.query(insert, &[old.into(), new.into()]).map(drop)
}

type Within = (String, String);

/// Returns the series of a benchmark by parameters and metric, with their units.
fn series_of(
    database: &mut dyn Database,
    benchmark: &str,
) -> Result<HashMap<Within, (i64, String)>, Error> {
    let statement = "SELECT id, unit, parameters, metric FROM series WHERE benchmark = $1";
    let read = |mut row: Row| {
        let series = (row.int(), row.text());
        ((row.text(), row.text()), series)
    };
    Ok(database
        .query(statement, &[benchmark.into()])?
        .into_iter()
        .map(read)
        .collect())
}

/// Moves the points of one series to another. Returns false if a record has a point in both.
fn join(database: &mut dyn Database, from: i64, to: i64) -> Result<bool, Error> {
    let records: HashSet<i64> = points(database, to, &Since::Start)?
        .iter()
        .map(|p| p.record)
        .collect();
    if points(database, from, &Since::Start)?
        .iter()
        .any(|point| records.contains(&point.record))
    {
        return Ok(false);
    }
    let both: [Cell; 2] = [to.into(), from.into()];
    database.query("UPDATE tail SET series = $1 WHERE series = $2", &both)?;
    database.query("UPDATE chunk SET series = $1 WHERE series = $2", &both)?;
    database.query("DELETE FROM series WHERE id = $1", &both[1..])?;
    Ok(true)
}
