//! Resolves what a name really runs: symbolic links, scripts, interpreters.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The maximum nesting of interpreters, as in the kernel.
const DEEPEST: usize = 5;
/// The number of bytes of a first line that the kernel reads.
const FIRST_LINE: usize = 256;

/// Returns the file itself, its interpreter if it is a script, and so on. Links are resolved.
pub fn files_of(program: &Path, directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut next = Some(directory.join(program));
    while let Some(path) = next.take().filter(|_| all.len() < DEEPEST) {
        let path = fs::canonicalize(&path).unwrap_or(path);
        next = interpreter_of(&path).map(|name| directory.join(name));
        all.push(path);
    }
    all
}

/// Returns the interpreter named in the first line.
fn interpreter_of(path: &Path) -> Option<PathBuf> {
    interpreter(&start_of(path, FIRST_LINE))
}

fn interpreter(start: &[u8]) -> Option<PathBuf> {
    let line = start.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    let word = line
        .split(|byte| *byte == b' ' || *byte == b'\t')
        .find(|word| !word.is_empty())?;
    Some(PathBuf::from(OsStr::from_bytes(word)))
}

/// Returns the first bytes of a file; fewer if it is shorter, none if it can't be read.
pub(crate) fn start_of(path: &Path, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    // An unreadable file gives no information, which is a valid answer.
    if let Ok(file) = fs::File::open(path) {
        let _ = file.take(most as u64).read_to_end(&mut bytes);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_names_the_interpreter() {
        let name = |text: &str| interpreter(text.as_bytes());
        assert_eq!(name("#!/bin/sh -e\necho"), Some("/bin/sh".into()));
        assert_eq!(
            name("#! /usr/bin/env python3\n"),
            Some("/usr/bin/env".into())
        );
        assert_eq!(name("#!\n"), None);
        assert_eq!(name("echo"), None);
    }

    #[test]
    fn a_script_behind_a_link_is_followed_to_its_interpreter() {
        let folder = tempfile::tempdir().unwrap();
        let here = fs::canonicalize(folder.path()).unwrap();
        fs::write(here.join("script"), "#!/bin/sh\n").unwrap();
        std::os::unix::fs::symlink("script", here.join("link")).unwrap();
        let files = files_of(Path::new("link"), &here);
        assert_eq!(files[0], here.join("script"));
        assert_eq!(files[1], fs::canonicalize("/bin/sh").unwrap());
        assert_eq!(files.len(), 2);
    }

    #[test]
    fn a_script_that_interprets_itself_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loop");
        fs::write(&path, format!("#!{}\n", path.display())).unwrap();
        assert_eq!(files_of(&path, Path::new("/")).len(), DEEPEST);
    }

    #[test]
    fn a_changed_first_line_names_one_word_of_itself_or_nothing() {
        for bytes in crate::mutated::mutated(b"#! /usr/bin/env -S python3\nprint(1)\n") {
            let Some(name) = interpreter(&bytes) else {
                continue;
            };
            let name = name.as_os_str().as_bytes();
            assert!(bytes.starts_with(b"#!") && !name.is_empty());
            assert!(bytes.windows(name.len()).any(|part| part == name));
            assert!(!name.iter().any(|byte| b" \t\n".contains(byte)));
        }
    }
}
