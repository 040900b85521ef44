//! Measures how long a call took, what it moved and whether it failed.
//!
//! The hot path is about 60 instructions for entry and exit. The clock is read last on entry and first on
//! exit, so that a call's time contains little of the tracing itself.

use super::super::asm::{Alu, Asm, Cond, Helper, Reg, Width};
use super::super::bpf::Map;
use super::super::layout::{call, connection, lost, task};
use super::super::offsets::Entry32;
use super::zero_frame;
use super::{
    Context, KEY_SLOT, add_one, add_to, count_lost, emit_record, find_current, lookup_slot, pace,
    sched, stacks,
};
use crate::calls::{
    self, BUFFER1, BYTES, ENTRY_32, ENTRY_32_ONLY, FD, LINE_SAMPLES, PLACED, POLL, POLLS_ONE,
    RECORD, SELECTS_ONE, SHORT_SKIP, TABLE_SIZE, TOTALLED,
};
use crate::records::{POLL_LIMIT_NS, POLL_LIMITS};
use crate::result::SIZE_LIMITS;

use Reg::{R0, R1, R2, R3, R4, R6, R7, R8, R9, R10};

/// Code segment of 32-bit user code on x86.
const USER32_CS: i32 = 0x23;

/// The kernel's flag for a thread in a call through the 32-bit entry (`arch/x86/include/asm/thread_info.h`).
const TS_COMPAT: i32 = 2;

/// Minimum timeout that is reported, in ns: shorter ones are used by polling loops.
const LEAST_LIMIT_NS: i32 = 1_000_000;

/// Frame slot below the slot of a new row: when the call returned.
const NOW: i16 = -16 - call::SIZE as i16;

/// Frame slot below [`NOW`]: the key of a row without a descriptor.
const REST_KEY: i16 = NOW - call::KEY as i16;

/// Frame slots below [`REST_KEY`]: a row, and the last written byte.
const ROW: i16 = REST_KEY - 8;
const LAST_BYTE: i16 = ROW - 8;

/// Frame slots for the key of a connection, with its value above. They are outside of those of a record.
pub(super) const CONNECTION: i16 = -56;

/// `sys_enter(regs, number)`: records which call is made, on which descriptor, and when.
pub(super) fn enter(c: &Context<'_>, a: &mut Asm) {
    let (out, plain, store, known) = (a.label(), a.label(), a.label(), a.label());
    find_current(c, a, out);
    pace::hold(c, a);
    a.load(Width::Double, R8, R6, 8); // number
    a.load(Width::Double, R9, R6, 0); // registers
    if let Some(entry) = c.offsets.entry_32 {
        report_32_bit(c, a, entry);
    }
    a.store(Width::Word, R7, task::NR, R8);
    a.mov_imm(R6, 0); // flags
    a.mov(R1, R8).alu_imm(Alu::And, R1, !(ENTRY_32 as i32));
    a.jump_if_imm(Cond::GreaterEqual, R1, TABLE_SIZE as i32, plain);
    a.store(Width::Word, R10, KEY_SLOT, R1);
    lookup_slot(a, &c.maps.call_flags, KEY_SLOT);
    a.jump_if_imm(Cond::Equal, R0, 0, plain);
    a.load(Width::Word, R6, R0, 0);
    a.bind(plain);
    a.store(Width::Word, R7, task::FLAGS, R6);
    let (polls_one, selects_one) = (a.label(), a.label());
    a.jump_if_imm(Cond::AnySet, R6, FD as i32, store);
    a.jump_if_imm(Cond::AnySet, R6, POLLS_ONE as i32, polls_one);
    a.jump_if_imm(Cond::AnySet, R6, SELECTS_ONE as i32, selects_one);
    a.mov_imm(R1, -1);
    a.jump(known);
    a.bind(selects_one);
    load_selected(c, a);
    a.jump(known);
    a.bind(polls_one);
    load_polled(c, a);
    a.jump(known);
    a.bind(store);
    emit_record::load_argument(c, a, R1, 0);
    a.bind(known);
    a.store(Width::Word, R7, task::FD, R1);
    a.store_imm(Width::Double, R7, task::CALL_BLOCKED, 0);
    a.store_imm(Width::Double, R7, task::CALL_READY, 0);
    a.call(Helper::KtimeNs);
    a.store(Width::Double, R7, task::ENTER, R0);
    a.bind(out);
    a.exit();
}

