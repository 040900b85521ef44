//! System call filters, in the kernel's format.

pub(crate) use libc::sock_filter as Instruction;

/// Offsets in `struct seccomp_data`.
pub(crate) const NUMBER_AT: u32 = 0;
pub(crate) const ARCHITECTURE_AT: u32 = 4;

/// The architecture value of programs that use this processor's usual system call entry.
#[cfg(target_arch = "x86_64")]
pub(crate) const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub(crate) const ARCHITECTURE: u32 = 0xc000_00b7;

/// Allows the call.
pub(crate) const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;

/// Returns the offset of the low half of an argument.
pub(crate) const fn argument_at(argument: u32) -> u32 {
    let low = if cfg!(target_endian = "big") { 4 } else { 0 };
    16 + 8 * argument + low
}

/// Loads a word of the call's data.
pub(crate) const fn load(at: u32) -> Instruction {
    step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at, 0, 0)
}

/// Skips `if_so` instructions if the loaded word is `value`, and `if_not` otherwise.
pub(crate) const fn equals(value: u32, if_so: u8, if_not: u8) -> Instruction {
    let code = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    step(code, value, if_so, if_not)
}

/// Ends the filter with this answer.
pub(crate) const fn give_back(answer: u32) -> Instruction {
    step(libc::BPF_RET | libc::BPF_K, answer, 0, 0)
}

/// Skips this many instructions.
pub(crate) const fn skip(instructions: u32) -> Instruction {
    step(libc::BPF_JMP | libc::BPF_JA, instructions, 0, 0)
}

/// Loads a constant.
pub(crate) const fn take(number: u32) -> Instruction {
    step(libc::BPF_LD | libc::BPF_IMM, number, 0, 0)
}

/// Keeps only these bits of the loaded word.
pub(crate) const fn keep(bits: u32) -> Instruction {
    step(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, bits, 0, 0)
}

/// Divides the loaded value.
pub(crate) const fn divide(by: u32) -> Instruction {
    step(libc::BPF_ALU | libc::BPF_DIV | libc::BPF_K, by, 0, 0)
}

const fn step(code: u32, k: u32, jt: u8, jf: u8) -> Instruction {
    Instruction {
        code: code as u16,
        jt,
        jf,
        k,
    }
}
