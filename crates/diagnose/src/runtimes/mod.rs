//! What is known of the runtimes that programs are written for.
//!
//! One file each: its threads and what they are for, the names of its functions, what its library
//! does around a call, where its idle threads wait, how its code is loaded, what changes it, in
//! which words advice is given. Everything else asks a [`Runtime`] and knows no name.

mod advice;
mod functions;
mod go;
mod groups;
mod java;
mod library;
mod modules;
mod names;
mod native;
mod node;
mod perl;
mod python;
mod ruby;
mod shell;
mod system;
mod work;

use crate::file_name::file_name;
use serde::{Deserialize, Serialize};

pub(crate) use advice::Topic;
pub(crate) use functions::{
    Use, is_clock, is_library, is_library_made, is_mutex, is_start, spins_in_runtime,
    without_suffix,
};
pub(crate) use groups::{LOCKING, group_of, is_of_exceptions, library_of};
pub(crate) use library::Around;
pub(crate) use modules::{Begins, Modules};
pub use names::{Asked, asked_by_hand, joined, lacks_names};
pub(crate) use names::{is_engines, shown_name};
pub(crate) use system::{
    LIST_OF_LIBRARIES, is_library_file, is_loader, is_made_up, is_name_map, is_of_system,
};
pub(crate) use work::{Team, Work, Works, advice_on_spinning, of_function};

use functions::Names;
use library::Library;

/// A programming language, as far as advice differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Language {
    /// C or C++.
    C,
    /// Rust.
    Rust,
    /// Go.
    Go,
    /// Python.
    Python,
    /// JavaScript on Node.
    Node,
    /// Java or another language of its machine.
    Java,
    /// Ruby.
    Ruby,
    /// Perl.
    Perl,
    /// A shell.
    Shell,
}

impl Language {
    /// The language of programs that an interpreter of this name runs, such as `python3.11`; a
    /// path is fine. `None` for a program that is no known interpreter.
    pub fn from_program_name(name: &str) -> Option<Self> {
        let name = file_name(name);
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        let interprets = |(_, runtime): &&(Self, &Runtime)| runtime.programs.contains(&stem);
        ALL.iter().find(interprets).map(|(language, _)| *language)
    }
}

/// A peculiarity of a runtime that a rule has to know of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Habit {
    /// It runs commands for its script, with signals masked around each, and makes a string for
    /// each word.
    RunsCommands,
    /// What it reads of a file by lines it reads in blocks, and goes back to the end of the line.
    GoesBack,
    /// Its standard output collects nothing but lines.
    CollectsLines,
    /// What leads to a call it works out itself, and samples find it in the program's functions.
    Interprets,
    /// It moves its work from thread to thread.
    MovesWork,
    /// One thread runs its code; others are made for the runtime.
    OneThread,
    /// One lock, which only one thread of a process has, goes with its code.
    GlobalLock,
    /// Threads that hand over to each other give their CPU away some times before they sleep.
    HandsOverByYields,
    /// It fills a heap of hundreds of MiB before it looks for what is not used any more.
    FillsItsHeap,
}

/// Names of the threads of programs whose runtime compiles and collects in others beside them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadNames {
    /// Beginning of those of an executor.
    pub pool: &'static str,
    /// End of the first one of each.
    pub first_of_pool: &'static str,
    /// Without a number: those that the program gave no name.
    pub unnamed: &'static str,
}

