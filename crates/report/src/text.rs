//! Text from outside, made safe and made to fit.

mod escape;
mod fit;
mod html;
mod wrap;

pub use escape::escape;
pub(crate) use escape::escape_to_ascii;
pub use fit::{columns, shorten};
pub(crate) use fit::{prefix, shorten_with};
pub(crate) use html::{bounded, html, name, words};
pub(crate) use wrap::{JOIN, wrap};
