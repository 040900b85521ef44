//! The installed Pythons, by their real paths: a command with such a name may be a script.

use std::path::PathBuf;
use std::process::Command;

/// Names of the supported versions. If a version manager has several, it runs the requested one.
const NAMES: [&str; 4] = ["python3.11", "python3.12", "python3.13", "python3.14"];

/// Returns those of the supported versions and of `more` that are installed.
pub(crate) fn found<'a>(more: impl IntoIterator<Item = &'a str>) -> Vec<PathBuf> {
    let names = NAMES.into_iter().chain(more);
    let found = names.filter_map(|name| {
        let mut command = Command::new(name);
        let output = command
            .args(["-c", "import sys; print(sys.executable)"])
            .env("PYENV_VERSION", name.trim_start_matches("python"))
            .output()
            .ok()?;
        let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
        (output.status.success() && path.is_file()).then_some(path)
    });
    found.collect()
}
