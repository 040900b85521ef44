//! Chooses the calls, waits and page faults whose position in the code and whose path are recorded.
//!
//! They are chosen by time. Each thread has running totals. When one of these passes a multiple of the
//! distance between two stacks, the call or fault that caused this is recorded; it represents as much time as
//! the multiples that were passed. A wait longer than the distance is therefore always recorded, at its end,
//! while many short calls are recorded according to their share of the time. The distance is a power of two
//! and doubles after every [`TAKEN_AT_ONE_DISTANCE`] stacks of its kind: the multiples of the longer distance
//! are among those of the shorter one, and a long run has no more than a few thousand stacks. The first calls
//! of each kind are also recorded, representing no time, so that rare calls have a name.
//!
//! Recording one takes 1 to 3 us, during which its thread counts as held back.

use super::super::asm::{Alu, Asm, Cond, Helper, Label, Reg, Width};
use super::super::layout::{chosen, lost, record, stack, task};
use super::pace::{self, SINCE};
use super::{Context, KEY_SLOT, count_lost, emit_record, lookup_slot, scratch, send};
use crate::calls::{ENTRY_32, ENTRY_32_ONLY, FIRST, PATH0, PATH1, REPLACES, TABLE_SIZE};
use crate::python::send_frames;

use Reg::{R0, R1, R2, R3, R4, R6, R7, R8, R9, R10};

/// Number of stacks after which their distance doubles; a power of two.
pub(crate) const TAKEN_AT_ONE_DISTANCE: i32 = 512;
/// Number of paths after which their distance doubles; the record of a path is a hundredth as long as that of
/// a stack.
const PATHS_AT_ONE_DISTANCE: i32 = 2048;
/// How many times more often paths are recorded than stacks, as a power of two.
const PATHS_FOR_A_STACK: u32 = 2;
/// The exponent of a distance that no total reaches.
pub(crate) const NEVER: u32 = 63;
/// The longest distance is 2 to this power, in ns: 18 minutes.
const LONGEST: i32 = 40;
/// For each kind of call, the number of first calls that are recorded.
const FIRST_CALLS: i32 = 2;

/// Frame slots not used for anything else by programs that record stacks: the tracepoint's arguments, the
/// duration of a call, the amount added to each total, and the times that a stack and a path represent.
pub(super) const ARGUMENTS: i16 = -256;
pub(super) const TOOK: i16 = -264;
const ON_CPU: i16 = -272;
const OFF_CPU: i16 = -280;
const WITH_PATH: i16 = -288;
const WEIGHT: i16 = -296;
const WAIT_WEIGHT: i16 = -304;
const PATH_WEIGHT: i16 = -312;
/// Whether the stack is recorded.
const KEPT: i16 = -320;
/// The number of bytes to copy; until that is known, a kernel pointer.
const SIZE: i16 = -328;
/// The thread's state, while its Python frames are sent.
const STATE: i16 = -336;

/// `BPF_F_USER_STACK`.
const OF_USER: i32 = 1 << 8;

/// Maximum length in bytes of a first thread's stack, unless the limit of 8 MiB was raised.
const LONGEST_STACK: i32 = 64 << 20;
/// Number of bytes copied beyond the beginning of a first thread's stack.
const BEYOND: i32 = 64;

/// Returns the initial distances of a trace, in the format of the table of [`chosen`]. The distance of stacks
/// is 2 to the power `shift`, in ns.
pub(crate) fn distances(shift: u32) -> [(i32, [u8; chosen::SIZE]); chosen::COUNT as usize] {
    let of = |which, shift: u32| {
        let mut entry = [0; chosen::SIZE];
        entry[..8].copy_from_slice(&u64::from(shift).to_ne_bytes());
        (which, entry)
    };
    [
        of(chosen::CALL, shift),
        of(chosen::WAIT, shift),
        of(chosen::PATH, shift.saturating_sub(PATHS_FOR_A_STACK)),
        of(chosen::FAULT, shift),
    ]
}

