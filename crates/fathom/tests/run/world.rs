//! A small experiment, and the Fathom that runs it.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn fathom() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

pub(crate) fn experiment(text: &str) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("experiment.toml"), text).expect("written");
    folder
}

pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    fathom()
        .arg("run")
        .arg(folder)
        .args(arguments)
        .output()
        .expect("runs")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn record(folder: &Path, arguments: &[&str]) -> (Value, Output) {
    let file = folder.join("record.json");
    let path = file.display().to_string();
    let mut all = vec!["--json", &path];
    all.extend(arguments);
    let output = run(folder, &all);
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    (serde_json::from_str(&text).expect("JSON"), output)
}

pub(crate) fn verdict<'r>(record: &'r Value, id: &str) -> &'r str {
    let claims = record["claims"].as_array().expect("claims");
    let claim = claims.iter().find(|claim| claim["id"] == id);
    claim.unwrap_or_else(|| panic!("no claim {id}"))["judged"]["verdict"]
        .as_str()
        .expect("a verdict")
}

pub(crate) const WHOLE: &str = r#"
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

pub(crate) fn whole() -> TempDir {
    let folder = experiment(WHOLE);
    let script = "while read line; do :; done; echo read\n";
    std::fs::write(folder.path().join("counter.sh"), script).expect("written");
    folder
}

pub(crate) fn with_claim(holds: &str) -> String {
    format!(
        "schema_version = 1\ntitle = \"t\"\n[subjects.a]\ncommand = \"echo 5\"\n[subjects.b]\n\
         command = \"sh -c 'echo oh no >&2; exit 7'\"\n[[measure]]\nid = \"m\"\nhow = \"value\"\nrounds = 3\n\
         values.n = {{ pattern = \"([0-9]+)\" }}\n[[claims]]\nid = \"x\"\ntext = \"x\"\nlayer = \"size\"\n\
         budget = true\nholds = \"{holds}\"\n"
    )
}
