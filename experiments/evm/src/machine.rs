//! The state of a run: stack, memory and gas, and how it can end.

use crate::buffer::{Buffer, Full, Storage};
use crate::u256::U256;
use std::fmt;
use std::ops::Range;

/// The maximum number of words on the stack.
pub const STACK_LIMIT: usize = 1024;

/// Why a run failed. All gas is used then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The next step costs more than the remaining gas.
    OutOfGas,
    /// The next step takes more words than there are on the stack.
    StackUnderflow,
    /// More than 1,024 words.
    StackOverflow,
    /// A jump to anything but a JUMPDEST.
    BadJump,
    /// The opcode INVALID.
    Invalid,
    /// An opcode that this interpreter does not know.
    Unsupported(u8),
    /// An array of fixed size is full: a limit of the variant without heap, not of Ethereum.
    NoRoom,
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::OutOfGas => out.write_str("out of gas"),
            Self::StackUnderflow => out.write_str("stack underflow"),
            Self::StackOverflow => out.write_str("stack overflow"),
            Self::BadJump => out.write_str("bad jump destination"),
            Self::Invalid => out.write_str("INVALID"),
            Self::Unsupported(opcode) => write!(out, "unsupported opcode 0x{opcode:02x}"),
            Self::NoRoom => out.write_str("no room in the fixed arrays"),
        }
    }
}

impl From<Full> for Failure {
    fn from(_: Full) -> Self {
        Self::NoRoom
    }
}

/// How a run ended. The range is that of the output in the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// STOP, or the end of the code.
    Stop,
    /// RETURN
    Return(Range<usize>),
    /// REVERT
    Revert(Range<usize>),
    /// Anything else.
    Failed(Failure),
}

impl fmt::Display for End {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Stop => out.write_str("stop"),
            Self::Return(_) => out.write_str("return"),
            Self::Revert(_) => out.write_str("revert"),
            Self::Failed(failure) => write!(out, "failure: {failure}"),
        }
    }
}

/// Stack, memory and gas.
pub struct Machine<S: Storage> {
    /// The remaining gas.
    pub gas: u64,
    /// Room for the stack, of which `height` words are in use.
    pub(crate) room: S::Stack,
    pub(crate) height: usize,
    memory: S::Memory,
}

/// The room, in words, that an empty stack gets with its first word.
const FIRST_ROOM: usize = 16;

impl<S: Storage> Machine<S> {
    /// An empty machine with `gas` to use.
    #[inline]
    pub fn new(gas: u64) -> Self {
        Self {
            gas,
            room: Default::default(),
            height: 0,
            memory: Default::default(),
        }
    }

    /// Bytes of memory in use, a multiple of 32.
    pub fn memory_size(&self) -> usize {
        self.memory.items().len()
    }

    /// Returns the output that `end` points at; empty if there is none.
    pub fn output(&self, end: &End) -> &[u8] {
        match end {
            End::Return(range) | End::Revert(range) => &self.memory.items()[range.clone()],
            End::Stop | End::Failed(_) => &[],
        }
    }

    /// Takes `amount` of gas.
    #[inline]
    pub fn charge(&mut self, amount: u64) -> Result<(), Failure> {
        self.gas = self.gas.checked_sub(amount).ok_or(Failure::OutOfGas)?;
        Ok(())
    }

    /// The words on the stack, the top one last.
    pub fn stack(&self) -> &[U256] {
        &self.room.items()[..self.height]
    }

    /// Puts a word on the stack, which was checked to have fewer than 1,024.
    #[inline]
    pub fn push(&mut self, word: U256) {
        if self.height == self.room.items().len() {
            self.make_room();
        }
        self.room.items_mut()[self.height] = word;
        self.height += 1;
    }

    /// Doubles the room for the stack, up to its limit.
    #[cold]
    pub(crate) fn make_room(&mut self) {
        let room = (self.height * 2).clamp(FIRST_ROOM, STACK_LIMIT);
        let grown = self.room.grow(room);
        debug_assert!(
            grown.is_ok(),
            "even a fixed array has room for the whole stack"
        );
    }

