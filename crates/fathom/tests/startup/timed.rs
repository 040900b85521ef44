//! Measurements: runs, distributions, budgets, cold and warm starts, the page.

use serde_json::Value;

use super::world::{first_allowed_cpu, ids, record, run, stderr, stdout};

#[test]
fn programs_stand_side_by_side_with_their_distributions_and_verdicts() {
    let output = run(&[
        "-r",
        "8",
        "--seed",
        "5",
        "--traced",
        "0",
        "-v",
        "echo one",
        "sh -c 'sleep 0.3; echo two'",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = stdout(&output);
    assert!(
        printed.starts_with("echo one writes its first byte of output after"),
        "{printed}"
    );
    for wanted in [
        "8 rounds in random order (seed 5)",
        "From exec to the first byte of output",
        "From exec to the exit",
        "min",
        "p99",
        "1: echo one",
        "slower",
    ] {
        assert!(
            printed.contains(wanted),
            "{wanted:?} is missing in\n{printed}"
        );
    }
    assert!(
        printed.lines().all(|line| line.chars().count() <= 80),
        "{printed}"
    );
    assert_eq!(stderr(&output), "", "no progress when piped");
}

#[test]
fn every_run_is_in_the_record_and_output_comes_before_the_exit() {
    let record = record(&["echo one", "sh -c 'echo two; exec sleep 0.02'"]);
    assert_eq!(record["kind"], "startup");
    assert_eq!(record["schema_version"], 2);
    let runs = record["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 6);
    for run in runs {
        let first = run["first_output_ns"].as_u64().unwrap();
        assert!(first <= run["exit_ns"].as_u64().unwrap(), "{run}");
        assert_eq!(run["output_bytes"], 4);
        assert_eq!(run["cache"], "warm");
    }
    let slept = runs.iter().filter(|run| run["program"] == 1);
    // On a busy machine, the output may be there before it can be observed.
    for run in slept.filter(|run| run["first_output_by"] != "late_reader") {
        let after = run["exit_ns"].as_u64().unwrap() - run["first_output_ns"].as_u64().unwrap();
        assert!(
            after >= 20_000_000,
            "the sleep comes after the output: {run}"
        );
    }
}

#[test]
fn every_run_has_its_cpu_and_whether_its_core_was_shared() {
    let cpu = first_allowed_cpu();
    let record = record(&["--pin", &cpu.to_string(), "/bin/echo"]);
    for run in record["runs"].as_array().unwrap() {
        assert_eq!(run["cpu"], cpu, "{run}");
        let cycles = run["cycles_per_addition"].as_f64();
        // The value is known on architectures with machine-specific code for it.
        assert_eq!(
            cycles.is_some(),
            cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
        );
        assert!(cycles.is_none_or(|cycles| cycles > 0.0), "{run}");
    }
    // Three runs are too few for a verdict.
    assert!(record["summaries"][0]["by_core"].is_null());
}

#[test]
fn a_program_that_writes_nothing_is_said_to_be_silent() {
    let record = record(&["true"]);
    assert!(ids(&record).contains(&"no_output"), "{:?}", ids(&record));
    assert!(
        record["runs"]
            .as_array()
            .unwrap()
            .iter()
            .all(|run| run["first_output_ns"].is_null())
    );
    let kinds: Vec<&Value> = record["summaries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| &s["metric"])
        .collect();
    assert_eq!(kinds, ["exit"]);
}

#[test]
fn output_that_is_held_back_until_the_exit_is_said_to_be() {
    let record = record(&[
        "-r",
        "1",
        "-w",
        "0",
        "--traced",
        "0",
        "-S",
        "(echo a; sleep 2) | grep a",
    ]);
    assert!(
        ids(&record).contains(&"output_held_back"),
        "{:?}",
        ids(&record)
    );
    let record = self::record(&[
        "-r",
        "1",
        "-w",
        "0",
        "--traced",
        "0",
        "-S",
        "sleep 0.1; echo late",
    ]);
    assert!(
        !ids(&record).contains(&"output_held_back"),
        "it is late on a terminal too"
    );
}

#[test]
fn a_budget_decides_the_exit_code() {
    let with = |budget: &str, more: &[&str]| {
        let mut all = vec!["-r", "3", "--traced", "0", "--budget", budget];
        all.extend(more);
        all.push("echo x");
        let output = run(&all);
        // Split the output into words, so line wrapping doesn't matter.
        let words: Vec<String> = stdout(&output)
            .split_whitespace()
            .map(String::from)
            .collect();
        (output.status.code().unwrap(), words.join(" "))
    };
    let (code, text) = with("60s", &[]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("p90") && text.starts_with("Within the budget"),
        "{text}"
    );
    let (code, text) = with("1us", &["--budget-quantile", "max"]);
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("max") && text.starts_with("Over the budget"),
        "{text}"
    );
}

#[test]
fn cold_runs_show_what_they_read_or_are_void() {
    // Use the disk that holds the build: files in /tmp may be in memory only.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = folder.path().join("echo");
    std::fs::copy("/bin/echo", &program).unwrap();
    let command = format!("{} hello", program.display());
    let record = record(&["--cold", &command]);
    assert_eq!(record["conditions"]["cold_by"], "evict");
    let runs = record["runs"].as_array().unwrap();
    let cold: Vec<&Value> = runs.iter().filter(|run| run["cache"] == "cold").collect();
    assert_eq!((runs.len(), cold.len()), (6, 3));
    for run in &cold {
        let read = run["read_bytes"].as_u64().unwrap() + run["major_faults"].as_u64().unwrap();
        assert_eq!(run["not_cold"], read == 0, "{run}");
    }
    let evidence = &record["cold"][0];
    let own = evidence["files"]
        .as_array()
        .unwrap()
        .iter()
        .find(|file| file["path"].as_str().unwrap().ends_with("/echo"))
        .expect("the program itself is evicted");
    let gone = own["pages_left"] == 0;
    assert!(
        gone || cold.iter().all(|run| run["not_cold"] == true),
        "{own}"
    );
}

#[test]
fn before_cold_runs_each_program_is_run_once_before_it_is_observed() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let prepare = format!("echo . >> {}", count.display());
    let record = record(&[
        "-r",
        "2",
        "-w",
        "0",
        "--traced",
        "1",
        "--cold",
        "--prepare",
        &prepare,
        "echo hello",
    ]);
    let observed = record["traces"][0]["runs"].as_u64().unwrap_or(0);
    let runs = record["runs"].as_array().unwrap().len() as u64;
    let prepared = std::fs::metadata(&count).unwrap().len() / 2;
    assert_eq!(prepared, 1 + observed + runs);
}

#[test]
fn the_page_is_written_and_runs_its_own_script_only() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("startup.html");
    let output = run(&[
        "-r",
        "2",
        "--traced",
        "1",
        "--html",
        page.to_str().unwrap(),
        "echo '<script>'",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = std::fs::read_to_string(page).unwrap();
    assert!(
        text.contains("Content-Security-Policy")
            && text.matches("<script").count() == 1
            && text.contains("script-src 'sha256-")
    );
}
