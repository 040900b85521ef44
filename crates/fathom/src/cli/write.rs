//! Writes results to files and standard output, completely or not at all.

use std::path::{Path, PathBuf};

use crate::cli::failure::{Failure, usage};
use crate::cli::out;

/// Returns whether the path stands for standard output.
pub(super) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns the path if the record can be written to it repeatedly during the measurement.
pub(super) fn grows(path: Option<&Path>) -> Option<PathBuf> {
    path.filter(|path| is_replaceable(path))
        .map(Path::to_path_buf)
}

/// Returns the path if the record can be written to it only once, at the end.
pub(super) fn not_grown(path: Option<&Path>) -> Option<&Path> {
    path.filter(|path| !is_replaceable(path))
}

/// Returns whether the file is, or will be, one that can be overwritten and renamed: not a pipe or a device.
fn is_replaceable(path: &Path) -> bool {
    !is_stdout(path) && std::fs::metadata(path).map_or(true, |about| about.is_file())
}

/// Returns the requested files.
pub(super) fn given<'a>(files: &[&'a Option<PathBuf>]) -> Vec<&'a Path> {
    files.iter().filter_map(|path| path.as_deref()).collect()
}

/// Checks, before anything is measured, that the files can be written afterwards.
///
/// # Errors
/// [`Failure::Usage`] naming the file.
pub(super) fn check(files: &[&Option<PathBuf>]) -> Result<(), Failure> {
    let files = given(files);
    let mut others = files.iter().enumerate();
    if let Some((_, twice)) = others.find(|(at, path)| files[..*at].contains(path)) {
        let shown = match is_stdout(twice) {
            true => "standard output".to_owned(),
            false => twice.display().to_string(),
        };
        return usage(format!(
            "two results can't both be written to {shown}; give each its own file"
        ));
    }
    for path in files.into_iter().filter(|path| !is_stdout(path)) {
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if path.is_dir() || !folder.is_dir() {
            return usage(format!(
                "can't write {}: {}",
                path.display(),
                if path.is_dir() {
                    "it is a directory"
                } else {
                    "its folder does not exist"
                }
            ));
        }
        if is_replaceable(path) {
            try_beside(path)?;
        }
    }
    Ok(())
}

/// Creates a file next to `path`, as the final write will do, and removes it again: an existing folder may
/// still not allow new files.
fn try_beside(path: &Path) -> Result<(), Failure> {
    let tried = fathom_measure::Beside::create(path);
    tried
        .map(drop)
        .map_err(|error| Failure::Usage(format!("can't write {}: {error}", path.display())))
}

/// Writes to standard output; a reader that stops early is not an error.
///
/// # Errors
/// [`Failure::Write`] if the text can't be written.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    out::print(text).map_err(to_stdout)
}

/// An optional output file, and the function that renders its content.
pub(super) type Form<'a> = (Option<&'a Path>, &'a dyn Fn() -> String);

/// Prints the text from `shown`, unless one of the forms goes to standard output, and writes the requested
/// forms.
///
/// # Errors
/// [`Failure::Write`] if one of them can't be written.
pub(super) fn results(shown: impl FnOnce() -> String, forms: &[Form]) -> Result<(), Failure> {
    let given = || forms.iter().filter_map(|(path, text)| path.zip(Some(text)));
    if !given().any(|(path, _)| is_stdout(path)) {
        print(&shown())?;
    }
    given().try_for_each(|(path, text)| export(path, text()))
}

/// Prints where the page is, if one was requested.
pub(super) fn say_page(path: Option<&Path>) {
    if let Some(path) = path.filter(|path| !is_stdout(path)) {
        let path = fathom_report::escape(&path.display().to_string());
        out::say!("the page is in {path}");
    }
}

/// Returns the failure for an error on standard output.
pub(super) fn to_stdout(error: std::io::Error) -> Failure {
    Failure::Write {
        path: "standard output".into(),
        error,
    }
}

/// Writes to a temporary file next to the target and renames it, so the file is either complete or missing;
/// `-` is standard output.
///
/// # Errors
/// [`Failure::Write`] if the file can't be written.
pub(super) fn export(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Failure> {
    if is_stdout(path) {
        return out::print_for_programs(text.as_ref()).map_err(to_stdout);
    }
    let failed = |error| Failure::Write {
        path: path.to_path_buf(),
        error,
    };
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return std::fs::write(path, text).map_err(failed);
    }
    fathom_measure::write_whole(path, text).map_err(failed)
}
