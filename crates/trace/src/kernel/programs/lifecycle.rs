//! Which threads are followed, and when they begin, execute a program and end.

use super::super::asm::{Alu, Asm, Cond, Helper, Label, Reg, Width};
use super::super::layout::{call, cause, lost, record, task};
use super::zero_frame;
use super::{
    Context, KEY_SLOT, add_one, calls, count_lost, emit_record, find_task, pace, sched, scratch,
    send,
};

use Reg::{R0, R1, R2, R3, R4, R6, R7, R8, R9, R10};

/// A thread's state built in the frame.
const STATE: i16 = -48 - task::SIZE as i16;

/// Number of pairs of the auxiliary vector that are searched; the kernel writes the ones needed here among
/// the first twelve.
const AUXILIARY_PAIRS: i16 = 14;
/// The pairs are below the state in the frame.
const AUXILIARY: i16 = STATE - 16 * AUXILIARY_PAIRS;

/// Run by a held child on itself: from here on, its thread is traced.
pub(super) fn follow_me(c: &Context<'_>, a: &mut Asm) {
    let out = a.label();
    a.call(Helper::CurrentPidTgid);
    a.mov(R6, R0);
    a.mov(R7, R0).alu_imm(Alu::ShiftRight, R7, 32);
    fresh_state(a, R6, R7);
    a.store(Width::Double, R10, STATE + task::ON_SINCE, R0);
    add_task(c, a, R6);
    // Records the start of the trace, and the kernel's process id of the command.
    a.mov(R7, R10).alu_imm(Alu::Add, R7, i32::from(STATE));
    scratch(c, a, out);
    emit_record::head(a, record::FOLLOW);
    for at in [record::RESULT, record::ARG0, record::ARG1, record::ARG2] {
        a.store_imm(Width::Double, R0, at, 0);
    }
    a.mov(R2, R0).mov_imm(R3, record::HEAD as i32);
    send(c, a);
    a.bind(out);
    a.exit();
}

/// `sched_process_fork(parent, child)`: starts to trace the child of a traced thread.
pub(super) fn fork(c: &Context<'_>, a: &mut Asm) {
    let out = a.label();
    a.mov(R6, R1);
    a.load(Width::Double, R1, R6, 0);
    a.load(Width::Word, R1, R1, c.offsets.task_pid);
    find_task(c, a, R1, out);
    a.mov(R7, R0);
    a.load(Width::Double, R1, R6, 8);
    a.load(Width::Word, R8, R1, c.offsets.task_pid);
    a.load(Width::Word, R9, R1, c.offsets.task_tgid);
    fresh_state(a, R8, R9);
    // The thread is not on a CPU yet: it has been ready since its creation.
    a.store(Width::Double, R10, STATE + task::OFF_SINCE, R0);
    a.store_imm(Width::Word, R10, STATE + task::OFF_CAUSE, cause::READY);
    add_task(c, a, R8);
    scratch(c, a, out);
    emit_record::head(a, record::FORK);
    a.store_imm(Width::Double, R0, record::RESULT, 0);
    a.store(Width::Double, R0, record::ARG0, R8);
    a.store(Width::Double, R0, record::ARG1, R9);
    a.store_imm(Width::Double, R0, record::ARG2, 0);
    a.mov(R2, R0).mov_imm(R3, record::HEAD as i32);
    send(c, a);
    pace::after_fork(c, a);
    a.bind(out);
    a.exit();
}

