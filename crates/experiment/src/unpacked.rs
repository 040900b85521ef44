//! Search paths for programs, headers and libraries of unpacked Debian packages.

use std::path::{Path, PathBuf};

/// What a command run by the experiment must be able to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finds {
    /// Programs. For measured commands, nothing else is changed, because `LD_LIBRARY_PATH` would make the
    /// start of every program search more folders.
    Programs,
    /// Programs, headers and libraries. The folder of a library is recorded in binaries that are linked with
    /// it (`LD_RUN_PATH`), so that the library is found when the program runs.
    Sources,
}

/// Returns the variables that add these folders before the system's own. Each folder is laid out like `/`.
/// Returns no variables if there are no folders.
pub fn variables(roots: &[PathBuf], finds: Finds) -> Vec<(String, String)> {
    let within = |inner: &str| -> Vec<PathBuf> {
        let all = roots.iter().map(|root| root.join(inner));
        all.filter(|path| path.is_dir()).collect()
    };
    let mut all = Vec::new();
    let programs = [within("usr/bin"), within("bin")].concat();
    add(&mut all, "PATH", &programs, true);
    if finds == Finds::Sources {
        add(&mut all, "CPATH", &within("usr/include"), true);
        let libraries: Vec<PathBuf> = within("usr/lib")
            .iter()
            .flat_map(|folder| libraries(folder))
            .collect();
        add(&mut all, "LIBRARY_PATH", &libraries, true);
        add(&mut all, "LD_RUN_PATH", &libraries, false);
    }
    all
}

/// Returns `usr/lib` itself and the folder of the architecture in it, such as `x86_64-linux-gnu`.
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let inner = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let inner = inner.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.contains("-linux-") && entry.path().is_dir()
    });
    inner
        .map(|entry| entry.path())
        .chain([folder.to_path_buf()])
        .collect()
}

fn add(all: &mut Vec<(String, String)>, name: &str, folders: &[PathBuf], inherit: bool) {
    if folders.is_empty() {
        return;
    }
    let before = std::env::var(name).ok().filter(|value| !value.is_empty());
    let before = match (name, before) {
        (_, Some(before)) if inherit => Some(before),
        ("PATH", None) => Some("/usr/local/bin:/usr/bin:/bin".to_string()),
        _ => None,
    };
    let texts = folders.iter().map(|folder| folder.display().to_string());
    let value: Vec<String> = texts.chain(before).collect();
    all.push((name.to_string(), value.join(":")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_unpacked_is_added() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let root = folder.path().join("zsh");
        assert!(variables(std::slice::from_ref(&root), Finds::Sources).is_empty());
        std::fs::create_dir_all(root.join("usr/bin")).expect("made");
        std::fs::create_dir_all(root.join("usr/lib/x86_64-linux-gnu")).expect("made");
        let names = |finds| {
            let all = variables(std::slice::from_ref(&root), finds);
            all.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(Finds::Programs), ["PATH"]);
        assert_eq!(
            names(Finds::Sources),
            ["PATH", "LIBRARY_PATH", "LD_RUN_PATH"]
        );
        let all = variables(std::slice::from_ref(&root), Finds::Programs);
        assert!(
            all[0]
                .1
                .starts_with(&format!("{}:", root.join("usr/bin").display()))
        );
    }
}
