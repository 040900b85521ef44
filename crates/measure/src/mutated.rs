//! Input for tests of parsers of untrusted bytes: valid input with some bytes changed, in the same way every
//! time.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Enough to reach each branch of these parsers many times; takes some milliseconds in a debug build.
const VARIANTS: usize = 4000;
const SEED: u64 = 36;
/// The maximum number of changes in one variant.
const MOST_CHANGES: usize = 8;
/// Bytes with a meaning in many parsers.
const MARKS: &[u8] = b"\0\n \t-+,:()/[]09\x7f\xff";

/// Returns variants of `valid`, with bytes replaced, flipped, removed, inserted, repeated and truncated.
pub(crate) fn mutated(valid: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let mut random = SmallRng::seed_from_u64(SEED);
    let valid = valid.to_vec();
    (0..VARIANTS).map(move |_| {
        let mut bytes = valid.clone();
        for _ in 0..random.random_range(1..=MOST_CHANGES) {
            change(&mut bytes, &mut random);
        }
        bytes
    })
}

/// Like [`mutated`], but as text; invalid UTF-8 becomes a replacement character.
pub(crate) fn mutated_text(valid: &str) -> impl Iterator<Item = String> {
    mutated(valid.as_bytes()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn change(bytes: &mut Vec<u8>, random: &mut SmallRng) {
    let mark = MARKS[random.random_range(0..MARKS.len())];
    if bytes.is_empty() {
        bytes.push(mark);
        return;
    }
    let at = random.random_range(0..bytes.len());
    let end = random.random_range(at..bytes.len().min(at + 16)) + 1;
    match random.random_range(0..7) {
        0 => bytes[at] = random.random(),
        1 => bytes[at] ^= 1 << random.random_range(0..8),
        2 => bytes[at] = mark,
        3 => bytes.insert(at, mark),
        4 => drop(bytes.drain(at..end)),
        5 => {
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        _ => bytes.truncate(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_launcher::account::{self, Exited};
    use fathom_launcher::shared::Answer;

    #[test]
    fn variants_are_the_same_every_time_and_differ_from_each_other() {
        let variants: Vec<_> = mutated(b"12 34 56\n").collect();
        assert!(
            variants
                .iter()
                .eq(&mutated(b"12 34 56\n").collect::<Vec<_>>())
        );
        let different: std::collections::BTreeSet<_> = variants.iter().collect();
        assert!(different.len() > VARIANTS / 2, "{}", different.len());
    }

    #[test]
    fn a_changed_schedstat_is_three_numbers_or_refused() {
        let mut accepted = 0;
        for text in mutated_text("1234567 89 12\n") {
            if account::schedstat(&text).is_some() {
                accepted += 1;
                let words: Vec<_> = text.split_ascii_whitespace().take(3).collect();
                assert_eq!(words.len(), 3, "{text:?}");
                assert!(
                    words.iter().all(|word| word.parse::<u64>().is_ok()),
                    "{text:?}"
                );
            }
        }
        assert!(0 < accepted && accepted < VARIANTS);
    }

    #[test]
    fn a_changed_stat_has_a_cpu_of_its_digits_or_none() {
        let stat = format!("77 (a) b) S {}3 0 0\n", "0 ".repeat(35));
        for bytes in mutated(stat.as_bytes()) {
            let cpu = account::last_cpu(&bytes);
            assert!(cpu >= -1);
            let text = String::from_utf8_lossy(&bytes);
            assert!(
                cpu < 10 || text.contains(&cpu.to_string()),
                "{cpu} {text:?}"
            );
        }
    }

    /// Returns an answer as the launcher and the kernel fill it in in the shared memory.
    fn answer() -> Vec<u8> {
        // SAFETY: only numbers and byte arrays, so all zeros are a valid answer.
        let mut answer: Answer = unsafe { std::mem::zeroed() };
        (answer.start_ns, answer.exec_ns, answer.end_ns) = (1_000, 2_000, 3_000_000);
        answer.usage[1] = 900;
        for (text, bytes) in [
            (&mut answer.schedstat, &b"900000 89 12\n"[..]),
            (&mut answer.own_before, b"10 20 30\n"),
            (&mut answer.own_after, b"11 25 31\n"),
        ] {
            text.length = bytes.len() as i64;
            text.bytes[..bytes.len()].copy_from_slice(bytes);
        }
        let io = b"rchar: 10\nwchar: 20\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\n";
        answer.io.length = io.len() as i64;
        answer.io.bytes[..io.len()].copy_from_slice(io);
        // SAFETY: as many bytes as the structure has; its layout has no padding.
        let bytes = unsafe {
            std::slice::from_raw_parts((&raw const answer).cast::<u8>(), size_of::<Answer>())
        };
        bytes.to_vec()
    }

    #[test]
    fn a_changed_answer_of_the_launcher_has_metrics_within_its_wall_time() {
        let valid = answer();
        let (mut undisturbed, mut with_io) = (0, 0);
        for mut bytes in mutated(&valid) {
            bytes.resize(valid.len(), 0xff);
            // SAFETY: the size matches, and any bytes are a valid answer.
            let answer: Answer = unsafe { bytes.as_ptr().cast::<Answer>().read_unaligned() };
            let metrics = account::metrics(&answer);
            assert!(metrics.wall_ns <= answer.end_ns);
            assert!(
                metrics
                    .undisturbed_ns
                    .is_none_or(|ns| ns <= metrics.wall_ns)
            );
            assert!(
                metrics
                    .harness_wait_ns
                    .is_none_or(|ns| ns <= metrics.wall_ns)
            );
            undisturbed += usize::from(metrics.undisturbed_ns.is_some());
            with_io += usize::from(metrics.io.is_some());
            match account::exited(answer.status) {
                Exited::Code(code) => assert!((0..=255).contains(&code)),
                Exited::Signal(signal) => assert!((1..=127).contains(&signal)),
            }
        }
        assert!(undisturbed > 0 && with_io > 0);
    }
}
