//! The in-kernel tier: programs that count and time every call of the tree inside the kernel.
//!
//! The programs are assembled here in Rust for the running kernel (`asm`, `btf`, `offsets`, `programs`) and
//! loaded with `bpf(2)` (`bpf`, `session`). Their results are read from tables and a ring (`layout`, `ring`)
//! and combined into a `Trace` (`drain_ended`, `observe`).

pub(crate) mod asm;
mod attach;
pub(crate) mod bpf;
pub(crate) mod btf;
mod drain_ended;
mod entry_exit_overhead;
pub(crate) mod layout;
mod observe;
pub(crate) mod offsets;
mod perf;
pub(crate) mod programs;
pub(crate) mod ring;
pub(crate) mod session;
pub(crate) mod stack_record;
mod tick_skid;
mod urgent;

pub(crate) use attach::attach;
pub(crate) use observe::{observe, observe_group};
