//! Runs the tests of the Python module `fathom_lab` with the built program.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

#[test]
fn the_module_follows_the_records_and_the_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // The module needs Python 3.10.
    let asked = "import sys; sys.exit(sys.version_info < (3, 10))";
    let has_python = Command::new("python3").args(["-c", asked]).status();
    if !has_python.is_ok_and(|status| status.success()) {
        return fathom_test_log::skipped("no python3 of 3.10 or newer is here");
    }
    let data = tempfile::tempdir().unwrap();
    let output = Command::new("python3")
        .arg("python/test_fathom_lab.py")
        .current_dir(root)
        .env("FATHOM", env!("CARGO_BIN_EXE_fathom"))
        .env("XDG_DATA_HOME", data.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
