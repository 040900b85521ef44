//! Builds each revision once for each build command, by whichever Fathom process comes first. Results are
//! kept while there is space.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fathom_machine::remembered;
use fathom_measure::interrupt;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::build::{Built, Place, build};
use super::checkout::checkout;
use super::lock::{self, Kind};
use super::{Repository, WorktreesError, size};

/// The length of the folder names, in hexadecimal digits.
const KEY: usize = 32;

/// A requested revision.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'w> {
    /// The repository it belongs to.
    pub repository: &'w Repository,
    /// The full id.
    pub revision: &'w str,
    /// The build command, run by a shell in the revision's files; `None` if no build is needed.
    pub build: Option<&'w str>,
    /// Whether to build the revision even if the result of an earlier build is known.
    pub again: bool,
    /// Whether to use a second copy of the same revision, with its own files and build.
    pub twin: bool,
}

/// The result of preparing a revision.
#[derive(Debug)]
pub enum Prepared {
    /// The revision is built, and remains while this value lives.
    Built(Worktree),
    /// The revision can't be checked out, or its build failed; holds the reason, with the end of the output.
    Failed(String),
}

/// The files of a revision, including its build results.
#[derive(Debug)]
pub struct Worktree {
    /// Its folder.
    pub folder: PathBuf,
    /// A shared lock, with which others may use the worktree but not remove it.
    _lock: File,
}

/// All worktrees of this user.
#[derive(Debug)]
pub struct Worktrees {
    folder: PathBuf,
    capacity: u64,
}

/// The stored state of a worktree whose build has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    repository: String,
    revision: String,
    build: Option<String>,
    /// The end of the build's output, if it failed.
    error: Option<String>,
    bytes: u64,
}

impl Worktrees {
    /// Opens the worktrees in the cache folder, which is limited to `capacity` bytes. Worktrees that are in
    /// use are never removed.
    ///
    /// # Errors
    /// If the folder can't be created.
    pub fn open(capacity: u64) -> Result<Worktrees, WorktreesError> {
        let folder = remembered::default_folder().ok_or(WorktreesError::NoFolder)?;
        // Nodes that share a home directory may have different processors, and don't wait for each other's
        // builds.
        let folder = match fathom_fleet::attempt() {
            Some(attempt) => folder.join(format!("worktrees-{}", attempt.run.node)),
            None => folder.join("worktrees"),
        };
        let made = std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder);
        match made {
            Ok(()) => Ok(Worktrees { folder, capacity }),
            Err(error) => Err(WorktreesError::Folder {
                path: folder,
                error,
            }),
        }
    }

    /// Returns the built revision, immediately if it was built before. Calls `waits` if another Fathom
    /// process is building it now.
    ///
    /// # Errors
    /// If the folder can't be used, or if Fathom was told to stop.
    pub fn prepare(
        &self,
        wanted: &Wanted<'_>,
        waits: &mut dyn FnMut(),
    ) -> Result<Prepared, WorktreesError> {
        let entry = Entry::of(&self.folder, &key(wanted));
        let failed = |error| WorktreesError::Folder {
            path: entry.folder.clone(),
            error,
        };
        let mut again = wanted.again;
        loop {
            // Try a shared lock first, because there is no need to wait for a process that only measures in
            // the worktree.
            if !again {
                let used = lock::take(&entry.use_lock, Kind::Shared, waits).map_err(failed)?;
                let used = used.ok_or(WorktreesError::Interrupted)?;
                if let Some(state) = entry.state() {
                    entry.touch();
                    return Ok(match state.error {
                        Some(error) => Prepared::Failed(error),
                        None => Prepared::Built(Worktree {
                            folder: entry.tree(),
                            _lock: used,
                        }),
                    });
                }
            }
            let building = lock::take(&entry.build_lock, Kind::Alone, waits).map_err(failed)?;
            let building = building.ok_or(WorktreesError::Interrupted)?;
            let alone = lock::take(&entry.use_lock, Kind::Alone, waits).map_err(failed)?;
            let alone = alone.ok_or(WorktreesError::Interrupted)?;
            if again || entry.state().is_none() {
                if again {
                    size::remove(&entry.folder).map_err(failed)?;
                }
                match self.make(&entry, wanted, &building) {
                    Ok(()) => again = false,
                    // Ctrl-C also reaches git.
                    Err(WorktreesError::Git(_)) if interrupt::stopped() => {
                        return Err(WorktreesError::Interrupted);
                    }
                    // git's error applies to this revision only. Another revision may work, and so may this
                    // one after missing objects are fetched, so the error is not stored.
                    Err(WorktreesError::Git(error)) => {
                        return Ok(Prepared::Failed(error.to_string()));
                    }
                    Err(error) => return Err(error),
                }
            }
            // A server that the build left running may hold the file open; unlocking works anyway.
            building.unlock().map_err(failed)?;
            drop(alone);
        }
    }

    fn make(&self, entry: &Entry, wanted: &Wanted<'_>, lock: &File) -> Result<(), WorktreesError> {
        let failed = |error| WorktreesError::Folder {
            path: entry.folder.clone(),
            error,
        };
        std::fs::create_dir_all(&entry.folder).map_err(failed)?;
        let error = self.fill(entry, wanted, lock)?;
        let state = State {
            repository: wanted.repository.common.display().to_string(),
            revision: wanted.revision.to_owned(),
            build: wanted.build.map(str::to_owned),
            error,
            bytes: size::of(&entry.folder),
        };
        entry.set_state(&state).map_err(failed)?;
        self.make_room();
        Ok(())
    }

    /// Checks out and builds a revision; returns the reason if that failed.
    fn fill(
        &self,
        entry: &Entry,
        wanted: &Wanted<'_>,
        lock: &File,
    ) -> Result<Option<String>, WorktreesError> {
        let tree = entry.tree();
        let mut missing = Vec::new();
        if !tree.is_dir() {
            missing = checkout(&wanted.repository.common, wanted.revision, &tree)?;
        }
        let Some(command) = wanted.build else {
            return Ok(None);
        };
        let place = Place {
            tree: &tree,
            repository: &wanted.repository.root,
            log: &entry.log(),
        };
        let built = build(command, place, lock).map_err(|error| WorktreesError::Folder {
            path: entry.folder.clone(),
            error,
        })?;
        match built {
            Built::Well => Ok(None),
            Built::Stopped => Err(WorktreesError::Interrupted),
            Built::Failed(mut said) => {
                if !missing.is_empty() {
                    said.push_str(&format!(
                        "\nsubmodules without files: {}; git submodule update --init --recursive fetches them",
                        missing.join(", ")
                    ));
                }
                Ok(Some(said))
            }
        }
    }

    /// Removes the least recently used worktrees until the rest fits, except those in use. Removing those
    /// that can't be removed now is tried again next time.
    pub fn make_room(&self) {
        let mut kept: Vec<(SystemTime, u64, Entry)> = self
            .entries()
            .into_iter()
            .map(|entry| (entry.used(), entry.bytes(), entry))
            .collect();
        kept.sort_by_key(|(used, _, _)| *used);
        let mut sum: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, entry) in kept {
            if sum <= self.capacity {
                return;
            }
            if entry.remove() {
                sum -= bytes;
            }
        }
    }

    fn entries(&self) -> Vec<Entry> {
        let names = std::fs::read_dir(&self.folder).into_iter().flatten();
        names
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| is_key(name))
            .map(|name| Entry::of(&self.folder, &name))
            .collect()
    }
}

