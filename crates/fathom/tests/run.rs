//! `fathom run`: whole experiments with small programs. No test depends on how fast anything is.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

fn fathom() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

fn experiment(text: &str) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("experiment.toml"), text).expect("written");
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    fathom()
        .arg("run")
        .arg(folder)
        .args(arguments)
        .output()
        .expect("runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn record(folder: &Path, arguments: &[&str]) -> (Value, Output) {
    let file = folder.join("record.json");
    let path = file.display().to_string();
    let mut all = vec!["--json", &path];
    all.extend(arguments);
    let output = run(folder, &all);
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    (serde_json::from_str(&text).expect("JSON"), output)
}

fn verdict<'r>(record: &'r Value, id: &str) -> &'r str {
    let claims = record["claims"].as_array().expect("claims");
    let claim = claims.iter().find(|claim| claim["id"] == id);
    claim.unwrap_or_else(|| panic!("no claim {id}"))["judged"]["verdict"]
        .as_str()
        .expect("a verdict")
}

const WHOLE: &str = r#"
schema_version = 1
title = "Programs of a shell"
[tools.shell]
check = "sh -c 'echo a shell'"
[tools.absent]
check = "no-such-program-of-the-tests"
npm = "no-such-package@1"
without = "one claim is not judged"
[inputs.lines]
generate = "awk 'BEGIN {{ for (i = 0; i < {size}; i++) print i + {seed} }}'"
seed = 7
size = 3000
[inputs.bytes]
hex = "61 62 0a"
size = 9
[builds.copy]
command = "cp {here}/counter.sh {work}/counter.sh"
needs = ["shell"]
[parameters]
step = [1, 2]
[subjects.counter]
command = "sh {work}/counter.sh {step}"
input = "lines"
output = "file"
needs = ["copy"]
[subjects.nothing]
command = "sh -c 'echo value 1,5{step}0'"
[subjects.reader]
command = "cat"
input = "bytes"
env = { LC_ALL = "C" }
[subjects.absent]
command = "absent"
needs = ["absent"]
[[measure]]
id = "time"
how = "bench"
subjects = ["counter", "nothing", "reader"]
rounds = 6
[[measure]]
id = "value"
how = "value"
subjects = ["nothing"]
values.printed = { pattern = "value ([0-9,]+)", unit = "ops/s" }
rounds = 3
[[measure]]
id = "static"
how = "static"
files.copy = "{work}/counter.sh"
counts.lines = { command = "cat {inputs.lines}", pattern = "^[0-9]+$" }
[[measure]]
id = "absent"
how = "value"
subjects = ["absent"]
values.missed = { pattern = "([0-9]+)" }
[[claims]]
id = "input"
text = "It reads its whole input"
layer = "mechanism"
holds = "bytes_read.reader >= 9 and count.lines == 3000"
[[claims]]
id = "printed"
text = "A number with a comma is read"
layer = "size"
holds = "printed.nothing[step=1] == 1510 and printed.nothing[step=2] == 1520"
[[claims]]
id = "flips"
text = "Depends on the step"
layer = "size"
holds = "printed.nothing < 1515"
[[claims]]
id = "absent"
text = "Needs a program that is not there"
layer = "size"
holds = "missed.absent > 1"
[[claims]]
id = "arithmetic"
text = "Half of ten is five"
layer = "arithmetic"
holds = "10 / 2 == 5"
published = { value = 5 }
"#;

fn whole() -> TempDir {
    let folder = experiment(WHOLE);
    let script = "while read line; do :; done; echo read\n";
    std::fs::write(folder.path().join("counter.sh"), script).expect("written");
    folder
}

