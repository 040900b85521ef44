//! Data layouts shared by the kernel programs and this process.
//!
//! The layout of map keys, map values and ring records, in bytes. Programs are assembled with these offsets,
//! and the reader uses them to decode.

/// State of one traced thread; key: thread id (`u32`).
///
/// The first 16 bytes are the key of the call table and the next 24 that of the off-CPU table, so that
/// neither key has to be built on the hot path.
pub(crate) mod task {
    /// Key of the call table: thread, process, call number, descriptor.
    pub(crate) const CALL_KEY: i16 = 0;
    pub(crate) const TID: i16 = 0;
    pub(crate) const TGID: i16 = 4;
    pub(crate) const NR: i16 = 8;
    pub(crate) const FD: i16 = 12;
    /// Key of the off-CPU table: the same four values at the time the thread left the CPU, and the cause.
    pub(crate) const OFF_KEY: i16 = 16;
    pub(crate) const OFF_NR: i16 = 24;
    pub(crate) const OFF_CAUSE: i16 = 32;
    /// When the current call was entered, ns; 0 outside calls.
    pub(crate) const ENTER: i16 = 40;
    /// Time asleep within the current call, ns.
    pub(crate) const CALL_BLOCKED: i16 = 48;
    /// Time ready but not running within the current call, ns.
    pub(crate) const CALL_READY: i16 = 56;
    /// When the thread left the CPU, ns; 0 while it runs.
    pub(crate) const OFF_SINCE: i16 = 64;
    /// When it was woken after that, ns; 0 while asleep.
    pub(crate) const WOKEN: i16 = 72;
    /// When it last got a CPU, ns.
    pub(crate) const ON_SINCE: i16 = 80;
    /// Time on a CPU so far, ns.
    pub(crate) const ON_TOTAL: i16 = 88;
    /// When the thread was created, ns.
    pub(crate) const STARTED: i16 = 96;
    /// How to process the current call (`crate::calls` flags).
    pub(crate) const FLAGS: i16 = 104;
    /// Thread that was on the CPU from which the wake-up came.
    pub(crate) const WAKER: i16 = 108;
    /// Bit set of the descriptors below 64 that calls of `crate::calls::TOTALS` have used since they were
    /// last closed. Closing a descriptor that isn't in the set needs no record.
    pub(crate) const MOVED: i16 = 112;
    /// The scheduler's count of CPU time for the thread when it last left or got a CPU, ns; never 0 after
    /// that.
    pub(crate) const RAN: i16 = 120;
    /// The number of its voluntary switches at that time.
    pub(crate) const VOLUNTARY: i16 = 128;
    /// When the page fault being served occurred, ns; 0 outside faults of the thread's own code.
    pub(crate) const FAULT_SINCE: i16 = 136;
    /// Number of timed faults of the thread's own code.
    pub(crate) const FAULTS: i16 = 144;
    /// CPU time for serving them, ns.
    pub(crate) const FAULT_TOTAL: i16 = 152;
    /// Entry address of the executed program until the thread reaches it; 0 if unknown.
    pub(crate) const ENTRY: i16 = 160;
    /// Address of that program's loader; 0 if it has none.
    pub(crate) const LOADER: i16 = 168;
    /// If not 0, the thread is held back before its next call (`super::super::programs::pace`).
    pub(crate) const HOLD: i16 = 176;
    /// Running totals by which stacks and paths are chosen (`super::super::programs::stacks`), in ns, each
    /// with its own start value. They count the time on a CPU in calls, off it in calls and faults, in calls
    /// with a path, and on a CPU serving faults.
    pub(crate) const CALL_TIME: i16 = 184;
    pub(crate) const WAIT_TIME: i16 = 192;
    pub(crate) const PATH_TIME: i16 = 200;
    pub(crate) const FAULT_TIME: i16 = 208;
    /// The thread that ended the last sleep of this one: the value of `WAKER` at that time.
    pub(crate) const WOKEN_BY: i16 = 216;
    /// The address of the fault at `FAULT_SINCE`, if stacks are recorded.
    pub(crate) const FAULT_ADDRESS: i16 = 224;
    pub(crate) const SIZE: usize = 232;
}

