//! Errors and their messages.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::world::{fathom, refusal, run, stderr, stdout, text};

#[test]
fn wrong_arguments_are_refused_with_what_to_type_instead() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "error: no command; try: fathom bench"),
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
            "error: the parameter x is never used: write {x}",
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
        (&["-D", "2", "true"], "error: -D sets the step of a -P scan"),
        (
            &["-i=abc", "true"],
            "error: -i=abc: \"abc\" is not an exit code",
        ),
        (
            &["gzip", "-c", "no-such-file"],
            "error: -c no-such-file follows \"gzip\" and would be read as --cleanup, but no program is named no-such-file; for one command with arguments, write: fathom bench -- gzip -c no-such-file, or: fathom bench 'gzip -c no-such-file'",
        ),
        (&["--env", "X", "true"], "error: --env takes NAME=VALUE"),
        (
            &["--env", "A=1", "--env", "B=2", "true"],
            "error: --env was given 2 times for 1 command: give all variables of a command in one option, --env 'A=1 B=2'",
        ),
        (
            &["--env", "PATH=/nowhere", "true"],
            "error: no such program: true; the PATH that was searched is the one given with --env: \"/nowhere\"",
        ),
        (
            &["--prepare", "exit 9", "--export-json", "/proc/x", "true"],
            "error: can't write /proc/x: ",
        ),
        (
            &["X=1 true"],
            "error: the assignment 'X=1' needs a shell: use --env 'X=1'",
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
        (
            &["-r", "abc", "true"],
            "error: invalid value 'abc' for '--runs <N>': write a whole number such as 20",
        ),
        (
            &["-r", "-3", "true"],
            "error: invalid value '-3' for '--runs <N>': write a whole number such as 20",
        ),
        (
            &["--timeout", "5", "true"],
            "error: invalid value '5' for '--timeout <TIME>': add its unit: 5s, or 5ms",
        ),
        (
            &["-P", "n", "1", "sleep {n}"],
            "error: -P takes a first and a last value before the command; write: -P n 1 10 'sleep {n}', or -L n 1",
        ),
        (
            &["-L", "n", "sleep {n}"],
            "error: -L takes the values before the command; write: -L n 1,2,3 'sleep {n}'",
        ),
    ];
    for (arguments, expected) in cases {
        let (code, message) = refusal(arguments);
        assert_eq!(code, 2, "{arguments:?}: {message}");
        assert!(message.starts_with(expected), "{arguments:?}: {message}");
    }
}

#[test]
fn a_command_without_quotes_is_answered_with_both_right_forms() {
    let forms = "for one command with arguments, write: fathom bench -- gzip -k f, or: fathom bench 'gzip -k f'";
    let (code, message) = refusal(&["gzip", "-k", "f"]);
    let problem = "error: -k follows \"gzip\", where the command begins; ";
    assert_eq!((code, message), (2, format!("{problem}{forms}")));
    let (code, message) = refusal(&["true", "no-such-word"]);
    let forms = "write: fathom bench -- true no-such-word, or: fathom bench 'true no-such-word'";
    let expected =
        format!("error: no such program: no-such-word; for one command with arguments, {forms}");
    assert_eq!((code, message), (2, expected));
}

