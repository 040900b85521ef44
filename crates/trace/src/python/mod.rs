//! The Python functions in which sampled threads were.
//!
//! Python frames are in the process's memory and are gone soon after a sample was taken. They are therefore
//! read at the sample: by a program in the kernel if that is allowed, which sees the thread as it was
//! interrupted ([`kernel_frames`]), or else right after it from outside, where a thread that continued in the
//! meantime is detected and counted. The names of code objects are read while the process lives.

mod kernel_frames;
mod memory;
mod process;
mod reader;

use fathom_stacks::python::PythonFrame;

pub(crate) use kernel_frames::{FrameMaps, KernelFrames, send_frames};
pub(crate) use process::Process;
pub(crate) use reader::Reader;

/// The Python frames of a thread, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum PythonStack {
    /// It has none, or their place was not known yet.
    #[default]
    Unknown,
    /// They changed while they were read.
    Torn,
    Read(Box<[PythonFrame]>),
}

impl PythonStack {
    /// Returns its size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Read(frames) => size_of_val(&**frames),
            _ => 0,
        }
    }
}
