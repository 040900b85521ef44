//! What the store asks of a database: the seam between what is kept and where.
//!
//! Statements are the common part of SQLite and PostgreSQL. Their placeholders are `$1`, `$2`, ..., values
//! only come by them, and `$` stands for nothing else.

use crate::Error;

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// No text; in a row, nothing of any type.
    Null,
    /// No number.
    NoInt,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

/// One connection; it may move to another thread.
pub(crate) trait Database: Send {
    /// Begins a transaction: one writer at a time, who waits for the one before, or one view of
    /// everything for reading.
    fn begin(&mut self, access: Access) -> Result<(), Error>;
    /// Ends it; what was written is durable.
    fn commit(&mut self) -> Result<(), Error>;
    /// Ends it without effect.
    fn roll_back(&mut self);
    /// Runs one statement and yields its rows.
    fn query(&mut self, statement: &str, values: &[Cell]) -> Result<Vec<Row>, Error>;
    /// Runs statements without values: forms of tables.
    fn batch(&mut self, statements: &str) -> Result<(), Error>;
    /// The form of the tables, 0 for none yet; an error if something else is there.
    fn form(&mut self) -> Result<i64, Error>;
    /// Notes the form.
    fn set_form(&mut self, form: i64) -> Result<(), Error>;
    /// Words of the data definition that differ.
    fn words(&self) -> &'static Words;
    /// Bytes that everything takes.
    fn bytes(&mut self) -> Result<u64, Error>;
    /// Gives the space of what was deleted back to the system, as far as that costs little.
    fn shrink(&mut self) -> Result<(), Error>;
    /// The store, without its password.
    fn name(&self) -> &str;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// Words of the data definition.
pub(crate) struct Words {
    /// A primary key that counts up and gives no number twice.
    pub key: &'static str,
    pub bytes: &'static str,
    /// At the end of a table that is its primary key.
    pub clustered: &'static str,
}

thread_local! {
    /// Something of the wrong kind was taken from a row: a file or a server that means ill, or is damaged.
    static MISREAD: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

fn misread<T>(instead: T) -> T {
    MISREAD.set(true);
    instead
}

/// A row of an answer; columns are taken in order.
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

/// Values of one statement: both databases take more, but a statement is prepared each time.
const VALUES: usize = 960;

/// `($1, $2), ($3, $4)` for `rows` rows.
fn places(rows: usize, columns: usize) -> String {
    let row = |row: usize| {
        let places: Vec<String> = (0..columns)
            .map(|column| format!("${}", row * columns + column + 1))
            .collect();
        format!("({})", places.join(", "))
    };
    (0..rows).map(row).collect::<Vec<_>>().join(", ")
}

/// Inserts rows of as many cells each, many to a statement: `head` VALUES rows `tail`.
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

/// Rows where a column is one of `keys`: `head` IN (keys) `tail`.
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

/// The same for numbers of records. Many that lie close are asked for by their ends: a statement of 960
/// values takes 3 ms to prepare, and rows between them that nobody asked for hardly cost. The answer has
/// these, too.
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

/// Runs `body` in a transaction: all of it or nothing.
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
