//! Independent chains of one instruction for AArch64: operations per cycle rise with the number of chains up
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

/// Returns whether this processor has the operation: all are part of every AArch64 with floating point.
pub(crate) fn available(_operation: Operation) -> bool {
    true
}

/// Number of doubles in one vector of [`Operation::FusedMultiplyAdd`].
pub(crate) const VECTOR_DOUBLES: u64 = 2;

/// Numbers of chains that [`run`] supports.
pub(crate) const CHAINS: [usize; 6] = [1, 2, 3, 4, 6, 8];

/// Instructions per chain in one iteration of the loop.
pub(crate) const PER_TURN: u64 = 16;

/// Runs chains in registers x8 to x15; returns the final values of the chains.
macro_rules! integers {
    ($turns:ident, $start:expr, $instruction:literal, $list:literal, $constant:expr) => {{
        let (a, b, c, d, e, f, g, h): (u64, u64, u64, u64, u64, u64, u64, u64);
        // SAFETY: x1 is the address of a live word for loads; nothing is written to memory.
        unsafe {
            asm!(
                "2:",
                ".rept 16",
                concat!(".irp i,", $list),
                $instruction,
                ".endr",
                ".endr",
                "subs {left}, {left}, #1",
                "b.ne 2b",
                left = inout(reg) $turns => _,
                in("x1") $constant,
                inout("x8") $start => a, inout("x9") $start => b,
                inout("x10") $start => c, inout("x11") $start => d,
                inout("x12") $start => e, inout("x13") $start => f,
                inout("x14") $start => g, inout("x15") $start => h,
                options(readonly, nostack),
            );
        }
        [a, b, c, d, e, f, g, h]
    }};
}

/// Runs chains in vector registers 0 to 7, with the constant 1.0 in all lanes of register 16.
macro_rules! floats {
    ($turns:ident, $instruction:literal, $list:literal) => {{
        let mut ends = [0f64; 8];
        // SAFETY: writes the 64 bytes of `ends`; the vector registers are declared as changed.
        unsafe {
            asm!(
                "dup v16.2d, {one}",
                ".irp i,0,1,2,3,4,5,6,7",
                "movi v\\i\\().2d, #0",
                ".endr",
                "2:",
                ".rept 16",
                concat!(".irp i,", $list),
                $instruction,
                ".endr",
                ".endr",
                "subs {left}, {left}, #1",
                "b.ne 2b",
                ".irp i,0,1,2,3,4,5,6,7",
                "str d\\i, [{ends}, #8*\\i]",
                ".endr",
                one = in(reg) 1f64.to_bits(),
                ends = in(reg) ends.as_mut_ptr(),
                left = inout(reg) $turns => _,
                out("v0") _, out("v1") _, out("v2") _, out("v3") _,
                out("v4") _, out("v5") _, out("v6") _, out("v7") _,
                out("v16") _,
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

/// Uses whole vectors. Their names end in `.2d`; inside two nested repetitions, the assembler would parse
/// that as part of the parameter's name.
macro_rules! by_whole_vectors {
    ($chains:ident, ($($before:tt)*)) => {
        match $chains {
            1 => floats!($($before)* "v0.2d"),
            2 => floats!($($before)* "v0.2d,v1.2d"),
            3 => floats!($($before)* "v0.2d,v1.2d,v2.2d"),
            4 => floats!($($before)* "v0.2d,v1.2d,v2.2d,v3.2d"),
            6 => floats!($($before)* "v0.2d,v1.2d,v2.2d,v3.2d,v4.2d,v5.2d"),
            _ => floats!($($before)* "v0.2d,v1.2d,v2.2d,v3.2d,v4.2d,v5.2d,v6.2d,v7.2d"),
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
            to_floats(by_chains!(chains, integers, (turns, 0u64, "add x\\i, x\\i, x1",), (, 1u64)))
        }
        Operation::Multiply => {
            to_floats(by_chains!(chains, integers, (turns, 1u64, "mul x\\i, x\\i, x1",), (, 3u64)))
        }
        Operation::Load => to_floats(by_chains!(
            chains, integers, (turns, 0u64, "ldr x\\i, [x1]",), (, &raw const word)
        )),
        Operation::FloatAdd => {
            by_vector_chains!(chains, (turns, "fadd d\\i, d\\i, d16",), ())
        }
        Operation::FusedMultiplyAdd => {
            by_whole_vectors!(chains, (turns, "fmla \\i, v16.2d, v16.2d",))
        }
    }
}
