//! The record on disk is valid at every moment.

use fathom_measure::simulated::quiet_run;
use fathom_measure::{Attempt, Frame, Journal, write_bench};
use fathom_model::{
    BenchRecord, Conditions, Environment, Outcome, RunOrder, SCHEMA_VERSION, StopReason,
};

fn record() -> BenchRecord {
    BenchRecord {
        schema_version: SCHEMA_VERSION,
        kind: "bench".into(),
        fathom_version: "test".into(),
        started_at: "2026-11-21T00:00:00Z".into(),
        jobs: Vec::new(),
        environment: Environment::default(),
        conditions: Conditions {
            seed: 1,
            order: RunOrder::Random,
            warmup_runs: 0,
            pinned_cpus: None,
            timeout_seconds: None,
            margin: 0.01,
            metrics: Vec::new(),
            environment_size_randomised: true,
        },
        benchmarks: Vec::new(),
        runs: Vec::new(),
        complete: false,
        outcome: None,
    }
}

fn outcome() -> Outcome {
    Outcome {
        stop: StopReason::RunCount,
        results: Vec::new(),
        comparisons: Vec::new(),
        cross_checks: Vec::new(),
        also_differ: Vec::new(),
        slope: None,
        floor: None,
        warnings: Vec::new(),
        notes: Vec::new(),
        warmups: Vec::new(),
    }
}

#[test]
fn after_every_run_the_file_is_a_whole_record_with_all_runs_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    std::fs::write(&path, "x".repeat(100_000)).unwrap();
    let read = || -> BenchRecord {
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap()
    };
    let mut journal = Journal::create(&path, Frame::of_bench(&record())).unwrap();
    assert_eq!(read(), record(), "what was there before is gone");
    for position in 0..50 {
        let attempt = Attempt {
            benchmark: 0,
            warmup: false,
            round: position,
            position,
        };
        journal
            .append(&quiet_run(&attempt, 1_000 + u64::from(position)))
            .unwrap();
        let now = read();
        assert_eq!(now.runs.len(), position as usize + 1);
        assert_eq!(
            now.runs.last().unwrap().wall_ns,
            1_000 + u64::from(position)
        );
        assert!(!now.complete);
    }
    let finished = BenchRecord {
        complete: true,
        outcome: Some(outcome()),
        ..read()
    };
    journal.finish(|out| write_bench(&finished, out)).unwrap();
    let whole = read();
    assert!(whole.complete);
    assert_eq!(whole.runs.len(), 50);
    assert_eq!(whole.outcome, Some(outcome()));
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "nothing else is left"
    );
}

#[test]
fn a_record_that_cannot_be_written_is_named() {
    let error = Journal::create(
        "/no/such/folder/record.json".as_ref(),
        Frame::of_bench(&record()),
    )
    .unwrap_err();
    assert!(
        error.to_string().contains("/no/such/folder/record.json"),
        "{error}"
    );
}

