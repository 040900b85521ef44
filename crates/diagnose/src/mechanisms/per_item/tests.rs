//! Tests of streams that are read and written in small pieces, and of similar cases.

use fathom_model::FindingId;
use fathom_trace::Cause;

use crate::fake::Fake;

#[test]
fn a_socket_that_is_received_from_byte_by_byte_is_reported_and_short_messages_are_not() {
    let reported = |bytes| {
        let mut fake = Fake::new(1000);
        fake.descriptor(3, "socket to 127.0.0.1:11211");
        fake.calls("recvfrom", Some(3), 500_000, bytes, 700);
        fake.ids()
    };
    assert_eq!(reported(1), ["unbuffered-input"]);
    assert_eq!(reported(12), ["kernel-bound"]);
}

#[test]
fn answers_that_are_awaited_are_not_to_be_kept_back_by_a_buffer() {
    let reported = |asker: u32| {
        let mut fake = Fake::new(1000);
        fake.child(200, 0, 1000, 10);
        fake.child(300, 0, 1000, 10);
        fake.descriptor(0, "pipe");
        fake.descriptor(1, "pipe");
        fake.calls("write", Some(1), 400_000, 3, 1_000);
        fake.waits(Some("read"), Some(0), Cause::Asleep, 200_000, 1);
        let writer = crate::fake::ROOT;
        fake.wait_for(writer, "read", Some(0), (10, 11, 11), Some(asker));
        fake.wait_for(200, "read", Some(5), (20, 21, 21), Some(writer));
        fake.ids().contains(&"unbuffered-output")
    };
    assert!(!reported(200));
    assert!(reported(300), "it passes on what another process sends");
}

#[test]
fn reads_behind_a_slow_writer_win_nothing() {
    let mut fake = Fake::new(1000);
    fake.descriptor(0, "pipe");
    fake.calls("read", Some(0), 500_000, 1, 500);
    fake.waits(Some("read"), Some(0), Cause::Asleep, 60, 5_000);
    assert_eq!(fake.ids(), ["waiting-for-input"]);
}

#[test]
fn one_long_wait_hides_no_reads() {
    let mut fake = Fake::new(1000);
    fake.descriptor(0, "pipe");
    fake.calls("read", Some(0), 500_000, 1, 500);
    fake.waits(Some("read"), Some(0), Cause::Asleep, 1, 300_000);
    assert!(fake.ids().contains(&"unbuffered-input"));
}

#[test]
fn a_byte_a_read_is_reported_with_its_counts() {
    let mut fake = Fake::new(1000);
    fake.calls("read", Some(0), 1_000_000, 1, 500);
    let found = fake.findings();
    assert_eq!(found[0].id, FindingId::UnbufferedInput);
    assert!(found[0].statement.contains("1,000,000 reads"));
    assert_eq!(found[0].could_win_ns, 545_000_000);
}

#[test]
fn blocks_are_not() {
    let mut fake = Fake::new(1000);
    fake.calls("read", Some(0), 10_000, 65_536, 50_000);
    assert!(fake.ids().is_empty());
}

#[test]
fn small_reads_from_a_slow_writer_are_the_writers() {
    let mut fake = Fake::new(1000);
    fake.descriptor(0, "pipe");
    fake.calls("read", Some(0), 10_000, 8, 9_000);
    fake.waits(Some("read"), Some(0), Cause::Asleep, 10_000, 50);
    assert_eq!(fake.ids(), ["waiting-for-input"]);
}

#[test]
fn bytes_of_a_pipe_that_the_program_made_are_reported_with_its_descriptor() {
    let reported = |waits: u64| {
        let mut fake = Fake::new(1000);
        fake.descriptor(3, "pipe");
        fake.calls("read", Some(3), 500_000, 1, 500);
        fake.waits(Some("read"), Some(3), Cause::Asleep, waits, 1);
        fake.findings()
    };
    let found = reported(100);
    assert_eq!(found[0].id, FindingId::UnbufferedInput);
    let begin = "500,000 reads of the pipe (descriptor 3) returned 1.0 bytes each";
    assert!(
        found[0].statement.starts_with(begin),
        "{}",
        found[0].statement
    );
    assert!(found[0].advice.contains("64 KiB"), "{}", found[0].advice);
    // The writer writes pieces of this size, because the reader sleeps before each of them.
    assert!(
        reported(400_000)
            .iter()
            .all(|found| found.id != FindingId::UnbufferedInput)
    );
}