/// `sched_process_exec(task, its former thread id, binprm)`
pub(super) fn exec(c: &Context<'_>, a: &mut Asm) {
    let (same, out, done) = (a.label(), a.label(), a.label());
    a.mov(R6, R1);
    // If a thread other than the first executes a program, it takes the id of the first.
    a.load(Width::Word, R1, R6, 8);
    find_task(c, a, R1, out);
    a.mov(R7, R0);
    a.load(Width::Double, R8, R6, 0);
    a.load(Width::Word, R9, R8, c.offsets.task_pid);
    a.load(Width::Word, R1, R7, task::TID);
    a.jump_if(Cond::Equal, R1, R9, same);
    for at in (0..task::SIZE as i16).step_by(8) {
        a.load(Width::Double, R1, R7, at);
        a.store(Width::Double, R10, STATE + at, R1);
    }
    a.store(Width::Word, R10, STATE + task::TID, R9);
    a.store(Width::Word, R10, STATE + task::OFF_KEY, R9);
    add_task(c, a, R9);
    a.load(Width::Word, R1, R6, 8);
    delete_task(c, a, R1);
    find_task(c, a, R9, out);
    a.mov(R7, R0);
    a.bind(same);
    if c.ends_at_rights {
        end_at_rights(c, a, out);
    }

    scratch(c, a, out);
    emit_record::head(a, record::EXEC);
    a.mov(R9, R0);
    a.load(Width::Double, R1, R7, task::ENTER);
    a.store(Width::Double, R9, record::RESULT, R1);
    a.load(Width::Word, R1, R6, 8);
    a.store(Width::Double, R9, record::ARG0, R1);
    let (path, argv) = (record::HEAD as i32, record::HEAD as i32 + record::PATH_MAX);
    a.store_imm(Width::Byte, R9, path as i16, 0);
    a.store_imm(Width::Byte, R9, argv as i16, 0);
    a.load(Width::Double, R1, R6, 16);
    a.load(Width::Double, R3, R1, c.offsets.binprm_filename);
    a.mov(R1, R9).alu_imm(Alu::Add, R1, path);
    a.mov_imm(R2, record::PATH_MAX)
        .call(Helper::ProbeReadKernelStr);
    a.load(Width::Double, R8, R8, c.offsets.task_mm);
    if c.entries {
        note_entry(c, a);
    }
    // Read all bytes of the arguments if they are on present pages, otherwise only the first argument. Read
    // no more than their length: if the environment is small, the stack ends right after them.
    a.load(Width::Double, R3, R8, c.offsets.mm_arg_start);
    a.load(Width::Double, R2, R8, c.offsets.mm_arg_end);
    a.alu(Alu::Sub, R2, R3);
    a.store(Width::Double, R9, record::ARG2, R2);
    let fits = a.label();
    a.jump_if_imm(Cond::Less, R2, record::ARGV_MAX, fits);
    a.mov_imm(R2, record::ARGV_MAX);
    a.bind(fits);
    a.mov(R8, R3);
    a.mov(R1, R9).alu_imm(Alu::Add, R1, argv);
    a.call(Helper::ProbeReadUser);
    a.store(Width::Double, R9, record::ARG1, R0);
    a.jump_if_imm(Cond::Equal, R0, 0, done);
    a.mov(R1, R9).alu_imm(Alu::Add, R1, argv);
    a.mov_imm(R2, record::ARGV_MAX).mov(R3, R8);
    a.call(Helper::ProbeReadUserStr);
    a.bind(done);
    a.mov(R2, R9);
    a.mov_imm(R3, record::SCRATCH as i32);
    send(c, a);
    a.bind(out);
    a.exit();
}

/// If its user may not trace the program that the thread in `R7` has just executed, stops following the
/// thread and jumps to `out`. Such a program runs as another user or is not dumpable, because it gained
/// privileges or because its file can't be read. `R8` holds the task. Preserves `R6`, `R7` and `R8`.
fn end_at_rights(c: &Context<'_>, a: &mut Asm, out: Label) {
    /// The kernel's `SUID_DUMP_USER`, a value of two bits.
    const BY_ITS_USER: i32 = 1;
    let (gained, own) = (a.label(), a.label());
    let o = c.offsets;
    a.load(Width::Double, R8, R6, 0);
    a.load(Width::Double, R1, R8, o.task_cred);
    for (real, effective) in [(o.cred_uid, o.cred_euid), (o.cred_gid, o.cred_egid)] {
        a.load(Width::Word, R2, R1, real);
        a.load(Width::Word, R3, R1, effective);
        a.jump_if(Cond::NotEqual, R2, R3, gained);
    }
    a.load(Width::Double, R1, R8, o.task_mm);
    a.load(Width::Double, R1, R1, o.mm_flags);
    a.alu_imm(Alu::And, R1, 3);
    a.jump_if_imm(Cond::Equal, R1, BY_ITS_USER, own);
    a.bind(gained);
    let unsaid = a.label();
    scratch(c, a, unsaid);
    emit_record::head(a, record::RIGHTS);
    for at in [record::RESULT, record::ARG0, record::ARG1, record::ARG2] {
        a.store_imm(Width::Double, R0, at, 0);
    }
    a.mov(R2, R0).mov_imm(R3, record::HEAD as i32);
    send(c, a);
    a.bind(unsaid);
    a.load(Width::Word, R1, R8, o.task_pid);
    delete_task(c, a, R1);
    a.jump(out);
    a.bind(own);
}