/// Records the call from which the thread in `R7` has just returned, if it is chosen. The call's flags are in
/// the thread's state; [`ARGUMENTS`] and [`TOOK`] are filled. Preserves only `R7`.
pub(super) fn after_call(c: &Context<'_>, a: &mut Asm) {
    let Some(shift) = c.stacks else {
        return;
    };
    let (out, pathless, turn) = (a.label(), a.label(), a.label());
    // If this call succeeded, the caller's program no longer exists.
    a.load(Width::Word, R4, R7, task::FLAGS);
    a.jump_if_imm(Cond::AnySet, R4, REPLACES as i32, out);
    a.load(Width::Double, R9, R10, TOOK);
    split(a);
    a.mov_imm(R8, 0);
    advance(a, task::CALL_TIME, ON_CPU);
    advance(a, task::WAIT_TIME, OFF_CPU);
    a.store_imm(Width::Double, R10, WITH_PATH, 0);
    a.mov(R1, R4).alu_imm(Alu::And, R1, (PATH0 | PATH1) as i32);
    a.jump_if_imm(Cond::Equal, R1, 0, pathless);
    a.load(Width::Double, R1, R10, ON_CPU);
    a.load(Width::Double, R2, R10, OFF_CPU);
    a.alu(Alu::Add, R1, R2);
    a.store(Width::Double, R10, WITH_PATH, R1);
    advance(a, task::PATH_TIME, WITH_PATH);
    a.bind(pathless);
    a.jump_if_imm(Cond::AnySet, R4, FIRST as i32, turn);
    let finest = shift.saturating_sub(PATHS_FOR_A_STACK) as i32;
    a.alu_imm(Alu::ShiftRight, R8, finest);
    a.jump_if_imm(Cond::Equal, R8, 0, out);

    a.bind(turn);
    let (no_stack, no_path) = (a.label(), a.label());
    pace::begin(a);
    weigh(c, a, chosen::CALL, task::CALL_TIME, (ON_CPU, WEIGHT));
    weigh(c, a, chosen::WAIT, task::WAIT_TIME, (OFF_CPU, WAIT_WEIGHT));
    weigh(
        c,
        a,
        chosen::PATH,
        task::PATH_TIME,
        (WITH_PATH, PATH_WEIGHT),
    );
    note_kept(a);
    keep_first(c, a);
    // The registers of a 32-bit program can't be unwound.
    let native = a.label();
    a.load(Width::Word, R1, R7, task::NR);
    a.mov(R2, R1);
    a.alu_imm(Alu::And, R2, (ENTRY_32 | ENTRY_32_ONLY) as i32);
    a.jump_if_imm(Cond::Equal, R2, 0, native);
    a.store_imm(Width::Double, R10, KEPT, 0);
    a.bind(native);

    a.load(Width::Double, R6, R10, ARGUMENTS);
    a.load(Width::Double, R9, R6, 0); // registers
    a.load(Width::Word, R6, R7, task::FLAGS);
    let (on_descriptor, wanted) = (a.label(), a.label());
    a.mov(R1, R6).alu_imm(Alu::And, R1, (PATH0 | PATH1) as i32);
    a.jump_if_imm(Cond::Equal, R1, 0, on_descriptor);
    a.load(Width::Double, R1, R10, KEPT);
    a.jump_if_imm(Cond::NotEqual, R1, 0, wanted);
    a.load(Width::Double, R1, R10, PATH_WEIGHT);
    a.jump_if_imm(Cond::Equal, R1, 0, no_path);
    a.jump(wanted);
    a.bind(on_descriptor);
    a.load(Width::Double, R1, R10, KEPT);
    a.jump_if_imm(Cond::Equal, R1, 0, no_path);
    a.load(Width::Word, R1, R7, task::FD);
    a.alu_imm(Alu::ShiftLeft, R1, 32);
    a.jump_if_imm(Cond::SLess, R1, 0, no_path);
    a.bind(wanted);
    send_object(c, a, no_path);
    a.bind(no_path);
    a.load(Width::Double, R1, R10, KEPT);
    a.jump_if_imm(Cond::Equal, R1, 0, no_stack);
    send_stack(c, a, R9, no_stack, Kept::Call);
    a.bind(no_stack);
    pace::book(c, a);
    a.bind(out);
}

/// Records the page fault that was just served for the thread in `R7`, if it is chosen. Its CPU time is in
/// `R9`, its time off the CPU in [`OFF_CPU`]; perf's context is in `R6`. Preserves only `R7`.
pub(super) fn after_fault(c: &Context<'_>, a: &mut Asm) {
    let Some(shift) = c.stacks else {
        return;
    };
    let (out, no_stack) = (a.label(), a.label());
    a.store(Width::Double, R10, ARGUMENTS, R6);
    a.store(Width::Double, R10, ON_CPU, R9);
    a.mov_imm(R8, 0);
    advance(a, task::FAULT_TIME, ON_CPU);
    advance(a, task::WAIT_TIME, OFF_CPU);
    a.alu_imm(Alu::ShiftRight, R8, shift as i32);
    a.jump_if_imm(Cond::Equal, R8, 0, out);
    pace::begin(a);
    weigh(c, a, chosen::FAULT, task::FAULT_TIME, (ON_CPU, WEIGHT));
    weigh(c, a, chosen::WAIT, task::WAIT_TIME, (OFF_CPU, WAIT_WEIGHT));
    note_kept(a);
    a.load(Width::Double, R1, R10, KEPT);
    a.jump_if_imm(Cond::Equal, R1, 0, no_stack);
    a.load(Width::Double, R6, R10, ARGUMENTS);
    send_stack(c, a, R6, no_stack, Kept::Fault);
    a.bind(no_stack);
    pace::book(c, a);
    a.bind(out);
}

