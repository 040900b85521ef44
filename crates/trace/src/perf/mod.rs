//! The perf tier: when each thread of a tree was on a CPU, by the kernel's own records.
//!
//! Any user may have the switches, forks, execs and exits of own processes recorded
//! (`kernel.perf_event_paranoid` up to 2). Samples from outside show which call a wait was in, as in the
//! sampling tier. About 1.2 us per switch; calls cost nothing.

mod call_count;
pub(crate) mod event;
pub(crate) mod periods;
pub(crate) mod record;
mod recorder;
pub(crate) mod ring;
mod thread_timelines;
mod waits;

pub use call_count::CallCount;
pub(crate) use recorder::{Recorder, WaitSamples};
pub(crate) use waits::{Key, WaitSample};
