//! Holds back a program that produces more than the reader can process.
//!
//! The program is slowed down to avoid losses. If a ring is half full, or if the rows of too many ended
//! threads wait to be moved out of the tables, a thread is held back before its next call, repeatedly, until
//! the reader has caught up. The thread only notices that time passes: there is no signal, no interrupted
//! call and no lasting effect. The time is accounted as a wait for a CPU, because the reader uses a CPU in
//! its place.

use super::super::asm::{Alu, Asm, Cond, Helper, Label, Reg, Width};
use super::super::layout::{cause, pace, task};
use super::{Context, KEY_SLOT, add_to, lookup_slot, sched};

use Reg::{R0, R1, R2, R6, R7, R8, R9, R10};

/// Number of iterations of one hold, and of clock readings in each, which take 20 to 40 ns: about 0.2 ms in
/// total, during which no other thread gets this CPU. The verifier checks every iteration and compares it
/// with all previous ones.
const TURNS: i32 = 32;
const READINGS: usize = 256;

/// `bpf_ringbuf_query`: number of unread bytes.
const UNREAD: i32 = 0;

/// Frame slots not used by `sched`: the tracepoint's arguments, and the time when the hold began.
const ARGUMENTS: i16 = -400;
pub(super) const SINCE: i16 = -408;

/// If the ring is half full, requests that the thread in `R7` be held back before its next call. Clobbers
/// `R0` to `R5`.
pub(super) fn after_record(c: &Context<'_>, a: &mut Asm) {
    request_unless(c, a, jump_if_room);
}

/// Makes the same request if the ring of stacks is half full.
pub(super) fn after_stack(c: &Context<'_>, a: &mut Asm) {
    request_unless(c, a, jump_if_room_for_stacks);
}

/// Makes the same request if the thread has just created a thread and too many ended ones wait for the
/// reader.
pub(super) fn after_fork(c: &Context<'_>, a: &mut Asm) {
    request_unless(c, a, jump_if_few_ended);
}

/// Jumps to the label if the reader keeps up.
type JumpIfFine = fn(&Context<'_>, &mut Asm, Label);

fn request_unless(c: &Context<'_>, a: &mut Asm, jump: JumpIfFine) {
    if !c.hold {
        return;
    }
    let fine = a.label();
    jump(c, a, fine);
    a.store_imm(Width::Double, R7, task::HOLD, 1);
    a.bind(fine);
}

/// Counts a thread that has ended. Called after its record was sent. Clobbers `R0` to `R5`.
pub(super) fn count_ended(c: &Context<'_>, a: &mut Asm) {
    a.mov_imm(R8, 1);
    add(c, a, pace::ENDED);
}

/// Holds back the thread in `R7`, which is between two calls, if requested. Preserves `R6` and `R7`.
pub(super) fn hold(c: &Context<'_>, a: &mut Asm) {
    if !c.hold {
        return;
    }
    let (free, turn, pressed, relieved) = (a.label(), a.label(), a.label(), a.label());
    a.load(Width::Double, R1, R7, task::HOLD);
    a.jump_if_imm(Cond::Equal, R1, 0, free);
    a.store(Width::Double, R10, ARGUMENTS, R6);
    a.store_imm(Width::Double, R7, task::HOLD, 0);
    begin(a);
    a.mov_imm(R9, TURNS);
    a.bind(turn);
    for jump in [jump_if_room, jump_if_room_for_stacks] as [JumpIfFine; 2] {
        let fine = a.label();
        jump(c, a, fine);
        a.jump(pressed);
        a.bind(fine);
    }
    jump_if_few_ended(c, a, relieved);
    a.bind(pressed);
    for _ in 0..READINGS {
        a.call(Helper::KtimeNs);
    }
    a.alu_imm(Alu::Add, R9, -1);
    a.jump_if_imm(Cond::NotEqual, R9, 0, turn);
    a.store_imm(Width::Double, R7, task::HOLD, 1);
    a.bind(relieved);
    book(c, a);
    a.load(Width::Double, R6, R10, ARGUMENTS);
    a.bind(free);
}

/// Notes the time from which the thread in `R7` is busy on behalf of the tracer: see [`book`].
pub(super) fn begin(a: &mut Asm) {
    a.call(Helper::KtimeNs);
    a.store(Width::Double, R10, SINCE, R0);
}

/// Accounts the time since [`begin`] to the thread in `R7`, which is not in a call, as if it had been
/// preempted at that time. Preserves `R7`.
pub(super) fn book(c: &Context<'_>, a: &mut Asm) {
    let no_cpu = a.label();
    a.call(Helper::KtimeNs);
    a.mov(R9, R0);
    a.load(Width::Double, R6, R10, SINCE);
    a.mov(R8, R9).alu(Alu::Sub, R8, R6);
    add(c, a, pace::HELD);
    a.load(Width::Double, R1, R7, task::ON_SINCE);
    a.jump_if_imm(Cond::Equal, R1, 0, no_cpu);
    a.mov(R8, R6).alu(Alu::Sub, R8, R1);
    add_to(a, R7, task::ON_TOTAL, R8, R2);
    let uncounted = a.label();
    a.load(Width::Double, R2, R7, task::RAN);
    a.jump_if_imm(Cond::Equal, R2, 0, uncounted);
    a.mov(R8, R9).alu(Alu::Sub, R8, R1);
    a.alu(Alu::Add, R2, R8);
    a.store(Width::Double, R7, task::RAN, R2);
    a.bind(uncounted);
    a.store(Width::Double, R7, task::OFF_SINCE, R6);
    a.store_imm(Width::Double, R7, task::WOKEN, 0);
    a.store_imm(Width::Double, R7, task::OFF_NR, -1);
    a.store_imm(Width::Word, R7, task::OFF_CAUSE, cause::PREEMPTED);
    sched::get_cpu_at(c, a, R9, no_cpu);
    a.bind(no_cpu);
}

fn jump_if_room(c: &Context<'_>, a: &mut Asm, room: Label) {
    a.load_map(R1, c.maps.ring.fd())
        .mov_imm(R2, UNREAD)
        .call(Helper::RingQuery);
    a.jump_if_imm(Cond::Less, R0, c.maps.half_ring, room);
}

fn jump_if_room_for_stacks(c: &Context<'_>, a: &mut Asm, room: Label) {
    a.load_map(R1, c.maps.stack_ring.fd())
        .mov_imm(R2, UNREAD)
        .call(Helper::RingQuery);
    a.jump_if_imm(Cond::Less, R0, c.maps.half_stack_ring, room);
}

/// Jumps to `few` if only few ended threads wait for the reader. Uses `R8`.
fn jump_if_few_ended(c: &Context<'_>, a: &mut Asm, few: Label) {
    for (which, into) in [(pace::TAKEN, R8), (pace::ENDED, R0)] {
        a.store_imm(Width::Word, R10, KEY_SLOT, which);
        lookup_slot(a, &c.maps.pace, KEY_SLOT);
        a.jump_if_imm(Cond::Equal, R0, 0, few);
        a.load(Width::Double, into, R0, 0);
    }
    a.alu(Alu::Sub, R0, R8);
    a.jump_if_imm(Cond::Less, R0, c.maps.most_ended, few);
}

/// Adds `R8` to one of the counters.
fn add(c: &Context<'_>, a: &mut Asm, which: i32) {
    let gone = a.label();
    a.store_imm(Width::Word, R10, KEY_SLOT, which);
    lookup_slot(a, &c.maps.pace, KEY_SLOT);
    a.jump_if_imm(Cond::Equal, R0, 0, gone);
    a.atomic_add(R0, 0, R8);
    a.bind(gone);
}
