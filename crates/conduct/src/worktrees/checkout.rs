//! Checks out a revision in a repository that borrows the objects of the user's repository.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;

use fathom_store::git::{self, GitError};

use super::{WorktreesError, size};

/// Creates `tree` with the files of a revision. Returns the paths of submodules whose files are missing here.
///
/// # Errors
/// If git fails, or the folder can't be written. `tree` then doesn't exist.
pub(super) fn checkout(
    common: &Path,
    revision: &str,
    tree: &Path,
) -> Result<Vec<String>, WorktreesError> {
    // An interrupted checkout leaves no `tree`.
    let part = tree.with_extension("part");
    let folder = |error| WorktreesError::Folder {
        path: part.clone(),
        error,
    };
    size::remove(&part).map_err(folder)?;
    std::fs::create_dir_all(&part).map_err(folder)?;
    let mut missing = Vec::new();
    fill(common, revision, &part, &mut missing)?;
    std::fs::rename(&part, tree).map_err(folder)?;
    Ok(missing)
}

fn fill(
    source: &Path,
    revision: &str,
    tree: &Path,
    missing: &mut Vec<String>,
) -> Result<(), WorktreesError> {
    // The new repository has its own configuration, so checkout filters such as Git LFS are taken from the
    // user's configuration.
    borrow(source, tree)?;
    // `--force` is needed because the index is empty and files of a submodule's folder may exist.
    let args = ["checkout", "--quiet", "--force", "--detach", revision, "--"];
    ask(tree, &args).map_err(|error| of_partial_clone(source, error))?;
    for (path, commit) in submodules(tree, revision)? {
        let name = name_of(tree, &path);
        let module = name.map(|name| source.join("modules").join(name));
        let folder = tree.join(&path);
        let there = module.filter(|module| {
            let kind = format!("{commit}^{{commit}}");
            let asked = [
                "rev-parse",
                "--verify",
                "--quiet",
                "--end-of-options",
                &kind,
            ];
            git::ask_directory(module, &asked).is_ok()
        });
        match there {
            Some(module) => {
                std::fs::create_dir_all(&folder).map_err(|error| WorktreesError::Folder {
                    path: folder.clone(),
                    error,
                })?;
                fill(&module, &commit, &folder, missing)?;
            }
            None => missing.push(path.to_string_lossy().into_owned()),
        }
    }
    Ok(())
}

/// Extends the error if the user's clone has only some of the objects.
fn of_partial_clone(source: &Path, error: GitError) -> GitError {
    let promises = ["config", "--get-regexp", r"^remote\..*\.promisor$"];
    match (error, git::ask_directory(source, &promises)) {
        (GitError::Failed { asked, said }, Ok(_)) => GitError::Failed {
            asked,
            said: format!(
                "{said}\nThe clone is partial (--filter); git fetch --refetch --no-filter fetches the rest"
            ),
        },
        (error, _) => error,
    }
}

/// Creates a repository in `tree` that finds all objects and tags of `source`.
fn borrow(source: &Path, tree: &Path) -> Result<(), WorktreesError> {
    let absolute = |args: &[&str]| {
        let args = [&["rev-parse", "--path-format=absolute"], args].concat();
        git::ask_directory(source, &args).map(PathBuf::from)
    };
    let objects = absolute(&["--git-path", "objects"])?;
    let shallow = absolute(&["--git-path", "shallow"])?;
    let format = git::ask_directory(source, &["rev-parse", "--show-object-format"])?;
    // No template, because it may contain hooks.
    let format = format!("--object-format={format}");
    ask(tree, &["init", "--quiet", "--template=", &format])?;
    let git = tree.join(".git");
    let written = || -> io::Result<()> {
        std::fs::create_dir_all(git.join("objects/info"))?;
        let mut alternates = File::create(git.join("objects/info/alternates"))?;
        alternates.write_all(&as_alternate(objects.as_os_str()))?;
        if shallow.is_file() {
            std::fs::copy(&shallow, git.join("shallow"))?;
        }
        Ok(())
    };
    written().map_err(|error| WorktreesError::Folder {
        path: git.clone(),
        error,
    })?;
    // A build may also call git, and the hooks in the user's configuration aren't meant for it.
    ask(tree, &["config", "core.hooksPath", "/dev/null"])?;
    let large = source.join("lfs");
    if let Some(large) = large.to_str().filter(|_| large.is_dir()) {
        ask(tree, &["config", "lfs.storage", large])?;
    }
    copy_tags(source, tree);
    Ok(())
}

