//! `fathom pipe` as its users see it. Counts, words and lower bounds; never how fast.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fathom"));
    command.arg("pipe").args(arguments).stdin(Stdio::null());
    command
}

fn pipe(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The record of a session that must succeed.
fn record(arguments: &[&str]) -> Value {
    let mut all = vec!["--json", "-", "--rounds", "2", "--explain", "1"];
    all.extend(arguments);
    let output = pipe(&all);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

fn note<'a>(record: &'a Value, id: &str) -> &'a str {
    let notes = record["notes"].as_array().unwrap();
    let found = notes.iter().find(|note| note["id"] == id);
    let found = found.unwrap_or_else(|| panic!("no note {id} in {notes:?}"));
    found["message"].as_str().unwrap()
}

/// The tiers that this user may use here.
fn tiers() -> Vec<&'static str> {
    let fathom = assert_cmd::cargo::cargo_bin!("fathom");
    let listed = Command::new(fathom)
        .args(["why", "--tiers"])
        .output()
        .unwrap();
    let listed = stdout(&listed);
    let allowed = |tier: &&str| {
        listed.lines().any(|line| {
            let mut words = line.split_whitespace();
            words.next() == Some(*tier) && words.next() == Some("yes")
        })
    };
    let found: Vec<&str> = ["kernel", "sample"].into_iter().filter(allowed).collect();
    println!("tiers that are allowed here: {found:?}");
    found
}

