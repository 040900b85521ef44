//! A store in one SQLite file.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};

use crate::Error;
use crate::database::{Access, Cell, Database, Row, Words};
use crate::regular;

/// Marks the file as a store, to distinguish it from a database of another program.
const APPLICATION: i64 = 0x4654_484d; // FTHM

/// Settings that are applied before the first statement. With FULL, saved data survives a power failure, at
/// one flush per record. Checkpoints happen every 4000 pages instead of 1000, since a record of 30 benchmarks
/// changes 450. An untrusted file must not run code.
const SETTINGS: &str = "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;
    PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -16000;";

pub(crate) struct Sqlite {
    connection: Connection,
    name: String,
    wait: Duration,
}

/// Opens or creates the file. Only their owner can read the file and its folder.
pub(crate) fn open(path: &Path, wait: Duration) -> Result<Sqlite, Error> {
    let name = path.display().to_string();
    make_file(path)?;
    refuse_other_files(path, &name)?;
    // Make the path absolute, since SQLite doesn't treat every relative name as a file.
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let bytes = absolute.as_os_str().as_encoded_bytes();
    let (mut store, form) = match connect(bytes, "", &name, wait) {
        // If not even side files can be created, no other process can be writing.
        Err(Error::ReadOnly { .. } | Error::Unusable { .. }) if !has_log(path) => {
            connect(bytes, "?immutable=1", &name, wait)?
        }
        connected => connected?,
    };
    if form == 0 {
        store.begin_life()?;
    }
    Ok(store)
}

fn make_file(path: &Path) -> Result<(), Error> {
    let failed = |source| Error::File {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|source| Error::File {
            path: folder.to_owned(),
            source,
        })?;
    }
    match OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
    {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(failed(error)),
        _ => Ok(()),
    }
}

/// Returns an error for a file that isn't a store. Nothing is written before this is known, so a text file
/// stays unchanged.
fn refuse_other_files(path: &Path, name: &str) -> Result<(), Error> {
    let other = |why: &str| Error::NotAStore {
        store: name.to_owned(),
        why: why.to_owned(),
    };
    // Check this before opening the file, which may block forever.
    if let Some(what) = path
        .metadata()
        .ok()
        .and_then(|file| regular::what(file.file_type()))
    {
        return Err(other(what));
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(16).read_to_end(&mut head));
    read.map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })?;
    match head.is_empty() || head == b"SQLite format 3\0" {
        true => Ok(()),
        false => Err(other("it is not an SQLite file")),
    }
}

/// Returns whether the file has a write-ahead log with content.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    Path::new(&log).metadata().is_ok_and(|log| log.len() > 0)
}

