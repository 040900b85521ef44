//! Calls with a separate record, and the contents of these records.
//!
//! Calls that create, name or close a descriptor, and those that fail to find a path, are rare compared with
//! reads and writes, so a record for each (70 to 330 bytes, about 0.3 us) is affordable.

use super::super::asm::{Alu, Asm, Cond, Helper, Label, Reg, Width};
use super::super::layout::{call, record, task};
use super::calls::{CONNECTION, connection_key};
use super::{Context, scratch, send};
use crate::calls::{
    self, ADDRESS, CLOSE0, CLOSE1, ENTRY_32, IF_DUP, PAIR0, PAIR3, PATH0, PATH1, RECORD_ERROR,
    RECORD_OK, TOTALS, TOTALS_OF_CALL,
};

use Reg::{R0, R1, R2, R3, R6, R7, R8, R9, R10};

const PAYLOAD: i16 = record::HEAD as i16;
/// Length of the longest socket address with a name: `sockaddr_un`.
const ADDRESS_MAX: i32 = 110;
/// Frame slots: the length of the payload, and the key of a row of the call table.
const LENGTH: i16 = -16;
const TOTALS_KEY: i16 = -32;

/// `into = ` an argument of the thread's current call. The call's registers are in `R9`, the thread in `R7`.
pub(super) fn load_argument(c: &Context<'_>, a: &mut Asm, into: Reg, argument: usize) {
    let (native, loaded) = (a.label(), a.label());
    if let Some(entry) = c.offsets.entry_32 {
        a.load(Width::Word, into, R7, task::NR);
        a.alu_imm(Alu::And, into, ENTRY_32 as i32);
        a.jump_if_imm(Cond::Equal, into, 0, native);
        a.load(Width::Word, into, R9, entry.regs_arguments[argument]);
        a.jump(loaded);
    }
    a.bind(native);
    a.load(Width::Double, into, R9, c.offsets.regs_arguments[argument]);
    a.bind(loaded);
}

/// Records the call that just returned, if its outcome requires it; then continues at `done`. `R6` holds the
/// tracepoint's arguments, `R7` the thread.
pub(super) fn call(c: &Context<'_>, a: &mut Asm, done: Label) {
    let (failed, wanted, not_dup) = (a.label(), a.label(), a.label());
    a.load(Width::Double, R8, R6, 8); // result
    a.load(Width::Double, R9, R6, 0); // registers
    a.load(Width::Word, R6, R7, task::FLAGS);
    a.jump_if_imm(Cond::SLess, R8, 0, failed);
    a.mov(R1, R6).alu_imm(Alu::And, R1, RECORD_OK as i32);
    a.jump_if_imm(Cond::Equal, R1, 0, done);
    a.mov(R1, R6).alu_imm(Alu::And, R1, IF_DUP as i32);
    a.jump_if_imm(Cond::Equal, R1, 0, not_dup);
    load_argument(c, a, R1, 1);
    a.jump_if_imm(Cond::Equal, R1, libc::F_DUPFD, not_dup);
    a.jump_if_imm(Cond::NotEqual, R1, libc::F_DUPFD_CLOEXEC, done);
    a.bind(not_dup);
    skip_idle_close(c, a, done);
    a.jump(wanted);
    a.bind(failed);
    a.mov(R1, R6).alu_imm(Alu::And, R1, RECORD_ERROR as i32);
    a.jump_if_imm(Cond::Equal, R1, 0, done);
    a.bind(wanted);

    scratch(c, a, done);
    head(a, record::CALL);
    a.store(Width::Double, R0, record::RESULT, R8);
    for (argument, at) in [record::ARG0, record::ARG1, record::ARG2]
        .into_iter()
        .enumerate()
    {
        load_argument(c, a, R1, argument);
        a.store(Width::Double, R0, at, R1);
    }
    a.mov(R8, R0); // R8: the record
    a.store_imm(Width::Double, R10, LENGTH, 0);
    payload(c, a);
    a.load(Width::Double, R3, R10, LENGTH);
    a.alu_imm(Alu::And, R3, 0x1ff);
    a.alu_imm(Alu::Add, R3, record::HEAD as i32);
    a.mov(R2, R8);
    send(c, a);
}

/// Records that the timeout of the call that just returned ended it, after `R9` ns.
pub(super) fn time_up(c: &Context<'_>, a: &mut Asm, done: Label) {
    scratch(c, a, done);
    head(a, record::TIME_UP);
    a.store(Width::Double, R0, record::RESULT, R9);
    a.mov(R2, R0).mov_imm(R3, record::HEAD as i32);
    send(c, a);
}

/// Records that the call that just returned turned a connection from reading to writing or back.
pub(super) fn turn(c: &Context<'_>, a: &mut Asm, done: Label) {
    scratch(c, a, done);
    head(a, record::TURN);
    a.mov(R2, R0).mov_imm(R3, record::HEAD as i32);
    send(c, a);
}

/// Continues at `done` if the call closes a descriptor on which this thread moved nothing: nothing is
/// attributed to its file, and its number gets a new name when it is next opened. With `find`, this applies
/// to every close. A connection that is closed is forgotten.
fn skip_idle_close(c: &Context<'_>, a: &mut Asm, done: Label) {
    let (wanted, other) = (a.label(), a.label());
    a.mov(R1, R6).alu_imm(Alu::And, R1, CLOSE0 as i32);
    a.jump_if_imm(Cond::Equal, R1, 0, wanted);
    if c.interval_ns.is_some() {
        a.load(Width::Word, R2, R7, task::FD);
        connection_key(a, R2);
        super::lookup_slot(a, &c.maps.connections, CONNECTION);
        a.jump_if_imm(Cond::Equal, R0, 0, other);
        a.load_map(R1, c.maps.connections.fd());
        a.mov(R2, R10).alu_imm(Alu::Add, R2, CONNECTION.into());
        a.call(Helper::MapDelete);
        a.jump(wanted);
    }
    a.bind(other);
    load_argument(c, a, R1, 0);
    a.jump_if_imm(Cond::GreaterEqual, R1, 64, wanted);
    a.mov_imm(R2, 1).alu(Alu::ShiftLeft, R2, R1);
    a.load(Width::Double, R1, R7, task::MOVED);
    a.mov(R3, R1).alu(Alu::And, R3, R2);
    a.jump_if_imm(Cond::Equal, R3, 0, done);
    a.alu(Alu::Xor, R1, R2);
    a.store(Width::Double, R7, task::MOVED, R1);
    a.bind(wanted);
}