fn ns(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

const MS: u64 = 1_000_000;
const SLOW_WRITER: &str = "sh -c 'sleep 0.3; echo 0123456789'";

#[test]
fn a_reader_of_a_slow_writer_is_seen_waiting_for_it_in_every_tier() {
    for tier in tiers() {
        let record = record(&["--tier", tier, SLOW_WRITER, "cat"]);
        assert_eq!(record["kind"], "pipe");
        assert_eq!(record["explaining"]["tier"], tier);
        assert_eq!(record["rounds"].as_array().unwrap().len(), 2);
        let [writer, reader] = [0, 1].map(|stage| &record["explained"][0]["stages"][stage]);
        // A sleep is never shorter than asked for; 50 ms for a sampler that came late.
        assert!(ns(&writer["other_wait_ns"]) >= 250 * MS, "{tier}: {writer}");
        assert!(ns(&reader["wait_input_ns"]) >= 250 * MS, "{tier}: {reader}");
        assert_eq!(record["bottleneck"], 0, "{tier}");
        let free = |stage: usize| {
            record["model"]["if_free"][stage]["wall_seconds"]
                .as_f64()
                .unwrap()
        };
        assert!(
            free(1) >= 0.29 && free(0) < free(1),
            "{tier}: {}",
            record["model"]
        );
        assert!(note(&record, "misleading_wall_time").contains("is waiting for sh. Alone"));
    }
}

#[test]
fn the_model_knows_a_stage_that_reads_all_before_it_writes() {
    if !tiers().contains(&"kernel") {
        return;
    }
    // 0.2 s until the first byte, then 0.4 s after the last: one after the other.
    let collects = "sh -c 'cat >/dev/null; sleep 0.4; echo done'";
    let first = "sh -c 'sleep 0.2; echo x'";
    let record = record(&["--tier", "kernel", first, collects, "cat"]);
    let model = &record["model"];
    assert_eq!(model["method"], "phases");
    let free = |stage: usize| model["if_free"][stage]["wall_seconds"].as_f64().unwrap();
    assert!(model["as_is_seconds"].as_f64().unwrap() >= 0.58, "{model}");
    // A sleep is never shorter; a tenth off for what the scaling to the timed rounds may take.
    assert!(
        free(0) >= 0.36 && free(1) >= 0.18 && free(2) >= 0.54,
        "{model}"
    );
    assert!(free(1) < free(0) && free(0) < free(2), "{model}");
    assert_eq!(record["bottleneck"], 1, "{model}");
}

#[test]
fn the_parts_of_a_stages_time_add_up() {
    for tier in tiers() {
        let record = record(&[
            "--tier",
            tier,
            "head -c 5000000 /dev/zero",
            "gzip -1",
            "wc -c",
        ]);
        for stage in record["explained"][0]["stages"].as_array().unwrap() {
            let parts = [
                "running_ns",
                "wait_input_ns",
                "wait_output_ns",
                "other_wait_ns",
            ];
            let sum: u64 = parts.iter().map(|part| ns(&stage[*part])).sum();
            let wall = ns(&stage["end_ns"]) - ns(&stage["start_ns"]);
            assert!(
                sum.abs_diff(wall) <= wall / 50,
                "{tier}: {sum} of {wall}: {stage}"
            );
        }
    }
}

#[test]
fn bytes_are_counted_exactly_between_the_stages() {
    let record = record(&["head -c 3000000 /dev/zero", "cat", "sh -c 'cat | wc -c'"]);
    let stages = record["summary"]["stages"].as_array().unwrap();
    assert_eq!(stages[0]["bytes_out"], 3_000_000);
    assert_eq!(stages[1]["bytes_in"], 3_000_000);
    assert_eq!(stages[1]["bytes_out"], 3_000_000);
    assert_eq!(stages[2]["bytes_in"], 3_000_000, "a shell's child reads it");
    assert_eq!(stages[2]["bytes_out"], Value::Null);
    assert_eq!(record["staged"][0]["bytes_written"], 3_000_000);
    for round in record["rounds"].as_array().unwrap() {
        assert_eq!(
            round["stages"][0]["wait_input_ns"],
            Value::Null,
            "never traced"
        );
    }
}

#[test]
fn a_writer_that_its_reader_leaves_is_ended_by_sigpipe_and_that_is_no_failure() {
    let record = record(&["yes", "head -c 1000"]);
    assert_eq!(record["summary"]["stages"][0]["exit"]["signal"], 13);
    assert_eq!(record["summary"]["stages"][0]["sigpipes"], 2);
    assert_eq!(record["summary"]["stages"][0]["failures"], 0);
    assert!(note(&record, "sigpipe").contains("no failure"));
    assert!(note(&record, "not_alone").contains("SIGPIPE"));
    assert!(record["alone"][1]["wall_ns"].as_array().unwrap().len() == 2);
}

#[test]
fn stages_that_never_read_or_close_their_input_do_not_hang() {
    for reader in ["true", "sh -c 'exec <&-; sleep 0.05'", "sh -c 'exit 0'"] {
        let record = record(&["head -c 1000000 /dev/zero", reader]);
        assert_eq!(
            record["summary"]["stages"][0]["exit"]["signal"], 13,
            "{reader}"
        );
        let taken = &record["summary"]["stages"][1]["bytes_in"];
        if tiers().contains(&"kernel") {
            assert_eq!(*taken, 0, "{reader}");
        }
    }
}

#[test]
fn a_failing_stage_ends_everything_with_the_end_of_its_standard_error() {
    let output = pipe(&[
        "--rounds",
        "2",
        "sh -c 'echo hi; echo what went wrong >&2; exit 7'",
        "cat",
    ]);
    assert_eq!(output.status.code(), Some(3));
    let text = stderr(&output);
    assert!(
        text.contains("stage 1, sh, failed with exit code 7"),
        "{text}"
    );
    assert!(text.contains("  | what went wrong"), "{text}");
    let record = record(&["-i", "sh -c 'echo hi; exit 7'", "cat"]);
    assert_eq!(record["summary"]["stages"][0]["failures"], 2);
    assert!(note(&record, "failures").contains("failed in 2 of 2 rounds"));
}

#[test]
fn a_stage_that_can_not_be_executed_ends_the_others_at_once() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    for more in [&["--no-stage"][..], &["--delay", "2=1h"]] {
        let argument = "98767.5";
        let mut arguments = more.to_vec();
        let sleeps = format!("sleep {argument}");
        arguments.extend([sleeps.as_str(), text(&script)]);
        // The late stage is not late in the first round, which finds out.
        let output = pipe(&arguments);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("the interpreter that it names"),
            "{}",
            stderr(&output)
        );
        wait_for("the end of the other", || {
            with_argument(argument).is_empty()
        });
    }
}

