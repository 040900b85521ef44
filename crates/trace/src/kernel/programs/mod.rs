//! The programs that run in the kernel.
//!
//! There are eight small programs on tracepoints of the scheduler and of system calls, two at the beginning
//! and end of page faults if requested, and one that a held child runs in order to be followed. They share
//! the maps below and never wait or loop. Register convention: `R6` holds the tracepoint's arguments, `R7`
//! the state of the traced thread.

mod calls;
mod emit_record;
mod fault;
mod lifecycle;
mod pace;
mod sched;
pub(super) mod stacks;

use std::io;
use std::rc::Rc;

use super::asm::{Asm, AsmError, Cond, Helper, Label, Reg, Width};
use super::bpf::{Map, MapKind};
use super::layout::{call, chosen, connection, lost, off, pace as reader, record, stack, task};
use super::offsets::Offsets;
use crate::calls::TABLE_SIZE;
use crate::error::{TraceError, system};
use crate::python::FrameMaps;

use Reg::{R0, R1, R2, R4, R6, R10};

/// Stack slot for the key of a lookup, 4 bytes.
const KEY_SLOT: i16 = -4;

/// Number of ended threads that makes a pass over the tables worthwhile: 300 threads leave about 7500 rows, a
/// fifth of the default table, and a pass over 10,000 rows takes about 10 ms.
const WORTH_A_PASS: usize = 300;
/// Number of rows of the table per ended thread in a pass. For a smaller table, a pass is therefore also made
/// when a fifth is filled.
const ROWS_FOR_EACH: usize = 125;

/// Returns the number of ended threads that makes a pass worthwhile for tables with `most_rows` rows.
pub(super) fn worth_a_pass(most_rows: u32) -> u64 {
    (most_rows as usize / ROWS_FOR_EACH).clamp(1, WORTH_A_PASS) as u64
}

/// Capacity of the kernel side; anything beyond is counted as lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Number of simultaneous threads.
    pub threads: u32,
    /// Number of rows of (thread, call, descriptor).
    pub calls: u32,
    /// Number of rows of (thread, call, descriptor, cause).
    pub off_cpu: u32,
    /// Size of the ring in bytes, a power of 2 and of whole pages.
    pub ring: u32,
    /// Size of the ring of stacks in bytes, with the same constraints.
    pub stacks: u32,
}

/// The tables shared by the programs and this process.
#[derive(Debug)]
pub(crate) struct Maps {
    pub tasks: Map,
    pub calls: Map,
    /// Rows of (thread, call) for descriptors that don't fit into the table of calls.
    pub calls_rest: Map,
    pub off_cpu: Map,
    pub connections: Map,
    pub call_flags: Map,
    /// How calls of the 32-bit table are reported, by their number in it.
    pub entry_32: Map,
    pub lost: Map,
    pub scratch: Map,
    pub ring: Map,
    /// The backlog of the reader.
    pub pace: Map,
    /// How often stacks and paths are recorded.
    pub chosen: Map,
    /// Number of stacks recorded because they were among the first of their call, by the call's number.
    pub first_calls: Map,
    pub stack_scratch: Map,
    pub stack_ring: Map,
    /// State of threads that run Python.
    pub python: Rc<FrameMaps>,
    /// Half the size of the ring, in bytes.
    half_ring: i32,
    /// Half the size of the ring of stacks, in bytes.
    half_stack_ring: i32,
    /// Maximum number of ended threads whose rows may wait to be taken.
    most_ended: i32,
}

