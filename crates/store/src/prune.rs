//! Pruning removes the runs of records; their metadata and points stay. Whole records take most of the space:
//! a record with 30 benchmarks of 30 runs each takes about 60 kB, and each of its points 40 bytes.

use crate::database::{Cell, Row, select_in};
use crate::records::{Head, NEWEST_FIRST, heads};
use crate::{Error, Store, date};

/// Selects the records to prune: those that meet all conditions. The default keeps records with a label.
#[derive(Debug, Clone, Copy, Default)]
pub struct Prune {
    /// Prune only records measured before this time, in milliseconds since 1970.
    pub before: Option<i64>,
    /// For each command line, keep this many of the newest records.
    pub keep: Option<u32>,
    /// Also prune records with a label.
    pub labelled: bool,
}

impl Store {
    /// Returns the records that would be pruned, oldest first. Returns no records if neither an age nor a
    /// number is given.
    ///
    /// # Errors
    /// Database errors.
    pub fn prunable(&mut self, which: &Prune) -> Result<Vec<Head>, Error> {
        if which.before.is_none() && which.keep.is_none() {
            return Ok(Vec::new());
        }
        let statement = format!(
            "SELECT id FROM (SELECT id, time, pruned, ROW_NUMBER() OVER
                 (PARTITION BY command ORDER BY {NEWEST_FIRST}) AS behind FROM record) AS placed
             WHERE pruned IS NULL AND time < $1 AND behind > $2 {}",
            if which.labelled {
                ""
            } else {
                "AND id NOT IN (SELECT record FROM label)"
            }
        );
        let cells = [
            which.before.unwrap_or(i64::MAX).into(),
            i64::from(which.keep.unwrap_or(0)).into(),
        ];
        self.reading(|database| {
            let found = database.query(&statement, &cells)?;
            let heads = heads(database, found.into_iter().map(|mut row: Row| row.int()))?;
            let mut heads: Vec<Head> = heads.into_values().collect();
            heads.sort_by_key(Head::order);
            Ok(heads)
        })
    }

    /// Removes the runs of these records and frees the space.
    ///
    /// # Errors
    /// Database errors.
    pub fn prune(&mut self, records: &[Head]) -> Result<(), Error> {
        let numbers: Vec<Cell> = records.iter().map(|head| head.number.into()).collect();
        let note = format!(
            "UPDATE record SET pruned = {} WHERE pruned IS NULL AND id",
            date::now()
        );
        self.writing(|database| {
            select_in(database, "DELETE FROM body WHERE record", &numbers, "")?;
            select_in(database, &note, &numbers, "").map(drop)
        })?;
        self.database.shrink()
    }
}