/// One row of the call table.
pub(crate) mod call {
    pub(crate) const KEY: usize = 16;
    pub(crate) const CALLS: i16 = 0;
    pub(crate) const TOTAL: i16 = 8;
    pub(crate) const BLOCKED: i16 = 16;
    pub(crate) const READY: i16 = 24;
    pub(crate) const BYTES: i16 = 32;
    pub(crate) const ERRORS: i16 = 40;
    pub(crate) const WOULD_BLOCK: i16 = 48;
    pub(crate) const UNFINISHED: i16 = 56;
    pub(crate) const FIRST: i16 = 64;
    /// Eight counters of calls by the number of bytes moved; the limits are in `crate::result::SIZE_LIMITS`.
    pub(crate) const SIZES: i16 = 72;
    /// When the first and the last call that moved bytes returned, ns; 0 if there was none.
    pub(crate) const FIRST_MOVED: i16 = 136;
    pub(crate) const LAST_MOVED: i16 = 144;
    /// Number of writes whose last byte was examined, and of those that ended a line.
    pub(crate) const EXAMINED: i16 = 152;
    pub(crate) const LINES: i16 = 160;
    /// The position in the file where the last call at an offset ended, and the number of calls that
    /// continued where the previous one had ended.
    pub(crate) const NEXT_PLACE: i16 = 168;
    pub(crate) const WENT_ON: i16 = 176;
    /// Attempts to read a last byte, including those for which the memory was not present yet.
    pub(crate) const EXAMINATIONS: i16 = 184;
    pub(crate) const SIZE: usize = 192;
}

/// One row of the off-CPU table.
pub(crate) mod off {
    pub(crate) const KEY: usize = 24;
    pub(crate) const COUNT: i16 = 0;
    pub(crate) const TOTAL: i16 = 8;
    pub(crate) const MAX: i16 = 16;
    /// Counters of 4 bytes each, by powers of two of 1.024 us.
    pub(crate) const BUCKETS: i16 = 24;
    pub(crate) const BUCKET_COUNT: usize = 24;
    pub(crate) const SIZE: usize = 120;
}

/// The connections of traced processes; key: process and descriptor (`u32` each), value: what was last moved
/// through it (`u64`).
pub(crate) mod connection {
    pub(crate) const KEY: usize = 8;
    pub(crate) const NOTHING: i32 = 0;
    pub(crate) const READ: i32 = 1;
    pub(crate) const WRITTEN: i32 = 2;
    pub(crate) const SIZE: usize = 8;
}

/// Why a thread was off the CPU, as written by the programs.
pub(crate) mod cause {
    pub(crate) const SLEEP: i32 = 0;
    pub(crate) const UNINTERRUPTIBLE: i32 = 1;
    pub(crate) const DISK: i32 = 2;
    pub(crate) const STOPPED: i32 = 3;
    pub(crate) const PREEMPTED: i32 = 4;
    pub(crate) const READY: i32 = 5;
}

/// A ring record: a head of [`record::HEAD`] bytes, then a payload.
pub(crate) mod record {
    pub(crate) const KIND: i16 = 0;
    pub(crate) const TIME: i16 = 8;
    pub(crate) const TID: i16 = 16;
    pub(crate) const TGID: i16 = 20;
    pub(crate) const NR: i16 = 24;
    pub(crate) const FD: i16 = 28;
    pub(crate) const RESULT: i16 = 32;
    pub(crate) const ARG0: i16 = 40;
    pub(crate) const ARG1: i16 = 48;
    pub(crate) const ARG2: i16 = 56;
    pub(crate) const HEAD: usize = 64;

    pub(crate) const CALL: i32 = 1;
    pub(crate) const FORK: i32 = 2;
    pub(crate) const EXEC: i32 = 3;
    pub(crate) const EXIT: i32 = 4;
    pub(crate) const OFF: i32 = 5;
    pub(crate) const FOLLOW: i32 = 6;
    /// A program reached its own first instruction. ARG0: address of the program's loader; 0 if it has none.
    pub(crate) const ENTERED: i32 = 7;
    /// The executed program gained privileges: nothing of it is recorded.
    pub(crate) const RIGHTS: i32 = 8;
    /// The object of a call: its path argument, or its descriptor. RESULT: the time of calls with a path that
    /// this call represents, ns; 0 if it was only chosen for its stack. ARG0: the call's first argument.
    /// ARG1: its duration without waits for a CPU, ns. ARG2: not 0 if a stack record has the same thread and
    /// time.
    pub(crate) const OBJECT: i32 = 9;
    /// A thread's position in the code, in a separate ring. RESULT: the time on a CPU that it represents, ns.
    /// ARG0: the time off the CPU that it represents, ns. ARG1: the time that this call was on a CPU, ns.
    /// ARG2: the thread that ended the last sleep. A record without a call number is a fault; its ARG2 is the
    /// address that was touched.
    pub(crate) const STACK: i32 = 10;
    /// A call ended because its timeout expired. RESULT: its duration, ns.
    pub(crate) const TIME_UP: i32 = 11;
    /// A call read from a connection that was last written to, or wrote to one that was last read from; the
    /// first such call on a connection counts too.
    pub(crate) const TURN: i32 = 12;

    /// In EXIT records, ARG2 is the time in the run queue in ns as counted by the kernel; it is this value,
    /// as 64 bits, if the kernel doesn't count it.
    pub(crate) const UNKNOWN: i32 = -1;

