//! The observation of a program: which programs ran, the phases, the files, and who may see them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::world::{is_allowed, is_root, record, script, stderr, stdout};

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
        fathom_test_log::skipped("nothing here may observe");
        return;
    }
    let wanted = [here.join("outer"), shell.clone(), here.join("inner"), shell];
    let ran: Vec<PathBuf> = serde_json::from_value(record["programs"][0]["ran"].clone()).unwrap();
    assert_eq!(ran, wanted);
}

#[test]
fn every_link_of_a_chain_of_interpreters_is_named_whoever_observes() {
    let folder = tempfile::tempdir().unwrap();
    let wrapper = script(folder.path(), "wrapper", "#!/bin/sh\nexec /bin/sh \"$@\"\n");
    let text = format!("#!{}\necho hello\n", wrapper.display());
    let outer = script(folder.path(), "outer", &text);
    let shell = std::fs::canonicalize("/bin/sh").unwrap();
    let here = std::fs::canonicalize(folder.path()).unwrap();
    let (first, second) = (here.join("outer"), here.join("wrapper"));
    let wanted = [first, second, shell.clone(), shell];
    for tier in ["kernel", "ptrace"] {
        if !is_allowed(tier) {
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
    // A shell temporarily moves standard error to descriptor 1.
    let all = [
        "sh -c 'echo err >&2'",
        "sh -c 'echo err >&2; sleep 0.2; echo out'",
    ];
    for tier in ["kernel", "ptrace"] {
        if !is_allowed(tier) {
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
        let ended_by = |wanted: &str| {
            let mut until = late.iter().take_while(|(name, _)| name != wanted);
            until.any(|(_, ns)| *ns >= 150_000_000)
        };
        // Several of the command's processes execute programs, so the ptrace tier reports no phases.
        assert!(
            late.is_empty() || ended_by("exit"),
            "the sleep comes before the output, tier {tier}: {late:?}"
        );
    }
}

#[test]
fn libraries_and_failed_lookups_are_named() {
    let record = record(&["sh -c 'echo hello; cat /no/such/file || true'"]);
    let Some(trace) = record["traces"].as_array().unwrap().first() else {
        fathom_test_log::skipped("nothing here may observe");
        return;
    };
    let libraries = trace["libraries"].to_string();
    assert!(
        libraries.contains("libc") || libraries.contains("musl"),
        "{libraries}"
    );
    assert!(
        trace["failed_lookup_paths"]
            .to_string()
            .contains("/no/such/file"),
        "{trace}"
    );
    if trace["tier"] == "kernel" {
        let phases = trace["phases"].as_array().unwrap();
        assert!(
            phases.iter().any(|phase| phase["phase"] == "exec"),
            "{phases:?}"
        );
        // Absent if the machine was too busy for the parent to see any first byte in time.
        if let Some(pairs) = trace["agreement"]["pairs"].as_array() {
            assert!(!pairs.is_empty(), "{trace}");
        }
    }
}

#[test]
fn of_a_set_uid_program_that_ran_without_its_rights_no_phases_are_shown() {
    if !is_root() {
        fathom_test_log::skipped("only root can become another user");
        return;
    }
    if !is_allowed("ptrace") {
        return;
    }
    // Use the disk that holds the build: on other disks, set-id bits may have no effect.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let readable = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    readable(folder.path(), 0o755);
    let (program, rights) = (folder.path().join("fathom"), folder.path().join("id"));
    fathom_test_log::copy_program(env!("CARGO_BIN_EXE_fathom"), &program);
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
            fathom_test_log::skipped("no setpriv, or such bits give no rights there");
            return;
        }
    }
    let command = format!("{} -u", rights.display());
    let all = ["startup", "-r", "3", "--traced", "1", "--json", "-"];
    let output = as_nobody(&program, &[&all[..], &[&command]].concat()).unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let trace = &record["traces"][0];
    assert_eq!(trace["tier"], "ptrace");
    assert_eq!(trace["phases"], Value::Array(Vec::new()));
    assert!(trace["slowdown"].is_null());
    let warnings = record["warnings"].to_string();
    assert!(
        warnings.contains("no phases: not seen: the work") && warnings.contains("set-uid"),
        "{warnings}"
    );

    // Files that Fathom could reach only with its capabilities are withheld as well.
    readable(&rights, 0o755);
    let mut setcap = Command::new("setcap");
    match setcap.arg("cap_net_raw+ep").arg(&rights).status() {
        Ok(status) if status.success() => {}
        _ => {
            fathom_test_log::skipped("no setcap, or files there have no capabilities");
            return;
        }
    }
    let output = as_nobody(&program, &[&all[..], &[&command]].concat()).unwrap();
    let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(record["traces"][0]["phases"], Value::Array(Vec::new()));
    let warnings = record["warnings"].to_string();
    assert!(warnings.contains("its capabilities"), "{warnings}");
}

#[test]
fn another_user_gets_files_and_phases_by_stops() {
    if !is_root() {
        fathom_test_log::skipped("only root can become another user");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("fathom");
    fathom_test_log::copy_program(env!("CARGO_BIN_EXE_fathom"), &program);
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
        "3",
        "--cold",
        "--json",
        "-",
        "echo hello",
    ]) else {
        fathom_test_log::skipped("there is no setpriv");
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
            "files of root: the kernel shows nobody, {file}"
        );
    }
    if let Some(trace) = record["traces"].as_array().unwrap().first() {
        assert_eq!(trace["tier"], "ptrace");
        let phases = trace["phases"].as_array().unwrap();
        let names: Vec<&str> = phases
            .iter()
            .map(|p| p["phase"].as_str().unwrap())
            .collect();
        // On a busy machine, Fathom may read the first byte late in every run, and reports that.
        let late = record["warnings"]
            .to_string()
            .contains("no phases: its first byte was seen late");
        assert_eq!(names.is_empty(), late, "{record}");
        if !late {
            assert!(
                names.contains(&"exec") && names.contains(&"exit"),
                "{trace}"
            );
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
