//! An assembler for eBPF instructions.
//!
//! It is small: it has one method for each instruction that the programs need, and labels for jumps. The
//! result is a list of the 64-bit words for `bpf(2)`. Encodings follow the kernel's
//! `Documentation/bpf/standardization/instruction-set.rst`.

use std::os::fd::{AsRawFd, BorrowedFd};

/// A register: `R0` holds results, `R1`-`R5` arguments, `R6`-`R9` are preserved by calls, `R10` is the frame
/// pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Reg {
    R0,
    R1,
    R2,
    R3,
    R4,
    R6 = 6,
    R7,
    R8,
    R9,
    R10,
}

/// Width of a load or store in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Width {
    /// 4 bytes.
    Word = 0x00,
    /// 2 bytes.
    Half = 0x08,
    /// 1 byte.
    Byte = 0x10,
    /// 8 bytes.
    Double = 0x18,
}

/// A 64-bit arithmetic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Alu {
    Add = 0x00,
    Sub = 0x10,
    Multiply = 0x20,
    Or = 0x40,
    Xor = 0xa0,
    And = 0x50,
    ShiftLeft = 0x60,
    ShiftRight = 0x70,
    Move = 0xb0,
}

/// A 64-bit comparison for a conditional jump; `S...` variants compare signed numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Cond {
    Equal = 0x10,
    Greater = 0x20,
    GreaterEqual = 0x30,
    /// At least one of the bits is set.
    AnySet = 0x40,
    NotEqual = 0x50,
    Less = 0xa0,
    SLess = 0xc0,
}

/// Kernel helper functions used here, by their stable number in `include/uapi/linux/bpf.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Helper {
    MapLookup = 1,
    MapUpdate = 2,
    MapDelete = 3,
    KtimeNs = 5,
    CurrentPidTgid = 14,
    CurrentTask = 35,
    Stack = 67,
    ProbeReadUser = 112,
    ProbeReadKernel = 113,
    ProbeReadUserStr = 114,
    ProbeReadKernelStr = 115,
    RingOutput = 130,
    RingQuery = 134,
    AttachCookie = 174,
}

/// A position in the program that jumps can refer to before or after it is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label(usize);

/// Why a program could not be assembled; always a defect of the program, never of its input.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum AsmError {
    /// A jump refers to a label that was never bound.
    #[error("jump at instruction {0} to a label that is not bound")]
    UnboundLabel(usize),
    /// A jump is longer than the 16 bits of an instruction allow.
    #[error("jump at instruction {0} is too far")]
    TooFar(usize),
}

/// A program under construction.
#[derive(Debug, Default)]
pub(crate) struct Asm {
    words: Vec<u64>,
    labels: Vec<Option<usize>>,
    fixups: Vec<(usize, Label)>,
}

const LDX: u8 = 0x61;
const ST: u8 = 0x62;
const STX: u8 = 0x63;
const ATOMIC_DOUBLE: u8 = 0xdb;
const JMP: u8 = 0x05;
const ALU64: u8 = 0x07;
const FROM_REG: u8 = 0x08;
const PSEUDO_MAP_FD: u8 = 1;

fn word(code: u8, dst: u8, src: u8, off: i16, imm: i32) -> u64 {
    u64::from(code)
        | u64::from(src << 4 | dst) << 8
        | u64::from(off as u16) << 16
        | u64::from(imm as u32) << 32
}

impl Asm {
    /// Creates an empty program.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Creates a label to be bound later.
    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Binds a label to the next instruction.
    pub(crate) fn bind(&mut self, label: Label) {
        self.labels[label.0] = Some(self.words.len());
    }

    fn emit(&mut self, code: u8, dst: u8, src: u8, off: i16, imm: i32) -> &mut Self {
        self.words.push(word(code, dst, src, off, imm));
        self
    }

    /// `dst = src`
    pub(crate) fn mov(&mut self, dst: Reg, src: Reg) -> &mut Self {
        self.alu(Alu::Move, dst, src)
    }

