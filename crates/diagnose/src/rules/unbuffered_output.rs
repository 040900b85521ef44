//! Output is written in pieces of a few bytes.

use fathom_model::FindingId;

use super::small_io::{self, Small};
use crate::analysis::Analysis;
use crate::descriptors::WaitKind;
use crate::findings::Claim;
use crate::numbers::count;
use crate::runtimes::Habit;
use crate::thresholds as t;

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let small = on_output(analysis).find(|small| is_of_pieces(analysis, small))?;
    let tally = &small.tally;
    let cost = small.cost_of_output(analysis);
    if !cost.is_significant(analysis) {
        return None;
    }
    let statement = format!(
        "{} writes to {} carried {:.1} bytes each; the calls {}",
        count(tally.calls),
        small.output_name(analysis),
        tally.bytes_per_call(),
        cost.in_words(analysis),
    );
    Some(
        cost.finding(FindingId::UnbufferedOutput, analysis, statement)
            .evidence("write calls", tally.calls as f64, "calls")
            .evidence("bytes per write", tally.bytes_per_call(), "bytes/call")
            .evidence("cost of a call (modelled)", tally.each_ns(), "ns")
            .advice(small.advice_on_output(analysis, false))
            .limit(Small::limit(analysis))
            .place(small.place(analysis))
            .finish(),
    )
}

/// Whether what is written is less than a line, or no line: the blocks of which a copy is made.
/// Where nothing was sampled whether the writes end lines, short ones are pieces; and those to a
/// standard output that collects nothing but lines, where each piece that is printed ends with one.
pub(super) fn is_of_pieces(analysis: &Analysis<'_>, small: &Small) -> bool {
    let are_short = small.tally.bytes_per_call() < t::PIECE_BYTES;
    let of_lines = analysis.runtime(Some(small.pid)).has(Habit::CollectsLines);
    let are_pieces = match small.lines(analysis) {
        Some(part) => part < t::LINES_OF_WRITES || are_short && small.fd == 1 && of_lines,
        None => are_short,
    };
    are_pieces || small.is_copied_in_blocks(analysis)
}

/// Small writes to descriptors 1 and 2 and to files that are written as these are, most cost first.
/// A file that is opened for each of them is not the output that the command was given.
pub(super) fn on_output(analysis: &Analysis<'_>) -> impl Iterator<Item = Small> {
    let fits = |analysis: &Analysis<'_>, pid: u32, fd: i32, writes: bool| {
        let fits = match analysis.descriptors.is_output(pid, fd) {
            true => !analysis.descriptors.is_reopened_file(pid, fd),
            false => analysis.descriptors.last(pid, fd) == WaitKind::File,
        };
        writes && fits
    };
    let is_own = |small: &Small| {
        analysis.descriptors.is_output(small.pid, small.fd)
            || small_io::is_stream_of_file(analysis, small)
    };
    small_io::find(analysis, fits).into_iter().filter(is_own)
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::Fake;

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
        // Lines: taken out of blocks, or of lengths that are no block's.
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
}
