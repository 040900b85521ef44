//! Why a thread was not running, and for how long.
//!
//! As a thread leaves the CPU, `sched_switch` notes when it left and what it was doing; `sched_waking` and
//! `sched_wakeup` note when it could continue. When the thread is back, the time is added to one row per
//! cause.

use super::super::asm::{Alu, Asm, Cond, Helper, Label, Reg, Width};
use super::super::layout::{cause, lost, off, record, task};
use super::{Context, Sides, add_to, count_lost, find_task, zero_frame};

use Reg::{R0, R1, R2, R3, R4, R6, R7, R8, R9, R10};

/// Bits of a task's state, as in `include/linux/sched.h`.
const UNINTERRUPTIBLE: i32 = 2;
const STOPPED_OR_TRACED: i32 = 4 | 8;

/// Frame slots for the current time, the time asleep and the time ready, with a record's head below them.
const NOW: i16 = -16;
const ASLEEP: i16 = -24;
const READY: i16 = -32;
const RECORD: i16 = -32 - record::HEAD as i16;

/// `sched_switch(preempt, previous, next, state of previous)`
pub(super) fn switch(c: &Context<'_>, a: &mut Asm) {
    a.mov(R6, R1);
    a.store_imm(Width::Double, R10, NOW, 0);
    match c.sides {
        Sides::Both => {
            previous(c, a);
            next(c, a);
        }
        #[cfg(test)]
        Sides::Departures => previous(c, a),
        #[cfg(test)]
        Sides::Arrivals => next(c, a),
    }
    a.exit();
}

fn previous(c: &Context<'_>, a: &mut Asm) {
    let untraced = a.label();
    a.load(Width::Double, R8, R6, 8);
    a.load(Width::Word, R1, R8, c.offsets.task_pid);
    a.jump_if_imm(Cond::Equal, R1, 0, untraced);
    find_task(c, a, R1, untraced);
    a.mov(R7, R0);
    leave_cpu(c, a);
    a.bind(untraced);
}

fn next(c: &Context<'_>, a: &mut Asm) {
    let untraced = a.label();
    a.load(Width::Double, R8, R6, 16);
    a.load(Width::Word, R1, R8, c.offsets.task_pid);
    a.jump_if_imm(Cond::Equal, R1, 0, untraced);
    find_task(c, a, R1, untraced);
    a.mov(R7, R0);
    mend_departure(c, a);
    note_count(c, a);
    get_cpu(c, a, untraced);
    a.bind(untraced);
}

/// Notes the scheduler's count so far for the thread in `R7`, whose task is in `R8`. With this count, its
/// next departure can be repaired, even the first one, which is the only one of a program that only sleeps.
fn note_count(c: &Context<'_>, a: &mut Asm) {
    a.load(Width::Double, R1, R8, c.offsets.task_runtime);
    // 0 means that nothing was noted.
    a.alu_imm(Alu::Or, R1, 1);
    a.store(Width::Double, R7, task::RAN, R1);
    a.load(Width::Double, R1, R8, c.offsets.task_voluntary);
    a.store(Width::Double, R7, task::VOLUNTARY, R1);
}

/// `sched_waking(task)`: records which thread wakes another, and when.
///
/// `sched_wakeup` doesn't show the waker: if the thread last ran on another CPU, the kernel queues it there,
/// and the tracepoint runs in the context of that CPU's current thread, often the idle thread.
pub(super) fn waking(c: &Context<'_>, a: &mut Asm) {
    let (named, out) = (a.label(), a.label());
    a.load(Width::Double, R6, R1, 0);
    a.load(Width::Word, R1, R6, c.offsets.task_pid);
    find_task(c, a, R1, out);
    a.mov(R7, R0);
    // A thread may be woken just before it leaves its CPU; in this case, only the waker is kept.
    a.load(Width::Double, R1, R7, task::OFF_SINCE);
    a.jump_if_imm(Cond::Equal, R1, 0, named);
    wake(a, out);
    a.bind(named);
    a.call(Helper::CurrentPidTgid);
    a.store(Width::Word, R7, task::WAKER, R0);
    // If the current thread belongs to the tree but is not in a call, it isn't the waker: an interrupt
    // arrived while it ran.
    find_task(c, a, R0, out);
    a.load(Width::Double, R1, R0, task::ENTER);
    a.jump_if_imm(Cond::NotEqual, R1, 0, out);
    a.store_imm(Width::Word, R7, task::WAKER, 0);
    a.bind(out);
    a.exit();
}

