//! `fathom setup` on a copy of the program.
#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(program: &Path, as_nobody: bool, arguments: &[&str]) -> Output {
    let mut command = match as_nobody {
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
            command.arg(program);
            command
        }
        false => Command::new(program),
    };
    let home = program.parent().unwrap();
    let command = command.arg("setup").args(arguments).current_dir("/");
    let command = command.env("XDG_CACHE_HOME", home.join("cache"));
    command.stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn it_says_how_the_kernel_tier_stands_and_undoes_only_what_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("fathom");
    fathom_test_log::copy_program(env!("CARGO_BIN_EXE_fathom"), &program);
    let output = run(&program, false, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(
        said(&output).starts_with("The kernel tier "),
        "{}",
        said(&output)
    );
    let output = run(&program, false, &["--undo"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(
        said(&output).contains("nothing to undo"),
        "{}",
        said(&output)
    );
    let output = run(&program, false, &["--yes", "--undo"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

#[test]
fn another_user_gets_the_kernel_tier_by_the_file_and_loses_it_again() {
    // SAFETY: the call takes no arguments and can't fail.
    if unsafe { libc::geteuid() } != 0 {
        return fathom_test_log::skipped("only root can give capabilities to a file");
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("fathom");
    fathom_test_log::copy_program(env!("CARGO_BIN_EXE_fathom"), &program);
    let works = |output: &Output| said(output).contains("The kernel tier works");
    if !works(&run(&program, false, &[])) {
        return fathom_test_log::skipped("the kernel tier doesn't work here for root either");
    }
    let before = run(&program, true, &[]);
    assert!(!works(&before), "{}", said(&before));
    assert!(
        said(&before).contains("setcap cap_bpf,cap_perfmon+ep"),
        "{}",
        said(&before)
    );
    let done = run(&program, false, &["--yes"]);
    if done.status.code() != Some(0) {
        return fathom_test_log::skipped("no setcap, or files there have no capabilities");
    }
    let after = run(&program, true, &[]);
    assert!(works(&after), "{}", said(&after));
    let undone = run(&program, false, &["--undo"]);
    assert_eq!(undone.status.code(), Some(0), "{}", said(&undone));
    let again = run(&program, true, &[]);
    assert!(!works(&again), "{}", said(&again));
}
