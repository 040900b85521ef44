//! The environment of the steps: a real repository, and a folder for a job.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

const SUITE: &str = r#"
schema_version = 1
title = "a suite"
[subjects.count]
command = "sh work.sh"
[[measure]]
id  = "time"
how = "bench"
rounds = 3
[[claims]]
id = "it is there"
text = "It takes no time of its own"
layer = "size"
holds = "wall.count < 1000s"
"#;

pub(crate) fn integrations() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations")
}

pub(crate) fn step(name: &str) -> PathBuf {
    integrations().join("steps").join(name)
}

pub(crate) struct Forge {
    pub(crate) folder: tempfile::TempDir,
}

impl Forge {
    pub(crate) fn new() -> Forge {
        let forge = Forge {
            folder: tempfile::tempdir().expect("a folder"),
        };
        std::fs::create_dir_all(forge.bin()).expect("a folder");
        std::fs::create_dir_all(forge.work()).expect("a folder");
        let own = env!("CARGO_BIN_EXE_fathom");
        std::os::unix::fs::symlink(own, forge.bin().join("fathom")).expect("a link");
        forge
    }

    pub(crate) fn bin(&self) -> PathBuf {
        self.folder.path().join("bin")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.work().join(name)).unwrap_or_default()
    }

    pub(crate) fn write(&self, path: &Path, text: &str) {
        std::fs::write(path, text).expect("a file");
    }

    pub(crate) fn program(&self, path: &Path, text: &str) {
        self.write(path, text);
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(path, executable).expect("a mode");
    }

    pub(crate) fn run(&self, words: &[&str], variables: &[(&str, &str)]) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        Command::new(words[0])
            .args(&words[1..])
            .current_dir(self.work())
            .env_clear()
            .env("PATH", format!("{}:{path}", self.bin().display()))
            .env("HOME", self.folder.path())
            .env("GIT_AUTHOR_NAME", "a")
            .env("GIT_AUTHOR_EMAIL", "a@b")
            .env("GIT_COMMITTER_NAME", "a")
            .env("GIT_COMMITTER_EMAIL", "a@b")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("it runs")
    }

    pub(crate) fn must(&self, words: &[&str]) {
        let done = self.run(words, &[]);
        assert!(
            done.status.success(),
            "{words:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
    }

    /// Writes a record as a job leaves it, with one benchmark that is worse. It is measured once for all
    /// tests.
    pub(crate) fn record(&self, name: &str) {
        static MEASURED: OnceLock<Value> = OnceLock::new();
        let mut record = MEASURED.get_or_init(|| self.measured()).clone();
        record["benchmarks"][0]["name"] = name.into();
        self.write(&self.work().join("fathom-gate.json"), &record.to_string());
    }

    pub(crate) fn measured(&self) -> Value {
        let line = "fathom gate --base-cmd true --head-cmd";
        let mut words: Vec<&str> = line.split(' ').collect();
        words.extend(["sleep 0.3", "--json", "-"]);
        let made = self.run(&words, &[]);
        assert_eq!(
            made.status.code(),
            Some(1),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        serde_json::from_slice(&made.stdout).expect("it is JSON")
    }

    /// Creates a repository with a base and a slower head, and returns its address.
    pub(crate) fn upstream(&self) -> String {
        let upstream = self.folder.path().join("upstream.git");
        std::fs::create_dir_all(&upstream).expect("a folder");
        self.write(&upstream.join("fathom.toml"), SUITE);
        self.write(&upstream.join("work.sh"), "exit 0\n");
        let at = upstream.to_str().expect("UTF-8");
        // The steps are installed as in a project that uses them.
        let integrations = integrations();
        let copied = ["cp", "-r", integrations.to_str().expect("UTF-8"), at];
        self.must(&copied);
        self.must(&["git", "-C", at, "init", "-q", "-b", "main"]);
        self.must(&["git", "-C", at, "add", "-A"]);
        self.must(&["git", "-C", at, "commit", "-q", "-m", "base"]);
        self.must(&["git", "-C", at, "switch", "-q", "-c", "change"]);
        self.write(&upstream.join("work.sh"), "sleep 0.3\n");
        self.must(&["git", "-C", at, "commit", "-q", "-a", "-m", "slower"]);
        format!("file://{at}")
    }

    /// Clones one commit, as forges do.
    pub(crate) fn shallow_clone(&self, url: &str) {
        self.must(&[
            "git", "clone", "-q", "--depth", "1", "-b", "change", url, ".",
        ]);
    }
}
