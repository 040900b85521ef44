//! A small interpreter of Ethereum bytecode, the subject of an experiment about reading input.
//!
//! It supports the opcodes of [`opcode`]: arithmetic, comparison, bits, stack, memory, jumps and ends,
//! with their gas. Opcodes that need accounts, storage, the block or the call are reported as unsupported.

pub mod buffer;
mod code;
pub mod decoded;
mod division;
pub mod fast;
pub mod machine;
pub mod opcode;
pub mod plain;
pub mod random;
pub mod read;
pub mod u256;
