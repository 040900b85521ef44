//! Finds the tools.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;

/// Builds Fathom in release mode, regardless of the mode of this suite.
///
/// # Errors
/// If cargo fails.
pub(crate) fn build_fathom(target: &Path) -> Result<PathBuf> {
    build(target, &["--package", "fathom"])?;
    Ok(target.join("release/fathom"))
}

/// Builds the tracing crate's example program, which does nothing but trace.
///
/// # Errors
/// If cargo fails.
pub(crate) fn build_trace_example(target: &Path) -> Result<PathBuf> {
    build(target, &["--package", "fathom-trace", "--example", "trace"])?;
    Ok(target.join("release/examples/trace"))
}

fn build(target: &Path, what: &[&str]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--quiet"])
        .args(what)
        .arg("--manifest-path")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"))
        .arg("--target-dir")
        .arg(target)
        .status()
        .map_err(|error| format!("can't start cargo to build {}: {error}", what.join(" ")))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("cargo can't build {}", what.join(" ")))
    }
}

/// Returns `$HYPERFINE`, or else the one in `PATH`, or else the one in cargo's installation folder. Only
/// version 2 is accepted.
pub(crate) fn find_hyperfine() -> Option<PathBuf> {
    let given = std::env::var_os("HYPERFINE").map(PathBuf::from);
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let installed = home.map(|home| home.join("bin/hyperfine"));
    [given, in_path("hyperfine"), installed]
        .into_iter()
        .flatten()
        .find(|path| version(path).is_some_and(|text| text.starts_with("hyperfine 2.")))
}

/// Returns the file with that name in the first folder of `PATH` that has one.
pub(crate) fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// Returns the first line of the output of `program --version`.
pub(crate) fn version(program: &Path) -> Option<String> {
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output
        .status
        .success()
        .then(|| text.lines().next().map(str::to_string))?
}
