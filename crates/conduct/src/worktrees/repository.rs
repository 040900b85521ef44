//! Queries of the user's repository, which never write to it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use fathom_model::Commit;
use fathom_store::git::{self, GitError};

use super::WorktreesError;

/// A repository with a work tree.
#[derive(Debug, Clone)]
pub struct Repository {
    /// Its top folder.
    pub root: PathBuf,
    /// Whether tracked files differ from the commit; such changes are not measured.
    pub dirty: bool,
    /// The folder of its objects and refs, shared by all of its worktrees.
    pub(super) common: PathBuf,
}

/// The revisions from one to another, including both, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The name and full id of each.
    pub revisions: Vec<(String, String)>,
    /// The step between the chosen revisions; `None` for tags.
    pub every: Option<usize>,
}

/// The default maximum number of revisions if there are no tags, because each of them has to be built.
const WITHOUT_TAGS: usize = 12;

impl Repository {
    /// Returns the repository that contains `folder`.
    ///
    /// # Errors
    /// If there is no repository or no git, or if the repository belongs to another user.
    pub fn of(folder: &Path) -> Result<Repository, WorktreesError> {
        let state = git::state(folder)?;
        let common = ask(
            folder,
            &["rev-parse", "--path-format=absolute", "--git-common-dir"],
        )?;
        Ok(Repository {
            root: state.root,
            dirty: state.dirty,
            common: PathBuf::from(common),
        })
    }

    /// Resolves a user's name for a revision to its full id.
    ///
    /// # Errors
    /// If there is no such revision.
    pub fn resolve(&self, revision: &str) -> Result<String, WorktreesError> {
        Ok(git::resolve(&self.root, revision)?)
    }

    /// Refuses two revisions if the second is not a descendant of the first. `again` returns the command to
    /// suggest instead, given two revisions.
    ///
    /// # Errors
    /// A message with that command.
    pub fn check_order(
        &self,
        first: &str,
        last: &str,
        again: impl Fn(&str, &str) -> String,
    ) -> Result<(), WorktreesError> {
        let (from, to) = (self.resolve(first)?, self.resolve(last)?);
        if self.is_ancestor(&from, &to)? {
            return Ok(());
        }
        if self.is_ancestor(&to, &from)? {
            return Err(WorktreesError::Repository(format!(
                "{first} comes after {last}; name the older one first: {}",
                again(last, first)
            )));
        }
        let base = match ask(&self.root, &["merge-base", &from, &to]) {
            Ok(base) => base,
            Err(GitError::Failed { .. }) if git::state(&self.root)?.shallow => {
                return Err(GitError::Shallow(first.to_owned()).into());
            }
            Err(GitError::Failed { .. }) => {
                return Err(WorktreesError::Repository(format!(
                    "{first} and {last} have no common revision; git log --oneline --graph {first} {last} shows both"
                )));
            }
            Err(error) => return Err(error.into()),
        };
        let short = &base[..base.len().min(10)];
        Err(WorktreesError::Repository(format!(
            "{last} does not descend from {first}: their last common revision is {short}; start there: {}",
            again(short, last)
        )))
    }

    /// Returns the merge base of two revisions. `base` may be a branch that only the remote has.
    ///
    /// # Errors
    /// If there is no merge base; the message has the fetch command that would get it.
    pub fn merge_base(&self, base: &str, head: &str) -> Result<String, WorktreesError> {
        let head_id = self.resolve(head)?;
        let remote = format!("origin/{base}");
        let Ok(base_id) = self.resolve(base).or_else(|_| self.resolve(&remote)) else {
            let shallow = git::state(&self.root)?.shallow;
            let unshallow = if shallow { " --unshallow" } else { "" };
            return Err(WorktreesError::Repository(format!(
                "the base {base:?} is not in this clone; fetch it: git fetch{unshallow} origin \
                 {base}:refs/remotes/origin/{base}, or choose another base with --base"
            )));
        };
        match ask(&self.root, &["merge-base", &base_id, &head_id]) {
            Ok(id) => Ok(id),
            Err(GitError::Failed { .. }) if git::state(&self.root)?.shallow => {
                Err(WorktreesError::Repository(format!(
                    "the clone is shallow and lacks the revision where {head} branched off from {base}; fetch it: \
                     git fetch --unshallow origin {base}"
                )))
            }
            Err(GitError::Failed { .. }) => Err(WorktreesError::Repository(format!(
                "{base} and {head} have no common revision; --base chooses another revision to compare with"
            ))),
            Err(error) => Err(error.into()),
        }
    }

