//! Information from git about the measured source. It is obtained by running `git`, without running any
//! program named in the repository's own configuration.

mod filters;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Revision;

/// Errors from git.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    /// Git is not installed.
    #[error(
        "git is not installed: records are saved without a revision; install it (`apt install git`) to compare revisions"
    )]
    NoGit,
    /// The folder is not in a repository.
    #[error("{} is in no git repository: records are saved without a revision; use labels (--label NAME)", .0.display())]
    NoRepository(PathBuf),
    /// Git refuses the repository.
    #[error("the repository of {} belongs to another user, and git refuses it; if you trust it: git config --global --add safe.directory '*'", .0.display())]
    OfAnother(PathBuf),
    /// The history is incomplete, as in a shallow clone.
    #[error(
        "the clone is shallow and doesn't reach back to {0}; fetch the rest: git fetch --unshallow --tags"
    )]
    Shallow(String),
    /// The revision is unknown.
    #[error("the repository has no revision {0:?}; git log --oneline lists them")]
    NoRevision(String),
    /// Any other error.
    #[error("git {asked} failed: {said}")]
    Failed {
        /// The command.
        asked: String,
        /// Git's error message.
        said: String,
    },
}

/// State of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The repository's top folder.
    pub root: PathBuf,
    /// The commit; `None` before the first one.
    pub revision: Option<String>,
    /// The branch; `None` on a detached head.
    pub branch: Option<String>,
    /// Whether tracked files differ from the commit.
    pub dirty: bool,
    /// Whether the repository is a shallow clone.
    pub shallow: bool,
}

impl State {
    /// Returns the revision for a record.
    pub fn revision(&self) -> Option<Revision> {
        let id = self.revision.clone()?;
        Some(Revision {
            id,
            branch: self.branch.clone(),
            dirty: self.dirty,
        })
    }

    /// Returns notes for the user, one sentence each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.revision.is_none() {
            notes.push(
                "the repository has no commits yet: records are saved without a revision"
                    .to_owned(),
            );
        } else if self.branch.is_none() {
            notes.push(
                "HEAD is detached: records have a revision but no branch; to switch to a branch: git switch BRANCH"
                    .to_owned(),
            );
        }
        if self.shallow {
            notes.push("the clone is shallow: older revisions can't be ordered; fetch the rest: git fetch --unshallow \
                 --tags".to_owned());
        }
        notes
    }
}

/// Returns the state of the repository that contains `folder`.
///
/// # Errors
/// [`GitError`].
pub fn state(folder: &Path) -> Result<State, GitError> {
    let (root, shallow) = place(folder)?;
    let found = |args: &[&str]| match run(folder, args) {
        Err(GitError::Failed { .. }) => Ok(None),
        answer => answer.map(Some),
    };
    Ok(State {
        root,
        shallow,
        revision: found(&["rev-parse", "--verify", "--quiet", "HEAD"])?,
        branch: found(&["symbolic-ref", "--quiet", "--short", "HEAD"])?,
        dirty: filters::is_dirty(folder)?,
    })
}

/// Resolves a user's revision to its full id: a branch, a tag, `HEAD~3`, or a prefix of an id.
///
/// # Errors
/// [`GitError::NoRevision`], [`GitError::Shallow`] if it may be missing from a shallow clone.
pub fn resolve(folder: &Path, revision: &str) -> Result<String, GitError> {
    let (_, shallow) = place(folder)?;
    let commit = format!("{revision}^{{commit}}");
    match run(
        folder,
        &[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &commit,
        ],
    ) {
        Err(GitError::Failed { .. }) if shallow => Err(GitError::Shallow(revision.to_owned())),
        Err(GitError::Failed { .. }) => Err(GitError::NoRevision(revision.to_owned())),
        answer => answer,
    }
}

/// Returns the revisions from `from` to `to`, inclusive, oldest first. At merges, it follows the first
/// parent.
///
/// # Errors
/// The errors of [`resolve`]; [`GitError::Failed`] if `to` is not a descendant of `from`.
pub fn between(folder: &Path, from: &str, to: &str) -> Result<Vec<String>, GitError> {
    let (first, last) = (resolve(folder, from)?, resolve(folder, to)?);
    if let Err(error) = run(folder, &["merge-base", "--is-ancestor", &first, &last]) {
        let (_, shallow) = place(folder)?;
        return Err(match error {
            GitError::Failed { .. } if shallow => GitError::Shallow(from.to_owned()),
            GitError::Failed { asked, .. } => GitError::Failed {
                asked,
                said: format!("{to} does not descend from {from}"),
            },
            other => other,
        });
    }
    let range = format!("{first}..{last}");
    let after = run(
        folder,
        &[
            "rev-list",
            "--reverse",
            "--topo-order",
            "--first-parent",
            &range,
        ],
    )?;
    Ok(std::iter::once(first)
        .chain(after.lines().map(str::to_owned))
        .collect())
}