#[test]
fn a_record_whose_end_changes_is_whole_with_every_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let read =
        || -> serde_json::Value { serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap() };
    let frame = |note: &str| {
        let record = serde_json::json!({
            "kind": "any", "list": [], "note": note, "inner": {"list": ["]"]}, "half": 0.5,
        });
        Frame::around(&record, "list")
    };
    let mut journal = Journal::create(&path, frame("begun")).unwrap();
    assert_eq!(read()["list"], serde_json::json!([]));
    for (length, element) in [
        (900, Some(1)),
        (3, None),
        (40, Some(2)),
        (0, None),
        (0, Some(3)),
    ] {
        let note = "\"]}".repeat(length);
        journal.update(element.as_ref(), frame(&note)).unwrap();
        assert_eq!(read()["note"], note, "an end of another length");
    }
    journal.append(&4).unwrap();
    let expected = serde_json::json!({
        "kind": "any", "list": [1, 2, 3, 4], "note": "", "inner": {"list": ["]"]}, "half": 0.5,
    });
    assert_eq!(read(), expected);
    assert!(Frame::around(&serde_json::json!({"a": 1}), "list").is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn the_launcher_writes_what_fathom_would_have_written() {
    use fathom_measure::{
        CommandLine, Executor, Hooks, Input, Output, ProcessExecutor, ProcessOptions,
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let journal = Journal::create(&path, Frame::of_bench(&record())).unwrap();
    let shell = |line: &str| CommandLine {
        program: "/bin/sh".into(),
        arguments: ["sh", "-c", line].map(Into::into).to_vec(),
        directory: None,
        variables: Vec::new(),
        input: Input::Null,
        output: Output::Null,
        expect: None,
        without: fathom_measure::Without::default(),
    };
    let commands = ["exit 0", "exit 7", "kill -9 $$"]
        .map(|line| (shell(line), Hooks::default()))
        .to_vec();
    let options = ProcessOptions {
        timeout: None,
        pin: Vec::new(),
        vary_environment_size: true,
        show_output: false,
        keep_daemons: false,
        seed: 1,
    };
    let mut executor = ProcessExecutor::recording(commands, options, Some(journal.file())).unwrap();
    let attempts: Vec<Attempt> = (0..40)
        .map(|position| Attempt {
            benchmark: match position {
                20 => 1,
                30 => 2,
                _ => 0,
            },
            warmup: false,
            round: position / 3,
            position,
        })
        .collect();
    let mut ahead = 0;
    for at in 0..attempts.len() {
        let report = executor.run(&attempts[at..]).unwrap();
        assert!(report.recorded);
        let text = std::fs::read_to_string(&path).unwrap();
        let recorded: BenchRecord = serde_json::from_str(&text).unwrap();
        assert!(recorded.runs.len() > at, "run {at} is not there yet");
        ahead = ahead.max(recorded.runs.len() - at);
        // Fields that the launcher doesn't know are added at the end.
        let of_launcher = fathom_model::Run {
            steal_ns: None,
            throttled_ns: None,
            delayed_ns: None,
            ..report.run
        };
        assert_eq!(recorded.runs[at], of_launcher);
    }
    assert!(ahead > 1, "several were made at once");
}

/// Names the file to which this program writes endlessly when the test below starts it.
const WRITES: &str = "FATHOM_TEST_WRITES";

#[test]
fn a_writer_killed_in_a_write_leaves_a_whole_record() {
    let numbers: Vec<u64> = (0..200_000).collect();
    if let Some(path) = std::env::var_os(WRITES) {
        let record = serde_json::json!({"list": [], "numbers": numbers});
        let frame = Frame::around(&record, "list").unwrap();
        let mut journal = Journal::create(path.as_ref(), Ok(frame.clone())).unwrap();
        for at in 0_u64.. {
            journal.update(Some(&at), Ok(frame.clone())).unwrap();
            if at == 0 {
                std::fs::write(begun_beside(path.as_ref()), "").unwrap();
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let begun = begun_beside(&path);
    for round in 0..30 {
        let mut writer = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "a_writer_killed_in_a_write_leaves_a_whole_record",
            ])
            .env(WRITES, &path)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        while !begun.exists() {
            assert!(writer.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::yield_now();
        }
        // The program spends a good part of its time writing, so some of the kills happen during a write.
        std::thread::sleep(std::time::Duration::from_micros(60 * round));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let record: serde_json::Value = serde_json::from_str(&text).unwrap();
        let list: Vec<u64> = serde_json::from_value(record["list"].clone()).unwrap();
        assert!(!list.is_empty());
        assert_eq!(list, (0..list.len() as u64).collect::<Vec<_>>());
        assert!(
            record["numbers"] == serde_json::json!(numbers),
            "another end"
        );
        std::fs::remove_file(&path).unwrap();
        std::fs::remove_file(&begun).unwrap();
    }
}

/// Returns the file that signals that the record next to it has its first entry.
fn begun_beside(record: &std::path::Path) -> std::path::PathBuf {
    record.with_extension("begun")
}
