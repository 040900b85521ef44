//! Measures the page faults of a program's own code, and when it reaches its own first instruction.
//!
//! The kernel has a tracepoint where a fault of user code begins, but none where it ends. However, as its
//! last step, it counts each served fault for perf's software events: a program attached to these events sees
//! the end. Faults within calls (where the kernel copies to a page that isn't present) are attributed to the
//! call.
//!
//! A program's own first instruction also faults, because nothing has touched its page before: the loader
//! maps the code but doesn't read it. This fault shows when the loader was done.

use super::super::asm::{Alu, Asm, Cond, Helper, Label, Reg, Width};
use super::super::layout::{record, task};
use super::{Context, add_one, add_to, emit_record, find_current, scratch, send, stacks};

use Reg::{R0, R1, R2, R3, R6, R7, R8, R9};

/// `page_fault_user(address, regs, error_code)`: records when a fault occurred.
pub(super) fn begin(c: &Context<'_>, a: &mut Asm) {
    let out = a.label();
    find_current(c, a, out);
    if c.entries {
        let other = a.label();
        emit_entry(c, a, other);
        a.bind(other);
    }
    if c.fault_times {
        if c.stacks.is_some() {
            a.load(Width::Double, R1, R6, 0); // address
            a.store(Width::Double, R7, task::FAULT_ADDRESS, R1);
        }
        // The thread isn't in a call: time off the CPU from here on belongs to the fault.
        a.store_imm(Width::Double, R7, task::CALL_BLOCKED, 0);
        a.store_imm(Width::Double, R7, task::CALL_READY, 0);
        a.call(Helper::KtimeNs);
        a.store(Width::Double, R7, task::FAULT_SINCE, R0);
    }
    a.bind(out);
    a.exit();
}

/// Runs for perf's events of served faults: adds the fault's CPU time to the thread's total.
pub(super) fn end(c: &Context<'_>, a: &mut Asm) {
    let out = a.label();
    find_current(c, a, out);
    a.load(Width::Double, R8, R7, task::FAULT_SINCE);
    a.jump_if_imm(Cond::Equal, R8, 0, out);
    // This is a fault of the kernel within a call, so the recorded fault ended in a signal.
    a.load(Width::Double, R1, R7, task::ENTER);
    a.jump_if_imm(Cond::NotEqual, R1, 0, out);
    a.call(Helper::KtimeNs);
    a.store_imm(Width::Double, R7, task::FAULT_SINCE, 0);
    a.mov(R9, R0).alu(Alu::Sub, R9, R8);
    stacks::note_off_cpu(a);
    a.load(Width::Double, R1, R7, task::CALL_BLOCKED);
    a.load(Width::Double, R2, R7, task::CALL_READY);
    a.alu(Alu::Add, R1, R2);
    // A repaired arrival on the CPU may be recorded later than it happened.
    a.jump_if(Cond::Greater, R1, R9, out);
    a.alu(Alu::Sub, R9, R1);
    add_to(a, R7, task::FAULT_TOTAL, R9, R1);
    add_one(a, R7, task::FAULTS, R1);
    stacks::after_fault(c, a);
    a.bind(out);
    a.exit();
}

/// Records the fault if it occurred at a program's own first instruction; otherwise continues at `other`.
fn emit_entry(c: &Context<'_>, a: &mut Asm, other: Label) {
    a.load(Width::Double, R8, R7, task::ENTRY);
    a.jump_if_imm(Cond::Equal, R8, 0, other);
    a.load(Width::Double, R9, R6, 8); // registers
    a.load(Width::Double, R1, R9, c.offsets.regs_ip);
    a.jump_if(Cond::NotEqual, R1, R8, other);
    a.store_imm(Width::Double, R7, task::ENTRY, 0);
    scratch(c, a, other);
    emit_record::head(a, record::ENTERED);
    a.load(Width::Double, R1, R7, task::LOADER);
    a.store(Width::Double, R0, record::ARG0, R1);
    for at in [record::RESULT, record::ARG1, record::ARG2] {
        a.store_imm(Width::Double, R0, at, 0);
    }
    a.mov(R2, R0).mov_imm(R3, record::HEAD as i32);
    send(c, a);
}