#[test]
fn a_shell_that_reads_a_file_is_not_advised_to_read_a_file() {
    let mut fake = Fake::new(1000);
    fake.language = Some(crate::Language::Shell);
    fake.descriptor(0, "/tmp/list");
    fake.calls("read", Some(0), 500_000, 1, 500);
    let advice = fake.findings()[0].advice.clone();
    assert!(advice.contains("whole file to one `awk`"), "{advice}");
}

#[test]
fn pieces_of_a_line_are_found() {
    let mut fake = Fake::new(1000);
    fake.calls("write", Some(1), 600_000, 5, 400);
    assert_eq!(fake.ids(), ["unbuffered-output"]);
}

#[test]
fn blocks_of_a_copy_are_no_lines() {
    let reported = |read: u64, size: u64| {
        let mut fake = Fake::new(1000);
        fake.descriptor(0, "/srv/part");
        fake.descriptor(1, "/tmp/out");
        fake.calls("read", Some(0), read, 600_000 * size / read, 100);
        fake.calls("write", Some(1), 600_000, size, 400);
        fake.ids().remove(0)
    };
    assert_eq!(reported(600_000, 32), "unbuffered-output");
    // These are lines: either they are taken out of blocks, or their lengths aren't those of blocks.
    assert_eq!(reported(600, 32), "line-buffered-output");
    assert_eq!(reported(600_000, 31), "line-buffered-output");
}

#[test]
fn what_one_program_writes_in_many_processes_is_reported_together() {
    let mut fake = Fake::new(1000);
    fake.wait_for(crate::fake::ROOT, "wait4", None, (1, 999, 999), Some(209));
    for i in 0..10 {
        let pid = 200 + i;
        fake.child(pid, u64::from(i) * 100, u64::from(i) * 100 + 100, 100);
        fake.descriptor_of(pid, 1, "/tmp/out");
        fake.calls_of(pid, "write", Some(1), 1_500, 5, 20_000);
    }
    let found = fake.findings();
    let begins = "15,000 writes to standard output carried 5.0 bytes each";
    let reported = |found: &fathom_model::Finding| found.statement.starts_with(begins);
    assert!(found.iter().any(reported), "{found:?}");
}

#[test]
fn a_few_hundred_writes_are_nothing() {
    let mut fake = Fake::new(10);
    fake.calls("write", Some(1), 500, 5, 4_000);
    assert!(fake.ids().is_empty());
}

#[test]
fn what_a_reader_in_the_tree_pays_counts_too() {
    let mut fake = Fake::new(1000);
    fake.child(200, 0, 1000, 1000);
    fake.descriptor_of(200, 0, "pipe");
    fake.calls("write", Some(1), 300_000, 4, 500);
    let alone = fake.findings()[0].could_win_ns;
    fake.waits(Some("wait4"), None, fathom_trace::Cause::Asleep, 1, 500_000);
    fake.calls_of(200, "read", Some(0), 300_000, 4, 500);
    let found = fake.findings();
    assert_eq!(found[0].id, FindingId::UnbufferedOutput);
    assert!(found[0].could_win_ns > alone);
}

#[test]
fn a_line_a_write_into_a_file_is_found() {
    let mut fake = Fake::new(1000);
    fake.descriptor(1, "/tmp/out");
    fake.calls("write", Some(1), 500_000, 60, 500);
    assert_eq!(fake.ids(), ["line-buffered-output"]);
}

#[test]
fn names_that_a_runtime_writes_for_the_observer_are_no_cause() {
    let mut fake = Fake::new(1000);
    fake.descriptor(18, "/tmp/perf-4711.map");
    fake.calls("write", Some(18), 500_000, 30, 200);
    assert_eq!(fake.ids(), [""; 0]);
}

#[test]
fn their_last_bytes_distinguish_lines_from_pieces() {
    let reported = |bytes: u64, ended: u64| {
        let mut fake = Fake::new(1000);
        fake.descriptor(1, "/tmp/out");
        fake.calls("write", Some(1), 500_000, bytes, 500).lines = Some(fathom_trace::Lines {
            examined: 256,
            ended,
        });
        fake.ids()
    };
    assert_eq!(reported(6, 256), ["line-buffered-output"]);
    // The end of each line is written separately.
    assert_eq!(reported(6, 128), ["unbuffered-output"]);
    assert_eq!(reported(60, 3), ["unbuffered-output"]);
}

#[test]
fn short_lines_of_rust_are_pieces_of_what_it_prints() {
    let reported = |bytes: u64| {
        let mut fake = Fake::new(1000);
        fake.language = Some(crate::Language::Rust);
        fake.descriptor(1, "/tmp/out");
        fake.calls("write", Some(1), 500_000, bytes, 500).lines = Some(fathom_trace::Lines {
            examined: 256,
            ended: 256,
        });
        fake.ids()
    };
    assert_eq!(reported(15), ["unbuffered-output"]);
    assert_eq!(reported(60), ["line-buffered-output"]);
}

