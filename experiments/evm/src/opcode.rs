//! The opcodes that the interpreter supports, with their static gas and the words that they take from
//! and put on the stack (Yellow Paper, appendices G and H; PUSH0: EIP-3855).

#![allow(
    missing_docs,
    reason = "the constants are the instruction set's own names"
)]

pub const STOP: u8 = 0x00;
pub const ADD: u8 = 0x01;
pub const MUL: u8 = 0x02;
pub const SUB: u8 = 0x03;
pub const DIV: u8 = 0x04;
pub const SDIV: u8 = 0x05;
pub const MOD: u8 = 0x06;
pub const SMOD: u8 = 0x07;
pub const ADDMOD: u8 = 0x08;
pub const MULMOD: u8 = 0x09;
pub const EXP: u8 = 0x0a;
pub const SIGNEXTEND: u8 = 0x0b;
pub const LT: u8 = 0x10;
pub const GT: u8 = 0x11;
pub const SLT: u8 = 0x12;
pub const SGT: u8 = 0x13;
pub const EQ: u8 = 0x14;
pub const ISZERO: u8 = 0x15;
pub const AND: u8 = 0x16;
pub const OR: u8 = 0x17;
pub const XOR: u8 = 0x18;
pub const NOT: u8 = 0x19;
pub const BYTE: u8 = 0x1a;
pub const SHL: u8 = 0x1b;
pub const SHR: u8 = 0x1c;
pub const SAR: u8 = 0x1d;
pub const POP: u8 = 0x50;
pub const MLOAD: u8 = 0x51;
pub const MSTORE: u8 = 0x52;
pub const MSTORE8: u8 = 0x53;
pub const JUMP: u8 = 0x56;
pub const JUMPI: u8 = 0x57;
pub const PC: u8 = 0x58;
pub const MSIZE: u8 = 0x59;
pub const GAS: u8 = 0x5a;
pub const JUMPDEST: u8 = 0x5b;
pub const PUSH0: u8 = 0x5f;
pub const PUSH1: u8 = 0x60;
pub const PUSH2: u8 = 0x61;
pub const PUSH32: u8 = 0x7f;
pub const DUP1: u8 = 0x80;
pub const DUP16: u8 = 0x8f;
pub const SWAP1: u8 = 0x90;
pub const SWAP16: u8 = 0x9f;
pub const RETURN: u8 = 0xf3;
pub const REVERT: u8 = 0xfd;
pub const INVALID: u8 = 0xfe;

/// The static properties of an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// The static gas. EXP and memory cost more, depending on their operands.
    pub gas: u8,
    /// Words that must be on the stack.
    pub pops: u8,
    /// Words on the stack afterwards that replace these.
    pub pushes: u8,
    /// Whether this interpreter supports it.
    pub supported: bool,
}

/// One entry for each byte.
pub static INFO: [Info; 256] = table();

/// Returns the number of data bytes after the opcode.
#[inline]
pub const fn data_length(opcode: u8) -> usize {
    match opcode {
        PUSH1..=PUSH32 => (opcode - PUSH0) as usize,
        _ => 0,
    }
}

/// Returns whether the opcode ends a block of straight code.
pub const fn ends_block(opcode: u8) -> bool {
    matches!(opcode, STOP | JUMP | JUMPI | RETURN | REVERT | INVALID)
        || !INFO_CONST[opcode as usize].supported
}

const INFO_CONST: [Info; 256] = table();

const fn table() -> [Info; 256] {
    let mut table = [Info {
        gas: 0,
        pops: 0,
        pushes: 0,
        supported: false,
    }; 256];
    let mut byte = 0;
    while byte < 256 {
        if let Some((gas, pops, pushes)) = describe(byte as u8) {
            table[byte] = Info {
                gas,
                pops,
                pushes,
                supported: true,
            };
        }
        byte += 1;
    }
    table
}

const fn describe(opcode: u8) -> Option<(u8, u8, u8)> {
    Some(match opcode {
        STOP | INVALID => (0, 0, 0),
        RETURN | REVERT => (0, 2, 0),
        ADD | SUB | LT..=EQ | AND..=XOR | BYTE..=SAR => (3, 2, 1),
        MUL | DIV..=SMOD | SIGNEXTEND => (5, 2, 1),
        ADDMOD | MULMOD => (8, 3, 1),
        EXP => (10, 2, 1),
        ISZERO | NOT | MLOAD => (3, 1, 1),
        POP => (2, 1, 0),
        MSTORE | MSTORE8 => (3, 2, 0),
        JUMP => (8, 1, 0),
        JUMPI => (10, 2, 0),
        JUMPDEST => (1, 0, 0),
        PC | MSIZE | GAS | PUSH0 => (2, 0, 1),
        PUSH1..=PUSH32 => (3, 0, 1),
        DUP1..=DUP16 => (3, opcode - DUP1 + 1, opcode - DUP1 + 2),
        SWAP1..=SWAP16 => (3, opcode - SWAP1 + 2, opcode - SWAP1 + 2),
        _ => return None,
    })
}
