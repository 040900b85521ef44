//! Stacks of real programs, stopped at a place that is known, against the calls that led there.
#![cfg(target_arch = "x86_64")]

mod naming;
mod stopped;
mod unwinding;
