//! Compiles the C programs of this package.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;

/// Compiles `source`, a file of this package, into `folder`.
///
/// # Errors
/// If there is no C compiler, or the compiler fails.
pub(crate) fn compile(source: &str, flags: &[&str], folder: &Path) -> Result<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let name = source.file_stem().unwrap_or_default();
    let program = folder.join(name);
    let output = Command::new("cc")
        .args(["-O2", "-Wall", "-o"])
        .arg(&program)
        .args(flags)
        .arg(&source)
        .output()
        .map_err(|error| {
            format!("can't start the C compiler 'cc': {error}; install gcc or clang")
        })?;
    if output.status.success() {
        return Ok(program);
    }
    let hint = if flags.contains(&"-static") {
        "\n(-static needs the C library in static form: libc6-dev or glibc-static)"
    } else {
        ""
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "can't compile {}:\n{errors}{hint}",
        source.display()
    ))
}

/// Makes the empty program as small as the one that Fathom starts, with the code in a single segment: mapping
/// a second segment and notes takes 3 to 6 us.
const ONE_SEGMENT: &[&str] = &[
    "-static",
    "-nostdlib",
    "-fno-asynchronous-unwind-tables",
    "-Wl,--build-id=none,-z,noseparate-code",
];

/// Builds in `folder` an empty program like the one that Fathom starts.
///
/// # Errors
/// If the compiler fails.
pub(crate) fn empty_static(folder: &Path) -> Result<PathBuf> {
    compile("subjects/floor.c", ONE_SEGMENT, folder)
}