/// Converts the number in `R8` to the reported one if the call came through the 32-bit entry. The call's
/// registers are in `R9`.
fn report_32_bit(c: &Context<'_>, a: &mut Asm, entry: Entry32) {
    let (native, through, unknown) = (a.label(), a.label(), a.label());
    a.load(Width::Half, R1, R9, entry.regs_cs);
    a.jump_if_imm(Cond::Equal, R1, USER32_CS, through);
    // Nearly all calls are recognised without the kernel's flags.
    a.load(Width::Double, R1, R9, entry.regs_cx);
    a.load(Width::Double, R2, R9, c.offsets.regs_ip);
    a.jump_if(Cond::Equal, R1, R2, native);
    a.call(Helper::CurrentTask);
    a.mov(R3, R0)
        .alu_imm(Alu::Add, R3, entry.task_status.into());
    a.mov(R1, R10).alu_imm(Alu::Add, R1, KEY_SLOT.into());
    a.store_imm(Width::Word, R10, KEY_SLOT, 0);
    a.mov_imm(R2, 4).call(Helper::ProbeReadKernel);
    a.load(Width::Word, R1, R10, KEY_SLOT);
    a.alu_imm(Alu::And, R1, TS_COMPAT);
    a.jump_if_imm(Cond::Equal, R1, 0, native);
    a.bind(through);
    a.store(Width::Word, R10, KEY_SLOT, R8);
    lookup_slot(a, &c.maps.entry_32, KEY_SLOT);
    a.jump_if_imm(Cond::Equal, R0, 0, unknown);
    a.load(Width::Word, R8, R0, 0);
    a.jump(native);
    a.bind(unknown);
    a.alu_imm(Alu::Or, R8, (ENTRY_32 | ENTRY_32_ONLY) as i32);
    a.bind(native);
}

/// `R1 = ` the polled descriptor, or -1 if there isn't exactly one. The call's registers are in `R9`, the
/// thread in `R7`.
fn load_polled(c: &Context<'_>, a: &mut Asm) {
    let (none, done) = (a.label(), a.label());
    emit_record::load_argument(c, a, R1, 1);
    a.jump_if_imm(Cond::NotEqual, R1, 1, none);
    emit_record::load_argument(c, a, R3, 0);
    a.mov(R1, R10).alu_imm(Alu::Add, R1, KEY_SLOT.into());
    a.mov_imm(R2, 4).call(Helper::ProbeReadUser);
    a.jump_if_imm(Cond::NotEqual, R0, 0, none);
    a.load(Width::Word, R1, R10, KEY_SLOT);
    a.jump(done);
    a.bind(none);
    a.mov_imm(R1, -1);
    a.bind(done);
}

/// Does the same as [`load_polled`] for `select`. Uses `R8`.
fn load_selected(c: &Context<'_>, a: &mut Asm) {
    let (to_write, examine, masked) = (a.label(), a.label(), a.label());
    let (none, done) = (a.label(), a.label());
    emit_record::load_argument(c, a, R8, 0); // number of bits
    emit_record::load_argument(c, a, R1, 3);
    a.jump_if_imm(Cond::NotEqual, R1, 0, none);
    emit_record::load_argument(c, a, R3, 1);
    emit_record::load_argument(c, a, R1, 2);
    a.jump_if_imm(Cond::Equal, R3, 0, to_write);
    a.jump_if_imm(Cond::NotEqual, R1, 0, none);
    a.jump(examine);
    a.bind(to_write);
    a.mov(R3, R1);
    a.bind(examine);
    a.mov(R1, R10).alu_imm(Alu::Add, R1, ROW.into());
    a.mov_imm(R2, 8).call(Helper::ProbeReadUser);
    a.jump_if_imm(Cond::NotEqual, R0, 0, none);
    a.load(Width::Double, R3, R10, ROW);
    a.jump_if_imm(Cond::Greater, R8, 63, masked);
    a.mov_imm(R1, 1).alu(Alu::ShiftLeft, R1, R8);
    a.alu_imm(Alu::Add, R1, -1).alu(Alu::And, R3, R1);
    a.bind(masked);
    // If only one bit is set, clearing it leaves 0.
    a.jump_if_imm(Cond::Equal, R3, 0, none);
    a.mov(R1, R3).alu_imm(Alu::Add, R1, -1);
    a.alu(Alu::And, R1, R3);
    a.jump_if_imm(Cond::NotEqual, R1, 0, none);
    for step in [32, 16, 8, 4, 2, 1] {
        let within = a.label();
        a.mov(R2, R3).alu_imm(Alu::ShiftLeft, R2, 64 - step);
        a.jump_if_imm(Cond::NotEqual, R2, 0, within);
        a.alu_imm(Alu::ShiftRight, R3, step);
        a.alu_imm(Alu::Add, R1, step);
        a.bind(within);
    }
    a.jump(done);
    a.bind(none);
    a.mov_imm(R1, -1);
    a.bind(done);
}

