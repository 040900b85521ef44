//! Parses the names that runtimes write for generated code.
//!
//! V8 writes `JS:*reduce /srv/slow.js:6:16`, a JVM `int Hot.work(int)`, Python `py::main:/srv/b.py`; each
//! also writes names of code that isn't a function of the program.

use crate::Frame;
use crate::demangle::LONGEST_NAME;

/// The name of the code with which a JVM executes methods that aren't compiled. Only a JVM writes it.
pub(crate) const JVM_INTERPRETER: &str = "Interpreter";

/// A piece of generated code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MadeName {
    function: String,
    source_file: Option<String>,
    line: Option<u32>,
    /// Whether the code belongs to the runtime, such as its interpreter or a stub.
    of_runtime: bool,
}

impl MadeName {
    /// Parses a name from a map. `of_jvm` says that a JVM wrote the map.
    pub(crate) fn of(text: &str, of_jvm: bool) -> Self {
        let text: String = text.chars().take(LONGEST_NAME).collect();
        if let Some(script) = text.split_once(':').and_then(|(kind, rest)| {
            let kinds = ["JS", "LazyCompile", "Function", "Eval", "Script"];
            kinds.contains(&kind).then_some(rest)
        }) {
            // The marks of the compilation level aren't part of the name.
            return of_script(script.trim_start_matches(['*', '~', '^', '+', '\'']));
        }
        if let Some(python) = text.strip_prefix("py::") {
            let (function, file) = python.split_once(':').unwrap_or((python, ""));
            return Self::new(function, file, None);
        }
        const OF_V8: [&str; 4] = ["Builtin:", "BytecodeHandler:", "Stub:", "RegExp:"];
        let of_v8 = OF_V8.iter().any(|kind| text.starts_with(kind));
        let method = of_jvm.then(|| method(&text)).flatten();
        let stub = match of_jvm && text == JVM_INTERPRETER {
            true => "interpreted Java code",
            false => &text,
        };
        Self {
            of_runtime: of_v8 || of_jvm && method.is_none(),
            ..Self::new(method.unwrap_or(stub), "", None)
        }
    }

    /// Returns the name of a method that is interpreted, with its class.
    pub(crate) fn of_method(name: &str) -> Self {
        let name: String = name.chars().take(LONGEST_NAME).collect();
        Self::new(&name, "", None)
    }

    fn new(function: &str, file: &str, line: Option<u32>) -> Self {
        let file = file.strip_prefix("file://").unwrap_or(file);
        Self {
            function: function.to_owned(),
            source_file: (!file.is_empty()).then(|| file.to_owned()),
            line,
            of_runtime: false,
        }
    }

    /// Formats a short name: `reduce slow.js:6`.
    pub(crate) fn short(&self) -> String {
        let mut text = self.function.clone();
        if let Some(file) = &self.source_file {
            text.push(' ');
            text.push_str(file.rsplit('/').next().unwrap_or(file));
        }
        if let Some(line) = self.line {
            text.push_str(&format!(":{line}"));
        }
        text
    }

    pub(crate) fn frame(&self, binary: &str) -> Frame {
        Frame {
            binary: binary.to_owned(),
            function: Some(self.function.clone()),
            source_file: self.source_file.clone(),
            line: self.line,
            interpreter: self.of_runtime,
            ..Frame::default()
        }
    }
}

/// Parses `NAME FILE:LINE:COLUMN`; each part may be absent, and the first two may contain blanks.
fn of_script(text: &str) -> MadeName {
    let (text, line) = match numbers(text) {
        Some((rest, line)) => (rest, Some(line)),
        None => (text, None),
    };
    const BEGINNINGS: [&str; 4] = ["/", "file://", "node:", "evalmachine."];
    let begins = |at: usize| BEGINNINGS.iter().any(|it| text[at..].starts_with(it));
    let after_blanks = text.match_indices(' ').map(|(at, _)| at + 1);
    let known = std::iter::once(0)
        .chain(after_blanks)
        .find(|at| begins(*at));
    let (name, file) = match known {
        Some(at) => (&text[..at], &text[at..]),
        // The text is a file name, given by the code that evaluated the script.
        None if line.is_some() => text.rsplit_once(' ').unwrap_or(("", text)),
        None => (text, ""),
    };
    let name = match name.trim() {
        "" if line == Some(1) => "(module)",
        "" => "(anonymous)",
        name => name,
    };
    MadeName::new(name, file.trim(), line)
}

/// Returns the text before `:LINE:COLUMN`, and the line.
fn numbers(text: &str) -> Option<(&str, u32)> {
    let (rest, column) = text.rsplit_once(':')?;
    column.parse::<u32>().ok()?;
    let (rest, line) = rest.rsplit_once(':')?;
    Some((rest, line.parse().ok()?))
}

/// Returns the method with its class from `int Hot.work(int)`; `None` for code that isn't a method.
fn method(text: &str) -> Option<&str> {
    let (whole, _) = text.split_once('(').filter(|_| text.ends_with(')'))?;
    let name = whole.rsplit(' ').next()?;
    name.contains('.').then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, of_jvm: bool) -> (String, Option<String>, Option<u32>, bool) {
        let name = MadeName::of(text, of_jvm);
        (name.function, name.source_file, name.line, name.of_runtime)
    }

    fn function(name: &str, file: &str, line: u32) -> (String, Option<String>, Option<u32>, bool) {
        let file = (!file.is_empty()).then(|| file.to_owned());
        (name.to_owned(), file, (line > 0).then_some(line), false)
    }

    #[test]
    fn interpreted_and_compiled_code_of_a_script_is_one_function() {
        let reduce = function("reduce", "/srv/my work/slow.js", 6);
        for kind in ["~", "^", "*", "+", ""] {
            let text = format!("JS:{kind}reduce /srv/my work/slow.js:6:16");
            assert_eq!(read(&text, false), reduce, "{text}");
        }
        let modules = "LazyCompile:*get size file:///srv/a.mjs:7:1";
        assert_eq!(read(modules, false), function("get size", "/srv/a.mjs", 7));
        let inner = "JS:^nextTick node:internal/process/task_queues:104:18";
        let file = "node:internal/process/task_queues";
        assert_eq!(read(inner, false), function("nextTick", file, 104));
        let module = read("JS:~ /srv/slow.js:1:1", false);
        assert_eq!(module, function("(module)", "/srv/slow.js", 1));
        let named = read("Eval:~f generated.js:3:1", false);
        assert_eq!(named, function("f", "generated.js", 3));
        assert_eq!(read("JS:~f", false), function("f", "", 0));
        assert_eq!(read("JS:*", false), function("(anonymous)", "", 0));
    }

    #[test]
    fn a_method_has_its_class_and_no_types() {
        let work = read("int Hot.work(int)", true);
        assert_eq!(work, function("Hot.work", "", 0));
        let inner = "java.lang.String a.B$C.lambda$run$0(java.lang.String, byte[])";
        assert_eq!(read(inner, true), function("a.B$C.lambda$run$0", "", 0));
    }

    #[test]
    fn what_a_runtime_makes_for_itself_is_its_own() {
        assert!(read("Interpreter", true).3 && read("I2C/C2I adapters", true).3);
        assert!(read("StubRoutines (1)", true).3);
        assert!(read("Builtin:InterpreterEntryTrampoline", false).3);
        // A name from an unknown runtime is kept as it is.
        assert_eq!(read("lj_f a(b)", false), function("lj_f a(b)", "", 0));
    }
}