#[test]
fn words_of_a_shell_are_answered_with_the_option_that_runs_them() {
    let cases = [
        (
            "cd /tmp",
            "it is a built-in of the shell: use -S to run the command through sh",
        ),
        ("export A=1", "use -S to run the command through sh"),
        (
            "source env.sh",
            "it is a built-in of bash: use --shell=bash",
        ),
    ];
    for (command, expected) in cases {
        let (code, message) = refusal(&[command]);
        assert_eq!(code, 2, "{message}");
        let name = command.split(' ').next().unwrap();
        assert!(
            message.starts_with(&format!("error: no such program: {name}; ")),
            "{message}"
        );
        assert!(message.contains(expected), "{message}");
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
    // None of the command's runs succeeded, so a bare `-i` would leave nothing to report.
    assert!(message.contains("give its exit code: -i=7."), "{message}");
    assert!(!message.contains("use -i"), "{message}");
    let folder = tempfile::tempdir().unwrap();
    let once = folder.path().join("a").display().to_string();
    let message = stderr(&run(&["-r", "3", "-w", "0", "--", "mkdir", &once]));
    assert!(
        message.contains("in run 2") && message.contains("use -i"),
        "{message}"
    );
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
    let output = run(&["-r", "4", "-i", "true", "false"]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(stdout(&output), "");
    let said = stderr(&output);
    assert!(
        said.contains("no good round: in each of 4 a command failed (false: 4 of 4)"),
        "{said}"
    );
    // Fathom gives up after a fixed number of rounds, whatever the limit: more rounds would not make any run
    // succeed.
    for limit in [&["-r", "1000000"][..], &["--time", "1h"]] {
        let output = run(&[limit, &["-i", "false", "true"]].concat());
        assert_eq!(output.status.code(), Some(3));
        let said = stderr(&output);
        assert!(
            said.contains("no good round: in each of 10 a command failed (false: 10 of 10)"),
            "{said}"
        );
    }
    // An exit code named with `-i` counts as success.
    let output = run(&["-r", "4", "-i=1", "false"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = stdout(&output);
    assert!(printed.contains("4 of 4 failed (exit 1)"), "{printed}");
    assert_eq!(run(&["-r", "4", "-i=2", "false"]).status.code(), Some(3));
}

#[test]
fn figures_verdict_and_exports_are_of_the_runs_that_succeeded() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("n");
    let record = folder.path().join("record.json");
    let exported = folder.path().join("hyperfine.json");
    // Of every five runs, three fail immediately and the others sleep. One run is a warm-up.
    let script = format!(
        "n=$(cat {0} 2>/dev/null || echo 0); echo $((n + 1)) > {0}; \
         [ $((n % 5)) -ge 2 ] && exit 7; sleep 0.02",
        count.display()
    );
    let output = run(&[
        "-r",
        "24",
        "-i",
        "-S",
        "-n",
        "long",
        "-n",
        "half",
        "--json",
        record.to_str().unwrap(),
        "--export-json",
        exported.to_str().unwrap(),
        "sleep 0.02",
        &script,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("2: 15 of 24 failed (exit 7)"),
        "{}",
        stdout(&output)
    );
    let record: Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
    assert_eq!(record["outcome"]["results"][1]["failures"], 15);
    let summaries = record["outcome"]["results"][1]["summaries"]
        .as_array()
        .unwrap();
    let wall = summaries
        .iter()
        .find(|one| one["metric"] == "wall")
        .unwrap();
    assert_eq!(wall["runs"], 9);
    assert!(wall["min"].as_f64().unwrap() >= 0.02, "{wall}");
    assert_eq!(record["outcome"]["comparisons"][0]["rounds"], 9);
    let exported: Value = serde_json::from_slice(&std::fs::read(&exported).unwrap()).unwrap();
    assert_eq!(exported["results"][1]["times"].as_array().unwrap().len(), 9);
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

/// `script` (from Debian's bsdutils) gives its command a terminal.
#[test]
fn what_the_terminal_stops_is_ended_and_told() {
    let fathom = env!("CARGO_BIN_EXE_fathom");
    let line = format!("'{fathom}' bench -r 1 -w 0 --no-canaries \"sh -c 'stty -echo </dev/tty'\"");
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .stdin(Stdio::null())
        .output()
        .expect("script runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("was stopped by the terminal"), "{said}");
    assert_eq!(output.status.code(), Some(3), "{said}");
}

#[test]
fn without_proc_each_verb_says_so_and_what_to_do() {
    let without = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command
            .args([
                "--mount",
                "sh",
                "-c",
                "umount -l /proc || exit 99; exec \"$@\"",
                "sh",
            ])
            .arg(env!("CARGO_BIN_EXE_fathom"))
            .args(arguments)
            .stdin(Stdio::null());
        command.output()
    };
    for arguments in [
        &["bench", "true"][..],
        &["why", "--", "true"],
        &["startup", "--", "true"],
        &["pipe", "--", "true | true"],
        &["mcp"],
    ] {
        let output = match without(arguments) {
            Ok(output) if ![Some(1), Some(99)].contains(&output.status.code()) => output,
            _ => return fathom_test_log::skipped("no mount of its own can be made here"),
        };
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(4), "{arguments:?}: {said}");
        let last =
            "/proc is not mounted here, but Fathom needs it to measure: mount -t proc proc /proc";
        assert_eq!(said.lines().last(), Some(last), "{arguments:?}: {said}");
    }
}

#[test]
fn a_kernel_that_lacks_a_call_is_told_which_one_is_needed() {
    // Linux has `pidfd_open` since 5.3.
    let step = |code: u32, jf, k| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf,
        k,
    };
    let mut steps = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            1,
            libc::SYS_pidfd_open as u32,
        ),
        step(
            libc::BPF_RET | libc::BPF_K,
            0,
            libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32,
        ),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    for arguments in [&["bench", "true"][..], &["why", "--", "true"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        let program = libc::sock_fprog {
            len: steps.len() as u16,
            filter: steps.as_mut_ptr(),
        };
        let address = std::ptr::from_ref(&program).addr();
        // SAFETY: between fork and exec only these calls are made, with a value that outlives them.
        unsafe {
            command.args(arguments).pre_exec(move || {
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                match libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, address) {
                    0 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                }
            });
        }
        let output = command.output().expect("it starts");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(4), "{arguments:?}: {said}");
        let last = "Fathom needs Linux 5.3 or later";
        assert_eq!(said.lines().last(), Some(last), "{arguments:?}: {said}");
    }
}