/// Returns a revision and all its descendants, on every branch.
///
/// # Errors
/// The errors of [`resolve`].
pub fn since(folder: &Path, revision: &str) -> Result<HashSet<String>, GitError> {
    let first = resolve(folder, revision)?;
    let (without, path) = (format!("^{first}"), format!("--ancestry-path={first}"));
    let after = run(folder, &["rev-list", &path, "--all", "HEAD", &without])?;
    Ok(std::iter::once(first)
        .chain(after.lines().map(str::to_owned))
        .collect())
}

/// The number of commits that are read to correct the time of one, which takes 10 ms. If the clock was wrong
/// for more commits, this isn't detected.
const LOOKED_AT: usize = 1000;

/// Returns the times of those commits that the repository has, in milliseconds since 1970. A commit is always
/// later than its (first) parent, even if the clocks of their authors disagree or both have the same second.
///
/// # Errors
/// [`GitError`].
pub fn places(
    folder: &Path,
    revisions: &HashSet<String>,
) -> Result<HashMap<String, i64>, GitError> {
    let is_id = |id: &&String| id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let asked: Vec<&str> = revisions.iter().filter(is_id).map(String::as_str).collect();
    let mut places = HashMap::new();
    // Maximum number that fits on a command line.
    for some in asked.chunks(10_000) {
        let most = format!("--max-count={LOOKED_AT}");
        let mut arguments = vec![
            "log",
            "--first-parent",
            "--topo-order",
            "--reverse",
            "--ignore-missing",
            "--no-show-signature",
            "--format=%H %ct %P",
        ];
        if some.len() == 1 {
            arguments.push(&most);
        }
        arguments.extend(some);
        arguments.push("--");
        for line in run(folder, &arguments)?.lines() {
            let mut words = line.split(' ');
            let (Some(commit), Some(Ok(seconds))) = (words.next(), words.next().map(str::parse))
            else {
                continue;
            };
            let parent = words.next().and_then(|parent| places.get(parent));
            let own = i64::saturating_mul(seconds, 1000);
            let place = parent.map_or(own, |parent: &i64| own.max(parent.saturating_add(1)));
            places.insert(commit.to_owned(), place);
        }
    }
    places.retain(|commit, _| revisions.contains(commit));
    Ok(places)
}

/// Returns the top folder, and whether the clone is shallow.
fn place(folder: &Path) -> Result<(PathBuf, bool), GitError> {
    let answer = run(
        folder,
        &["rev-parse", "--is-shallow-repository", "--show-toplevel"],
    )?;
    let (shallow, root) = answer.split_once('\n').unwrap_or((&answer, ""));
    Ok((PathBuf::from(root), shallow == "true"))
}

/// Variables that point git to another repository than the one of the folder, as in a hook.
pub const ELSEWHERE: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

fn run(folder: &Path, args: &[&str]) -> Result<String, GitError> {
    ask(folder, args, Stdio::null())
}

/// Git arguments that list the names and paths of submodules, `submodule.NAME.path LF PATH NUL`.
pub const SUBMODULE_PATHS: [&str; 6] = [
    "config",
    "--null",
    "--file",
    ".gitmodules",
    "--get-regexp",
    r"^submodule\..*\.path$",
];

/// Runs git in a folder and returns its output without trailing white space.
///
/// # Errors
/// [`GitError`].
pub fn ask(folder: &Path, args: &[&str], input: Stdio) -> Result<String, GitError> {
    answer(command(folder).args(args).stdin(input), folder, args[0])
}

/// Like [`ask`], for a git directory: a `.git`, or the one of a submodule.
///
/// # Errors
/// [`GitError`].
pub fn ask_directory(directory: &Path, args: &[&str]) -> Result<String, GitError> {
    let mut command = command(directory);
    answer(command.arg("--git-dir=.").args(args), directory, args[0])
}

/// Creates a git command; all of them start here. A repository's configuration is untrusted, since the folder
/// may come from an archive.
fn command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    for name in ELSEWHERE {
        command.env_remove(name);
    }
    command
        // A bare repository inside another repository is never the intended one.
        .args(["-c", "safe.bareRepository=explicit"])
        // Hooks and the file watcher are programs of the repository. Without optional locks, a `git add` in
        // another terminal can't fail because of Fathom.
        .args(["-c", "core.hooksPath=/dev/null"])
        .args(["-c", "core.fsmonitor=false"])
        .arg("--no-optional-locks")
        // Missing objects of a partial clone would be fetched by programs that the repository names, so
        // fetching is off.
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .current_dir(folder)
        .stdin(Stdio::null());
    command
}

fn answer(command: &mut Command, folder: &Path, asked: &str) -> Result<String, GitError> {
    let output = command.output().map_err(|_| GitError::NoGit)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let none = [
        "not a git repository",
        "must be run in a work tree",
        "cannot use bare repository",
    ];
    if none.iter().any(|words| said.contains(words)) {
        return Err(GitError::NoRepository(folder.to_owned()));
    }
    if said.contains("dubious ownership") {
        return Err(GitError::OfAnother(folder.to_owned()));
    }
    Err(GitError::Failed {
        asked: asked.to_owned(),
        said,
    })
}
