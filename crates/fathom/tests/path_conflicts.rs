//! No verb overwrites its input.
#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};

/// Runs Fathom in a folder with a file `f` that holds user data. Returns the exit code, standard error, and
/// the content of `f` afterwards.
fn with_a_file(arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f");
    std::fs::write(&file, "keep me\n").unwrap();
    std::os::unix::fs::symlink("f", folder.path().join("same")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(arguments)
        .current_dir(folder.path())
        .env("XDG_CACHE_HOME", "/dev/null/no-folder")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
        std::fs::read_to_string(file).unwrap(),
    )
}

#[test]
fn a_file_that_is_read_is_never_written() {
    for arguments in [
        ["bench", "--input", "f", "--output", "f", "cat"],
        ["bench", "--input", "f", "--output", "same", "cat"],
        ["bench", "--input", "same", "--json", "./f", "cat"],
        ["bench", "--input", "f", "--export-csv", "f", "cat"],
        ["why", "--input", "f", "--output", "f", "cat"],
        ["why", "--output", "new", "--json", "./new", "cat"],
        ["startup", "--input", "f", "--json", "f", "cat"],
    ] {
        let (code, said, left) = with_a_file(&arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {said}");
        assert!(said.contains("choose another file"), "{said}");
        assert_eq!(left, "keep me\n", "{arguments:?}");
    }
    let pipeline = ["pipe", "--input", "f", "--output", "same", "cat", "sort"];
    let (code, said, left) = with_a_file(&pipeline);
    assert_eq!((code, left.as_str()), (Some(2), "keep me\n"), "{said}");
}

#[test]
fn files_of_two_names_are_two_files() {
    let (code, said, left) = with_a_file(&[
        "bench", "-r", "1", "--input", "f", "--output", "g", "--json", "h", "cat",
    ]);
    assert_eq!((code, left.as_str()), (Some(0), "keep me\n"), "{said}");
}
