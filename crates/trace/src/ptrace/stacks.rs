//! Records the code that made the calls at which the command was stopped.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use fathom_stacks::Registers;

use super::requests;
use super::table::{Entered, memory_of};
use crate::calls;
use crate::descriptor::DescriptorKind;
use crate::perf::record::StackCopy;
use crate::profile::spaces::Spaces;
use crate::python::Process;
use crate::records::Who;
use crate::result::Activity;
use crate::stacks::{Random, RawStack, StackCollector, StackPool};

/// For each call of a process, stacks are taken of the first [`FIRST`] calls, then of one in [`ONE_OF`] at
/// irregular intervals: with regular ones, periodic behaviour would look constant. Taking a stack costs a
/// fifth of a stop.
const FIRST: u64 = 16;
const ONE_OF: u64 = 8;
/// Maximum number of frame pointers that are followed beyond the copy.
const MOST_CALLERS: usize = 64;

/// Takes stacks when threads are stopped.
#[derive(Debug)]
pub(super) struct CallStacks {
    collector: StackCollector,
    spaces: Spaces,
    /// Processes that run Python.
    python: HashMap<u32, Process>,
    /// Processes whose mappings were read and can't have changed since.
    read: HashSet<u32>,
    seen: HashMap<(u32, u32), u64>,
    random: Random,
    bytes: usize,
    /// Whether the command has begun to execute its program.
    begun: bool,
}

impl CallStacks {
    /// Creates a collector for this pool.
    pub(super) fn new(pool: &StackPool) -> Self {
        Self {
            collector: StackCollector::new(pool.clone()),
            spaces: Spaces::of(&[]),
            python: HashMap::new(),
            read: HashSet::new(),
            seen: HashMap::new(),
            random: Random::default(),
            bytes: pool.bytes_to_copy() as usize,
            begun: false,
        }
    }

    /// Handles a stopped thread that is about to make this call on the object `on`.
    pub(super) fn entered(
        &mut self,
        who: Who,
        call: &Entered,
        at: u64,
        on: impl FnOnce() -> Option<Arc<DescriptorKind>>,
    ) {
        // Until then, the calls are those of our own child, which looks up the program.
        if !self.begun {
            return;
        }
        let seen = self.seen.entry((who.pid, call.nr)).or_default();
        *seen += 1;
        let stands_for = if *seen <= FIRST { 1 } else { ONE_OF };
        let by_32_bit_entry = call.nr & calls::ENTRY_32 != 0;
        if by_32_bit_entry || self.random.below(stands_for) != 0 {
            return;
        }
        let Ok(registers) = requests::registers(who.tid) else {
            return;
        };
        let Some(top) = registers.stack() else {
            return;
        };
        if self.read.insert(who.pid) {
            self.spaces.attach(who.pid);
            if let Entry::Vacant(place) = self.python.entry(who.pid)
                && let Some(Ok(process)) = Process::find(who.pid, &self.spaces)
            {
                place.insert(process);
            }
        }
        let bytes = requests::memory(who.tid, top, self.bytes);
        // The thread is stopped, so its state doesn't change while it is read.
        let python = self.python.get_mut(&who.pid).map(|process| {
            process.look_again();
            process.read(who.tid)
        });
        let copy = StackCopy {
            callers: callers(who.tid, &registers, (top, &bytes)),
            bytes: bytes.into(),
            registers,
            python: python.unwrap_or_default(),
        };
        let is_path = calls::flags(call.nr) & (calls::PATH0 | calls::PATH1) != 0;
        let path = memory_of(call.nr, &call.args).filter(|_| is_path);
        let path = path.map(|(at, length)| {
            let bytes = requests::memory(who.tid, at, length);
            let end = bytes.iter().position(|byte| *byte == 0);
            String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into()
        });
        let path = match is_path {
            true => path,
            false => on().map(|on| on.text().into()),
        };
        let taken = RawStack {
            pid: who.pid,
            tid: who.tid,
            at,
            activity: Activity::Call,
            call: Some(call.nr),
            fd: (call.fd >= 0).then_some(call.fd),
            path,
            touched: None,
            woken_by: None,
            // The duration isn't known: a stop takes much longer than most calls.
            ns: 0,
            samples: 1,
            calls: stands_for as f64,
            copy,
        };
        self.collector.place(taken, &self.spaces);
    }

    /// Handles the return of a call, which may have changed its process's executable mappings.
    pub(super) fn returned(&mut self, who: Who, call: &Entered) {
        let makes = |name: &str| calls::number(name) == Some(call.nr);
        let protection = call.args[2] & libc::PROT_EXEC as u64 != 0;
        if protection && (makes("mmap") || makes("mprotect") || makes("pkey_mprotect")) {
            self.read.remove(&who.pid);
        }
    }

    /// Handles a process that executes another program, or the first thread of a new process with this id.
    pub(super) fn changed(&mut self, pid: u32) {
        self.begun = true;
        self.read.remove(&pid);
        self.python.remove(&pid);
    }

    /// Unwinds all stacks. Call this when all stops are over.
    pub(super) fn finish(self) {
        self.collector.finish(&self.spaces.files, |_| true);
    }
}

/// Returns the address of the next instruction, followed by the return addresses found by frame pointers,
/// innermost first, as the kernel does for samples. The copy of the stack from `top` on isn't read again.
fn callers(tid: u32, registers: &Registers, (top, copied): (u64, &[u8])) -> Box<[u64]> {
    const WORD: usize = size_of::<u64>();
    let read = |frame: u64| -> Option<[u64; 2]> {
        let at = usize::try_from(frame.checked_sub(top)?).ok();
        let known = at.and_then(|at| copied.get(at..at.checked_add(2 * WORD)?));
        let memory;
        let bytes = match known {
            Some(bytes) => bytes,
            None => {
                memory = requests::memory(tid, frame, 2 * WORD);
                &memory[..]
            }
        };
        let (words, _) = bytes.as_chunks::<WORD>();
        Some([*words.first()?, *words.get(1)?].map(u64::from_ne_bytes))
    };
    let mut callers: Vec<u64> = registers.instruction().into_iter().collect();
    let mut frame = registers.frame().filter(|frame| *frame != 0);
    while let Some(at) = frame
        && callers.len() < MOST_CALLERS
        && let Some([before, caller]) = read(at)
        && caller != 0
    {
        callers.push(caller);
        frame = (before != 0 && before != at).then_some(before);
    }
    callers.into()
}