#[test]
fn standard_error_without_end_is_taken_in_bounded_memory() {
    let noisy = "sh -c 'head -c 30000000 /dev/zero >&2; echo last words >&2; exit 1'";
    let output = pipe(&["--no-stage", "--rounds", "1", noisy, "cat"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("last words"));
}

#[test]
fn wrong_arguments_are_answered_with_what_to_type() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "there is no pipeline; try: fathom pipe "),
        (
            &["true"],
            "at least two stages; for one command use: fathom why true",
        ),
        (&["cat x | wc"], "write: fathom pipe -- 'cat x | wc'"),
        (
            &["--", "cat", "x"],
            "in one pair of quotes: fathom pipe -- 'cat x'",
        ),
        (&["--rounds", "0", "true", "true"], "zero rounds"),
        (
            &["cat", "gzpi"],
            "no such program: gzpi; did you mean gzip?",
        ),
        (
            &["--delay", "sort=1s", "true", "cat"],
            "the stages are 1 true, 2 cat",
        ),
        (
            &["--delay", "cat", "true", "cat"],
            "--delay takes STAGE=TIME",
        ),
        (&["--", "echo a && echo b | cat"], "`&&` in stage 1"),
        (&["--", "echo a > b | cat"], "write the stage as sh -c"),
        (&["--", "echo a | cat > out"], "--output FILE"),
        (&["--", "cat < in | wc"], "--input FILE"),
        (&["--", "echo a 2>&1 | cat"], "`2>` in stage 1"),
        (&["--", "echo $(date) | cat"], "`$(` in stage 1"),
        (&["--", "echo a |& cat"], "2>&1"),
        (&["--", "true || true"], "needs a shell"),
        (&["--", "true | | cat"], "stage 2"),
        (
            &["--input", "/no/such/file", "cat", "wc"],
            "can't read the input /no/such/file",
        ),
        (
            &["--json", "/no/such/folder/x", "true", "cat"],
            "can't write /no/such/folder/x",
        ),
    ];
    for (arguments, expected) in cases {
        let output = pipe(arguments);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains(expected),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn only_pipes_outside_quotes_divide_and_a_shell_takes_the_rest() {
    let split = record(&["--no-stage", "--", "printf 'a|b' | cat | wc -c"]);
    let names = |record: &Value| -> Vec<String> {
        let stages = record["stages"].as_array().unwrap();
        stages
            .iter()
            .map(|stage| stage["name"].as_str().unwrap().to_string())
            .collect()
    };
    assert_eq!(names(&split), ["printf", "cat", "wc"]);
    assert_eq!(
        split["summary"]["stages"][0]["bytes_out"]
            .as_u64()
            .unwrap_or(3),
        3
    );
    let shell = record(&["--no-stage", "-S", "echo $((1+1)) && echo x", "cat", "cat"]);
    assert_eq!(shell["conditions"]["shell"], "/bin/sh");
    assert_eq!(names(&shell), ["echo", "cat", "cat#2"]);
}

#[test]
fn kept_inputs_are_what_the_stage_before_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("inputs");
    let record = record(&[
        "--keep-staged",
        text(&kept),
        "seq 1000",
        "sort -n",
        "tail -n 1",
    ]);
    let of = |name: &str| std::fs::read_to_string(kept.join(name)).unwrap();
    let wanted: String = (1..=1000).map(|n| format!("{n}\n")).collect();
    assert_eq!(of("2-sort.input"), wanted);
    assert_eq!(of("3-tail.input"), wanted);
    let file = record["staged"][0]["file"].as_str().unwrap();
    assert!(file.ends_with("2-sort.input"), "{file}");
    assert_eq!(record["alone"][1]["wall_ns"].as_array().unwrap().len(), 2);
}

