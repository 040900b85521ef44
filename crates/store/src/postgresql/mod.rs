//! A team's store: a schema in a PostgreSQL database, version 15 or newer.

pub(crate) mod address;
mod client;
mod guard;
mod tls;

use std::sync::mpsc;
use std::time::Duration;

use fathom_model::one_line;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{FromSql, ToSql, Type};

use self::address::Address;
use self::client::{Client, Failed};
use self::guard::Limits;
use crate::Error;
use crate::database::{Access, Cell, Database, Row, Words};

/// The oldest version that is tested.
const OLDEST: i64 = 15;

/// The time limit of a call, in addition to the time that a writer waits for others.
const CALL: Duration = Duration::from_secs(60);

pub(crate) struct Server {
    client: Client,
    address: Address,
    wait: Duration,
    limits: Limits,
}

/// Connects to the server. The first migration creates the schema.
pub(crate) fn open(address: Address, wait: Duration) -> Result<Server, Error> {
    let limits = Limits::default();
    let client = connect(&address, &limits, wait)?;
    limits.let_in();
    let mut server = Server {
        client,
        address,
        wait,
        limits,
    };
    let version = server.query("SELECT current_setting('server_version_num')::bigint", &[])?;
    let version = version.into_iter().next().map_or(0, |mut row| row.int()) / 10_000;
    if version < OLDEST {
        let why = format!("it is PostgreSQL {version}; {OLDEST} or newer is needed");
        return Err(Error::Unusable {
            store: server.address.name.clone(),
            why,
        });
    }
    // The name was validated: it contains only letters, digits and underscores.
    server.batch_as_is(&format!("SET search_path TO {}", server.address.schema))?;
    Ok(server)
}

/// Connects with one timeout for all steps: name lookup, addresses, encryption, password.
fn connect(address: &Address, limits: &Limits, wait: Duration) -> Result<Client, Error> {
    let unreachable = |why: String| Error::Unreachable {
        store: address.name.clone(),
        why,
    };
    let config = address.config.clone();
    let time = config.get_connect_timeout().copied().unwrap_or(CALL);
    limits.begin(time);
    let connector = tls::connector(address, limits.clone())?;
    let (answer, connected) = mpsc::channel();
    let shared = limits.clone();
    let connecting = move || {
        let _ = answer.send(Client::connect(config, connector, &shared)); // the caller may have given up
    };
    // Connect in a separate thread, since our timeout doesn't apply to name lookups.
    let thread = std::thread::Builder::new().name("connect".to_owned());
    thread
        .spawn(connecting)
        .map_err(|error| unreachable(error.to_string()))?;
    match connected.recv_timeout(time + Duration::from_secs(1)) {
        Ok(Err(Failed::Server(error))) => Err(explain(&error, address, wait)),
        Ok(Err(Failed::System(error))) => Err(unreachable(one_line(&error.to_string()))),
        Ok(Ok(client)) => Ok(client),
        Err(_) => Err(unreachable(limits.too_late().to_string())),
    }
}

impl Drop for Server {
    /// Leaves the end to the client, which sends the end message and waits for the end of the connection. A
    /// server may delay this, but nothing depends on it.
    fn drop(&mut self) {
        self.limits.begin(Duration::from_millis(200));
    }
}

impl Server {
    fn batch_as_is(&mut self, statements: &str) -> Result<(), Error> {
        self.limits.begin(self.wait + CALL);
        let run = self.client.batch_execute(statements);
        run.map_err(|error| explain(&error, &self.address, self.wait))
    }

    fn count(&mut self, statement: &str) -> Result<i64, Error> {
        let schema = Cell::from(self.address.schema.as_str());
        let rows = self.query(statement, &[schema])?;
        Ok(rows.into_iter().next().map_or(0, |mut row| row.int()))
    }
}

impl Database for Server {
    /// Allows one writer at a time, as in SQLite: no points are sealed twice, and there are no deadlocks. A
    /// save takes about 30 ms, so this doesn't slow down a hundred runners.
    fn begin(&mut self, access: Access) -> Result<(), Error> {
        let statements = match access {
            Access::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY".to_owned(),
            Access::Write => format!(
                "BEGIN; SET LOCAL lock_timeout = {}; SELECT pg_advisory_xact_lock(1179932749, hashtext('{}'))",
                self.wait.as_millis().max(1),
                self.address.schema
            ),
        };
        self.batch_as_is(&statements)
            .inspect_err(|_| self.roll_back())
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.batch_as_is("COMMIT")
    }

    fn roll_back(&mut self) {
        self.limits.begin(CALL);
        let _ = self.client.batch_execute("ROLLBACK"); // if this fails, the server rolls back
    }

