//! Runs that are ended from outside, or by a time limit.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::world::{experiment, fathom, record, run, stderr, verdict};

/// Writes an experiment with a quick measure, and one that sleeps and leaves its process id in a file.
fn sleeping(folder: &Path) -> String {
    format!(
        "schema_version = 1\ntitle = \"t\"\n[subjects.a]\ncommand = \"echo 5\"\n[subjects.z]\n\
         command = \"sh -c 'echo $$ > {0}/pid; sleep 300; echo 6'\"\n[[measure]]\nid = \"first\"\nhow = \"value\"\n\
         subjects = [\"a\"]\nrounds = 3\nvalues.n = {{ pattern = \"([0-9]+)\" }}\n[[measure]]\nid = \"second\"\n\
         how = \"HOW\"\nsubjects = [\"z\"]\nrounds = 3\nVALUES\n[[claims]]\nid = \"kept\"\ntext = \"x\"\n\
         layer = \"size\"\nholds = \"first.n.a == 5\"\n",
        folder.display()
    )
}

/// Starts the experiment and waits until the sleeping subject runs; returns the subject's process id.
fn start_sleeping(folder: &Path, how: &str) -> (std::process::Child, i32) {
    let values = match how {
        "value" => "values.n = { pattern = \"([0-9]+)\" }",
        _ => "",
    };
    let text = sleeping(folder)
        .replace("HOW", how)
        .replace("VALUES", values);
    std::fs::write(folder.join("experiment.toml"), text).expect("written");
    let child = fathom()
        .arg("run")
        .arg(folder)
        .arg("--json")
        .arg(folder.join("record.json"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("runs");
    let pid = wait_for(|| {
        let text = std::fs::read_to_string(folder.join("pid")).ok()?;
        text.trim().parse().ok()
    });
    (child, pid)
}

/// Polls until there is an answer, without a time limit; the test runner limits the time.
fn wait_for<T>(answer: impl Fn() -> Option<T>) -> T {
    loop {
        if let Some(answer) = answer() {
            return answer;
        }
        // Leave the processor to the awaited process between polls.
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn is_gone(pid: i32) -> Option<()> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    matches!(state, None | Some('Z' | 'X')).then_some(())
}

fn signal(pid: u32, name: &str) {
    let status = Command::new("kill")
        .args([&format!("-{name}"), "--", &pid.to_string()])
        .status()
        .expect("kill runs");
    assert!(status.success());
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_leaves_nothing_running() {
    for how in ["value", "bench"] {
        let folder = TempDir::new().expect("a folder");
        let (mut child, pid) = start_sleeping(folder.path(), how);
        signal(child.id(), "INT");
        let status = child.wait().expect("ends");
        assert_eq!(status.code(), Some(130), "{how}");
        wait_for(|| is_gone(pid));
        let text = std::fs::read_to_string(folder.path().join("record.json")).expect("written");
        let record: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(record["complete"], false);
        assert_eq!(verdict(&record, "kept"), "reproduced");
    }
}

#[test]
fn a_killed_run_leaves_nothing_running_and_can_be_resumed() {
    for how in ["value", "bench"] {
        let folder = TempDir::new().expect("a folder");
        let (mut child, pid) = start_sleeping(folder.path(), how);
        signal(child.id(), "KILL");
        child.wait().expect("ends");
        wait_for(|| is_gone(pid));
        // The first measure is done. Its stored value is changed to show whether it is used.
        let state = folder.path().join(".fathom/experiment/state.json");
        let kept = std::fs::read_to_string(&state).expect("kept");
        assert!(kept.contains("5.0"), "{kept}");
        std::fs::write(&state, kept.replace("5.0", "8.0")).expect("written");
        // No time is left for the second measure, which would sleep again.
        let arguments = ["--resume", "--time", "1us"];
        let (resumed, _) = record(folder.path(), &arguments);
        assert_eq!(verdict(&resumed, "kept"), "not_reproduced", "{how}");
        // A changed claim is judged by the stored measurements.
        let file = folder.path().join("experiment.toml");
        let text = std::fs::read_to_string(&file).expect("it is there");
        std::fs::write(&file, text.replace("first.n.a == 5", "first.n.a == 8")).expect("written");
        let (judged, _) = record(folder.path(), &arguments);
        assert_eq!(verdict(&judged, "kept"), "reproduced", "{how}");
        std::fs::write(&file, text).expect("written");
        // Without --resume, or for another set, everything is measured again.
        let (anew, _) = record(folder.path(), &["--only", "first"]);
        assert_eq!(verdict(&anew, "kept"), "reproduced", "{how}");
    }
}

#[test]
fn two_runs_do_not_share_a_work_folder() {
    let folder = TempDir::new().expect("a folder");
    let (mut child, pid) = start_sleeping(folder.path(), "value");
    let output = run(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("another run is using it"),
        "{}",
        stderr(&output)
    );
    signal(child.id(), "KILL");
    child.wait().expect("ends");
    wait_for(|| is_gone(pid));
}

/// Writes an experiment in which one step never ends by itself.
fn endless(step: &str) -> TempDir {
    let own = |name: &str, other: &'static str| match step == name {
        true => "sleep 3000",
        false => other,
    };
    let how = match step {
        "build" | "input" | "check" | "count" => "value",
        how => how,
    };
    let measure = match how {
        "value" => "subjects = [\"slow\"]\nvalues.n = { pattern = \"([0-9]+)\" }".to_string(),
        "pipe" => "stages = [\"sleep 3000\", \"cat\"]\nneeds = []".to_string(),
        _ => "subjects = [\"slow\"]".to_string(),
    };
    let subject = match step {
        "build" | "input" | "check" | "count" | "pipe" => "echo 5",
        _ => "sleep 3000",
    };
    experiment(&format!(
        "schema_version = 1\ntitle = \"t\"\n[tools.t]\ncheck = \"{}\"\n[builds.b]\ncommand = \"{}\"\n\
         needs = [\"t\"]\n[inputs.i]\ngenerate = \"{}\"\n[subjects.slow]\ncommand = \"{subject}\"\n\
         input = \"i\"\nneeds = [\"b\"]\n[[measure]]\nid = \"s\"\nhow = \"static\"\n\
         counts.n = {{ command = \"{}\", pattern = \"5\" }}\n\
         [[measure]]\nid = \"m\"\nhow = \"{how}\"\nrounds = 3\n{measure}\n\
         [[claims]]\nid = \"sum\"\ntext = \"x\"\nlayer = \"arithmetic\"\nholds = \"1 + 1 == 2\"\n\
         [[claims]]\nid = \"count\"\ntext = \"x\"\nlayer = \"mechanism\"\nholds = \"count.n == 1\"\n",
        own("check", "echo t"),
        own("build", "true"),
        own("input", "echo 1"),
        own("count", "echo 5"),
    ))
}

#[test]
fn the_end_of_the_time_ends_whatever_runs_and_is_no_failure() {
    for step in [
        "build", "input", "check", "count", "value", "bench", "why", "startup", "pipe",
    ] {
        let folder = endless(step);
        // The sleeps would outlast any test, so it is enough that the run returns.
        let (record, output) = record(folder.path(), &["--within", "2s"]);
        assert_eq!(output.status.code(), Some(0), "{step}: {record:#}");
        assert_eq!(verdict(&record, "sum"), "reproduced", "{step}");
        if step == "count" {
            assert_eq!(verdict(&record, "count"), "undecided", "{record:#}");
        }
        let measures = record["measures"].as_array().expect("measures");
        let measure = measures.iter().find(|measure| measure["id"] == "m");
        if step != "count" {
            assert_eq!(
                measure.expect("it")["complete"],
                false,
                "{step}: {record:#}"
            );
        }
    }
}
