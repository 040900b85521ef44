//! A repository with a program that writes a given number of bytes, and the Fathom that measures it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Everything is in one folder: the repository in `repo`, Fathom's cache in `cache`.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    commits: std::cell::Cell<u32>,
}

impl World {
    /// Creates an empty repository on the branch `main`.
    pub(crate) fn new() -> World {
        let world = World {
            folder: tempfile::tempdir().unwrap(),
            commits: std::cell::Cell::new(0),
        };
        std::fs::create_dir(world.repo()).unwrap();
        world.git(&["init", "--quiet", "--initial-branch=main"]);
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.path("repo")
    }

    /// Runs git and returns its standard output without the final newline.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.repo(), arguments)
    }

    pub(crate) fn git_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = self
            .alone(Command::new("git"))
            .args(["-c", "protocol.file.allow=always"])
            .args(arguments)
            .current_dir(folder)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {said}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.trim_end().to_owned()
    }

    /// Hides the user's configuration, and gives each commit a different time.
    fn alone(&self, mut command: Command) -> Command {
        let date = format!("2026-01-01T00:{:02}:00Z", self.commits.get());
        command
            .env("HOME", self.folder.path())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .env_remove("NO_COLOR")
            // Cargo sets this, and the loader then searches folders without libraries.
            .env_remove("LD_LIBRARY_PATH")
            .stdin(Stdio::null());
        for name in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{name}_NAME"), "Ada");
            command.env(format!("GIT_{name}_EMAIL"), "ada@example.org");
        }
        command
    }

    /// Commits a file and returns the id.
    pub(crate) fn commit_file(&self, name: &str, text: &str, subject: &str) -> String {
        self.commits.set(self.commits.get() + 1);
        std::fs::write(self.repo().join(name), text).unwrap();
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", subject]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Commits the program `tool`, which writes this many bytes, and returns the id.
    pub(crate) fn commit(&self, bytes: usize, subject: &str) -> String {
        // The second line makes each commit different.
        let text = format!("printf '%0{bytes}d' 0\n# {}\n", self.commits.get());
        self.commit_file("tool", &text, subject)
    }

    /// Commits the program and tags the commit.
    pub(crate) fn release(&self, bytes: usize, tag: &str) -> String {
        let id = self.commit(bytes, tag);
        self.git(&["tag", tag]);
        id
    }

    pub(crate) fn fathom_in(&self, folder: &Path, arguments: &[&str]) -> Command {
        let program = Command::new(env!("CARGO_BIN_EXE_fathom"));
        let mut command = self.alone(program);
        command.args(arguments).current_dir(folder);
        command
    }

    pub(crate) fn fathom(&self, arguments: &[&str]) -> Output {
        self.fathom_in(&self.repo(), arguments).output().unwrap()
    }

    /// Returns the record of `versions` or `bisect`, with the bytes that `tool` writes.
    pub(crate) fn record(&self, arguments: &[&str]) -> Value {
        let options = ["--metric", "written_bytes", "-w", "0", "--json", "-"];
        let all: Vec<&str> = [arguments, &options, &["--", "sh", "tool"]].concat();
        let output = self.fathom(&all);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_str(&stdout(&output)).unwrap()
    }

    /// Returns the record of `versions` with the fewest rounds that can decide a few steps.
    pub(crate) fn versions(&self, arguments: &[&str]) -> Value {
        self.record(&[&["versions", "-r", "12"], arguments].concat())
    }

    pub(crate) fn bisect(&self, arguments: &[&str]) -> Value {
        self.record(&[&["bisect"], arguments].concat())
    }

    /// Returns exit code and standard error of a call that prints no result.
    pub(crate) fn refusal(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.fathom(arguments);
        assert_eq!(stdout(&output), "", "{arguments:?} prints no result");
        (output.status.code().unwrap(), stderr(&output))
    }

    /// Returns every file of the repository with its content, including `.git`.
    pub(crate) fn everything(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut all = BTreeMap::new();
        let mut folders = vec![self.repo()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    all.insert(path.clone(), Vec::new());
                    folders.push(path);
                } else {
                    let content = std::fs::read(&path).unwrap();
                    all.insert(path, content);
                }
            }
        }
        all
    }

    /// Returns the lines of a file next to the repository that builds write to.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Returns the number of cached worktrees.
    pub(crate) fn kept(&self) -> usize {
        let worktrees = self.path("cache/fathom/worktrees");
        let entries = std::fs::read_dir(worktrees).into_iter().flatten();
        entries
            .flatten()
            .filter(|entry| entry.file_type().unwrap().is_dir())
            .count()
    }
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns one key of each element.
pub(crate) fn each<'v>(list: &'v Value, key: &str) -> Vec<&'v str> {
    let elements = list.as_array().unwrap();
    let word = |element: &'v Value| element[key].as_str().unwrap();
    elements.iter().map(word).collect()
}
