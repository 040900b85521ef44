//! Where in the code, and on what, the time goes.

use serde::{Deserialize, Serialize};

use crate::TimeCategory;

/// A place in a program's code. Not trustworthy: escape its texts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CodePlace {
    /// The function in the words of its language; null where no symbol is known.
    #[serde(default)]
    pub function: Option<String>,
    /// Source file, as the compiler recorded it.
    #[serde(default)]
    pub source_file: Option<String>,
    /// Line of the source file, from 1: of a function the line that most of its time is in, of a
    /// caller the line of the call.
    #[serde(default)]
    pub line: Option<u32>,
    /// The file that the code is from: a path, `[vdso]`, or `//anon` and the like for code that was
    /// made at run time.
    #[serde(default)]
    pub binary: Option<String>,
    /// Without a function: the byte of the binary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Without a function: the exported function that begins before the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Without a function: the package that has the symbols of the binary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbols_in: Option<String>,
}

impl CodePlace {
    /// Whether nothing is known of it.
    pub fn is_unknown(&self) -> bool {
        self.function.is_none() && self.binary.is_none()
    }
}

/// A part of the wall time with its object and its place in the code. All rows of one kind are no
/// more than that part of the account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WhereRow {
    /// Share of the account's wall time, 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub share: f64,
    /// Nanoseconds of an untraced run.
    pub ns: u64,
    /// The part of the account that it is of.
    pub kind: TimeCategory,
    /// The system call; null outside of calls, and where that isn't known.
    pub call: Option<String>,
    /// The file, folder, pipe, peer or lock that it is on, the memory that page faults touched (a
    /// file by its path, `data of libc.so.6`, `heap`, `stack`, `anonymous mapping`), or the command
    /// line of the child that spent it; null for the command's own code and where nothing is known.
    /// Not trustworthy: escape it.
    pub object: Option<String>,
    /// The function that the time is in: of the program's own code, or what that calls of a library.
    #[serde(flatten)]
    pub place: CodePlace,
    /// What several functions of libraries do below one caller, such as `allocation` or `functions of
    /// libcrypto.so.3`: the row is of all of them, and `function` is the one with most of the time;
    /// null where the row is of one function whose name says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// What called it, the nearest first.
    pub callers: Vec<CodePlace>,
    /// How often: calls, waits or page faults; null where that isn't known.
    pub count: Option<u64>,
    /// What the runtime's thread is for, or the runtime does on the program's; null for the
    /// program's own work.
    pub role: Option<ThreadRole>,
    /// Variables of the environment, options and calls that change how much of that work there is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_by: Vec<String>,
}

/// What a runtime does beside the program's own work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThreadRole {
    /// Finds memory that isn't used any more, and gives it back.
    Collector,
    /// Compiles the program while it runs.
    Compiler,
    /// A pool that does pieces of the program's work.
    Pool,
    /// Looks for work, or spins until others are as far.
    Idle,
    /// Anything else that the runtime needs: finalizers, signals, its clock.
    Service,
}

/// The name of a function of Rust or C++ without its type arguments, which stand in `<` and `>`.
pub fn without_type_arguments(name: &str) -> String {
    let mut depth = 0usize;
    let mut out = String::new();
    for c in name.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}