#[test]
fn a_terminal_is_watched_line_by_line() {
    let mut fake = Fake::new(1000);
    fake.descriptor(1, "/dev/pts/0");
    fake.calls("write", Some(1), 500_000, 60, 500);
    assert!(!fake.ids().contains(&"line-buffered-output"));
}

#[test]
fn the_variable_that_unbuffers_python_is_named() {
    let mut fake = Fake::new(1000);
    fake.language = Some(crate::Language::Python);
    fake.unbuffered_by_variable = true;
    fake.descriptor(1, "pipe");
    fake.calls("write", Some(1), 500_000, 40, 900);
    let found = fake.findings();
    assert_eq!(found[0].id, FindingId::LineBufferedOutput);
    assert!(found[0].advice.contains("unset it"), "{}", found[0].advice);
}

#[test]
fn records_that_are_read_here_and_there_are_reported_with_the_file() {
    let reported = |went_on| {
        let mut fake = Fake::new(1000);
        fake.descriptor(3, "/tmp/records");
        let reads = fake.calls("pread64", Some(3), 500_000, 16, 400);
        reads.went_on = Some(went_on);
        fake.findings().remove(0)
    };
    let found = reported(200);
    assert_eq!(found.id, FindingId::SmallFileIo);
    assert_eq!(found.place.path.as_deref(), Some("/tmp/records"));
    assert!(found.advice.contains("mmap"));
    // For sequential reads, a buffer is enough.
    assert_eq!(reported(499_990).id, FindingId::UnbufferedInput);
}

#[test]
fn a_redirection_for_each_line_is_no_output_of_the_command() {
    let mut fake = Fake::new(1000);
    fake.descriptor(1, "/tmp/log");
    fake.calls("write", Some(1), 20_000, 2, 1_000);
    fake.calls("openat", None, 20_000, 0, 5_000);
    fake.calls("dup2", Some(3), 20_000, 0, 400);
    fake.file("/tmp/log", 20_000, 0, 0, 0);
    let file = fake.trace.files.last_mut().expect("just made");
    (file.fd, file.writes) = (Some(1), 20_000);
    let found = fake.findings();
    assert_eq!(found[0].id, FindingId::SmallFileIo);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].place.path.as_deref(), Some("/tmp/log"));
}

#[test]
fn opening_for_each_record_counts_too() {
    let mut fake = Fake::new(1000);
    fake.descriptor(3, "/tmp/log");
    fake.calls("write", Some(3), 20_000, 11, 1_000);
    fake.calls("openat", None, 20_000, 0, 5_000);
    let found = fake.findings();
    assert_eq!(
        (found[0].id.as_str(), found[0].could_win_ns),
        ("small-file-io", 121_800_000)
    );
}

#[test]
fn lookups_of_files_that_are_not_there_are_no_opening() {
    let mut fake = Fake::new(1000);
    fake.descriptor(3, "/src/a.h");
    fake.calls("read", Some(3), 6_000, 33, 1_000);
    fake.calls("openat", None, 540_000, 0, 800).errors = 534_000;
    fake.misses("openat", "/inc/d88/h287.h", 534_000);
    assert_eq!(fake.ids()[0], "missing-file-lookups");
}

#[test]
fn advice_to_keep_a_file_open_is_given_where_it_is_not() {
    let reported = |opens: u64| {
        let mut fake = Fake::new(1000);
        fake.language = Some(crate::Language::Perl);
        fake.descriptor(3, "/tmp/log");
        fake.calls("write", Some(3), 200_000, 11, 1_000);
        fake.calls("openat", None, opens, 0, 5_000);
        fake.findings()[0].advice.clone()
    };
    assert!(reported(200_000).starts_with("Keep the file open. Remove `autoflush`"));
    assert!(reported(1).starts_with("Remove `autoflush`"));
}

#[test]
fn questions_that_go_with_each_write_go_with_them() {
    let saving_ms = |questions: u64| {
        let mut fake = Fake::new(1000);
        fake.calls("write", Some(1), 200_000, 7, 1_500);
        fake.calls("lseek", Some(1), questions, 0, 500);
        let found = fake.findings();
        assert_eq!(found[0].id, FindingId::UnbufferedOutput);
        found[0].could_win_ns / crate::fake::MS
    };
    let alone = saving_ms(0);
    assert!(saving_ms(200_001) > alone + 50, "{alone}");
    // A program that queries half as often does so for another reason.
    assert_eq!(saving_ms(100_000), alone);
}
