//! A stack as far as it says something: the program's own functions, and what they call of
//! libraries.

use fathom_stacks::Frame;

use super::whose::{Whose, is_made, whose};
use crate::runtimes::is_engines;

/// One function on the way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    pub frame: &'a Frame,
    pub is_own: bool,
    /// What it does that others do too, itself or in what it calls: of a library's function by which
    /// own code entered it, where that was asked for.
    pub group: Option<&'static str>,
}

/// What makes two frames the same function.
pub(super) type Key<'a> = (&'a str, Option<&'a str>, Option<u64>);

impl<'a> Step<'a> {
    pub(super) fn new(frame: &'a Frame, is_own: bool) -> Self {
        Self {
            frame,
            is_own,
            group: None,
        }
    }

    /// Own code without a symbol is known by where its function begins. Of a library without symbols
    /// each sample may have another address: then it is all that lies behind the same exported
    /// function.
    pub(super) fn key(&self) -> Key<'a> {
        let name = self.frame.function.as_deref();
        let begin = self.frame.offset.filter(|_| self.is_own && name.is_none());
        (
            &self.frame.binary,
            name.or(self.frame.after.as_deref()),
            begin,
        )
    }
}

/// Whether a function of the program's that a runtime made is among these.
fn is_scripted(frames: &[&Frame]) -> bool {
    let is_function = |frame: &&Frame| is_made(frame) && named_by_maker(frame);
    frames.iter().any(is_function)
}

/// Whether it has the name that the runtime wrote for it, and isn't the runtime's own.
fn named_by_maker(frame: &Frame) -> bool {
    frame.function.is_some() && !frame.interpreter
}

/// Whether it is code of the engine that carries a program out.
fn is_of_engine(frame: &Frame) -> bool {
    match is_made(frame) {
        true => frame.interpreter,
        false => is_engines(&frame.binary, frame.function.as_deref()),
    }
}

/// The way to a frame, outermost first: own functions, each once (a recursion is where it began),
/// and of the functions of libraries the one by which own code entered them. Without any own code
/// the outermost function that says something.
pub(super) fn route<'a>(innermost_first: impl Iterator<Item = &'a Frame>) -> Vec<Step<'a>> {
    let mut frames: Vec<&Frame> = innermost_first.collect();
    frames.reverse();
    // What it takes to carry a function out is that function's time.
    if is_scripted(&frames) {
        frames.retain(|frame| !is_of_engine(frame));
    }
    let mut steps: Vec<Step<'a>> = Vec::new();
    let mut before_own = None;
    for frame in frames {
        let step = match whose(frame) {
            Whose::Start => continue,
            Whose::Library => Step::new(frame, false),
            Whose::Own => Step::new(frame, true),
        };
        match steps.last() {
            None if !step.is_own => {
                before_own.get_or_insert(step);
                continue;
            }
            Some(last) if !step.is_own && !last.is_own => continue,
            _ => {}
        }
        if let Some(again) = steps.iter().position(|known| known.key() == step.key()) {
            steps.truncate(again);
        }
        steps.push(step);
    }
    match steps.is_empty() {
        true => before_own.into_iter().collect(),
        false => steps,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(outermost_first: &[(&str, &str)]) -> Vec<String> {
        let frames: Vec<Frame> = outermost_first
            .iter()
            .map(|(binary, name)| Frame {
                binary: (*binary).to_owned(),
                function: Some((*name).to_owned()),
                ..Frame::default()
            })
            .collect();
        let steps = route(frames.iter().rev());
        let name = |step: &Step<'_>| step.frame.function.clone().unwrap_or_default();
        steps.iter().map(name).collect()
    }

    const C: &str = "/usr/lib/libc.so.6";

    #[test]
    fn of_a_library_only_its_entry_stays() {
        let way = [
            (C, "__libc_start_main"),
            ("/bin/a", "main"),
            ("/bin/a", "load"),
            (C, "qsort"),
            (C, "msort_with_tmp"),
            ("/bin/a", "compare"),
            (C, "strcoll"),
            (C, "get_next_seq"),
        ];
        let wanted = ["main", "load", "qsort", "compare", "strcoll"];
        assert_eq!(names(&way), wanted);
        assert_eq!(
            names(&[(C, "start_thread"), (C, "idle"), (C, "futex")]),
            ["idle"]
        );
        assert!(names(&[]).is_empty());
    }

    #[test]
    fn the_engine_of_a_script_is_the_time_of_its_functions() {
        let node = "/usr/bin/node";
        let way = [
            (node, "node::Start"),
            (node, "Builtins_JSEntry"),
            ("//anon", "main"),
            (node, "Builtins_InterpreterEntryTrampoline"),
            ("//anon", "reduce"),
            (node, "Builtins_LoadIC"),
        ];
        assert_eq!(names(&way), ["main", "reduce"]);
        let sorts = [("//anon", "main"), (node, "Builtins_ArrayPrototypeSort")];
        assert_eq!(names(&sorts), ["main", "Builtins_ArrayPrototypeSort"]);
        // Where nothing has a name the engine's functions are all that is known.
        let unnamed = [(node, "node::Start"), (node, "Builtins_LoadIC")];
        assert_eq!(names(&unnamed), ["node::Start", "Builtins_LoadIC"]);
    }

    #[test]
    fn a_recursion_is_where_it_began() {
        let a = |name| ("/bin/a", name);
        let way = [
            a("main"),
            a("expr"),
            a("term"),
            a("expr"),
            a("term"),
            (C, "malloc"),
        ];
        assert_eq!(names(&way), ["main", "expr", "term", "malloc"]);
        assert_eq!(names(&[a("fib"), a("fib"), a("fib")]), ["fib"]);
    }
}
