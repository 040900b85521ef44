//! Where in the code, and on which objects, the time is spent.

use serde::{Deserialize, Serialize};

use crate::TimeCategory;

/// A location in a program's code. Not trustworthy: escape its texts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CodePlace {
    /// The function in the notation of its language; null if no symbol is known.
    #[serde(default)]
    pub function: Option<String>,
    /// The source file, as recorded by the compiler.
    #[serde(default)]
    pub source_file: Option<String>,
    /// The line of the source file, from 1: for a function, the line with most of its time; for a caller, the
    /// line of the call.
    #[serde(default)]
    pub line: Option<u32>,
    /// The text of that line, if it is in the program's own source and the file could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_text: Option<String>,
    /// The file that the code is from: a path, `[vdso]`, or `//anon` and the like for code generated at run
    /// time.
    #[serde(default)]
    pub binary: Option<String>,
    /// If there is no function: the byte offset in the binary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// If there is no function: the last exported function that begins before the location.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// If there is no function: the package with the symbols of the binary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbols_in: Option<String>,
}

impl CodePlace {
    /// Reports whether nothing is known about it.
    pub fn is_unknown(&self) -> bool {
        self.function.is_none() && self.binary.is_none()
    }
}

/// A part of the wall time with its object and its location in the code. The rows of one kind add up to at
/// most that part of the account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WhereRow {
    /// The share of the account's wall time, 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub share: f64,
    /// Nanoseconds of an untraced run.
    pub ns: u64,
    /// The part of the account it belongs to.
    pub kind: TimeCategory,
    /// The system call; null outside of calls, or if unknown.
    pub call: Option<String>,
    /// The object on which the time was spent: a file, folder, pipe, peer or lock; the memory that page
    /// faults accessed (a file by its path, `data of libc.so.6`, `heap`, `stack`, `anonymous mapping`); or
    /// the command line of the child that spent it. Null for the command's own code, or if unknown. Not
    /// trustworthy: escape it.
    pub object: Option<String>,
    /// The function in which the time was spent: one of the program's own code, or a library function it
    /// calls.
    #[serde(flatten)]
    pub place: CodePlace,
    /// The common purpose of several library functions below one caller, such as `allocation` or `functions
    /// of libcrypto.so.3`: the row covers all of them, and `function` is the one with most of the time. Null
    /// if the row covers a single function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The callers, nearest first.
    pub callers: Vec<CodePlace>,
    /// The number of calls, waits or page faults; null if unknown.
    pub count: Option<u64>,
    /// The purpose of the runtime's thread, or of the runtime's work on a program thread; null for the
    /// program's own work.
    pub role: Option<ThreadRole>,
    /// Environment variables, options and calls that change the amount of the runtime's work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_by: Vec<String>,
}

/// What a runtime does in addition to the program's own work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThreadRole {
    /// Finds unused memory and releases it.
    Collector,
    /// Compiles the program while it runs.
    Compiler,
    /// A pool that executes pieces of the program's work.
    Pool,
    /// Looks for work, or spins until others catch up.
    Idle,
    /// Anything else that the runtime needs: finalizers, signals, its clock.
    Service,
}

/// Returns the name of a function without its type arguments, which are in `<` and `>` in Rust and C++, and begin with
/// `[go.shape.` in Go. A name that is in such brackets as a whole, such as Python's `<module>`, is returned unchanged.
pub fn without_type_arguments(name: &str) -> String {
    let mut depth = 0usize;
    let mut out = String::new();
    let generic = name.find("[go.shape.").unwrap_or(name.len());
    for c in name[..generic].chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    if out.is_empty() {
        return name.to_owned();
    }
    // What is left of `<Iter<T> as Iterator>::find` and `slice::<impl [T]>::contains`.
    out.trim_start_matches("::").replace("::::", "::")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_type_arguments_and_nothing_else() {
        for (name, short) in [
            (
                "std::vector<int, std::allocator<int>>::push_back",
                "std::vector::push_back",
            ),
            (
                "<core::slice::iter::Iter<T> as core::iter::Iterator>::find",
                "find",
            ),
            ("core::slice::<impl [T]>::contains", "core::slice::contains"),
            (
                "slices.Contains[go.shape.[]string,go.shape.string]",
                "slices.Contains",
            ),
            ("main.(*Server).handle", "main.(*Server).handle"),
            ("<module>", "<module>"),
        ] {
            assert_eq!(without_type_arguments(name), short);
        }
    }
}
