//! Determines whether code waits for another thread to change memory.
//!
//! The code itself shows this: either by the instruction that marks a spin loop, or because the loop carries
//! nothing from one iteration to the next, so that only memory written by others, or the clock, can end it.

use fathom_stacks::Mapping;
use fathom_stacks::python::Memory;

use crate::python::memory;

/// Number of bytes before and after an instruction that are decoded.
const BEFORE: usize = 64;
const BEHIND: usize = 96;

/// Minimum number of samples at a position for it to be checked for spinning: a spinning thread is sampled
/// repeatedly at the same few instructions.
pub(super) const OFTEN: u64 = 5;

/// Returns whether a thread at this address in the memory of a process spins.
pub(super) fn spins_in(pid: u32, address: u64, mapping: &Mapping) -> bool {
    let from = address.saturating_sub(BEFORE as u64).max(mapping.from);
    let end = mapping.from.saturating_add(mapping.length);
    let to = address.saturating_add(BEHIND as u64).min(end);
    let mut code = vec![0; to.saturating_sub(from) as usize];
    let read = memory::Of(pid).read(from, &mut code);
    read.is_some() && spins(&code, (address - from) as usize)
}

/// Returns whether a thread at this offset of a file spins.
pub(super) fn spins_at(file: &[u8], offset: u64) -> bool {
    let Ok(at) = usize::try_from(offset) else {
        return false;
    };
    let from = at.saturating_sub(BEFORE);
    let to = file.len().min(at.saturating_add(BEHIND));
    file.get(from..to)
        .is_some_and(|code| spins(code, at - from))
}

/// Returns whether a thread at the instruction `at` in these bytes of code spins.
fn spins(code: &[u8], at: usize) -> bool {
    says_so(code, at) || imp::turns_without_state(code, at)
}

/// Returns whether there is a pause instruction at `at` or right before it: the timer interrupts between two
/// instructions, which may be before or after the slow one.
fn says_so(code: &[u8], at: usize) -> bool {
    let before = at
        .checked_sub(imp::LENGTH)
        .and_then(|from| code.get(from..at));
    let here = code.get(at..at + imp::LENGTH);
    before.is_some_and(imp::is_pause) || here.is_some_and(imp::is_pause)
}

#[cfg(target_arch = "x86_64")]
mod imp {
    use std::collections::HashSet;

    use iced_x86::{
        Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic,
        OpAccess, Register,
    };

    pub(super) const LENGTH: usize = 2;

    pub(super) fn is_pause(bytes: &[u8]) -> bool {
        bytes == [0xf3, 0x90]
    }

    /// Maximum number of instructions of a waiting loop; a working loop has more, or carries something over.
    const MOST: usize = 16;

    /// Returns whether the innermost loop around this instruction carries nothing from one iteration to the
    /// next.
    pub(super) fn turns_without_state(code: &[u8], at: usize) -> bool {
        let Some(closing) = instructions(code, at)
            .take(MOST)
            .take_while(|it| !leaves(it))
            .find(|it| goes_back(it, at))
        else {
            return false;
        };
        let from = closing.near_branch_target() as usize;
        let turn: Vec<Instruction> = instructions(code, from)
            .take(MOST)
            .take_while(|it| it.ip() <= closing.ip())
            .collect();
        // If decoding starts at another byte, the same bytes may be other instructions.
        let whole = turn.last().is_some_and(|last| last.ip() == closing.ip());
        whole && !turn.iter().any(leaves) && carries_nothing(&turn)
    }

    fn instructions(code: &[u8], from: usize) -> impl Iterator<Item = Instruction> {
        let bytes = code.get(from..).unwrap_or_default();
        let mut decoder = Decoder::with_ip(64, bytes, from as u64, DecoderOptions::NONE);
        std::iter::from_fn(move || decoder.can_decode().then(|| decoder.decode()))
    }

    /// Returns whether the instruction is a jump within this function, back to `at` or before it.
    fn goes_back(it: &Instruction, at: usize) -> bool {
        let jumps = matches!(
            it.flow_control(),
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
        );
        // A loop that counts in the jump itself (`loop`) does work.
        let counts = matches!(
            it.mnemonic(),
            Mnemonic::Loop | Mnemonic::Loope | Mnemonic::Loopne
        );
        jumps && !counts && it.near_branch_target() <= at as u64
    }

    /// Returns whether control may leave the visible code at this instruction and come back.
    fn leaves(it: &Instruction) -> bool {
        it.is_invalid()
            || matches!(
                it.flow_control(),
                FlowControl::Call
                    | FlowControl::IndirectCall
                    | FlowControl::IndirectBranch
                    | FlowControl::Return
                    | FlowControl::Interrupt
            )
            || it.mnemonic() == Mnemonic::Syscall
    }