/// `sys_exit(regs, result)`: adds the call to its row, and emits a record if needed.
pub(super) fn leave(c: &Context<'_>, a: &mut Asm) {
    let (out, row_done, reported, moved) = (a.label(), a.label(), a.label(), a.label());
    find_current(c, a, out);
    a.load(Width::Double, R8, R7, task::ENTER);
    a.jump_if_imm(Cond::Equal, R8, 0, out);
    a.call(Helper::KtimeNs);
    a.mov(R9, R0);
    // The thread is running although it counts as off the CPU, because no switch showed its return. The
    // repair uses the registers and the frame.
    let seen = a.label();
    a.load(Width::Double, R1, R7, task::OFF_SINCE);
    a.jump_if_imm(Cond::Equal, R1, 0, seen);
    sched::mend_own_arrival(c, a);
    a.load(Width::Double, R8, R7, task::ENTER);
    a.call(Helper::KtimeNs);
    a.mov(R9, R0);
    a.bind(seen);
    a.store(Width::Double, R10, NOW, R9);
    a.alu(Alu::Sub, R9, R8); // duration
    if c.stacks.is_some() {
        a.store(Width::Double, R10, stacks::ARGUMENTS, R6);
        a.store(Width::Double, R10, stacks::TOOK, R9);
    }
    a.store_imm(Width::Double, R7, task::ENTER, 0);
    find_row(c, a, row_done);
    add_one(a, R0, call::CALLS, R1);
    add_call_times(a);
    a.load(Width::Double, R8, R6, 8); // result
    add_result(c, a, row_done);
    a.bind(row_done);

    if c.interval_ns.is_some() {
        report_time_up(c, a);
        report_turn(c, a);
    }
    let record = a.label();
    a.load(Width::Word, R1, R7, task::FLAGS);
    a.jump_if_imm(Cond::AnySet, R1, RECORD as i32, record);
    a.jump_if_imm(Cond::AnySet, R1, TOTALLED as i32, moved);
    a.jump(reported);
    a.bind(moved);
    a.load(Width::Word, R1, R7, task::FD);
    a.jump_if_imm(Cond::GreaterEqual, R1, 64, reported);
    a.mov_imm(R2, 1).alu(Alu::ShiftLeft, R2, R1);
    a.load(Width::Double, R1, R7, task::MOVED);
    a.alu(Alu::Or, R1, R2);
    a.store(Width::Double, R7, task::MOVED, R1);
    a.jump(reported);
    a.bind(record);
    emit_record::call(c, a, reported);
    a.bind(reported);
    stacks::after_call(c, a);
    a.bind(out);
    a.exit();
}

/// Records that the call ended because its timeout expired, after `R9` ns: a poll that returned nothing, or a
/// failure due to a socket's own timeout (`SO_RCVTIMEO`).
fn report_time_up(c: &Context<'_>, a: &mut Asm) {
    let (other, up) = (a.label(), a.label());
    a.jump_if_imm(Cond::Less, R9, LEAST_LIMIT_NS, other);
    a.load(Width::Double, R1, R6, 8); // result
    a.load(Width::Double, R2, R7, task::CALL_BLOCKED);
    a.jump_if_imm(Cond::Equal, R2, 0, other);
    a.jump_if_imm(Cond::Equal, R1, -libc::EAGAIN, up);
    a.jump_if_imm(Cond::NotEqual, R1, 0, other);
    a.load(Width::Word, R1, R7, task::FLAGS);
    a.alu_imm(Alu::And, R1, POLL as i32);
    a.jump_if_imm(Cond::Equal, R1, 0, other);
    a.bind(up);
    emit_record::time_up(c, a, other);
    a.bind(other);
}

