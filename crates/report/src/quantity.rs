//! Numbers as people write them.

mod bytes;
mod count;
mod digits;
mod percent;
mod ratio;
mod time;

pub(crate) use bytes::ByteUnit;
pub use bytes::format_bytes;
pub(crate) use count::counted;
pub use count::format_count;
pub(crate) use digits::{decimals_for, fixed, supported_decimals};
pub(crate) use percent::{format_level, format_share};
pub(crate) use ratio::{Words, bound, change, change_with_interval};
pub use time::{TimeUnit, format_time};
