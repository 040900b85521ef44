//! Exports of a record for other programs and for documents.

mod asciidoc;
mod csv;
mod hyperfine;
mod markdown;
mod markup;
mod orgmode;

pub use asciidoc::asciidoc;
pub use csv::csv;
pub use hyperfine::hyperfine_json;
pub(crate) use markdown::code;
pub use markdown::markdown;
pub use orgmode::orgmode;
