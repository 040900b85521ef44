//! Random programs from a seed, for tests that compare interpreters. Most run to their end; some fail
//! in each way that a program can fail.

use crate::opcode::*;

/// Random numbers (SplitMix64; Steele, Lea, Flood, 2014): the same from each seed everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator for a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Returns a number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}

const OPERATORS: &[u8] = &[
    ADD, MUL, SUB, DIV, SDIV, MOD, SMOD, ADDMOD, MULMOD, EXP, SIGNEXTEND, LT, GT, SLT, SGT, EQ,
    ISZERO, AND, OR, XOR, NOT, BYTE, SHL, SHR, SAR,
];

/// The words in the program's output.
const OUTPUT_WORDS: u8 = 7;

struct Writer {
    random: Random,
    code: Vec<u8>,
    /// Words on the stack, if no jump is taken.
    height: usize,
    labels: Vec<usize>,
    /// Where the two bytes of a jump's target are to be written.
    jumps: Vec<usize>,
}

/// Returns a program of about `steps` opcodes.
pub fn program(seed: u64, steps: usize) -> Vec<u8> {
    let mut writer = Writer {
        random: Random::new(seed),
        code: Vec::new(),
        height: 0,
        labels: Vec::new(),
        jumps: Vec::new(),
    };
    for _ in 0..steps {
        writer.step();
    }
    writer.finish()
}

impl Writer {
    fn step(&mut self) {
        match self.random.below(100) {
            0..45 => {
                let opcode = self.random.pick(OPERATORS);
                self.operation(opcode);
            }
            45..60 => self.push_interesting(),
            60..68 => {
                let opcode = DUP1 + self.random.below(16) as u8;
                self.operation(opcode);
            }
            68..76 => {
                let opcode = SWAP1 + self.random.below(16) as u8;
                self.operation(opcode);
            }
            76..84 => self.memory(),
            84..88 => {
                let opcode = self.random.pick(&[PC, MSIZE, GAS, POP, PUSH0]);
                self.operation(opcode);
            }
            88..93 => self.label(),
            93..97 => self.jump(),
            97..99 => self.constant_before_operator(),
            _ => self.something_rare(),
        }
    }

    fn emit(&mut self, opcode: u8) {
        let info = INFO[opcode as usize];
        self.height = self.height.saturating_sub(info.pops.into()) + usize::from(info.pushes);
        self.code.push(opcode);
    }

    /// Appends the opcode, after the words that it takes.
    fn operation(&mut self, opcode: u8) {
        while self.height < INFO[opcode as usize].pops.into() && !self.random.one_in(1000) {
            self.push_interesting();
        }
        self.emit(opcode);
    }

    fn push(&mut self, data: &[u8]) {
        self.emit(PUSH0 + data.len() as u8);
        self.code.extend_from_slice(data);
    }

    /// Values where mistakes hide: small ones, single bits, edges of limbs, negative ones, any.
    fn push_interesting(&mut self) {
        let mut word = [0u8; 32];
        match self.random.below(6) {
            0 => word[31] = self.random.below(40) as u8,
            1 => word[self.random.below(32) as usize] = 1 << self.random.below(8),
            2 => word[self.random.below(32) as usize..].fill(0xff),
            3 => word[..32 - self.random.below(32) as usize].fill(0xff),
            4 => word[24..].copy_from_slice(&self.random.next().to_be_bytes()),
            _ => word.fill_with(|| self.random.next() as u8),
        }
        let zeros = word.iter().take_while(|&&byte| byte == 0).count();
        self.push(&word[zeros..]);
    }

    fn memory(&mut self) {
        let opcode = self.random.pick(&[MLOAD, MSTORE, MSTORE8]);
        if opcode != MLOAD && self.height == 0 {
            self.push_interesting();
        }
        if self.random.one_in(60) {
            self.push_interesting();
        } else {
            let offset = self.random.below(1500) as u16;
            self.push(&offset.to_be_bytes());
        }
        self.emit(opcode);
    }

    fn label(&mut self) {
        self.labels.push(self.code.len());
        self.emit(JUMPDEST);
    }

    fn jump(&mut self) {
        let conditional = !self.random.one_in(4);
        if conditional {
            self.push_interesting();
        }
        self.push(&[0, 0]);
        self.jumps.push(self.code.len() - 2);
        self.emit(if conditional { JUMPI } else { JUMP });
    }

    /// Sequences that the decoded engine turns into one instruction.
    fn constant_before_operator(&mut self) {
        if self.height == 0 {
            self.push_interesting();
        }
        self.push_interesting();
        if self.random.one_in(2) {
            self.emit(SWAP1);
            self.emit(SUB);
        } else {
            self.emit(ADD);
        }
    }

    fn something_rare(&mut self) {
        match self.random.below(12) {
            0 => self.emit(STOP),
            1 => self.emit(INVALID),
            2 => self.overflow(),
            3 => self.leave_early(),
            // A JUMPDEST that is data, which no jump may reach.
            4 => {
                self.labels.push(self.code.len() + 1);
                self.push(&[JUMPDEST]);
            }
            _ => self.label(),
        }
    }

    /// Pushes more words than the stack has room for, or exactly as many.
    fn overflow(&mut self) {
        let spare = self.random.below(3) as usize;
        for _ in 0..(1024 + spare).saturating_sub(self.height + 1) {
            self.emit(MSIZE);
        }
    }

    fn leave_early(&mut self) {
        let length = self.random.below(100) as u8;
        self.push(&[length]);
        let offset = self.random.below(2000) as u16;
        self.push(&offset.to_be_bytes());
        let opcode = self.random.pick(&[RETURN, REVERT]);
        self.emit(opcode);
    }

    /// Stores the stack, returns it as output, and sets the jump targets.
    fn finish(mut self) -> Vec<u8> {
        self.label();
        self.operation(GAS);
        self.operation(MSIZE);
        for word in 0..OUTPUT_WORDS {
            if self.height == 0 {
                self.push_interesting();
            }
            self.push(&[word * 32]);
            self.emit(MSTORE);
        }
        self.push(&[OUTPUT_WORDS * 32]);
        self.emit(PUSH0);
        self.emit(RETURN);
        // Push data truncated by the end of the code.
        if self.random.one_in(4) {
            self.code.push(PUSH32);
        }
        for place in std::mem::take(&mut self.jumps) {
            let target = self.target(place);
            self.code[place..place + 2].copy_from_slice(&(target as u16).to_be_bytes());
        }
        self.code
    }

    /// Mostly a later label; sometimes any label, which may loop until the gas is used; rarely a place
    /// that is not a label.
    fn target(&mut self, place: usize) -> usize {
        let later: Vec<usize> = self
            .labels
            .iter()
            .copied()
            .filter(|&label| label > place)
            .collect();
        match self.random.below(40) {
            0 => self.random.below(self.code.len() as u64 + 10) as usize,
            1..8 => self.random.pick(&self.labels),
            _ => self.random.pick(if later.is_empty() {
                &self.labels
            } else {
                &later
            }),
        }
    }
}
