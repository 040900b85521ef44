//! A random cycle of pointers, one per slot, that stays random while it grows.

use std::io;
use std::time::Instant;

use crate::kernels;
use crate::mapping::{Mapping, Pages};

/// The xorshift generator that places the slots; not for statistics.
#[derive(Debug, Clone)]
pub(crate) struct Xorshift(u64);

impl Xorshift {
    /// Creates a generator from `seed`; zero is replaced, because the sequence would stay zero.
    pub(crate) fn new(seed: u64) -> Xorshift {
        Xorshift(if seed == 0 {
            0x9e37_79b9_7f4a_7c15
        } else {
            seed
        })
    }

    /// Returns the next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below `bound` (> 0).
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

/// The placement of the slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Distance between neighbouring slots in bytes.
    pub spacing: usize,
    /// Added to slot i: `(i * rotation) % rotation_period`. It keeps slots at page distance from all mapping
    /// to the same cache set. 0 for no rotation.
    pub rotation: usize,
    /// See `rotation`; at least 1.
    pub rotation_period: usize,
}

impl Layout {
    /// Returns adjacent slots at `spacing`.
    pub(crate) fn every(spacing: usize) -> Layout {
        Layout {
            spacing,
            rotation: 0,
            rotation_period: 1,
        }
    }

    fn offset(self, slot: usize) -> usize {
        slot * self.spacing + (slot * self.rotation) % self.rotation_period
    }
}

/// A cycle of pointers through the slots of a mapping.
///
/// It grows slot by slot (Sattolo's algorithm, run forwards): a new slot is linked in behind a
/// random one, so at every size the slots form one uniformly random cycle, and one mapping serves
/// all sizes of a latency curve, from small to large. The memory is written, so no page is the
/// shared zero page.
#[derive(Debug)]
pub(crate) struct Cycle {
    mapping: Mapping,
    layout: Layout,
    slots: usize,
    random: Xorshift,
    at: *const u8,
}

// SAFETY: the pointers lead into the cycle's own mapping.
unsafe impl Send for Cycle {}

impl Cycle {
    /// Creates a cycle of one slot with room for `most_slots`.
    pub(crate) fn new(
        most_slots: usize,
        layout: Layout,
        pages: Pages,
        seed: u64,
    ) -> io::Result<Cycle> {
        let bytes = layout.offset(most_slots) + layout.rotation_period + size_of::<usize>();
        let mapping = Mapping::new(bytes, pages)?;
        let base = mapping.base();
        // SAFETY: slot 0 lies inside the mapping.
        unsafe { base.cast::<*const u8>().write_unaligned(base) };
        Ok(Cycle {
            mapping,
            layout,
            slots: 1,
            random: Xorshift::new(seed),
            at: base,
        })
    }

    /// Grows the cycle to `slots` slots; does nothing if it already has that many. Panics beyond the
    /// capacity. If the deadline passes, the cycle keeps fewer slots.
    pub(crate) fn grow(&mut self, slots: usize) {
        assert!(
            self.layout.offset(slots) <= self.mapping.bytes(),
            "beyond the mapping"
        );
        let base = self.mapping.base();
        for i in self.slots..slots {
            // 65536 slots take about 1 ms.
            if i % (1 << 16) == 0 && crate::deadline::passed() {
                break;
            }
            let j = self.random.below(i as u64) as usize;
            // SAFETY: both offsets lie inside the mapping, as asserted above.
            unsafe {
                let new = base.add(self.layout.offset(i)).cast::<*const u8>();
                let old = base.add(self.layout.offset(j)).cast::<*const u8>();
                new.write_unaligned(old.read_unaligned());
                old.write_unaligned(new.cast());
            }
            self.slots = i + 1;
        }
    }

    /// Starts over with one slot, in the existing mapping.
    ///
    /// A cycle can't shrink otherwise: once it leads through n slots, a walk visits all of them.
    pub(crate) fn restart(&mut self) {
        let base = self.mapping.base();
        // SAFETY: slot 0 lies inside the mapping.
        unsafe { base.cast::<*const u8>().write_unaligned(base) };
        self.slots = 1;
        self.at = base;
    }

    /// Returns the number of slots in the cycle.
    #[cfg(test)]
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// Returns the memory of the slots.
    pub(crate) fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// Follows `rounds` x 16 pointers from the end of the last walk.
    pub(crate) fn walk(&mut self, rounds: u64) -> *const u8 {
        // SAFETY: `at` is a slot, and all slots hold pointers to slots of this mapping.
        self.at = unsafe { kernels::chase(self.at, rounds) };
        self.at
    }