impl Maps {
    /// Creates the tables, and fills the table of call flags.
    ///
    /// # Errors
    /// The kernel's, most often `EPERM`.
    pub(crate) fn create(sizes: Sizes) -> io::Result<Self> {
        let maps = Self {
            tasks: Map::create(MapKind::Hash, "fathom_tasks", 4, task::SIZE, sizes.threads)?,
            calls: Map::create(
                MapKind::Hash,
                "fathom_calls",
                call::KEY,
                call::SIZE,
                sizes.calls,
            )?,
            calls_rest: Map::create(
                MapKind::Hash,
                "fathom_rest",
                call::KEY,
                call::SIZE,
                (sizes.calls / 8).max(1),
            )?,
            off_cpu: Map::create(
                MapKind::Hash,
                "fathom_off",
                off::KEY,
                off::SIZE,
                sizes.off_cpu,
            )?,
            connections: Map::create(
                MapKind::Hash,
                "fathom_connect",
                connection::KEY,
                connection::SIZE,
                sizes.threads,
            )?,
            call_flags: Map::create(MapKind::Array, "fathom_flags", 4, 4, TABLE_SIZE)?,
            entry_32: Map::create(MapKind::Array, "fathom_entry_32", 4, 4, TABLE_SIZE)?,
            lost: Map::create(MapKind::Array, "fathom_lost", 4, 8, lost::COUNT)?,
            scratch: Map::create(
                MapKind::PerCpuArray,
                "fathom_scratch",
                4,
                record::SCRATCH,
                1,
            )?,
            ring: Map::create(MapKind::Ring, "fathom_ring", 0, 0, sizes.ring)?,
            pace: Map::create(MapKind::Array, "fathom_pace", 4, 8, reader::COUNT)?,
            chosen: Map::create(
                MapKind::Array,
                "fathom_chosen",
                4,
                chosen::SIZE,
                chosen::COUNT,
            )?,
            first_calls: Map::create(MapKind::Array, "fathom_first", 4, 4, TABLE_SIZE)?,
            stack_scratch: Map::create(MapKind::PerCpuArray, "fathom_copy", 4, stack::SIZE, 1)?,
            stack_ring: Map::create(MapKind::Ring, "fathom_stacks", 0, 0, sizes.stacks)?,
            python: Rc::new(FrameMaps::create()?),
            half_ring: (sizes.ring / 2) as i32,
            half_stack_ring: (sizes.stacks / 2) as i32,
            // The reader takes half this number at once; at twice that number, it is late.
            most_ended: 2 * worth_a_pass(sizes.calls) as i32,
        };
        for nr in 0..TABLE_SIZE {
            let flags = crate::calls::flags(nr);
            if flags != 0 {
                let (key, value) = (nr.to_ne_bytes(), flags.to_ne_bytes());
                maps.call_flags.set(&key, &value)?;
            }
            let reported = crate::calls::through_32_bit_entry(nr);
            maps.entry_32
                .set(&nr.to_ne_bytes(), &reported.to_ne_bytes())?;
        }
        Ok(maps)
    }

    /// Returns one of the counters in the table `pace`.
    pub(crate) fn counter(&self, which: i32) -> Result<u64, TraceError> {
        let value = self.pace.get(&which.to_ne_bytes());
        let value = value.map_err(system("reading the reader's position"))?;
        let bytes = value.and_then(|bytes| bytes.try_into().ok());
        Ok(bytes.map_or(0, u64::from_ne_bytes))
    }
}

/// The inputs for assembling the programs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    /// Offsets of members in this kernel.
    pub offsets: &'a Offsets,
    /// The shared tables.
    pub maps: &'a Maps,
    /// Minimum length of an off-CPU interval with a separate record, ns; `None` for no intervals.
    pub interval_ns: Option<i32>,
    /// Whether to record when a program reaches its own first instruction.
    pub entries: bool,
    /// Whether page faults are timed.
    pub fault_times: bool,
    /// Whether to stop following a thread once it executes a program that gives it privileges.
    pub ends_at_rights: bool,
    /// The sides of a switch that are traced.
    pub sides: Sides,
    /// Whether to hold back a thread that is too fast for the reader.
    pub hold: bool,
    /// Initial distance in time between two stacks, as a power of two, ns; `None` for no stacks and no paths.
    pub stacks: Option<u32>,
    /// Bytes to copy of a stack whose beginning is unknown.
    pub stack_bytes: u32,
}

/// Sides of a switch from one thread to another. The kernel doesn't show both for every switch, so a test
/// hides one side of all switches to check that nothing is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sides {
    #[default]
    Both,
    /// Only threads that leave a CPU.
    #[cfg(test)]
    Departures,
    /// Only threads that get a CPU.
    #[cfg(test)]
    Arrivals,
}

/// An assembled program.
#[derive(Debug)]
pub(crate) struct Assembled {
    /// Name shown by `bpftool prog`.
    pub name: &'static str,
    /// Number of the tracepoint's type.
    pub tracepoint: u32,
    /// Instructions.
    pub code: Vec<u64>,
}

/// Returns the programs to attach, in attachment order.
///
/// # Errors
/// [`AsmError`], a defect in a program.
pub(crate) fn attached(c: &Context<'_>) -> Result<Vec<Assembled>, AsmError> {
    let o = c.offsets;
    let assemble = |name, tracepoint, write: fn(&Context<'_>, &mut Asm)| {
        let mut a = Asm::new();
        write(c, &mut a);
        let code = a.finish()?;
        Ok(Assembled {
            name,
            tracepoint,
            code,
        })
    };
    let mut all = vec![
        assemble("fathom_fork", o.sched_process_fork, lifecycle::fork)?,
        assemble("fathom_exec", o.sched_process_exec, lifecycle::exec)?,
        assemble("fathom_exit", o.sched_process_exit, lifecycle::exit)?,
        assemble("fathom_switch", o.sched_switch, sched::switch)?,
        assemble("fathom_waking", o.sched_waking, sched::waking)?,
        assemble("fathom_wakeup", o.sched_wakeup, sched::wakeup)?,
        assemble("fathom_leave", o.sys_exit, calls::leave)?,
        assemble("fathom_enter", o.sys_enter, calls::enter)?,
    ];
    if let (true, Some(tracepoint)) = (c.entries || c.fault_times, o.page_fault_user) {
        all.push(assemble("fathom_fault", tracepoint, fault::begin)?);
    }
    Ok(all)
}

