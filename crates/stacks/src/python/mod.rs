//! Reads the Python functions that a thread was in.
//!
//! The interpreter keeps a list of frames for each of its threads in its own memory. A frame refers to its
//! code object and the current instruction; a code object refers to its function, its file and a line table.
//! None of this is on the native stack. This module describes the layout ([`Layout`]), reads frames
//! ([`Frames`]), names them ([`Code`]), and merges them into native ones ([`mixed`]). The caller reads the
//! memory. Nothing that is read is trusted.

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

/// Reads the memory of a process.
pub trait Memory {
    /// Fills `to` from `address` on; `None` if not all of it can be read.
    fn read(&self, address: u64, to: &mut [u8]) -> Option<()>;

    /// Reads the word at an address.
    fn word(&self, address: u64) -> Option<u64> {
        let mut word = [0; 8];
        self.read(address, &mut word)?;
        Some(u64::from_ne_bytes(word))
    }
}

/// Returns the word at an offset in a copy.
fn word_at(bytes: &[u8], at: u64) -> Option<u64> {
    let at = usize::try_from(at).ok()?;
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}
