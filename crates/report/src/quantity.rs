//! Changes and shares in words; [`fathom_model::quantity`] formats plain quantities.

mod apart;
mod in_unit;
mod percent;
mod ratio;

pub(crate) use apart::{apart, decimals_apart};
pub(crate) use fathom_model::quantity::{
    ByteUnit, Scale, counted, decimals_for, fixed, short_time, supported_decimals,
};
pub use fathom_model::quantity::{TimeUnit, format_bytes, format_count, format_time};
pub use in_unit::format_metric;
pub(crate) use in_unit::{InUnit, heading};
pub(crate) use percent::{format_level, format_share};
pub(crate) use ratio::{
    Words, bound, change, change_and_interval, change_with_interval, is_counted, signed,
    signed_apart, signed_interval, signed_intervals, signed_with_interval,
};