    /// Takes a word from the stack, which was checked to have one.
    #[inline]
    pub fn pop(&mut self) -> U256 {
        self.height -= 1;
        self.room.items()[self.height]
    }

    /// Returns the word `depth` below the top, which is at 0.
    #[inline]
    pub fn peek(&mut self, depth: usize) -> &mut U256 {
        let index = self.height - 1 - depth;
        &mut self.room.items_mut()[index]
    }

    /// Exchanges the top with the word `depth` below it.
    #[inline]
    pub fn swap(&mut self, depth: usize) {
        let top = self.height - 1;
        self.room.items_mut().swap(top, top - depth);
    }

    /// Replaces the top by a function of it.
    #[inline]
    pub fn unary(&mut self, f: impl FnOnce(U256) -> U256) {
        let top = self.peek(0);
        *top = f(*top);
    }

    /// Replaces the two top words by a function of them, the top one first.
    #[inline]
    pub fn binary(&mut self, f: impl FnOnce(U256, U256) -> U256) {
        let a = self.pop();
        let top = self.peek(0);
        *top = f(a, *top);
    }

    /// Replaces the three top words by a function of them, the top one first.
    #[inline]
    pub fn ternary(&mut self, f: impl FnOnce(U256, U256, U256) -> U256) {
        let a = self.pop();
        let b = self.pop();
        let top = self.peek(0);
        *top = f(a, b, *top);
    }

    /// EXP: 50 gas for each byte of the exponent (EIP-160), in addition to the static gas.
    pub fn exponentiate(&mut self) -> Result<(), Failure> {
        let bytes = self.peek(1).bit_length().div_ceil(8);
        self.charge(50 * u64::from(bytes))?;
        self.binary(U256::pow);
        Ok(())
    }

    /// MLOAD
    pub fn load(&mut self) -> Result<(), Failure> {
        let offset = *self.peek(0);
        let range = self.expand(offset, U256::from(32))?;
        *self.peek(0) = U256::from_be_slice(&self.memory.items()[range]);
        Ok(())
    }

    /// MSTORE
    pub fn store(&mut self) -> Result<(), Failure> {
        let offset = self.pop();
        let word = self.pop();
        let range = self.expand(offset, U256::from(32))?;
        self.memory.items_mut()[range].copy_from_slice(&word.to_be_bytes());
        Ok(())
    }

    /// MSTORE8
    pub fn store_byte(&mut self) -> Result<(), Failure> {
        let offset = self.pop();
        let word = self.pop();
        let range = self.expand(offset, U256::ONE)?;
        self.memory.items_mut()[range].fill(word.0[0] as u8);
        Ok(())
    }

    /// Returns the memory range of RETURN and REVERT.
    pub fn take_output(&mut self) -> Result<Range<usize>, Failure> {
        let offset = self.pop();
        let length = self.pop();
        self.expand(offset, length)
    }

    /// Extends the memory to cover `length` bytes from `offset`, and takes the gas for it: `w` words
    /// cost 3 w + w^2 / 512 in total. A length of 0 does nothing.
    fn expand(&mut self, offset: U256, length: U256) -> Result<Range<usize>, Failure> {
        if length.is_zero() {
            return Ok(0..0);
        }
        // Memory beyond 2^32 bytes costs over 2^45 gas; more than 2^64 would overflow the count.
        let small = |word: U256| word.to_u64().filter(|&value| value <= 1 << 32);
        let (start, length) = small(offset).zip(small(length)).ok_or(Failure::OutOfGas)?;
        let range = start as usize..(start + length) as usize;
        let size = self.memory.items().len();
        if range.end > size {
            let words = range.end.div_ceil(32);
            self.charge(memory_gas(words as u64) - memory_gas(size as u64 / 32))?;
            self.memory.grow(words * 32)?;
        }
        Ok(range)
    }
}

/// Returns the gas for `words` words of memory in total.
fn memory_gas(words: u64) -> u64 {
    3 * words + words * words / 512
}
