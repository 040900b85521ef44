//! Merges Python frames into native ones.
//!
//! Each evaluator call is a native frame, and represents all Python frames that were called without another
//! such call. The interpreter's own functions between and below the evaluator calls are removed, except those
//! that programs call by name (`list.sort` is `list_sort`). If several of these call each other, only the
//! outermost one remains.

use super::PythonFrame;
use super::image::is_pythons;
use crate::Frame;

/// The name of the evaluator's function, and of its parts if it is split.
const EVALUATORS: [&str; 2] = ["_PyEval_EvalFrameDefault", "_TAIL_CALL_"];

/// Prefixes of functions that only pass calls on, or that implement operators. Their time belongs to the
/// Python function that they work for.
const OPERATORS: [&str; 30] = [
    "Py",
    "_Py",
    "pymain_",
    "pymalloc_",
    "run_mod",
    "run_eval_code",
    "cfunction_",
    "method_",
    "vectorcall_",
    "object_",
    "slot_",
    "wrap_",
    "trace_call",
    "do_call",
    "call_",
    "import_",
    "long_",
    "float_",
    "complex_",
    "x_add",
    "x_sub",
    "k_mul",
    "binary_",
    "ternary_",
    "unary_",
    "compare_",
    "type_call",
    "lookdict",
    "insertdict",
    "visit_",
];
/// Suffixes of such functions.
const OPERATORS_END: [&str; 18] = [
    "dealloc",
    "_alloc",
    "_free",
    "_richcompare",
    "_compare",
    "_hash",
    "_next",
    "iternext",
    "_iter",
    "getattro",
    "setattro",
    "_subscript",
    "_item",
    "_concat",
    "_repeat",
    "_contains",
    "_length",
    "_resize",
];

/// Operators that walk through a whole list, whose time is that of a search and not of the Python function.
const WALKS: [&str; 2] = ["list_contains", "deque_contains"];

fn name(frame: &Frame) -> &str {
    frame.function.as_deref().unwrap_or_default()
}

fn is_evaluator(frame: &Frame) -> bool {
    let name = name(frame);
    EVALUATORS
        .iter()
        .any(|evaluator| name.starts_with(evaluator))
}

/// Returns whether programs never call this interpreter function by name.
fn is_operator(frame: &Frame) -> bool {
    // Remove the suffix that compilers add for a copy or a part.
    let name = name(frame).split('.').next().unwrap_or_default();
    let implements = OPERATORS.iter().any(|begin| name.starts_with(begin))
        || OPERATORS_END.iter().any(|end| name.ends_with(end));
    name.is_empty() || implements && !WALKS.contains(&name)
}

/// Returns the stack of a thread with these native and Python frames, all innermost first. `is_whole` says
/// whether the native frames reach the thread's first function. If the two don't match, because they were
/// recorded at different moments, returns only the Python frames.
pub fn mixed(native: &[&Frame], python: &[&PythonFrame], is_whole: bool) -> Vec<Frame> {
    let calls = calls(python);
    let evaluators = native.iter().filter(|frame| is_evaluator(frame)).count();
    // There may be Python calls without an evaluator: the outermost calls, if the native stack was cut off;
    // otherwise the innermost call, which has just ended. Or there is an additional evaluator, which has just
    // begun.
    let (ended, begun) = match is_whole {
        true => (
            calls.len().saturating_sub(evaluators),
            evaluators.saturating_sub(calls.len()),
        ),
        false => (0, 0),
    };
    let all = || python.iter().filter_map(|frame| python_frame(frame));
    if ended > 1 || begun > 1 || evaluators == 0 {
        return all().collect();
    }
    let mut calls = calls[ended..].iter();
    let mut stack: Vec<Frame> = Vec::new();
    // The outermost relevant interpreter function since the last Python function.
    let mut own: Option<Frame> = None;
    let mut met = 0;
    for frame in native {
        if is_evaluator(frame) {
            met += 1;
            let Some(call) = (met > begun).then(|| calls.next()).flatten() else {
                continue;
            };
            if !call.is_empty() {
                stack.extend(own.take());
            }
            stack.extend(call.iter().filter_map(|one| python_frame(one)));
        } else if !is_pythons(&frame.binary) {
            // The function belongs to an extension called by the interpreter, or to a library that the
            // interpreter uses itself.
            own = None;
            stack.push((*frame).clone());
        } else if !is_operator(frame) {
            own = Some(Frame {
                interpreter: true,
                ..(*frame).clone()
            });
        }
    }
    let rest = calls.flat_map(|call| call.iter());
    stack.extend(rest.filter_map(|one| python_frame(one)));
    stack
}

/// Groups the frames by evaluator call.
fn calls<'p, 'f>(python: &'p [&'f PythonFrame]) -> Vec<&'p [&'f PythonFrame]> {
    let mut calls: Vec<_> = python
        .split(|frame| matches!(frame, PythonFrame::Evaluator))
        .collect();
    // Nothing follows the outermost call, unless the rest was not read.
    if calls.last().is_some_and(|call| call.is_empty()) {
        calls.pop();
    }
    calls
}

