//! The contents of a thread's registers, as far as known.

/// Registers by their DWARF numbers.
pub(crate) mod dwarf {
    /// The number of registers stored here; the last is the address of the next instruction.
    #[cfg(target_arch = "x86_64")]
    pub(crate) const COUNT: usize = 17;
    #[cfg(target_arch = "x86_64")]
    pub(crate) const FRAME: usize = 6;
    #[cfg(target_arch = "x86_64")]
    pub(crate) const STACK: usize = 7;
    #[cfg(target_arch = "x86_64")]
    pub(crate) const INSTRUCTION: usize = 16;

    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) const COUNT: usize = 33;
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) const FRAME: usize = 29;
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) const STACK: usize = 31;
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) const INSTRUCTION: usize = 32;
}

/// Perf's number of each register, in the order of the DWARF numbers.
#[cfg(target_arch = "x86_64")]
const PERF: [u32; dwarf::COUNT] = [0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8];
#[cfg(not(target_arch = "x86_64"))]
const PERF: [u32; dwarf::COUNT] = {
    let mut numbers = [0; dwarf::COUNT];
    let mut at = 0;
    while at < dwarf::COUNT {
        numbers[at] = at as u32;
        at += 1;
    }
    numbers
};

/// The registers that matter to a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    values: [Option<u64>; dwarf::COUNT],
}

// `Default` is not derived: arrays with more than 32 elements don't implement it, and AArch64 has 33
// registers.
impl Default for Registers {
    fn default() -> Self {
        Self {
            values: [None; dwarf::COUNT],
        }
    }
}

impl Registers {
    /// Bits of `sample_regs_user` for a sample with all of them.
    pub const PERF_MASK: u64 = {
        let mut mask = 0;
        let mut at = 0;
        while at < dwarf::COUNT {
            mask |= 1 << PERF[at];
            at += 1;
        }
        mask
    };

    /// Creates the registers that are known for every thread.
    pub fn new(instruction: u64, stack: u64, frame: u64) -> Self {
        let mut registers = Self::default();
        registers.values[dwarf::INSTRUCTION] = Some(instruction);
        registers.values[dwarf::STACK] = Some(stack);
        registers.values[dwarf::FRAME] = Some(frame);
        registers
    }

    /// Creates the registers that the kernel shows of a thread that is blocked in a call.
    pub fn of_blocked(instruction: u64, stack: u64) -> Self {
        let mut registers = Self::default();
        registers.values[dwarf::INSTRUCTION] = Some(instruction);
        registers.values[dwarf::STACK] = Some(stack);
        registers
    }

    /// Reads the registers of a sample. `values` has one value for each bit of `mask`, lowest bit first, as
    /// written by `PERF_SAMPLE_REGS_USER`.
    pub fn of_perf(mask: u64, values: impl IntoIterator<Item = u64>) -> Self {
        let mut registers = Self::default();
        let numbers = (0..u64::BITS).filter(|bit| mask >> bit & 1 == 1);
        for (number, value) in numbers.zip(values) {
            if let Some(at) = PERF.iter().position(|perf| *perf == number) {
                registers.values[at] = Some(value);
            }
        }
        registers
    }

    /// Returns the registers of a stopped thread from what `ptrace` reads.
    #[cfg(target_arch = "x86_64")]
    pub fn of_ptrace(of: &libc::user_regs_struct) -> Self {
        let values = [
            of.rax, of.rdx, of.rcx, of.rbx, of.rsi, of.rdi, of.rbp, of.rsp, of.r8, of.r9, of.r10,
            of.r11, of.r12, of.r13, of.r14, of.r15, of.rip,
        ];
        Self {
            values: values.map(Some),
        }
    }

    /// Returns the registers of a stopped thread from what `ptrace` reads.
    #[cfg(target_arch = "aarch64")]
    pub fn of_ptrace(of: &libc::user_regs_struct) -> Self {
        let mut values = [None; dwarf::COUNT];
        let all = of.regs.into_iter().chain([of.sp, of.pc]);
        for (value, held) in values.iter_mut().zip(all) {
            *value = Some(held);
        }
        Self { values }
    }

    /// Returns the address of the next instruction.
    pub fn instruction(&self) -> Option<u64> {
        self.values[dwarf::INSTRUCTION]
    }

    /// Returns the stack pointer.
    pub fn stack(&self) -> Option<u64> {
        self.values[dwarf::STACK]
    }

    /// Returns the frame pointer, for code that has one.
    pub fn frame(&self) -> Option<u64> {
        self.values[dwarf::FRAME]
    }

    pub(crate) fn get(&self, number: usize) -> Option<u64> {
        self.values.get(number).copied().flatten()
    }

    pub(crate) fn set(&mut self, number: usize, value: Option<u64>) {
        if let Some(at) = self.values.get_mut(number) {
            *at = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_samples_registers_are_in_perfs_order() {
        // ax, bp, sp, ip and r15.
        let mask = 1 << 0 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 23;
        let registers = Registers::of_perf(mask, [10, 11, 12, 13, 14]);
        assert_eq!(registers.get(0), Some(10));
        assert_eq!(registers.get(dwarf::FRAME), Some(11));
        assert_eq!(registers.stack(), Some(12));
        assert_eq!(registers.instruction(), Some(13));
        assert_eq!(registers.get(15), Some(14));
        assert_eq!(registers.get(1), None);
        assert_eq!(Registers::PERF_MASK.count_ones(), 17);
    }
}
