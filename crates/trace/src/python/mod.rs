//! Which functions of Python's were sampled threads in?
//!
//! Python's frames lie in memory of its own and are gone soon after a sample was taken. So they are
//! read at the sample: by a program in the kernel where that is allowed, which sees the thread as it
//! was interrupted ([`kernel_frames`]), else right after it from outside, where a thread that went on
//! meanwhile is found out and counted. What code objects are called is read while the process lives.

mod kernel_frames;
mod memory;
mod process;
mod reader;

use fathom_stacks::python::PythonFrame;

pub(crate) use kernel_frames::{FrameMaps, KernelFrames, send_frames};
pub(crate) use process::Process;
pub(crate) use reader::Reader;

/// What was seen of a thread's frames of Python's, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum PythonStack {
    /// It has none, or nobody knew yet where they are.
    #[default]
    Unknown,
    /// They changed while they were read.
    Torn,
    Read(Box<[PythonFrame]>),
}

impl PythonStack {
    /// Bytes that it needs.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Read(frames) => size_of_val(&**frames),
            _ => 0,
        }
    }
}
