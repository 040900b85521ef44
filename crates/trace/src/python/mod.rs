//! The Python functions in which threads were sampled.
//!
//! Python frames are in the process's memory and are gone soon after a sample was taken. They are therefore
//! read when the sample is taken. If allowed, a program in the kernel reads them, which sees the thread as it
//! was interrupted ([`kernel_frames`]). Otherwise they are read from outside right after the sample; a thread
//! that has continued in the meantime is detected and counted. The names of code objects are read while the
//! process lives.

mod kernel_frames;
pub(crate) mod memory;
mod process;
mod reader;

use fathom_stacks::python::PythonFrame;

pub(crate) use kernel_frames::{FrameMaps, KernelFrames, send_frames};
pub(crate) use process::Process;
pub(crate) use reader::Reader;

/// The Python frames of a thread, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum PythonStack {
    /// The thread has no Python frames, or their address was not known yet.
    #[default]
    Unknown,
    /// The frames changed while they were read.
    Torn,
    Read(Box<[PythonFrame]>),
}

impl PythonStack {
    /// Returns the size of the frames in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Read(frames) => size_of_val(&**frames),
            _ => 0,
        }
    }
}