    /// Maximum length of a recorded path, including its final zero.
    pub(crate) const PATH_MAX: i32 = 256;
    /// Maximum length of a recorded argument list.
    pub(crate) const ARGV_MAX: i32 = 512;
    /// Payload of EXEC: the path, then the arguments, at fixed offsets.
    pub(crate) const EXEC_PAYLOAD: usize = (PATH_MAX + ARGV_MAX) as usize;
    /// Fields of the payload of EXIT.
    pub(crate) const EXIT_ON_TOTAL: i16 = HEAD as i16;
    pub(crate) const EXIT_STARTED: i16 = HEAD as i16 + 8;
    pub(crate) const EXIT_VOLUNTARY: i16 = HEAD as i16 + 16;
    pub(crate) const EXIT_INVOLUNTARY: i16 = HEAD as i16 + 24;
    pub(crate) const EXIT_FAULTS: i16 = HEAD as i16 + 32;
    pub(crate) const EXIT_FAULT_TOTAL: i16 = HEAD as i16 + 40;
    pub(crate) const EXIT_NAME: i16 = HEAD as i16 + 48;
    pub(crate) const EXIT_PAYLOAD: usize = 64;
    /// Size of the scratch space in which a record is built.
    pub(crate) const SCRATCH: usize = HEAD + EXEC_PAYLOAD;
}

/// A stack record: the head, the registers in the order of `fathom_stacks::Registers::PERF_MASK`, the time
/// off the CPU, and the content of the stack from the stack pointer on.
pub(crate) mod stack {
    use super::record;

    /// Position of each register in the kernel's saved registers, in the order shown to debuggers: on x86
    /// from ax to ip and r8 to r15, on ARM the numbered ones, sp and pc.
    #[cfg(target_arch = "x86_64")]
    pub(crate) const REGISTERS: [i16; 17] = [
        80, 40, 88, 96, 104, 112, 32, 152, 128, 72, 64, 56, 48, 24, 16, 8, 0,
    ];
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) const REGISTERS: [i16; 33] = {
        let mut at = [0; 33];
        let mut number = 0;
        while number < 33 {
            at[number] = 8 * number as i16;
            number += 1;
        }
        at
    };
    /// Index of the stack pointer.
    #[cfg(target_arch = "x86_64")]
    pub(crate) const POINTER: usize = 7;
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) const POINTER: usize = 31;
    /// Time for which the call or the fault was off the CPU, ns.
    pub(crate) const OFF_CPU: i16 = (record::HEAD + 8 * REGISTERS.len()) as i16;
    /// Number of bytes in [`CALLERS`]; negative if they aren't available.
    pub(crate) const CALLERS_SIZE: i16 = OFF_CPU + 8;
    /// Return addresses found by frame pointers, innermost first.
    pub(crate) const CALLERS: usize = CALLERS_SIZE as usize + 8;
    pub(crate) const MOST_CALLERS: usize = 64;
    /// Beginning of the copy of the stack.
    pub(crate) const BYTES: usize = CALLERS + 8 * MOST_CALLERS;
    /// Maximum number of bytes copied from the stack, given that the buffer of each CPU has 32 KiB.
    pub(crate) const MOST: usize = 30 << 10;
    /// If the memory of the stack is only partly present, it is copied in pieces of this size in bytes.
    pub(crate) const PIECE: usize = 512;
    pub(crate) const SIZE: usize = BYTES + MOST;
}

/// How often stacks and paths are recorded; index into a table of [`chosen::SIZE`] bytes each.
pub(crate) mod chosen {
    pub(crate) const CALL: i32 = 0;
    pub(crate) const WAIT: i32 = 1;
    pub(crate) const PATH: i32 = 2;
    pub(crate) const FAULT: i32 = 3;
    pub(crate) const COUNT: u32 = 4;

    /// The distance as a power of 2: a stack or path is recorded when a total passes a multiple of it.
    pub(crate) const SHIFT: i16 = 0;
    /// Number of stacks or paths recorded.
    pub(crate) const TAKEN: i16 = 8;
    pub(crate) const SIZE: usize = 16;
}

/// The backlog of the reader; index into a table of `u64`.
pub(crate) mod pace {
    /// Number of threads that have ended.
    pub(crate) const ENDED: i32 = 0;
    /// Number of ended threads whose rows were moved out of the tables; written by the reader.
    pub(crate) const TAKEN: i32 = 1;
    /// Total time for which threads were held back, ns.
    pub(crate) const HELD: i32 = 2;
    pub(crate) const COUNT: u32 = 3;
}

/// Counters of losses; index into the loss table, one `u64` each.
pub(crate) mod lost {
    pub(crate) const CALLS: i32 = 0;
    pub(crate) const OFF_CPU: i32 = 1;
    pub(crate) const RECORDS: i32 = 2;
    pub(crate) const THREADS: i32 = 3;
    pub(crate) const STACKS: i32 = 4;
    pub(crate) const COUNT: u32 = 5;
}
