//! Helpers shared by the tests of all tiers.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fathom_trace::detect::detect;
use fathom_trace::{Io, SyscallRow, Tier, Trace, TraceCommand, TraceOptions, trace};

/// Returns whether the tier works here; prints the reason if not.
pub(crate) fn available(tier: Tier) -> bool {
    let verdicts = detect();
    let found = verdicts.iter().find(|v| v.tier == tier);
    let verdict = found.expect("every tier is tried");
    fathom_test_log::tier(tier.name(), verdict.available, || verdict.why_not.clone())
}

/// Returns a command with all descriptors on `/dev/null`.
#[allow(dead_code)] // not every test file needs it
pub(crate) fn quiet(argv: &[&str]) -> TraceCommand {
    TraceCommand {
        stdin: Io::Null,
        stdout: Io::Null,
        stderr: Io::Null,
        ..TraceCommand::new(argv.iter().copied())
    }
}

/// Traces a quiet command with the default options until it ends, no matter how busy the machine is.
#[allow(dead_code)] // not every test file needs it
pub(crate) fn run(tier: Tier, argv: &[&str]) -> Trace {
    let options = TraceOptions {
        stops_time: Duration::from_secs(3600),
        ..TraceOptions::default()
    };
    trace(&quiet(argv), tier, &options).expect("the command is traced")
}

/// Returns the sum of the rows of a call on a descriptor.
#[allow(dead_code)] // not every test file adds up
pub(crate) fn sum(trace: &Trace, name: &str, fd: Option<i32>) -> SyscallRow {
    let mut total = SyscallRow::default();
    let rows = trace.syscalls.iter();
    for row in rows.filter(|r| r.name == name && r.fd == fd) {
        total.calls += row.calls;
        total.unfinished += row.unfinished;
        total.errors += row.errors;
        total.bytes += row.bytes;
        for (sum, add) in total.sizes.iter_mut().zip(row.sizes) {
            *sum += add;
        }
    }
    total
}

/// Returns a quiet command that runs one of the helpers of this test program.
#[allow(dead_code)] // not every test file has helpers
pub(crate) fn helper(name: &str) -> TraceCommand {
    let me = std::env::current_exe().expect("this test program");
    let mut command = quiet(&[]);
    command.argv = vec![me.into(), "--exact".into(), name.into()];
    let env = std::env::vars_os().chain([("FATHOM_TEST_HELPER".into(), "1".into())]);
    command.env = Some(env.collect());
    command
}

/// Builds a program from this source with `cc`; returns `None` if there is no compiler.
#[allow(dead_code)] // not every test file builds programs
pub(crate) fn built(folder: &Path, source: &str, flags: &[&str]) -> Option<PathBuf> {
    let (file, program) = (folder.join("tree.c"), folder.join("tree"));
    std::fs::write(&file, source).expect("written");
    let outcome = Command::new("cc")
        .args(flags)
        .args(["-o".as_ref(), program.as_os_str(), file.as_os_str()])
        .output();
    match outcome {
        Ok(output) if output.status.success() => Some(program),
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            fathom_test_log::skipped(&format!("no C compiler: {error}"));
            None
        }
    }
}
