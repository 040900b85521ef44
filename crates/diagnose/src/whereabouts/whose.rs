//! Decides whether a frame is the program's own code or that of a library that it calls.
//!
//! A program doesn't declare this. Source files show it, if a compiler recorded them. Otherwise it is shown
//! by the folder of the binary or, in a binary that contains both (Rust, Go), by the crate or package in the
//! name.

use fathom_stacks::{Frame, is_made_at_run_time};

use crate::file_name::file_name;
use crate::runtimes::{is_interpreter, is_library, is_library_made, is_start, without_suffix};

/// The owner of a frame's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// The program's own code, or a library that came with it.
    Own,
    /// A system library, a runtime, or the language's library.
    Library,
    /// Startup code of a program or a thread, which leads to everything and is therefore not informative.
    Start,
}

/// Folders of the system. `/usr/lib/go-1.24/src` is covered by `/usr/lib/`; trimmed paths have no folder
/// before the package.
const SYSTEM_FOLDERS: [&str; 5] = [
    "/usr/lib",
    "/lib",
    "/usr/libexec",
    "/usr/local/lib",
    "/nix/",
];
pub(super) fn whose(frame: &Frame) -> Whose {
    let name = frame.function.as_deref().map(without_suffix);
    if name.is_some_and(is_start) {
        return Whose::Start;
    }
    // A script without frames only shows the work of its interpreter.
    if is_interpreter(&frame.binary) {
        return match name {
            Some("main") => Whose::Start,
            _ => Whose::Library,
        };
    }
    let source = frame.source_file.as_deref().unwrap_or_default();
    // Frames without any name are unknown.
    if is_made(frame) {
        return match is_library_made(source, frame.function.as_deref()) {
            true => Whose::Library,
            false => Whose::Own,
        };
    }
    if frame.interpreter {
        return Whose::Library;
    }
    match is_system_library(&frame.binary) || is_library(source, name) {
        true => Whose::Library,
        false => Whose::Own,
    }
}

/// Returns whether a runtime or the program generated the code.
pub(super) fn is_made(frame: &Frame) -> bool {
    !frame.binary.is_empty() && is_made_at_run_time(&frame.binary)
}

/// Returns whether this is a library in a system folder, which isn't the user's own. By contrast, a program
/// in such a folder is what the user runs.
pub(crate) fn is_system_library(binary: &str) -> bool {
    let file = file_name(binary);
    let is_library = file.contains(".so");
    let in_system = SYSTEM_FOLDERS
        .iter()
        .any(|folder| binary.starts_with(folder));
    // These are modules of an interpreter that is installed elsewhere, and of its packages.
    let is_module = ["/lib-dynload/", "/site-packages/", "/dist-packages/"];
    let of_interpreter = || is_module.iter().any(|part| binary.contains(part));
    binary.is_empty() || binary.starts_with('[') || is_library && (in_system || of_interpreter())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(binary: &str, function: &str, source: &str) -> Whose {
        whose(&Frame {
            binary: binary.to_owned(),
            function: (!function.is_empty()).then(|| function.to_owned()),
            source_file: (!source.is_empty()).then(|| source.to_owned()),
            ..Frame::default()
        })
    }

    #[test]
    fn a_program_is_the_users_and_a_system_library_is_not() {
        assert_eq!(of("/usr/bin/gzip", "", ""), Whose::Own);
        assert_eq!(of("/home/me/libparse.so", "parse", ""), Whose::Own);
        assert_eq!(
            of("/usr/lib/x86_64-linux-gnu/libc.so.6", "qsort", ""),
            Whose::Library
        );
        assert_eq!(of("[vdso]", "", ""), Whose::Library);
        let module = "/home/me/py/lib/python3.11/lib-dynload/_ssl.cpython-311.so";
        assert_eq!(of(module, "load", "./Modules/_ssl.c"), Whose::Library);
        assert_eq!(of("//anon", "main.js:6", ""), Whose::Own);
        assert_eq!(of("//anon", "sort", "/srv/a.js"), Whose::Own);
        assert_eq!(of("//anon", "open", "node:fs"), Whose::Library);
        assert_eq!(
            of("//anon", "f", "/srv/node_modules/a/b.js"),
            Whose::Library
        );
        assert_eq!(of("//anon", "java.util.ArrayList.add", ""), Whose::Library);
        assert_eq!(of("//anon", "sort.Main.run", ""), Whose::Own);
        assert_eq!(of("/bin/a", "_start", ""), Whose::Start);
        assert_eq!(of("/usr/bin/perl", "main", ""), Whose::Start);
        assert_eq!(of("/usr/bin/perl", "Perl_pp_match", ""), Whose::Library);
        assert_eq!(of("/usr/bin/bash", "main", ""), Whose::Own);
        assert_eq!(
            of(
                "/bin/a",
                "std::sort_numbers",
                "/usr/include/c++/14/bits/stl.h"
            ),
            Whose::Library
        );
    }

    #[test]
    fn one_binary_is_divided_by_crate() {
        for own in [
            "tool::parse",
            "<tool::It as core::iter::traits::iterator::Iterator>::next",
            "<alloc::vec::Vec<u8> as tool::Feed>::feed",
            "tool::main::{{closure}}",
            "void app::sort<std::less<int>>(int*)",
            "parse.constprop.0",
        ] {
            assert_eq!(of("/bin/tool", own, ""), Whose::Own, "{own}");
        }
        for library in [
            "core::ptr::drop_in_place<tool::Big>",
            "<alloc::vec::Vec<tool::T> as core::iter::traits::collect::FromIterator<tool::T>>::from_iter",
            "<[T] as alloc::slice::hack::ConvertVec>::to_vec",
            "alloc::vec::Vec<T,A>::push",
            "void std::__introsort_loop<app::It>(app::It)",
            "std::vector<app::T>::push_back(app::T&&)",
            "operator new(unsigned long)",
        ] {
            assert_eq!(of("/bin/tool", library, ""), Whose::Library, "{library}");
        }
        let dependency = "/root/.cargo/registry/src/index/regex-1.10/src/lib.rs";
        assert_eq!(
            of("/bin/tool", "regex::Regex::new", dependency),
            Whose::Library
        );
    }

    #[test]
    fn one_binary_is_divided_by_package() {
        for own in [
            "main.parseLine",
            "main.(*T).run",
            "example.com/tool/parse.Line",
        ] {
            assert_eq!(of("/bin/tool", own, ""), Whose::Own, "{own}");
        }
        for library in [
            "regexp.(*Regexp).doExecute",
            "net/http.(*conn).serve",
            "runtime.mallocgc",
        ] {
            assert_eq!(of("/bin/tool", library, ""), Whose::Library, "{library}");
        }
        assert_eq!(of("/bin/tool", "runtime.goexit.abi0", ""), Whose::Start);
    }
}
