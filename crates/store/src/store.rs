//! An open store.

use std::time::Duration;

use crate::database::{Access, Database, in_transaction};
use crate::postgresql::{self, address};
use crate::{Error, Location, form, sqlite, variables};

/// Options for opening a store.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Maximum time that a writer waits for the previous writer.
    pub wait: Duration,
    /// Whether to create the store if it doesn't exist; false for read-only verbs.
    pub create: bool,
}

impl Default for Options {
    fn default() -> Options {
        // A save takes about 30 ms, so a longer wait means a queue of a thousand saves, or a process that
        // hangs.
        Options {
            wait: Duration::from_secs(30),
            create: true,
        }
    }
}

/// An open store. Many processes may open the same store at once. Each change is atomic, and durable when its
/// function returns.
pub struct Store {
    pub(crate) database: Box<dyn Database>,
}

/// Contents of a store.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// The store, without its password.
    pub store: String,
    /// The store's schema version.
    pub form: i64,
    /// Number of records.
    pub records: i64,
    /// Number of records whose runs were pruned.
    pub pruned: i64,
    /// Times of the oldest and the newest record, milliseconds since 1970; `None` in an empty store.
    pub span: Option<(i64, i64)>,
    /// Number of series.
    pub series: i64,
    /// Number of points of all series.
    pub points: i64,
    /// Number of environments.
    pub environments: i64,
    /// Number of labels in use.
    pub labels: i64,
    /// Renamed benchmarks: old name, new name.
    pub renamed: Vec<(String, String)>,
    /// Total bytes.
    pub bytes: u64,
    /// Bytes of whole records.
    pub record_bytes: i64,
    /// Bytes of points: exact for sealed points, the usual 65 bytes for each other point.
    pub point_bytes: i64,
}

impl Store {
    /// Opens or creates a store, and migrates an older one to the newest schema version.
    ///
    /// # Errors
    /// Any [`Error`] of a store.
    pub fn open(location: &Location) -> Result<Store, Error> {
        Store::open_with(location, Options::default())
    }

    /// Opens a store with the given options.
    ///
    /// # Errors
    /// Any [`Error`] of a store.
    pub fn open_with(location: &Location, options: Options) -> Result<Store, Error> {
        let mut database: Box<dyn Database> = match location {
            Location::File(path) if !options.create && !path.exists() => {
                return Err(Error::Missing {
                    store: location.to_string(),
                });
            }
            Location::File(path) => Box::new(sqlite::open(path, options.wait)?),
            Location::Server(text) => {
                let address = address::parse(text, variables::get)?;
                Box::new(postgresql::open(address, options.wait)?)
            }
        };
        form::bring_up_to_date(&mut *database, options.create)?;
        Ok(Store { database })
    }

    /// Returns the store's path or address, without its password.
    pub fn name(&self) -> &str {
        self.database.name()
    }

    /// Returns information about its contents.
    ///
    /// # Errors
    /// Database errors.
    pub fn info(&mut self) -> Result<Info, Error> {
        self.reading(|database| {
            let mut number = |of: &str| -> Result<i64, Error> {
                let rows = database.query(&format!("SELECT CAST({of} AS BIGINT)"), &[])?;
                Ok(rows.into_iter().next().map_or(0, |mut row| row.int()))
            };
            let records = number("(SELECT COUNT(*) FROM record)")?;
            let tail = number("(SELECT COUNT(*) FROM tail)")?;
            let ends = [
                number("(SELECT MIN(time) FROM record)")?,
                number("(SELECT MAX(time) FROM record)")?,
            ];
            let sealed_bytes = number("(SELECT COALESCE(SUM(LENGTH(packed)), 0) FROM chunk)")?;
            let info = Info {
                store: String::new(),
                form: form::KNOWN,
                records,
                pruned: number("(SELECT COUNT(pruned) FROM record)")?,
                span: (records > 0).then_some((ends[0], ends[1])),
                series: number("(SELECT COUNT(*) FROM series)")?,
                points: tail + number("(SELECT COALESCE(SUM(points), 0) FROM chunk)")?,
                environments: number("(SELECT COUNT(*) FROM environment)")?,
                labels: number("(SELECT COUNT(DISTINCT name) FROM label)")?,
                renamed: Vec::new(),
                bytes: 0,
                record_bytes: number("(SELECT COALESCE(SUM(LENGTH(packed)), 0) FROM body)")?,
                point_bytes: sealed_bytes + tail * 65,
            };
            let renamed = database.query("SELECT old, new FROM alias ORDER BY old", &[])?;
            Ok(Info {
                store: database.name().to_owned(),
                renamed: renamed
                    .into_iter()
                    .map(|mut row| (row.text(), row.text()))
                    .collect(),
                bytes: database.bytes()?,
                ..info
            })
        })
    }

    /// Returns a text that changes after every save, label, rename or prune. Takes a millisecond in a store
    /// of 10,000 records: it reads the newest number by its key and counts the rest.
    ///
    /// # Errors
    /// Database errors.
    pub fn mark(&mut self) -> Result<String, Error> {
        let counts = "SELECT (SELECT CAST(COALESCE(MAX(id), 0) AS BIGINT) FROM record),
             (SELECT CAST(COUNT(*) AS BIGINT) FROM record), (SELECT CAST(COUNT(pruned) AS BIGINT) FROM record),
             (SELECT CAST(COUNT(*) AS BIGINT) FROM label), (SELECT CAST(COUNT(*) AS BIGINT) FROM alias)";
        let rows = self.database.query(counts, &[])?;
        let Some(mut row) = rows.into_iter().next() else {
            return Ok(String::new());
        };
        let counts: Vec<String> = (0..5).map(|_| row.int().to_string()).collect();
        Ok(counts.join("-"))
    }

    /// Runs `body` with a consistent view that concurrent writes don't affect.
    pub(crate) fn reading<T>(
        &mut self,
        body: impl FnOnce(&mut dyn Database) -> Result<T, Error>,
    ) -> Result<T, Error> {
        in_transaction(&mut *self.database, Access::Read, body)
    }

    /// Runs `body` in a writing transaction, which takes effect as a whole or not at all. Only one writer
    /// runs at a time.
    pub(crate) fn writing<T>(
        &mut self,
        body: impl FnOnce(&mut dyn Database) -> Result<T, Error>,
    ) -> Result<T, Error> {
        in_transaction(&mut *self.database, Access::Write, |database| {
            form::still_known(database)?; // a newer Fathom may have changed it meanwhile
            body(database)
        })
    }
}
