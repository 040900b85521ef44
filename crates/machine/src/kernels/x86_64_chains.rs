//! Independent chains of one instruction for x86-64: operations per cycle rise with the number of chains up
//! to the core's limit.

use std::arch::asm;

/// Operations of the throughput probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// 64-bit integer addition.
    Add,
    /// 64-bit integer multiplication.
    Multiply,
    /// 64-bit load that hits the first-level cache.
    Load,
    /// Double-precision addition, one value at a time.
    FloatAdd,
    /// Double-precision fused multiply-add of the widest vectors used here.
    FusedMultiplyAdd,
}

/// Returns whether this processor has the operation.
pub(crate) fn available(operation: Operation) -> bool {
    match operation {
        Operation::FusedMultiplyAdd => {
            std::arch::is_x86_feature_detected!("fma")
                && std::arch::is_x86_feature_detected!("avx2")
        }
        _ => true,
    }
}

/// Number of doubles in one vector of [`Operation::FusedMultiplyAdd`].
pub(crate) const VECTOR_DOUBLES: u64 = 4;

/// Numbers of chains that [`run`] supports.
pub(crate) const CHAINS: [usize; 6] = [1, 2, 3, 4, 6, 8];

/// Instructions per chain in one iteration of the loop.
pub(crate) const PER_TURN: u64 = 16;

/// Runs chains in registers r8 to r15; returns the wrapping sum of the chains' final values.
macro_rules! integers {
    ($turns:ident, $start:expr, $instruction:literal, $list:literal, $constant:expr) => {{
        let (a, b, c, d, e, f, g, h): (u64, u64, u64, u64, u64, u64, u64, u64);
        // SAFETY: rax is the address of a live word for loads; nothing is written to memory.
        unsafe {
            asm!(
                "2:",
                ".rept 16",
                concat!(".irp i,", $list),
                $instruction,
                ".endr",
                ".endr",
                "dec {left}",
                "jnz 2b",
                left = inout(reg) $turns => _,
                in("rax") $constant,
                inout("r8") $start => a, inout("r9") $start => b,
                inout("r10") $start => c, inout("r11") $start => d,
                inout("r12") $start => e, inout("r13") $start => f,
                inout("r14") $start => g, inout("r15") $start => h,
                options(readonly, nostack),
            );
        }
        [a, b, c, d, e, f, g, h]
    }};
}

/// Runs chains in vector registers 0 to 7, with the constant 1.0 in all lanes of register 15.
macro_rules! floats {
    ($turns:ident, $instruction:literal, $list:literal, $spread:literal, $end:literal) => {{
        let mut ends = [0f64; 8];
        // SAFETY: writes the 64 bytes of `ends`; the vector registers are declared as changed.
        unsafe {
            asm!(
                "movq xmm15, {one}",
                $spread,
                ".irp i,0,1,2,3,4,5,6,7",
                "pxor xmm\\i, xmm\\i",
                ".endr",
                "2:",
                ".rept 16",
                concat!(".irp i,", $list),
                $instruction,
                ".endr",
                ".endr",
                "dec {left}",
                "jnz 2b",
                ".irp i,0,1,2,3,4,5,6,7",
                "movq [{ends} + 8*\\i], xmm\\i",
                ".endr",
                $end,
                one = in(reg) 1f64.to_bits(),
                ends = in(reg) ends.as_mut_ptr(),
                left = inout(reg) $turns => _,
                out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                out("xmm15") _,
                options(nostack),
            );
        }
        ends
    }};
}

macro_rules! by_chains {
    ($chains:ident, $mac:ident, ($($before:tt)*), ($($after:tt)*)) => {
        match $chains {
            1 => $mac!($($before)* "8" $($after)*),
            2 => $mac!($($before)* "8,9" $($after)*),
            3 => $mac!($($before)* "8,9,10" $($after)*),
            4 => $mac!($($before)* "8,9,10,11" $($after)*),
            6 => $mac!($($before)* "8,9,10,11,12,13" $($after)*),
            _ => $mac!($($before)* "8,9,10,11,12,13,14,15" $($after)*),
        }
    };
}

macro_rules! by_vector_chains {
    ($chains:ident, ($($before:tt)*), ($($after:tt)*)) => {
        match $chains {
            1 => floats!($($before)* "0" $($after)*),
            2 => floats!($($before)* "0,1" $($after)*),
            3 => floats!($($before)* "0,1,2" $($after)*),
            4 => floats!($($before)* "0,1,2,3" $($after)*),
            6 => floats!($($before)* "0,1,2,3,4,5" $($after)*),
            _ => floats!($($before)* "0,1,2,3,4,5,6,7" $($after)*),
        }
    };
}

/// Runs `turns` x [`PER_TURN`] x `chains` operations and returns a checkable final value of each chain: a
/// count for the additions, 3 to the power of the count for the multiplication, the loaded word for the load.
/// `chains` must be one of [`CHAINS`]; other numbers run as 8.
pub(crate) fn run(operation: Operation, chains: usize, turns: u64) -> [f64; 8] {
    let turns = turns.max(1);
    let word = 7u64;
    let to_floats = |ends: [u64; 8]| ends.map(|end| end as f64);
    match operation {
        Operation::Add => {
            to_floats(by_chains!(chains, integers, (turns, 0u64, "add r\\i, rax",), (, 1u64)))
        }
        Operation::Multiply => {
            to_floats(by_chains!(chains, integers, (turns, 1u64, "imul r\\i, rax",), (, 3u64)))
        }
        Operation::Load => to_floats(by_chains!(
            chains, integers, (turns, 0u64, "mov r\\i, [rax]",), (, &raw const word)
        )),
        Operation::FloatAdd => {
            by_vector_chains!(chains, (turns, "addsd xmm\\i, xmm15",), (, "", ""))
        }
        Operation::FusedMultiplyAdd => by_vector_chains!(
            chains,
            (turns, "vfmadd213pd ymm\\i, ymm15, ymm15",),
            (, "vbroadcastsd ymm15, xmm15", "vzeroupper")
        ),
    }
}
