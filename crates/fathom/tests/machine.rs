//! `fathom machine` as its users see it, and its effect on `bench`. Tests check counts and words, never
//! times.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use fathom_machine::remembered::{self, Profile};
use serde_json::Value;

fn fathom(cache: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command
        .args(arguments)
        .env("XDG_CACHE_HOME", cache)
        .stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    let cache = tempfile::tempdir().unwrap();
    fathom(cache.path(), arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

fn assert_fits(schema: &str, record: &Value) {
    let schema = serde_json::from_str(schema).expect("the schema is JSON");
    let schema = jsonschema::validator_for(&schema).expect("a valid schema");
    let errors: Vec<String> = schema
        .iter_errors(record)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, Vec::<String>::new(), "{record}");
    let mut spoiled = record.clone();
    spoiled["extra"] = Value::Bool(true);
    assert!(!schema.is_valid(&spoiled), "an unknown key is accepted");
}

#[test]
fn every_figure_has_a_verdict_and_the_record_says_what_it_is() {
    let output = run(&["machine", "--quick", "--json", "-"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record = json(&output);
    assert_eq!(
        (&record["kind"], &record["profile"], &record["complete"]),
        (&"machine".into(), &"quick".into(), &true.into())
    );
    assert_fits(
        include_str!("../../../docs/json-schema/machine.schema.json"),
        &record,
    );
    let results = record["results"].as_array().unwrap();
    for id in [
        "core_clock",
        "l1_latency",
        "l3_latency",
        "system_call",
        "spawn_floor",
    ] {
        let probe = results.iter().find(|probe| probe["id"] == id).unwrap();
        assert!(probe["verdict"].is_string(), "{probe}");
        assert!(probe["unit"].is_string(), "{probe}");
        assert_eq!(
            probe["value"].is_number(),
            probe["verdict"] == "ok",
            "{probe}"
        );
    }
}

#[test]
fn the_check_says_what_it_found_and_what_can_be_detected_here() {
    let output = run(&["machine", "--check", "--json", "-"]);
    let record = json(&output);
    let unfit = record["fitness"] == "unfit";
    assert_eq!(
        output.status.code(),
        Some(i32::from(unfit)),
        "{}",
        stderr(&output)
    );
    let items = record["items"].as_array().unwrap();
    assert!(items.len() > 10);
    assert!(
        items.iter().all(|item| item["found"].is_string()),
        "{record}"
    );
    let difference = record["noise"]["smallest_difference"].as_f64().unwrap();
    assert!(difference > 0.0, "{difference}");
    let by = &record["noise"]["self_comparison"];
    assert!(by["rounds"].as_u64().unwrap() <= 50, "{by}");
    assert!(by["program_seconds"].as_f64().unwrap() > 0.0, "{by}");
    assert_fits(
        include_str!("../../../docs/json-schema/machine-check.schema.json"),
        &record,
    );
}

#[test]
fn the_check_begins_with_fit_or_not_and_what_to_do() {
    let output = run(&["machine", "--check"]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let unfit = output.status.code() == Some(1);
    let first = text.lines().next().unwrap();
    assert_eq!(
        first.starts_with("Not fit to measure on: "),
        unfit,
        "{text}"
    );
    assert!(unfit || first.starts_with("Fit "), "{text}");
    let is_quiet = first.starts_with("Fit to measure on: ");
    assert_eq!(text.contains("\nDo this: "), !is_quiet, "{text}");
    assert!(text.contains("-v lists them all"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn the_page_is_written_and_runs_its_own_script_only() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("machine.html");
    let output = run(&["machine", "--quick", "--html", page.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.contains("default-src 'none'")
            && page.matches("<script").count() == 1
            && page.contains("script-src 'sha256-")
    );
    assert!(page.contains("core clock"));
}

/// Returns whether the process catches SIGINT instead of dying from it.
fn catches_interrupt(process: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = u64::from_str_radix(mask.unwrap().trim(), 16).unwrap();
    mask & (1 << (libc::SIGINT - 1)) != 0
}

#[test]
fn an_interrupt_keeps_what_was_measured_and_says_that_it_is_not_all() {
    let cache = tempfile::tempdir().unwrap();
    let mut command = fathom(cache.path(), &["machine", "--json", "-"]);
    let process = command.stdout(Stdio::piped()).spawn().unwrap();
    while !catches_interrupt(&process) {
        std::thread::yield_now();
    }
    // SAFETY: the process is ours and not yet reaped.
    assert_eq!(unsafe { libc::kill(process.id() as i32, libc::SIGINT) }, 0);
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let record = json(&output);
    assert_eq!(record["complete"], false);
    let results = record["results"].as_array().unwrap();
    assert!(results.iter().any(|probe| probe["id"] == "core_clock"));
    assert!(results.iter().all(|probe| probe["id"] != "energy_spinning"));
    assert!(
        remembered_files(cache.path()).is_empty(),
        "a part is not remembered"
    );
}

fn remembered_files(cache: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(cache.join("fathom")) else {
        return Vec::new();
    };
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn mistakes_are_refused_with_code_2() {
    for (arguments, words) in [
        (
            &["machine", "--directory", "/no/such/folder"][..],
            "/no/such/folder",
        ),
        (&["machine", "--fix", "--restore"][..], "--restore"),
        (&["machine", "--quick", "--full"][..], "--full"),
        (
            &["machine", "--html", "/no/such/folder/x.html"][..],
            "can't write",
        ),
        (
            &["bench", "--require-quiet=soon", "true"][..],
            "--require-quiet",
        ),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            stderr(&output).contains(words),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}

/// Returns the record of a short `bench` session on a machine with a made-up profile in `cache`.
fn bench(cache: &Path, more: &[&str]) -> (Value, String) {
    let arguments = [&["bench", "-N", "-r", "2", "--json", "-"], more, &["true"]].concat();
    let output = fathom(cache, &arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    (json(&output), stderr(&output))
}

/// Stores a clock rate that no core reaches, whatever else is running.
fn remember_99_ghz(cache: &Path) {
    let impossible = serde_json::json!({
        "id": "core_clock", "title": "core clock", "value": 99.0, "unit": "GHz",
        "estimator": "minimum", "n": 9, "p10": null, "median": null, "min": null, "spread": 0.0,
        "share": null, "steal_ns": 0, "involuntary_switches": 0, "verdict": "ok", "method": "m",
        "note": null, "reported": null, "core_to_core_ns": null, "points_over": null,
        "points_unit": null, "points": null
    });
    let profile = Profile::now(vec![serde_json::from_value(impossible).unwrap()]);
    remembered::save(&cache.join("fathom"), &profile).unwrap();
}

#[test]
fn who_asks_for_all_is_told_in_one_line_that_the_machine_changed() {
    let cache = tempfile::tempdir().unwrap();
    remember_99_ghz(cache.path());
    for arguments in [
        &["why", "--json", "-", "-v", "--", "true"][..],
        &["why", "--json", "-", "--", "true"],
        &[
            "pipe",
            "--rounds",
            "2",
            "--json",
            "-",
            "-v",
            "--",
            "true | true",
        ],
        &["startup", "--rounds", "2", "--json", "-", "-v", "true"],
        &["startup", "--rounds", "2", "--json", "-", "true"],
    ] {
        let output = fathom(cache.path(), arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let fingerprint = json(&output)["environment"]["fingerprint"].clone();
        assert_eq!(fingerprint["profile"][0]["value"], 99.0, "{arguments:?}");
        let canaries = fingerprint["canaries"].as_array().unwrap();
        let answered = canaries.iter().any(|canary| canary["id"] == "core_clock");
        let said = stderr(&output);
        let lines = said
            .lines()
            .filter(|line| line.contains("core clock was 99"));
        assert_eq!(
            lines.count(),
            usize::from(answered && arguments.contains(&"-v")),
            "{arguments:?}: {said}"
        );
    }
}

#[test]
fn an_interrupted_check_prints_what_it_found() {
    let cache = tempfile::tempdir().unwrap();
    let mut command = fathom(cache.path(), &["machine", "--check", "--json", "-"]);
    let process = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !catches_interrupt(&process) {
        std::thread::yield_now();
    }
    // SAFETY: the process is ours and not yet reaped.
    assert_eq!(unsafe { libc::kill(process.id() as i32, libc::SIGINT) }, 0);
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(stderr(&output).contains("interrupted"));
    let record = json(&output);
    assert_eq!(record["complete"], false);
    assert!(record["items"].as_array().unwrap().len() > 10);
    assert!(record["noise"]["smallest_difference"].is_null());
}

#[test]
fn a_canary_that_differs_from_the_profile_is_said_and_recorded() {
    let cache = tempfile::tempdir().unwrap();
    let (record, _) = bench(cache.path(), &[]);
    assert!(
        record["environment"]["fingerprint"].is_null(),
        "nothing is remembered yet"
    );

    remember_99_ghz(cache.path());
    let path = cache.path().join("record.json");
    let (name, verbose) = (path.to_str().unwrap(), ["bench", "-r", "2", "-v", "true"]);
    let arguments = [&verbose[..], &["--json", name]].concat();
    let output = fathom(cache.path(), &arguments).output().unwrap();
    let record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let fingerprint = &record["environment"]["fingerprint"];
    assert_eq!(fingerprint["profile"][0]["value"], 99.0);
    let canary = |id: &str| {
        let canaries = fingerprint["canaries"].as_array().unwrap();
        canaries.iter().any(|canary| canary["id"] == id)
    };
    // A canary without a response doesn't count as a change.
    assert_eq!(
        fingerprint["changed"] == serde_json::json!(["core_clock"]),
        canary("core_clock")
    );
    assert_eq!(
        said.contains("the machine has changed since its profile was taken"),
        canary("core_clock")
    );

    let (record, said) = bench(cache.path(), &["--no-canaries"]);
    assert!(record["environment"]["fingerprint"].is_null());
    assert!(!said.contains("changed"), "{said}");
}

/// Programs that spin until dropped.
struct Spinning(Vec<Child>);

impl Spinning {
    fn on_every_cpu() -> Spinning {
        let cpus = std::thread::available_parallelism().unwrap().get();
        let spin = || {
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do :; done"]).spawn().unwrap()
        };
        Spinning((0..cpus).map(|_| spin()).collect())
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn a_busy_machine_is_refused_with_code_4_and_a_reason() {
    let _spinning = Spinning::on_every_cpu();
    let output = run(&["bench", "--require-quiet=1ms", "-r", "1", "true"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("the machine is still not quiet after"),
        "{}",
        stderr(&output)
    );
    assert!(output.stdout.is_empty());
}
