//! Which functions of Python's was a thread in?
//!
//! The interpreter keeps a list of frames for each of its threads in memory of its own: a frame names
//! its code object and the instruction, a code object its function, its file and a table of lines.
//! None of it lies on the native stack. Here is where what lies ([`Layout`]), how frames are read
//! ([`Frames`]) and named ([`Code`]), and how they are put among native ones ([`mixed`]). Whoever calls
//! this reads the memory; nothing that is read is trusted.

mod code;
mod frames;
mod image;
mod layout;
mod lines;
mod mix;
#[cfg(test)]
mod tests;

pub use code::{Code, CodeObject};
pub use frames::{FRAME_BYTES, Frames, MOST_FRAMES, PythonFrame, Step};
pub use image::{Interpreter, is_pythons};
pub use layout::{Layout, Unsupported};
pub use mix::mixed;

/// Reads memory of a process: fills all of the buffer from this address on, or says that it can't.
pub trait Memory {
    /// Fills `to` from `address` on; `None` where not all of that can be read.
    fn read(&self, address: u64, to: &mut [u8]) -> Option<()>;

    /// The word at an address.
    fn word(&self, address: u64) -> Option<u64> {
        let mut word = [0; 8];
        self.read(address, &mut word)?;
        Some(u64::from_ne_bytes(word))
    }
}

/// The word at a byte of a copy.
fn word_at(bytes: &[u8], at: u64) -> Option<u64> {
    let at = usize::try_from(at).ok()?;
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}