/// Copies tags for `git describe`; a tag that can't be copied is only missing from its output.
fn copy_tags(source: &Path, tree: &Path) {
    let format = "--format=create %(refname) %(objectname)";
    let Ok(tags) = git::ask_directory(source, &["for-each-ref", format, "refs/tags"]) else {
        return;
    };
    let list = tree.join(".git/tags");
    let all = std::fs::write(&list, format!("{tags}\n")).and_then(|()| File::open(&list));
    if let Ok(all) = all {
        let _ = git::ask(tree, &["update-ref", "--stdin"], all.into());
    }
    let _ = std::fs::remove_file(&list);
}

/// Formats a path for git's list of alternates: quoted if it begins with a quote or contains a newline.
fn as_alternate(path: &OsStr) -> Vec<u8> {
    let bytes = path.as_bytes();
    let mut line = Vec::with_capacity(bytes.len() + 1);
    if bytes.starts_with(b"\"") || bytes.contains(&b'\n') {
        line.push(b'"');
        for byte in bytes {
            match byte {
                b'\n' => line.extend(b"\\n"),
                b'"' | b'\\' => line.extend([b'\\', *byte]),
                _ => line.push(*byte),
            }
        }
        line.push(b'"');
    } else {
        line.extend(bytes);
    }
    line.push(b'\n');
    line
}

/// Returns the paths and commits of the submodules of a revision.
fn submodules(tree: &Path, revision: &str) -> Result<Vec<(PathBuf, String)>, WorktreesError> {
    if !tree.join(".gitmodules").is_file() {
        return Ok(Vec::new());
    }
    let text = ask(tree, &["ls-tree", "-r", "-z", "--full-tree", revision])?;
    let entry = |line: &str| {
        let (about, path) = line.split_once('\t')?;
        let mut about = about.split(' ');
        let is_commit = about.next() == Some("160000");
        let commit = about.nth(1)?.to_owned();
        let path = PathBuf::from(path);
        (is_commit && is_below(&path)).then_some((path, commit))
    };
    Ok(text.split('\0').filter_map(entry).collect())
}

/// Returns the name under which a submodule is stored.
fn name_of(tree: &Path, path: &Path) -> Option<PathBuf> {
    let text = ask(tree, &git::SUBMODULE_PATHS).ok()?;
    let name = text.split('\0').find_map(|entry| {
        let (key, value) = entry.split_once('\n')?;
        let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?;
        (Path::new(value) == path).then(|| PathBuf::from(name))
    })?;
    is_below(&name).then_some(name)
}

/// Reports whether the path stays below the folder to which it is joined; this is checked because names come
/// from the repository.
fn is_below(path: &Path) -> bool {
    let mut parts = path.components();
    parts.clone().next().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

fn ask(folder: &Path, args: &[&str]) -> Result<String, GitError> {
    git::ask(folder, args, Stdio::null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_a_repository_stay_below_its_folder() {
        for good in ["lib", "third/party", "a..b"] {
            assert!(is_below(Path::new(good)), "{good}");
        }
        for bad in ["", "..", "a/../../b", "/etc", "."] {
            assert!(!is_below(Path::new(bad)), "{bad}");
        }
    }

    #[test]
    fn a_path_is_quoted_only_where_git_would_misread_it() {
        assert_eq!(as_alternate(OsStr::new("/a b/c")), b"/a b/c\n");
        assert_eq!(as_alternate(OsStr::new("/a\nb")), b"\"/a\\nb\"\n");
    }
}
