//! The in-kernel tier: programs that count and time every call of the tree where it happens.
//!
//! Assembled here in Rust for the running kernel (`asm`, `btf`, `offsets`, `programs`), loaded with
//! `bpf(2)` (`bpf`, `session`), read through tables and a ring (`layout`, `ring`) and
//! put together into a `Trace` (`drain_ended`, `observe`).

pub mod asm;
pub mod bpf;
pub mod btf;
mod drain_ended;
mod entry_exit_overhead;
pub mod layout;
mod observe;
pub mod offsets;
mod perf;
pub mod programs;
pub mod ring;
pub mod session;
mod tick_skid;
mod urgent;

pub(crate) use observe::{observe, observe_group};