/// `sched_wakeup(task)`: the thread is in the queue of a CPU, so from here on it only waits for that CPU.
/// This time replaces that of its waking: an idle CPU of a virtual machine takes 15 to 40 us to wake up, and
/// this counts as sleep, as in the kernel's own count of the time in the queue.
pub(super) fn wakeup(c: &Context<'_>, a: &mut Asm) {
    let out = a.label();
    a.load(Width::Double, R6, R1, 0);
    a.load(Width::Word, R1, R6, c.offsets.task_pid);
    find_task(c, a, R1, out);
    a.mov(R7, R0);
    a.load(Width::Double, R1, R7, task::OFF_SINCE);
    a.jump_if_imm(Cond::Equal, R1, 0, out);
    wake(a, out);
    a.bind(out);
    a.exit();
}

/// Notes when the sleeping thread in `R7` was woken; jumps to `awake` if it was not asleep.
fn wake(a: &mut Asm, awake: Label) {
    a.load(Width::Word, R1, R7, task::OFF_CAUSE);
    a.jump_if_imm(Cond::GreaterEqual, R1, cause::PREEMPTED, awake);
    a.call(Helper::KtimeNs);
    a.store(Width::Double, R7, task::WOKEN, R0);
}

/// Handles the departure of the thread in `R7`, whose task is in `R8`, from its CPU.
fn leave_cpu(c: &Context<'_>, a: &mut Asm) {
    let (unseen, known) = (a.label(), a.label());
    mend_arrival(c, a, |a| {
        a.load(Width::Double, R1, R8, c.offsets.task_runtime);
    });
    a.load(Width::Double, R8, R6, 8);
    note_count(c, a);
    a.call(Helper::KtimeNs);
    a.store(Width::Double, R10, NOW, R0);
    a.store(Width::Double, R7, task::OFF_SINCE, R0);
    a.store_imm(Width::Double, R7, task::WOKEN, 0);
    // 0 if its arrival was not seen because the thread was created while on a CPU.
    a.load(Width::Double, R1, R7, task::ON_SINCE);
    a.jump_if_imm(Cond::Equal, R1, 0, unseen);
    a.alu(Alu::Sub, R0, R1);
    add_to(a, R7, task::ON_TOTAL, R0, R1);
    a.store_imm(Width::Double, R7, task::ON_SINCE, 0);
    a.bind(unseen);

    note_call(a);
    let is = |a: &mut Asm, cause: i32| {
        a.mov_imm(R2, cause);
    };
    is(a, cause::PREEMPTED);
    a.load(Width::Double, R1, R6, 0);
    a.alu_imm(Alu::And, R1, 0xff);
    a.jump_if_imm(Cond::NotEqual, R1, 0, known);
    a.load(Width::Double, R3, R6, 24);
    a.alu_imm(Alu::ShiftLeft, R3, 32);
    a.alu_imm(Alu::ShiftRight, R3, 32);
    a.jump_if_imm(Cond::Equal, R3, 0, known);
    is(a, cause::DISK);
    let iowait = c.offsets.task_in_iowait;
    a.load(Width::Byte, R1, R8, iowait.byte_offset());
    a.alu_imm(Alu::And, R1, 1 << (iowait.bit_offset % 8));
    a.jump_if_imm(Cond::NotEqual, R1, 0, known);
    is(a, cause::STOPPED);
    a.jump_if_imm(Cond::AnySet, R3, STOPPED_OR_TRACED, known);
    is(a, cause::UNINTERRUPTIBLE);
    a.jump_if_imm(Cond::AnySet, R3, UNINTERRUPTIBLE, known);
    is(a, cause::SLEEP);
    a.bind(known);
    a.store(Width::Word, R7, task::OFF_CAUSE, R2);
}

