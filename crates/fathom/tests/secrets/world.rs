//! A folder with everything that Fathom writes, and a search through all of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fathom_store::{Location, Selector, Store};
use serde_json::Value;

/// A secret that must not be found in anything that Fathom writes.
pub(crate) const SECRET: &str = "hunter2-in-the-open";
/// A value that is kept, because it affects the result.
pub(crate) const PLAIN: &str = "plain-as-day";

pub(crate) struct World {
    folder: tempfile::TempDir,
}

impl World {
    /// Creates a project in a repository with two commits of the program `tool`, which fails without its
    /// secret.
    pub(crate) fn new() -> World {
        let world = World {
            folder: tempfile::tempdir().unwrap(),
        };
        for folder in ["here/.fathom", "temporary"] {
            std::fs::create_dir_all(world.path(folder)).unwrap();
        }
        world.git(&["init", "-q", "-b", "main"]);
        std::fs::write(world.here().join(".gitignore"), ".fathom/\nout.*\n").unwrap();
        for round in 1..3 {
            let text = format!("test -n \"$API_TOKEN\" && echo {round}\n");
            std::fs::write(world.here().join("tool"), text).unwrap();
            world.git(&["add", "-A"]);
            world.git(&["commit", "-q", "-m", "one"]);
            world.git(&["tag", &format!("v{round}")]);
        }
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn here(&self) -> PathBuf {
        self.path("here")
    }

    pub(crate) fn git(&self, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        let output = self.alone(command.args(arguments)).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    fn alone<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .current_dir(self.here())
            .env("HOME", self.folder.path())
            .env("TMPDIR", self.path("temporary"))
            .env("XDG_CONFIG_HOME", self.path("configuration"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("FATHOM_STORE")
            .env_remove("FATHOM_REDACTION_KEY")
            .stdin(Stdio::null())
    }

    pub(crate) fn fathom(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        let output = self.alone(command.args(arguments)).output().unwrap();
        for (what, bytes) in [("output", &output.stdout), ("errors", &output.stderr)] {
            assert!(!has(bytes, SECRET), "{what} of {arguments:?}: {output:?}");
        }
        output
    }

    /// Runs a verb that measures and returns its JSON. Exit code 4 is allowed: other programs may be busy
    /// here.
    pub(crate) fn measured(&self, arguments: &[&str]) -> Value {
        let all = [&arguments[..1], &["--json", "out.json"], &arguments[1..]].concat();
        let output = self.fathom(&all);
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 4)), "{arguments:?}: {output:?}");
        let text = std::fs::read_to_string(self.here().join("out.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Searches every file, and every (compressed) record of the project's store.
    pub(crate) fn search(&self) -> usize {
        search(self.folder.path());
        let place = self.here().join(".fathom/store.sqlite");
        if !place.exists() {
            return 0;
        }
        let mut store = Store::open(&Location::File(place)).unwrap();
        let heads = store.records(&Selector::All).unwrap();
        for head in &heads {
            let record = store.record(head).unwrap();
            assert!(!record.contains(SECRET), "{record}");
        }
        heads.len()
    }
}

fn search(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => search(&path),
            kind if kind.is_file() => {
                let bytes = std::fs::read(&path).unwrap();
                assert!(!has(&bytes, SECRET), "{}", path.display());
            }
            _ => {}
        }
    }
}

pub(crate) fn has(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|part| part == text.as_bytes())
}