/// Notes for [`after_fault`] how long the thread in `R7` was off the CPU.
pub(super) fn note_off_cpu(a: &mut Asm) {
    a.load(Width::Double, R1, R7, task::CALL_BLOCKED);
    a.store(Width::Double, R10, OFF_CPU, R1);
}

/// Splits the duration of the call, in `R9`, into [`ON_CPU`] and [`OFF_CPU`]. Time for which the call only
/// waited for a CPU is excluded.
fn split(a: &mut Asm) {
    let sound = a.label();
    a.load(Width::Double, R1, R7, task::CALL_BLOCKED);
    a.load(Width::Double, R2, R7, task::CALL_READY);
    a.store(Width::Double, R10, OFF_CPU, R1);
    a.alu(Alu::Add, R2, R1);
    a.mov(R1, R9);
    // A repaired arrival on the CPU may be recorded later than it happened.
    a.jump_if(Cond::GreaterEqual, R1, R2, sound);
    a.mov(R1, R2);
    a.bind(sound);
    a.alu(Alu::Sub, R1, R2);
    a.store(Width::Double, R10, ON_CPU, R1);
}

/// Adds the value in the slot to a total of the thread, and adds the changed bits of the total to `R8`.
fn advance(a: &mut Asm, total: i16, added: i16) {
    a.load(Width::Double, R1, R7, total);
    a.mov(R2, R1);
    a.load(Width::Double, R3, R10, added);
    a.alu(Alu::Add, R1, R3);
    a.store(Width::Double, R7, total, R1);
    a.alu(Alu::Xor, R1, R2).alu(Alu::Or, R8, R1);
}

/// Stores in the second slot the time that the current event represents: the multiples of the current
/// distance that were passed when its own time, in the first slot, was just added to a total.
fn weigh(c: &Context<'_>, a: &mut Asm, kind: i32, total: i16, (added, weight): (i16, i16)) {
    let done = a.label();
    let at_one_distance = match kind {
        chosen::PATH => PATHS_AT_ONE_DISTANCE,
        _ => TAKEN_AT_ONE_DISTANCE,
    };
    a.store_imm(Width::Double, R10, weight, 0);
    a.store_imm(Width::Word, R10, KEY_SLOT, kind);
    lookup_slot(a, &c.maps.chosen, KEY_SLOT);
    a.jump_if_imm(Cond::Equal, R0, 0, done);
    a.load(Width::Double, R2, R0, chosen::SHIFT);
    a.alu_imm(Alu::And, R2, 63);
    a.load(Width::Double, R3, R7, total);
    a.load(Width::Double, R1, R10, added);
    a.mov(R4, R3).alu(Alu::Sub, R4, R1);
    a.alu(Alu::ShiftRight, R3, R2).alu(Alu::ShiftRight, R4, R2);
    a.alu(Alu::Sub, R3, R4);
    a.jump_if_imm(Cond::Equal, R3, 0, done);
    a.alu(Alu::ShiftLeft, R3, R2);
    a.store(Width::Double, R10, weight, R3);
    // Two concurrent events may count as one: this only changes when the distance doubles.
    a.load(Width::Double, R1, R0, chosen::TAKEN);
    a.alu_imm(Alu::Add, R1, 1);
    a.store(Width::Double, R0, chosen::TAKEN, R1);
    a.alu_imm(Alu::And, R1, at_one_distance - 1);
    a.jump_if_imm(Cond::NotEqual, R1, 0, done);
    a.jump_if_imm(Cond::GreaterEqual, R2, LONGEST, done);
    a.alu_imm(Alu::Add, R2, 1);
    a.store(Width::Double, R0, chosen::SHIFT, R2);
    a.bind(done);
}

/// Notes that the stack is to be recorded if it represents any time.
fn note_kept(a: &mut Asm) {
    a.load(Width::Double, R1, R10, WEIGHT);
    a.load(Width::Double, R2, R10, WAIT_WEIGHT);
    a.alu(Alu::Or, R1, R2);
    a.store(Width::Double, R10, KEPT, R1);
}

