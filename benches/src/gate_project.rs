//! A repository in which `fathom gate` runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fathom_model::GateRecord;

use crate::Result;
use crate::tools::Tools;

/// A project folder, removed when this value is dropped.
pub(crate) struct Project<'t> {
    tools: &'t Tools,
    folder: PathBuf,
}

impl Drop for Project<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl<'t> Project<'t> {
    /// Creates an empty folder.
    pub(crate) fn new(tools: &'t Tools, name: &str) -> Result<Project<'t>> {
        let folder = tools.scratch_folder().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        let project = Project { tools, folder };
        std::fs::create_dir_all(project.root()).map_err(|error| project.failed(&error))?;
        Ok(project)
    }

    /// Creates a repository with the files written so far, on the branch `main`.
    pub(crate) fn begin(&self) -> Result<()> {
        self.git(&["init", "-q", "-b", "main"])?;
        self.commit()
    }

    /// Creates a branch `same` with the same code.
    pub(crate) fn same(&self) -> Result<()> {
        self.git(&["switch", "-q", "-c", "same"])?;
        self.write("README", "No code is touched.\n")?;
        self.commit()
    }

    fn root(&self) -> PathBuf {
        self.folder.join("project")
    }

    fn cache(&self) -> PathBuf {
        self.folder.join("cache")
    }

    /// Deletes the builds, so that the next gate checks out and builds again.
    pub(crate) fn forget_builds(&self) -> Result<()> {
        for folder in [self.cache(), self.root().join(".fathom")] {
            match std::fs::remove_dir_all(&folder) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(self.failed(&error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> String {
        format!("{}: {error}", self.folder.display())
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> Result<()> {
        std::fs::write(self.root().join(name), text).map_err(|error| self.failed(&error))
    }

    /// Returns a command with an environment that is the same on each machine.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.root())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LC_ALL", "C")
            .env("HOME", &self.folder)
            .env("XDG_CACHE_HOME", self.cache())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> Result<()> {
        let done = self
            .command(Path::new("git"))
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(arguments)
            .output()
            .map_err(|error| format!("can't start git: {error}"))?;
        match done.status.success() {
            true => Ok(()),
            false => Err(format!(
                "git {arguments:?}: {}",
                String::from_utf8_lossy(&done.stderr)
            )),
        }
    }

    pub(crate) fn commit(&self) -> Result<()> {
        self.git(&["add", "-A"])?;
        self.git(&["commit", "-q", "-m", "a change"])
    }

    /// Runs one gate with these arguments.
    pub(crate) fn gate(&self, arguments: &[&str]) -> Result<GateRecord> {
        let run = self
            .command(&self.tools.fathom)
            .arg("gate")
            .args(arguments)
            .args(["--json", "-"])
            .output()
            .map_err(|error| format!("can't start {}: {error}", self.tools.fathom.display()))?;
        serde_json::from_slice(&run.stdout).map_err(|error| {
            let errors = String::from_utf8_lossy(&run.stderr);
            format!("fathom gate left no record ({error}): {errors}")
        })
    }
}

/// Returns text to compress and sort.
pub(crate) fn text(lines: usize) -> String {
    let mut random = crate::random::Random::new(39);
    let mut text = String::new();
    for _ in 0..lines {
        let words: Vec<String> = (0..6)
            .map(|_| format!("{:x}", random.below(1 << 20)))
            .collect();
        text += &words.join(" ");
        text.push('\n');
    }
    text
}
