//! Which instruction was not in memory yet?
//!
//! The first instruction of a program's own faults, since nothing has touched its page before: the
//! loader maps the code and does not read it. So this tells when the loader was done.

use super::super::asm::{Asm, Cond, Reg, Width};
use super::super::layout::record;
use super::{Context, find_current, scratch, send, tell};

use Reg::{R0, R1, R2, R3, R6, R8, R9};

/// `page_fault_user(address, regs, error_code)`: told if it is the instruction itself that is missing.
pub(super) fn code_fault(c: &Context<'_>, a: &mut Asm) {
    let out = a.label();
    find_current(c, a, out);
    a.load(Width::Double, R8, R6, 0); // address
    a.load(Width::Double, R9, R6, 8); // registers
    a.load(Width::Double, R1, R9, c.offsets.regs_ip);
    a.jump_if(Cond::NotEqual, R1, R8, out);
    scratch(c, a, out);
    tell::head(a, record::CODE_FAULT);
    a.store(Width::Double, R0, record::ARG0, R8);
    for at in [record::RESULT, record::ARG1, record::ARG2] {
        a.store_imm(Width::Double, R0, at, 0);
    }
    a.mov(R2, R0).mov_imm(R3, record::HEAD as i32);
    send(c, a);
    a.bind(out);
    a.exit();
}