/// Notes that the stack is to be recorded if the call is one of the first of its kind.
fn keep_first(c: &Context<'_>, a: &mut Asm) {
    let (not_first, fresh) = (a.label(), a.label());
    a.load(Width::Word, R1, R7, task::FLAGS);
    a.jump_if_imm(Cond::AnySet, R1, FIRST as i32, fresh);
    a.jump(not_first);
    a.bind(fresh);
    a.load(Width::Word, R1, R7, task::NR);
    a.jump_if_imm(Cond::GreaterEqual, R1, TABLE_SIZE as i32, not_first);
    a.store(Width::Word, R10, KEY_SLOT, R1);
    lookup_slot(a, &c.maps.first_calls, KEY_SLOT);
    a.jump_if_imm(Cond::Equal, R0, 0, not_first);
    a.load(Width::Word, R1, R0, 0);
    a.jump_if_imm(Cond::GreaterEqual, R1, FIRST_CALLS, not_first);
    a.alu_imm(Alu::Add, R1, 1);
    a.store(Width::Word, R0, 0, R1);
    a.store_imm(Width::Double, R10, KEPT, 1);
    a.bind(not_first);
}

/// Sends the object of the call whose flags are in `R6` and registers in `R9`, or continues at `none`. The
/// object is the call's path. If the call has none, the record is sent without a path, so that its position
/// among the records that change the call's descriptor is known. Preserves `R9`.
fn send_object(c: &Context<'_>, a: &mut Asm, none: Label) {
    let (second, read, unreadable) = (a.label(), a.label(), a.label());
    scratch(c, a, none);
    emit_record::head(a, record::OBJECT);
    a.mov(R8, R0);
    emit_record::load_argument(c, a, R1, 0);
    a.store(Width::Double, R8, record::ARG0, R1);
    for (slot, at) in [
        (SINCE, record::TIME),
        (PATH_WEIGHT, record::RESULT),
        (WITH_PATH, record::ARG1),
        (KEPT, record::ARG2),
    ] {
        a.load(Width::Double, R1, R10, slot);
        a.store(Width::Double, R8, at, R1);
    }
    a.mov(R1, R6).alu_imm(Alu::And, R1, PATH0 as i32);
    a.jump_if_imm(Cond::Equal, R1, 0, second);
    emit_record::load_argument(c, a, R3, 0);
    a.jump(read);
    a.bind(second);
    a.mov(R1, R6).alu_imm(Alu::And, R1, PATH1 as i32);
    a.mov_imm(R3, 0);
    a.jump_if_imm(Cond::Equal, R1, 0, unreadable);
    emit_record::load_argument(c, a, R3, 1);
    a.bind(read);
    a.mov(R1, R8).alu_imm(Alu::Add, R1, record::HEAD as i32);
    a.mov_imm(R2, record::PATH_MAX);
    a.call(Helper::ProbeReadUserStr);
    a.mov_imm(R3, 0);
    a.jump_if_imm(Cond::SLess, R0, 0, unreadable);
    a.mov(R3, R0);
    a.bind(unreadable);
    a.alu_imm(Alu::And, R3, 0x1ff);
    a.alu_imm(Alu::Add, R3, record::HEAD as i32);
    a.mov(R2, R8);
    send(c, a);
}

/// The kind of event for which a stack is recorded.
#[derive(Clone, Copy)]
enum Kept {
    Call,
    Fault,
}

