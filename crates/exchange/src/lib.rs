//! Reads other tools' result files as records, and writes records in formats that those tools read.
//!
//! [`read`] recognises one file by its content, reads it, and returns an [`Imported`]; [`read_folder`] reads
//! the files of a folder, as found by [`walk`]. Each format is a file in `formats/` and a line in `table.rs`.
//! Memory use stays below 400 MB for any file.

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
