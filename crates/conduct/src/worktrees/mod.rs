//! Revisions of a repository, checked out and built in folders of Fathom's own.
//!
//! Each revision is a small repository of its own that borrows the objects of the user's
//! (`objects/info/alternates`): nothing of the user's is written, not even `git worktree list`
//! changes, and after a `kill -9` nothing is left in their repository. Git works in it, `git
//! describe` included, since tags are copied.
//!
//! `$XDG_CACHE_HOME/fathom/worktrees/KEY/` has `tree/` (the files and what the build made),
//! `build.log` and `state.json`, which is written last: where it is missing the build goes on in
//! the same tree.

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

/// Why there is no worktree.
#[derive(Debug, thiserror::Error)]
pub enum WorktreesError {
    /// No repository, no revision, no git.
    #[error("{0}")]
    Repository(String),
    /// Git failed at something else.
    #[error(transparent)]
    Git(GitError),
    /// The folder of the worktrees can't be used.
    #[error("can't use {}: {error}; XDG_CACHE_HOME chooses another folder", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// No folder is known.
    #[error("there is no folder for builds: set HOME or XDG_CACHE_HOME")]
    NoFolder,
    /// A signal, or the end of the time.
    #[error("interrupted while a revision was built; what is built is kept")]
    Interrupted,
}

impl From<GitError> for WorktreesError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::NoGit => WorktreesError::Repository(
                "git is not installed, and revisions are git's: apt install git; installed versions are compared with \
                 --of 1.0,1.1 -- PROGRAM-{version}"
                    .to_owned(),
            ),
            GitError::NoRepository(folder) => WorktreesError::Repository(format!(
                "{} is in no git repository; go into one, or compare installed versions: --of 1.0,1.1 -- \
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
