//! The informative part of a stack: the program's own functions, and the library functions that they call.

use fathom_stacks::Frame;
use fathom_trace::{StackRow, Stacks, Trace};

use super::whose::{Whose, is_made, whose};
use crate::runtimes::{Works, is_engines, is_of_exceptions};

/// One function on a route.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    pub frame: &'a Frame,
    pub is_own: bool,
    /// The group of the function's purpose, or that of a function it calls. It is only set on request, for a
    /// library function through which own code entered the library.
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

    /// Returns the key. Own code without a symbol is identified by the start of its function. In a library
    /// without symbols, each sample may have another address, so everything after the same exported function
    /// counts as one function.
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

/// Properties of a frame, independent of the route to it.
#[derive(Debug, Clone, Copy)]
struct Known {
    whose: Whose,
    /// Whether the frame is a function of the program for which a runtime generated the code.
    is_scripted: bool,
    /// Whether the frame is code of the engine that executes a program, and isn't an operation with a name of
    /// its own.
    is_of_engine: bool,
    /// Whether the frame belongs to a runtime, being either engine code or generated code without a name.
    is_of_runtime: bool,
}

impl Known {
    fn of(frame: &Frame) -> Self {
        let is_made = is_made(frame);
        Self {
            whose: whose(frame),
            // Such a function is recognised by the name that the runtime wrote for it, unless the code is the
            // runtime's own.
            is_scripted: is_made && frame.function.is_some() && !frame.interpreter,
            is_of_engine: match is_made {
                true => frame.interpreter,
                false => {
                    is_engines(&frame.binary, frame.function.as_deref()) && !is_of_exceptions(frame)
                }
            },
            is_of_runtime: match is_made {
                true => frame.function.is_none(),
                false => is_engines(&frame.binary, None),
            },
        }
    }
}

/// The routes to all stacks of a trace, each computed once.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    /// For each row, the indices of its frames, each with a flag whether the step is own code.
    of_rows: Vec<Vec<(u32, bool)>>,
}

impl Routes {
    pub(crate) fn new(trace: &Trace, works: &Works) -> Self {
        let Some(stacks) = &trace.stacks else {
            return Self::default();
        };
        let tree = &stacks.tree;
        let known: Vec<Known> = tree.frames.iter().map(Known::of).collect();
        let of_row = |(at, row): (usize, &StackRow)| {
            let numbers = row.node.into_iter();
            let numbers = numbers.flat_map(|node| tree.frame_numbers_of(node));
            let frames = numbers.skip(works.of_runtime(at)).filter_map(|number| {
                let at = number as usize;
                Some((number, tree.frames.get(at)?, *known.get(at)?))
            });
            let steps = followed(frames).into_iter();
            steps.map(|(number, step)| (number, step.is_own)).collect()
        };
        Self {
            of_rows: stacks.rows.iter().enumerate().map(of_row).collect(),
        }
    }

    /// Returns the number of the frame of the program's own function that is nearest to a row.
    pub(crate) fn own_caller(&self, row: usize) -> Option<u32> {
        let mut innermost_first = self.of_rows.get(row)?.iter().rev();
        let (number, _) = innermost_first.find(|(_, is_own)| *is_own)?;
        Some(*number)
    }

    /// Returns the frame of the own function that handed the one nearest to a row to a library function, and the
    /// frame of the latter; `None` if own code calls the function itself.
    pub(crate) fn handed_over(&self, row: usize) -> Option<(u32, u32)> {
        let steps = self.of_rows.get(row)?;
        let own = steps.iter().rposition(|(_, is_own)| *is_own)?;
        match steps[..own] {
            [.., (caller, true), (through, false)] => Some((caller, through)),
            _ => None,
        }
    }

    /// Returns the number of the frame of the library function through which own code entered a library, or of
    /// the outermost informative function if there is no own code; `None` if the row is in own code itself.
    pub(crate) fn entry(&self, row: usize) -> Option<u32> {
        let (number, is_own) = self.of_rows.get(row)?.last()?;
        (!is_own).then_some(*number)
    }

