//! How long did the page faults of a program's own code take, and when did it reach its first own
//! instruction?
//!
//! The kernel has a tracepoint where a fault of user code begins and none where it ends. But it
//! counts each fault that was served for perf's software events, as the last thing that it does for
//! it: a program on those sees the end. Faults within calls (the kernel copies to a page that isn't
//! there) are left to the call that they happened in.
//!
//! A program's first own instruction faults too, since nothing has touched its page before: the
//! loader maps the code and does not read it. So this shows when the loader was done.

use super::super::asm::{Alu, Asm, Cond, Helper, Label, Reg, Width};
use super::super::layout::{record, task};
use super::{Context, add_one, add_to, emit_record, find_current, scratch, send, stacks};

use Reg::{R0, R1, R2, R3, R6, R7, R8, R9};

/// `page_fault_user(address, regs, error_code)`: when a fault came.
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
        // Nobody is in a call: what is off the CPU from here on is the fault's.
        a.store_imm(Width::Double, R7, task::CALL_BLOCKED, 0);
        a.store_imm(Width::Double, R7, task::CALL_READY, 0);
        a.call(Helper::KtimeNs);
        a.store(Width::Double, R7, task::FAULT_SINCE, R0);
    }
    a.bind(out);
    a.exit();
}

/// Run for perf's events of served faults: adds what it took of the CPU to its thread's.
pub(super) fn end(c: &Context<'_>, a: &mut Asm) {
    let out = a.label();
    find_current(c, a, out);
    a.load(Width::Double, R8, R7, task::FAULT_SINCE);
    a.jump_if_imm(Cond::Equal, R8, 0, out);
    // One of the kernel's, within a call. The one before ended in a signal then.
    a.load(Width::Double, R1, R7, task::ENTER);
    a.jump_if_imm(Cond::NotEqual, R1, 0, out);
    a.call(Helper::KtimeNs);
    a.store_imm(Width::Double, R7, task::FAULT_SINCE, 0);
    a.mov(R9, R0).alu(Alu::Sub, R9, R8);
    stacks::note_off_cpu(a);
    a.load(Width::Double, R1, R7, task::CALL_BLOCKED);
    a.load(Width::Double, R2, R7, task::CALL_READY);
    a.alu(Alu::Add, R1, R2);
    // An arrival on the CPU that was mended may be recorded later than it was.
    a.jump_if(Cond::Greater, R1, R9, out);
    a.alu(Alu::Sub, R9, R1);
    add_to(a, R7, task::FAULT_TOTAL, R9, R1);
    add_one(a, R7, task::FAULTS, R1);
    stacks::after_fault(c, a);
    a.bind(out);
    a.exit();
}

/// Records the fault if the first own instruction of a program is what is missing; goes on at
/// `other` if not.
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
