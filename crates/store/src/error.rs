//! Store errors: what happened, where, and what to do.

use std::path::PathBuf;

/// All errors of this crate. `store` is the path, or the address without its password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file or database is not a store.
    #[error("{store} is not a store of Fathom: {why}; name another one with --store")]
    NotAStore {
        /// The store.
        store: String,
        /// What the file or database is instead.
        why: String,
    },
    /// The store doesn't exist and may not be created.
    #[error(
        "{store} does not exist yet: the first measurement in a project (see `fathom init`), or any measurement \
         with --save, creates it"
    )]
    Missing {
        /// The store.
        store: String,
    },
    /// A later version wrote the store.
    #[error(
        "{store} was written by a newer Fathom (format {found}; this one reads up to {known}): update Fathom"
    )]
    Newer {
        /// The store.
        store: String,
        /// The store's schema version.
        found: i64,
        /// The newest schema version that this version supports.
        known: i64,
    },
    /// The store is read-only.
    #[error(
        "{store} can't be written: it is read-only for you; fix its permissions, or choose another store with \
         --store"
    )]
    ReadOnly {
        /// The store.
        store: String,
    },
    /// The disk is full.
    #[error(
        "{store} can't grow: its disk is full, or the file size limit (`ulimit -f`) has been reached; free some \
         space, or run `fathom store prune`"
    )]
    Full {
        /// The store.
        store: String,
    },
    /// Another process has locked the store.
    #[error(
        "{store} is in use: another process has been writing to it for {seconds} s; try again when that process has \
         finished"
    )]
    Locked {
        /// The store.
        store: String,
        /// The time waited, in seconds.
        seconds: f64,
    },
    /// The store is damaged.
    #[error(
        "{store} is damaged ({what}): make a copy of it, then restore a backup, or load a bundle into a new store \
         with `fathom store load`"
    )]
    Damaged {
        /// The store.
        store: String,
        /// The damaged part.
        what: String,
    },
    /// The server can't be reached, or the connection is lost.
    #[error("{store} can't be reached: {why}; check the address, and that the server runs")]
    Unreachable {
        /// The store.
        store: String,
        /// The system's message.
        why: String,
    },
    /// The server rejects this user.
    #[error(
        "{store} refuses the user {user:?}: {why}; the password is taken from the address, PGPASSWORD or ~/.pgpass"
    )]
    Refused {
        /// The store.
        store: String,
        /// The user.
        user: String,
        /// The server's message.
        why: String,
    },
    /// The server lacks a required feature.
    #[error("{store} can't be used: {why}")]
    Unusable {
        /// The store.
        store: String,
        /// What is missing, and what to do.
        why: String,
    },
    /// The address is invalid.
    #[error(
        "{address}: {why}; a store is a path, or postgres://USER@HOST:PORT/DATABASE (with ?sslmode=, ?sslrootcert=, ?schema=)"
    )]
    Address {
        /// The address without its password.
        address: String,
        /// The problem.
        why: String,
    },
    /// There is no folder for the store.
    #[error(
        "the store has no default location, because neither XDG_DATA_HOME nor HOME is set; choose one with --store \
         PATH"
    )]
    NoPlace,
    /// The label can't be used, since nothing could be found by it.
    #[error("--label {label:?}: {why}; write a name, such as --label v1.2")]
    Label {
        /// The text that the user wrote.
        label: String,
        /// The problem.
        why: String,
    },
    /// The text is not a record.
    #[error("this is not a record written by Fathom: {0}")]
    NotARecord(String),
    /// The file is not a bundle, or it is incomplete.
    #[error(
        "{file} is not a complete Fathom bundle: {why}; create it again with `fathom store bundle`"
    )]
    NotABundle {
        /// The file.
        file: String,
        /// The problem.
        why: String,
    },
    /// Nothing in the store matches this name.
    #[error("{store} has no {what}; `fathom history` lists what it has")]
    NotFound {
        /// The store.
        store: String,
        /// The object that was requested.
        what: String,
    },
    /// A short id is ambiguous.
    #[error("{asked} could be {}; write more of it", .candidates.join(" or "))]
    Ambiguous {
        /// The text that the user wrote.
        asked: String,
        /// The candidates.
        candidates: Vec<String>,
    },
    /// Two benchmarks can't be merged.
    #[error("{old:?} can't be renamed to {new:?}: {why}")]
    Rename {
        /// The old name.
        old: String,
        /// The new name.
        new: String,
        /// The reason.
        why: String,
    },
    /// An error from git.
    #[error(transparent)]
    Git(#[from] crate::git::GitError),
    /// The runs of the record were pruned, so it isn't available as a whole.
    #[error(
        "the runs of record {id} were pruned; its points are kept, and `fathom history` shows them"
    )]
    Pruned {
        /// The record.
        id: String,
    },
    /// An error with a file or folder.
    #[error("{}: {source}", .path.display())]
    File {
        /// The path of the file or folder.
        path: PathBuf,
        /// The system's message.
        source: std::io::Error,
    },
    /// Any other error from the database.
    #[error("{store}: {why}")]
    Database {
        /// The store.
        store: String,
        /// The database's message.
        why: String,
    },
}