/// Notes the entry address of the program that the thread in `R7` has just executed, and whether a loader
/// runs first. `R8` is its memory. The vector of a 32-bit program has another layout, in which nothing is
/// found.
fn note_entry(c: &Context<'_>, a: &mut Asm) {
    let unread = a.label();
    a.store_imm(Width::Double, R7, task::ENTRY, 0);
    a.store_imm(Width::Double, R7, task::LOADER, 0);
    a.mov(R1, R10).alu_imm(Alu::Add, R1, i32::from(AUXILIARY));
    a.mov_imm(R2, i32::from(16 * AUXILIARY_PAIRS));
    a.mov(R3, R8)
        .alu_imm(Alu::Add, R3, i32::from(c.offsets.mm_auxiliary));
    a.call(Helper::ProbeReadKernel);
    a.jump_if_imm(Cond::NotEqual, R0, 0, unread);
    for pair in 0..AUXILIARY_PAIRS {
        let (next, loader) = (a.label(), a.label());
        let at = AUXILIARY + 16 * pair;
        a.load(Width::Double, R1, R10, at);
        a.load(Width::Double, R2, R10, at + 8);
        a.jump_if_imm(Cond::Equal, R1, libc::AT_BASE as i32, loader);
        a.jump_if_imm(Cond::NotEqual, R1, libc::AT_ENTRY as i32, next);
        a.store(Width::Double, R7, task::ENTRY, R2);
        a.jump(next);
        a.bind(loader);
        a.store(Width::Double, R7, task::LOADER, R2);
        a.bind(next);
    }
    a.bind(unread);
}

/// `sched_process_exit(task, ...)`: closes the unfinished call, and records the thread's totals.
pub(super) fn exit(c: &Context<'_>, a: &mut Asm) {
    let (out, unseen, no_call, reported) = (a.label(), a.label(), a.label(), a.label());
    a.load(Width::Double, R6, R1, 0);
    a.load(Width::Word, R1, R6, c.offsets.task_pid);
    find_task(c, a, R1, out);
    a.mov(R7, R0);
    sched::mend_arrival(c, a, |a| {
        a.load(Width::Double, R1, R6, c.offsets.task_runtime);
    });
    a.call(Helper::KtimeNs);
    a.mov(R9, R0);
    a.load(Width::Double, R1, R7, task::ON_SINCE);
    a.jump_if_imm(Cond::Equal, R1, 0, unseen);
    a.alu(Alu::Sub, R0, R1);
    add_to_total(a);
    a.bind(unseen);
    a.load(Width::Double, R8, R7, task::ENTER);
    a.jump_if_imm(Cond::Equal, R8, 0, no_call);
    a.alu(Alu::Sub, R9, R8);
    calls::find_row(c, a, no_call);
    calls::add_call_times(a);
    add_one(a, R0, call::UNFINISHED, R1);
    a.bind(no_call);

    scratch(c, a, reported);
    emit_record::head(a, record::EXIT);
    a.mov(R9, R0);
    let o = c.offsets;
    for (width, from, to) in [
        (Width::Word, o.task_exit_code, record::RESULT),
        (Width::Double, o.task_minor_faults, record::ARG0),
        (Width::Double, o.task_major_faults, record::ARG1),
        (Width::Double, o.task_voluntary, record::EXIT_VOLUNTARY),
        (Width::Double, o.task_involuntary, record::EXIT_INVOLUNTARY),
    ] {
        a.load(width, R1, R6, from);
        a.store(Width::Double, R9, to, R1);
    }
    match o.task_queued {
        Some(queued) => {
            a.load(Width::Double, R1, R6, queued);
            a.store(Width::Double, R9, record::ARG2, R1);
        }
        None => {
            a.store_imm(Width::Double, R9, record::ARG2, record::UNKNOWN);
        }
    }
    for (from, to) in [
        (task::ON_TOTAL, record::EXIT_ON_TOTAL),
        (task::STARTED, record::EXIT_STARTED),
        (task::FAULTS, record::EXIT_FAULTS),
        (task::FAULT_TOTAL, record::EXIT_FAULT_TOTAL),
    ] {
        a.load(Width::Double, R1, R7, from);
        a.store(Width::Double, R9, to, R1);
    }
    a.mov(R1, R9)
        .alu_imm(Alu::Add, R1, i32::from(record::EXIT_NAME));
    a.mov_imm(R2, 16);
    a.mov(R3, R6).alu_imm(Alu::Add, R3, i32::from(o.task_comm));
    a.call(Helper::ProbeReadKernel);
    a.mov(R2, R9);
    a.mov_imm(R3, (record::HEAD + record::EXIT_PAYLOAD) as i32);
    send(c, a);
    pace::count_ended(c, a);
    a.bind(reported);
    a.load(Width::Word, R1, R6, o.task_pid);
    delete_task(c, a, R1);
    a.bind(out);
    a.exit();
}

