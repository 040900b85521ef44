//! The core's clock at this moment, to count work in cycles.
//!
//! A core's clock moves by several percent within a second where many cores share a budget of
//! power, so a clock that was measured earlier is not the one of the work. A piece of the ruler is
//! run beside each piece of work instead.

use std::time::Instant;

use crate::kernels;

/// Pieces that are remembered. The fastest of them counts: an interrupt makes one piece long, but
/// not sixteen, which are over within some tenths of a millisecond.
const PIECES: usize = 16;

/// Turns of 256 additions in one piece: 2.9 us at 3.5 GHz.
pub(crate) const TURNS: u64 = 40;

/// Reads of the time that show what reading it costs: 20 to 30 ns, 1 % of a piece.
const READS: usize = 100;

/// The length of a cycle now, by `turns` of 256 additions that each need the one before: one cycle
/// each.
pub(crate) fn ns_per_cycle(turns: u64) -> f64 {
    let start = Instant::now();
    let cycles = kernels::dependent_adds(turns);
    start.elapsed().as_nanos() as f64 / cycles as f64
}

/// The lengths of a cycle of late.
#[derive(Debug)]
pub(crate) struct Ruler {
    ns_per_cycle: [f64; PIECES],
    next: usize,
    /// What reading the time adds to a piece, ns.
    reading_ns: f64,
}

impl Ruler {
    /// A ruler with all of its pieces measured.
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

    /// Measures one more piece in place of the oldest.
    fn lay(&mut self) {
        let start = Instant::now();
        let cycles = kernels::dependent_adds(TURNS) as f64;
        let ns = start.elapsed().as_nanos() as f64 - self.reading_ns;
        self.ns_per_cycle[self.next] = ns / cycles;
        self.next = (self.next + 1) % PIECES;
    }

    /// The clock now in cycles per ns (GHz).
    pub(crate) fn ghz(&mut self) -> f64 {
        self.lay();
        1.0 / self
            .ns_per_cycle
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min)
    }

    /// How many cycles `work` takes; what it returns counts as used.
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
        // The fastest of many: whoever else is on this machine can only make it longer.
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
