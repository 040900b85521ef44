//! Other tools' result files: what they hold, as records, and records in forms that they read.
//!
//! [`read`] takes one file, recognises it by content and gives an [`Imported`]; [`read_folder`] takes the
//! files of a folder, as [`walk`] finds them. Each format is a file in `formats/` and a line in `table.rs`.
//! No more than 400 MB of memory is taken, whatever the file holds.

mod collector;
mod error;
pub mod export;
mod failed;
mod folder;
mod formats;
mod json;
mod lines;
mod measure;
mod read;
mod rows;
mod table;
mod utf16;
mod xml;

pub use error::Error;
pub use fathom_model::imported::{
    Benchmark, Direction, Imported, LeftOut, Source, Summary, Values,
};
pub use folder::{Entry, Folder, read_folder, walk};
pub use read::{LARGEST_DOCUMENT, read, read_all, read_commit};
pub use rows::{separator, with_point};
pub use table::{FORMATS, Format, names};
pub use utf16::decoded as utf8;
