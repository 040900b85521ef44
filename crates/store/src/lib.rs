//! Stores whole records and the series of their figures, in SQLite (one file) or in PostgreSQL (a team's
//! server).
//!
//! Start at [`Store`]. [`location::which`] selects the store, [`Draft::of`] prepares a record's JSON for
//! saving, and [`save_or_keep`] saves it or, if that fails, writes it to a file. `docs/store.md` is the user
//! documentation.

mod bundle;
mod chunk;
mod database;
pub mod date;
mod draft;
mod error;
mod extract;
mod figure;
mod form;
pub mod git;
mod keep;
mod light;
pub mod location;
mod postgresql;
mod prune;
mod read;
mod records;
pub mod regular;
mod rename;
mod save;
mod segment;
mod sqlite;
mod store;
pub mod variables;

pub use bundle::Loaded;
pub use draft::{Draft, Input};
pub use error::Error;
pub use extract::{NOISE_FLOOR, NULL_ARM, bench_parameters, extract, imported_points};
pub use figure::{NewPoint, Point, Revision};
pub use keep::{Kept, save_or_keep};
pub use location::Location;
pub use prune::Prune;
pub use read::{HistoryPoint, Series, SeriesFilter, Since};
pub use records::{Head, Selector};
pub use save::{Saved, Warning};
pub use segment::Segment;
pub use store::{Info, Options, Store};
