//! The decoded engine: translates the code first, so a loop pays for each check once per block.
//!
//! - Each block of straight code begins with one check of gas and stack for all of it.
//! - PUSH data are in the instruction; PUSH and the ADD, SUB or jump after it are one instruction.
//! - If a block's check fails, the plain engine takes over from there, and fails at the right place.
//!
//! GAS is correct inside a block: the cost of the rest of the block is added back.

use crate::buffer::Storage;
use crate::code::pushed_word;
use crate::machine::{End, Failure, Machine, STACK_LIMIT};
use crate::opcode::*;
use crate::plain;
use crate::u256::U256;

/// An instruction. 16 bytes.
#[derive(Clone, Copy, Debug)]
enum Instruction {
    /// The check for the block that begins here.
    Begin(u32),
    /// An opcode that the machine runs by itself.
    Plain(u8),
    Push(u64),
    PushWide(u32),
    /// PUSH, ADD
    AddConstant(u64),
    /// PUSH, SWAP1, SUB
    SubtractConstant(u64),
    /// DUP1..=DUP16, by the depth of the word.
    Duplicate(u8),
    /// SWAP1..=SWAP16, by the depth of the word.
    Swap(u8),
    /// PUSH, JUMP: the next instruction.
    JumpTo(u32),
    /// PUSH, JUMPI: the next instruction if the jump is taken.
    JumpToIf(u32),
    Jump,
    JumpIf,
    /// GAS, with the cost of the rest of the block.
    Gas(u32),
    Stop,
    Return,
    Revert,
    Fail(Failure),
}

/// The requirements of a block. Heights are relative to its beginning.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    pc: u32,
    gas: u32,
    needs: u16,
    grows: u16,
}