    /// `dst = imm`, sign-extended to 64 bits.
    pub(crate) fn mov_imm(&mut self, dst: Reg, imm: i32) -> &mut Self {
        self.alu_imm(Alu::Move, dst, imm)
    }

    /// `dst op= src`
    pub(crate) fn alu(&mut self, op: Alu, dst: Reg, src: Reg) -> &mut Self {
        self.emit(ALU64 | FROM_REG | op as u8, dst as u8, src as u8, 0, 0)
    }

    /// `dst op= imm`, sign-extended to 64 bits.
    pub(crate) fn alu_imm(&mut self, op: Alu, dst: Reg, imm: i32) -> &mut Self {
        self.emit(ALU64 | op as u8, dst as u8, 0, 0, imm)
    }

    /// `dst = *(width *)(src + off)`, zero-extended.
    pub(crate) fn load(&mut self, width: Width, dst: Reg, src: Reg, off: i16) -> &mut Self {
        self.emit(LDX | width as u8, dst as u8, src as u8, off, 0)
    }

    /// `*(width *)(dst + off) = src`
    pub(crate) fn store(&mut self, width: Width, dst: Reg, off: i16, src: Reg) -> &mut Self {
        self.emit(STX | width as u8, dst as u8, src as u8, off, 0)
    }

    /// `*(width *)(dst + off) = imm`
    pub(crate) fn store_imm(&mut self, width: Width, dst: Reg, off: i16, imm: i32) -> &mut Self {
        self.emit(ST | width as u8, dst as u8, 0, off, imm)
    }

    /// `*(u64 *)(dst + off) += src`, atomically across CPUs.
    pub(crate) fn atomic_add(&mut self, dst: Reg, off: i16, src: Reg) -> &mut Self {
        self.emit(ATOMIC_DOUBLE, dst as u8, src as u8, off, 0)
    }

    /// `dst = ` the map behind `fd`; two words long.
    pub(crate) fn load_map(&mut self, dst: Reg, fd: BorrowedFd<'_>) -> &mut Self {
        self.emit(0x18, dst as u8, PSEUDO_MAP_FD, 0, fd.as_raw_fd())
            .emit(0, 0, 0, 0, 0)
    }

    /// Calls a kernel helper; clobbers `R0`-`R5`.
    pub(crate) fn call(&mut self, helper: Helper) -> &mut Self {
        self.emit(0x85, 0, 0, 0, helper as i32)
    }

    /// Jumps to `label`.
    pub(crate) fn jump(&mut self, label: Label) -> &mut Self {
        self.fixups.push((self.words.len(), label));
        self.emit(JMP, 0, 0, 0, 0)
    }

    /// Jumps to `label` if `dst cond imm` (64-bit, immediate sign-extended).
    pub(crate) fn jump_if_imm(
        &mut self,
        cond: Cond,
        dst: Reg,
        imm: i32,
        label: Label,
    ) -> &mut Self {
        self.fixups.push((self.words.len(), label));
        self.emit(JMP | cond as u8, dst as u8, 0, 0, imm)
    }

    /// Jumps to `label` if `dst cond src` (64-bit).
    pub(crate) fn jump_if(&mut self, cond: Cond, dst: Reg, src: Reg, label: Label) -> &mut Self {
        self.fixups.push((self.words.len(), label));
        self.emit(JMP | FROM_REG | cond as u8, dst as u8, src as u8, 0, 0)
    }

    /// Ends the program with result 0.
    pub(crate) fn exit(&mut self) -> &mut Self {
        self.exit_with(0)
    }

    /// Ends the program with a result.
    pub(crate) fn exit_with(&mut self, result: i32) -> &mut Self {
        self.mov_imm(Reg::R0, result).emit(0x95, 0, 0, 0, 0)
    }

