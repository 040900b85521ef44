//! Standard input, a pipe or a socket is read a few bytes a call, or a file from its front to its
//! end.

use fathom_model::FindingId;
use fathom_trace::{Cause, DescriptorKind, OffCpuRow};

use super::pseudo_files::is_pseudo;
use super::small_io::{self, Small};
use crate::analysis::Analysis;
use crate::calls;
use crate::descriptors::WaitKind;
use crate::finding_builder::is_significant_wait;
use crate::findings::Claim;
use crate::numbers::count;
use crate::runtimes::Topic;
use crate::thresholds as t;

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let comes = |pid: u32, fd: i32| {
        let kind = || analysis.descriptors.mostly(pid, fd);
        analysis.descriptors.is_input(pid, fd)
            || matches!(
                kind(),
                WaitKind::Pipe | WaitKind::Socket | WaitKind::Terminal
            )
    };
    let on_input = |analysis: &Analysis<'_>, pid: u32, fd: i32, writes: bool| {
        !writes && (comes(pid, fd) || analysis.descriptors.last(pid, fd) == WaitKind::File)
    };
    // What the kernel makes up comes in the pieces in which it is made.
    let comes_in_pieces = |small: &Small| {
        let name = analysis.name_of(small.pid, small.fd);
        let pieces = small.tally.bytes_per_call() >= t::PIECE_BYTES;
        pieces && name.is_some_and(|name| is_pseudo(&name))
    };
    let is_own = |small: &Small| {
        let streams = small_io::is_stream_of_file(analysis, small) && !comes_in_pieces(small);
        comes(small.pid, small.fd) || streams
    };
    let is_file =
        |small: &Small| analysis.descriptors.mostly(small.pid, small.fd) == WaitKind::File;
    let small = small_io::find(analysis, on_input)
        .into_iter()
        .find(is_own)?;
    let tally = &small.tally;
    let standard = analysis.descriptors.is_input(small.pid, small.fd);
    let cost = small.cost(analysis);
    if !cost.is_significant(analysis) || is_paced_by_writer(analysis, &small) {
        return None;
    }
    let topic = match (standard, is_file(&small)) {
        (true, file) => Topic::Input { file },
        (false, true) => Topic::File {
            writes: false,
            reopened: false,
        },
        (false, false) => Topic::Stream,
    };
    let statement = format!(
        "{} reads of {} brought {:.1} bytes each; the calls {}",
        count(tally.calls),
        match standard {
            true => "standard input".to_owned(),
            false if is_file(&small) => {
                let path = analysis.name_of(small.pid, small.fd);
                path.unwrap_or_else(|| "a file".to_owned())
            }
            false => {
                let name = analysis.descriptors.waited_for_name(small.pid, small.fd);
                let name = name.unwrap_or(&DescriptorKind::Pipe(None));
                format!("the {name} (descriptor {})", small.fd)
            }
        },
        tally.bytes_per_call(),
        cost.in_words(analysis),
    );
    Some(
        cost.finding(FindingId::UnbufferedInput, analysis, statement)
            .evidence("read calls", tally.calls as f64, "calls")
            .evidence("bytes per read", tally.bytes_per_call(), "bytes/call")
            .evidence("cost of a call (modelled)", tally.each_ns(), "ns")
            .advice(analysis.runtime(Some(small.pid)).advice(topic))
            .limit(Small::limit(analysis))
            .place(small.place(analysis))
            .finish(),
    )
}

/// Whether the reads are hidden behind waits for the writer, again and again: then the command
/// would end no sooner without them. One long wait is the writer's start.
fn is_paced_by_writer(analysis: &Analysis<'_>, small: &Small) -> bool {
    let waits = |row: &&OffCpuRow| {
        let reads = row.call.as_deref().is_some_and(calls::is_read);
        let here = row.pid == small.pid && row.fd == Some(small.fd);
        here && reads && row.cause == Cause::Asleep
    };
    let rows: Vec<&OffCpuRow> = analysis.trace.off_cpu.iter().filter(waits).collect();
    let all: u64 = rows.iter().map(|row| row.total_ns).sum();
    let Some(longest) = rows.iter().filter_map(|row| row.longest_ns).max() else {
        return false;
    };
    let waited = analysis.untraced(all as f64);
    is_significant_wait(analysis, waited)
        && waited * t::WAIT_THAT_HIDES >= small.tally.cost_ns
        && longest.saturating_mul(4) <= all
}

#[cfg(test)]
mod tests {
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
        let begin = "500,000 reads of the pipe (descriptor 3) brought 1.0 bytes each";
        assert!(
            found[0].statement.starts_with(begin),
            "{}",
            found[0].statement
        );
        assert!(found[0].advice.contains("64 KiB"), "{}", found[0].advice);
        // The writer writes such pieces: the reader sleeps before each of them.
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
}
