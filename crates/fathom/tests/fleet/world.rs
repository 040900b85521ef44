//! A project, a separate home and an engine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A world for tests: the project is in `project`, the spool of `hosts.sh` in `spool`.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    variables: Vec<(&'static str, String)>,
}

pub(crate) const SUITE: &str = r#"
schema_version = 1
title = "jobs"

[subjects.one]
command = "true"

[[measure]]
id = "time"
how = "bench"
rounds = 3
"#;

pub(crate) fn of_sources(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name)
        .canonicalize()
        .unwrap()
}

impl World {
    /// Creates a world with this `[fleet]` section.
    fn new(fleet: &str) -> World {
        let world = World {
            folder: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        };
        fs::create_dir_all(world.project().join(".fathom")).unwrap();
        world.write(
            "fathom.toml",
            &format!("{SUITE}\n[fleet]\ncheck = false\n{fleet}"),
        );
        world
    }

    /// Creates a world whose jobs are processes on this machine, started by `hosts.sh`: on `localhost`
    /// without ssh, on `other` by a program that replaces ssh.
    pub(crate) fn of_hosts() -> World {
        let script = of_sources("integrations/fleet/hosts.sh");
        let script = shell_words::quote(script.to_str().unwrap());
        let mut world = World::new(&format!(
            r#"name = "hosts"
submit = "{script} submit {{script}} {{log}}"
constraint = "--constraint={{constraint}}"
exclude = "--exclude={{exclude}}"
state = "{script} state"
cancel = "{script} cancel {{ids}}"
"#
        ));
        world.write("hosts", "# name, words\nlocalhost near\nother far\n");
        // The arguments of the replacement are options, the host, and the command for a shell there. The
        // value of FATHOM_SSH is split into words.
        let ssh = world.folder.path().join("ssh");
        let script = "#!/bin/sh\nshift 3\n[ \"$1\" = other ] && exec sh -c \"$2\"\n";
        fs::write(&ssh, script).unwrap();
        fs::set_permissions(&ssh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        for (name, path) in [
            ("FATHOM_HOSTS", world.project().join("hosts")),
            ("FATHOM_HOSTS_SPOOL", world.spool()),
            ("FATHOM_SSH", ssh),
        ] {
            world.set(name, path.to_str().unwrap());
        }
        world
    }

    /// Creates a world whose jobs run in Slurm.
    pub(crate) fn of_slurm(conf: &str) -> World {
        let mut world = World::new("name = \"slurm\"\n");
        world.set("SLURM_CONF", conf);
        world
    }

    fn set(&mut self, name: &'static str, value: &str) {
        self.variables.push((name, value.to_owned()));
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("a project")
    }

    pub(crate) fn spool(&self) -> PathBuf {
        self.folder.path().join("spool")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.project().join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.project().join(name)).unwrap_or_default()
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        let text = self.read(name);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}: {text}"))
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        command
            .args(words)
            .current_dir(self.project())
            .env("HOME", self.folder.path())
            .env_remove("XDG_CACHE_HOME")
            .env_remove("XDG_STATE_HOME")
            .env_remove("FATHOM_STORE")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn fathom(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Returns the standard output of a call that must succeed.
    pub(crate) fn printed(&self, words: &[&str]) -> String {
        let output = self.fathom(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Measures a script 20 times as a job of this engine and writes the record to `record.json`.
    pub(crate) fn twenty_runs(&self, script: &str, engine: &str) {
        self.write("work.sh", script);
        let words = ["bench", "-r", "20", "-w", "1", "-n", "work", "sh work.sh"];
        self.printed(&[&words[..], &["--json", "record.json", "--on", engine]].concat());
    }

    /// Returns the folder of the only group of jobs.
    pub(crate) fn group(&self) -> PathBuf {
        let mut all = fs::read_dir(self.project().join(".fathom/jobs")).unwrap();
        let group = all.next().expect("a group of jobs").unwrap().path();
        assert!(all.next().is_none(), "only one");
        group
    }

    /// Returns the record that an attempt of the first job wrote.
    pub(crate) fn record(&self, attempt: u32) -> Value {
        let path = self
            .group()
            .join(format!("0/attempt-{attempt}/record.json"));
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    /// Returns the number of records of this benchmark in the store.
    pub(crate) fn saved(&self, benchmark: &str) -> usize {
        let text = self.printed(&["store", "list"]);
        text.lines().filter(|line| line.contains(benchmark)).count()
    }
}
