//! The perf tier: when each thread of a tree was on a CPU, told by the kernel's own records.
//!
//! Any user may have the switches, forks, execs and ends of own processes recorded
//! (`kernel.perf_event_paranoid` up to 2); which call a wait was in, looks from outside tell, as in the
//! sampling tier. About 1.2 us a switch; calls cost nothing.

pub(crate) mod event;
mod lives;
mod record;
mod recorder;
mod ring;
mod waits;

pub(crate) use recorder::{Looked, Recorder};
pub(crate) use waits::{Key, LookAt};

use crate::command::TraceOptions;
use crate::detect;
use crate::error::TraceError;
use crate::spawn;

/// Attaches to a child that never runs anything.
pub(crate) fn attempt() -> Result<(), TraceError> {
    let mut child = spawn::hold(&detect::nothing(), None)?;
    child.wait_ready()?;
    Recorder::attach(&[child.pid], &TraceOptions::default()).map(drop)
}
