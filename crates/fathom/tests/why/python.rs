//! Python functions have names, files and lines, for any user.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::attached::{Subject, as_nobody, for_nobody, of_nobody};
use crate::world::{allows, fathom, stderr, stdout, text};

/// A program that uses this CPU time on any machine, and waits for the end of its input if requested.
const PROGRAM: &str = "import sys, time
def parse(until):
    while time.thread_time() < until:
        for i in range(500): pass

class Reader:
    def read(self, until):
        parse(until)

def main(seconds):
    Reader().read(seconds)

main(float(sys.argv[1]))
";

/// Returns a supported Python by its real path, because a command of that name may be a script.
fn interpreter(run: impl Fn(&Path, &[&str]) -> std::io::Result<Output>) -> Option<PathBuf> {
    let asked =
        "import sys; print(sys.executable if (3, 11) <= sys.version_info < (3, 15) else '')";
    let names = [
        "python3",
        "/usr/bin/python3",
        "python3.11",
        "python3.12",
        "python3.13",
    ];
    let found = names.iter().find_map(|name| {
        let output = run(Path::new(name), &["-c", asked]).ok()?;
        let path = PathBuf::from(stdout(&output).trim());
        (output.status.success() && path.is_file()).then_some(path)
    });
    if found.is_none() {
        fathom_test_log::skipped("no Python 3.11 to 3.14 is here");
    }
    found
}

/// Minimum share of the wall time for a row of waits to be divided by function.
const ROW_FROM: f64 = 0.05;

/// Creates the folder with the program, readable by everyone.
fn program() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.py");
    std::fs::write(&file, PROGRAM).unwrap();
    (folder, file)
}

/// Checks the row of the program's own code that names `parse`, with its callers.
fn names_parse(output: &Output, file: &str) {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    let explanation: Value = serde_json::from_str(&stdout(output)).unwrap();
    let rows = explanation["where"].as_array().unwrap();
    let own = rows.iter().filter(|row| row["kind"] == "user_code");
    let row = own.max_by_key(|row| row["ns"].as_u64()).unwrap();
    if row["share"].as_f64().unwrap() < ROW_FROM {
        return fathom_test_log::skipped("other programs left it less than 5 % of the time");
    }
    assert_eq!(row["function"], "parse", "{rows:#?}");
    assert_eq!(row["source_file"], file, "{row:#}");
    let line = row["line"].as_u64().unwrap();
    assert!((2..=4).contains(&line), "{row:#}");
    let callers = row["callers"].as_array().unwrap();
    let names: Vec<_> = callers.iter().map(|one| &one["function"]).collect();
    assert_eq!(names, ["Reader.read", "main", "<module>"], "{row:#}");
    assert_eq!(callers[0]["line"], 8);
}

#[test]
fn root_and_users_see_functions_of_python() {
    let here = |program: &Path, arguments: &[&str]| Command::new(program).args(arguments).output();
    let Some(python) = interpreter(here) else {
        return;
    };
    let (_folder, file) = program();
    for tier in ["kernel", "perf"] {
        if !allows(tier) {
            continue;
        }
        let (python, file) = (text(&python), text(&file));
        let options = ["why", "--runs", "2", "--tier", tier, "--json", "-"];
        let command = ["--", python, file, "0.4"];
        let output = fathom(&[&options[..], &command].concat());
        names_parse(&output, file);
    }
}

#[test]
fn another_user_sees_functions_of_his_own_python() {
    let (folder, file) = program();
    let fathom = match for_nobody(folder.path()) {
        Ok(program) => program,
        Err(why) => return fathom_test_log::skipped(why),
    };
    let listed = stdout(&as_nobody(&fathom, &["why", "--tiers"]).unwrap());
    if !listed.lines().any(|line| line.starts_with("perf     yes")) {
        return fathom_test_log::skipped("the perf tier is not allowed to users here");
    }
    let Some(python) = interpreter(as_nobody) else {
        return;
    };
    let (python, script) = (text(&python), text(&file));
    let common = ["why", "--tier", "perf", "--json", "-"];
    let run = ["--runs", "2", "--", python, script, "0.4"];
    let output = as_nobody(&fathom, &[&common[..], &run].concat()).unwrap();
    names_parse(&output, script);
    // A running process that isn't Fathom's child.
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    if scope.is_ok_and(|scope| scope.trim() != "0") {
        return fathom_test_log::skipped("only who made a process may read it here");
    }
    let subject = Subject::of(&mut of_nobody(Path::new(python), &[script, "100000"]));
    subject.executes(python);
    let pid = subject.pid();
    let attached = ["--time", "2s", "--pid", &pid];
    let output = as_nobody(&fathom, &[&common[..], &attached].concat()).unwrap();
    names_parse(&output, script);
}
