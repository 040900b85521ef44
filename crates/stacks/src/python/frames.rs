//! The frames of a thread of Python's, as they were read.

use std::sync::Arc;

use super::{Code, Interpreter, Layout, Memory, word_at};

/// Bytes of a frame that are read: all but its variables.
pub const FRAME_BYTES: usize = 80;

/// Frames of a thread that are read, from the innermost on.
pub const MOST_FRAMES: usize = 128;

/// Of those who own a frame the first one that stands for a call of the evaluator.
const FIRST_OF_EVALUATOR: u8 = 3;

/// What a thread's frames are, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    /// Frames, and where the evaluator was called.
    pub steps: Vec<Step>,
    /// Whether the outermost one is among them.
    pub is_whole: bool,
}

/// A frame as it was read, or the begin of a call of the evaluator: what comes next called that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A function's.
    Frame {
        /// Where its code object lies.
        code: u64,
        /// Where the instruction lies that it is at.
        instruction: u64,
    },
    /// A call of the evaluator began.
    Evaluator,
}

/// A frame with its names, likewise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PythonFrame {
    /// A function's.
    Frame {
        /// The function.
        code: Arc<Code>,
        /// The line that it is at; 0 where that isn't known.
        line: u32,
    },
    /// A call of the evaluator began.
    Evaluator,
}

impl Frames {
    /// Of copies of frames, innermost first, of [`FRAME_BYTES`] each.
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
                // From 3.14 on the last bits say whether it is counted.
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
    /// The frames of the thread whose state lies there, while it may run: `None` where they changed
    /// as they were read.
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
        // Whoever returned and called meanwhile may be at the same place: then the code differs.
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
