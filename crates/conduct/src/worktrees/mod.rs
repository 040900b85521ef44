//! Revisions of a repository, checked out and built in Fathom's own folders.
//!
//! Each revision is a small repository that borrows the objects of the user's repository
//! (`objects/info/alternates`). Nothing is written in the user's repository: not even the output of `git
//! worktree list` changes, and a `kill -9` leaves nothing behind. Git works in the small repository,
//! including `git describe`, because tags are copied.
//!
//! `$XDG_CACHE_HOME/fathom/worktrees/KEY/` contains `tree/` (the files and the build results), `build.log`
//! and `state.json`. The last is written at the end: if it is missing, the build continues in the same tree.

mod build;
mod cache;
mod checkout;
mod lock;
mod repository;
mod size;

pub use cache::{Prepared, Wanted, Worktree, Worktrees};
pub use repository::{Line, Repository};

use std::path::PathBuf;

use fathom_store::git::GitError;

/// Why a worktree isn't available.
#[derive(Debug, thiserror::Error)]
pub enum WorktreesError {
    /// The repository, the revision, or git itself is missing.
    #[error("{0}")]
    Repository(String),
    /// Another git command failed.
    #[error(transparent)]
    Git(GitError),
    /// The folder of the worktrees can't be used.
    #[error("can't use {}: {error}; XDG_CACHE_HOME chooses another folder", path.display())]
    Folder {
        /// The path of the folder.
        path: PathBuf,
        /// The cause.
        error: std::io::Error,
    },
    /// The location of the folder is unknown.
    #[error("there is no folder for builds: set HOME or XDG_CACHE_HOME")]
    NoFolder,
    /// A signal arrived, or the time limit passed.
    #[error("interrupted while a revision was built; what is built is kept")]
    Interrupted,
}

impl From<GitError> for WorktreesError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::NoGit => WorktreesError::Repository(
                "git is not installed, but revisions can't be checked out without it: apt install git; to compare \
                 installed versions instead, use --of 1.0,1.1 -- PROGRAM-{version}"
                    .to_owned(),
            ),
            GitError::NoRepository(folder) => WorktreesError::Repository(format!(
                "{} is not in a git repository; change to one, or compare installed versions: --of 1.0,1.1 -- \
                 PROGRAM-{{version}}",
                folder.display()
            )),
            GitError::NoRevision(_) | GitError::Shallow(_) | GitError::OfAnother(_) => {
                WorktreesError::Repository(error.to_string())
            }
            GitError::Failed { .. } => WorktreesError::Git(error),
        }
    }
}