/// Returns a connection and the schema version of its file.
fn connect(path: &[u8], query: &str, name: &str, wait: Duration) -> Result<(Sqlite, i64), Error> {
    let failed = |error| explain(error, name, wait);
    // Pass the path as a URI with all special bytes escaped.
    let escape = |byte: &u8| match byte {
        b'/' | b'.' | b'-' | b'_' => char::from(*byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(*byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    let uri = format!(
        "file:{}{query}",
        path.iter().map(escape).collect::<String>()
    );
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri, flags).map_err(failed)?;
    connection.busy_timeout(wait).map_err(failed)?;
    connection.execute_batch(SETTINGS).map_err(failed)?;
    let mut store = Sqlite {
        connection,
        name: name.to_owned(),
        wait,
    };
    let form = store.form()?;
    Ok((store, form))
}

impl Sqlite {
    /// Initializes an empty file, so that freed pages can be returned and readers don't wait for writers.
    /// Changing the journal mode doesn't use the busy handler, so it is retried.
    fn begin_life(&mut self) -> Result<(), Error> {
        let begun = Instant::now();
        loop {
            let done = self.batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;");
            match done {
                Err(Error::Locked { .. }) if begun.elapsed() < self.wait => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                done => return done,
            }
        }
    }

    fn number(&mut self, statement: &str) -> Result<i64, Error> {
        let rows = self.query(statement, &[])?;
        Ok(rows.into_iter().next().map_or(0, |mut row| row.int()))
    }

    fn run(&self, statement: &str, values: &[Cell]) -> rusqlite::Result<Vec<Row>> {
        // SQLite treats `$1` as a name and compares it with all previous names, which takes 30 us for each
        // row of points. `?1` is a number.
        let mut prepared = self.connection.prepare(&statement.replace('$', "?"))?;
        let columns = prepared.column_count();
        let mut rows = prepared.query(rusqlite::params_from_iter(values))?;
        let mut answer = Vec::new();
        while let Some(row) = rows.next()? {
            let cells = (0..columns).map(|column| Ok(cell(row.get_ref(column)?)));
            answer.push(Row::new(cells.collect::<rusqlite::Result<_>>()?));
        }
        Ok(answer)
    }
}

impl Database for Sqlite {
    fn begin(&mut self, access: Access) -> Result<(), Error> {
        self.batch(match access {
            Access::Read => "BEGIN",
            Access::Write => "BEGIN IMMEDIATE",
        })
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.batch("COMMIT")
    }

    fn roll_back(&mut self) {
        if !self.connection.is_autocommit() {
            let _ = self.batch("ROLLBACK"); // SQLite has done so itself after some errors
        }
    }

    fn query(&mut self, statement: &str, values: &[Cell]) -> Result<Vec<Row>, Error> {
        let run = self.run(statement, values);
        run.map_err(|error| explain(error, &self.name, self.wait))
    }

    fn batch(&mut self, statements: &str) -> Result<(), Error> {
        let run = self.connection.execute_batch(statements);
        run.map_err(|error| explain(error, &self.name, self.wait))
    }

    fn form(&mut self) -> Result<i64, Error> {
        let mut application = self.number("PRAGMA application_id")?;
        if application != APPLICATION {
            let is_empty = self.number("SELECT COUNT(*) FROM sqlite_schema")? == 0;
            if !is_empty {
                // Another process may have created the store between the two reads, in one transaction.
                application = self.number("PRAGMA application_id")?;
            }
            if application == APPLICATION {
                return self.number("PRAGMA user_version");
            }
            if application != 0 || !is_empty {
                let why = "it is another program's database".to_owned();
                return Err(Error::NotAStore {
                    store: self.name.clone(),
                    why,
                });
            }
            return Ok(0);
        }
        self.number("PRAGMA user_version")
    }

    fn set_form(&mut self, form: i64) -> Result<(), Error> {
        self.batch(&format!(
            "PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {form};"
        ))
    }

    fn words(&self) -> &'static Words {
        &Words {
            key: "INTEGER PRIMARY KEY AUTOINCREMENT",
            bytes: "BLOB",
            clustered: " WITHOUT ROWID",
        }
    }

    fn bytes(&mut self) -> Result<u64, Error> {
        let pages = self.number("PRAGMA page_count")? * self.number("PRAGMA page_size")?;
        Ok(pages.unsigned_abs())
    }

    fn shrink(&mut self) -> Result<(), Error> {
        // The statement frees one page for each row of its answer, so all rows must be read.
        self.query("PRAGMA incremental_vacuum", &[])?;
        self.query("PRAGMA wal_checkpoint(TRUNCATE)", &[]).map(drop)
    }

    fn name(&self) -> &str {
        &self.name
    }
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Cell::Null | Cell::NoInt => ToSqlOutput::Owned(Value::Null),
            Cell::Int(value) => ToSqlOutput::from(*value),
            Cell::Real(value) => ToSqlOutput::from(*value),
            Cell::Text(value) => ToSqlOutput::from(value.as_str()),
            Cell::Bytes(value) => ToSqlOutput::from(value.as_slice()),
        })
    }
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(value) => Cell::Int(value),
        ValueRef::Real(value) => Cell::Real(value),
        ValueRef::Text(value) => Cell::Text(String::from_utf8_lossy(value).into_owned()),
        ValueRef::Blob(value) => Cell::Bytes(value.to_vec()),
    }
}

fn explain(error: rusqlite::Error, name: &str, wait: Duration) -> Error {
    let store = name.to_owned();
    let why = error.to_string();
    let Some(failure) = error.sqlite_error() else {
        return Error::Database { store, why };
    };
    match (failure.code, failure.extended_code) {
        (ErrorCode::NotADatabase, _) => Error::NotAStore {
            store,
            why: "it is not an SQLite file, or its header is damaged".to_owned(),
        },
        // The index of the log is memory backed by a file, so this error also means that the disk is full.
        (ErrorCode::DiskFull, _) | (_, ffi::SQLITE_IOERR_SHMSIZE) => Error::Full { store },
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => Error::Locked {
            store,
            seconds: wait.as_secs_f64(),
        },
        (_, ffi::SQLITE_IOERR_WRITE) => Error::Unusable {
            store,
            why: "a write failed: its disk is failing, or the file size limit (`ulimit -f`) has been reached"
                .to_owned(),
        },
        (ErrorCode::DatabaseCorrupt, _) => Error::Damaged { store, what: why },
        (ErrorCode::ReadOnly, _) => Error::ReadOnly { store },
        (ErrorCode::CannotOpen | ErrorCode::PermissionDenied, _) => Error::Unusable {
            store,
            why: format!("{why}; check the permissions of its file and its folder"),
        },
        _ => Error::Database { store, why },
    }
}
