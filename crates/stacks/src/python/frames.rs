//! The frames of a Python thread as read from memory.

use std::sync::Arc;

use super::{Code, Interpreter, Layout, Memory, word_at};

/// Bytes read of each frame: everything except its variables.
pub const FRAME_BYTES: usize = 80;

/// The maximum number of frames that are read of a thread, starting with the innermost.
pub const MOST_FRAMES: usize = 128;

/// The smallest of the frame owners that represent a call of the evaluator.
const FIRST_OF_EVALUATOR: u8 = 3;

/// The frames of a thread, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    /// Frames, and calls of the evaluator.
    pub steps: Vec<Step>,
    /// Whether the outermost frame was read.
    pub is_whole: bool,
}

/// A frame as read, or the beginning of an evaluator call: the next frame called the evaluator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The frame of a function.
    Frame {
        /// Address of its code object.
        code: u64,
        /// Address of its current instruction.
        instruction: u64,
    },
    /// A call of the evaluator began.
    Evaluator,
}

/// Like [`Step`], with names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PythonFrame {
    /// The frame of a function.
    Frame {
        /// The function.
        code: Arc<Code>,
        /// The current line; 0 if unknown.
        line: u32,
    },
    /// A call of the evaluator began.
    Evaluator,
}

impl Frames {
    /// Reads copies of frames, innermost first, of [`FRAME_BYTES`] each.
    pub fn of(layout: &Layout, copies: &[u8], is_whole: bool) -> Self {
        let mut steps = Vec::new();
        for copy in copies.chunks_exact(FRAME_BYTES) {
            let word = |at: u64| word_at(copy, at).unwrap_or(0);
            let byte = |at: u64| copy.get(at as usize).copied().unwrap_or(0);
            if layout.is_entry.is_none() && byte(layout.owner) >= FIRST_OF_EVALUATOR {
                steps.push(Step::Evaluator);
                continue;
            }
            steps.push(Step::Frame {
                // From 3.14 on, the lowest bits tell whether the reference is counted.
                code: word(layout.code) & !7,
                instruction: word(layout.instruction),
            });
            if layout.is_entry.is_some_and(|at| byte(at) != 0) {
                steps.push(Step::Evaluator);
            }
        }
        Self { steps, is_whole }
    }
}

impl Interpreter {
    /// Reads the frames of the thread whose state is at `thread`. The thread may be running: returns `None`
    /// if its frames changed while they were read.
    pub fn frames(&self, memory: &impl Memory, thread: u64) -> Option<Frames> {
        let innermost = || {
            let frame = memory.word(thread.wrapping_add(self.layout.frame))?;
            match self.layout.through {
                Some(at) if frame != 0 => memory.word(frame.wrapping_add(at)),
                _ => Some(frame),
            }
        };
        let first = innermost()?;
        let mut copies: Vec<u8> = Vec::new();
        let (mut frame, mut count) = (first, 0);
        while frame != 0 && count < MOST_FRAMES {
            let mut copy = [0; FRAME_BYTES];
            memory.read(frame, &mut copy)?;
            frame = word_at(&copy, self.layout.previous)?;
            copies.extend(copy);
            count += 1;
        }
        let frames = Frames::of(&self.layout, &copies, frame == 0);
        // Meanwhile the thread may have returned and called another function whose frame is at the same
        // address. In that case the code differs.
        let mut again = [0; FRAME_BYTES];
        let same = match innermost()? {
            0 => first == 0,
            now => {
                let code = self.layout.code;
                memory.read(now, &mut again)?;
                now == first && word_at(&again, code) == word_at(&copies, code)
            }
        };
        same.then_some(frames)
    }
}
