//! The fast engine: the plain one without the costs of its hot path.
//!
//! - Gas and the stack's height stay in registers; the machine sees them only for rare opcodes.
//! - One branch per opcode, to code that has its checks as constants. The plain engine looks them up in
//!   a table, and takes a second branch in a separate function.
//!
//! It prepares nothing, so it is also faster if each byte runs once.

use crate::buffer::{Buffer, Storage};
use crate::code::{Destinations, pushed_word};
use crate::machine::{End, Failure, Machine, STACK_LIMIT};
use crate::opcode::*;
use crate::plain;
use crate::u256::U256;
use std::cmp::Ordering::{Greater, Less};

/// Runs `code` from its first byte. A failure uses all gas.
pub fn run<S: Storage>(machine: &mut Machine<S>, code: &[u8]) -> End {
    interpret(machine, code).unwrap_or_else(|failure| {
        machine.gas = 0;
        End::Failed(failure)
    })
}

/// Fails if `condition` does not hold.
#[inline]
fn demand(condition: bool, failure: Failure) -> Result<(), Failure> {
    if condition { Ok(()) } else { Err(failure) }
}

fn interpret<S: Storage>(machine: &mut Machine<S>, code: &[u8]) -> Result<End, Failure> {
    let mut destinations = Destinations::<S::Bits>::default();
    let mut gas = machine.gas;
    let mut height = machine.height;
    let mut pc = 0;

    macro_rules! charge {
        ($amount:expr) => {
            gas = gas.checked_sub($amount).ok_or(Failure::OutOfGas)?
        };
    }
    macro_rules! push {
        ($gas:expr, $word:expr) => {{
            if height == machine.room.items().len() {
                demand(height < STACK_LIMIT, Failure::StackOverflow)?;
                machine.height = height;
                machine.make_room();
            }
            charge!($gas);
            machine.room.items_mut()[height] = $word;
            height += 1;
        }};
    }
    macro_rules! take {
        ($count:expr, $gas:expr) => {{
            demand(height >= $count, Failure::StackUnderflow)?;
            charge!($gas);
        }};
    }
    macro_rules! binary {
        ($function:expr) => {{
            take!(2, 3);
            let [.., under, top] = &mut machine.room.items_mut()[..height] else {
                return Err(Failure::StackUnderflow);
            };
            *under = $function(*top, *under);
            height -= 1;
        }};
    }
    macro_rules! jump {
        ($target:expr) => {{
            pc = destinations.find(code, $target)?.ok_or(Failure::BadJump)?;
            continue;
        }};
    }

    while let Some(&opcode) = code.get(pc) {
        match opcode {
            ADD => binary!(U256::wrapping_add),
            SUB => binary!(U256::wrapping_sub),
            LT => binary!(|a: U256, b| U256::from(a.compare(b) == Less)),
            GT => binary!(|a: U256, b| U256::from(a.compare(b) == Greater)),
            EQ => binary!(|a: U256, b| U256::from(a == b)),
            AND => binary!(U256::and),
            OR => binary!(U256::or),
            XOR => binary!(U256::xor),
            ISZERO => {
                take!(1, 3);
                let top = &mut machine.room.items_mut()[height - 1];
                *top = U256::from(top.is_zero());
            }
            POP => {
                take!(1, 2);
                height -= 1;
            }
            PUSH0 => push!(2, U256::ZERO),
            PUSH1 => {
                let byte = code.get(pc + 1).copied().unwrap_or(0);
                push!(3, U256::from(u64::from(byte)));
                pc += 1;
            }
            PUSH2..=PUSH32 => {
                push!(3, pushed_word(code, pc));
                pc += data_length(opcode);
            }
            DUP1..=DUP16 => {
                let depth = usize::from(opcode - DUP1) + 1;
                demand(height >= depth, Failure::StackUnderflow)?;
                push!(3, machine.room.items()[height - depth]);
            }
            SWAP1..=SWAP16 => {
                let depth = usize::from(opcode - SWAP1) + 1;
                demand(height > depth, Failure::StackUnderflow)?;
                charge!(3);
                machine
                    .room
                    .items_mut()
                    .swap(height - 1, height - 1 - depth);
            }
            JUMPDEST => charge!(1),
            PC => push!(2, U256::from(pc as u64)),
            JUMP => {
                take!(1, 8);
                height -= 1;
                jump!(machine.room.items()[height]);
            }
            JUMPI => {
                take!(2, 10);
                height -= 2;
                let [condition, target] = machine.room.items()[height..height + 2] else {
                    return Err(Failure::StackUnderflow);
                };
                if !condition.is_zero() {
                    jump!(target);
                }
            }
            _ => {
                (machine.gas, machine.height) = (gas, height);
                if let Some(end) = rare(machine, opcode)? {
                    return Ok(end);
                }
                (gas, height) = (machine.gas, machine.height);
            }
        }
        pc += 1;
    }
    (machine.gas, machine.height) = (gas, height);
    Ok(End::Stop)
}

#[cold]
#[inline(never)]
fn rare<S: Storage>(machine: &mut Machine<S>, opcode: u8) -> Result<Option<End>, Failure> {
    plain::check(machine, opcode)?;
    match opcode {
        STOP => Ok(Some(End::Stop)),
        RETURN => Ok(Some(End::Return(machine.take_output()?))),
        REVERT => Ok(Some(End::Revert(machine.take_output()?))),
        INVALID => Err(Failure::Invalid),
        _ => plain::step(machine, opcode).map(|()| None),
    }
}
