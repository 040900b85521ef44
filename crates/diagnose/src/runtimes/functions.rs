//! Classifies functions by purpose.
//!
//! This is based on the names that runtimes and C libraries use in their symbol tables. The runtime of the
//! process doesn't matter, because a library of one runtime may be loaded into a process of another.

use fathom_stacks::Frame;
use fathom_trace::FunctionRow;
use serde::Deserialize;

use super::{ALL, Language, NATIVE, Runtime, begins, has};

/// The purpose of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Use {
    /// Allocates or frees memory for objects: C's allocator, C++'s operators, Rust's glue, and allocators
    /// that replace them.
    Allocator,
    /// Creates an object from its arguments, usually with its own memory: strings and arrays of C++ and Rust.
    Objects,
    /// Allocates memory of a garbage collector, and finds memory that is no longer used.
    Collector,
    /// Returns the time without a system call.
    Clock,
    /// Takes or releases a lock, contended or not.
    Mutex,
    /// Is only reached if another thread holds the lock.
    Contended,
    /// Takes a lock: a thread that sleeps there waits for whoever holds it.
    TakesLock,
    /// Waits for something that another thread does: its end, a notification, a result.
    AwaitsEvent,
    /// Wakes all threads or tasks that wait for a notification, however many of them there is work for.
    WakesAll,
    /// Waits for the result of a task, or for a place among the tasks that may run.
    AwaitsTask,
    /// Runs the tasks of a pool, in each of its threads.
    RunsTasks,
    /// Collects all garbage because the program asks for it.
    Collects,
    /// Stops all threads of the program to answer what it asks for.
    StopsThreads,
    /// Takes a lock that also serves to wait for an event; which of them it is depends on the caller.
    TakesOrAwaits,
    /// Polls a channel without waiting, by `select` with a `default` in Go or by `try_recv` in Rust. A thread
    /// that waits for a channel sleeps instead.
    AsksChannel,
    /// Is called to poll a channel, but also to wait for one.
    Channel,
    /// Waits for locks, looks for runnable work, and wakes threads.
    Scheduler,
    /// Spins in the runtime before sleeping, which no change to the program avoids.
    Spins,
    /// Makes an object that is used many times afterwards, such as a compiled pattern.
    Prepares,
    /// Hands the elements of a list to a test, one after another, until one passes.
    TestsEach,
    /// Sorts by comparing elements, or compares two elements for a sort.
    Sorts,
    /// Makes a value from text or text from a value: parses a date or a number, changes the case, splits.
    Converts,
    /// Sets up a connection to a server, or accepts one: looks the address up, connects, and agrees on keys.
    Connects,
    /// Lets other tasks run, in a runtime whose tasks aren't threads.
    Yields,
    /// Is inlined into its callers by every optimizing compiler.
    PutIntoCallers,
    /// Calls the functions of an event loop, one after another.
    RunsLoop,
    /// Starts or ends a runtime, or loads its modules.
    StartsRuntime,
    /// Leads to the first function of a program or a thread.
    Start,
}

/// Patterns of function names; by default, they match no name.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Names {
    whole: Vec<String>,
    beginnings: Vec<String>,
    parts: Vec<String>,
    ends: Vec<String>,
    /// A part that names must also contain to match any pattern except the whole names.
    within: String,
    /// The end of the path of their source, for languages in which functions have everyday names.
    source: String,
}

impl Names {
    pub(super) fn have(&self, name: &str) -> bool {
        self.have_in(name, "")
    }

    pub(super) fn have_in(&self, name: &str, source: &str) -> bool {
        let has_name = || {
            has(&self.whole, name)
                || name.contains(&self.within)
                    && (begins(name, &self.beginnings)
                        || self.parts.iter().any(|it| name.contains(it))
                        || self.ends.iter().any(|it| name.ends_with(it)))
        };
        source.ends_with(&self.source) && has_name()
    }
}

impl Runtime {
    /// Returns the runtime to which a function belongs, whichever runtime its process uses.
    pub(crate) fn of_function(row: &FunctionRow) -> &'static Self {
        let name = own_name(row).unwrap_or_default();
        let has = |runtime: &Self| {
            let mut all = runtime.functions.values().flatten();
            all.any(|names| names.have(name))
        };
        let found = ALL.iter().find(|(_, runtime)| has(runtime));
        found.map_or(&*NATIVE, |(_, runtime)| runtime)
    }
}