    /// Returns whether an iteration reads no register that an earlier one wrote, and writes no memory: code
    /// that takes a lock or adds with exchanges looks the same when it succeeds immediately.
    fn carries_nothing(turn: &[Instruction]) -> bool {
        let mut info = InstructionInfoFactory::new();
        let (mut entered_with, mut written) = (HashSet::new(), HashSet::new());
        let mut reads_memory = false;
        for it in turn {
            let used = info.info(it);
            for memory in used.used_memory() {
                let reads = !matches!(
                    memory.access(),
                    OpAccess::None | OpAccess::NoMemAccess | OpAccess::Write | OpAccess::CondWrite
                );
                let writes = !matches!(
                    memory.access(),
                    OpAccess::None | OpAccess::NoMemAccess | OpAccess::Read | OpAccess::CondRead
                );
                if writes {
                    return false;
                }
                reads_memory |= reads;
            }
            reads_memory |= matches!(it.mnemonic(), Mnemonic::Rdtsc | Mnemonic::Rdtscp);
            let registers = used.used_registers();
            let reads = |access| {
                matches!(
                    access,
                    OpAccess::Read
                        | OpAccess::CondRead
                        | OpAccess::ReadWrite
                        | OpAccess::ReadCondWrite
                )
            };
            for register in registers.iter().filter(|it| reads(it.access())) {
                let full = register.register().full_register();
                if !written.contains(&full) {
                    entered_with.insert(full);
                }
            }
            let writes =
                |access| !matches!(access, OpAccess::None | OpAccess::Read | OpAccess::CondRead);
            for register in registers.iter().filter(|it| writes(it.access())) {
                let full = register.register().full_register();
                // Writing a part of a register keeps the rest from the previous iteration.
                if full.is_gpr64() && register.register().size() < 4 {
                    entered_with.insert(full);
                }
                written.insert(full);
            }
        }
        let stack = |register: &&Register| **register == Register::RSP;
        reads_memory
            && entered_with.intersection(&written).next().is_none()
            && !written.iter().any(|register| stack(&register))
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod imp {
    pub(super) const LENGTH: usize = 4;

    /// Recognises `yield`, `wfe` and `isb` of AArch64.
    pub(super) fn is_pause(bytes: &[u8]) -> bool {
        let kinds: [[u8; 4]; 3] = [
            [0x3f, 0x20, 0x03, 0xd5],
            [0x5f, 0x20, 0x03, 0xd5],
            [0xdf, 0x3f, 0x03, 0xd5],
        ];
        kinds.iter().any(|kind| bytes == kind)
    }

    /// Returns false, because code of other architectures isn't decoded.
    pub(super) fn turns_without_state(_: &[u8], _: usize) -> bool {
        false
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Returns whether a thread counts as spinning at each instruction of this loop.
    fn reported(parts: &[&[u8]]) -> Vec<bool> {
        let mut code = vec![0x90; BEFORE];
        let from = code.len();
        parts.iter().for_each(|part| code.extend(*part));
        code.extend([0xc3; 16]);
        let places = parts.iter().scan(from, |at, part| {
            let here = *at;
            *at += part.len();
            Some(here)
        });
        places.map(|at| spins(&code, at)).collect()
    }

    /// mov eax, [rip + 0x100]
    const LOAD: &[u8] = &[0x8b, 0x05, 0x00, 0x01, 0x00, 0x00];
    /// test eax, eax
    const TEST: &[u8] = &[0x85, 0xc0];

    #[test]
    fn a_loop_that_only_looks_at_memory_spins() {
        // je to the load
        let back = &[0x74, 0xf6];
        assert_eq!(reported(&[LOAD, TEST, back]), [true; 3]);
    }

    #[test]
    fn a_loop_that_counts_does_not() {
        // add ecx, 1; jb
        let count: &[u8] = &[0x83, 0xc1, 0x01];
        assert_eq!(reported(&[LOAD, count, &[0x72, 0xf5]]), [false; 3]);
        // add rax, [rdi]; add rdi, 8; cmp rdi, rsi; jne
        let sum: [&[u8]; 4] = [
            &[0x48, 0x03, 0x07],
            &[0x48, 0x83, 0xc7, 0x08],
            &[0x48, 0x39, 0xf7],
            &[0x75, 0xf4],
        ];
        assert_eq!(reported(&sum), [false; 4]);
    }

    #[test]
    fn a_loop_that_writes_or_calls_does_not() {
        // mov [rsi], eax
        let store: &[u8] = &[0x89, 0x06];
        assert_eq!(reported(&[LOAD, store, TEST, &[0x74, 0xf4]]), [false; 4]);
        // call
        let call: &[u8] = &[0xe8, 0, 0, 0, 0];
        assert_eq!(reported(&[LOAD, call, TEST, &[0x74, 0xf1]]), [false; 4]);
    }

    #[test]
    fn taking_a_lock_may_succeed_at_once() {
        // mov eax, 1; xchg [rdi], eax; test eax, eax; jne
        let one: &[u8] = &[0xb8, 1, 0, 0, 0];
        let exchange: &[u8] = &[0x87, 0x07];
        assert_eq!(reported(&[one, exchange, TEST, &[0x75, 0xf5]]), [false; 4]);
    }

    #[test]
    fn who_is_at_a_pause_or_right_behind_it_says_so() {
        // pause; sub ecx, 1; jne
        let pause: &[u8] = &[0xf3, 0x90];
        let count: &[u8] = &[0x83, 0xe9, 0x01];
        assert_eq!(
            reported(&[pause, count, &[0x75, 0xf9]]),
            [true, true, false]
        );
    }

    #[test]
    fn a_loop_in_the_memory_of_a_process_is_found() {
        let turn = [LOAD, TEST, &[0x74, 0xf6]].concat();
        let code = [&[0x90; 100], &turn[..], &[0x90; 100]].concat();
        let mapping = Mapping {
            from: code.as_ptr() as u64,
            length: code.len() as u64,
            offset: 0,
            file: 0,
        };
        let spins = |at: u64| spins_in(std::process::id(), mapping.from + at, &mapping);
        assert!(spins(100) && !spins(20) && !spins(199));
        assert!(!spins_in(i32::MAX as u32, mapping.from + 100, &mapping));
    }

    #[test]
    fn what_is_cut_off_is_no_loop() {
        assert!(!spins(&[], 0));
        assert!(!spins(LOAD, 0));
        assert!(!spins(&[0x74], 0));
        assert!(!spins_at(LOAD, 0) && !spins_at(LOAD, 6) && !spins_at(LOAD, u64::MAX));
    }
}
