//! The in-kernel tier: programs that count and time every call of the tree where it happens.
//!
//! Assembled here in Rust for the running kernel (`asm`, `btf`, `offsets`, `programs`), loaded with
//! `bpf(2)` (`bpf`, `session`), read through tables and a ring (`layout`, `ring`, `records`) and
//! put together into a `Trace` (`collect`, `observe`).

pub mod asm;
pub mod bpf;
pub mod btf;
mod collect;
pub mod layout;
mod observe;
pub mod offsets;
pub mod programs;
pub mod records;
pub mod ring;
pub mod session;

pub(crate) use observe::observe;