    fn is_ancestor(&self, first: &str, last: &str) -> Result<bool, WorktreesError> {
        match ask(&self.root, &["merge-base", "--is-ancestor", first, last]) {
            Ok(_) => Ok(true),
            Err(GitError::Failed { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the tags between two revisions, or every n-th revision, including both ends. `to` must be a
    /// descendant of `from`, see [`Repository::check_order`].
    ///
    /// # Errors
    /// If git fails.
    pub fn line(&self, from: &str, to: &str, every: Option<usize>) -> Result<Line, WorktreesError> {
        let ends = [
            (from.to_owned(), self.resolve(from)?),
            (to.to_owned(), self.resolve(to)?),
        ];
        if ends[0].1 == ends[1].1 {
            return Ok(Line {
                revisions: vec![ends[1].clone()],
                every: None,
            });
        }
        let tags = match every {
            None => self.tags(&ends)?,
            Some(_) => Vec::new(),
        };
        let between = tags
            .iter()
            .any(|(_, id)| ends.iter().all(|end| end.1 != *id));
        let both_are_tags = ends
            .iter()
            .all(|end| tags.iter().any(|(_, id)| *id == end.1));
        if between || both_are_tags {
            return Ok(Line {
                revisions: self.in_order(tags, &ends)?,
                every: None,
            });
        }
        let all = git::between(&self.root, &ends[0].1, &ends[1].1)?;
        let every = every.unwrap_or_else(|| (all.len() - 1).div_ceil(WITHOUT_TAGS - 1).max(1));
        let last = all.len() - 1;
        let chosen = all.into_iter().enumerate();
        let chosen = chosen.filter(|(index, _)| index % every == 0 || *index == last);
        let name = |id: &String| match ends.iter().find(|end| end.1 == *id) {
            // A full id is not a useful name for display.
            Some((name, _)) if name != id => name.clone(),
            _ => id[..id.len().min(10)].to_owned(),
        };
        Ok(Line {
            revisions: chosen.map(|(_, id)| (name(&id), id)).collect(),
            every: Some(every),
        })
    }

    /// Returns the tags of commits from one end to the other.
    fn tags(&self, ends: &[(String, String); 2]) -> Result<Vec<(String, String)>, WorktreesError> {
        let names = ask(
            &self.root,
            &[
                "for-each-ref",
                "--sort=version:refname",
                &format!("--contains={}", ends[0].1),
                &format!("--merged={}", ends[1].1),
                "--format=%(refname)",
                "refs/tags",
            ],
        )?;
        let mut tags = Vec::new();
        for name in names.lines() {
            // A tag of anything other than a commit is not a version.
            if let Ok(id) = git::resolve(&self.root, name) {
                let short = name.strip_prefix("refs/tags/").unwrap_or(name);
                tags.push((short.to_owned(), id));
            }
        }
        Ok(tags)
    }

    /// Keeps one name for each revision, in the order of the history.
    fn in_order(
        &self,
        tags: Vec<(String, String)>,
        ends: &[(String, String); 2],
    ) -> Result<Vec<(String, String)>, WorktreesError> {
        let range = format!("{}..{}", ends[0].1, ends[1].1);
        let order = ask(
            &self.root,
            &["rev-list", "--reverse", "--topo-order", &range],
        )?;
        let place: HashMap<&str, usize> = order.lines().zip(1..).collect();
        let mut all: Vec<(String, String)> = ends.to_vec();
        for (name, id) in tags {
            if !all.iter().any(|(_, known)| *known == id) {
                all.push((name, id));
            }
        }
        all.sort_by_key(|(_, id)| place.get(id.as_str()).copied().unwrap_or(0));
        Ok(all)
    }

    /// Returns information about a revision.
    ///
    /// # Errors
    /// If git fails.
    pub fn commit(&self, id: &str) -> Result<Commit, WorktreesError> {
        let text = ask(
            &self.root,
            &[
                "log",
                "-1",
                "--no-show-signature",
                "--format=%cI%n%an%n%s",
                id,
            ],
        )?;
        let mut lines = text.lines().map(str::to_owned);
        let mut next = || lines.next().unwrap_or_default();
        Ok(Commit {
            revision: id.to_owned(),
            date: next(),
            author: next(),
            subject: next(),
        })
    }

    /// Returns the first parent of a revision; `None` for a root commit.
    ///
    /// # Errors
    /// If git fails.
    pub fn parent(&self, id: &str) -> Result<Option<String>, WorktreesError> {
        let line = ask(&self.root, &["rev-list", "--parents", "-1", id])?;
        Ok(line.split(' ').nth(1).map(str::to_owned))
    }

    /// Returns the revisions that are reachable from `bad` but not from any of `good`. The best ones at which
    /// to halve come first, as `git bisect` chooses them, and `bad` itself is last.
    ///
    /// # Errors
    /// If git fails.
    pub fn halving(&self, bad: &str, good: &[String]) -> Result<Vec<String>, WorktreesError> {
        let mut args = vec![
            "rev-list".to_owned(),
            "--bisect-all".to_owned(),
            bad.to_owned(),
        ];
        args.extend(good.iter().map(|id| format!("^{id}")));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let text = ask(&self.root, &args)?;
        let ids = text.lines().filter_map(|line| line.split(' ').next());
        let mut all: Vec<String> = ids.filter(|id| *id != bad).map(str::to_owned).collect();
        all.push(bad.to_owned());
        Ok(all)
    }
}

fn ask(folder: &Path, args: &[&str]) -> Result<String, GitError> {
    git::ask(folder, args, Stdio::null())
}
