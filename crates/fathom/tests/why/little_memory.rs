//! Runs in a control group with little memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::world::{stderr, stdout};

const LIMIT: u64 = 128 << 20;

/// A group that is removed when this value is dropped.
struct Group(PathBuf);

impl Group {
    /// Creates a group with this limit below the root of the memory hierarchy; `None` if that isn't possible.
    fn limited(bytes: u64) -> Option<Self> {
        let name = format!("fathom-test-{}", std::process::id());
        let kinds = [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ];
        kinds.iter().find_map(|(root, limit)| {
            let group = Self(Path::new(root).join(&name));
            fs::create_dir(&group.0).ok()?;
            let limit = group.0.join(limit);
            // In a file system that isn't a control group hierarchy, this would create a new file.
            let is_set = limit.exists() && fs::write(&limit, bytes.to_string()).is_ok();
            is_set.then_some(group)
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn why_answers_in_a_group_of_128_mib_for_a_program_of_100_mb() {
    const SCRIPT: &str =
        "let s = 0; for (let i = 0; i < 2e7; i++) s += i % 7; process.exitCode = 0";
    let has_node = Command::new("node").arg("--version").output().is_ok();
    let Some(group) = Group::limited(LIMIT).filter(|_| has_node) else {
        fathom_test_log::skipped("no node, or no control group may be made");
        return;
    };
    let enter = "echo $$ > \"$0/cgroup.procs\" && exec \"$@\"";
    let kept = tempfile::tempdir().unwrap();
    let observation = kept.path().join("observation");
    let output = Command::new("sh")
        .args(["-c", enter])
        .arg(&group.0)
        .arg(env!("CARGO_BIN_EXE_fathom"))
        .args(["why", "-r", "3", "--json", "-", "--save-observation"])
        .arg(&observation)
        .arg(format!("node -e '{SCRIPT}'"))
        .env("XDG_DATA_HOME", kept.path())
        .env("XDG_CACHE_HOME", kept.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let explanation: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(
        explanation["timed"]["runs"].as_u64() >= Some(3),
        "{explanation}"
    );
    let observed: Value = serde_json::from_slice(&fs::read(observation).unwrap()).unwrap();
    let tier = &observed["trace"]["tier"];
    if tier == "kernel" || tier == "perf" {
        let stacks = &observed["trace"]["stacks"];
        let frames = stacks["tree"]["frames"].as_array().unwrap();
        let named = frames.iter().filter(|frame| frame["function"].is_string());
        assert!(named.count() > 10, "{stacks}");
    }
}