fn python_frame(frame: &PythonFrame) -> Option<Frame> {
    let PythonFrame::Frame { code, line } = frame else {
        return None;
    };
    Some(Frame {
        binary: code.file.clone(),
        function: Some(code.function.clone()),
        source_file: Some(code.file.clone()),
        line: (*line > 0).then_some(*line),
        ..Frame::default()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Code;
    use super::*;

    const PYTHON: &str = "/usr/bin/python3.11";
    const EVALUATOR: (&str, &str) = (PYTHON, "_PyEval_EvalFrameDefault");
    const MAIN: (&str, &str) = (PYTHON, "Py_RunMain");
    const C: &str = "/usr/lib/libc.so.6";

    fn native(all: &[(&str, &str)]) -> Vec<Frame> {
        let frame = |(binary, function): &(&str, &str)| Frame {
            binary: (*binary).to_owned(),
            function: (!function.is_empty()).then(|| (*function).to_owned()),
            ..Frame::default()
        };
        all.iter().map(frame).collect()
    }

    /// Builds frames from names; an empty text stands for an evaluator call.
    fn python(all: &[&str]) -> Vec<PythonFrame> {
        let frame = |name: &&str| match *name {
            "" => PythonFrame::Evaluator,
            name => PythonFrame::Frame {
                code: Arc::new(Code {
                    function: name.to_owned(),
                    file: "a.py".to_owned(),
                }),
                line: 7,
            },
        };
        all.iter().map(frame).collect()
    }

    fn names(all: &[(&str, &str)], functions: &[&str], is_whole: bool) -> Vec<String> {
        let (native, python) = (native(all), python(functions));
        let (native, python): (Vec<_>, Vec<_>) = (native.iter().collect(), python.iter().collect());
        let stack = mixed(&native, &python, is_whole).into_iter();
        stack.filter_map(|frame| frame.function).collect()
    }

    #[test]
    fn a_call_of_the_evaluator_is_the_functions_that_it_ran() {
        let stack = [
            (PYTHON, "long_add"),
            EVALUATOR,
            (PYTHON, "_PyEval_Vector"),
            (PYTHON, ""),
            (PYTHON, "list_sort"),
            (PYTHON, "method_vectorcall_FASTCALL"),
            EVALUATOR,
            MAIN,
            (C, "__libc_start_main"),
        ];
        let functions = ["key", "", "order", "main", "<module>", ""];
        let expected = [
            "key",
            "list_sort",
            "order",
            "main",
            "<module>",
            "__libc_start_main",
        ];
        assert_eq!(names(&stack, &functions, true), expected);
        let native = native(&stack);
        let python = python(&functions);
        let mixed = mixed(
            &native.iter().collect::<Vec<_>>(),
            &python.iter().collect::<Vec<_>>(),
            true,
        );
        assert_eq!(
            (mixed[0].source_file.as_deref(), mixed[0].line),
            (Some("a.py"), Some(7))
        );
        assert!(mixed[1].interpreter && !mixed[0].interpreter);
    }

    #[test]
    fn an_operator_that_walks_through_a_list_stays() {
        let searching = |search: &'static str| {
            let compare = (PYTHON, "unicode_compare_eq");
            let stack = [
                compare,
                (PYTHON, "PyObject_RichCompare"),
                (PYTHON, search),
                EVALUATOR,
                MAIN,
            ];
            names(&stack, &["main", "<module>", ""], true)
        };
        assert_eq!(
            searching("list_contains"),
            ["list_contains", "main", "<module>"]
        );
        assert_eq!(
            searching("dict_contains"),
            ["unicode_compare_eq", "main", "<module>"]
        );
    }

    #[test]
    fn functions_of_extensions_and_libraries_stay() {
        let extension = "/usr/lib/python3/dist-packages/fast.cpython-311-x86_64-linux-gnu.so";
        let stack = [
            (C, "memmove"),
            (PYTHON, "unicode_join"),
            (PYTHON, "PyObject_CallMethod"),
            (extension, "__pyx_pw_4fast_1work"),
            (PYTHON, "cfunction_call"),
            EVALUATOR,
            MAIN,
        ];
        assert_eq!(
            names(&stack, &["main", "<module>", ""], true),
            ["memmove", "__pyx_pw_4fast_1work", "main", "<module>"]
        );
    }

    #[test]
    fn of_a_stack_that_was_cut_off_the_outer_functions_are_known() {
        let stack = [(PYTHON, "sre_match"), EVALUATOR, (PYTHON, "_PyEval_Vector")];
        let functions = ["inner", "", "outer", "<module>", ""];
        assert_eq!(
            names(&stack, &functions, false),
            ["sre_match", "inner", "outer", "<module>"]
        );
    }

    #[test]
    fn a_call_that_begins_or_ends_has_no_frame_or_no_evaluator() {
        let begins = [EVALUATOR, (PYTHON, "list_sort"), EVALUATOR, MAIN];
        assert_eq!(names(&begins, &["main", ""], true), ["list_sort", "main"]);
        let ended = [(PYTHON, "list_sort"), EVALUATOR, MAIN];
        assert_eq!(
            names(&ended, &["key", "", "main", ""], true),
            ["list_sort", "main"]
        );
    }

    #[test]
    fn what_is_of_different_moments_is_not_mixed() {
        let stack = [(C, "memmove"), EVALUATOR, MAIN];
        let functions = ["a", "", "b", "", "c", ""];
        assert_eq!(names(&stack, &functions, true), ["a", "b", "c"]);
        assert_eq!(names(&[MAIN], &functions, true), ["a", "b", "c"]);
    }
}
