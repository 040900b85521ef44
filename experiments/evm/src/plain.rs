//! The plain engine: one byte after another, each checked before it runs.

use crate::buffer::Storage;
use crate::code::{Destinations, pushed_word};
use crate::machine::{End, Failure, Machine, STACK_LIMIT};
use crate::opcode::*;
use crate::u256::U256;
use std::cmp::Ordering::{Greater, Less};

/// Runs `code` from its first byte. A failure uses all gas.
pub fn run<S: Storage>(machine: &mut Machine<S>, code: &[u8]) -> End {
    run_from(machine, code, 0)
}

/// Runs `code` from `pc` on, which must be the place of an opcode.
pub fn run_from<S: Storage>(machine: &mut Machine<S>, code: &[u8], pc: usize) -> End {
    interpret(machine, code, pc).unwrap_or_else(|failure| {
        machine.gas = 0;
        End::Failed(failure)
    })
}

/// Stack, then gas: the order in which the steps of the Yellow Paper (9.4.2) fail.
#[inline]
pub(crate) fn check<S: Storage>(machine: &mut Machine<S>, opcode: u8) -> Result<(), Failure> {
    let info = INFO[opcode as usize];
    if !info.supported {
        return Err(Failure::Unsupported(opcode));
    }
    let height = machine.height;
    if height < usize::from(info.pops) {
        return Err(Failure::StackUnderflow);
    }
    if height + usize::from(info.pushes) > STACK_LIMIT + usize::from(info.pops) {
        return Err(Failure::StackOverflow);
    }
    machine.charge(u64::from(info.gas))
}

fn interpret<S: Storage>(
    machine: &mut Machine<S>,
    code: &[u8],
    mut pc: usize,
) -> Result<End, Failure> {
    let mut destinations = Destinations::<S::Bits>::default();
    while let Some(&opcode) = code.get(pc) {
        check(machine, opcode)?;
        match opcode {
            STOP => return Ok(End::Stop),
            JUMP => {
                let target = machine.pop();
                pc = destinations.find(code, target)?.ok_or(Failure::BadJump)?;
                continue;
            }
            JUMPI => {
                let target = machine.pop();
                if !machine.pop().is_zero() {
                    pc = destinations.find(code, target)?.ok_or(Failure::BadJump)?;
                    continue;
                }
            }
            PC => machine.push(U256::from(pc as u64)),
            PUSH1..=PUSH32 => {
                machine.push(pushed_word(code, pc));
                pc += data_length(opcode);
            }
            RETURN => return Ok(End::Return(machine.take_output()?)),
            REVERT => return Ok(End::Revert(machine.take_output()?)),
            INVALID => return Err(Failure::Invalid),
            _ => step(machine, opcode)?,
        }
        pc += 1;
    }
    Ok(End::Stop)
}

/// Runs an opcode that needs only the machine; its stack and static gas must have been checked.
#[inline]
pub fn step<S: Storage>(machine: &mut Machine<S>, opcode: u8) -> Result<(), Failure> {
    match opcode {
        ADD => machine.binary(U256::wrapping_add),
        MUL => machine.binary(U256::wrapping_mul),
        SUB => machine.binary(U256::wrapping_sub),
        DIV => machine.binary(U256::quotient),
        SDIV => machine.binary(U256::signed_div),
        MOD => machine.binary(U256::remainder),
        SMOD => machine.binary(U256::signed_rem),
        ADDMOD => machine.ternary(U256::add_mod),
        MULMOD => machine.ternary(U256::mul_mod),
        EXP => machine.exponentiate()?,
        SIGNEXTEND => machine.binary(|last_byte, word| word.sign_extend(last_byte)),
        LT => machine.binary(|a, b| U256::from(a.compare(b) == Less)),
        GT => machine.binary(|a, b| U256::from(a.compare(b) == Greater)),
        SLT => machine.binary(|a, b| U256::from(a.signed_compare(b) == Less)),
        SGT => machine.binary(|a, b| U256::from(a.signed_compare(b) == Greater)),
        EQ => machine.binary(|a, b| U256::from(a == b)),
        ISZERO => machine.unary(|a| U256::from(a.is_zero())),
        AND => machine.binary(U256::and),
        OR => machine.binary(U256::or),
        XOR => machine.binary(U256::xor),
        NOT => machine.unary(U256::complement),
        BYTE => machine.binary(|index, word| word.byte(index)),
        SHL => machine.binary(|bits, word| word.shifted_left(bits)),
        SHR => machine.binary(|bits, word| word.shifted_right(bits)),
        SAR => machine.binary(|bits, word| word.arithmetic_shifted_right(bits)),
        POP => {
            machine.pop();
        }
        MLOAD => machine.load()?,
        MSTORE => machine.store()?,
        MSTORE8 => machine.store_byte()?,
        MSIZE => machine.push(U256::from(machine.memory_size() as u64)),
        GAS => machine.push(U256::from(machine.gas)),
        JUMPDEST => {}
        PUSH0 => machine.push(U256::ZERO),
        DUP1..=DUP16 => {
            let word = *machine.peek(usize::from(opcode - DUP1));
            machine.push(word);
        }
        SWAP1..=SWAP16 => machine.swap(usize::from(opcode - SWAP1) + 1),
        _ => unreachable!("the engines run the other opcodes themselves"),
    }
    Ok(())
}
