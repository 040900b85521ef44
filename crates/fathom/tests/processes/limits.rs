//! Unavailable resources: another thread, or room for the output.

use std::fs::OpenOptions;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use crate::world::{fathom, stderr};

/// Each verb that creates threads or processes, with a short command.
const VERBS: [&[&str]; 6] = [
    &["bench", "-r", "2", "-w", "0", "--", "true"],
    &["startup", "--runs", "2", "--", "true"],
    &["why", "--runs", "2", "--", "true"],
    &["why", "--runs", "2", "--tier", "ptrace", "--", "true"],
    &["pipe", "-r", "2", "true", "true"],
    &["machine", "--quick"],
];

#[test]
fn without_further_threads_there_is_a_sentence_and_no_panic() {
    // SAFETY: the call takes no arguments and can't fail.
    if unsafe { libc::getuid() } != 0 {
        fathom_test_log::skipped("only root can take another user's number, which nobody else has");
        return;
    }
    // This folder can be read by that user, no matter where the build is.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("fathom");
    fathom_test_log::copy_program(env!("CARGO_BIN_EXE_fathom"), &program);
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), all).unwrap();
    let user = 3_000_000 + std::process::id();
    for verb in VERBS {
        // The machine probes take seconds each; only the first ones create threads.
        let limits = if verb[0] == "machine" { 2..4 } else { 1..8 };
        for most in limits {
            let mut command = std::process::Command::new(&program);
            command
                .args(verb)
                .current_dir("/")
                .env("XDG_CACHE_HOME", "/dev/null/no-folder")
                .stdin(Stdio::null())
                .gid(user)
                .uid(user);
            // SAFETY: between fork and exec only this call is made, with a live value.
            unsafe {
                command.pre_exec(move || {
                    let limit = libc::rlimit {
                        rlim_cur: most,
                        rlim_max: most,
                    };
                    libc::setrlimit(libc::RLIMIT_NPROC, &raw const limit);
                    Ok(())
                });
            }
            let output = command.output().unwrap();
            let (code, said) = (output.status.code(), stderr(&output));
            assert!(!said.contains("panicked"), "{verb:?} with {most}: {said}");
            assert!(
                matches!(code, Some(0..=4)),
                "{verb:?} with {most}: {code:?} {said}"
            );
        }
    }
}

#[test]
fn a_full_standard_output_is_one_sentence() {
    let prints: [&[&str]; 22] = [
        &["bench", "-r", "2", "--", "true"],
        &["bench", "-r", "2", "--json", "-", "--", "true"],
        &["startup", "--runs", "2", "--", "true"],
        &["startup", "--runs", "2", "--json", "-", "--", "true"],
        &["why", "--runs", "2", "--", "true"],
        &["why", "--runs", "2", "--json", "-", "--", "true"],
        &["why", "--tiers"],
        &["pipe", "-r", "2", "true", "true"],
        &["pipe", "-r", "2", "--json", "-", "true", "true"],
        &["machine", "--quick"],
        &["machine", "--quick", "--json", "-"],
        &["explain", "tiny-reads"],
        &["explain"],
        &["completions", "bash"],
        &["man"],
        &["run", "--list"],
        &["history"],
        &["store", "list"],
        &["report"],
        &["changes", "/dev/null"],
        &["--help"],
        &["--version"],
    ];
    for words in prints {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = fathom(words)
            .current_dir(env!("CARGO_TARGET_TMPDIR"))
            .stdout(full)
            .output()
            .unwrap();
        let (code, said) = (output.status.code(), stderr(&output));
        assert!(!said.contains("panicked"), "{words:?}: {said}");
        assert!(matches!(code, Some(1 | 2)), "{words:?}: {code:?} {said}");
        let errors = said.lines().filter(|line| line.starts_with("error"));
        assert_eq!(errors.count(), 1, "{words:?}: {said}");
    }
}

/// Runs with a limit of this many bytes for any file that it writes.
fn with_file_limit(words: &[&str], bytes: u64) -> std::process::Command {
    let mut command = fathom(words);
    // SAFETY: between fork and exec only this call is made, with a live value.
    unsafe {
        command.pre_exec(move || {
            let limit = libc::rlimit {
                rlim_cur: bytes,
                rlim_max: bytes,
            };
            libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit);
            Ok(())
        });
    }
    command
}

#[test]
fn a_file_that_may_not_grow_is_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    // The shared memory of the launcher is a file too, of several megabytes.
    let most = 64 << 20;
    let file = folder.path().join("output");
    let full = std::fs::File::create(&file).unwrap();
    full.set_len(most).unwrap();
    let open = || OpenOptions::new().append(true).open(&file).unwrap();
    for words in [&["--help"][..], &["bench", "-r", "2", "--", "true"]] {
        let output = with_file_limit(words, most)
            .stdout(open())
            .output()
            .unwrap();
        let (code, said) = (output.status.code(), stderr(&output));
        assert!(matches!(code, Some(1 | 2)), "{words:?}: {output:?} {said}");
        assert!(said.contains("File too large"), "{words:?}: {said}");
    }
    for verb in VERBS {
        let output = with_file_limit(verb, 0).output().unwrap();
        let (code, said) = (output.status.code(), stderr(&output));
        assert!(!said.contains("panicked"), "{verb:?}: {said}");
        assert!(matches!(code, Some(0..=4)), "{verb:?}: {output:?}");
    }
}

#[test]
fn what_is_measured_has_the_signal_of_that_limit() {
    let script = "ignored=$(sed -n s/SigIgn:.//p /proc/self/status); \
        [ $((0x$ignored & 0x1000000)) = 0 ]";
    for verb in [
        &["bench", "-r", "300", "--"][..],
        &["startup", "--runs", "2", "--"],
        &["why", "--runs", "2", "--"],
        &["why", "--runs", "2", "--tier", "ptrace", "--"],
        &["bench", "-r", "2"],
    ] {
        let mut words = verb.to_vec();
        match verb.last() {
            Some(&"--") => words.extend(["sh", "-c", script]),
            _ => words.extend(["--prepare", script, "--", "true"]),
        }
        let output = fathom(&words).output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{verb:?}: {}",
            stderr(&output)
        );
    }
}
