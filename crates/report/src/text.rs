//! Untrusted text: made safe and fitted to a width.

mod fit;
mod html;
mod wrap;

pub(crate) use fathom_model::escape_to_ascii;
pub use fathom_model::{escape, guarded};
pub use fit::{columns, shorten};
pub(crate) use fit::{prefix, shorten_with};
pub(crate) use html::{bounded, html, name, words};
pub(crate) use wrap::{JOIN, wrap};

/// Like `write!`, for a `String`, where it can't fail.
macro_rules! put {
    ($out:expr, $($argument:tt)*) => {{
        let _ = std::fmt::Write::write_fmt(&mut $out, format_args!($($argument)*));
    }};
}
pub(crate) use put;