/// Sends the stack of the thread in `R7` with its registers, which are at `registers`; continues at `none` if
/// there is no room to build the record.
fn send_stack(c: &Context<'_>, a: &mut Asm, registers: Reg, none: Label, kept: Kept) {
    let (whole, sent) = (a.label(), a.label());
    a.store_imm(Width::Word, R10, KEY_SLOT, 0);
    lookup_slot(a, &c.maps.stack_scratch, KEY_SLOT);
    a.jump_if_imm(Cond::Equal, R0, 0, none);
    a.store_imm(Width::Double, R0, record::KIND, record::STACK);
    a.load(Width::Double, R1, R7, task::TID);
    a.store(Width::Double, R0, record::TID, R1);
    match kept {
        Kept::Call => {
            a.load(Width::Double, R1, R7, task::NR);
            a.load(Width::Word, R2, R7, task::WOKEN_BY);
        }
        Kept::Fault => {
            a.mov_imm(R1, -1);
            a.load(Width::Double, R2, R7, task::FAULT_ADDRESS);
        }
    }
    a.store(Width::Double, R0, record::NR, R1);
    a.store(Width::Double, R0, record::ARG2, R2);
    for (slot, at) in [
        (SINCE, record::TIME),
        (WEIGHT, record::RESULT),
        (WAIT_WEIGHT, record::ARG0),
        (ON_CPU, record::ARG1),
        (OFF_CPU, stack::OFF_CPU),
    ] {
        a.load(Width::Double, R1, R10, slot);
        a.store(Width::Double, R0, at, R1);
    }
    for (place, at) in (0..).zip(stack::REGISTERS) {
        a.load(Width::Double, R1, registers, at);
        a.store(Width::Double, R0, record::HEAD as i16 + 8 * place, R1);
    }
    a.load(
        Width::Double,
        R6,
        registers,
        stack::REGISTERS[stack::POINTER],
    );
    a.mov(R8, R0);
    // The user's stack by frame pointers, which lead beyond the end of the copy.
    a.load(Width::Double, R1, R10, ARGUMENTS);
    a.mov(R2, R8)
        .alu_imm(Alu::Add, R2, stack::CALLERS as i32)
        .mov_imm(R3, 8 * stack::MOST_CALLERS as i32)
        .mov_imm(R4, OF_USER)
        .call(Helper::Stack);
    a.store(Width::Double, R8, stack::CALLERS_SIZE, R0);
    load_size(c, a);
    let to = |a: &mut Asm, at: usize| {
        a.mov(R1, R8)
            .alu_imm(Alu::Add, R1, (stack::BYTES + at) as i32);
    };
    to(a, 0);
    a.mov(R2, R9).mov(R3, R6).call(Helper::ProbeReadUser);
    a.jump_if_imm(Cond::Equal, R0, 0, whole);
    a.store(Width::Double, R10, SIZE, R9);
    a.mov_imm(R9, 0);
    for at in (0..stack::MOST).step_by(stack::PIECE) {
        a.load(Width::Double, R1, R10, SIZE);
        a.jump_if_imm(Cond::Less, R1, (at + stack::PIECE) as i32, whole);
        to(a, at);
        a.mov_imm(R2, stack::PIECE as i32);
        a.mov(R3, R6).alu_imm(Alu::Add, R3, at as i32);
        a.call(Helper::ProbeReadUser);
        a.jump_if_imm(Cond::NotEqual, R0, 0, whole);
        a.mov_imm(R9, (at + stack::PIECE) as i32);
    }
    a.bind(whole);
    a.alu_imm(Alu::Add, R9, stack::BYTES as i32);
    a.load_map(R1, c.maps.stack_ring.fd());
    a.mov(R2, R8).mov(R3, R9).mov_imm(R4, super::NO_WAKEUP);
    a.call(Helper::RingOutput);
    a.jump_if_imm(Cond::Equal, R0, 0, sent);
    count_lost(c, a, lost::STACKS);
    a.bind(sent);
    a.store(Width::Double, R10, STATE, R7);
    a.load(Width::Double, R9, R10, SINCE);
    send_frames(&c.maps.python, a);
    a.load(Width::Double, R7, R10, STATE);
    pace::after_stack(c, a);
}

/// `R9 = ` the number of bytes to copy of the stack whose pointer is in `R6`: for a first thread, all that
/// belongs to its functions, without the environment after it.
fn load_size(c: &Context<'_>, a: &mut Asm) {
    let (unknown, fits) = (a.label(), a.label());
    let o = c.offsets;
    a.mov_imm(R9, c.stack_bytes.min(stack::MOST as u32) as i32);
    a.call(Helper::CurrentTask);
    for member in [o.task_mm, o.mm_start_stack] {
        a.mov(R3, R0).alu_imm(Alu::Add, R3, i32::from(member));
        a.mov(R1, R10).alu_imm(Alu::Add, R1, i32::from(SIZE));
        a.mov_imm(R2, 8).call(Helper::ProbeReadKernel);
        a.jump_if_imm(Cond::NotEqual, R0, 0, unknown);
        a.load(Width::Double, R0, R10, SIZE);
    }
    a.alu(Alu::Sub, R0, R6);
    a.jump_if_imm(Cond::GreaterEqual, R0, LONGEST_STACK, unknown);
    a.mov(R9, R0).alu_imm(Alu::Add, R9, BEYOND);
    a.jump_if_imm(Cond::Less, R9, stack::MOST as i32, fits);
    a.mov_imm(R9, stack::MOST as i32);
    a.bind(fits);
    a.bind(unknown);
}
