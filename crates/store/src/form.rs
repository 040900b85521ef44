//! The tables, by schema version. A store from an older Fathom is migrated to the newest version.

use crate::Error;
use crate::database::{Access, Database, Words, in_transaction};

/// One entry for each schema version: the statements that migrate a store from the previous version. Entries
/// never change: `tests/fixtures` has a store of each version.
const STEPS: [fn(&Words) -> String; 2] = [first, second];

/// The newest schema version.
pub(crate) const KNOWN: i64 = STEPS.len() as i64;

/// The texts of records are in a separate table, so lists don't read them. The newest points of a series are
/// rows (`tail`), the others are in sealed chunks: 19 bytes per point instead of 65, and a hundredth of the
/// reads.
fn first(words: &Words) -> String {
    let Words {
        key,
        bytes,
        clustered,
    } = words;
    format!(
        "CREATE TABLE environment (id {key}, key TEXT NOT NULL UNIQUE, facts TEXT NOT NULL);
         CREATE TABLE record (
             id {key}, hash TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, time BIGINT NOT NULL,
             environment BIGINT NOT NULL, revision TEXT, branch TEXT, dirty BIGINT NOT NULL, command TEXT NOT NULL,
             inputs TEXT NOT NULL, seed TEXT, fathom_version TEXT NOT NULL, pruned BIGINT);
         CREATE INDEX record_revision ON record (revision);
         CREATE INDEX record_environment ON record (environment, time);
         CREATE TABLE body (record BIGINT NOT NULL PRIMARY KEY, packed {bytes} NOT NULL);
         CREATE TABLE label (name TEXT NOT NULL, record BIGINT NOT NULL, PRIMARY KEY (name, record)){clustered};
         CREATE INDEX label_record ON label (record);
         CREATE TABLE series (
             id {key}, benchmark TEXT NOT NULL, parameters TEXT NOT NULL, metric TEXT NOT NULL,
             unit TEXT NOT NULL, direction TEXT, meaning TEXT NOT NULL, UNIQUE (benchmark, parameters, metric));
         CREATE TABLE alias (old TEXT NOT NULL PRIMARY KEY, new TEXT NOT NULL);
         CREATE TABLE tail (
             series BIGINT NOT NULL, record BIGINT NOT NULL, environment BIGINT NOT NULL, time BIGINT NOT NULL,
             value DOUBLE PRECISION NOT NULL, low DOUBLE PRECISION NOT NULL, high DOUBLE PRECISION NOT NULL,
             runs BIGINT NOT NULL, PRIMARY KEY (series, record)){clustered};
         CREATE TABLE chunk (
             id {key}, series BIGINT NOT NULL, environment BIGINT NOT NULL, last BIGINT NOT NULL,
             points BIGINT NOT NULL, packed {bytes} NOT NULL);
         CREATE INDEX chunk_series ON chunk (series, last);"
    )
}

/// Adds the position of a record among others ([`crate::Head::order`]). If it is null, the record's time is
/// used. This applies to records of version 1, and to records written by an older Fathom that still has the
/// store open.
fn second(_: &Words) -> String {
    "ALTER TABLE record ADD COLUMN place BIGINT;
     ALTER TABLE record ADD COLUMN turn BIGINT;
     CREATE INDEX record_turn ON record (environment, turn) WHERE turn IS NOT NULL;
     ALTER TABLE tail ADD COLUMN place BIGINT;
     ALTER TABLE chunk ADD COLUMN place BIGINT;"
        .to_owned()
}

/// Returns the schema version, or an error if it is newer than this Fathom supports.
pub(crate) fn still_known(database: &mut dyn Database) -> Result<i64, Error> {
    match database.form()? {
        found if found > KNOWN => Err(Error::Newer {
            store: database.name().to_owned(),
            found,
            known: KNOWN,
        }),
        found => Ok(found),
    }
}

/// Migrates the tables to the newest schema version. Several processes may try this at once.
pub(crate) fn bring_up_to_date(database: &mut dyn Database, create: bool) -> Result<(), Error> {
    let found = still_known(database)?;
    if found == KNOWN {
        return Ok(());
    }
    if found == 0 && !create {
        let store = database.name().to_owned();
        return Err(Error::Missing { store });
    }
    in_transaction(database, Access::Write, |database| {
        let found = still_known(database)?; // another process may have done it meanwhile
        for step in STEPS.iter().skip(found as usize) {
            let statements = step(database.words());
            database.batch(&statements)?;
        }
        database.set_form(KNOWN)
    })
}
