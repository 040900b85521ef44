//! Ensures that a file is never both read and written. Otherwise, a measurement could empty its own input, or
//! a report could overwrite the user's data.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fathom_measure::{CommandLine, Input, Output};

use crate::cli::failure::{Failure, usage};
use crate::cli::write;

/// Checks for conflicts before anything runs. `written` are the files that Fathom writes itself; `-` is
/// ignored.
///
/// # Errors
/// [`Failure::Usage`] naming the file and both its uses.
pub(super) fn check<'a>(
    commands: impl IntoIterator<Item = &'a CommandLine>,
    written: &[&'a Option<PathBuf>],
) -> Result<(), Failure> {
    let commands = commands.into_iter();
    check_files(commands.map(|one| (&one.input, &one.output)), written)
}

/// Checks only inputs and outputs.
///
/// # Errors
/// As for [`check`].
pub(super) fn check_files<'a>(
    files: impl IntoIterator<Item = (&'a Input, &'a Output)>,
    written: &[&'a Option<PathBuf>],
) -> Result<(), Failure> {
    let (mut inputs, mut outputs): (Vec<&Path>, Vec<&Path>) = (Vec::new(), Vec::new());
    for (input, output) in files {
        if let Input::File(path) = input {
            inputs.push(path);
        }
        if let Output::File(path) = output {
            outputs.push(path);
        }
    }
    let mut written = write::given(written);
    written.retain(|path| !write::is_stdout(path));
    let refuse = |path: &Path, why: &str| {
        let path = path.display();
        usage(format!("{path} {why}; choose another file"))
    };
    if let Some(path) = shared(&inputs, &outputs) {
        return refuse(
            path,
            "is both --input and --output: it would be emptied before it is read",
        );
    }
    if let Some(path) = shared(&inputs, &written) {
        return refuse(path, "is the input and would be overwritten by a result");
    }
    if let Some(path) = shared(&outputs, &written) {
        return refuse(
            path,
            "is the program's output and would be overwritten by a result",
        );
    }
    Ok(())
}

fn shared<'a>(some: &[&'a Path], others: &[&Path]) -> Option<&'a Path> {
    let others: Vec<Identity> = others.iter().filter_map(|path| identity(path)).collect();
    some.iter()
        .find(|path| identity(path).is_some_and(|own| others.contains(&own)))
        .copied()
}

/// The identity of a file, used to detect two paths to the same file.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    /// Device and inode of an existing file.
    There(u64, u64),
    /// The path of a file that doesn't exist yet.
    NotYet(PathBuf),
}

/// Returns the identity of a file; `None` for devices and pipes, which can't lose data.
fn identity(path: &Path) -> Option<Identity> {
    match std::fs::metadata(path) {
        Ok(about) if about.is_file() => Some(Identity::There(about.dev(), about.ino())),
        Ok(_) => None,
        Err(_) => {
            let folder = match path.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent,
                _ => Path::new("."),
            };
            let folder = folder.canonicalize().unwrap_or(folder.to_path_buf());
            let name = path.file_name().unwrap_or_default();
            Some(Identity::NotYet(folder.join(name)))
        }
    }
}