#[test]
fn an_experiment_is_prepared_measured_and_judged() {
    let folder = whole();
    let (record, output) = record(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for id in ["input", "printed", "flips", "arithmetic"] {
        assert_eq!(verdict(&record, id), "reproduced", "{id}: {record:#}");
    }
    assert_eq!(verdict(&record, "absent"), "not_runnable_here");
    let claims = record["claims"].as_array().expect("claims");
    let flips = claims.iter().find(|claim| claim["id"] == "flips");
    assert_eq!(flips.expect("it")["flips"][0], "step=2: not reproduced");
    let tools = record["tools"].as_array().expect("tools");
    assert!(tools.iter().any(|tool| tool["version"] == "a shell"));
    let text = stdout(&output);
    assert!(
        text.contains("--install gets no-such-package@1 from npm"),
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    // The evidence stays: the record of bench, with every run.
    let bench = folder.path().join(".fathom/experiment/records/time.json");
    let bench: Value =
        serde_json::from_str(&std::fs::read_to_string(bench).expect("kept")).expect("JSON");
    // counter and nothing under two steps each, reader under one.
    assert_eq!(bench["benchmarks"].as_array().map(Vec::len), Some(5));
    assert_eq!(bench["runs"].as_array().map(Vec::len), Some(30));
}

#[test]
fn a_plan_shows_every_command_and_runs_none() {
    let folder = whole();
    let output = run(folder.path(), &["--plan", "--install"]);
    let text = stdout(&output);
    for command in [
        "cp ",
        "awk ",
        "counter.sh 2",
        "npm install",
        "fathom bench",
        "cat ",
    ] {
        assert!(text.contains(command), "{command} is not in\n{text}");
    }
    assert!(!folder.path().join(".fathom").exists());
    assert_eq!(std::fs::read_dir(folder.path()).expect("it").count(), 2);
}

#[test]
fn a_plan_can_be_read_by_programs_and_still_runs_nothing() {
    let folder = whole();
    let output = run(folder.path(), &["--plan", "--quick", "--json", "-"]);
    let plan: Value = serde_json::from_str(&stdout(&output)).expect("JSON and nothing else");
    assert_eq!(plan["kind"], "plan");
    assert_eq!(plan["title"], "Programs of a shell");
    assert_eq!(plan["quick"], true);
    let commands: Vec<&str> = (plan["steps"].as_array().expect("steps").iter())
        .flat_map(|step| step["commands"].as_array().expect("commands"))
        .filter_map(Value::as_str)
        .collect();
    assert!(
        commands.iter().any(|c| c.starts_with("cp ")),
        "{commands:?}"
    );
    assert!(!folder.path().join(".fathom").exists());
    let page = run(folder.path(), &["--plan", "--html", "plan.html"]);
    assert_eq!(page.status.code(), Some(2));
}

#[test]
fn only_measures_what_is_asked_for() {
    let folder = whole();
    let (record, output) = record(folder.path(), &["--only", "val*"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let measures = record["measures"].as_array().expect("measures");
    assert_eq!(measures.len(), 1);
    let claims: Vec<&str> = record["claims"]
        .as_array()
        .expect("claims")
        .iter()
        .filter_map(|claim| claim["id"].as_str())
        .collect();
    assert_eq!(claims, ["printed", "flips"]);
    let wrong = run(folder.path(), &["--only", "prnted"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("did you mean \"printed\"?"));
}

#[test]
fn a_file_with_a_mistake_is_refused_with_its_line() {
    let folder = experiment("schema_version = 1\ntitle = \"t\"\n[subject.a]\n");
    let output = run(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.contains("experiment.toml:3:2"), "{text}");
    assert!(text.contains("did you mean `subjects`?"), "{text}");
}

fn with_claim(holds: &str) -> String {
    format!(
        "schema_version = 1\ntitle = \"t\"\n[subjects.a]\ncommand = \"echo 5\"\n[subjects.b]\n\
         command = \"sh -c 'echo oh no >&2; exit 7'\"\n[[measure]]\nid = \"m\"\nhow = \"value\"\nrounds = 3\n\
         values.n = {{ pattern = \"([0-9]+)\" }}\n[[claims]]\nid = \"x\"\ntext = \"x\"\nlayer = \"size\"\n\
         budget = true\nholds = \"{holds}\"\n"
    )
}

#[test]
fn exit_codes_tell_budgets_from_failures() {
    let only_a = |holds: &str| {
        with_claim(holds).replace("how = \"value\"", "how = \"value\"\nsubjects = [\"a\"]")
    };
    let code = |text: &str| run(experiment(text).path(), &[]).status.code();
    assert_eq!(code(&only_a("n.a == 5")), Some(0));
    assert_eq!(code(&only_a("n.a == 6")), Some(1));
    let failing = experiment(&with_claim("n.a == 5"));
    let output = run(failing.path(), &[]);
    assert_eq!(output.status.code(), Some(3));
    let text = stdout(&output);
    assert!(
        text.contains("exit code 7") && text.contains("oh no"),
        "{text}"
    );
    // What was measured all the same is judged.
    assert!(text.contains("1 reproduced"), "{text}");
}

#[test]
fn a_failing_subject_leaves_the_others_measured() {
    let text = with_claim("p50(wall.a) > 0s").replace("how = \"value\"", "how = \"bench\"");
    let text = text
        .lines()
        .filter(|line| !line.starts_with("values"))
        .collect::<Vec<_>>()
        .join("\n");
    let folder = experiment(&text);
    let (record, output) = record(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert_eq!(verdict(&record, "x"), "reproduced");
}

#[test]
fn reports_are_escaped_and_whole() {
    let folder = experiment(
        "schema_version = 1\ntitle = \"<script>alert(1)</script> @me \\u001b[31m\"\n[[claims]]\nid = \"x\"\n\
         text = \"<b>|`x`|</b>\"\nlayer = \"arithmetic\"\nholds = \"1 < 2\"\n",
    );
    let html = folder.path().join("r.html");
    let markdown = folder.path().join("r.md");
    let path = |path: &PathBuf| path.display().to_string();
    let output = run(
        folder.path(),
        &[
            "--html",
            &path(&html),
            "--export-markdown",
            &path(&markdown),
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!stdout(&output).contains('\u{1b}'));
    let html = std::fs::read_to_string(html).expect("written");
    assert!(html.contains("&lt;script&gt;") && !html.contains("<script"));
    assert!(html.contains("Content-Security-Policy") && html.contains("default-src 'none'"));
    assert!(!html.contains('\u{1b}') && !html.contains("://"));
    let markdown = std::fs::read_to_string(markdown).expect("written");
    assert!(!markdown.contains("<b>") && !markdown.contains("@me"));
}

#[test]
fn a_catalogue_is_listed_and_run() {
    let folder = TempDir::new().expect("a folder");
    for (name, tool) in [
        ("one", "sh -c 'echo 1'"),
        ("two", "no-such-program-of-the-tests"),
    ] {
        let inner = folder.path().join(name);
        std::fs::create_dir(&inner).expect("made");
        let text = format!(
            "schema_version = 1\ntitle = \"{name}\"\n[source]\ntitle = \"s\"\nrows = [\"row-{name}\"]\n\
             [tools.t]\ncheck = \"{tool}\"\nhint = \"write it\"\n[[claims]]\nid = \"x\"\ntext = \"x\"\n\
             layer = \"arithmetic\"\nholds = \"1 < 2\"\n"
        );
        std::fs::write(inner.join("experiment.toml"), text).expect("written");
    }
    let catalogue = folder.path().display().to_string();
    let list = fathom()
        .args(["run", "--list", "--catalogue", &catalogue])
        .output()
        .expect("runs");
    let text = stdout(&list);
    assert!(
        text.contains("row-one") && text.contains("runs here"),
        "{text}"
    );
    assert!(text.contains("t is missing (write it)"), "{text}");
    assert!(!folder.path().join("one/.fathom").exists());
    let list = fathom()
        .args(["run", "--list", &catalogue, "--json", "-"])
        .output()
        .expect("runs");
    let record: Value = serde_json::from_str(&stdout(&list)).expect("JSON and nothing else");
    assert_eq!(record["experiments"][0]["rows"][0], "row-one");
    assert_eq!(record["experiments"][0]["missing"], serde_json::json!([]));
    assert_eq!(
        record["experiments"][1]["missing"][0],
        "t is missing (write it)"
    );
    let all = fathom()
        .args(["run", "--all", "--quick", "--catalogue", &catalogue])
        .output()
        .expect("runs");
    assert_eq!(all.status.code(), Some(0), "{}", stderr(&all));
    assert!(
        stdout(&all).contains("2 experiments, 2 claims"),
        "{}",
        stdout(&all)
    );
}

/// An experiment with a quick measure, and one that sleeps and leaves its number in a file.
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

/// Starts it and waits until the sleeping subject runs; its number.
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

/// Asks until there is an answer, however long the machine takes; whoever runs the tests limits that.
fn wait_for<T>(answer: impl Fn() -> Option<T>) -> T {
    loop {
        if let Some(answer) = answer() {
            return answer;
        }
        // Between looks the processor is for what is waited for.
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
        // The first measure is done. Its kept value is changed, so that it is seen whether it is used.
        let state = folder.path().join(".fathom/experiment/state.json");
        let kept = std::fs::read_to_string(&state).expect("kept");
        assert!(kept.contains("5.0"), "{kept}");
        std::fs::write(&state, kept.replace("5.0", "8.0")).expect("written");
        // No time is left for the second, which would sleep again.
        let arguments = ["--resume", "--time", "1us"];
        let (resumed, _) = record(folder.path(), &arguments);
        assert_eq!(verdict(&resumed, "kept"), "not_reproduced", "{how}");
        // Without --resume, and for another set, all is measured anew.
        let (anew, _) = record(folder.path(), &["--only", "first"]);
        assert_eq!(verdict(&anew, "kept"), "reproduced", "{how}");
    }
}

#[test]
fn outside_of_the_sources_a_list_says_where_the_catalogue_is() {
    let folder = TempDir::new().expect("a folder");
    let there = |arguments: &[&str]| {
        fathom()
            .arg("run")
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .expect("runs")
    };
    for (arguments, how) in [
        (
            &["--list"][..],
            "fathom run --list PATH/TO/fathom/experiments",
        ),
        (
            &["--all", "--quick"],
            "fathom run --all --catalogue PATH/TO/fathom/experiments",
        ),
    ] {
        let output = there(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(how), "{}", stderr(&output));
    }
    // The clone itself, its catalogue and one of its folders are all understood.
    let inner = folder.path().join("clone/experiments/one");
    std::fs::create_dir_all(&inner).expect("made");
    let text = "schema_version = 1\ntitle = \"the one\"\n[[claims]]\nid = \"x\"\ntext = \"x\"\n\
                layer = \"arithmetic\"\nholds = \"1 < 2\"\n";
    std::fs::write(inner.join("experiment.toml"), text).expect("written");
    for path in ["clone", "clone/experiments", "clone/experiments/one"] {
        let output = there(&["--list", path]);
        assert!(
            stdout(&output).contains("the one"),
            "{path}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn several_experiments_get_a_folder_each_in_the_work_folder() {
    let folder = TempDir::new().expect("a folder");
    for name in ["one.toml", "two.toml"] {
        let file = folder.path().join(name);
        let text = "schema_version = 1\ntitle = \"t\"\n[[claims]]\nid = \"x\"\ntext = \"x\"\n\
                    layer = \"arithmetic\"\nholds = \"1 < 2\"\n";
        std::fs::write(file, text).expect("written");
    }
    let work = folder.path().join("work");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let go = |names: [&str; 2]| {
        fathom()
            .args(["run", &file(names[0]), &file(names[1]), "--work"])
            .arg(&work)
            .output()
            .expect("runs")
    };
    let output = go(["one.toml", "two.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(work.join("one/records").is_dir() && work.join("two/records").is_dir());
    assert!(!folder.path().join(".fathom").exists());
    let twice = go(["one.toml", "one.toml"]);
    assert_eq!(twice.status.code(), Some(2));
    assert!(stderr(&twice).contains("would share the folder"));
}

#[test]
fn two_runs_do_not_share_a_work_folder() {
    let folder = TempDir::new().expect("a folder");
    let (mut child, pid) = start_sleeping(folder.path(), "value");
    let output = run(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("another run uses it"),
        "{}",
        stderr(&output)
    );
    signal(child.id(), "KILL");
    child.wait().expect("ends");
    wait_for(|| is_gone(pid));
}

/// An experiment in which one step never ends by itself.
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
        // None of these sleeps ends in the time of any test: that the run comes back is the assertion.
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

#[test]
fn figures_go_between_the_marks_of_the_page_and_nowhere_else() {
    let folder = experiment(
        &with_claim("n.a == 5").replace("how = \"value\"", "how = \"value\"\nsubjects = [\"a\"]"),
    );
    let page = folder.path().join("README.md");
    let refused = run(folder.path(), &["--readme"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("README.md"),
        "{}",
        stderr(&refused)
    );
    std::fs::write(&page, "# Title\n\nno marks\n").expect("written");
    let refused = run(folder.path(), &["--readme"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("0 begin marks"),
        "{}",
        stderr(&refused)
    );
    let marked =
        "# Title\n\nbefore\n\n<!-- figures: begin -->\nold 123\n<!-- figures: end -->\n\nafter\n";
    std::fs::write(&page, marked).expect("written");
    for _ in 0..2 {
        let output = run(folder.path(), &["--readme"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = std::fs::read_to_string(&page).expect("read");
        assert!(
            text.starts_with("# Title\n\nbefore\n\n<!-- figures: begin"),
            "{text}"
        );
        assert!(text.ends_with("<!-- figures: end -->\n\nafter\n"), "{text}");
        assert!(!text.contains("old 123"), "{text}");
        assert!(
            text.contains("**reproduced**") && text.contains("| a | 5 |"),
            "{text}"
        );
        assert_eq!(text.matches("figures: begin").count(), 1, "{text}");
    }
}

#[test]
fn a_debian_package_is_unpacked_into_the_run_s_folder() {
    let folder = experiment(
        "schema_version = 1\ntitle = \"t\"\n[tools.t]\ncheck = \"no-such-program-of-the-tests\"\n\
         apt = \"no-such-package another\"\n[subjects.a]\ncommand = \"a\"\nneeds = [\"t\"]\n\
         [[measure]]\nid = \"m\"\nhow = \"bench\"\n",
    );
    let output = run(folder.path(), &["--plan"]);
    let text = stdout(&output);
    assert!(text.contains("only with --install"), "{text}");
    assert!(text.contains("apt-get download"), "{text}");
    assert!(
        text.contains(".fathom/experiment/tools/t no-such-package another"),
        "{text}"
    );
}

#[test]
fn a_crate_of_the_experiment_s_own_is_built_from_its_folder_and_from_nowhere_else() {
    let with = |package: &str| {
        experiment(&format!(
            "schema_version = 1\ntitle = \"t\"\n[tools.t]\ncheck = \"no-such-program-of-the-tests\"\n\
             cargo = \"{package}\"\n[subjects.a]\ncommand = \"a\"\nneeds = [\"t\"]\n\
             [[measure]]\nid = \"m\"\nhow = \"bench\"\n"
        ))
    };
    let folder = with("./inner");
    let text = stdout(&run(folder.path(), &["--plan"]));
    let path = folder.path().join("inner").display().to_string();
    assert!(text.contains(&format!("--path {path}")), "{text}");
    for package in ["./../outer", "../outer", "/outer", "./a/b"] {
        let output = run(with(package).path(), &["--plan"]);
        assert_eq!(output.status.code(), Some(2), "{package}");
        assert!(
            stderr(&output).contains("experiment.toml:5:9"),
            "{}",
            stderr(&output)
        );
    }
}
