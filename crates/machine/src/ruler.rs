//! The core's clock at this moment, to count work in cycles.
//!
//! A core's clock changes by several percent within a second if many cores share a power budget, so the work
//! doesn't run at a clock measured earlier. Instead, a piece of the ruler is run next to each piece of work.

use std::time::Instant;

use crate::kernels;

/// Number of pieces kept. The fastest of them counts: an interrupt makes one piece long, but not sixteen,
/// which take only a few tenths of a millisecond.
const PIECES: usize = 16;

/// Iterations of 256 additions in one piece: 2.9 us at 3.5 GHz.
pub(crate) const TURNS: u64 = 40;

/// Number of clock readings that determine their own cost: 20 to 30 ns, 1 % of a piece.
const READS: usize = 100;

/// Returns the current length of a cycle in ns, measured with `turns` x 256 dependent additions of one cycle
/// each.
pub(crate) fn ns_per_cycle(turns: u64) -> f64 {
    let start = Instant::now();
    let cycles = kernels::dependent_adds(turns);
    start.elapsed().as_nanos() as f64 / cycles as f64
}

/// Recent lengths of a cycle.
#[derive(Debug)]
pub(crate) struct Ruler {
    ns_per_cycle: [f64; PIECES],
    next: usize,
    /// Cost of a clock reading that is included in a piece, in ns.
    reading_ns: f64,
}

impl Ruler {
    /// Creates a ruler and measures all of its pieces.
    pub(crate) fn new() -> Ruler {
        let mut ruler = Ruler {
            ns_per_cycle: [f64::INFINITY; PIECES],
            next: 0,
            reading_ns: (0..READS)
                .map(|_| Instant::now().elapsed().as_nanos() as f64)
                .fold(f64::INFINITY, f64::min),
        };
        for _ in 0..PIECES {
            ruler.lay();
        }
        ruler
    }

    /// Measures another piece in place of the oldest.
    fn lay(&mut self) {
        let start = Instant::now();
        let cycles = kernels::dependent_adds(TURNS) as f64;
        let ns = start.elapsed().as_nanos() as f64 - self.reading_ns;
        self.ns_per_cycle[self.next] = ns / cycles;
        self.next = (self.next + 1) % PIECES;
    }

    /// Returns the current clock in cycles per ns (GHz).
    pub(crate) fn ghz(&mut self) -> f64 {
        self.lay();
        1.0 / self
            .ns_per_cycle
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min)
    }

    /// Returns how many cycles `work` takes; its result counts as used.
    pub(crate) fn cycles<R>(&mut self, work: impl FnOnce() -> R) -> f64 {
        let ghz = self.ghz();
        let start = Instant::now();
        std::hint::black_box(work());
        (start.elapsed().as_nanos() as f64 - self.reading_ns) * ghz
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_piece_counts_until_it_is_old() {
        let mut ruler = Ruler {
            ns_per_cycle: [0.5; PIECES],
            next: 0,
            reading_ns: 0.0,
        };
        ruler.ns_per_cycle[3] = 0.000_01;
        assert!(ruler.ghz() > 99_999.0);
        for _ in 0..PIECES {
            ruler.lay();
        }
        assert!(ruler.ghz() < 99_999.0);
    }

    #[test]
    fn additions_that_need_each_other_take_a_cycle_each() {
        // The fastest of many: other programs on this machine can only make it longer.
        let mut ruler = Ruler::new();
        let least = (0..2000)
            .map(|_| ruler.cycles(|| kernels::dependent_adds(40)))
            .fold(f64::INFINITY, f64::min);
        assert!(
            least > 0.5 * 40.0 * 256.0 && least < 1.5 * 40.0 * 256.0,
            "{least}"
        );
    }
}