pub(super) fn is_for(wanted: Use, name: &str) -> bool {
    let functions = ALL.iter().filter_map(|(_, it)| it.functions.get(&wanted));
    functions.flatten().any(|names| names.have(name))
}

impl Use {
    /// Returns whether a function of this name has this purpose.
    pub(crate) fn is_named(self, name: &str) -> bool {
        is_for(self, without_suffix(name))
    }

    /// Returns whether the function of a frame has this purpose.
    pub(crate) fn is_of_frame(self, frame: &Frame) -> bool {
        let Some(name) = frame.function.as_deref().map(without_suffix) else {
            return false;
        };
        let source = frame.source_file.as_deref().unwrap_or_default();
        let functions = ALL.iter().filter_map(|(_, it)| it.functions.get(&self));
        let mut functions = functions.flatten();
        functions.any(|names| names.have_in(name, source))
    }

    /// Returns whether a function has this purpose.
    pub(crate) fn is_of(self, row: &FunctionRow) -> bool {
        own_name(row).is_some_and(|name| is_for(self, name))
    }
}

/// Returns whether a function returns the time without a system call. This includes the kernel's vDSO page
/// and the functions through which programs reach it.
pub(crate) fn is_clock(row: &FunctionRow) -> bool {
    // The page also serves some other calls and, in newer kernels, random bytes.
    const OTHERS: [&str; 4] = ["random", "cpu", "syscall", "sigreturn"];
    let name = own_name(row).unwrap_or_default();
    match row.file == "[vdso]" {
        true => !OTHERS.iter().any(|other| name.contains(other)),
        false => is_for(Use::Clock, name),
    }
}

/// Returns whether a function takes or releases a lock, contended or not.
pub(crate) fn is_mutex(row: &FunctionRow) -> bool {
    // This excludes functions that are instantiated for such a type.
    let bare = |name: &str| {
        let name = name.trim_start_matches('<');
        name.split('<').next().unwrap_or_default().to_owned()
    };
    let is = |name: &str| is_for(Use::Mutex, &bare(name));
    Use::Contended.is_of(row) || own_name(row).is_some_and(is)
}

/// Returns whether the function spins in the runtime before sleeping, which no change to the program avoids.
pub(crate) fn spins_in_runtime(row: &FunctionRow) -> bool {
    let name = row.function.as_deref().unwrap_or_default();
    is_for(Use::Spins, name) || is_for(Use::Spins, &row.file)
}

/// Returns whether a function leads to the first function of a program or a thread.
pub(crate) fn is_start(name: &str) -> bool {
    is_for(Use::Start, name.strip_suffix(".abi0").unwrap_or(name))
}

/// Returns whether a function belongs to a library. This is determined by its source file, or by its name in
/// a binary that also contains the language's own library.
pub(crate) fn is_library(source: &str, name: Option<&str>) -> bool {
    let mut runtimes = ALL.iter().map(|(_, runtime)| runtime);
    runtimes.any(|runtime| {
        runtime.sources.iter().any(|part| source.contains(part))
            || name.is_some_and(|name| runtime.owns.has(name))
    })
}

/// Like [`Self::is_library`], for code that a runtime generated.
pub(crate) fn is_library_made(source: &str, name: Option<&str>) -> bool {
    let mut makers = ALL.iter().filter(|(_, runtime)| runtime.names.is_some());
    is_library(source, None)
        || name.is_some_and(|name| makers.any(|(_, runtime)| runtime.owns.has(name)))
}

/// Checks that a compiler or a library adds on request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Checks {
    pub name: String,
    /// A part of the file name of the library that the checks need.
    pub library: Option<String>,
    /// The prefixes of the names of the checks' functions.
    functions: Vec<String>,
    pub option: String,
    /// The part of own code that remains without the checks.
    pub left_without: f64,
}

impl Checks {
    /// Returns whether a function belongs to these checks. The name of a C++ template function begins with its
    /// return type.
    pub(crate) fn have(&self, row: &FunctionRow) -> bool {
        let name = row.function.as_deref().unwrap_or_default();
        let mut words = name.split([' ', '<', ',']);
        words.any(|word| begins(word, &self.functions))
    }
}

pub(crate) fn all_checks() -> impl Iterator<Item = &'static Checks> {
    ALL.iter().flat_map(|(_, runtime)| &runtime.checks)
}

