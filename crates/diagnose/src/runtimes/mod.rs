//! Properties of the runtimes for which programs are written.
//!
//! There is one file for each runtime. It describes its threads and their purpose, the names of its
//! functions, its library's work around a call, where its idle threads wait, how its code is loaded, what
//! changes its behaviour, and the wording of advice. All other code uses a [`Runtime`] and contains no names.

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

/// A programming language, to the extent that advice depends on it.
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
    /// Java or another language of the JVM.
    Java,
    /// Ruby.
    Ruby,
    /// Perl.
    Perl,
    /// A shell.
    Shell,
}

impl Language {
    /// Returns the language of the programs that are run by an interpreter with this name, such as
    /// `python3.11`. A path is also accepted. Returns `None` if the name isn't that of a known interpreter.
    pub fn from_program_name(name: &str) -> Option<Self> {
        let name = file_name(name);
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        let interprets = |(_, runtime): &&(Self, &Runtime)| runtime.programs.contains(&stem);
        ALL.iter().find(interprets).map(|(language, _)| *language)
    }
}

/// A peculiarity of a runtime on which rules depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Habit {
    /// The runtime runs commands for its script, masks signals around each of them, and creates a string for
    /// each word.
    RunsCommands,
    /// The runtime reads files line by line in blocks, and seeks back to the end of the line.
    GoesBack,
    /// The runtime's standard output is only line-buffered.
    CollectsLines,
    /// The runtime interprets the code that leads to a call, and samples attribute that work to the program's
    /// functions.
    Interprets,
    /// The runtime moves work from thread to thread.
    MovesWork,
    /// A single thread runs the program's code; other threads serve the runtime.
    OneThread,
    /// The program's code runs under one lock, which only one thread of a process can hold.
    GlobalLock,
    /// Threads that hand work over yield their CPU a few times before they sleep.
    HandsOverByYields,
    /// The runtime fills a heap of hundreds of MiB before the first collection.
    FillsItsHeap,
}

/// Names of the program's threads, in runtimes that compile and collect in other threads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadNames {
    /// Prefix of the names of an executor's threads.
    pub pool: &'static str,
    /// Suffix of the first thread of each executor.
    pub first_of_pool: &'static str,
    /// The name, without a number, of threads that the program didn't name.
    pub unnamed: &'static str,
}

/// The properties of a runtime.
pub(crate) struct Runtime {
    /// Names, without a version, of the programs that run code for this runtime.
    programs: &'static [&'static str],
    habits: &'static [Habit],
    /// Calls in which the runtime's idle threads may wait.
    idle_calls: &'static [&'static str],
    library: Library,
    /// How code is loaded from files.
    pub modules: Modules,
    /// What programmers of this runtime call concurrent work.
    pub tasks: &'static str,
    /// The minimum and maximum CPU time to start a thread, in ns, if each additional thread that runs code is
    /// an engine of its own.
    pub engine_ns: Option<(f64, f64)>,
    /// How the runtime names threads that programs create.
    pub thread_names: Option<ThreadNames>,
    /// The option of the runtime's program that makes it write each line at once.
    pub line_option: Option<&'static str>,
    /// How to make the runtime report the names of generated code, which are not in any file.
    names: Option<names::AskedFor>,
    /// The purposes of the runtime's functions, by their names.
    functions: &'static [(Use, Names)],
    /// Work that the runtime does in addition to the program's own.
    work: &'static [Work],
    /// Parts of the paths of the sources of the runtime's library.
    sources: &'static [&'static str],
    /// Returns whether a function of this name belongs to the runtime's library, in a binary that also
    /// contains the program.
    owns: fn(&str) -> bool,
    /// Options of the runtime's program that make it touch memory before the program's work starts, with
    /// advice.
    touching: &'static [(&'static str, &'static str)],
    /// The runtime's wording on a topic; `None` selects the general wording.
    words: fn(Topic) -> Option<&'static str>,
}

/// A runtime without known properties.
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
    /// Returns the runtime of a language; a default if the language is unknown.
    pub(crate) fn of(language: Option<Language>) -> &'static Self {
        let known = ALL.iter().find(|(of, _)| Some(*of) == language);
        known.map_or(&native::UNKNOWN, |(_, runtime)| runtime)
    }

    /// Returns the runtime whose program has this name, or `None` if it isn't a runtime.
    pub(crate) fn interpreting(program: &str) -> Option<&'static Self> {
        Language::from_program_name(program).map(|language| Self::of(Some(language)))
    }

    /// Returns the argument that makes the runtime touch memory before the program's work starts, and advice.
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

    /// Returns whether a wait or a pause in this call may be that of an idle thread.
    pub(crate) fn idle_wait(&self, call: &str) -> bool {
        self.idle_calls.contains(&call)
    }
}

/// Returns whether a program of this name is a shell.
pub(crate) fn is_shell(program: &str) -> bool {
    Runtime::interpreting(program).is_some_and(|runtime| runtime.has(Habit::RunsCommands))
}

/// Returns whether a file is an interpreter whose scripts have no stack frames, and for which the functions
/// that lead to its operations are known.
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
