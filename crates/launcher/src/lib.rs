//! The launcher: a static program of a few pages that starts the measured commands for Fathom.
//!
//! It exists because, when a process executes a program, the kernel counts the largest memory that the
//! process had so far as part of the program's own peak, however the process was created. A child of Fathom
//! would be reported with Fathom's memory. The launcher has almost none. It is single-threaded, allocates
//! nothing, and doesn't grow with the number of runs.
//!
//! It also becomes the parent of every orphaned descendant, so that no process escapes, and it ends them all
//! when Fathom dies.
//!
//! This source is compiled twice. As a library it gives Fathom the memory that both share ([`shared`]), the
//! meaning of the accounts in it ([`account`]), and the two programs. With `program="launcher"` or
//! `program="floor"` it is one of these programs, and with `program="joining"` a library that measured
//! commands may be started with: see `build.rs`.
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
mod mounts;
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
pub use mounts::make as make_mounts;
#[cfg(all(supported, not(program = "joining")))]
pub use serve::serve;

/// The launcher, an ELF file.
#[cfg(all(supported, not(program)))]
pub static LAUNCHER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/launcher"));

/// The library that joins small calls, an ELF file.
#[cfg(all(supported, not(program)))]
pub static JOINING: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/joining"));

/// The empty program, an ELF file: the cost of running it is the lower bound of every measurement.
#[cfg(all(supported, not(program)))]
pub static FLOOR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/floor"));