/// Fills the head of the record in `R0` for the thread in `R7`, except the result. Preserves `R0`.
pub(super) fn head(a: &mut Asm, kind: i32) {
    a.store(Width::Double, R10, TOTALS_KEY, R0);
    a.call(Helper::KtimeNs);
    a.mov(R1, R0);
    a.load(Width::Double, R0, R10, TOTALS_KEY);
    a.store_imm(Width::Double, R0, record::KIND, kind);
    a.store(Width::Double, R0, record::TIME, R1);
    a.load(Width::Double, R1, R7, task::TID);
    a.store(Width::Double, R0, record::TID, R1);
    a.load(Width::Double, R1, R7, task::NR);
    a.store(Width::Double, R0, record::NR, R1);
}

/// Appends the data selected by the flags in `R6` to the record in `R8`; the call's registers are in `R9`.
fn payload(c: &Context<'_>, a: &mut Asm) {
    let end = a.label();
    for (flag, argument) in [(PATH0, 0), (PATH1, 1)] {
        when(a, flag, end, |a| {
            target(a);
            a.mov_imm(R2, record::PATH_MAX);
            load_argument(c, a, R3, argument);
            a.call(Helper::ProbeReadUserStr);
            let bad = a.label();
            a.jump_if_imm(Cond::SLess, R0, 0, bad);
            a.store(Width::Double, R10, LENGTH, R0);
            a.bind(bad);
        });
    }
    for (flag, argument) in [(PAIR0, 0), (PAIR3, 3)] {
        when(a, flag, end, |a| {
            target(a);
            a.mov_imm(R2, 8);
            load_argument(c, a, R3, argument);
            a.call(Helper::ProbeReadUser);
            a.store_imm(Width::Double, R10, LENGTH, 8);
        });
    }
    when(a, ADDRESS, end, |a| {
        let short = a.label();
        load_argument(c, a, R2, 2);
        a.jump_if_imm(Cond::Less, R2, ADDRESS_MAX, short);
        a.mov_imm(R2, ADDRESS_MAX);
        a.bind(short);
        a.store(Width::Double, R10, LENGTH, R2);
        target(a);
        load_argument(c, a, R3, 1);
        a.call(Helper::ProbeReadUser);
    });
    for (flag, argument) in [(CLOSE0, 0), (CLOSE1, 1)] {
        when(a, flag, end, |a| totals(c, a, argument));
    }
    a.bind(end);
}

/// Runs `write` if `flag` is set in `R6`, then jumps to `end`.
fn when(a: &mut Asm, flag: u32, end: Label, write: impl FnOnce(&mut Asm)) {
    let skip = a.label();
    a.mov(R1, R6).alu_imm(Alu::And, R1, flag as i32);
    a.jump_if_imm(Cond::Equal, R1, 0, skip);
    write(a);
    a.jump(end);
    a.bind(skip);
}

/// `R1 = ` the destination of the payload.
fn target(a: &mut Asm) {
    a.mov(R1, R8).alu_imm(Alu::Add, R1, i32::from(PAYLOAD));
}

/// Appends the totals so far of each of [`TOTALS`] by this thread on the descriptor in this argument. Their
/// increase since the previous record of this kind belongs to the file that is being closed.
fn totals(c: &Context<'_>, a: &mut Asm, argument: usize) {
    a.load(Width::Double, R1, R7, task::TID);
    a.store(Width::Double, R10, TOTALS_KEY, R1);
    load_argument(c, a, R1, argument);
    a.store(Width::Word, R10, TOTALS_KEY + 12, R1);
    let numbers: [i16; TOTALS_OF_CALL] = [
        call::CALLS,
        call::BYTES,
        call::ERRORS,
        call::TOTAL,
        call::BLOCKED,
    ];
    for (i, name) in (0..).zip(TOTALS) {
        let at = |number: i16| PAYLOAD + 8 * (TOTALS_OF_CALL as i16 * i + number);
        let absent = a.label();
        for (number, _) in (0..).zip(numbers) {
            a.store_imm(Width::Double, R8, at(number), 0);
        }
        let Some(nr) = calls::number(name) else {
            continue;
        };
        // Use the rows of the entry through which the close was made.
        a.load(Width::Word, R1, R7, task::NR);
        a.alu_imm(Alu::And, R1, ENTRY_32 as i32);
        a.alu_imm(Alu::Or, R1, nr as i32);
        a.store(Width::Word, R10, TOTALS_KEY + 8, R1);
        super::lookup_slot(a, &c.maps.calls, TOTALS_KEY);
        a.jump_if_imm(Cond::Equal, R0, 0, absent);
        for (number, field) in (0..).zip(numbers) {
            a.load(Width::Double, R1, R0, field);
            a.store(Width::Double, R8, at(number), R1);
        }
        a.bind(absent);
    }
    let length = 8 * TOTALS_OF_CALL * TOTALS.len();
    a.store_imm(Width::Double, R10, LENGTH, length as i32);
}
