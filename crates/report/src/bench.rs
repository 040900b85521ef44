//! The page of `fathom bench`. What it prints is in [`crate::terminal`], what it exports in
//! [`crate::export`].

mod html;
mod pictures;
mod tables;

pub use html::bench_html;
