//! The timed loops, one file per architecture and kind.
//!
//! Both architectures provide the same functions.

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;
#[cfg(target_arch = "x86_64")]
#[path = "x86_64_chains.rs"]
pub(crate) mod chains;
#[cfg(target_arch = "x86_64")]
#[path = "x86_64_streams.rs"]
pub(crate) mod streams;

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::*;
#[cfg(target_arch = "aarch64")]
#[path = "aarch64_chains.rs"]
pub(crate) mod chains;
#[cfg(target_arch = "aarch64")]
#[path = "aarch64_streams.rs"]
pub(crate) mod streams;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dependent_add_is_executed() {
        assert_eq!(dependent_adds(1), 256);
        assert_eq!(dependent_adds(1000), 256_000);
    }

    #[test]
    fn a_chase_ends_at_the_predicted_cell() {
        let mut cells = [0usize; 7];
        let base = cells.as_ptr() as usize;
        for (i, cell) in cells.iter_mut().enumerate() {
            *cell = base + ((i + 3) % 7) * size_of::<usize>();
        }
        // SAFETY: every cell points to a cell of the same vector.
        let end = unsafe { chase(cells.as_ptr().cast(), 5) };
        assert_eq!(end as usize, base + (80 * 3 % 7) * size_of::<usize>());
    }

    #[test]
    fn random_branches_count_the_ones_of_the_stream() {
        let (mut x, mut expected) = (88_172_645_463_325_252u64, 0);
        for _ in 0..1000 {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            expected += (x >> 17) & 1;
        }
        let mut state = 88_172_645_463_325_252;
        assert_eq!(random_branches(&mut state, 1000, 1), expected);
        assert_eq!(state, x, "the stream goes on where it stopped");
        assert_eq!(
            random_branches(&mut state, 1000, 0),
            0,
            "mask 0 never counts"
        );
    }

    #[test]
    fn pattern_branches_count_what_is_not_zero() {
        assert_eq!(pattern_branches(&[0, 1, 1, 0, 7]), 3);
        assert_eq!(pattern_branches(&[]), 0);
    }

    #[test]
    fn both_prefix_sums_agree_and_differences_undo_them() {
        let src: Vec<u64> = (0..64).map(|i| i * i + 1).collect();
        let mut memory = vec![0; 64];
        let mut register = vec![0; 64];
        prefix_through_memory(&src, &mut memory);
        prefix_through_register(&src, &mut register);
        let sums: Vec<u64> = src
            .iter()
            .scan(0, |sum, x| {
                *sum += x;
                Some(*sum)
            })
            .collect();
        assert_eq!(memory, sums);
        assert_eq!(register, sums);
        let mut longer = vec![0];
        longer.extend(&sums);
        let mut back = vec![0; 64];
        differences(&longer, &mut back);
        assert_eq!(back, src);
    }

    #[repr(align(64))]
    struct Aligned([u64; 96]);

    #[test]
    fn streams_read_write_and_copy_every_word() {
        let mut a = Aligned([0; 96]);
        let mut b = Aligned([0; 96]);
        for (i, word) in a.0.iter_mut().enumerate() {
            *word = i as u64 + 1;
        }
        // SAFETY: both arrays have 768 aligned bytes and do not overlap.
        unsafe {
            assert_eq!(streams::read(a.0.as_ptr().cast(), 768), 96 * 97 / 2);
            // The numbers are small, so the words read are the lower halves of every second number.
            let odd = (1..=96).step_by(2).sum::<u64>();
            assert_eq!(streams::read_words(a.0.as_ptr().cast(), 768), odd);
            streams::copy(a.0.as_ptr().cast(), b.0.as_mut_ptr().cast(), 768);
            assert_eq!(b.0, a.0);
            streams::write(b.0.as_mut_ptr().cast(), 512, 5);
            assert_eq!(b.0[..64], [5; 64]);
            assert_eq!(b.0[64..], a.0[64..], "writes stop at the length");
            streams::write_around(b.0.as_mut_ptr().cast(), 768, 9);
            assert_eq!(b.0, [9; 96]);
        }
    }

    #[test]
    fn every_chain_does_all_its_operations() {
        use chains::{CHAINS, Operation, PER_TURN, available, run};
        for chains in CHAINS {
            let used = |ends: [f64; 8]| ends[..chains].to_vec();
            let count = (3 * PER_TURN) as f64;
            assert_eq!(used(run(Operation::Add, chains, 3)), vec![count; chains]);
            assert_eq!(
                used(run(Operation::FloatAdd, chains, 3)),
                vec![count; chains]
            );
            assert_eq!(used(run(Operation::Load, chains, 3)), vec![7.0; chains]);
            let power = 3u64.wrapping_pow(3 * PER_TURN as u32) as f64;
            assert_eq!(
                used(run(Operation::Multiply, chains, 3)),
                vec![power; chains]
            );
            if available(Operation::FusedMultiplyAdd) {
                let ends = used(run(Operation::FusedMultiplyAdd, chains, 3));
                assert_eq!(ends, vec![count; chains]);
            }
        }
    }

    #[test]
    fn the_counter_moves_forward() {
        let first = ticks();
        let _ = dependent_adds(100_000);
        assert!(ticks() > first);
    }
}
