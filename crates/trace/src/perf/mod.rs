//! The perf tier: the times when each thread of a tree was on a CPU, from the kernel's own records.
//!
//! Any user may have the kernel record the switches, forks, execs and exits of their own processes
//! (`kernel.perf_event_paranoid` up to 2). As in the sampling tier, samples from outside show in which call a
//! thread waited. A switch costs about 1.2 us; calls cost nothing.

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
