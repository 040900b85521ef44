//! Finds the line of an instruction.
//!
//! Format: `InternalDocs/code_objects.md` of Python, "The locations table": entries of one byte with a kind
//! and a number of instructions, followed by the data of that kind.

/// Size of an instruction in bytes.
pub(super) const INSTRUCTION: u64 = 2;

const NO_LINE: u8 = 15;
const LONG: u8 = 14;
const NO_COLUMN: u8 = 13;
const ONE_LINE: u8 = 10;

/// Returns the line of the instruction `at` bytes after the first; `None` if the table has none.
pub(super) fn line_at(table: &[u8], first_line: i32, at: u64) -> Option<u32> {
    let (mut rest, mut line, mut from) = (table, i64::from(first_line), 0u64);
    while let Some((head, behind)) = rest.split_first() {
        let (kind, count) = (head >> 3 & 15, u64::from(head & 7) + 1);
        rest = behind;
        let delta = match kind {
            LONG => {
                let delta = signed(&mut rest)?;
                for _ in 0..3 {
                    unsigned(&mut rest)?;
                }
                delta
            }
            NO_COLUMN => signed(&mut rest)?,
            ONE_LINE..NO_COLUMN => {
                rest = rest.get(2..)?;
                i64::from(kind - ONE_LINE)
            }
            NO_LINE => 0,
            _ => {
                rest = rest.get(1..)?;
                0
            }
        };
        line = line.checked_add(delta)?;
        let to = from + count * INSTRUCTION;
        if at < to {
            let known = u32::try_from(line).ok().filter(|line| *line > 0);
            return known.filter(|_| kind != NO_LINE);
        }
        from = to;
    }
    None
}

/// Reads a number, six bits from each byte, lowest bits first. Another byte follows if the seventh bit is
/// set.
fn unsigned(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..60).step_by(6) {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        value |= u64::from(byte & 63) << shift;
        if byte & 64 == 0 {
            return Some(value);
        }
    }
    None
}

fn signed(rest: &mut &[u8]) -> Option<i64> {
    let value = unsigned(rest)?;
    let size = (value >> 1) as i64;
    Some(if value & 1 == 1 { -size } else { size })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hexadecimal: &str) -> Vec<u8> {
        let pairs = (0..hexadecimal.len()).step_by(2);
        pairs
            .map(|at| u8::from_str_radix(&hexadecimal[at..at + 2], 16).expect("hexadecimal"))
            .collect()
    }

    /// Tables of Python 3.11.2 with the output of `co_lines`: for a function whose lines go back, and for one
    /// with distances of more than one byte.
    #[test]
    fn a_table_of_pythons_own_gives_the_lines_that_python_says() {
        let back = bytes(
            "8000d808098041dd0d12903189588c58f00003051ff00003051f8801d808098d53f00002111ff00002111fd81b1cd81b\
             1cf003011b1ef00302111ff10002111ff40002111ff100020e1ff400020e1ff10002091f88018801f008000c0d8048",
        );
        let far = bytes(
            "8000f06c0f0002038543f00000095303f10000055403f40000055403f14b0365010954038041f04c03000c0d8048",
        );
        let of_back = [
            (0, 1),
            (2, 2),
            (4, 2),
            (6, 3),
            (38, 3),
            (40, 4),
            (58, 5),
            (60, 6),
            (62, 5),
            (64, 4),
            (100, 4),
            (102, 8),
            (104, 8),
        ];
        for (at, line) in of_back {
            assert_eq!(line_at(&back, 1, at), Some(line), "{at}");
        }
        for (at, line) in [
            (0, 1),
            (2, 503),
            (22, 503),
            (32, 402),
            (36, 402),
            (38, 504),
            (40, 504),
        ] {
            assert_eq!(line_at(&far, 1, at), Some(line), "{at}");
        }
        assert_eq!(line_at(&far, 1, 42), None);
    }

    #[test]
    fn what_has_no_line_has_none() {
        // One instruction without a line, and one on the next line in the long form.
        let table = [0xf8, 0xf0, 2, 0, 0, 0];
        assert_eq!(line_at(&table, 7, 0), None);
        assert_eq!(line_at(&table, 7, 2), Some(8));
        assert_eq!(line_at(&table, -7, 2), None);
    }

    #[test]
    fn no_table_makes_it_panic() {
        let tables = [
            bytes("8000f06c0f0002038543f00000095303"),
            vec![0xf0, 0x7f, 0x7f, 0x7f],
        ];
        fathom_test_memory::survives(&tables, 1 << 14, |table| {
            for at in [0, 1, 40, u64::MAX] {
                _ = line_at(table, i32::MAX, at);
            }
        });
    }
}