/// Reports whether the name is a worktree's; everything else in the folder is ignored.
fn is_key(name: &str) -> bool {
    name.len() == KEY && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn key(wanted: &Wanted<'_>) -> String {
    let mut hash = Sha256::new();
    let common = wanted.repository.common.as_os_str().as_encoded_bytes();
    let build = wanted.build.map(str::as_bytes);
    for part in [
        common,
        wanted.revision.as_bytes(),
        build.unwrap_or_default(),
    ] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    if wanted.twin {
        hash.update(b"twin");
    }
    let digest = hash.finalize();
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    digits[..KEY].to_owned()
}

/// One worktree with its files.
#[derive(Debug)]
struct Entry {
    folder: PathBuf,
    use_lock: PathBuf,
    build_lock: PathBuf,
}

impl Entry {
    fn of(worktrees: &Path, key: &str) -> Entry {
        Entry {
            folder: worktrees.join(key),
            use_lock: worktrees.join(format!("{key}.use")),
            build_lock: worktrees.join(format!("{key}.build")),
        }
    }

    fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("build.log")
    }

    fn state_file(&self) -> PathBuf {
        self.folder.join("state.json")
    }

    /// Returns the state; `None` until a build has ended.
    fn state(&self) -> Option<State> {
        let text = std::fs::read(self.state_file()).ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn set_state(&self, state: &State) -> io::Result<()> {
        fathom_measure::write_whole(&self.state_file(), serde_json::to_vec(state)?)
    }

    fn touch(&self) {
        // If this fails, the only consequence is that the worktree counts as unused.
        if let Ok(file) = OpenOptions::new().append(true).open(self.state_file()) {
            let _ = file.set_modified(SystemTime::now());
        }
    }

    fn used(&self) -> SystemTime {
        let about =
            std::fs::metadata(self.state_file()).or_else(|_| std::fs::metadata(&self.folder));
        about
            .and_then(|about| about.modified())
            .unwrap_or(SystemTime::UNIX_EPOCH)
    }

    fn bytes(&self) -> u64 {
        self.state()
            .map_or_else(|| size::of(&self.folder), |state| state.bytes)
    }

    /// Removes the worktree; returns false if it is in use or can't be removed.
    fn remove(&self) -> bool {
        let take = |path| lock::try_take(path, Kind::Alone).ok().flatten();
        let (Some(_building), Some(_used)) = (take(&self.build_lock), take(&self.use_lock)) else {
            return false;
        };
        // The file that marks the worktree as built is removed first, so that a partial remainder doesn't
        // count as a worktree.
        let _ = std::fs::remove_file(self.state_file());
        let tree = self.tree();
        let gone = size::remove(&tree).and_then(|()| size::remove(&self.folder));
        if gone.is_err() {
            return false;
        }
        let _ = std::fs::remove_file(&self.use_lock);
        let _ = std::fs::remove_file(&self.build_lock);
        true
    }
}