/// Notes what the thread in `R7` is doing: its call, or no call (a page fault, or computation).
fn note_call(a: &mut Asm) {
    let (outside, noted) = (a.label(), a.label());
    a.load(Width::Double, R1, R7, task::ENTER);
    a.jump_if_imm(Cond::Equal, R1, 0, outside);
    a.load(Width::Double, R1, R7, task::NR);
    a.store(Width::Double, R7, task::OFF_NR, R1);
    a.jump(noted);
    a.bind(outside);
    a.store_imm(Width::Double, R7, task::OFF_NR, -1);
    a.bind(noted);
}

/// Opens the off-CPU interval of the thread in `R7` if it arrives on a CPU and its departure was not seen;
/// its task is in `R8`. The kernel doesn't show every departure. The scheduler's count shows when it happened
/// and whether it was voluntary, and the thread is still in the same call.
fn mend_departure(c: &Context<'_>, a: &mut Asm) {
    let (seen, uncounted, departed, within) = (a.label(), a.label(), a.label(), a.label());
    a.load(Width::Double, R1, R7, task::OFF_SINCE);
    a.jump_if_imm(Cond::NotEqual, R1, 0, seen);
    a.load(Width::Double, R9, R7, task::ON_SINCE);
    a.jump_if_imm(Cond::Equal, R9, 0, seen);
    a.mov_imm(R3, cause::SLEEP);
    a.load(Width::Double, R1, R7, task::RAN);
    a.jump_if_imm(Cond::Equal, R1, 0, uncounted);
    a.load(Width::Double, R2, R8, c.offsets.task_runtime);
    a.alu(Alu::Sub, R2, R1);
    a.load(Width::Double, R1, R8, c.offsets.task_voluntary);
    a.load(Width::Double, R4, R7, task::VOLUNTARY);
    a.jump_if(Cond::NotEqual, R1, R4, departed);
    a.mov_imm(R3, cause::PREEMPTED);
    a.jump(departed);
    // This is the command itself before any departure was seen: it went to sleep in its current call.
    a.bind(uncounted);
    a.load(Width::Double, R2, R7, task::ENTER);
    a.jump_if(Cond::Greater, R9, R2, seen);
    a.alu(Alu::Sub, R2, R9);
    a.bind(departed);
    a.store(Width::Word, R7, task::OFF_CAUSE, R3);
    add_to(a, R7, task::ON_TOTAL, R2, R1);
    a.alu(Alu::Add, R9, R2);
    // The departure can't be before that call: the scheduler's count lacks the time of interrupts and of the
    // hypervisor.
    a.load(Width::Double, R1, R7, task::ENTER);
    a.jump_if(Cond::GreaterEqual, R9, R1, within);
    a.mov(R9, R1);
    a.bind(within);
    a.store(Width::Double, R7, task::OFF_SINCE, R9);
    a.store_imm(Width::Double, R7, task::WOKEN, 0);
    note_call(a);
    a.bind(seen);
}

/// Closes the off-CPU interval of the thread in `R7`, which is on a CPU, if its arrival was not seen.
/// `runtime` loads the scheduler's count for the thread into `R1`; it may use `R1` to `R5` and `R8`.
/// Preserves `R6` and `R7`.
///
/// The kernel doesn't show every arrival: of about 300 switches on a busy machine, one was not shown to any
/// listener, including the kernel's own event log. The increase of the scheduler's count since the thread
/// left shows when it arrived. If the thread is in a call, this is noticed when the call returns or the
/// thread ends, at the latest.
pub(super) fn mend_arrival(c: &Context<'_>, a: &mut Asm, runtime: impl FnOnce(&mut Asm)) {
    let (seen, after) = (a.label(), a.label());
    a.load(Width::Double, R9, R7, task::OFF_SINCE);
    a.jump_if_imm(Cond::Equal, R9, 0, seen);
    runtime(a);
    a.load(Width::Double, R2, R7, task::RAN);
    a.alu(Alu::Sub, R2, R1);
    a.store(Width::Double, R10, NOW, R2);
    a.call(Helper::KtimeNs);
    a.load(Width::Double, R1, R10, NOW);
    a.alu(Alu::Add, R0, R1);
    // The two clocks differ by the time of interrupts.
    a.jump_if(Cond::GreaterEqual, R0, R9, after);
    a.mov(R0, R9);
    a.bind(after);
    a.store(Width::Double, R10, NOW, R0);
    get_cpu(c, a, seen);
    a.bind(seen);
}

