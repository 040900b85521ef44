//! The perf tier: when each thread of a tree was on a CPU, told by the kernel's own records.
//!
//! Any user may have the switches, forks, execs and ends of own processes recorded
//! (`kernel.perf_event_paranoid` up to 2); which call a wait was in, looks from outside tell, as in the
//! sampling tier. About 1.2 us a switch; calls cost nothing.

pub(crate) mod event;
mod lives;
pub(crate) mod record;
mod recorder;
pub(crate) mod ring;
mod waits;

pub(crate) use recorder::{Looked, Recorder};
pub(crate) use waits::{Key, LookAt};
