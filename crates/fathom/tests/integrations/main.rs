//! The shell steps of `integrations/`, run as a forge runs them: with a real repository, and with
//! replacements for GitHub's command and GitLab's API.
#![cfg(target_os = "linux")]

mod github;
mod gitlab;
mod world;

use std::path::Path;

use world::{Forge, step};

#[test]
fn the_gate_step_works_from_a_shallow_clone_and_hands_on_the_exit_code() {
    let forge = Forge::new();
    forge.shallow_clone(&forge.upstream());
    let gate = step("gate.sh");
    let variables = [
        ("BASE", "main"),
        ("TIME", "30s"),
        ("ARGUMENTS", "--only\ncount\n"),
        ("GITHUB_OUTPUT", "output"),
        ("GITHUB_STEP_SUMMARY", "summary"),
    ];
    let done = forge.run(&[gate.to_str().expect("UTF-8"), "github"], &variables);
    let (out, error) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    assert_eq!(done.status.code(), Some(1), "{out}{error}");
    assert!(
        out.contains("::error file=fathom.toml,title=count worse::"),
        "{out}"
    );
    assert_eq!(forge.read("output"), "verdict=worse\n");
    assert!(
        forge.read("summary").contains("| `count` | worse |"),
        "{}",
        forge.read("summary")
    );
    // Results are in the place that the forge keeps for the next run.
    assert!(forge.work().join(".fathom/store.sqlite").is_file());
}

#[test]
fn a_program_that_is_there_is_not_installed() {
    let forge = Forge::new();
    let install = step("install.sh");
    let own = forge.bin().join("fathom");
    let variables = [
        ("FATHOM", own.to_str().expect("UTF-8")),
        ("GITHUB_PATH", "path"),
    ];
    let done = forge.run(&[install.to_str().expect("UTF-8")], &variables);
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    assert_eq!(forge.read("path"), format!("{}\n", forge.bin().display()));
}

/// Installing by name from a registry would fetch someone else's program.
#[test]
fn a_missing_program_is_built_from_sources_beside_the_step_or_at_a_commit() {
    let forge = Forge::new();
    std::fs::remove_file(forge.bin().join("fathom")).expect("it is removed");
    forge.program(
        &forge.bin().join("cargo"),
        "#!/bin/sh\necho \"$*\" >>calls\n",
    );
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let install = |script: &Path, variables: &[(&str, &str)]| {
        let _ = std::fs::remove_file(forge.work().join("calls"));
        let done = forge.run(&[script.to_str().expect("UTF-8")], variables);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        (done.status.code(), forge.read("calls"), said)
    };
    let (code, calls, said) = install(&step("install.sh"), &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(calls.starts_with("install --locked --path /"), "{calls}");
    assert!(calls.ends_with("/crates/fathom\n"), "{calls}");
    // A project that has only a copy of the steps.
    let copied = forge.folder.path().join("install.sh");
    std::fs::copy(step("install.sh"), &copied).expect("a copy");
    let git = ("FATHOM_GIT", "https://forge.example/fathom.git");
    let (code, calls, said) = install(&copied, &[git, ("FATHOM_REV", commit)]);
    assert_eq!(code, Some(0), "{said}");
    let from = format!("install --locked --git {} --rev {commit} fathom\n", git.1);
    assert_eq!(calls, from);
    let without: [&[(&str, &str)]; 3] = [&[], &[git], &[git, ("FATHOM_REV", "main")]];
    for variables in without {
        let (code, calls, said) = install(&copied, variables);
        assert_eq!((code, calls.as_str()), (Some(2), ""), "{said}");
        assert!(said.contains("FATHOM_REV"), "{said}");
    }
}
