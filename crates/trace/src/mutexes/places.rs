//! Finds the places in a Go program where a wait for a lock begins and ends.

use std::path::Path;

use fathom_stacks::functions_named;

/// Functions of Go's runtime that park a goroutine for a lock of `sync` until it may continue. The first
/// exists since Go 1.24.
const FUNCTIONS: [&str; 4] = [
    "internal/sync.runtime_SemacquireMutex",
    "sync.runtime_SemacquireMutex",
    "sync.runtime_SemacquireRWMutex",
    "sync.runtime_SemacquireRWMutexR",
];

/// The register that holds the goroutine since Go 1.17, by its number in perf's order.
#[cfg(target_arch = "x86_64")]
pub(super) const GOROUTINE: u32 = 22; // r14
/// Its offset in the kernel's copy of a thread's registers (`pt_regs`).
#[cfg(target_arch = "x86_64")]
pub(super) const GOROUTINE_IN_REGISTERS: i16 = 8;
#[cfg(not(target_arch = "x86_64"))]
pub(super) const GOROUTINE: u32 = 28; // x28 of AArch64
#[cfg(not(target_arch = "x86_64"))]
pub(super) const GOROUTINE_IN_REGISTERS: i16 = 28 * 8;

/// An instruction to probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Offset in the file.
    pub offset: u64,
    /// Whether a wait begins there; if false, a wait ends there.
    pub begins: bool,
}

/// Returns the places to probe in the program in this file, if it is for this machine.
pub(super) fn of(program: &Path) -> Vec<Place> {
    let mut places = Vec::new();
    for function in functions_named(program, &FUNCTIONS) {
        let returns = returns(&function.code);
        if returns.is_empty() {
            continue;
        }
        let place = |at: u64, begins| Place {
            offset: function.offset + at,
            begins,
        };
        places.push(place(0, true));
        places.extend(returns.into_iter().map(|at| place(at, false)));
    }
    places
}

/// Returns the exits of the function, as offsets in bytes from its beginning.
#[cfg(target_arch = "x86_64")]
fn returns(code: &[u8]) -> Vec<u64> {
    use iced_x86::{Decoder, DecoderOptions, Mnemonic};
    let decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let returns = decoder
        .into_iter()
        .filter(|it| it.mnemonic() == Mnemonic::Ret);
    returns.map(|it| it.ip()).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn returns(code: &[u8]) -> Vec<u64> {
    const RET: [u8; 4] = 0xd65f_03c0u32.to_le_bytes();
    let (words, _) = code.as_chunks::<4>();
    let returns = (0..).zip(words).filter(|(_, word)| **word == RET);
    returns.map(|(at, _): (u64, _)| 4 * at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn returns_are_instructions_and_no_bytes_within_others() {
        // push rbp; mov eax, 0xc3; pop rbp; ret; nop; ret
        let code = [0x55, 0xb8, 0xc3, 0, 0, 0, 0x5d, 0xc3, 0x90, 0xc3];
        assert_eq!(returns(&code), [7, 9]);
    }

    #[test]
    fn what_is_no_program_of_go_has_no_places() {
        assert_eq!(of(Path::new("/bin/sh")), []);
        assert_eq!(of(Path::new("/etc/passwd")), []);
        assert_eq!(of(Path::new("/no/such/file")), []);
    }
}