/// What is known of a runtime.
pub(crate) struct Runtime {
    /// Names of the programs that run what is written for it, without a version.
    programs: &'static [&'static str],
    habits: &'static [Habit],
    /// Calls in which threads of it are that have nothing to do, too.
    idle_calls: &'static [&'static str],
    library: Library,
    /// How its code is loaded from files.
    pub modules: Modules,
    /// How those who write for it call what they start to work side by side.
    pub tasks: &'static str,
    /// Where a further thread that runs its code is an engine of its own: what to start one takes of
    /// CPU time at least, and at most, in ns.
    pub engine_ns: Option<(f64, f64)>,
    /// How it names threads that programs make.
    pub thread_names: Option<ThreadNames>,
    /// Option of its program by which each line is written at once.
    pub line_option: Option<&'static str>,
    /// How it is asked for the names of code that it makes, which no file has.
    names: Option<names::AskedFor>,
    /// What its functions are for, by their names.
    functions: &'static [(Use, Names)],
    /// What it does beside the program's own work.
    work: &'static [Work],
    /// Parts of the paths of its library's sources.
    sources: &'static [&'static str],
    /// Whether a function of this name is its library's, within a binary that holds both.
    owns: fn(&str) -> bool,
    /// Options of its program that make it touch memory before the program's work begins, with what to do.
    touching: &'static [(&'static str, &'static str)],
    /// What it says on a topic; the general words do where that is nothing.
    words: fn(Topic) -> Option<&'static str>,
}

/// One of which nothing is known.
const BASE: Runtime = Runtime {
    programs: &[],
    habits: &[],
    idle_calls: &[],
    library: Library::UNKNOWN,
    modules: Modules::None,
    tasks: "threads",
    engine_ns: None,
    thread_names: None,
    line_option: None,
    names: None,
    functions: &[],
    work: &[],
    sources: &[],
    owns: |_| false,
    touching: &[],
    words: |_| None,
};

const ALL: [(Language, &Runtime); 9] = [
    (Language::C, &native::C),
    (Language::Rust, &native::RUST),
    (Language::Go, &go::GO),
    (Language::Python, &python::PYTHON),
    (Language::Node, &node::NODE),
    (Language::Java, &java::JAVA),
    (Language::Ruby, &ruby::RUBY),
    (Language::Perl, &perl::PERL),
    (Language::Shell, &shell::SHELL),
];

impl Runtime {
    /// Of a program whose language is known, or not.
    pub(crate) fn of(language: Option<Language>) -> &'static Self {
        let known = ALL.iter().find(|(of, _)| Some(*of) == language);
        known.map_or(&native::UNKNOWN, |(_, runtime)| runtime)
    }

    /// The runtime that a program of this name is; `None` where it is none.
    pub(crate) fn interpreting(program: &str) -> Option<&'static Self> {
        Language::from_program_name(program).map(|language| Self::of(Some(language)))
    }

    /// Which of these arguments makes it touch memory before the program's work begins, and what to do.
    pub(crate) fn touches_first(
        &self,
        arguments: &[String],
    ) -> Option<(&'static str, &'static str)> {
        let mut options = self.touching.iter().copied();
        options.find(|(option, _)| arguments.iter().any(|argument| argument == option))
    }

    pub(crate) fn has(&self, habit: Habit) -> bool {
        self.habits.contains(&habit)
    }

    /// Whether a wait or a pause in this call may be that of a thread that has nothing to do.
    pub(crate) fn idle_wait(&self, call: &str) -> bool {
        self.idle_calls.contains(&call)
    }
}

/// Whether a program of this name is a shell.
pub(crate) fn is_shell(program: &str) -> bool {
    Runtime::interpreting(program).is_some_and(|runtime| runtime.has(Habit::RunsCommands))
}

/// Whether a file is an interpreter whose scripts have no frames, and it is known what leads to its
/// operations.
pub(crate) fn is_interpreter(binary: &str) -> bool {
    let begins = |it: &Runtime| it.functions.iter().any(|(of, _)| *of == Use::Start);
    let runtime = Runtime::interpreting(binary);
    runtime.is_some_and(|it| it.has(Habit::Interprets) && begins(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_folders_do_not_hide_an_interpreter() {
        let of = Language::from_program_name;
        assert_eq!(of("/usr/bin/python3.11"), Some(Language::Python));
        assert_eq!(of("bash"), Some(Language::Shell));
        assert_eq!(of("perl5.36"), Some(Language::Perl));
        assert_eq!(of("sort"), None);
        assert!(is_shell("/bin/dash"));
        assert!(!is_shell("/usr/bin/node"));
    }
}
