//! Properties of the runtimes for which programs are written.
//!
//! There is one data file for each runtime, such as `go.toml`. It describes its threads and their purpose, the
//! names of its functions, its library's work around a call, where its idle threads wait, how its code is
//! loaded, what changes its behaviour, and the wording of advice. All other code uses a [`Runtime`] and
//! contains no names.

mod advice;
mod functions;
mod groups;
mod library;
mod modules;
mod names;
mod owns;
mod system;
mod work;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::file_name::file_name;

pub(crate) use advice::Topic;
pub(crate) use functions::{
    Checks, Use, all_checks, compiled_from, is_clock, is_library, is_library_made, is_mutex,
    is_start, spins_in_runtime, without_suffix,
};
pub(crate) use groups::{
    Avoidable, COMPARING, LOCKING, SEARCHING, TEXT, avoidable, converts, group_of,
    is_of_exceptions, is_through, library_of,
};
pub(crate) use library::Around;
pub(crate) use modules::Modules;
pub use names::{Asked, asked_by_hand, joined, lacks_names};
pub(crate) use names::{is_engines, shown_name};
pub(crate) use system::{
    LIST_OF_LIBRARIES, is_library_file, is_loader, is_made_up, is_name_map, is_of_system,
};
pub(crate) use work::{Team, Work, Works, advice_on_spinning, of_function};

use functions::Names;
use library::Library;
use owns::Owns;

/// A programming language, to the extent that advice depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
    /// Make.
    Make,
}

impl Language {
    /// Returns the language of the programs that are run by an interpreter with this name, such as
    /// `python3.11`. A path is also accepted. Returns `None` if the name isn't that of a known interpreter.
    pub fn from_program_name(name: &str) -> Option<Self> {
        let name = file_name(name);
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        let interprets = |(_, runtime): &&(Self, Runtime)| has(&runtime.programs, stem);
        ALL.iter().find(interprets).map(|(language, _)| *language)
    }
}

/// A peculiarity of a runtime on which rules depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
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
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThreadNames {
    /// Prefix of the names of an executor's threads.
    pub pool: String,
    /// Suffix of the first thread of each executor.
    pub first_of_pool: String,
    /// The name, without a number, of threads that the program didn't name.
    pub unnamed: String,
}

/// The properties of a runtime.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Runtime {
    /// Names, without a version, of the programs that run code for this runtime.
    programs: Vec<String>,
    /// Whether programs are machine code without a runtime of their own.
    is_native: bool,
    habits: Vec<Habit>,
    /// Calls in which the runtime's idle threads may wait.
    idle_calls: Vec<String>,
    pub library: Library,
    /// How code is loaded from files.
    pub modules: Modules,
    /// What programmers of this runtime call concurrent work, if not threads.
    tasks: Option<String>,
    /// The minimum and maximum CPU time to start a thread, in ns, if each additional thread that runs code is
    /// an engine of its own.
    pub engine_ns: Option<(f64, f64)>,
    /// How the runtime names threads that programs create.
    pub thread_names: Option<ThreadNames>,
    /// The option of the runtime's program that makes it write each line at once.
    pub line_option: Option<String>,
    /// How to make the runtime report the names of generated code, which are not in any file.
    names: Option<names::AskedFor>,
    /// The runtime's functions, by purpose.
    functions: BTreeMap<Use, Vec<Names>>,
    /// Work that the runtime does in addition to the program's own.
    work: Vec<Work>,
    /// The part of the own code's time that remains if an optimising compiler builds a program that was built
    /// without optimisation.
    pub left_by_optimising: f64,
    checks: Vec<Checks>,
    /// Parts of the paths of the sources of the runtime's library.
    sources: Vec<String>,
    /// The functions of the runtime's library, in a binary that also contains the program.
    owns: Owns,
    /// Options of the runtime's program that make it touch memory before the program's work starts.
    touching: Vec<Touching>,
    /// The runtime's wording; general wording is used for the other topics.
    words: BTreeMap<Topic, String>,
}

/// An option that makes a runtime touch memory before the program's work starts, with advice.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Touching {
    pub option: String,
    pub advice: String,
}

/// Parses a data file of this folder; a test parses all of them.
fn read<T: DeserializeOwned>(text: &str) -> T {
    toml::from_str(text).expect("a data file of the runtimes is valid")
}

static ALL: LazyLock<[(Language, Runtime); 10]> = LazyLock::new(|| {
    [
        (Language::C, include_str!("c.toml")),
        (Language::Rust, include_str!("rust.toml")),
        (Language::Go, include_str!("go.toml")),
        (Language::Python, include_str!("python.toml")),
        (Language::Node, include_str!("node.toml")),
        (Language::Java, include_str!("java.toml")),
        (Language::Ruby, include_str!("ruby.toml")),
        (Language::Perl, include_str!("perl.toml")),
        (Language::Shell, include_str!("shell.toml")),
        (Language::Make, include_str!("make.toml")),
    ]
    .map(|(language, text)| (language, read(text)))
});

/// Programs in an unknown language, and what programs in machine code have in common.
static NATIVE: LazyLock<Runtime> = LazyLock::new(|| read(include_str!("native.toml")));

/// What runtimes without their own words have in common.
static GENERAL: LazyLock<Runtime> = LazyLock::new(|| read(include_str!("general.toml")));

fn has(list: &[String], name: &str) -> bool {
    list.iter().any(|it| it == name)
}

fn begins(name: &str, with: &[String]) -> bool {
    with.iter()
        .any(|beginning| name.starts_with(beginning.as_str()))
}

impl Runtime {
    /// Returns the runtime of a language; a default if the language is unknown.
    pub(crate) fn of(language: Option<Language>) -> &'static Self {
        let known = ALL.iter().find(|(of, _)| Some(*of) == language);
        known.map_or(&*NATIVE, |(_, runtime)| runtime)
    }

    /// Returns the runtime whose program has this name, or `None` if it isn't a runtime.
    pub(crate) fn interpreting(program: &str) -> Option<&'static Self> {
        Language::from_program_name(program).map(|language| Self::of(Some(language)))
    }

    /// What programmers of this runtime call concurrent work.
    pub(crate) fn tasks(&self) -> &str {
        self.tasks.as_deref().unwrap_or("threads")
    }

    /// Returns the argument that makes the runtime touch memory before the program's work starts.
    pub(crate) fn touches_first(&self, arguments: &[String]) -> Option<&Touching> {
        let mut all = self.touching.iter();
        all.find(|touching| arguments.contains(&touching.option))
    }

    pub(crate) fn has(&self, habit: Habit) -> bool {
        self.habits.contains(&habit)
    }

    /// Returns whether a wait or a pause in this call may be that of an idle thread.
    pub(crate) fn idle_wait(&self, call: &str) -> bool {
        has(&self.idle_calls, call)
    }
}

/// Returns whether a program of this name is a shell.
pub(crate) fn is_shell(program: &str) -> bool {
    Runtime::interpreting(program).is_some_and(|runtime| runtime.has(Habit::RunsCommands))
}

/// Returns whether a file is an interpreter whose scripts have no stack frames, and for which the functions
/// that lead to its operations are known.
pub(crate) fn is_interpreter(binary: &str) -> bool {
    let begins = |it: &Runtime| it.functions.contains_key(&Use::Start);
    let runtime = Runtime::interpreting(binary);
    runtime.is_some_and(|it| it.has(Habit::Interprets) && begins(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_data_file_is_valid() {
        for (language, runtime) in ALL.iter() {
            assert!(!runtime.words.is_empty(), "{language:?}");
        }
        assert!(NATIVE.words.len() < GENERAL.words.len());
    }

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
