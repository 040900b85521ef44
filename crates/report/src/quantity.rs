//! Changes and shares in words; plain quantities are written by [`fathom_model::quantity`].

mod apart;
mod percent;
mod ratio;

pub(crate) use apart::apart;
pub(crate) use fathom_model::quantity::{ByteUnit, counted, decimals_for, fixed, short_time};
pub use fathom_model::quantity::{TimeUnit, format_bytes, format_count, format_time};
pub(crate) use fathom_stats::supported_decimals;
pub(crate) use percent::{format_level, format_share};
pub(crate) use ratio::{
    Words, bound, change, change_and_interval, change_with_interval, signed, signed_apart,
    signed_interval, signed_with_interval,
};
