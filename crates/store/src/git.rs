//! What git knows of the source that is measured: asked of `git` itself, which runs nothing that the repository's own
//! configuration names.

mod filters;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Revision;

/// Why git has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    /// The program is missing.
    #[error(
        "git is not installed: records are saved without a revision; install it (`apt install git`) to compare revisions"
    )]
    NoGit,
    /// No repository.
    #[error("{} is in no git repository: records are saved without a revision; use labels (--label NAME)", .0.display())]
    NoRepository(PathBuf),
    /// Git refuses it.
    #[error("the repository of {} belongs to another user, and git refuses it; if you trust it: git config --global --add safe.directory '*'", .0.display())]
    OfAnother(PathBuf),
    /// The history ends too early.
    #[error(
        "the clone is shallow and doesn't reach back to {0}; fetch the rest: git fetch --unshallow --tags"
    )]
    Shallow(String),
    /// An unknown name.
    #[error("the repository has no revision {0:?}; git log --oneline lists them")]
    NoRevision(String),
    /// Something else.
    #[error("git {asked} failed: {said}")]
    Failed {
        /// The command.
        asked: String,
        /// Its words.
        said: String,
    },
}

/// The state of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Its top folder.
    pub root: PathBuf,
    /// The commit; absent before the first one.
    pub revision: Option<String>,
    /// The branch; absent on a detached head.
    pub branch: Option<String>,
    /// Tracked files differ from the commit.
    pub dirty: bool,
    /// Its history was cut when it was cloned.
    pub shallow: bool,
}

impl State {
    /// What goes into a record.
    pub fn revision(&self) -> Option<Revision> {
        let id = self.revision.clone()?;
        Some(Revision {
            id,
            branch: self.branch.clone(),
            dirty: self.dirty,
        })
    }

    /// What a user must know of it, one sentence each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.revision.is_none() {
            notes.push(
                "the repository has no commit yet: records are saved without a revision".to_owned(),
            );
        } else if self.branch.is_none() {
            notes.push("the head is detached: records know their revision, and no branch; git switch BRANCH".to_owned());
        }
        if self.shallow {
            notes.push("the clone is shallow: older revisions can't be ordered; git fetch --unshallow --tags".to_owned());
        }
        notes
    }
}

/// The state of the repository that `folder` is in.
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

/// The full id of what a user calls a revision: a branch, a tag, `HEAD~3`, the beginning of an id.
///
/// # Errors
/// [`GitError::NoRevision`], [`GitError::Shallow`] where it may have been cut off.
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

/// The revisions from `from` to `to`, both included, oldest first; of merges, the side that was merged into.
///
/// # Errors
/// As [`resolve`]; [`GitError::Failed`] if `to` does not descend from `from`.
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

/// A revision and all that descend from it, on every branch.
///
/// # Errors
/// As [`resolve`].
pub fn since(folder: &Path, revision: &str) -> Result<HashSet<String>, GitError> {
    let first = resolve(folder, revision)?;
    let (without, path) = (format!("^{first}"), format!("--ancestry-path={first}"));
    let after = run(folder, &["rev-list", &path, "--all", "HEAD", &without])?;
    Ok(std::iter::once(first)
        .chain(after.lines().map(str::to_owned))
        .collect())
}

/// Commits that are looked at to correct the time of one: a clock that was wrong for longer than this isn't
/// noticed. They take 10 ms.
const LOOKED_AT: usize = 1000;

/// When these commits were made, milliseconds since 1970, as far as the repository has them. A commit is
/// later than its (first) parent, whatever the clocks of their authors said, and if they are of one second.
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
    // As many as fit into a command line.
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

/// The top folder, and whether the clone is shallow.
fn place(folder: &Path) -> Result<(PathBuf, bool), GitError> {
    let answer = run(
        folder,
        &["rev-parse", "--is-shallow-repository", "--show-toplevel"],
    )?;
    let (shallow, root) = answer.split_once('\n').unwrap_or((&answer, ""));
    Ok((PathBuf::from(root), shallow == "true"))
}

/// Variables by which git is told of another repository than that of the folder: a hook sets them.
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

/// Arguments by which git lists the names and paths of submodules, `submodule.NAME.path LF PATH NUL`.
pub const SUBMODULE_PATHS: [&str; 6] = [
    "config",
    "--null",
    "--file",
    ".gitmodules",
    "--get-regexp",
    r"^submodule\..*\.path$",
];

/// What git prints when it is called in a folder, without white space at the end.
///
/// # Errors
/// [`GitError`].
pub fn ask(folder: &Path, args: &[&str], input: Stdio) -> Result<String, GitError> {
    answer(command(folder).args(args).stdin(input), folder, args[0])
}

/// The same of a folder that is the repository itself: a `.git`, or that of a submodule.
///
/// # Errors
/// [`GitError`].
pub fn ask_directory(directory: &Path, args: &[&str]) -> Result<String, GitError> {
    let mut command = command(directory);
    answer(command.arg("--git-dir=.").args(args), directory, args[0])
}

/// The one place where git is called. A repository's configuration is that of whoever made its folder, and the
/// folder may come out of an archive.
fn command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    for name in ELSEWHERE {
        command.env_remove(name);
    }
    command
        // A repository without files, below the folder of another, is none that was meant.
        .args(["-c", "safe.bareRepository=explicit"])
        // Hooks and the file watcher are programs of the repository; without optional locks a `git add` in
        // another window never fails because of us.
        .args(["-c", "core.hooksPath=/dev/null"])
        .args(["-c", "core.fsmonitor=false"])
        .arg("--no-optional-locks")
        // What a partial clone lacks would be fetched by programs that it names: nothing is fetched.
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