    /// Returns the ns per load in a walk of `rounds` x 16 pointers.
    pub(crate) fn load_ns(&mut self, rounds: u64) -> f64 {
        let start = Instant::now();
        std::hint::black_box(self.walk(rounds));
        start.elapsed().as_nanos() as f64 / (rounds * 16) as f64
    }

    /// Returns the starts of `lanes` walks that are `slots / lanes` steps apart along the cycle, and the
    /// smallest distance between neighbours in steps, including from the last to the first.
    ///
    /// Lanes that start at the same place walk the same lines, so their speed-up isn't real.
    pub(crate) fn starts(&self, lanes: usize) -> (Vec<*const u8>, usize) {
        let stride = self.slots / lanes.max(1);
        let mut starts = Vec::with_capacity(lanes);
        let mut at = self.mapping.base().cast_const();
        for step in 0..stride * lanes {
            if step % stride.max(1) == 0 {
                starts.push(at);
            }
            // SAFETY: `at` is a slot.
            at = unsafe { at.cast::<*const u8>().read_unaligned() };
        }
        (starts, stride)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lap(cycle: &Cycle) -> Vec<usize> {
        let base = cycle.mapping.base().cast_const();
        let mut at = base;
        let mut order = Vec::new();
        loop {
            order.push((at as usize - base as usize) / cycle.layout.spacing);
            // SAFETY: `at` is a slot of the cycle.
            at = unsafe { at.cast::<*const u8>().read_unaligned() };
            if at == base || order.len() > cycle.slots {
                return order;
            }
        }
    }

    #[test]
    fn every_prefix_is_one_cycle_through_all_its_slots() {
        let mut cycle = Cycle::new(1000, Layout::every(64), Pages::Small, 7).unwrap();
        for slots in [1, 2, 3, 10, 99, 1000] {
            cycle.grow(slots);
            let mut order = lap(&cycle);
            assert_eq!(order.len(), slots);
            order.sort_unstable();
            assert_eq!(order, (0..slots).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_cycle_that_begins_again_is_small_again() {
        let mut cycle = Cycle::new(100, Layout::every(64), Pages::Small, 7).unwrap();
        cycle.grow(100);
        cycle.restart();
        cycle.grow(10);
        let mut order = lap(&cycle);
        order.sort_unstable();
        assert_eq!(order, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn the_order_is_random_and_not_sequential() {
        let mut cycle = Cycle::new(1000, Layout::every(64), Pages::Small, 7).unwrap();
        cycle.grow(1000);
        let order = lap(&cycle);
        let neighbours = order
            .windows(2)
            .filter(|w| w[0].abs_diff(w[1]) == 1)
            .count();
        assert!(
            neighbours < 20,
            "{neighbours} of 999 steps go to a neighbour"
        );
    }

    #[test]
    fn a_walk_ends_at_the_predicted_slot() {
        let mut cycle = Cycle::new(100, Layout::every(24), Pages::Small, 3).unwrap();
        cycle.grow(100);
        let order = lap(&cycle);
        let end = cycle.walk(10) as usize - cycle.mapping.base() as usize;
        assert_eq!(end / 24, order[160 % 100]);
    }

    #[test]
    fn rotated_slots_do_not_overlap() {
        let layout = Layout {
            spacing: 4096,
            rotation: 64,
            rotation_period: 4096,
        };
        let mut cycle = Cycle::new(300, layout, Pages::Small, 3).unwrap();
        cycle.grow(300);
        let offsets: std::collections::HashSet<usize> =
            (0..300).map(|slot| layout.offset(slot)).collect();
        assert_eq!(offsets.len(), 300);
        assert_eq!(lap(&cycle).len(), 300);
    }

    #[test]
    fn lanes_start_apart() {
        let mut cycle = Cycle::new(1000, Layout::every(64), Pages::Small, 3).unwrap();
        cycle.grow(1000);
        assert_eq!(cycle.slots(), 1000);
        let order = lap(&cycle);
        let (starts, distance) = cycle.starts(7);
        assert_eq!((starts.len(), distance), (7, 142));
        let base = cycle.mapping.base() as usize;
        for (lane, start) in starts.iter().enumerate() {
            assert_eq!((*start as usize - base) / 64, order[lane * 142]);
        }
    }
}
