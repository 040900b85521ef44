//! Whole records take most of the space: 30 benchmarks with 30 runs each take about 60 kB, their points 40
//! bytes each. Pruning removes the runs; the metadata of the record and its points stay.

use crate::database::{Cell, Row, select_in};
use crate::records::{Head, NEWEST_FIRST, heads};
use crate::{Error, Store, date};

/// Selects the records to prune: those that meet all conditions. Start with the default, which keeps records
/// with a label.
#[derive(Debug, Clone, Copy, Default)]
pub struct Prune {
    /// Measured before this time, milliseconds since 1970.
    pub before: Option<i64>,
    /// Not among this number of newest records of the same command line.
    pub keep: Option<u32>,
    /// Also prune records with a label.
    pub labelled: bool,
}

impl Store {
    /// Returns the records to prune, oldest first, without changes. Returns none if neither age nor number is
    /// given.
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
