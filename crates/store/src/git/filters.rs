//! Detects changed files. Git compares files through filters, which are programs named in a configuration.
//! Filters of the user's configuration run, filters of the repository's configuration don't.

use std::path::{Path, PathBuf};

use super::{GitError, answer, command, run};

/// Returns whether tracked files differ from the commit, including in submodules.
///
/// # Errors
/// [`GitError`].
pub(super) fn is_dirty(folder: &Path) -> Result<bool, GitError> {
    // Git would run in submodules with their own configuration.
    let args = [
        "status",
        "--porcelain",
        "--untracked-files=no",
        "--ignore-submodules=dirty",
    ];
    let mut command = command(folder);
    // The settings are appended to those already in the environment. `-c` can't be used, since it would
    // misread a name that contains `=`.
    let before = std::env::var("GIT_CONFIG_COUNT").ok();
    let before: usize = before.and_then(|count| count.parse().ok()).unwrap_or(0);
    let filters = the_users_filters(folder)?;
    command.env("GIT_CONFIG_COUNT", (before + filters.len()).to_string());
    for (index, (key, value)) in (before..).zip(&filters) {
        command.env(format!("GIT_CONFIG_KEY_{index}"), key);
        command.env(format!("GIT_CONFIG_VALUE_{index}"), value);
    }
    if !answer(command.args(args), folder, args[0])?.is_empty() {
        return Ok(true);
    }
    for module in submodules(folder)? {
        if is_dirty(&module)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the user's value for each filter setting in the repository's configuration, or a value without
/// effect if the user has none.
fn the_users_filters(folder: &Path) -> Result<Vec<(String, String)>, GitError> {
    let asked = [
        "config",
        "--null",
        "--show-scope",
        "--get-regexp",
        r"^filter\.",
    ];
    let text = match run(folder, &asked) {
        Err(GitError::Failed { .. }) => return Ok(Vec::new()),
        answer => answer?,
    };
    let mut fields = text.split('\0');
    let mut users: Vec<(&str, &str)> = Vec::new();
    let mut repositorys: Vec<&str> = Vec::new();
    while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
        let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
        match scope {
            "local" | "worktree" => repositorys.push(key),
            _ => users.push((key, value)),
        }
    }
    let of_user = |key: &str| {
        let found = users.iter().rev().find(|(name, _)| *name == key);
        let none = if key.ends_with(".required") {
            "false"
        } else {
            ""
        };
        let value = found.map_or(none, |(_, value)| value);
        (key.to_owned(), value.to_owned())
    };
    Ok(repositorys.into_iter().map(of_user).collect())
}

/// Returns the submodules that are checked out. Their paths come from the repository, so they must stay in
/// its folder.
fn submodules(folder: &Path) -> Result<Vec<PathBuf>, GitError> {
    let root = PathBuf::from(run(folder, &["rev-parse", "--show-toplevel"])?);
    let Ok(root) = root.canonicalize() else {
        return Ok(Vec::new());
    };
    if !root.join(".gitmodules").is_file() {
        return Ok(Vec::new());
    }
    let text = run(&root, &super::SUBMODULE_PATHS).unwrap_or_default();
    let is_there = |entry: &str| {
        let (_, path) = entry.split_once('\n')?;
        let module = root.join(path);
        let stays = module.canonicalize().ok()? == module && module != root;
        (stays && module.starts_with(&root) && module.join(".git").exists()).then_some(module)
    };
    Ok(text.split('\0').filter_map(is_there).collect())
}