    fn query(&mut self, statement: &str, values: &[Cell]) -> Result<Vec<Row>, Error> {
        self.limits.begin(self.wait + CALL);
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(sent).collect();
        let rows = self.client.query(statement, &values);
        let rows = rows.map_err(|error| explain(&error, &self.address, self.wait))?;
        let row = |row: tokio_postgres::Row| {
            let cells = (0..row.len()).map(|column| row.try_get(column));
            cells.collect::<Result<_, _>>().map(Row::new)
        };
        let rows: Result<_, tokio_postgres::Error> = rows.into_iter().map(row).collect();
        rows.map_err(|error| Error::Unreachable {
            store: self.address.name.clone(),
            why: format!("it does not answer like PostgreSQL: {}", last_cause(&error)),
        })
    }

    fn batch(&mut self, statements: &str) -> Result<(), Error> {
        // A user without the right to create schemas can use an existing one.
        if self.count("SELECT COUNT(*) FROM pg_namespace WHERE nspname = $1")? == 0 {
            self.batch_as_is(&format!("CREATE SCHEMA {}", self.address.schema))?;
        }
        self.batch_as_is(statements)
    }

    fn form(&mut self) -> Result<i64, Error> {
        let tables = "SELECT COUNT(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v')";
        if self.count(tables)? == 0 {
            return Ok(0);
        }
        if self.count(&format!("{tables} AND c.relname = 'fathom_form'"))? == 0 {
            let why = format!(
                "its schema {:?} contains another program's tables",
                self.address.schema
            );
            return Err(Error::NotAStore {
                store: self.address.name.clone(),
                why,
            });
        }
        let rows = self.query("SELECT MAX(form) FROM fathom_form", &[])?;
        Ok(rows.into_iter().next().map_or(0, |mut row| row.int()))
    }

    fn set_form(&mut self, form: i64) -> Result<(), Error> {
        self.batch_as_is(&format!(
            "CREATE TABLE IF NOT EXISTS fathom_form (form BIGINT NOT NULL); INSERT INTO fathom_form VALUES ({form})"
        ))
    }

    fn words(&self) -> &'static Words {
        &Words {
            key: "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
            bytes: "BYTEA",
            clustered: "",
        }
    }

    fn bytes(&mut self) -> Result<u64, Error> {
        let all = "SELECT CAST(SUM(pg_total_relation_size(c.oid)) AS BIGINT) FROM pg_class c
            JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'";
        Ok(self.count(all)?.unsigned_abs())
    }

    /// Does nothing, since the server's autovacuum does this.
    fn shrink(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn name(&self) -> &str {
        &self.address.name
    }
}

/// Converts a cell to the client's type.
fn sent(cell: &Cell) -> &(dyn ToSql + Sync) {
    match cell {
        Cell::Null => &None::<&str>,
        Cell::NoInt => &None::<i64>,
        Cell::Int(value) => value,
        Cell::Real(value) => value,
        Cell::Text(value) => value,
        Cell::Bytes(value) => value,
    }
}

impl<'a> FromSql<'a> for Cell {
    fn from_sql(
        of: &Type,
        raw: &'a [u8],
    ) -> Result<Cell, Box<dyn std::error::Error + Sync + Send>> {
        Ok(match *of {
            Type::INT8 => Cell::Int(i64::from_sql(of, raw)?),
            Type::FLOAT8 => Cell::Real(f64::from_sql(of, raw)?),
            Type::BYTEA => Cell::Bytes(raw.to_vec()),
            _ => Cell::Text(String::from_sql(of, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Cell, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Cell::Null)
    }

    fn accepts(of: &Type) -> bool {
        matches!(*of, Type::INT8 | Type::FLOAT8 | Type::BYTEA | Type::TEXT)
    }
}

/// Returns the innermost cause of an error, because it is specific. The outer text, "error connecting to
/// server", isn't.
fn last_cause(error: &tokio_postgres::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    one_line(&cause.to_string())
}

/// Converts an error of the server or the system to a sentence, which never contains a password.
fn explain(error: &tokio_postgres::Error, address: &Address, wait: Duration) -> Error {
    let store = address.name.clone();
    let Some(said) = error.as_db_error() else {
        return Error::Unreachable {
            store,
            why: last_cause(error),
        };
    };
    let why = one_line(said.message());
    let user = address.user.clone();
    match *said.code() {
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            Error::Refused { store, user, why }
        }
        SqlState::INVALID_CATALOG_NAME => Error::Unusable {
            store,
            why: format!("{why}; create it with `createdb`"),
        },
        SqlState::INSUFFICIENT_PRIVILEGE => Error::Unusable {
            store,
            why: format!(
                "{why}; ask for CREATE on the database, or for a schema of your own (?schema=NAME)"
            ),
        },
        SqlState::DISK_FULL => Error::Full { store },
        SqlState::LOCK_NOT_AVAILABLE => Error::Locked {
            store,
            seconds: wait.as_secs_f64(),
        },
        SqlState::READ_ONLY_SQL_TRANSACTION => Error::ReadOnly { store },
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => Error::Damaged { store, what: why },
        SqlState::ADMIN_SHUTDOWN
        | SqlState::CRASH_SHUTDOWN
        | SqlState::CANNOT_CONNECT_NOW
        | SqlState::TOO_MANY_CONNECTIONS => Error::Unreachable { store, why },
        _ => Error::Database { store, why },
    }
}