    /// Returns the route to a row of these stacks, outermost first.
    pub(super) fn of<'a>(
        &self,
        stacks: &'a Stacks,
        row: usize,
    ) -> impl DoubleEndedIterator<Item = Step<'a>> {
        let frames = &stacks.tree.frames;
        let step = |(number, is_own): &(u32, bool)| Step::new(&frames[*number as usize], *is_own);
        self.of_rows[row].iter().map(step)
    }
}

/// Returns the route to a frame without its stack.
pub(super) fn alone(frame: &Frame) -> Vec<Step<'_>> {
    let steps = followed(std::iter::once((0, frame, Known::of(frame)))).into_iter();
    steps.map(|(_, step)| step).collect()
}

/// Returns the route to a frame, outermost function first. It consists of own functions, each only once (a
/// recursion counts at its start), and of the library function through which own code entered the library. If
/// there is no own code, it is the outermost informative function.
fn followed<'a>(
    innermost_first: impl Iterator<Item = (u32, &'a Frame, Known)>,
) -> Vec<(u32, Step<'a>)> {
    let mut frames: Vec<_> = innermost_first.collect();
    frames.reverse();
    // The time that the engine takes to execute a function belongs to that function.
    let is_named = frames.iter().any(|(_, _, known)| known.is_scripted);
    if is_named {
        frames.retain(|(_, _, known)| !known.is_of_engine);
    }
    let mut steps: Vec<(u32, Step<'a>)> = Vec::new();
    let mut before_own = None;
    for (number, frame, known) in frames {
        let is_own = match known.whose {
            Whose::Start => continue,
            // If other functions have names, this is code that the runtime generated for itself, for example
            // for a regular expression.
            whose => whose == Whose::Own && !(is_named && known.is_of_runtime),
        };
        let step = (number, Step::new(frame, is_own));
        match steps.last() {
            None if !is_own => {
                before_own.get_or_insert(step);
                continue;
            }
            Some((_, last)) if !is_own && !last.is_own => continue,
            _ => {}
        }
        let mut before = steps.iter();
        if let Some(again) = before.position(|(_, known)| known.key() == step.1.key()) {
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
        let known = frames
            .iter()
            .rev()
            .map(|frame| (0, frame, Known::of(frame)));
        let steps = followed(known);
        let name = |(_, step): &(u32, Step<'_>)| step.frame.function.clone().unwrap_or_default();
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
        // If no function has a name, only the engine's functions are known.
        let unnamed = [(node, "node::Start"), (node, "Builtins_LoadIC")];
        assert_eq!(names(&unnamed), ["node::Start", "Builtins_LoadIC"]);
    }

    #[test]
    fn what_a_runtime_makes_for_itself_is_no_function_of_the_programs() {
        let node = "/usr/bin/node";
        let frame = |binary: &str, name: Option<&str>| Frame {
            binary: binary.to_owned(),
            function: name.map(str::to_owned),
            ..Frame::default()
        };
        let way = |own: Option<&str>| {
            let frames = [
                frame("//anon", own),
                frame(node, Some("Builtins_StringPrototypeReplace")),
                frame(node, Some("Builtins_RegExpReplace")),
                frame("//anon", None),
            ];
            let known = frames.iter().rev();
            let steps = followed(known.map(|frame| (0, frame, Known::of(frame))));
            let own = steps.iter().map(|(_, step)| step.is_own);
            own.collect::<Vec<bool>>()
        };
        assert_eq!(way(Some("strip")), [true, false]);
        assert_eq!(way(None).last(), Some(&true), "nothing has a name there");
    }

    #[test]
    fn exceptions_are_not_the_time_of_the_function_that_meets_them() {
        let jvm = "/usr/lib/jvm/lib/server/libjvm.so";
        let way = [
            ("//anon", "Main.scan"),
            (jvm, "java_lang_Throwable::fill_in_stack_trace"),
            (jvm, "CodeCache::find_blob"),
        ];
        let wanted = ["Main.scan", "java_lang_Throwable::fill_in_stack_trace"];
        assert_eq!(names(&way), wanted);
        let other = [("//anon", "Main.scan"), (jvm, "CodeCache::find_blob")];
        assert_eq!(names(&other), ["Main.scan"]);
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
