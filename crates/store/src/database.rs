//! The interface between the store and its database.
//!
//! Statements use the common subset of SQLite and PostgreSQL. Their placeholders are `$1`, `$2`, ...; values
//! are passed only through placeholders, and `$` has no other use.

use crate::Error;

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// A null text; in a row, a null of any type.
    Null,
    /// A null integer.
    NoInt,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

/// A connection, which may move to another thread.
pub(crate) trait Database: Send {
    /// Begins a transaction. A writer waits until the previous writer has finished; a reader gets one
    /// consistent view.
    fn begin(&mut self, access: Access) -> Result<(), Error>;
    /// Commits the transaction; its changes are durable.
    fn commit(&mut self) -> Result<(), Error>;
    /// Rolls the transaction back.
    fn roll_back(&mut self);
    /// Runs one statement and returns its rows.
    fn query(&mut self, statement: &str, values: &[Cell]) -> Result<Vec<Row>, Error>;
    /// Runs statements without values, such as table definitions.
    fn batch(&mut self, statements: &str) -> Result<(), Error>;
    /// Returns the schema version, 0 if there is none yet. Returns an error if the database isn't a store.
    fn form(&mut self) -> Result<i64, Error>;
    /// Sets the schema version.
    fn set_form(&mut self, form: i64) -> Result<(), Error>;
    /// Returns the keywords of data definitions that differ between databases.
    fn words(&self) -> &'static Words;
    /// Returns the total size in bytes.
    fn bytes(&mut self) -> Result<u64, Error>;
    /// Returns the space of deleted data to the system if doing so is cheap.
    fn shrink(&mut self) -> Result<(), Error>;
    /// Returns the name of the store, without its password.
    fn name(&self) -> &str;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// Keywords of data definitions that differ between databases.
pub(crate) struct Words {
    /// A primary key that counts up and never reuses a number.
    pub key: &'static str,
    pub bytes: &'static str,
    /// Suffix of a table that is stored in its primary key.
    pub clustered: &'static str,
}

thread_local! {
    /// Set if a row contained a value of the wrong kind: the file or server is malicious or damaged.
    static MISREAD: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

fn misread<T>(instead: T) -> T {
    MISREAD.set(true);
    instead
}

/// A row of an answer; columns are read in order.
#[derive(Debug)]
pub(crate) struct Row(std::vec::IntoIter<Cell>);

impl Row {
    pub(crate) fn new(cells: Vec<Cell>) -> Row {
        Row(cells.into_iter())
    }

    pub(crate) fn int(&mut self) -> i64 {
        self.maybe_int().unwrap_or(0)
    }

    pub(crate) fn maybe_int(&mut self) -> Option<i64> {
        match self.0.next() {
            Some(Cell::Int(value)) => Some(value),
            Some(Cell::Null) => None,
            _ => misread(None),
        }
    }

    pub(crate) fn real(&mut self) -> f64 {
        match self.0.next() {
            Some(Cell::Real(value)) if value.is_finite() => value,
            Some(Cell::Int(value)) => value as f64,
            _ => misread(0.0),
        }
    }

    pub(crate) fn text(&mut self) -> String {
        self.maybe_text().unwrap_or_default()
    }

    pub(crate) fn maybe_text(&mut self) -> Option<String> {
        match self.0.next() {
            Some(Cell::Text(value)) => Some(value),
            Some(Cell::Null) => None,
            _ => misread(None),
        }
    }

    pub(crate) fn blob(&mut self) -> Vec<u8> {
        match self.0.next() {
            Some(Cell::Bytes(value)) => value,
            _ => misread(Vec::new()),
        }
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Cell {
        Cell::Text(value.to_owned())
    }
}

impl From<i64> for Cell {
    fn from(value: i64) -> Cell {
        Cell::Int(value)
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Cell {
        Cell::Real(value)
    }
}

impl From<Option<i64>> for Cell {
    fn from(value: Option<i64>) -> Cell {
        value.map_or(Cell::NoInt, Cell::from)
    }
}

impl From<Option<&str>> for Cell {
    fn from(value: Option<&str>) -> Cell {
        value.map_or(Cell::Null, Cell::from)
    }
}

/// Maximum number of values in one statement. Both databases allow more, but each statement is prepared
/// again.
const VALUES: usize = 960;

/// Returns `($1, $2), ($3, $4)` for `rows` rows.
fn places(rows: usize, columns: usize) -> String {
    let row = |row: usize| {
        let places: Vec<String> = (0..columns)
            .map(|column| format!("${}", row * columns + column + 1))
            .collect();
        format!("({})", places.join(", "))
    };
    (0..rows).map(row).collect::<Vec<_>>().join(", ")
}

/// Inserts rows of equal length, many per statement: `head`, VALUES with the rows, `tail`.
pub(crate) fn insert(
    database: &mut dyn Database,
    head: &str,
    columns: usize,
    cells: &[Cell],
    tail: &str,
) -> Result<(), Error> {
    for some in cells.chunks(VALUES / columns * columns) {
        let places = places(some.len() / columns, columns);
        database.query(&format!("{head} VALUES {places} {tail}"), some)?;
    }
    Ok(())
}

/// Selects rows in which a column is one of `keys`: `head`, IN with the keys, `tail`.
pub(crate) fn select_in(
    database: &mut dyn Database,
    head: &str,
    keys: &[Cell],
    tail: &str,
) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for some in keys.chunks(VALUES) {
        let places = places(1, some.len());
        rows.extend(database.query(&format!("{head} IN {places} {tail}"), some)?);
    }
    Ok(rows)
}

/// Like [`select_in`], for record numbers. Numbers that are close together are selected as a range if there
/// are many: a statement of 960 values takes 3 ms to prepare, and the extra rows in between cost little. The
/// answer includes these rows.
pub(crate) fn select_numbers(
    database: &mut dyn Database,
    head: &str,
    numbers: &[i64],
    tail: &str,
) -> Result<Vec<Row>, Error> {
    let (least, most) = (numbers.iter().min(), numbers.iter().max());
    if let (Some(least), Some(most)) = (least, most)
        && numbers.len() > VALUES / 2
        && most.abs_diff(*least) < numbers.len() as u64 * 4
    {
        let ends = [(*least).into(), (*most).into()];
        return database.query(&format!("{head} BETWEEN $1 AND $2 {tail}"), &ends);
    }
    let keys: Vec<Cell> = numbers.iter().map(|number| (*number).into()).collect();
    select_in(database, head, &keys, tail)
}

/// Runs `body` in a transaction, which takes effect as a whole or not at all.
pub(crate) fn in_transaction<T>(
    database: &mut dyn Database,
    access: Access,
    body: impl FnOnce(&mut dyn Database) -> Result<T, Error>,
) -> Result<T, Error> {
    database.begin(access)?;
    MISREAD.set(false);
    let done = body(database).and_then(|value| match MISREAD.get() {
        true => Err(Error::Damaged {
            store: database.name().to_owned(),
            what: "a value of the wrong kind".to_owned(),
        }),
        false => database.commit().map(|()| value),
    });
    if done.is_err() {
        database.roll_back();
    }
    done
}
