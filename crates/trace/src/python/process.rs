//! State of a process that runs Python.

use std::collections::HashMap;

use fathom_stacks::python::{
    CodeObject, Frames, Interpreter, Memory, PythonFrame, Step, Unsupported,
};

use super::PythonStack;
use super::memory::Of;
use crate::profile::spaces::Spaces;
use crate::sample::parse::status_line;

/// Maximum number of stored code objects; large programs have about ten thousand.
const MOST_CODES: usize = 1 << 16;

/// A process with an interpreter.
#[derive(Debug)]
pub(crate) struct Process {
    pid: u32,
    pub(super) interpreter: Interpreter,
    /// The address of each thread's state, by the kernel's thread id.
    pub(super) threads: HashMap<u32, u64>,
    /// Code objects by address, each with the reading of samples in which it was last checked: after that,
    /// another object may be at its address.
    codes: HashMap<u64, (CodeObject, u64)>,
    reading: u64,
}

impl Process {
    /// Finds the interpreter in a process with these mappings; `None` if it has none.
    pub(crate) fn find(pid: u32, spaces: &Spaces) -> Option<Result<Self, Unsupported>> {
        let mapped = spaces.mapped(pid)?;
        let interpreter = Interpreter::of(&spaces.files, mapped, &Of(pid))?;
        Some(interpreter.map(|interpreter| Self {
            pid,
            interpreter,
            threads: HashMap::new(),
            codes: HashMap::new(),
            reading: 0,
        }))
    }

    /// Returns the state for a child of this process.
    pub(super) fn of_child(&self, pid: u32) -> Self {
        Self {
            pid,
            interpreter: self.interpreter.clone(),
            threads: HashMap::new(),
            codes: HashMap::new(),
            reading: 0,
        }
    }

    /// Searches for threads and returns the new ones.
    pub(super) fn find_threads(&mut self) -> Vec<(u32, u64)> {
        let found = self.interpreter.threads(&Of(self.pid));
        let inner = inner_number(self.pid);
        let mut new = Vec::new();
        for (number, state) in found {
            let Ok(number) = u32::try_from(number) else {
                continue;
            };
            // The thread has another id in its own process namespace.
            let tid = match inner {
                Some(inner) if number == inner => self.pid,
                Some(_) => continue,
                None => number,
            };
            if self.threads.insert(tid, state) != Some(state) {
                new.push((tid, state));
            }
        }
        new
    }

    /// Notes that code objects may change from now on.
    pub(crate) fn look_again(&mut self) {
        self.reading += 1;
    }

    /// Returns the current frames of a thread of the process.
    pub(crate) fn read(&mut self, tid: u32) -> PythonStack {
        const TRIES: u32 = 4;
        if !self.threads.contains_key(&tid) {
            self.find_threads();
        }
        let Some(state) = self.threads.get(&tid).copied() else {
            return PythonStack::Unknown;
        };
        for _ in 0..TRIES {
            if let Some(frames) = self.interpreter.frames(&Of(self.pid), state) {
                return self.named(&frames);
            }
        }
        PythonStack::Torn
    }

    /// Returns frames that were read, with their names.
    pub(super) fn named(&mut self, frames: &Frames) -> PythonStack {
        let name = |step: &Step| match step {
            Step::Evaluator => Some(PythonFrame::Evaluator),
            Step::Frame { code, instruction } => {
                // A code object that was compiled for a single execution may be gone, but its callers are
                // not.
                let code = self.code(*code)?;
                Some(PythonFrame::Frame {
                    line: code.line(*instruction)?,
                    code: code.code.clone(),
                })
            }
        };
        let named: Box<[PythonFrame]> = frames.steps.iter().filter_map(name).collect();
        let is_known = |frame: &PythonFrame| matches!(frame, PythonFrame::Frame { .. });
        match (frames.steps.is_empty(), named.iter().any(is_known)) {
            (true, _) => PythonStack::Unknown,
            (_, false) => PythonStack::Torn,
            _ => PythonStack::Read(named),
        }
    }

    fn code(&mut self, at: u64) -> Option<&CodeObject> {
        let known = self.codes.get(&at);
        if known.is_none_or(|(_, since)| *since != self.reading) {
            let known = known.map(|(code, _)| code);
            let memory = Of(self.pid);
            let code = self.interpreter.code(&memory, at, known);
            // If the process has ended, use the last known object.
            let code = code.or_else(|| known.filter(|_| memory.word(at).is_none()).cloned());
            if self.codes.len() >= MOST_CODES {
                self.codes.clear();
            }
            match code {
                Some(code) => self.codes.insert(at, (code, self.reading)),
                None => self.codes.remove(&at),
            };
        }
        self.codes.get(&at).map(|(code, _)| code)
    }
}

/// Returns the id of a process in its own process namespace; `None` if that is the same as ours.
fn inner_number(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let numbers = status_line(&status, "NSpid:")?;
    let inner = numbers.split_whitespace().skip(1).last()?;
    inner.parse().ok()
}
