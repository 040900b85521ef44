//! What do the kernel programs and this process agree on?
//!
//! The layout of map keys, map values and ring records, in bytes. Programs are assembled with
//! these offsets and the read-out decodes with them.

/// State of one traced thread; key: thread number (`u32`).
///
/// The first 16 bytes are the key of the call table and the next 24 that of the off-CPU table,
/// so that neither key has to be built on the hot path.
pub(crate) mod task {
    /// Key of the call table: thread, process, call number, descriptor.
    pub(crate) const CALL_KEY: i16 = 0;
    pub(crate) const TID: i16 = 0;
    pub(crate) const TGID: i16 = 4;
    pub(crate) const NR: i16 = 8;
    pub(crate) const FD: i16 = 12;
    /// Key of the off-CPU table: the same four as they were when the thread left the CPU, and why.
    pub(crate) const OFF_KEY: i16 = 16;
    pub(crate) const OFF_NR: i16 = 24;
    pub(crate) const OFF_CAUSE: i16 = 32;
    /// When the current call was entered, ns; 0 outside calls.
    pub(crate) const ENTER: i16 = 40;
    /// Asleep within the current call, ns.
    pub(crate) const CALL_BLOCKED: i16 = 48;
    /// Ready but not running within the current call, ns.
    pub(crate) const CALL_READY: i16 = 56;
    /// When the thread left the CPU, ns; 0 while it runs.
    pub(crate) const OFF_SINCE: i16 = 64;
    /// When it was woken since, ns; 0 while asleep.
    pub(crate) const WOKEN: i16 = 72;
    /// When it last got a CPU, ns.
    pub(crate) const ON_SINCE: i16 = 80;
    /// On a CPU so far, ns.
    pub(crate) const ON_TOTAL: i16 = 88;
    /// When the thread was made, ns.
    pub(crate) const STARTED: i16 = 96;
    /// What to do with the current call (`crate::calls` flags).
    pub(crate) const FLAGS: i16 = 104;
    /// Thread that was on the CPU where the wake-up came from.
    pub(crate) const WAKER: i16 = 108;
    /// Descriptors below 64, as bits, that calls of `crate::calls::TOTALS` were made on since they
    /// were last closed: closing another is not worth a record.
    pub(crate) const MOVED: i16 = 112;
    /// What the scheduler had counted for the thread when it last left or got a CPU, ns, not 0
    /// then.
    pub(crate) const RAN: i16 = 120;
    /// Its voluntary switches then.
    pub(crate) const VOLUNTARY: i16 = 128;
    /// When the page fault that is being served came, ns; 0 outside of the faults of its own code.
    pub(crate) const FAULT_SINCE: i16 = 136;
    /// Faults of its own code that were timed.
    pub(crate) const FAULTS: i16 = 144;
    /// On a CPU serving them, ns.
    pub(crate) const FAULT_TOTAL: i16 = 152;
    /// Entry address of the executed program, until it is reached; 0 if unknown.
    pub(crate) const ENTRY: i16 = 160;
    /// Address at which that program's loader lies; 0 if it has none.
    pub(crate) const LOADER: i16 = 168;
    /// Not 0: it is to be held back before its next call (`super::super::programs::pace`).
    pub(crate) const HOLD: i16 = 176;
    /// Running totals by which stacks and paths are chosen (`super::super::programs::stacks`), each
    /// from a start of its own: on a CPU in calls, off it in calls and faults, in calls that take a
    /// path, and on a CPU serving faults, ns.
    pub(crate) const CALL_TIME: i16 = 184;
    pub(crate) const WAIT_TIME: i16 = 192;
    pub(crate) const PATH_TIME: i16 = 200;
    pub(crate) const FAULT_TIME: i16 = 208;
    /// Who ended its last sleep, as `WAKER` was then.
    pub(crate) const WOKEN_BY: i16 = 216;
    /// The address that the fault was for that came at `FAULT_SINCE`, where stacks are taken.
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
    /// Eight counters of calls by bytes moved; limits in `crate::result::SIZE_LIMITS`.
    pub(crate) const SIZES: i16 = 72;
    /// When the first call that moved bytes returned, and the last, ns; 0 for none.
    pub(crate) const FIRST_MOVED: i16 = 136;
    pub(crate) const LAST_MOVED: i16 = 144;
    /// Writes whose last byte was examined, and of these the ones that ended a line.
    pub(crate) const EXAMINED: i16 = 152;
    pub(crate) const LINES: i16 = 160;
    /// Where in the file the last call at a given place ended, and how many went on where the one
    /// before had ended.
    pub(crate) const NEXT_PLACE: i16 = 168;
    pub(crate) const WENT_ON: i16 = 176;
    /// Tries to read a last byte, those included that found the memory not there yet.
    pub(crate) const EXAMINATIONS: i16 = 184;
    pub(crate) const SIZE: usize = 192;
}

