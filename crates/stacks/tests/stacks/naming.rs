//! Tests that functions, inlined functions and lines match the source.

use std::path::Path;
use std::process::Command;

use fathom_stacks::{Frame, named};

use crate::stopped::{COPY, Program, Stopped};

/// Line numbers refer to this text, whose first line is empty.
const INLINED: &str = r#"
#include <stdlib.h>
static inline __attribute__((always_inline)) void innermost(void) {
    __asm__ volatile("int3");
}
static inline __attribute__((always_inline)) void middle(void) {
    innermost();
}
__attribute__((noinline)) int compare(const void *a, const void *b) {
    middle();
    return *(const int *)a - *(const int *)b;
}
int main(void) {
    int numbers[] = { 2, 1 };
    qsort(numbers, 2, sizeof numbers[0], compare);
    return numbers[0];
}
"#;

/// Returns the frames of the program, without those of libraries.
fn frames(program: &Path) -> Vec<Frame> {
    let stopped = Stopped::at_breakpoint(program, COPY);
    let chain = stopped.chain();
    let named = named(&stopped.files, chain.places.iter().copied());
    let frames = chain.places.iter().flat_map(|place| named[place].clone());
    let own = program.to_str().expect("text");
    frames.filter(|frame| frame.binary == own).collect()
}

fn run(program: &Program, command: &[&str]) -> bool {
    let ran = Command::new(command[0])
        .args(&command[1..])
        .current_dir(program.path.parent().expect("it has a folder"))
        .output();
    match ran {
        Ok(ran) => {
            let said = String::from_utf8_lossy(&ran.stderr);
            assert!(ran.status.success(), "{command:?}: {said}");
            true
        }
        Err(_) => {
            fathom_test_log::skipped(&format!("there is no {}", command[0]));
            false
        }
    }
}

fn compiled(options: &[&str]) -> Option<Program> {
    let mut command = vec!["gcc", "-O2", "-o", "program"];
    command.extend(options);
    Program::compiled(INLINED, "inlined.c", &command)
}

fn has_lines(program: &Program) {
    let frames = frames(&program.path);
    let told: Vec<_> = frames
        .iter()
        .take(4)
        .map(|it| (it.function.as_deref().unwrap_or(""), it.line, it.inlined))
        .collect();
    let expected = [
        ("innermost", Some(4), true),
        ("middle", Some(7), true),
        ("compare", Some(10), false),
        ("main", Some(15), false),
    ];
    assert_eq!(told, expected);
    let source = frames[0].source_file.as_deref().expect("known");
    assert!(source.ends_with("inlined.c"), "{source}");
}

#[test]
fn inlined_functions_and_lines_are_those_of_the_source() {
    for options in [
        &["-g"][..],
        &["-g", "-gdwarf-4"],
        &["-g", "-gz"],
        &["-g", "-gsplit-dwarf"],
        &["-g", "-flto"],
    ] {
        let Some(program) = compiled(options) else {
            return;
        };
        has_lines(&program);
    }
}

#[test]
fn debug_information_that_was_split_off_is_found_beside_the_program() {
    for build_id in ["-Wl,--build-id", "-Wl,--build-id=none"] {
        let Some(program) = compiled(&["-g", build_id]) else {
            return;
        };
        let debug = ["objcopy", "--only-keep-debug", "program", "program.debug"];
        let link = ["objcopy", "--add-gnu-debuglink=program.debug", "program"];
        if !run(&program, &debug) {
            return;
        }
        run(&program, &["strip", "program"]);
        run(&program, &link);
        has_lines(&program);
        // Debug information of another build gives no names rather than wrong ones.
        let source = program.path.with_file_name("inlined.c");
        std::fs::write(source, INLINED.replace("middle", "center")).expect("written");
        run(
            &program,
            &["gcc", "-O1", "-g", build_id, "-o", "other", "inlined.c"],
        );
        run(
            &program,
            &["objcopy", "--only-keep-debug", "other", "program.debug"],
        );
        let frames = frames(&program.path);
        assert!(frames[0].function.is_none() && frames[0].line.is_none());
    }
}

#[test]
fn split_debug_information_is_found_in_a_package() {
    let Some(program) = compiled(&["-g", "-gdwarf-4", "-gsplit-dwarf"]) else {
        return;
    };
    if !run(&program, &["dwp", "-e", "program"]) {
        return;
    }
    for entry in std::fs::read_dir(program.path.parent().expect("a folder")).expect("read") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|it| it == "dwo") {
            std::fs::remove_file(path).expect("removed");
        }
    }
    has_lines(&program);
}

#[test]
fn names_that_are_packed_into_the_program_are_read() {
    let Some(program) = compiled(&["-Wl,-E"]) else {
        return;
    };
    let names = [
        "objcopy",
        "-S",
        "--keep-symbol=main",
        "--keep-symbol=compare",
        "program",
        "names",
    ];
    if !run(&program, &names) || !run(&program, &["xz", "names"]) {
        return;
    }
    run(&program, &["strip", "program"]);
    run(
        &program,
        &[
            "objcopy",
            "--add-section",
            ".gnu_debugdata=names.xz",
            "program",
        ],
    );
    let frames = frames(&program.path);
    let names: Vec<_> = frames
        .iter()
        .filter_map(|it| it.function.as_deref())
        .collect();
    assert_eq!(names[..2], ["compare", "main"]);
}