/// Does the same as [`mend_arrival`] for the current thread, whose task is not among the tracepoint's
/// arguments.
pub(super) fn mend_own_arrival(c: &Context<'_>, a: &mut Asm) {
    mend_arrival(c, a, |a| {
        a.call(Helper::CurrentTask);
        a.mov(R3, R0);
        a.alu_imm(Alu::Add, R3, i32::from(c.offsets.task_runtime));
        a.mov(R1, R10).alu_imm(Alu::Add, R1, i32::from(NOW));
        a.mov_imm(R2, 8).call(Helper::ProbeReadKernel);
        a.load(Width::Double, R1, R10, NOW);
    });
}

/// Does the same as [`get_cpu`] for an arrival at the time in `at`. Preserves `R7`.
pub(super) fn get_cpu_at(c: &Context<'_>, a: &mut Asm, at: Reg, out: Label) {
    a.store(Width::Double, R10, NOW, at);
    get_cpu(c, a, out);
}

/// Handles the arrival of the thread in `R7` on a CPU: closes its off-CPU interval, if it has one.
fn get_cpu(c: &Context<'_>, a: &mut Asm, out: Label) {
    let (have_now, was_asleep, ready_only, split, no_sleep, no_ready) = (
        a.label(),
        a.label(),
        a.label(),
        a.label(),
        a.label(),
        a.label(),
    );
    a.load(Width::Double, R9, R10, NOW);
    a.jump_if_imm(Cond::NotEqual, R9, 0, have_now);
    a.call(Helper::KtimeNs);
    a.mov(R9, R0);
    a.bind(have_now);
    a.store(Width::Double, R7, task::ON_SINCE, R9);
    a.load(Width::Double, R8, R7, task::OFF_SINCE);
    a.jump_if_imm(Cond::Equal, R8, 0, out);
    a.store_imm(Width::Double, R7, task::OFF_SINCE, 0);

    // `R1` is the time asleep, `R2` the time ready.
    a.load(Width::Word, R3, R7, task::OFF_CAUSE);
    a.jump_if_imm(Cond::GreaterEqual, R3, cause::PREEMPTED, ready_only);
    a.mov(R2, R9);
    a.load(Width::Double, R1, R7, task::WOKEN);
    a.jump_if_imm(Cond::NotEqual, R1, 0, was_asleep);
    a.mov(R1, R9);
    a.bind(was_asleep);
    a.alu(Alu::Sub, R2, R1);
    a.alu(Alu::Sub, R1, R8);
    a.jump(split);
    a.bind(ready_only);
    a.mov(R2, R9);
    a.alu(Alu::Sub, R2, R8);
    a.mov_imm(R1, 0);
    a.bind(split);
    a.store(Width::Double, R10, ASLEEP, R1);
    a.store(Width::Double, R10, READY, R2);
    // Don't add to a call that was entered after the departure: the thread's arrival was not seen.
    let not_of_call = a.label();
    a.load(Width::Double, R3, R7, task::ENTER);
    a.jump_if(Cond::Greater, R3, R8, not_of_call);
    add_to(a, R7, task::CALL_BLOCKED, R1, R3);
    add_to(a, R7, task::CALL_READY, R2, R3);
    a.bind(not_of_call);

    if let Some(shortest) = c.interval_ns {
        emit_interval(c, a, shortest);
    }
    a.load(Width::Word, R8, R7, task::WAKER);
    a.store_imm(Width::Word, R7, task::WAKER, 0);
    // The record has been sent, so the times in `R8` and `R9` are no longer needed.
    a.load(Width::Double, R9, R10, ASLEEP);
    a.jump_if_imm(Cond::Equal, R9, 0, no_sleep);
    a.store(Width::Word, R7, task::WOKEN_BY, R8);
    add_interval(c, a);
    a.bind(no_sleep);
    a.load(Width::Double, R9, R10, READY);
    a.jump_if_imm(Cond::Equal, R9, 0, no_ready);
    let preempted = a.label();
    a.load(Width::Word, R1, R7, task::OFF_CAUSE);
    a.jump_if_imm(Cond::Equal, R1, cause::PREEMPTED, preempted);
    a.store_imm(Width::Word, R7, task::OFF_CAUSE, cause::READY);
    a.bind(preempted);
    add_interval(c, a);
    a.bind(no_ready);
}