#[test]
fn what_is_too_large_is_not_kept_and_its_reader_not_run_alone() {
    let record = record(&["--stage-limit", "1M", "head -c 20000000 /dev/zero", "wc -c"]);
    assert_eq!(record["staged"][0]["bytes_written"], 20_000_000);
    assert!(
        record["staged"][0]["not_kept"]
            .as_str()
            .unwrap()
            .contains("--stage-limit")
    );
    assert!(record["alone"][0]["not_run"].is_null());
    assert!(note(&record, "not_alone").contains("--stage-limit"));
    let none = self::record(&["--no-stage", "head -c 20000000 /dev/zero", "wc -c"]);
    assert!(none["alone"].as_array().unwrap().is_empty());
    assert!(none["staged"].as_array().unwrap().is_empty());
}

#[test]
fn a_late_stage_starts_late_and_finds_its_input_waiting() {
    let record = record(&["--delay", "cat=200ms", "sh -c 'echo 0123456789'", "cat"]);
    let delayed = &record["delayed"];
    assert_eq!(delayed["delay_ns"][1], 200 * MS);
    for round in delayed["rounds"].as_array().unwrap() {
        assert!(ns(&round["stages"][1]["start_ns"]) >= 200 * MS);
        assert!(ns(&round["wall_ns"]) >= 200 * MS);
    }
    assert!(note(&record, "delay_writer").contains("all 11 B that sh wrote fit into it"));
    note(&record, "delay_pipeline");
}

#[test]
fn a_full_pipe_makes_the_writer_of_a_late_reader_wait() {
    let record = record(&["--delay", "2=300ms", "head -c 1000000 /dev/zero", "wc -c"]);
    for round in record["delayed"]["rounds"].as_array().unwrap() {
        assert!(ns(&round["stages"][0]["end_ns"]) >= 300 * MS, "{round}");
    }
    assert!(note(&record, "delay_writer").contains("had to wait for wc to read"));
    for tier in tiers() {
        let record = self::record(&[
            "--tier",
            tier,
            "--delay",
            "2=300ms",
            "head -c 1000000 /dev/zero",
            "wc -c",
        ]);
        let writer = &record["delayed"]["explained"][0]["stages"][0];
        assert!(
            ns(&writer["wait_output_ns"]) >= 200 * MS,
            "{tier}: {writer}"
        );
    }
}

#[test]
fn without_observing_what_is_not_seen_is_null_and_said() {
    let record = record(&["--tier", "accounts", "seq 1000", "wc -l"]);
    assert!(record["explained"].as_array().unwrap().is_empty());
    assert_eq!(record["explaining"]["tier"], "accounts");
    assert!(record["model"]["method"] == "alone");
    let output = pipe(&["--tier", "accounts", "--rounds", "2", "seq 1000", "wc -l"]);
    let shown = stdout(&output);
    assert!(shown.contains("waits are not seen"), "{shown}");
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80),
        "{shown}"
    );
}

#[test]
fn the_page_is_written_and_runs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("pipe.html");
    let output = pipe(&[
        "--rounds",
        "1",
        "--explain",
        "1",
        "--html",
        text(&page),
        "echo '<script>x'",
        "cat",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("<svg") && html.contains("&lt;script&gt;x") && !html.contains("<script"));
}

#[test]
fn input_and_output_are_the_pipelines() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    std::fs::write(&from, "c\nb\na\n").unwrap();
    record(&["--input", text(&from), "--output", text(&to), "sort", "cat"]);
    assert_eq!(std::fs::read_to_string(&to).unwrap(), "a\nb\nc\n");
}

#[test]
fn what_is_to_be_prepared_is_prepared_before_every_run() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let prepare = format!("echo x >> {}", text(&log));
    record(&["--tier", "accounts", "--prepare", &prepare, "echo a", "cat"]);
    let lines = std::fs::read_to_string(&log).unwrap().lines().count();
    // The first run, and in two rounds the pipeline and each stage alone.
    assert_eq!(lines, 1 + 2 * 3);
    let output = pipe(&["--prepare", "echo no >&2; exit 4", "echo a", "cat"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("--prepare"), "{}", stderr(&output));
}

/// Processes of which an argument is this.
fn with_argument(argument: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        let text = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        name.trim() == "sleep"
            && text
                .split(|b| *b == 0)
                .any(|word| word == argument.as_bytes())
    })
    .collect()
}

