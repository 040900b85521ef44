//! Detects when a program reaches its own first instruction, by a breakpoint.
//!
//! The loader runs before that. Without a tracer in the kernel, this is the only moment of a program's start
//! that isn't marked by a call or an event.

use std::fs;

use super::requests;

/// Type of the entry point address in `/proc/PID/auxv` (`AT_ENTRY`).
const AT_ENTRY: u64 = 9;
/// Type of the loader's base address (`AT_BASE`).
const AT_BASE: u64 = 7;

/// A breakpoint at the entry point of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryStop {
    address: u64,
    /// The original word at this address.
    word: u64,
    /// Whether a loader runs first.
    loaded: bool,
}

impl EntryStop {
    /// Sets the breakpoint in a thread that has just executed its program and is stopped. Returns `None` if
    /// this isn't possible: the program is a 32-bit one, or the thread was killed in the meantime.
    pub(super) fn set(tid: u32) -> Option<EntryStop> {
        let vector = fs::read(format!("/proc/{tid}/auxv")).ok()?;
        let address = auxiliary(&vector, AT_ENTRY)?;
        let loaded = auxiliary(&vector, AT_BASE).is_some();
        let word: [u8; 8] = requests::memory(tid, address, 8).try_into().ok()?;
        let word = u64::from_ne_bytes(word);
        let stop = EntryStop {
            address,
            word,
            loaded,
        };
        let (instruction, its_bits) = requests::BREAKPOINT;
        requests::put(tid, address, word & !its_bits | instruction).ok()?;
        Some(stop)
    }

    /// Removes the breakpoint before it is reached: an untraced thread that reached it would die.
    pub(super) fn take_out(&self, tid: u32) {
        // This only fails if the thread was killed in the meantime.
        let _ = requests::put(tid, self.address, self.word);
    }

    /// Returns whether a loader runs before the program's own first instruction.
    pub(super) fn is_loaded(&self) -> bool {
        self.loaded
    }

    /// Returns whether the thread, stopped by `SIGTRAP`, has reached the breakpoint. If so, removes the
    /// breakpoint and resets the thread to the original instruction.
    pub(super) fn reached(&self, tid: u32) -> bool {
        requests::step_back_to(tid, self.address).is_ok_and(|reached| reached)
            && requests::put(tid, self.address, self.word).is_ok()
    }
}

/// Returns the value of a type in a 64-bit auxiliary vector: pairs of a type and a value. `None` if it is 0.
pub(super) fn auxiliary(auxv: &[u8], wanted: u64) -> Option<u64> {
    let words: Vec<u64> = auxv
        .chunks_exact(8)
        .filter_map(|chunk| Some(u64::from_ne_bytes(chunk.try_into().ok()?)))
        .collect();
    let mut pairs = words.chunks_exact(2);
    pairs
        .find(|pair| pair[0] == wanted)
        .map(|pair| pair[1])
        .filter(|value| *value != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_is_found_among_other_values() {
        let words: [u64; 6] = [6, 4096, AT_ENTRY, 0x55d0_1040, 0, 0];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(auxiliary(&bytes, AT_ENTRY), Some(0x55d0_1040));
        assert_eq!(auxiliary(&bytes[..16], AT_ENTRY), None);
    }

    #[test]
    fn the_own_entry_lies_in_the_own_executable() {
        let entry = auxiliary(&fs::read("/proc/self/auxv").unwrap(), AT_ENTRY).unwrap();
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let own = fs::read_link("/proc/self/exe").unwrap();
        let line = maps.lines().find(|line| {
            let (from, rest) = line.split_once('-').unwrap();
            let to = rest.split_once(' ').unwrap().0;
            let number = |text| u64::from_str_radix(text, 16).unwrap();
            (number(from)..number(to)).contains(&entry)
        });
        assert!(line.unwrap().ends_with(own.to_str().unwrap()), "{line:?}");
    }
}