/// Sends the interval from `R8` to `R9` if it is at least `shortest` ns long.
fn emit_interval(c: &Context<'_>, a: &mut Asm, shortest: i32) {
    let short = a.label();
    a.mov(R1, R9).alu(Alu::Sub, R1, R8);
    a.jump_if_imm(Cond::Less, R1, shortest, short);
    a.store_imm(Width::Double, R10, RECORD + record::KIND, record::OFF);
    a.store(Width::Double, R10, RECORD + record::TIME, R9);
    for (from, to) in [
        (task::OFF_KEY, record::TID),
        (task::OFF_NR, record::NR),
        (task::OFF_SINCE, record::ARG0),
        (task::WOKEN, record::ARG1),
    ] {
        a.load(Width::Double, R1, R7, from);
        a.store(Width::Double, R10, RECORD + to, R1);
    }
    a.store(Width::Double, R10, RECORD + record::ARG0, R8);
    a.load(Width::Word, R1, R7, task::OFF_CAUSE);
    a.store(Width::Double, R10, RECORD + record::RESULT, R1);
    a.load(Width::Word, R1, R7, task::WAKER);
    a.store(Width::Double, R10, RECORD + record::ARG2, R1);
    a.mov(R2, R10).alu_imm(Alu::Add, R2, i32::from(RECORD));
    a.mov_imm(R3, record::HEAD as i32);
    super::send(c, a);
    a.bind(short);
}

/// Adds an interval of `R9` ns to the row whose key is in the thread's state. Clobbers `R8`.
fn add_interval(c: &Context<'_>, a: &mut Asm) {
    let (found, done, not_longer) = (a.label(), a.label(), a.label());
    let key = |a: &mut Asm| {
        a.load_map(R1, c.maps.off_cpu.fd());
        a.mov(R2, R7)
            .alu_imm(Alu::Add, R2, i32::from(task::OFF_KEY));
    };
    key(a);
    a.call(Helper::MapLookup);
    a.jump_if_imm(Cond::NotEqual, R0, 0, found);
    let fresh = RECORD - off::SIZE as i16;
    zero_frame(a, fresh, off::SIZE);
    key(a);
    a.mov(R3, R10).alu_imm(Alu::Add, R3, i32::from(fresh));
    a.mov_imm(R4, 0).call(Helper::MapUpdate);
    key(a);
    a.call(Helper::MapLookup);
    a.jump_if_imm(Cond::NotEqual, R0, 0, found);
    count_lost(c, a, lost::OFF_CPU);
    a.jump(done);
    a.bind(found);
    super::add_one(a, R0, off::COUNT, R1);
    add_to(a, R0, off::TOTAL, R9, R1);
    a.load(Width::Double, R1, R0, off::MAX);
    a.jump_if(Cond::GreaterEqual, R1, R9, not_longer);
    a.store(Width::Double, R0, off::MAX, R9);
    a.bind(not_longer);
    bucket(a);
    a.alu(Alu::Add, R0, R2);
    a.load(Width::Word, R1, R0, off::BUCKETS);
    a.alu_imm(Alu::Add, R1, 1);
    a.store(Width::Word, R0, off::BUCKETS, R1);
    a.bind(done);
}

/// `R2 = ` 4 x the bucket for `R9` ns: the number of bits of ns / 1024, limited to the last bucket.
fn bucket(a: &mut Asm) {
    let (zero, fits) = (a.label(), a.label());
    a.mov(R1, R9).alu_imm(Alu::ShiftRight, R1, 10);
    a.mov_imm(R2, 0);
    a.jump_if_imm(Cond::Equal, R1, 0, zero);
    a.mov_imm(R2, 1);
    for bits in [16, 8, 4, 2, 1] {
        let small = a.label();
        a.jump_if_imm(Cond::Less, R1, 1 << bits, small);
        a.alu_imm(Alu::ShiftRight, R1, bits);
        a.alu_imm(Alu::Add, R2, bits);
        a.bind(small);
    }
    a.bind(zero);
    a.jump_if_imm(Cond::Less, R2, off::BUCKET_COUNT as i32, fits);
    a.mov_imm(R2, off::BUCKET_COUNT as i32 - 1);
    a.bind(fits);
    a.alu_imm(Alu::ShiftLeft, R2, 2);
}