/// Records that the call that just returned turned a connection from reading to writing or back. Notes new
/// connections. Uses `R8` and `R9`.
fn report_turn(c: &Context<'_>, a: &mut Asm) {
    let (out, reads, writes, moves) = (a.label(), a.label(), a.label(), a.label());
    let (connects, begins) = (a.label(), a.label());
    a.load(Width::Double, R8, R6, 8); // result
    a.load(Width::Word, R9, R7, task::FD);
    a.load(Width::Word, R1, R7, task::FLAGS);
    a.jump_if_imm(Cond::AnySet, R1, calls::READS_BYTES as i32, reads);
    a.jump_if_imm(Cond::AnySet, R1, calls::WRITES_BYTES as i32, writes);
    a.jump_if_imm(Cond::AnySet, R1, calls::CONNECTS as i32, connects);
    a.jump(out);

    a.bind(connects);
    a.jump_if_imm(Cond::AnySet, R1, calls::ADDRESS as i32, begins);
    // Accepting returns the new descriptor.
    a.mov(R9, R8);
    a.jump_if_imm(Cond::SLess, R8, 0, out);
    a.mov_imm(R8, 0);
    a.bind(begins);
    let begun = a.label();
    a.jump_if_imm(Cond::Equal, R8, 0, begun);
    a.jump_if_imm(Cond::NotEqual, R8, -libc::EINPROGRESS, out);
    a.bind(begun);
    connection_key(a, R9);
    a.store_imm(Width::Double, R10, CONNECTION + 8, connection::NOTHING);
    a.load_map(R1, c.maps.connections.fd());
    a.mov(R2, R10).alu_imm(Alu::Add, R2, CONNECTION.into());
    a.mov(R3, R10)
        .alu_imm(Alu::Add, R3, i32::from(CONNECTION) + 8);
    a.mov_imm(R4, 0).call(Helper::MapUpdate);
    a.jump(out);

    a.bind(reads);
    a.mov_imm(R1, connection::READ);
    a.jump(moves);
    a.bind(writes);
    a.mov_imm(R1, connection::WRITTEN);
    a.bind(moves);
    a.jump_if_imm(Cond::SLess, R8, 1, out);
    a.mov(R8, R1);
    connection_key(a, R9);
    lookup_slot(a, &c.maps.connections, CONNECTION);
    a.jump_if_imm(Cond::Equal, R0, 0, out);
    a.load(Width::Double, R1, R0, 0);
    a.jump_if(Cond::Equal, R1, R8, out);
    a.store(Width::Double, R0, 0, R8);
    emit_record::turn(c, a, out);
    a.bind(out);
}

/// Fills the key of the connection with the descriptor in `fd` of the thread in `R7`.
pub(super) fn connection_key(a: &mut Asm, fd: Reg) {
    a.load(Width::Word, R1, R7, task::TGID);
    a.store(Width::Word, R10, CONNECTION, R1);
    a.store(Width::Word, R10, CONNECTION + 4, fd);
}

