//! Which tests ran, and which were skipped for lack of a privilege. For tests only.
//!
//! A test that returns early passes, and nobody sees that it proved nothing. So it says here why, past the
//! capture of the test harness, and in the file that `FATHOM_TEST_LOG` names, where `.ci/run` counts.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Names the file; absolute, as tests run in the folder of their package.
const LOG: &str = "FATHOM_TEST_LOG";

/// Prints and logs that the calling test leaves out what it can't do here, and why.
pub fn skipped(why: &str) {
    let line = format!("skipped: {}: {why}\n", test());
    // Not `eprint!`: the harness shows what that prints only of tests that fail.
    let _ = std::io::stderr().write_all(line.as_bytes());
    log(&line);
}

/// Whether a tier of tracing is available, logged either way; `why_not` is asked only where it isn't.
pub fn tier(name: &str, available: bool, why_not: impl FnOnce() -> String) -> bool {
    match available {
        true => log(&format!("ran: {name}: {}\n", test())),
        false => skipped(&format!("tier {name}: {}", why_not())),
    }
    available
}

/// Copies a program that the test will execute.
///
/// By a process of its own: a test that copied it itself would hold the copy open for writing, and so
/// would each child that another test forks meanwhile, until that child executes its own program.
///
/// # Panics
/// If `cp` can't be started or fails.
pub fn copy_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let copied = Command::new("cp")
        .arg(from.as_ref())
        .arg(to.as_ref())
        .status();
    assert!(copied.expect("cp can be started").success(), "cp failed");
}

/// The harness names each test's thread after it.
fn test() -> String {
    let thread = std::thread::current();
    thread.name().unwrap_or("unknown test").to_string()
}

/// One write in append mode: lines of tests that run side by side don't mix.
fn log(line: &str) {
    let Some(path) = std::env::var_os(LOG) else {
        return;
    };
    let file = OpenOptions::new().append(true).create(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("{LOG}={}: {error}", path.display()));
}
