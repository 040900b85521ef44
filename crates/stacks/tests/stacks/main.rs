//! Compares stacks of real programs, stopped at known places, with the calls that led there.
#![cfg(target_arch = "x86_64")]

mod naming;
mod stopped;
mod unwinding;
