//! A default seed.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns a seed that is different each time; it is shown and recorded, so that the order can be reproduced.
pub fn fresh_seed() -> u64 {
    let time = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as u64);
    // Six digits are enough to be distinct, and short enough to type.
    (time ^ u64::from(std::process::id()).rotate_left(40)) % 1_000_000
}
