//! `fathom startup` as its users see it. Counts and words, never times.
#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn fathom(arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fathom"));
    command
        .arg("startup")
        .args(arguments)
        .env_remove("NO_COLOR")
        // No profile of the machine is remembered there, so none is held against it.
        .env("XDG_CACHE_HOME", "/no/such/folder")
        // Cargo sets it, and the loader then looks for libraries in vain a hundred times.
        .env_remove("LD_LIBRARY_PATH")
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

/// The record of a few quick rounds.
fn record(arguments: &[&str]) -> Value {
    let mut all = vec!["--json", "-"];
    if !arguments.contains(&"-r") {
        all.extend(["-r", "3", "-w", "1", "--traced", "1"]);
    }
    all.extend(arguments);
    let output = run(&all);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

/// Exit code and first line of standard error.
fn refusal(arguments: &[&str]) -> (i32, String) {
    let output = run(arguments);
    assert_eq!(stdout(&output), "", "{arguments:?} prints no result");
    let said = stderr(&output);
    (
        output.status.code().unwrap(),
        said.lines().next().unwrap_or("").to_string(),
    )
}

fn ids(record: &Value) -> Vec<&str> {
    let warnings = record["warnings"].as_array().unwrap();
    warnings.iter().map(|w| w["id"].as_str().unwrap()).collect()
}

fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Whether this tier may observe here.
fn is_allowed(tier: &str) -> bool {
    let all = fathom_trace::detect::detect();
    all.iter()
        .any(|one| one.tier.name() == tier && one.available)
}

/// The first CPU that this process may use.
fn first_allowed_cpu() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.split("Cpus_allowed_list:").nth(1).unwrap();
    let digits = |c: char| c.is_ascii_digit();
    let first = list.trim_start().split(|c| !digits(c)).next().unwrap();
    first.parse().unwrap()
}

fn is_root() -> bool {
    // SAFETY: takes nothing, returns a number.
    unsafe { libc::geteuid() == 0 }
}

