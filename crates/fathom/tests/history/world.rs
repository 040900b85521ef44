//! A separate folder for each test, containing Fathom's homes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fathom_store::{Location, Store};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct World {
    folder: TempDir,
}

impl World {
    /// Creates a folder that is not a project.
    pub(crate) fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("here")).unwrap();
        World { folder }
    }

    /// Creates a project in a repository with one commit.
    pub(crate) fn project() -> World {
        let world = World::new();
        std::fs::create_dir(world.here().join(".fathom")).unwrap();
        world
    }

    /// Returns the folder in which commands run.
    pub(crate) fn here(&self) -> PathBuf {
        self.folder.path().join("here")
    }

    pub(crate) fn project_store(&self) -> PathBuf {
        self.here().join(".fathom/store.sqlite")
    }

    pub(crate) fn own_store(&self) -> PathBuf {
        self.folder.path().join("data/fathom/store.sqlite")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        command
            .args(arguments)
            .current_dir(self.here())
            .env_remove("NO_COLOR")
            .env_remove("FATHOM_STORE")
            .env("XDG_DATA_HOME", self.folder.path().join("data"))
            .env("XDG_CACHE_HOME", "/dev/null/no-folder")
            // Don't use a repository that contains this test.
            .env("GIT_CEILING_DIRECTORIES", self.folder.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn fathom(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Returns the standard output of a call that exits with 0.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let output = self.fathom(arguments);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{arguments:?}: {}",
            stderr(&output)
        );
        stdout(&output)
    }

    /// Returns the first line of standard error of a call that exits with `code` and prints no result.
    pub(crate) fn refused(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.fathom(arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert_eq!(stdout(&output), "", "{arguments:?}");
        said
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.extend(["--json", "-"]);
        serde_json::from_str(&self.done(&all)).expect("JSON")
    }

    /// Runs git here, with a made-up identity.
    pub(crate) fn git(&self, arguments: &[&str]) {
        let done = Command::new("git")
            .args([
                "-c",
                "user.name=A",
                "-c",
                "user.email=a@b",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(arguments)
            .current_dir(self.here())
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "git {arguments:?}: {}",
            stderr(&done)
        );
    }

    /// Changes a tracked file and commits it.
    pub(crate) fn commit(&self, text: &str) {
        if !self.here().join(".git").exists() {
            self.git(&["init", "-q"]);
            std::fs::write(self.here().join(".gitignore"), ".fathom/\n").unwrap();
        }
        self.write("source", text);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", text]);
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.here().join(name), text).unwrap();
    }
}

pub(crate) fn open(path: &Path) -> Store {
    Store::open(&Location::File(path.to_path_buf())).unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