    /// Resolves the jumps and returns the instruction words.
    ///
    /// # Errors
    /// A label that was used and not bound, or a jump beyond 32767 instructions.
    pub(crate) fn finish(mut self) -> Result<Vec<u64>, AsmError> {
        for (at, label) in &self.fixups {
            let target = self.labels[label.0].ok_or(AsmError::UnboundLabel(*at))?;
            let distance = target as i64 - *at as i64 - 1;
            let off = i16::try_from(distance).map_err(|_| AsmError::TooFar(*at))?;
            self.words[*at] |= u64::from(off as u16) << 16;
        }
        Ok(self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(asm: Asm) -> Vec<[u8; 8]> {
        let words = asm.finish().expect("assembles");
        words.into_iter().map(u64::to_le_bytes).collect()
    }

    #[test]
    fn instructions_have_the_encodings_of_the_standard() {
        let mut a = Asm::new();
        a.mov(Reg::R6, Reg::R1)
            .mov_imm(Reg::R0, -1)
            .load(Width::Double, Reg::R8, Reg::R6, 8)
            .load(Width::Word, Reg::R2, Reg::R1, 4)
            .store(Width::Word, Reg::R10, -4, Reg::R0)
            .store_imm(Width::Double, Reg::R10, -16, 7)
            .alu(Alu::Add, Reg::R1, Reg::R2)
            .alu_imm(Alu::ShiftRight, Reg::R3, 32)
            .atomic_add(Reg::R0, 8, Reg::R1)
            .call(Helper::KtimeNs)
            .exit();
        assert_eq!(
            bytes(a),
            [
                [0xbf, 0x16, 0, 0, 0, 0, 0, 0],
                [0xb7, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
                [0x79, 0x68, 8, 0, 0, 0, 0, 0],
                [0x61, 0x12, 4, 0, 0, 0, 0, 0],
                [0x63, 0x0a, 0xfc, 0xff, 0, 0, 0, 0],
                [0x7a, 0x0a, 0xf0, 0xff, 7, 0, 0, 0],
                [0x0f, 0x21, 0, 0, 0, 0, 0, 0],
                [0x77, 0x03, 0, 0, 32, 0, 0, 0],
                [0xdb, 0x10, 8, 0, 0, 0, 0, 0],
                [0x85, 0, 0, 0, 5, 0, 0, 0],
                [0xb7, 0, 0, 0, 0, 0, 0, 0],
                [0x95, 0, 0, 0, 0, 0, 0, 0],
            ]
        );
    }

    #[test]
    fn jumps_count_from_the_next_instruction_both_ways() {
        let mut a = Asm::new();
        let (back, ahead) = (a.label(), a.label());
        a.bind(back);
        a.jump_if_imm(Cond::Equal, Reg::R0, 0, ahead);
        a.jump(back);
        a.bind(ahead);
        a.jump_if(Cond::SLess, Reg::R1, Reg::R2, back);
        let code = bytes(a);
        assert_eq!(code[0], [0x15, 0, 1, 0, 0, 0, 0, 0]);
        assert_eq!(code[1], [0x05, 0, 0xfe, 0xff, 0, 0, 0, 0]);
        assert_eq!(code[2], [0xcd, 0x21, 0xfd, 0xff, 0, 0, 0, 0]);
    }

    #[test]
    fn a_label_that_is_never_bound_is_an_error() {
        let mut a = Asm::new();
        let nowhere = a.label();
        a.mov_imm(Reg::R0, 0).jump(nowhere);
        assert_eq!(a.finish(), Err(AsmError::UnboundLabel(1)));
    }

    #[test]
    fn a_jump_of_more_than_16_bits_is_an_error() {
        let mut a = Asm::new();
        let far = a.label();
        a.jump(far);
        for _ in 0..40_000 {
            a.mov_imm(Reg::R0, 0);
        }
        a.bind(far);
        a.exit();
        assert_eq!(a.finish(), Err(AsmError::TooFar(0)));
    }
}