#[test]
fn programs_stand_side_by_side_with_their_distributions_and_verdicts() {
    let output = run(&[
        "-r",
        "8",
        "--seed",
        "5",
        "--traced",
        "0",
        "echo one",
        "sh -c 'sleep 0.05; echo two'",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = stdout(&output);
    for wanted in [
        "8 rounds in random order (seed 5)",
        "From exec to the first byte of output",
        "From exec to the exit",
        "floor",
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
    assert_eq!(record["schema_version"], 1);
    let runs = record["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 6);
    for run in runs {
        let first = run["first_output_ns"].as_u64().unwrap();
        assert!(first <= run["exit_ns"].as_u64().unwrap(), "{run}");
        assert_eq!(run["output_bytes"], 4);
        assert_eq!(run["cache"], "warm");
    }
    let slept = runs.iter().filter(|run| run["program"] == 1);
    for run in slept {
        let after = run["exit_ns"].as_u64().unwrap() - run["first_output_ns"].as_u64().unwrap();
        assert!(
            after >= 20_000_000,
            "the sleep comes after the output: {run}"
        );
    }
}

#[test]
fn every_run_tells_its_cpu_and_whether_its_core_was_shared() {
    let cpu = first_allowed_cpu();
    let record = record(&["--pin", &cpu.to_string(), "/bin/echo"]);
    for run in record["runs"].as_array().unwrap() {
        assert_eq!(run["cpu"], cpu, "{run}");
        let cycles = run["cycles_per_addition"].as_f64();
        // Told where there is machine code to tell by.
        assert_eq!(
            cycles.is_some(),
            cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
        );
        assert!(cycles.is_none_or(|cycles| cycles > 0.0), "{run}");
    }
    // Three runs are too few to tell by.
    assert!(record["summaries"][0]["by_core"].is_null());
}

#[test]
fn a_script_is_named_with_what_interprets_it() {
    let folder = tempfile::tempdir().unwrap();
    let inner = script(folder.path(), "inner", "#!/bin/sh\necho hello\n");
    let outer = script(
        folder.path(),
        "outer",
        &format!(
            "#!/bin/sh\ntest \"$(echo hidden)\" && exec {}\n",
            inner.display()
        ),
    );
    let record = record(&[outer.to_str().unwrap()]);
    let shell = std::fs::canonicalize("/bin/sh").unwrap();
    let here = std::fs::canonicalize(folder.path()).unwrap();
    if record["traces"].as_array().unwrap().is_empty() {
        println!("not run: nothing here may observe");
        return;
    }
    let wanted = [here.join("outer"), shell.clone(), here.join("inner"), shell];
    let ran: Vec<PathBuf> = serde_json::from_value(record["programs"][0]["ran"].clone()).unwrap();
    assert_eq!(ran, wanted);
}

#[test]
fn every_link_of_a_chain_of_interpreters_is_named_whoever_looks() {
    let folder = tempfile::tempdir().unwrap();
    let wrapper = script(folder.path(), "wrapper", "#!/bin/sh\nexec /bin/sh \"$@\"\n");
    let text = format!("#!{}\necho hello\n", wrapper.display());
    let outer = script(folder.path(), "outer", &text);
    let shell = std::fs::canonicalize("/bin/sh").unwrap();
    let here = std::fs::canonicalize(folder.path()).unwrap();
    let (first, second) = (here.join("outer"), here.join("wrapper"));
    let wanted = [first, second, shell.clone(), shell];
    for tier in ["kernel", "stops"] {
        if !is_allowed(tier) {
            println!("not run: tier {tier} is not allowed here");
            continue;
        }
        let record = record(&["--tier", tier, outer.to_str().unwrap()]);
        let ran = record["programs"][0]["ran"].clone();
        let ran: Vec<PathBuf> = serde_json::from_value(ran).unwrap();
        assert_eq!(ran, wanted, "tier {tier}");
    }
}

#[test]
fn only_what_reaches_standard_output_is_a_first_write() {
    // A shell puts standard error into descriptor 1 for a while.
    let all = [
        "sh -c 'echo err >&2'",
        "sh -c 'echo err >&2; sleep 0.2; echo out'",
    ];
    for tier in ["kernel", "stops"] {
        if !is_allowed(tier) {
            println!("not run: tier {tier} is not allowed here");
            continue;
        }
        let record = record(&[&["--tier", tier], &all[..]].concat());
        let phases = |program: usize| -> Vec<(String, u64)> {
            let phases = record["traces"][program]["phases"].as_array().unwrap();
            let of = |p: &Value| {
                let name = p["phase"].as_str().unwrap().to_string();
                (name, p["ns"].as_u64().unwrap())
            };
            phases.iter().map(of).collect()
        };
        let silent = phases(0);
        assert!(!silent.is_empty(), "{record}");
        let output = ["first_write", "exit"];
        assert!(
            silent.iter().all(|(name, _)| !output.contains(&&**name)),
            "tier {tier}: {silent:?}"
        );
        let late = phases(1);
        let ended_by = |told: &str| {
            let mut until = late.iter().take_while(|(name, _)| name != told);
            until.any(|(_, ns)| *ns >= 150_000_000)
        };
        // Several of its processes run programs: by stops there are no phases.
        assert!(
            late.is_empty() || ended_by("exit"),
            "the sleep comes before the output, tier {tier}: {late:?}"
        );
    }
}

#[test]
fn libraries_and_vain_look_ups_are_named() {
    let record = record(&["sh -c 'echo hello; cat /no/such/file || true'"]);
    let Some(trace) = record["traces"].as_array().unwrap().first() else {
        println!("not run: nothing here may observe");
        return;
    };
    let libraries = trace["libraries"].to_string();
    assert!(
        libraries.contains("libc") || libraries.contains("musl"),
        "{libraries}"
    );
    assert!(
        trace["missing"].to_string().contains("/no/such/file"),
        "{trace}"
    );
    if trace["tier"] == "kernel" {
        let phases = trace["phases"].as_array().unwrap();
        assert!(
            phases.iter().any(|phase| phase["phase"] == "exec"),
            "{phases:?}"
        );
        assert!(!trace["agreement"].is_null() || ids(&record).contains(&"late_stamps"));
    }
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
        // However it is wrapped.
        let words: Vec<String> = stdout(&output)
            .split_whitespace()
            .map(String::from)
            .collect();
        (output.status.code().unwrap(), words.join(" "))
    };
    let (code, text) = with("60s", &[]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("p90") && text.contains("within the budget"),
        "{text}"
    );
    let (code, text) = with("1us", &["--budget-quantile", "max"]);
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("max") && text.contains("OVER the budget"),
        "{text}"
    );
}

#[test]
fn what_cant_be_started_is_refused_with_the_way_out() {
    let (code, said) = refusal(&["no-such-program-here"]);
    assert_eq!(code, 2);
    assert!(said.contains("no such program"), "{said}");
    let (code, said) = refusal(&["echo", "3"]);
    assert_eq!(code, 2);
    assert_eq!(
        said,
        "error: no such program: 3; each word is a command of its own: write -- echo 3 for one command with \
         arguments"
    );
    assert_eq!(refusal(&[]).0, 2);
    let (code, said) = refusal(&["--output", "null", "echo x"]);
    assert_eq!(code, 2);
    assert!(said.contains("through a pipe"), "{said}");
    assert_eq!(refusal(&["--budget", "fast", "echo x"]).0, 2);
}

#[test]
fn a_failing_program_ends_it_unless_failures_are_let_pass() {
    let (code, said) = refusal(&["-r", "2", "sh -c 'echo x; exit 7'"]);
    assert_eq!(code, 3);
    assert!(said.contains("exit code 7"), "{said}");
    let record = record(&["-i", "sh -c 'echo x; exit 7'"]);
    assert!(ids(&record).contains(&"failures"));
    let (code, said) = refusal(&["--timeout", "200ms", "sleep 1000"]);
    assert_eq!(code, 3);
    assert!(said.contains("--timeout"), "{said}");
}

#[test]
fn runs_that_were_ended_have_no_time_to_the_exit() {
    let record = record(&["-i", "--timeout", "300ms", "sleep 1000"]);
    assert_eq!(record["summaries"], Value::Array(Vec::new()));
    let warnings = record["warnings"].to_string();
    assert!(
        warnings.contains("3 of 3 runs were ended by --timeout"),
        "{warnings}"
    );
    for trace in record["traces"].as_array().unwrap() {
        assert_eq!(trace["phases"], Value::Array(Vec::new()));
        assert!(trace["slowdown"].is_null());
    }
}

#[test]
fn a_failure_loses_no_finished_run() {
    let folder = tempfile::tempdir().unwrap();
    let (counter, file) = (
        folder.path().join("counter"),
        folder.path().join("record.json"),
    );
    let script = format!(
        "echo x; echo . >> {0}; test $(wc -l < {0}) -lt 5",
        counter.display()
    );
    let output = fathom(&[
        "-r",
        "9",
        "-w",
        "0",
        "--json",
        file.to_str().unwrap(),
        "--",
        "sh",
        "-c",
        &script,
    ])
    .output()
    .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let record: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(record["complete"], false);
    let codes: Vec<&Value> = record["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| &run["exit"]["code"])
        .collect();
    assert_eq!(codes, [0, 0, 0, 0, 1]);
}

#[test]
fn a_daemon_is_told_and_does_not_stay() {
    let mark = format!("30{}", std::process::id());
    let command = format!("sh -c 'sleep {mark} >/dev/null 2>&1 & echo started'");
    let record = record(&[&command]);
    assert!(ids(&record).contains(&"left_behind"), "{:?}", ids(&record));
    let still_there = std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let arguments = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        arguments == format!("sleep\0{mark}\0").as_bytes()
    });
    assert!(!still_there);
}

#[test]
fn cold_runs_show_what_they_read_or_are_void() {
    // On the disk that the build is on: what lies in /tmp may be memory only.
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
        assert_eq!(run["void"], read == 0, "{run}");
    }
    let evidence = &record["cold"][0];
    let own = evidence["files"]
        .as_array()
        .unwrap()
        .iter()
        .find(|file| file["path"].as_str().unwrap().ends_with("/echo"))
        .expect("the program itself is evicted");
    let gone = own["pages_left"] == 0;
    assert!(gone || cold.iter().all(|run| run["void"] == true), "{own}");
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
fn the_page_is_written_and_has_no_script() {
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
    assert!(text.contains("Content-Security-Policy") && !text.contains("<script"));
}

#[test]
fn ctrl_c_prints_what_is_there_and_says_that_it_is_partial() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("began");
    let command = format!(
        "sh -c 'echo x; echo . >> {}; exec sleep 0.05'",
        marker.display()
    );
    let child = fathom(&["-r", "100000", "--traced", "0", &command])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Six starts are three warm-ups and at least two counted runs.
    while std::fs::metadata(&marker).map_or(0, |m| m.len()) < 12 {
        std::thread::yield_now();
    }
    // SAFETY: our own child, not reaped yet.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("PARTIAL: interrupted"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn kill_9_amid_rounds_loses_no_run_that_had_finished() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let path = folder.path().join("record.json");
    let line = format!("sh -c 'echo x; echo . >> {}'", count.display());
    let runs = || std::fs::metadata(&count).map_or(0, |file| file.len() / 2);
    let mut child = fathom(&["-r", "100000", "-w", "0", "--traced", "0", "--json"])
        .arg(&path)
        .arg(&line)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while runs() <= 30 {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let recorded = record["runs"].as_array().unwrap().len() as u64;
    // The last may have been ended before it was over.
    assert!(
        (runs() - 1..=runs()).contains(&recorded),
        "{recorded} recorded, {} made",
        runs()
    );
    assert_eq!(record["complete"], false);
    assert_eq!(record["conditions"]["rounds"], recorded);
    let _: fathom_model::StartupRecord = serde_json::from_value(record).unwrap();
}

#[test]
fn of_a_set_uid_program_that_ran_without_its_rights_no_phases_are_told() {
    if !is_root() || !is_allowed("stops") {
        println!("not run: only root can become another user");
        return;
    }
    // On the disk that the build is on: elsewhere such bits may give no rights.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let readable = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    readable(folder.path(), 0o755);
    let (program, rights) = (folder.path().join("fathom"), folder.path().join("id"));
    std::fs::copy(assert_cmd::cargo::cargo_bin!("fathom"), &program).unwrap();
    std::fs::copy("/usr/bin/id", &rights).unwrap();
    readable(&rights, 0o4755);
    let as_nobody = |program: &Path, arguments: &[&str]| {
        Command::new("setpriv")
            .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            .arg(program)
            .args(arguments)
            .current_dir("/")
            .stdin(Stdio::null())
            .output()
    };
    match as_nobody(&rights, &["-u"]) {
        Ok(output) if stdout(&output).trim() == "0" => {}
        _ => {
            println!("not run: no setpriv, or such bits give no rights there");
            return;
        }
    }
    let command = format!("{} -u", rights.display());
    let all = ["startup", "-r", "3", "--traced", "1", "--json", "-"];
    let output = as_nobody(&program, &[&all[..], &[&command]].concat()).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let trace = &record["traces"][0];
    assert_eq!(trace["tier"], "stops");
    assert_eq!(trace["phases"], Value::Array(Vec::new()));
    assert!(trace["slowdown"].is_null());
    let warnings = record["warnings"].to_string();
    assert!(
        warnings.contains("no phases: not seen is what") && warnings.contains("set-uid"),
        "{warnings}"
    );
}

#[test]
fn another_user_gets_files_and_phases_by_stops() {
    if !is_root() {
        println!("not run: only root can become another user");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("fathom");
    std::fs::copy(assert_cmd::cargo::cargo_bin!("fathom"), &program).unwrap();
    let as_nobody = |arguments: &[&str]| {
        Command::new("setpriv")
            .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            .arg(&program)
            .arg("startup")
            .args(arguments)
            .current_dir("/")
            .stdin(Stdio::null())
            .output()
    };
    let Ok(output) = as_nobody(&[
        "-r",
        "3",
        "--traced",
        "1",
        "--cold",
        "--json",
        "-",
        "echo hello",
    ]) else {
        println!("not run: there is no setpriv");
        return;
    };
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let runs = record["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 6);
    assert!(
        runs.iter()
            .all(|run| run["first_output_ns"].is_u64() && run["read_bytes"].is_u64())
    );
    for file in record["cold"][0]["files"].as_array().unwrap() {
        assert!(
            file["pages_left"].is_null(),
            "files of root: the kernel tells nobody, {file}"
        );
    }
    if let Some(trace) = record["traces"].as_array().unwrap().first() {
        assert_eq!(trace["tier"], "stops");
        let phases = trace["phases"].as_array().unwrap();
        let names: Vec<&str> = phases
            .iter()
            .map(|p| p["phase"].as_str().unwrap())
            .collect();
        assert!(
            names.contains(&"exec") && names.contains(&"exit"),
            "{trace}"
        );
        if cfg!(target_arch = "x86_64") {
            assert!(names.contains(&"loader"), "{trace}");
        }
        assert!(trace["libraries"].to_string().contains("libc"), "{trace}");
    }
    let output = as_nobody(&["--drop-caches", "echo hello"]).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("needs root"),
        "{}",
        stderr(&output)
    );
}