fn add_to_total(a: &mut Asm) {
    super::add_to(a, R7, task::ON_TOTAL, R0, R1);
}

/// Builds the state in the frame for a thread `tid` of process `tgid` that is created now; `R0 = ` now.
fn fresh_state(a: &mut Asm, tid: Reg, tgid: Reg) {
    zero_frame(a, STATE, task::SIZE);
    for key in [task::CALL_KEY, task::OFF_KEY] {
        a.store(Width::Word, R10, STATE + key + task::TID, tid);
        a.store(Width::Word, R10, STATE + key + task::TGID, tgid);
    }
    a.store_imm(Width::Double, R10, STATE + task::OFF_NR, -1);
    a.call(Helper::KtimeNs);
    a.store(Width::Double, R10, STATE + task::STARTED, R0);
    // Each thread's totals start with a different value (Fibonacci hashing). Otherwise, many short threads
    // that do the same would all have their stacks recorded at the same point of their work.
    a.mov(R1, R0).alu_imm(Alu::Multiply, R1, 0x61c8_8647);
    a.alu_imm(Alu::ShiftRight, R1, 20);
    a.alu_imm(Alu::And, R1, 0x3fff_ffff);
    for total in [
        task::CALL_TIME,
        task::WAIT_TIME,
        task::PATH_TIME,
        task::FAULT_TIME,
    ] {
        a.store(Width::Double, R10, STATE + total, R1);
    }
}

/// Adds the state in the frame with the id in `tid`; counts the loss if the table is full.
fn add_task(c: &Context<'_>, a: &mut Asm, tid: Reg) {
    let added = a.label();
    a.store(Width::Word, R10, KEY_SLOT, tid);
    a.load_map(R1, c.maps.tasks.fd());
    a.mov(R2, R10).alu_imm(Alu::Add, R2, i32::from(KEY_SLOT));
    a.mov(R3, R10).alu_imm(Alu::Add, R3, i32::from(STATE));
    a.mov_imm(R4, 0).call(Helper::MapUpdate);
    a.jump_if_imm(Cond::Equal, R0, 0, added);
    count_lost(c, a, lost::THREADS);
    a.bind(added);
}

fn delete_task(c: &Context<'_>, a: &mut Asm, tid: Reg) {
    a.store(Width::Word, R10, KEY_SLOT, tid);
    a.load_map(R1, c.maps.tasks.fd());
    a.mov(R2, R10).alu_imm(Alu::Add, R2, i32::from(KEY_SLOT));
    a.call(Helper::MapDelete);
}
