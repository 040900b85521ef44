//! What can go wrong with a store: what happened, to what, what to do.

use std::path::PathBuf;

/// Every failure of this crate. `store` is the path, or the address without its password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something else is there.
    #[error("{store} is not a store of Fathom: {why}; name another one with --store")]
    NotAStore {
        /// The store.
        store: String,
        /// What it is.
        why: String,
    },
    /// It is not there, and was not to be made.
    #[error(
        "{store} does not exist yet: the first measurement in a project (`fathom init`) makes it, or one with --save"
    )]
    Missing {
        /// The store.
        store: String,
    },
    /// A later version wrote it.
    #[error(
        "{store} was written by a newer Fathom (form {found}; this one reads up to {known}): update Fathom"
    )]
    Newer {
        /// The store.
        store: String,
        /// Its form.
        found: i64,
        /// The newest form that this version knows.
        known: i64,
    },
    /// It can be read only.
    #[error(
        "{store} can't be written: it is read-only for you; mend its permissions, or name another store with --store"
    )]
    ReadOnly {
        /// The store.
        store: String,
    },
    /// No space.
    #[error(
        "{store} can't grow: its disk is full, or a limit on the size of files (`ulimit -f`) is reached; free some space, or run `fathom store prune`"
    )]
    Full {
        /// The store.
        store: String,
    },
    /// Another process holds it.
    #[error(
        "{store} is in use: another process has been writing it for {seconds} s; try again when that has ended"
    )]
    Locked {
        /// The store.
        store: String,
        /// How long was waited.
        seconds: f64,
    },
    /// Bytes in it changed.
    #[error(
        "{store} is damaged ({what}): copy it aside, then restore a backup, or load a bundle into a new store with `fathom store load`"
    )]
    Damaged {
        /// The store.
        store: String,
        /// Where.
        what: String,
    },
    /// No server, or no more.
    #[error("{store} can't be reached: {why}; check the address, and that the server runs")]
    Unreachable {
        /// The store.
        store: String,
        /// What the system says.
        why: String,
    },
    /// The server refuses this user.
    #[error(
        "{store} refuses the user {user:?}: {why}; the password is taken from the address, PGPASSWORD or ~/.pgpass"
    )]
    Refused {
        /// The store.
        store: String,
        /// Who asked.
        user: String,
        /// What the server says.
        why: String,
    },
    /// The server runs, but has not what is needed.
    #[error("{store} can't be used: {why}")]
    Unusable {
        /// The store.
        store: String,
        /// What is missing, and what to do.
        why: String,
    },
    /// An address that can't be understood.
    #[error(
        "{address}: {why}; a store is a path, or postgres://USER@HOST:PORT/DATABASE (with ?sslmode=, ?sslrootcert=, ?schema=)"
    )]
    Address {
        /// The address without its password.
        address: String,
        /// What is wrong.
        why: String,
    },
    /// No folder to keep it in.
    #[error(
        "there is no place for a store: neither XDG_DATA_HOME nor HOME is set; name one with --store PATH"
    )]
    NoPlace,
    /// A label that nothing could be found by.
    #[error("--label {label:?}: {why}; write a name, such as --label v1.2")]
    Label {
        /// As it was written.
        label: String,
        /// What is wrong.
        why: String,
    },
    /// A text that is not a record.
    #[error("this is not a record written by Fathom: {0}")]
    NotARecord(String),
    /// A file that is not a bundle, or not whole.
    #[error(
        "{file} is not a complete bundle of Fathom: {why}; make it again with `fathom store bundle`"
    )]
    NotABundle {
        /// The file.
        file: String,
        /// What is wrong.
        why: String,
    },
    /// Nothing has this name.
    #[error("{store} has no {what}; `fathom history` lists what it has")]
    NotFound {
        /// The store.
        store: String,
        /// What was asked for.
        what: String,
    },
    /// A short id with several meanings.
    #[error("{asked} could be {}; write more of it", .candidates.join(" or "))]
    Ambiguous {
        /// As it was written.
        asked: String,
        /// What it could be.
        candidates: Vec<String>,
    },
    /// Two benchmarks that can't become one.
    #[error("{old:?} can't be renamed to {new:?}: {why}")]
    Rename {
        /// From.
        old: String,
        /// To.
        new: String,
        /// The reason.
        why: String,
    },
    /// What git can't know.
    #[error(transparent)]
    Git(#[from] crate::git::GitError),
    /// The whole record was pruned.
    #[error(
        "the runs of record {id} were pruned; its points are kept, `fathom history` shows them"
    )]
    Pruned {
        /// The record.
        id: String,
    },
    /// A file or folder.
    #[error("{}: {source}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// What the database says, where nothing better is known.
    #[error("{store}: {why}")]
    Database {
        /// The store.
        store: String,
        /// Its words.
        why: String,
    },
}
