//! Seeded damage to valid input, for parsers of untrusted bytes: the same on every machine.

/// Texts that break parsers of numbers, names and lists.
const AWKWARD: [&str; 12] = [
    "18446744073709551615",
    "-9223372036854775808",
    "1e999",
    "-1",
    "nan",
    "(",
    ")",
    "-",
    ",",
    "\n",
    "\0",
    "\u{10ffff}",
];

/// Returns `count` texts, each `valid` with one to four pieces of damage: a changed byte, a lost or
/// duplicated piece, or an inserted awkward text. Invalid UTF-8 is then replaced, as in a lossy reader.
pub(crate) fn mutated(valid: &str, seed: u64, count: usize) -> impl Iterator<Item = String> {
    // Splitmix64 by Steele, Lea and Flood (2014).
    let mut state = seed;
    let mut below = move |most: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % (most.max(1) as u64)) as usize
    };
    let valid = valid.as_bytes().to_vec();
    (0..count).map(move |_| {
        let mut bytes = valid.clone();
        for _ in 0..=below(4) {
            let from = below(bytes.len() + 1);
            let to = (from + 1 + below(8)).min(bytes.len()).max(from);
            match below(5) {
                0 if from < bytes.len() => bytes[from] = below(256) as u8,
                1 => drop(bytes.drain(from..to)),
                2 => bytes
                    .splice(from..from, bytes[from..to].to_vec())
                    .for_each(drop),
                3 => bytes.truncate(from),
                _ => {
                    let text = AWKWARD[below(AWKWARD.len())];
                    bytes.splice(from..to, text.bytes()).for_each(drop);
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