/// Sets `R0` to the row of the thread's current call, creating it if necessary. If the table is full, for
/// example because of calls on a hundred thousand descriptors, this is a row shared by all further calls. If
/// that row can't be created either, counts the loss and jumps to `none`. `R8` holds the time when the call
/// was entered.
pub(super) fn find_row(c: &Context<'_>, a: &mut Asm, none: super::Label) {
    let found = a.label();
    let fresh = -8 - call::SIZE as i16;
    let lookup = |a: &mut Asm, map: &Map, key: (Reg, i16)| {
        a.load_map(R1, map.fd()).mov(R2, key.0);
        a.alu_imm(Alu::Add, R2, i32::from(key.1));
        a.call(Helper::MapLookup);
        a.jump_if_imm(Cond::NotEqual, R0, 0, found);
    };
    let make = |a: &mut Asm, map: &Map, key: (Reg, i16)| {
        a.load_map(R1, map.fd()).mov(R2, key.0);
        a.alu_imm(Alu::Add, R2, i32::from(key.1));
        a.mov(R3, R10).alu_imm(Alu::Add, R3, i32::from(fresh));
        a.mov_imm(R4, 0).call(Helper::MapUpdate);
        lookup(a, map, key);
    };
    let own = (R7, task::CALL_KEY);
    lookup(a, &c.maps.calls, own);
    zero_frame(a, fresh, call::SIZE);
    a.store(Width::Double, R10, fresh + call::FIRST, R8);
    a.load(Width::Word, R1, R7, task::FLAGS);
    a.alu_imm(Alu::Or, R1, calls::FIRST as i32);
    a.store(Width::Word, R7, task::FLAGS, R1);
    make(a, &c.maps.calls, own);
    a.load(Width::Double, R1, R7, task::CALL_KEY);
    a.store(Width::Double, R10, REST_KEY, R1);
    a.load(Width::Word, R1, R7, task::NR);
    a.store(Width::Word, R10, REST_KEY + task::NR, R1);
    a.store_imm(Width::Word, R10, REST_KEY + task::FD, -1);
    let rest = (R10, REST_KEY);
    lookup(a, &c.maps.calls_rest, rest);
    make(a, &c.maps.calls_rest, rest);
    count_lost(c, a, lost::CALLS);
    a.jump(none);
    a.bind(found);
}

/// Adds the time in `R9`, and its part off the CPU, to the row in `R0`.
pub(super) fn add_call_times(a: &mut Asm) {
    let never_off = a.label();
    add_to(a, R0, call::TOTAL, R9, R1);
    a.load(Width::Double, R2, R7, task::CALL_BLOCKED);
    a.load(Width::Double, R3, R7, task::CALL_READY);
    a.mov(R1, R2).alu(Alu::Or, R1, R3);
    a.jump_if_imm(Cond::Equal, R1, 0, never_off);
    add_to(a, R0, call::BLOCKED, R2, R1);
    add_to(a, R0, call::READY, R3, R1);
    a.bind(never_off);
}

/// Notes in the row in `R0` that bytes were moved now, if the result in `R8` is positive.
fn note_when_moved(a: &mut Asm) {
    let (nothing, not_first) = (a.label(), a.label());
    a.jump_if_imm(Cond::Equal, R8, 0, nothing);
    a.load(Width::Double, R1, R10, NOW);
    a.store(Width::Double, R0, call::LAST_MOVED, R1);
    a.load(Width::Double, R2, R0, call::FIRST_MOVED);
    a.jump_if_imm(Cond::NotEqual, R2, 0, not_first);
    a.store(Width::Double, R0, call::FIRST_MOVED, R1);
    a.bind(not_first);
    a.bind(nothing);
}

