//! `fathom bench` as its users see it: arguments in; words, files and exit codes out.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn fathom(arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fathom"));
    command
        .arg("bench")
        .args(arguments)
        .env_remove("NO_COLOR")
        // No profile of the machine is remembered there, so none is held against it.
        .env("XDG_CACHE_HOME", "/no/such/folder")
        .stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    fathom(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Exit code and first line of standard error.
fn refusal(arguments: &[&str]) -> (i32, String) {
    let output = run(arguments);
    assert_eq!(stdout(&output), "", "{arguments:?} prints no result");
    (
        output.status.code().unwrap(),
        stderr(&output).lines().next().unwrap_or("").to_string(),
    )
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn two_commands_are_measured_and_compared() {
    let output = run(&[
        "-r",
        "12",
        "--seed",
        "5",
        "sh -c 'exit 0'",
        "sh -c 'sleep 0.05'",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = stdout(&output);
    assert!(printed.contains("slower"), "{printed}");
    assert!(
        printed.contains("12 rounds in random order (seed 5)"),
        "{printed}"
    );
    assert!(!printed.contains('\x1b'), "no colour when piped");
    assert!(
        printed.lines().all(|line| line.chars().count() <= 80),
        "{printed}"
    );
    assert_eq!(stderr(&output), "", "no progress when piped");
}

#[test]
fn a_comparison_without_a_limit_says_first_how_long_it_may_take() {
    let commands = ["true", "sleep 0.1"];
    let output = run(&commands);
    assert_eq!(
        stderr(&output),
        "2 commands are measured until they are decided, for at most 5 minutes: --time 30s or -r 20 makes it \
         shorter\n"
    );
    for limited in [&["-r", "2"][..], &["--time", "1s"], &["-M", "2"]] {
        let output = run(&[limited, &commands].concat());
        assert_eq!(stderr(&output), "", "{limited:?}");
    }
}

#[test]
fn brief_is_a_line_for_each_command() {
    let output = run(&["-r", "12", "--brief", "true", "sleep 0.05"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = stdout(&output);
    let lines: Vec<&str> = printed.lines().collect();
    assert!(
        lines[0].starts_with("1: true ") && lines[0].ends_with("reference"),
        "{printed}"
    );
    assert!(
        lines[1].starts_with("2: sleep 0.05 ") && lines[1].ends_with("slower"),
        "{printed}"
    );
    assert!(lines[2].starts_with("median wall time, "), "{printed}");
    assert!(
        lines[2].contains("12 rounds; verdicts against 1 by "),
        "{printed}"
    );
}

#[test]
fn arguments_that_are_no_text_are_shown_and_kept() {
    use std::os::unix::ffi::OsStringExt;

    let raw = std::ffi::OsString::from_vec(vec![b'a', 0xff, 0xfe]);
    let mut command = fathom(&["-r", "1", "--json", "-", "--", "echo"]);
    let output = command.arg(raw).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let benchmark = &record["benchmarks"][0];
    assert_eq!(benchmark["name"], "echo a\\xff\\xfe");
    let kept = serde_json::json!([b"echo", [b'a', 0xff, 0xfe]]);
    assert_eq!(benchmark["arguments_bytes"], kept);
    let output = run(&["-r", "1", "--json", "-", "--", "echo", "ä"]);
    let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(record["benchmarks"][0]["arguments_bytes"].is_null());
}

#[test]
fn a_grep_into_dev_null_is_told_to_stop_early() {
    let told = |more: &[&str]| {
        let arguments = [
            &["-r", "1"],
            more,
            &["--", "grep", "-c", "a", "/etc/passwd"],
        ]
        .concat();
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output).contains("GNU grep stops at the first match")
    };
    assert!(told(&[]));
    assert!(!told(&["--output", "pipe"]));
}

#[test]
fn one_command_after_two_dashes_is_taken_word_by_word() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out");
    let output = run(&[
        "-r",
        "1",
        "--output",
        text(&target),
        "--",
        "printf",
        "%s|",
        "a b",
        "*",
        "$HOME",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(target).unwrap(), "a b|*|$HOME|");
}

#[test]
fn wrong_arguments_are_refused_with_what_to_type_instead() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "error: there is no command; try: fathom bench"),
        (
            &["-r", "0", "true"],
            "error: zero runs measure nothing; give at least 1",
        ),
        (
            &["-m", "5", "-M", "3", "true"],
            "error: --min-runs 5 is more than --max-runs 3",
        ),
        (
            &["cat < file"],
            "error: `<` in \"cat < file\" needs a shell: give the file with --input FILE, or use -S",
        ),
        (
            &["/no/such/program"],
            "error: no such program: /no/such/program",
        ),
        (
            &["--input", "/no/such/file", "cat"],
            "error: can't read the input /no/such/file: No such file",
        ),
        (
            &["-L", "x", "1,2", "echo {y}"],
            "error: the parameter x is used nowhere: write {x}",
        ),
        (
            &["--json", "-", "--export-json", "-", "true"],
            "error: two results can't both be written to standard output",
        ),
        (&["--", ""], "error: no such program: \"\" (an empty name)"),
        (
            &["-L", "x", "", "echo {x}"],
            "error: the list of values for x is empty",
        ),
        (
            &["-P", "x", "3", "1", "echo {x}"],
            "error: the scan of x is empty",
        ),
        (&["-D", "2", "true"], "error: -D is the step of a -P scan"),
        (
            &["-i=abc", "true"],
            "error: -i=abc: \"abc\" is no exit code",
        ),
        (&["--env", "X", "true"], "error: --env takes NAME=VALUE"),
        (
            &["--env", "A=1", "--env", "B=2", "true"],
            "error: --env was given 2 times for 1 command: write all variables of a command in one, --env 'A=1 B=2'",
        ),
        (
            &["--env", "PATH=/nowhere", "true"],
            "error: no such program: true; it was looked for in the PATH of --env, \"/nowhere\"",
        ),
        (
            &["--prepare", "exit 9", "--export-json", "/proc/x", "true"],
            "error: can't write /proc/x: ",
        ),
        (
            &["X=1 true"],
            "error: \"X=1\" before the program needs a shell",
        ),
        (
            &["--cwd", "/no/such/folder", "true"],
            "error: --cwd: /no/such/folder is not a directory",
        ),
        (
            &["-n", "a", "-n", "b", "true"],
            "error: -n was given 2 times for 1 command",
        ),
        (
            &["-p", "x", "-p", "y", "-p", "z", "true", "false"],
            "error: --prepare was given 3 times for 2 commands",
        ),
        (
            &["--export-csv", "/no/such/folder/x.csv", "true"],
            "error: can't write /no/such/folder/x.csv",
        ),
        (
            &["true", "--", "false"],
            "error: commands in quotes and a command after -- can't be mixed",
        ),
        (
            &["--expect-stdout", "/no/such/file", "true"],
            "error: --expect-stdout: /no/such/file is neither",
        ),
        (
            &["/dev"],
            "error: /dev can't be executed: it is a directory",
        ),
        (
            &["--margin", "x", "true"],
            "error: invalid value 'x' for '--margin <SHARE>'",
        ),
        (
            &["-r", "3", "--time", "5s", "true"],
            "error: the argument '--runs <N>' cannot be used",
        ),
    ];
    for (arguments, expected) in cases {
        let (code, message) = refusal(arguments);
        assert_eq!(code, 2, "{arguments:?}: {message}");
        assert!(message.starts_with(expected), "{arguments:?}: {message}");
    }
}

#[test]
fn a_mistyped_program_is_answered_with_the_right_one() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/bin/true", folder.path().join("gzip")).unwrap();
    let output = fathom(&["gzp -k x"])
        .env("PATH", folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        stderr(&output),
        "error: no such program: gzp; did you mean gzip?\n"
    );
}

#[test]
fn a_failing_command_is_exit_3_with_the_end_of_its_standard_error() {
    let script = "echo first; echo 'no luck' >&2; exit 7";
    let output = run(&["-r", "3", "-w", "0", "--", "sh", "-c", script]);
    assert_eq!(output.status.code(), Some(3));
    let message = stderr(&output);
    assert!(
        message.contains("failed with exit code 7 in run 1"),
        "{message}"
    );
    assert!(message.contains("  | no luck"), "{message}");
    assert!(message.contains("use -i"), "{message}");
    assert_eq!(stdout(&output), "");
}

#[test]
fn hostile_bytes_on_standard_error_are_made_visible() {
    let script = "printf '\\033]0;owned\\007\\033[2J' >&2; exit 1";
    let output = run(&["-r", "1", "--", "sh", "-c", script]);
    let message = stderr(&output);
    assert!(
        !message.contains('\x1b') && !message.contains('\x07'),
        "{message:?}"
    );
    assert!(message.contains("owned"));
}

#[test]
fn failures_are_counted_when_they_are_to_be_ignored() {
    let output = run(&["-r", "4", "-i", "false"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("failures     4 of 4"),
        "{}",
        stdout(&output)
    );
    assert_eq!(run(&["-r", "4", "-i=1", "false"]).status.code(), Some(0));
    assert_eq!(run(&["-r", "4", "-i=2", "false"]).status.code(), Some(3));
}

#[test]
fn a_run_that_takes_too_long_is_exit_3() {
    let output = run(&["-r", "1", "--timeout", "200ms", "sleep 60"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("longer than --timeout allows"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn unexpected_output_is_exit_3() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = folder.path().join("wanted");
    std::fs::write(&wanted, "hello\n").unwrap();
    let right = run(&["-r", "2", "--expect-stdout", text(&wanted), "echo hello"]);
    assert_eq!(right.status.code(), Some(0), "{}", stderr(&right));
    let wrong = run(&["-r", "2", "--expect-stdout", text(&wanted), "echo goodbye"]);
    assert_eq!(wrong.status.code(), Some(3));
    assert!(
        stderr(&wrong).contains("8 bytes instead of 6"),
        "{}",
        stderr(&wrong)
    );
}

#[test]
fn the_record_has_every_run_with_every_metric() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let output = run(&[
        "-r",
        "7",
        "--json",
        text(&path),
        "-n",
        "a",
        "-n",
        "b",
        "true",
        "echo x",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record = json(&path);
    assert_eq!(record["schema_version"], 1);
    assert_eq!(record["complete"], true);
    assert_eq!(record["benchmarks"][1]["name"], "b");
    let runs = record["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 14);
    for (position, run) in runs.iter().enumerate() {
        assert_eq!(run["position"], position);
        for key in [
            "wall_ns",
            "cpu_ns",
            "peak_memory_bytes",
            "minor_faults",
            "voluntary_switches",
        ] {
            assert!(run[key].is_u64(), "{key}: {run}");
        }
        assert!(run["io"]["read_calls"].is_u64(), "{run}");
    }
    assert_eq!(record["outcome"]["comparisons"][0]["reference"], 0);
    assert!(
        record["environment"]["kernel"]
            .as_str()
            .unwrap()
            .starts_with("Linux")
    );
}

#[test]
fn json_on_standard_output_is_nothing_but_json() {
    let output = run(&["-r", "2", "--json", "-", "true"]);
    let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(record["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn exports_have_hyperfines_shape() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let formats = [
        ("json", "json"),
        ("csv", "csv"),
        ("markdown", "md"),
        ("asciidoc", "adoc"),
        ("orgmode", "org"),
    ];
    let mut command = fathom(&["-r", "3", "-L", "n", "1,2", "echo {n}"]);
    for (format, ending) in formats {
        command
            .arg(format!("--export-{format}"))
            .arg(file(&format!("x.{ending}")));
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let results = &json(&file("x.json"))["results"];
    assert_eq!(results[0]["command"], "echo 1");
    assert_eq!(results[1]["parameters"]["n"], "2");
    assert_eq!(results[0]["times"].as_array().unwrap().len(), 3);
    let csv = std::fs::read_to_string(file("x.csv")).unwrap();
    assert!(
        csv.starts_with("command,mean,stddev,median,user,system,min,max,parameter_n\n"),
        "{csv}"
    );
    for name in ["x.md", "x.adoc", "x.org"] {
        assert!(
            std::fs::read_to_string(file(name))
                .unwrap()
                .contains("echo 2"),
            "{name}"
        );
    }
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        5,
        "no half-written file stays"
    );
}

/// A session whose third run of the command blocks until it is ended.
fn blocked_session(path: &Path, mark: &str) -> std::process::Child {
    let script = format!("[ $FATHOM_ITERATION -lt 2 ] || exec sleep {mark}");
    let child = fathom(&[
        "-w",
        "0",
        "-r",
        "9",
        "--json",
        text(path),
        "--",
        "sh",
        "-c",
        &script,
    ])
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    wait_until(|| is_running(mark));
    child
}

#[test]
fn what_was_measured_survives_kill_9_and_nothing_stays_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let mark = format!("83{}.5", std::process::id());
    let mut session = blocked_session(&path, &mark);
    session.kill().unwrap();
    session.wait().unwrap();
    let record = json(&path);
    assert_eq!(record["runs"].as_array().unwrap().len(), 2);
    assert_eq!(record["complete"], false);
    wait_until(|| !is_running(&mark));
}

#[test]
fn kill_9_amid_short_runs_loses_none_that_had_finished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let count = folder.path().join("count");
    let line = format!("sh -c 'echo x >> {}'", text(&count));
    let runs = || std::fs::metadata(&count).map_or(0, |file| file.len() / 2);
    let mut session = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args([
            "bench",
            "-w",
            "0",
            "-r",
            "1000000",
            "--json",
            text(&path),
            &line,
        ])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(|| runs() > 200);
    session.kill().unwrap();
    session.wait().unwrap();
    // The launcher ends by itself when it hears of it, what it runs before; then nothing is added any more.
    wait_until(|| !is_open(&path));
    let recorded = json(&path)["runs"].as_array().unwrap().len() as u64;
    // The last may have been ended before it was over.
    assert!(
        (runs() - 1..=runs()).contains(&recorded),
        "{recorded} recorded, {} made",
        runs()
    );
}

#[test]
fn ctrl_c_prints_what_is_there_and_says_that_it_is_partial() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let mark = format!("82{}.5", std::process::id());
    let session = blocked_session(&path, &mark);
    Command::new("kill")
        .args(["-INT", &session.id().to_string()])
        .status()
        .unwrap();
    let output = session.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let printed = stdout(&output);
    assert!(printed.to_lowercase().contains("interrupted"), "{printed}");
    assert!(printed.contains("2 runs"), "{printed}");
    assert!(!is_running(&mark));
    assert_eq!(json(&path)["outcome"]["stop"], "interrupted");
}

#[test]
fn the_reference_may_be_another_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let output = run(&[
        "-r",
        "6",
        "--reference",
        "echo base",
        "true",
        "--json",
        text(&path),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record = json(&path);
    assert_eq!(record["benchmarks"][0]["command"], "echo base");
    assert_eq!(record["outcome"]["comparisons"][0]["reference"], 0);
    assert_eq!(record["outcome"]["comparisons"][0]["subject"], 1);
}

fn is_running(mark: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        // The program itself, not a shell or Fathom whose arguments mention it.
        line.starts_with(b"sleep\0") && String::from_utf8_lossy(&line).contains(mark)
    })
}

/// Waits for something that is bound to happen.
/// Whether any process has the file open.
fn is_open(path: &Path) -> bool {
    let path = path.canonicalize().unwrap();
    let open_files = |process: std::fs::DirEntry| std::fs::read_dir(process.path().join("fd")).ok();
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(open_files)
        .flat_map(|files| files.flatten())
        .any(|file| std::fs::read_link(file.path()).is_ok_and(|target| target == path))
}

fn wait_until(condition: impl Fn() -> bool) {
    while !condition() {
        std::thread::yield_now();
    }
}