/// A translated program.
#[derive(Debug, Default)]
pub struct Program {
    instructions: Vec<Instruction>,
    blocks: Vec<Block>,
    wide: Vec<U256>,
    /// For each byte of the code that a jump may go to: its instruction. `NOWHERE` for the others.
    targets: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl Program {
    /// Translates `code`, which must be shorter than 2^31 bytes.
    pub fn decode(code: &[u8]) -> Self {
        let mut program = Self {
            targets: vec![NOWHERE; code.len()],
            ..Self::default()
        };
        program.instructions.reserve(code.len() / 2);
        let mut pc = 0;
        while pc < code.len() {
            pc = program.decode_block(code, pc);
        }
        program.instructions.push(Instruction::Stop);
        program.resolve_jumps();
        program
    }

    /// Translates the block at `start`; returns where the next one begins.
    fn decode_block(&mut self, code: &[u8], start: usize) -> usize {
        let number = self.blocks.len();
        let begin = self.instructions.len() as u32;
        self.instructions.push(Instruction::Begin(number as u32));
        self.blocks.push(Block::default());
        let mut block = Block {
            pc: start as u32,
            ..Block::default()
        };
        let mut height = 0i32;
        let mut pc = start;
        while let Some(&opcode) = code.get(pc) {
            if opcode == JUMPDEST {
                if pc > start {
                    break;
                }
                self.targets[pc] = begin;
            }
            let info = INFO[opcode as usize];
            block.gas += u32::from(info.gas);
            block.needs = block
                .needs
                .max((i32::from(info.pops) - height).max(0) as u16);
            height += i32::from(info.pushes) - i32::from(info.pops);
            block.grows = block.grows.max(height.max(0) as u16);
            self.decode_opcode(code, pc, block.gas);
            pc += 1 + data_length(opcode);
            // The depth has 16 bits: end the block before it could overflow.
            if ends_block(opcode) || pc - start > 1 << 14 {
                break;
            }
        }
        self.finish_gas(begin as usize, block.gas);
        self.blocks[number] = block;
        pc
    }

    /// `gas_so_far` is the static gas of the block up to and with this opcode.
    fn decode_opcode(&mut self, code: &[u8], pc: usize, gas_so_far: u32) {
        let opcode = code[pc];
        let instruction = match opcode {
            PUSH0 => Instruction::Push(0),
            PUSH1..=PUSH32 => self.constant(pushed_word(code, pc)),
            PC => Instruction::Push(pc as u64),
            ADD | SUB | JUMP | JUMPI => return self.decode_after_push(opcode),
            DUP1..=DUP16 => Instruction::Duplicate(opcode - DUP1),
            SWAP1..=SWAP16 => Instruction::Swap(opcode - SWAP1 + 1),
            GAS => Instruction::Gas(gas_so_far),
            STOP => Instruction::Stop,
            RETURN => Instruction::Return,
            REVERT => Instruction::Revert,
            INVALID => Instruction::Fail(Failure::Invalid),
            // The check at the block's beginning has paid for it.
            JUMPDEST => return,
            _ if INFO[opcode as usize].supported => Instruction::Plain(opcode),
            _ => Instruction::Fail(Failure::Unsupported(opcode)),
        };
        self.instructions.push(instruction);
    }

    fn constant(&mut self, word: U256) -> Instruction {
        word.to_u64().map(Instruction::Push).unwrap_or_else(|| {
            self.wide.push(word);
            Instruction::PushWide(self.wide.len() as u32 - 1)
        })
    }

    /// Joins the opcode with the constant before it, if there is one in this block.
    fn decode_after_push(&mut self, opcode: u8) {
        let tail = |count: usize| {
            self.instructions
                .len()
                .checked_sub(count)
                .map(|i| self.instructions[i])
        };
        let (joined, length) = match (opcode, tail(1), tail(2)) {
            (ADD, Some(Instruction::Push(value)), _) => (Instruction::AddConstant(value), 1),
            (SUB, Some(Instruction::Swap(1)), Some(Instruction::Push(value))) => {
                (Instruction::SubtractConstant(value), 2)
            }
            (JUMP, Some(Instruction::Push(value)), _) => (Instruction::JumpTo(shorten(value)), 1),
            (JUMPI, Some(Instruction::Push(value)), _) => {
                (Instruction::JumpToIf(shorten(value)), 1)
            }
            (JUMP, ..) => (Instruction::Jump, 0),
            (JUMPI, ..) => (Instruction::JumpIf, 0),
            _ => (Instruction::Plain(opcode), 0),
        };
        self.instructions.truncate(self.instructions.len() - length);
        self.instructions.push(joined);
    }

    /// Replaces the amount in the block's GAS instructions, the gas before them, by the gas after them.
    fn finish_gas(&mut self, begin: usize, total: u32) {
        for instruction in &mut self.instructions[begin..] {
            if let Instruction::Gas(amount) = instruction {
                *amount = total - *amount;
            }
        }
    }

    /// Replaces the byte offset in each jump by its instruction.
    fn resolve_jumps(&mut self) {
        for instruction in &mut self.instructions {
            if let Instruction::JumpTo(target) | Instruction::JumpToIf(target) = instruction {
                *target = self
                    .targets
                    .get(*target as usize)
                    .copied()
                    .unwrap_or(NOWHERE);
            }
        }
    }

    fn find(&self, target: U256) -> Result<usize, Failure> {
        let pc = target
            .to_u64()
            .and_then(|pc| usize::try_from(pc).ok())
            .unwrap_or(usize::MAX);
        go_to(self.targets.get(pc).copied().unwrap_or(NOWHERE))
    }
}

/// An offset beyond the end of any code stands for all offsets that don't fit.
fn shorten(target: u64) -> u32 {
    u32::try_from(target).unwrap_or(NOWHERE)
}

#[inline]
fn go_to(target: u32) -> Result<usize, Failure> {
    if target == NOWHERE {
        Err(Failure::BadJump)
    } else {
        Ok(target as usize)
    }
}

/// Translates `code` and runs it from its first byte. A failure uses all gas.
pub fn run<S: Storage>(machine: &mut Machine<S>, code: &[u8]) -> End {
    run_program(machine, code, &Program::decode(code))
}

/// Runs `program`, the translation of `code`.
pub fn run_program<S: Storage>(machine: &mut Machine<S>, code: &[u8], program: &Program) -> End {
    interpret(machine, code, program).unwrap_or_else(|failure| {
        machine.gas = 0;
        End::Failed(failure)
    })
}

fn enter<S: Storage>(machine: &mut Machine<S>, block: Block) -> bool {
    let height = machine.height;
    let fits =
        height >= usize::from(block.needs) && height + usize::from(block.grows) <= STACK_LIMIT;
    fits && machine.charge(u64::from(block.gas)).is_ok()
}

fn interpret<S: Storage>(
    machine: &mut Machine<S>,
    code: &[u8],
    program: &Program,
) -> Result<End, Failure> {
    let mut at = 0;
    loop {
        match program.instructions[at] {
            Instruction::Begin(number) => {
                let block = program.blocks[number as usize];
                if !enter(machine, block) {
                    return Ok(plain::run_from(machine, code, block.pc as usize));
                }
            }
            Instruction::Plain(opcode) => plain::step(machine, opcode)?,
            Instruction::Push(value) => machine.push(U256::from(value)),
            Instruction::PushWide(index) => machine.push(program.wide[index as usize]),
            Instruction::AddConstant(value) => {
                machine.unary(|word| word.wrapping_add(U256::from(value)))
            }
            Instruction::SubtractConstant(value) => {
                machine.unary(|word| word.wrapping_sub(U256::from(value)))
            }
            Instruction::Duplicate(depth) => {
                let word = *machine.peek(usize::from(depth));
                machine.push(word);
            }
            Instruction::Swap(depth) => machine.swap(usize::from(depth)),
            Instruction::JumpTo(target) => {
                at = go_to(target)?;
                continue;
            }
            Instruction::JumpToIf(target) => {
                if !machine.pop().is_zero() {
                    at = go_to(target)?;
                    continue;
                }
            }
            Instruction::Jump => {
                let target = machine.pop();
                at = program.find(target)?;
                continue;
            }
            Instruction::JumpIf => {
                let target = machine.pop();
                if !machine.pop().is_zero() {
                    at = program.find(target)?;
                    continue;
                }
            }
            Instruction::Gas(rest) => {
                let gas = machine.gas + u64::from(rest);
                machine.push(U256::from(gas));
            }
            Instruction::Stop => return Ok(End::Stop),
            Instruction::Return => return Ok(End::Return(machine.take_output()?)),
            Instruction::Revert => return Ok(End::Revert(machine.take_output()?)),
            Instruction::Fail(failure) => return Err(failure),
        }
        at += 1;
    }
}