/// Returns the program for perf's events of served page faults.
///
/// # Errors
/// [`AsmError`], a defect in the program.
pub(crate) fn fault_end(c: &Context<'_>) -> Result<Vec<u64>, AsmError> {
    let mut a = Asm::new();
    fault::end(c, &mut a);
    a.finish()
}

/// Returns the program with which the calling thread starts to be traced.
///
/// # Errors
/// [`AsmError`], a defect in the program.
pub(crate) fn follow_me(c: &Context<'_>) -> Result<Vec<u64>, AsmError> {
    let mut a = Asm::new();
    lifecycle::follow_me(c, &mut a);
    a.finish()
}

/// `R0 = ` the state of the thread whose id is in `reg`, or jumps to `none`.
fn find_task(c: &Context<'_>, a: &mut Asm, reg: Reg, none: Label) {
    a.store(Width::Word, R10, KEY_SLOT, reg);
    lookup_slot(a, &c.maps.tasks, KEY_SLOT);
    a.jump_if_imm(Cond::Equal, R0, 0, none);
}

/// `R7 = ` the state of the running thread, or jumps to `none`. Preserves `R6`.
fn find_current(c: &Context<'_>, a: &mut Asm, none: Label) {
    a.mov(R6, R1);
    a.call(Helper::CurrentPidTgid);
    find_task(c, a, R0, none);
    a.mov(Reg::R7, R0);
}

/// `R0 = ` the address of the entry whose key is in the frame at `slot`, or 0.
fn lookup_slot(a: &mut Asm, map: &Map, slot: i16) {
    a.load_map(R1, map.fd())
        .mov(R2, R10)
        .alu_imm(super::asm::Alu::Add, R2, i32::from(slot))
        .call(Helper::MapLookup);
}

/// Adds 1 to a loss counter.
fn count_lost(c: &Context<'_>, a: &mut Asm, which: i32) {
    let gone = a.label();
    a.store_imm(Width::Word, R10, KEY_SLOT, which);
    lookup_slot(a, &c.maps.lost, KEY_SLOT);
    a.jump_if_imm(Cond::Equal, R0, 0, gone);
    a.mov_imm(R1, 1).atomic_add(R0, 0, R1);
    a.bind(gone);
}

/// `*(u64 *)(row + off) += reg` for a row that only one thread writes. Clobbers `temp`.
fn add_to(a: &mut Asm, row: Reg, off: i16, reg: Reg, temp: Reg) {
    a.load(Width::Double, temp, row, off)
        .alu(super::asm::Alu::Add, temp, reg)
        .store(Width::Double, row, off, temp);
}

/// `*(u64 *)(row + off) += 1` for a row that only one thread writes. Clobbers `temp`.
fn add_one(a: &mut Asm, row: Reg, off: i16, temp: Reg) {
    a.load(Width::Double, temp, row, off)
        .alu_imm(super::asm::Alu::Add, temp, 1)
        .store(Width::Double, row, off, temp);
}

/// Zeroes `len` bytes of the frame from `from` on; `len` is a multiple of 8.
fn zero_frame(a: &mut Asm, from: i16, len: usize) {
    for at in (0..len as i16).step_by(8) {
        a.store_imm(Width::Double, R10, from + at, 0);
    }
}

/// Flag of `bpf_ringbuf_output`: don't wake the reader.
pub(crate) const NO_WAKEUP: i32 = 1;

/// Sends `R3` bytes at `R2` to the ring without waking its reader; counts the loss if the ring is full. `R7`
/// is the thread. Clobbers `R0` to `R5`.
fn send(c: &Context<'_>, a: &mut Asm) {
    let sent = a.label();
    a.load_map(R1, c.maps.ring.fd())
        .mov_imm(R4, NO_WAKEUP)
        .call(Helper::RingOutput);
    a.jump_if_imm(Cond::Equal, R0, 0, sent);
    count_lost(c, a, lost::RECORDS);
    a.bind(sent);
    pace::after_record(c, a);
}

/// `R0 = ` this CPU's scratch record, or jumps to `none`.
fn scratch(c: &Context<'_>, a: &mut Asm, none: Label) {
    a.store_imm(Width::Word, R10, KEY_SLOT, 0);
    lookup_slot(a, &c.maps.scratch, KEY_SLOT);
    a.jump_if_imm(Cond::Equal, R0, 0, none);
}
