//! The launcher: a static program of a few pages that starts the measured commands for Fathom.
//!
//! Why there is one at all: when a process executes a program, the kernel carries the largest
//! memory that the process had so far over into the program's own peak, however the process was
//! made. A child of Fathom would be reported with Fathom's memory. The launcher has next to none.
//! It is single-threaded, allocates nothing, and stays as it is however many runs there are.
//!
//! It also makes every descendant that loses its parent its own child, so that nothing escapes, and
//! it ends them all when Fathom dies.
//!
//! This source is compiled twice. As a library it gives Fathom the memory that both share
//! ([`shared`]), what the accounts in it mean ([`account`]), and the two programs. With
//! `program="launcher"` or `program="floor"` it is one of these programs, and with
//! `program="joining"` a library that measured commands may be started with: see `build.rs`.
#![cfg_attr(not(test), no_std)]
#![cfg_attr(program, no_main)]

pub mod account;
pub mod shared;

#[cfg(all(supported, not(program = "joining")))]
mod child;
#[cfg(all(supported, not(program = "joining")))]
mod death;
#[cfg(all(supported, not(program = "joining")))]
mod files;
#[cfg(all(supported, not(program = "joining")))]
mod jobs;
#[cfg(all(supported, not(program = "joining")))]
mod pipeline;
#[cfg(all(supported, not(program = "joining")))]
mod record;
#[cfg(all(supported, not(program = "joining")))]
mod serve;
#[cfg(supported)]
mod system;
#[cfg(all(supported, not(program = "joining")))]
mod tree;

#[cfg(program = "joining")]
mod joining;

#[cfg(program = "launcher")]
mod entry;
#[cfg(program = "floor")]
mod floor;
#[cfg(any(test, program = "launcher"))]
mod memory_functions;

#[cfg(all(supported, not(program = "joining")))]
pub use serve::serve;

/// The launcher, an ELF file.
#[cfg(all(supported, not(program)))]
pub static LAUNCHER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/launcher"));

/// The library that joins small calls, an ELF file.
#[cfg(all(supported, not(program)))]
pub static JOINING: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/joining"));

/// The empty program, an ELF file: what running it costs is the floor under every measurement.
#[cfg(all(supported, not(program)))]
pub static FLOOR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/floor"));
