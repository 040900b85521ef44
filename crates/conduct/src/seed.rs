//! A seed where the user gives none.

use std::time::{SystemTime, UNIX_EPOCH};

/// Different each time; shown and recorded, so that the order can be had again.
pub fn fresh_seed() -> u64 {
    let time = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as u64);
    // Six digits are enough to be different, and short enough to be typed.
    (time ^ u64::from(std::process::id()).rotate_left(40)) % 1_000_000
}
