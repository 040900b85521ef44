//! Control groups with limits, as containers use them.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fathom_machine::remembered::{self, Profile};
use serde_json::Value;

use crate::world::{fathom, stderr};

/// Files of a group and the text to write to each.
type Files<'a> = &'a [(&'a str, &'a str)];

/// A group with limits, and a subgroup for processes.
struct Group(PathBuf);

impl Group {
    /// Creates the group if this is a version 1 hierarchy with this controller, or version 2; returns `None`
    /// if it can't be created here.
    fn make(controller: &str, first: Files<'_>, second: Files<'_>) -> Option<Group> {
        let mounts = Path::new("/sys/fs/cgroup");
        let own = fs::read_dir(mounts).ok()?.flatten().find(|entry| {
            let name = entry.file_name();
            let names = name.to_str().unwrap_or_default();
            names.split(',').any(|one| one == controller)
        });
        let enabled = fs::read_to_string(mounts.join("cgroup.subtree_control"));
        let (hierarchy, files) = match (own, enabled) {
            (Some(own), _) => (own.path(), first),
            (None, Ok(enabled)) if enabled.split_whitespace().any(|it| it == controller) => {
                (mounts.to_path_buf(), second)
            }
            _ => return None,
        };
        let outer = hierarchy.join(format!("fathom-test-{controller}-{}", std::process::id()));
        fs::create_dir(&outer).ok()?;
        let group = Group(outer);
        let written = files
            .iter()
            .all(|(name, text)| fs::write(group.0.join(name), text).is_ok());
        (written && fs::create_dir(group.inner()).is_ok()).then_some(group)
    }

    fn inner(&self) -> PathBuf {
        self.0.join("inner")
    }

    fn run(&self, command: &Command) -> Output {
        let enter = r#"echo $$ > "$0/cgroup.procs" && exec "$@""#;
        let mut inside = Command::new("sh");
        inside.args(["-c", enter]).arg(self.inner());
        inside.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside.stdin(Stdio::null()).output().unwrap()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in [self.inner(), self.0.clone()] {
            // The kernel takes a moment to release processes that have exited.
            while let Err(error) = fs::remove_dir(&folder) {
                if error.raw_os_error() != Some(libc::EBUSY) {
                    break;
                }
                std::thread::yield_now();
            }
        }
    }
}

#[test]
fn runs_that_the_limit_of_a_group_above_stops_are_counted_and_named() {
    let group = Group::make(
        "cpu",
        &[("cpu.cfs_period_us", "20000"), ("cpu.cfs_quota_us", "1000")],
        &[("cpu.max", "1000 20000")],
    );
    let Some(group) = group else {
        return fathom_test_log::skipped("no group with a CPU limit can be made");
    };
    // This loop needs at least about 10 ms of CPU time, and the group may use only 1/20 of a CPU. On a busy
    // machine, the limit must be below the share that other processes leave to the group, which otherwise
    // would never reach it.
    let busy = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    let output = group.run(&fathom(&["-r", "3", "--json", "-", "-S", busy]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    let runs = record["runs"].as_array().unwrap();
    let throttled = |run: &Value| run["throttled_ns"].as_u64().unwrap() > 0;
    let stopped = runs.iter().filter(|run| throttled(run)).count();
    assert!(stopped > 0, "{runs:?}");
    let warnings = record["outcome"]["warnings"].as_array().unwrap();
    let named: Vec<&str> = warnings
        .iter()
        .filter(|warning| warning["id"] == "throttled")
        .filter_map(|warning| warning["message"].as_str())
        .collect();
    let expected = format!(
        "throttled by the CPU limit of Fathom's control group (5 % of a CPU): in {stopped} of 3 runs, "
    );
    assert_eq!(named.len(), 1, "{warnings:?}");
    assert!(named[0].starts_with(&expected), "{}", named[0]);
}

/// Creates a folder in which a profile is stored, because canaries are sent only if there is one.
fn remembering() -> tempfile::TempDir {
    let cache = tempfile::tempdir().unwrap();
    let profile = Profile::now(Vec::new());
    remembered::save(&cache.path().join("fathom"), &profile).unwrap();
    cache
}

/// Maximum memory of Fathom and everything it runs.
const MOST_BYTES: u64 = 40 << 20;

#[test]
fn where_a_profile_is_remembered_bench_takes_no_memory_to_speak_of() {
    let cache = remembering();
    let mut command = fathom(&["-r", "3", "--json", "-", "true"]);
    command.env("XDG_CACHE_HOME", cache.path());
    #[allow(
        clippy::zombie_processes,
        reason = "wait4 below reaps it, and has its peak"
    )]
    let output = command.stdout(Stdio::piped()).spawn().unwrap();
    let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    let pid = output.id() as i32;
    let record: Value = serde_json::from_reader(output.stdout.unwrap()).unwrap();
    // SAFETY: both places are valid; the child is ours and no one else reaps it.
    let reaped = unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) };
    assert_eq!(reaped, pid);
    // SAFETY: the call has filled the structure, in which zeros are valid too.
    let peak = unsafe { usage.assume_init() }.ru_maxrss as u64 * 1024;
    assert_eq!(std::process::ExitStatus::from_raw(status).code(), Some(0));
    let canaries = &record["environment"]["fingerprint"];
    assert!(canaries.is_object(), "they were sent");
    assert!(peak < MOST_BYTES, "{peak}");
}

#[test]
fn a_group_of_128_mib_is_enough_to_measure_in() {
    let group = Group::make(
        "memory",
        &[("memory.limit_in_bytes", "134217728")],
        &[("memory.max", "134217728")],
    );
    let Some(group) = group else {
        return fathom_test_log::skipped("no group with a memory limit can be made");
    };
    let cache = remembering();
    // A memory canary is sent only if there is enough memory for everything.
    for more in [&["-r", "3"][..], &["-r", "3", "--require-quiet=1ms"]] {
        let mut command = fathom(&[more, &["--json", "-", "true"]].concat());
        command.env("XDG_CACHE_HOME", cache.path());
        let output = group.run(&command);
        // Exit code 4 means that another process is busy here.
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 4)), "{code:?}: {}", stderr(&output));
    }
}
