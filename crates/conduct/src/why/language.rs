//! Detects a program's language from the marks that its compiler leaves.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use fathom_diagnose::Language;

/// The maximum number of bytes read from a program; compilers leave their marks in the read-only data, early
/// in the file.
const READ_BYTES: u64 = 64 << 20;

/// Returns the language of the program in this file; for a script, the language that its first line names.
/// Returns `None` if nothing in the file shows it; the interpreter's name then decides.
pub(crate) fn language_of(program: &Path) -> Option<Language> {
    let mut content = Vec::new();
    // The path may now be a pipe, and reading from it would block.
    if !program.metadata().ok()?.is_file() || runs_scripts(program) {
        return None;
    }
    File::open(program)
        .ok()?
        .take(READ_BYTES)
        .read_to_end(&mut content)
        .ok()?;
    by_marks(&content)
}

const UNBUFFERED: &str = "PYTHONUNBUFFERED";

/// Reports whether `PYTHONUNBUFFERED` is set to a nonempty value for the command. `variables` are added to
/// Fathom's own environment, which is consulted as well.
pub(super) fn python_unbuffered(variables: &[(OsString, OsString)]) -> bool {
    match variables.iter().any(|(name, _)| name == UNBUFFERED) {
        true => is_unbuffered(variables),
        false => std::env::var_os(UNBUFFERED).is_some_and(|value| !value.is_empty()),
    }
}

/// Reports whether the last assignment of `PYTHONUNBUFFERED` among these variables sets it to a nonempty
/// value.
pub(super) fn is_unbuffered(variables: &[(OsString, OsString)]) -> bool {
    let last = variables.iter().rev().find(|(name, _)| name == UNBUFFERED);
    last.is_some_and(|(_, value)| !value.is_empty())
}

/// Returns the language of the interpreter in a script's first line, named directly or as an argument of
/// `env`.
fn of_script(content: &[u8]) -> Option<Language> {
    let line = content
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_ascii_whitespace();
    let interpreter = words.next()?;
    if !interpreter.ends_with("/env") {
        return Language::from_program_name(interpreter);
    }
    let is_option = |word: &&str| word.starts_with('-') || word.contains('=');
    Language::from_program_name(words.find(|word| !is_option(word))?)
}

fn by_marks(content: &[u8]) -> Option<Language> {
    if content.starts_with(b"#!") {
        return of_script(content);
    }
    if !content.starts_with(b"\x7fELF") {
        return None;
    }
    // Rust leaves the path of its own sources in panic messages; Go writes the magic number of its build
    // information.
    if contains(content, b"/rustc/") {
        return Some(Language::Rust);
    }
    if contains(content, b"\xff Go buildinf:") {
        return Some(Language::Go);
    }
    let is_c = C_COMPILERS.iter().any(|mark| contains(content, mark));
    let of_others = || OTHERS.iter().any(|mark| contains(content, mark));
    (is_c && !of_others()).then_some(Language::C)
}

/// Marks that C and C++ compilers leave in `.comment`. Distributions strip that section from their packages.
const C_COMPILERS: [&[u8]; 2] = [b"GCC: (", b"clang version "];

/// Marks of other languages whose programs are linked with the C startup code: Fortran, OCaml, Haskell, D,
/// Ada, Swift, Nim, Pascal, Zig, Crystal.
const OTHERS: [&[u8]; 10] = [
    b"_gfortran_",
    b"caml_startup",
    b"stg_ap_",
    b"_d_run_main",
    b"__gnat_",
    b"swift_retain",
    b"NimMain",
    b"FPC_",
    b"zig ",
    b"__crystal_main",
];

/// Interpreters written in C. Their users write in another language, for which there is no advice.
const INTERPRETERS: [&str; 12] = [
    "lua", "luajit", "php", "awk", "gawk", "mawk", "tclsh", "R", "guile", "julia", "gdb", "make",
];

fn runs_scripts(program: &Path) -> bool {
    let name = program.file_name().and_then(|name| name.to_str());
    let stem = name.map(|name| name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'));
    stem.is_some_and(|stem| INTERPRETERS.contains(&stem))
}

fn contains(content: &[u8], mark: &[u8]) -> bool {
    memchr::memmem::find(content, mark).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_is_as_good_as_none_and_the_commands_own_goes_first() {
        let set = |value: &str| [(OsString::from("PYTHONUNBUFFERED"), OsString::from(value))];
        assert!(python_unbuffered(&set("1")));
        assert!(!python_unbuffered(&set("")));
    }

    #[test]
    fn a_script_is_known_by_its_first_line() {
        let python = Some(Language::Python);
        assert_eq!(by_marks(b"#!/opt/3.11/bin/python3.11\nimport sys"), python);
        assert_eq!(by_marks(b"#! /usr/bin/env -S python3 -B\n"), python);
        assert_eq!(by_marks(b"#!/usr/bin/env\n"), None);
        assert_eq!(by_marks(b"#!"), None);
    }

    #[test]
    fn compilers_are_known_by_their_marks() {
        let own = std::env::current_exe().unwrap();
        assert_eq!(
            language_of(&own),
            Some(Language::Rust),
            "this test is written in Rust"
        );
        assert_eq!(
            by_marks(b"\x7fELF...\xff Go buildinf:\x08"),
            Some(Language::Go)
        );
        let c = b"\x7fELF...GCC: (Debian 12.2.0) 12.2.0";
        assert_eq!(by_marks(c), Some(Language::C));
        assert_eq!(by_marks(b"\x7fELF_gfortran_st_write GCC: (GNU) 13"), None);
        assert_eq!(by_marks(b"\x7fELF nobody knows by whom"), None);
        assert!(runs_scripts(Path::new("/usr/local/bin/lua5.4")));
        assert!(!runs_scripts(Path::new("/usr/local/bin/luau-lsp")));
        assert_eq!(by_marks(b"#!/bin/awk # /rustc/"), None);
        assert_eq!(language_of(Path::new("/no/such/file")), None);
    }
}
