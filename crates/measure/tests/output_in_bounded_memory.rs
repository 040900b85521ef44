//! Checks that output is captured in bounded memory. This is a separate test process because it reads the
//! memory usage of the whole process.
#![cfg(target_os = "linux")]

use std::ffi::OsString;

use fathom_measure::{
    Attempt, CommandLine, Executor, Expectation, Hooks, Input, Output, ProcessExecutor,
    ProcessOptions, lookup,
};
use fathom_model::Exit;

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap();
    line.split_ascii_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
fn ten_gibibytes_of_output_flow_through_in_bounded_memory() {
    let produce = |bytes: u64, expect: Option<Expectation>| {
        let words = ["head", "-c", &bytes.to_string(), "/dev/zero"].map(OsString::from);
        let command = CommandLine {
            program: lookup::find(&words[0], &std::env::var_os("PATH").unwrap(), None).unwrap(),
            arguments: words.into(),
            directory: None,
            variables: Vec::new(),
            input: Input::Null,
            output: Output::Pipe,
            expect,
            without: fathom_measure::Without::default(),
        };
        let options = ProcessOptions {
            timeout: None,
            pin: Vec::new(),
            vary_environment_size: true,
            show_output: false,
            keep_daemons: false,
            seed: 1,
        };
        let mut executor =
            ProcessExecutor::new(vec![(command, Hooks::default())], options).unwrap();
        let attempt = Attempt {
            benchmark: 0,
            warmup: false,
            round: 0,
            position: 0,
        };
        executor.run(&[attempt]).unwrap()
    };
    let before = peak_kib();
    let report = produce(10 << 30, None);
    assert_eq!(report.run.exit, Exit::Code(0));
    assert!(report.run.io.unwrap().written_bytes >= 10 << 30);

    let expect = Expectation {
        sha256: [0; 32],
        length: None,
        given: "zeros".into(),
    };
    let hashed = produce(100 << 20, Some(expect));
    // SHA-256 of 100 MiB of zeros, from sha256sum.
    assert_eq!(
        hashed.wrong_output.unwrap(),
        "104857600 bytes with SHA-256 20492a4d0d84f8beb1767f6616229f85d44c2827b64bdbfb260ee12fa1109e0e"
    );
    assert!(peak_kib() - before < 16 * 1024, "KiB");
}
