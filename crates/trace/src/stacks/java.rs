//! The names of methods that JVMs interpret, read while the processes run.

use std::collections::HashMap;

use fathom_stacks::{Files, JavaMethods, Mapping, interpreted_in, may_be_interpreted};

use super::collector::RawStack;
use crate::python::memory::Of;

/// The maximum number of words of a process that are looked at; large programs have some ten thousand methods.
const MOST_WORDS: usize = 1 << 17;

/// The methods of each process, by address.
#[derive(Debug, Default)]
pub(super) struct Methods(HashMap<u32, Process>);

#[derive(Debug, Default)]
struct Process {
    /// The number of executable mappings when the JVM was last looked for.
    mappings: usize,
    methods: Option<JavaMethods>,
    /// The name of the method at each address; `None` if there is none.
    names: HashMap<u64, Option<String>>,
}

impl Methods {
    /// Names the methods in a copy of a stack, if the process has a JVM.
    pub(super) fn look(&mut self, stack: &RawStack, mapped: &[Mapping], files: &Files) {
        let memory = Of(stack.pid);
        let process = self.0.entry(stack.pid).or_default();
        if process.methods.is_none() && process.mappings != mapped.len() {
            process.mappings = mapped.len();
            process.methods = JavaMethods::of(files, mapped, &memory);
        }
        let Some(methods) = &process.methods else {
            return;
        };
        let from = stack.copy.registers.stack().unwrap_or(0);
        for method in may_be_interpreted(from, &stack.copy.bytes) {
            if process.names.len() < MOST_WORDS {
                let name = process.names.entry(method);
                name.or_insert_with(|| methods.name(&memory, method));
            }
        }
    }

    /// Returns the method that is interpreted in the frame with this frame pointer, and its name.
    pub(super) fn at(&self, stack: &RawStack, frame: u64) -> Option<(u64, &str)> {
        let process = self.0.get(&stack.pid)?;
        process.methods.as_ref()?;
        let (from, bytes) = (stack.copy.registers.stack()?, &stack.copy.bytes);
        let word = |address: u64| {
            let at = usize::try_from(address.checked_sub(from)?).ok()?;
            let bytes = bytes.get(at..at.checked_add(8)?)?;
            Some(u64::from_ne_bytes(bytes.try_into().ok()?))
        };
        let method = interpreted_in(frame, word)?;
        let name = process.names.get(&method)?.as_deref()?;
        Some((method, name))
    }
}
