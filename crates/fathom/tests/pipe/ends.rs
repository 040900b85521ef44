//! How stages end.

use super::kept::wait_for_end_of;
use super::*;

#[test]
fn a_writer_that_its_reader_leaves_is_ended_by_sigpipe_and_that_is_no_failure() {
    let record = record(&["yes", "head -c 1000"]);
    assert_eq!(record["summary"]["stages"][0]["exit"]["signal"], 13);
    assert_eq!(record["summary"]["stages"][0]["sigpipes"], 2);
    assert_eq!(record["summary"]["stages"][0]["failures"], 0);
    assert!(note(&record, "sigpipe").contains("not a failure"));
    assert!(note(&record, "not_alone").contains("SIGPIPE"));
    assert!(record["alone"][1]["wall_ns"].as_array().unwrap().len() == 2);
}

#[test]
fn stages_that_never_read_or_close_their_input_do_not_hang() {
    for reader in ["true", "sh -c 'exec <&-; sleep 0.05'", "sh -c 'exit 0'"] {
        let record = record(&["head -c 1000000 /dev/zero", reader]);
        assert_eq!(
            record["summary"]["stages"][0]["exit"]["signal"], 13,
            "{reader}"
        );
        let taken = &record["summary"]["stages"][1]["bytes_in"];
        if tiers().contains(&"kernel") {
            assert_eq!(*taken, 0, "{reader}");
        }
    }
}

#[test]
fn a_failing_stage_ends_everything_with_the_end_of_its_standard_error() {
    let output = pipe(&[
        "--rounds",
        "2",
        "sh -c 'echo hi; echo what went wrong >&2; exit 7'",
        "cat",
    ]);
    assert_eq!(output.status.code(), Some(3));
    let text = stderr(&output);
    assert!(
        text.contains("stage 1 (sh) failed with exit code 7"),
        "{text}"
    );
    assert!(text.contains("  | what went wrong"), "{text}");
    let record = record(&["-i", "sh -c 'echo hi; exit 7'", "cat"]);
    assert_eq!(record["summary"]["stages"][0]["failures"], 2);
    assert!(note(&record, "failures").contains("failed in 2 of 2 rounds"));
}

#[test]
fn a_stage_that_can_not_be_executed_ends_the_others_at_once() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    for more in [&["--no-stage"][..], &["--delay", "2=1h"]] {
        let argument = "98767.5";
        let mut arguments = more.to_vec();
        let sleeps = format!("sleep {argument}");
        arguments.extend([sleeps.as_str(), text(&script)]);
        // The delayed stage isn't delayed in the first round, so the error is found there.
        let output = pipe(&arguments);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("'/no/such/interpreter', does not exist"),
            "{}",
            stderr(&output)
        );
        wait_for_end_of(argument);
    }
}

#[test]
fn standard_error_without_end_is_taken_in_bounded_memory() {
    let noisy = "sh -c 'head -c 30000000 /dev/zero >&2; echo last words >&2; exit 1'";
    let output = pipe(&["--no-stage", "--rounds", "1", noisy, "cat"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("last words"));
}
