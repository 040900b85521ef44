//! Finds programs as a shell does, and suggests similar names.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::MeasureError;

/// Returns the path of the program `name`, as a shell would find it: names with a slash are used as they are
/// (relative to `directory` if given), and others are searched for in `PATH`.
///
/// # Errors
/// [`MeasureError::NoSuchProgram`], with a similar name if there is one; [`MeasureError::NotExecutable`] for
/// directories, files without permission, and text files that don't name their interpreter.
pub fn find(name: &OsStr, path: &OsStr, directory: Option<&Path>) -> Result<PathBuf, MeasureError> {
    if name.is_empty() {
        return Err(MeasureError::NoSuchProgram {
            name: "\"\" (an empty name)".into(),
            hint: None,
        });
    }
    let base = directory.unwrap_or(Path::new(""));
    if name.as_encoded_bytes().contains(&b'/') {
        let program = PathBuf::from(name);
        let seen_from_here = base.join(&program);
        if !seen_from_here.exists() {
            let missing = not_found(name, sibling(&seen_from_here, &program));
            return Err(within(missing, directory.filter(|_| program.is_relative())));
        }
        check(&seen_from_here)?;
        return Ok(program);
    }
    let mut refused = None;
    for folder in std::env::split_paths(path) {
        let folder = if folder.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            folder
        };
        let candidate = folder.join(name);
        if candidate.is_file() {
            match check(&candidate) {
                Ok(()) => return Ok(candidate),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
    }
    Err(refused.unwrap_or_else(|| {
        let names = std::env::split_paths(path).filter_map(|p| fs::read_dir(p).ok()).flatten();
        let names = names.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let wanted = name.to_string_lossy();
        if base.join(name).is_file() {
            return not_found(name, Some(format!("./{wanted}")));
        }
        if wanted.contains(char::is_whitespace) {
            return MeasureError::NoSuchProgram {
                name: wanted.to_string(),
                hint: Some(
                    "; after --, each word is a separate argument: to give the command as one quoted string, remove \
                     the --"
                        .into(),
                ),
            };
        }
        not_found(name, most_similar(&wanted, names))
    }))
}

fn not_found(name: &OsStr, similar: Option<String>) -> MeasureError {
    MeasureError::NoSuchProgram {
        name: name.to_string_lossy().into_owned(),
        hint: similar.map(|similar| format!("; did you mean {similar}?")),
    }
}

/// Adds where the program was searched for, if that isn't the user's current directory.
fn within(missing: MeasureError, directory: Option<&Path>) -> MeasureError {
    match (missing, directory) {
        (MeasureError::NoSuchProgram { name, hint }, Some(directory)) => {
            MeasureError::NoSuchProgram {
                name: format!("{name} in the directory {} (--cwd)", directory.display()),
                hint,
            }
        }
        (missing, _) => missing,
    }
}

fn sibling(missing: &Path, as_given: &Path) -> Option<String> {
    let folder = missing.parent()?;
    let names = fs::read_dir(folder).ok()?.flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let similar = most_similar(missing.file_name()?.to_str()?, names)?;
    Some(as_given.with_file_name(similar).display().to_string())
}

fn check(program: &Path) -> Result<(), MeasureError> {
    let refuse = |reason: &str| {
        Err(MeasureError::NotExecutable {
            path: program.to_path_buf(),
            reason: reason.to_string(),
        })
    };
    let Ok(metadata) = fs::metadata(program) else {
        return refuse("you don't have search permission for its folder");
    };
    if metadata.is_dir() {
        return refuse("it is a directory");
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return refuse("it has no execute permission; `chmod +x` adds it");
    }
    // An unreadable file (mode 111) may still be executable.
    let mut start = [0u8; 256];
    let Ok(mut file) = fs::File::open(program) else {
        return Ok(());
    };
    let length = file.read(&mut start).unwrap_or(0);
    match &start[..length] {
        [b'#', b'!', ..] | [0x7f, b'E', b'L', b'F'] => Ok(()),
        [] => refuse("it is empty"),
        // Other formats may be registered with the kernel (binfmt_misc), so only text is refused.
        text if text
            .iter()
            .all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace() || !b.is_ascii()) =>
        {
            refuse("it is a script without a `#!` line; add one, or name its interpreter")
        }
        _ => Ok(()),
    }
}