/// Waits until the condition holds; a hang is a failure after a minute.
fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{what} did not come"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A session with stages that would never end, once they run.
fn endless(argument: &str, more: &[&str]) -> Child {
    let left = format!("sh -c 'sleep {argument} & sleep {argument}'");
    let right = format!("sleep {argument}");
    let mut command = command(more);
    command
        .args([&left, &right])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let child = command.spawn().unwrap();
    wait_for("the stages", || with_argument(argument).len() == 3);
    child
}

#[test]
fn a_pipeline_over_its_time_is_ended_with_everything_that_it_started() {
    let argument = "98761.5";
    let stage = format!("sh -c 'sleep {argument} & sleep {argument}'");
    let output = pipe(&["--timeout", "300ms", &stage, "cat"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("still running then: sh, cat"),
        "{}",
        stderr(&output)
    );
    wait_for("their end", || with_argument(argument).is_empty());
}

#[test]
fn an_interrupt_ends_the_stages_and_leaves_nothing_behind() {
    for (argument, more) in [("98762.5", &["--no-stage"][..]), ("98763.5", &[])] {
        let mut child = endless(argument, more);
        // SAFETY: a signal to our own child, which is not reaped yet.
        unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
        assert_eq!(child.wait().unwrap().code(), Some(130));
        wait_for("their end", || with_argument(argument).is_empty());
    }
}

#[test]
fn a_killed_fathom_leaves_nothing_behind() {
    for (argument, more) in [("98764.5", &["--no-stage"][..]), ("98765.5", &[])] {
        let mut child = endless(argument, more);
        child.kill().unwrap();
        child.wait().unwrap();
        wait_for("their end", || with_argument(argument).is_empty());
    }
}

/// Lines that a stage has written; a line for each run.
fn lines(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len() / 2)
}

#[test]
fn kill_9_amid_rounds_loses_none_that_had_finished() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let path = folder.path().join("record.json");
    let stage = format!("sh -c 'echo x >> {}; echo y'", text(&count));
    let mut child = command(&["--no-stage", "-r", "1000000", "--json", text(&path)])
        .args([&stage, "cat"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("some rounds", || lines(&count) > 20);
    child.kill().unwrap();
    child.wait().unwrap();
    let record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let rounds = record["rounds"].as_array().unwrap();
    // The first does not count, and the last may have been ended before it was over.
    let made = lines(&count) - 1;
    let recorded = rounds.len() as u64;
    assert!(
        (made - 1..=made).contains(&recorded),
        "{recorded} recorded, {made} made"
    );
    assert_eq!(record["complete"], false);
    let _: fathom_model::PipeRecord = serde_json::from_value(record).unwrap();
}

#[test]
fn kill_9_keeps_the_late_rounds_and_the_stages_alone_too() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let path = folder.path().join("record.json");
    let stage = format!("sh -c 'echo x >> {}; echo y'", text(&count));
    let mut child = command(&["--delay", "2=1ms", "-r", "1000000", "--json", text(&path)])
        .args([&stage, "cat"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("some rounds", || lines(&count) > 30);
    child.kill().unwrap();
    child.wait().unwrap();
    let record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let length = |list: &Value| list.as_array().unwrap().len() as u64;
    // The stage runs in the pipeline, in the late pipeline and alone.
    let recorded = length(&record["rounds"])
        + length(&record["delayed"]["rounds"])
        + length(&record["alone"][0]["wall_ns"]);
    let made = lines(&count) - 1;
    assert!(
        (made - 1..=made).contains(&recorded),
        "{recorded} recorded, {made} made"
    );
    assert_eq!(length(&record["staged"]), 1);
    let _: fathom_model::PipeRecord = serde_json::from_value(record).unwrap();
}

#[test]
fn a_failing_stage_does_not_take_the_rounds_before_it_along() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let path = folder.path().join("record.json");
    let stage = format!(
        "sh -c 'echo x >> {0}; test $(wc -l < {0}) -lt 6'",
        text(&count)
    );
    let output = pipe(&[
        "--no-stage",
        "-r",
        "50",
        "--json",
        text(&path),
        &stage,
        "cat",
    ]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(record["rounds"].as_array().unwrap().len(), 4);
    assert_eq!(record["complete"], false);
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
