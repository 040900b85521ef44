//! Derives the random order of launches and steps from the seed.

/// Generates random orders; the same seed gives the same orders.
pub(super) struct Orders(u64);

impl Orders {
    pub(super) fn new(seed: u64) -> Orders {
        Orders(seed)
    }

    /// Shuffles the items (Fisher-Yates with SplitMix64).
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, (self.next() % (last as u64 + 1)) as usize);
        }
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_everything_once_and_is_the_seeds() {
        let draw = |seed| {
            let mut items: Vec<u32> = (0..10).collect();
            Orders::new(seed).shuffle(&mut items);
            items
        };
        let mut sorted = draw(1);
        assert_eq!(draw(1), sorted);
        assert_ne!(draw(1), draw(2));
        sorted.sort_unstable();
        assert_eq!(sorted, (0..10).collect::<Vec<_>>());
    }
}
