//! Output that nobody watches is written line by line.

use fathom_model::FindingId;

use super::small_io::Small;
use super::unbuffered_output::{is_of_pieces, on_output};
use crate::analysis::Analysis;
use crate::descriptors::WaitKind;
use crate::findings::Claim;
use crate::numbers::count;

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let watched = |s: &Small| analysis.descriptors.waited_for(s.pid, s.fd) == WaitKind::Terminal;
    let small =
        on_output(analysis).find(|small| !is_of_pieces(analysis, small) && !watched(small))?;
    let tally = &small.tally;
    // Where the written bytes are not checked, it takes what everybody writes there.
    let checked = small.lines(analysis).is_some();
    let lines = checked || analysis.descriptors.is_output(small.pid, small.fd);
    let cost = small.cost_of_output(analysis);
    if !cost.is_significant(analysis) {
        return None;
    }
    let statement = format!(
        "{} writes of {} to {}; the calls {}",
        count(tally.calls),
        match lines {
            true => format!("a line each ({:.0} bytes)", tally.bytes_per_call()),
            false => format!(
                "{:.0} bytes each, a line or a record,",
                tally.bytes_per_call()
            ),
        },
        small.output_name(analysis),
        cost.in_words(analysis),
    );
    let finding = cost
        .finding(FindingId::LineBufferedOutput, analysis, statement)
        .evidence("write calls", tally.calls as f64, "calls")
        .evidence("bytes per write", tally.bytes_per_call(), "bytes/call")
        .evidence("cost of a call (modelled)", tally.each_ns(), "ns")
        .advice(small.advice_on_output(analysis, true))
        .limit(Small::limit(analysis))
        .place(small.place(analysis));
    Some(if checked { finding } else { finding.likely() }.finish())
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::Fake;

    #[test]
    fn a_line_a_write_into_a_file_is_found() {
        let mut fake = Fake::new(1000);
        fake.descriptor(1, "/tmp/out");
        fake.calls("write", Some(1), 500_000, 60, 500);
        assert_eq!(fake.ids(), ["line-buffered-output"]);
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
        // The end of each line is written by itself.
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
        fake.python_unbuffered = true;
        fake.descriptor(1, "pipe");
        fake.calls("write", Some(1), 500_000, 40, 900);
        let found = fake.findings();
        assert_eq!(found[0].id, FindingId::LineBufferedOutput);
        assert!(found[0].advice.contains("unset it"), "{}", found[0].advice);
    }
}