/// Returns the language of which a compiler made this function, as far as the time that it saves when it
/// optimises depends on it.
pub(crate) fn compiled_from(source: &str, function: Option<&str>) -> Option<Language> {
    let is_rust = source.ends_with(".rs") || function.is_some_and(|name| name.contains("core::"));
    is_rust.then_some(Language::Rust)
}

fn own_name(row: &FunctionRow) -> Option<&str> {
    // Code generated at run time has the names that programs give to their functions.
    let name = row.function.as_deref();
    name.filter(|_| !row.is_made_at_run_time())
        .map(without_suffix)
}

/// Returns the name without the version, and without the suffix that a compiler appends to parts and copies
/// of functions.
pub(crate) fn without_suffix(name: &str) -> &str {
    let end = [".constprop.", ".part.", ".isra.", ".cold", ".llvm.", "@"]
        .iter()
        .filter_map(|mark| name.find(mark))
        .min();
    &name[..end.unwrap_or(name.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(file: &str, function: &str) -> FunctionRow {
        FunctionRow {
            file: file.to_owned(),
            function: (!function.is_empty()).then(|| function.to_owned()),
            ..FunctionRow::default()
        }
    }

    #[test]
    fn allocators_are_known_by_their_parts() {
        for name in [
            "malloc",
            "cfree@GLIBC_2.2.5",
            "unlink_chunk.constprop.0",
            "_int_free",
            "operator new",
            "__rdl_dealloc",
        ] {
            assert!(Use::Allocator.is_of(&row("/lib/libc.so.6", name)), "{name}");
        }
        for name in [
            "free_list",
            "mi_rkey",
            "tcache_upload",
            "PyObject_Malloc",
            "",
        ] {
            assert!(!Use::Allocator.is_of(&row("/bin/a", name)), "{name}");
        }
    }

    #[test]
    fn strings_and_arrays_are_objects() {
        for name in [
            "std::__cxx11::basic_string<char>::_M_create",
            "<alloc::string::String as core::clone::Clone>::clone",
            "alloc::raw_vec::RawVecInner<A>::finish_grow",
        ] {
            assert!(Use::Objects.is_of(&row("/bin/a", name)), "{name}");
        }
        assert!(!Use::Objects.is_of(&row("/bin/a", "<mine::Thing as core::clone::Clone>::clone")));
    }

    #[test]
    fn a_function_for_a_guard_is_no_lock() {
        assert!(is_mutex(&row("/bin/a", "std::sync::mutex::Mutex<T>::lock")));
        assert!(is_mutex(&row("/lib/libc.so.6", "pthread_mutex_unlock")));
        assert!(!is_mutex(&row(
            "/bin/a",
            "work::<std::sync::mutex::MutexGuard<u8>>"
        )));
    }

    #[test]
    fn collectors_are_those_of_runtimes() {
        assert!(Use::Collector.is_of(&row("/bin/a", "runtime.gcDrain")));
        assert!(Use::Collector.is_of(&row("/bin/a", "runtime.mallocgcSmallNoscan")));
        assert!(Use::Collector.is_of(&row("/bin/node", "v8::internal::Scavenger::Process")));
        assert!(!Use::Collector.is_of(&row("/bin/a", "main.scan")));
        assert!(!Use::Collector.is_of(&row("/bin/node", "v8::internal::JsonParser")));
    }

    #[test]
    fn channels_are_asked_in_go_and_in_rust() {
        for name in [
            "runtime.selectnbrecv",
            "std::sync::mpmc::list::Channel<T>::try_recv",
            "crossbeam_channel::channel::Receiver<T>::try_recv",
        ] {
            assert!(Use::AsksChannel.is_of(&row("/bin/a", name)), "{name}");
        }
        assert!(!Use::AsksChannel.is_of(&row("/bin/a", "std::sync::mpsc::Receiver<T>::recv")));
    }

    #[test]
    fn the_page_of_the_kernel_shows_the_time() {
        assert!(is_clock(&row("[vdso]", "")));
        assert!(is_clock(&row("[vdso]", "__vdso_clock_gettime")));
        assert!(!is_clock(&row("[vdso]", "__vdso_getrandom")));
        assert!(is_clock(&row(
            "/lib/libc.so.6",
            "clock_gettime@@GLIBC_2.17"
        )));
        assert!(!is_clock(&row("/lib/libc.so.6", "clock_nanosleep")));
    }
}