/// Adds the result in `R8` to the row in `R0`, then continues at `done`. `R9` holds the duration of the call.
fn add_result(c: &Context<'_>, a: &mut Asm, done: super::Label) {
    let (good, sized) = (a.label(), a.label());
    a.mov_imm(R1, -1);
    a.jump_if(Cond::SLess, R1, R8, good);
    a.jump_if_imm(Cond::SLess, R8, -4095, good);
    let (finished, first, last) = (a.label(), calls::INTERRUPTED_FIRST, calls::INTERRUPTED_LAST);
    a.mov_imm(R1, first);
    a.jump_if(Cond::SLess, R1, R8, finished);
    a.jump_if_imm(Cond::SLess, R8, last, finished);
    add_one(a, R0, call::UNFINISHED, R1);
    a.mov_imm(R2, -1);
    add_to(a, R0, call::CALLS, R2, R1);
    a.jump(done);
    a.bind(finished);
    add_one(a, R0, call::ERRORS, R1);
    a.jump_if_imm(Cond::NotEqual, R8, -libc::EAGAIN, done);
    add_one(a, R0, call::WOULD_BLOCK, R1);
    a.jump(done);
    a.bind(good);
    let moves = a.label();
    a.load(Width::Word, R1, R7, task::FLAGS);
    a.jump_if_imm(Cond::AnySet, R1, BYTES as i32, moves);
    a.alu_imm(Alu::And, R1, POLL as i32);
    a.jump_if_imm(Cond::Equal, R1, 0, done);
    a.jump_if_imm(Cond::NotEqual, R8, 0, done);
    add_one(a, R0, call::SIZES + 8 * POLL_LIMITS as i16, R1);
    add_to(a, R0, call::SIZES + 8 * POLL_LIMIT_NS as i16, R9, R1);
    a.jump(done);
    a.bind(moves);
    add_to(a, R0, call::BYTES, R8, R1);
    note_when_moved(a);
    for (bucket, limit) in (0..).zip(SIZE_LIMITS) {
        let larger = a.label();
        a.jump_if_imm(Cond::Greater, R8, limit as i32, larger);
        add_one(a, R0, call::SIZES + 8 * bucket, R1);
        a.jump(sized);
        a.bind(larger);
    }
    add_one(a, R0, call::SIZES + 8 * SIZE_LIMITS.len() as i16, R1);
    a.bind(sized);
    let (written, unplaced) = (a.label(), a.label());
    a.load(Width::Word, R1, R7, task::FLAGS);
    a.mov(R2, R1).alu_imm(Alu::And, R2, PLACED as i32);
    a.jump_if_imm(Cond::Equal, R2, 0, unplaced);
    note_place(c, a);
    a.load(Width::Word, R1, R7, task::FLAGS);
    a.bind(unplaced);
    a.jump_if_imm(Cond::AnySet, R1, BUFFER1 as i32, written);
    a.jump(done);
    a.bind(written);
    examine_last_byte(c, a, done);
}

/// Notes in the row in `R0` where the call that moved `R8` bytes ended, and whether it began at the end of
/// the previous one, or less than [`SHORT_SKIP`] after that. Uses `R9`.
fn note_place(c: &Context<'_>, a: &mut Asm) {
    let (jumped, streams) = (a.label(), a.label());
    a.load(Width::Double, R9, R6, 0); // registers
    emit_record::load_argument(c, a, R3, 3);
    a.jump_if_imm(Cond::Equal, R3, -1, streams);
    a.load(Width::Double, R1, R0, call::NEXT_PLACE);
    a.mov(R2, R3).alu(Alu::Sub, R2, R1);
    a.alu(Alu::Add, R3, R8);
    a.store(Width::Double, R0, call::NEXT_PLACE, R3);
    a.jump_if_imm(Cond::GreaterEqual, R2, SHORT_SKIP as i32, jumped);
    a.bind(streams);
    add_one(a, R0, call::WENT_ON, R1);
    a.bind(jumped);
}

/// Notes in the row in `R0` whether the write that moved `R8` bytes ended a line; continues at `done` if
/// enough writes were examined.
fn examine_last_byte(c: &Context<'_>, a: &mut Asm, done: super::Label) {
    a.load(Width::Double, R1, R0, call::EXAMINATIONS);
    a.jump_if_imm(Cond::GreaterEqual, R1, LINE_SAMPLES as i32, done);
    a.jump_if_imm(Cond::Equal, R8, 0, done);
    // Count the attempt first: untouched memory, which `/dev/null` accepts, is never present, and each
    // attempt costs 0.8 us.
    add_one(a, R0, call::EXAMINATIONS, R1);
    a.store(Width::Double, R10, ROW, R0);
    a.load(Width::Double, R9, R6, 0); // registers
    emit_record::load_argument(c, a, R3, 1);
    a.alu(Alu::Add, R3, R8).alu_imm(Alu::Add, R3, -1);
    a.store_imm(Width::Double, R10, LAST_BYTE, 0);
    a.mov(R1, R10).alu_imm(Alu::Add, R1, LAST_BYTE.into());
    a.mov_imm(R2, 1).call(Helper::ProbeReadUser);
    a.mov(R1, R0);
    a.load(Width::Double, R0, R10, ROW);
    a.jump_if_imm(Cond::NotEqual, R1, 0, done);
    add_one(a, R0, call::EXAMINED, R1);
    a.load(Width::Byte, R2, R10, LAST_BYTE);
    a.jump_if_imm(Cond::NotEqual, R2, b'\n'.into(), done);
    add_one(a, R0, call::LINES, R1);
}