/// Returns the name that differs least from `wanted`, if the difference is small enough for a typo. Names of
/// one or two characters may differ only in case, because any other difference means a different program.
fn most_similar(wanted: &str, mut names: impl Iterator<Item = String>) -> Option<String> {
    let limit = match wanted.chars().count() {
        ..=2 => return names.find(|name| name != wanted && name.eq_ignore_ascii_case(wanted)),
        3 => 1,
        _ => 2,
    };
    names
        .filter(|name| name.len().abs_diff(wanted.len()) <= limit)
        .map(|name| (distance(wanted, &name), name))
        // Two typos, one of them in the first letter, make a different word.
        .filter(|(distance, name)| {
            let allowed = match name.chars().next() == wanted.chars().next() {
                true => limit,
                false => 1,
            };
            (1..=allowed).contains(distance)
        })
        // On ties, prefer one with the same prefix, then the first in alphabetical order.
        .min_by_key(|(distance, name)| {
            let same_start = name
                .chars()
                .zip(wanted.chars())
                .take_while(|(a, b)| a == b)
                .count();
            (*distance, std::cmp::Reverse(same_start), name.clone())
        })
        .map(|(_, name)| name)
}

/// Returns the optimal string alignment distance: the number of insertions, deletions, replacements and swaps
/// of adjacent characters.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replace.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(name: &str, path: &Path) -> String {
        find(OsStr::new(name), path.as_os_str(), None)
            .unwrap_err()
            .to_string()
    }

    fn program(folder: &Path, name: &str, content: &str, mode: u32) {
        let file = folder.join(name);
        fs::write(&file, content).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_mistyped_name_is_answered_with_the_right_one() {
        let folder = tempfile::tempdir().unwrap();
        program(folder.path(), "gzip", "#!/bin/sh\n", 0o755);
        program(folder.path(), "zip", "#!/bin/sh\n", 0o755);
        assert_eq!(
            error_of("gzp", folder.path()),
            "no such program: gzp; did you mean gzip?"
        );
        assert_eq!(
            error_of("gizp", folder.path()),
            "no such program: gizp; did you mean gzip?"
        );
        assert_eq!(
            error_of("frobnicate", folder.path()),
            "no such program: frobnicate"
        );
        // Two typos and a different first letter: a different word.
        program(folder.path(), "touch", "#!/bin/sh\n", 0o755);
        assert_eq!(error_of("nosuch", folder.path()), "no such program: nosuch");
        let near = "no such program: tuoch; did you mean touch?";
        assert_eq!(error_of("tuoch", folder.path()), near);
    }

    #[test]
    fn short_names_are_only_similar_to_the_same_in_another_case() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["[", "ls", "w", "R"] {
            program(folder.path(), name, "#!/bin/sh\n", 0o755);
        }
        let said = |name: &str| error_of(name, folder.path());
        assert_eq!(said("3"), "no such program: 3");
        assert_eq!(said("lz"), "no such program: lz");
        assert_eq!(said("LS"), "no such program: LS; did you mean ls?");
        assert_eq!(said("r"), "no such program: r; did you mean R?");
    }

    #[test]
    fn a_file_that_cannot_be_executed_says_why() {
        let folder = tempfile::tempdir().unwrap();
        program(folder.path(), "data", "#!/bin/sh\n", 0o644);
        program(folder.path(), "noshebang", "echo hello\n", 0o755);
        assert!(error_of("data", folder.path()).contains("chmod +x"));
        assert!(error_of("noshebang", folder.path()).contains("without a `#!` line"));
        let path = folder.path().join("data");
        assert!(error_of(path.to_str().unwrap(), folder.path()).contains("chmod +x"));
        assert!(error_of(folder.path().to_str().unwrap(), folder.path()).contains("a directory"));
    }

    #[test]
    fn a_missing_path_is_answered_with_its_neighbour() {
        let folder = tempfile::tempdir().unwrap();
        program(folder.path(), "server", "#!/bin/sh\n", 0o755);
        let wanted = folder.path().join("sever");
        let message = error_of(wanted.to_str().unwrap(), folder.path());
        assert!(message.ends_with(&format!("did you mean {}/server?", folder.path().display())));
    }

    #[test]
    fn a_path_that_is_relative_to_another_directory_says_to_which() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path();
        let error = find(OsStr::new("./work"), OsStr::new(""), Some(directory)).unwrap_err();
        let expected = format!(
            "no such program: ./work in the directory {} (--cwd)",
            directory.display()
        );
        assert_eq!(error.to_string(), expected);
        program(directory, "work", "#!/bin/sh\n", 0o755);
        let found = find(OsStr::new("./work"), OsStr::new(""), Some(directory)).unwrap();
        assert_eq!(found, Path::new("./work"));
    }

    #[test]
    fn swapped_letters_count_once() {
        assert_eq!(distance("gizp", "gzip"), 1);
        assert_eq!(distance("gzip", "gzip"), 0);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