#[test]
fn a_function_without_a_name_is_known_by_its_beginning() {
    let Some(program) = compiled(&["-static"]) else {
        return;
    };
    let whole = frames(&program.path);
    run(&program, &["strip", "program"]);
    let stripped = frames(&program.path);
    assert_eq!(stripped.len(), whole.len());
    assert!(stripped.iter().all(|frame| frame.function.is_none()));
    // One function occurs at two places, `compare` and `main` at one each.
    let begin = |at: usize| stripped[at].offset.expect("a byte");
    assert_eq!(begin(0) % 16, 0, "functions begin at multiples of 16");
    assert_ne!(begin(0), begin(1));
}

#[test]
fn what_is_before_a_place_without_a_name_is_said() {
    let source = r#"
        __attribute__((noinline, visibility("hidden"))) void hidden(void) { __asm__ volatile("int3"); }
        __attribute__((noinline)) void exported(void) { hidden(); __asm__ volatile(""); }
        int main(void) { exported(); return 1; }
    "#;
    let command = [
        "gcc",
        "-O2",
        "-fno-toplevel-reorder",
        "-Wl,-E",
        "-o",
        "program",
    ];
    let Some(program) = Program::compiled(source, "hidden.c", &command) else {
        return;
    };
    run(&program, &["strip", "program"]);
    let frames = frames(&program.path);
    assert_eq!(frames[0].function, None);
    assert!(frames[0].offset.is_some());
    assert_eq!(frames[1].function.as_deref(), Some("exported"));
    assert!(frames[0].after.is_some(), "{frames:?}");
}

#[test]
fn a_stub_has_the_name_of_what_it_calls() {
    // The breakpoint overwrites the stub's first byte.
    let source = r#"
        #include <stdio.h>
        #include <sys/mman.h>
        int main(void) {
            unsigned char *stub = (unsigned char *)puts;
            mprotect((void *)((unsigned long)stub & -4096), 4096, 7);
            *stub = 0xcc;
            return puts("text");
        }
    "#;
    let command = ["gcc", "-O0", "-no-pie", "-fno-pie", "-o", "program"];
    let Some(program) = Program::compiled(source, "stub.c", &command) else {
        return;
    };
    let frames = frames(&program.path);
    assert_eq!(frames[0].function.as_deref(), Some("puts@plt"));
    assert_eq!(frames[1].function.as_deref(), Some("main"));
}

#[test]
fn lines_of_go_are_known_without_debug_information() {
    let source = "package main\n\nimport \"runtime\"\n\n//go:noinline\nfunc stop() {\n\truntime.Breakpoint()\n}\n\n\
                  func main() {\n\truntime.LockOSThread()\n\tstop()\n}\n";
    let command = ["go", "build", "-ldflags=-s -w", "-o", "program"];
    let Some(program) = Program::compiled(source, "lines.go", &command) else {
        return;
    };
    let frames = frames(&program.path);
    let at = |name: &str| {
        let frame = frames
            .iter()
            .find(|it| it.function.as_deref() == Some(name));
        let frame = frame.expect("it is there");
        let source = frame.source_file.as_deref().unwrap_or("");
        assert!(source.ends_with("lines.go"), "{source}");
        frame.line
    };
    assert_eq!(at("main.stop"), Some(7));
    assert_eq!(at("main.main"), Some(12));
    // Its only statement comes from another function.
    let inlined = frames.iter().find(|it| it.inlined).expect("it is inlined");
    assert_eq!(inlined.function.as_deref(), Some("runtime.Breakpoint"));
}

#[test]
fn a_file_that_was_changed_after_it_was_mapped_gives_no_names() {
    let Some(program) = compiled(&["-g"]) else {
        return;
    };
    let stopped = Stopped::at_breakpoint(&program.path, COPY);
    let chain = stopped.chain();
    let file = std::fs::OpenOptions::new().append(true).open(&program.path);
    std::io::Write::write_all(&mut file.expect("opens"), b"more").expect("written");
    let named = named(&stopped.files, chain.places.iter().copied());
    let own = program.path.to_str().expect("text");
    let frames = named.values().flatten().filter(|it| it.binary == own);
    let names: Vec<_> = frames.map(|it| it.function.clone()).collect();
    assert!(
        !names.is_empty() && names.iter().all(Option::is_none),
        "{names:?}"
    );
}

#[test]
fn the_package_with_the_symbols_of_a_distributions_program_is_known() {
    if !Path::new("/var/lib/dpkg/info/coreutils.list").exists() {
        fathom_test_log::skipped("no package of Debian's or Ubuntu's");
        return;
    }
    let package = fathom_stacks::package_of_symbols("/usr/bin/sort");
    // If the symbols are installed, there is nothing to recommend.
    assert!(
        [None, Some("coreutils-dbgsym")].contains(&package.as_deref()),
        "{package:?}"
    );
    let own = std::env::current_exe().expect("this program");
    assert_eq!(
        fathom_stacks::package_of_symbols(own.to_str().expect("text")),
        None
    );
}
