//! Quantities with units, and their text format: numbers are converted to text only here.

mod amounts;
mod bytes;
mod count;
mod digits;
mod scale;
mod supported;
mod time;

pub use amounts::{Bytes, Nanoseconds, Ratio};
pub use bytes::{ByteUnit, format_bytes, format_size};
pub use count::{counted, cpu_share, format_count};
pub use digits::{decimals_for, digits_before_point, fixed, three_digits};
pub use scale::Scale;
pub use supported::supported_decimals;
pub use time::{TimeUnit, format_time, short_time};
