//! Records which tests ran, and which were skipped for lack of a privilege. For tests only.
//!
//! A test that returns early passes, although it proved nothing. Such a test therefore reports its reason
//! here. The reason is printed, bypassing the capture of the test harness, and written to the file given by
//! `FATHOM_TEST_LOG`, where `.ci/run` counts it.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// The environment variable with the path of the log. The path must be absolute, because tests run in the
/// folder of their package.
const LOG: &str = "FATHOM_TEST_LOG";

/// Prints and logs that the calling test is skipped, and why.
pub fn skipped(why: &str) {
    let line = format!("skipped: {}: {why}\n", test());
    // Not `eprint!`: the harness shows its output only for tests that fail.
    let _ = std::io::stderr().write_all(line.as_bytes());
    log(&line);
}

/// Returns whether a tier of tracing is available, and logs it; `why_not` is called only if it isn't.
pub fn tier(name: &str, available: bool, why_not: impl FnOnce() -> String) -> bool {
    match available {
        true => log(&format!("ran: {name}: {}\n", test())),
        false => skipped(&format!("tier {name}: {}", why_not())),
    }
    available
}

/// Copies a program that the test will execute.
///
/// A separate process makes the copy. If the test copied the program itself, it would hold the copy open for
/// writing. A child that another test forks at that moment would then hold it open too, until that child
/// executes its own program.
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

/// Returns the name of the test, which the harness gives to its thread.
fn test() -> String {
    let thread = std::thread::current();
    thread.name().unwrap_or("unknown test").to_string()
}

/// Writes the line with a single append, so that lines of concurrent tests don't mix.
fn log(line: &str) {
    let Some(path) = std::env::var_os(LOG) else {
        return;
    };
    let file = OpenOptions::new().append(true).create(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("{LOG}={}: {error}", path.display()));
}
