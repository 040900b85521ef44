//! Fixed work of a known length, for a program that is run against itself.

use std::time::{Duration, Instant};

use crate::kernels;

/// Runs `turns` iterations of 256 dependent additions. Returns the number of additions.
pub fn work(turns: u64) -> u64 {
    std::hint::black_box(kernels::dependent_adds(turns))
}

/// Returns the number of iterations, at least 1, that take `time` on this core without disturbance.
pub fn turns_for(time: Duration) -> u64 {
    const TURNS: u64 = 400;
    let least = (0..50)
        .map(|_| {
            let start = Instant::now();
            work(TURNS);
            start.elapsed()
        })
        .min()
        .unwrap_or_default();
    let each = least.as_secs_f64().max(1e-9) / TURNS as f64;
    ((time.as_secs_f64() / each) as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_additions_are_made() {
        assert_eq!(work(10), 2560);
    }

    #[test]
    fn more_time_is_more_turns() {
        assert!(turns_for(Duration::from_millis(20)) > turns_for(Duration::from_micros(20)));
    }
}