/// One row of the off-CPU table.
pub(crate) mod off {
    pub(crate) const KEY: usize = 24;
    pub(crate) const COUNT: i16 = 0;
    pub(crate) const TOTAL: i16 = 8;
    pub(crate) const MAX: i16 = 16;
    /// Counters of 4 bytes, by powers of two of 1.024 us.
    pub(crate) const BUCKETS: i16 = 24;
    pub(crate) const BUCKET_COUNT: usize = 24;
    pub(crate) const SIZE: usize = 120;
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
    /// ARG0: address of the program's loader, 0 if it has none.
    pub(crate) const ENTERED: i32 = 7;
    /// The program that was put in place gave rights: nothing of it is recorded.
    pub(crate) const RIGHTS: i32 = 8;
    /// What a call was about: the path that it was asked for, or its descriptor. RESULT: the time
    /// of calls with a path that it stands for, ns, 0 if it was chosen only for its stack. ARG0:
    /// the call's first argument. ARG1: how long it took without a lack of CPUs, ns. ARG2: not 0 if
    /// a record of its stack has the same thread and time.
    pub(crate) const OBJECT: i32 = 9;
    /// Where a thread was in the code, in a ring of its own. RESULT: the time on a CPU that it stands
    /// for, ns. ARG0: that off it. ARG1: how long this one was on a CPU, ns. ARG2: who ended the last
    /// sleep. Without a call's number it is a fault's, and ARG2 the address that was touched.
    pub(crate) const STACK: i32 = 10;
    /// The time limit of a call ended it. RESULT: how long it took, ns.
    pub(crate) const TIME_UP: i32 = 11;

    /// Of EXIT, ARG2: time in the run queue, ns, as the kernel counts it; this, as 64 bits, if it
    /// doesn't.
    pub(crate) const UNKNOWN: i32 = -1;

    /// Longest path that is recorded, its final zero included.
    pub(crate) const PATH_MAX: i32 = 256;
    /// Longest argument list that is recorded.
    pub(crate) const ARGV_MAX: i32 = 512;
    /// Payload of EXEC: path, then arguments, at fixed places.
    pub(crate) const EXEC_PAYLOAD: usize = (PATH_MAX + ARGV_MAX) as usize;
    /// Payload of EXIT.
    pub(crate) const EXIT_ON_TOTAL: i16 = HEAD as i16;
    pub(crate) const EXIT_STARTED: i16 = HEAD as i16 + 8;
    pub(crate) const EXIT_VOLUNTARY: i16 = HEAD as i16 + 16;
    pub(crate) const EXIT_INVOLUNTARY: i16 = HEAD as i16 + 24;
    pub(crate) const EXIT_FAULTS: i16 = HEAD as i16 + 32;
    pub(crate) const EXIT_FAULT_TOTAL: i16 = HEAD as i16 + 40;
    pub(crate) const EXIT_NAME: i16 = HEAD as i16 + 48;
    pub(crate) const EXIT_PAYLOAD: usize = 64;
    /// Scratch space a record is put together in.
    pub(crate) const SCRATCH: usize = HEAD + EXEC_PAYLOAD;
}

/// A record of a stack: the head, registers in the order of `fathom_stacks::Registers::PERF_MASK`, how
/// long it was off the CPU, and what lies on the stack from its pointer on.
pub(crate) mod stack {
    use super::record;

    /// Where each register lies in what the kernel saves, as it shows that to debuggers: on x86 from
    /// ax to ip and r8 to r15, on ARM the numbered ones, sp and pc.
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
    /// Which of them is the stack pointer.
    #[cfg(target_arch = "x86_64")]
    pub(crate) const POINTER: usize = 7;
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) const POINTER: usize = 31;
    /// How long the call or the fault was off the CPU, ns.
    pub(crate) const OFF_CPU: i16 = (record::HEAD + 8 * REGISTERS.len()) as i16;
    /// How many bytes there are of [`CALLERS`]; negative if they can't be had.
    pub(crate) const CALLERS_SIZE: i16 = OFF_CPU + 8;
    /// Addresses that frame pointers lead to, innermost first.
    pub(crate) const CALLERS: usize = CALLERS_SIZE as usize + 8;
    pub(crate) const MOST_CALLERS: usize = 64;
    /// Where the copy of the stack begins.
    pub(crate) const BYTES: usize = CALLERS + 8 * MOST_CALLERS;
    /// How much of the stack is copied at most: what is kept for each CPU has 32 KiB.
    pub(crate) const MOST: usize = 30 << 10;
    /// Where not all of it is there, it is copied by pieces of this many bytes.
    pub(crate) const PIECE: usize = 512;
    pub(crate) const SIZE: usize = BYTES + MOST;
}

/// How often stacks and paths are taken; index into a table of [`chosen::SIZE`] bytes each.
pub(crate) mod chosen {
    pub(crate) const CALL: i32 = 0;
    pub(crate) const WAIT: i32 = 1;
    pub(crate) const PATH: i32 = 2;
    pub(crate) const FAULT: i32 = 3;
    pub(crate) const COUNT: u32 = 4;

    /// One is taken where a total passes a multiple of 2 to this power.
    pub(crate) const SHIFT: i16 = 0;
    /// How many were.
    pub(crate) const TAKEN: i16 = 8;
    pub(crate) const SIZE: usize = 16;
}

/// How far the reader is behind; index into a table of `u64`.
pub(crate) mod pace {
    /// Threads that have ended.
    pub(crate) const ENDED: i32 = 0;
    /// Of these, whose rows were taken out of the tables: written by the reader.
    pub(crate) const TAKEN: i32 = 1;
    /// For how long threads were held back, ns, all together.
    pub(crate) const HELD: i32 = 2;
    pub(crate) const COUNT: u32 = 3;
}

/// Counters of what was lost; index into the loss table, `u64` each.
pub(crate) mod lost {
    pub(crate) const CALLS: i32 = 0;
    pub(crate) const OFF_CPU: i32 = 1;
    pub(crate) const RECORDS: i32 = 2;
    pub(crate) const THREADS: i32 = 3;
    pub(crate) const STACKS: i32 = 4;
    pub(crate) const COUNT: u32 = 5;
}
