//! The other end of standard input, or of a named pipe, is slower than the command.

use fathom_model::{FindingId, TimeCategory};

use super::peer::Peer;
use crate::analysis::Analysis;
use crate::finding_builder::{FindingBuilder, is_significant_wait, percent};
use crate::findings::Claim;
use crate::numbers::time;
use crate::thresholds as t;

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let all = analysis.spent_ns(TimeCategory::WaitingForInput);
    if all <= 0.0 {
        return None;
    }
    let end = Peer::find(analysis, TimeCategory::WaitingForInput, 0);
    let wait = all - analysis.partners_start_ns(end.fd);
    if wait < t::LEAST_PACE_NS || !is_significant_wait(analysis, wait) {
        return None;
    }
    let statement = format!(
        "The command waited for {} for {}, {} of the wall time: whoever writes it is slower.",
        end.in_words()
            .unwrap_or_else(|| "standard input".to_owned()),
        time(wait),
        percent(analysis, wait),
    );
    Some(
        FindingBuilder::new(FindingId::WaitingForInput, analysis, wait, statement)
            .evidence("time asleep", wait, "ns")
            .evidence("CPU time", analysis.cpu_ns, "ns")
            .advice("Make the producer faster, or give the program a file. The program itself is not the limit.")
            .place(end.place())
            .observed()
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use fathom_trace::Cause;

    use crate::fake::Fake;

    #[test]
    fn a_slow_producer_is_found() {
        let mut fake = Fake::new(1000);
        fake.descriptor(0, "pipe");
        fake.waits(Some("read"), Some(0), Cause::Asleep, 60, 10_000);
        assert_eq!(fake.ids(), ["waiting-for-input"]);
    }

    #[test]
    fn one_wait_for_its_start_is_not() {
        let mut fake = Fake::new(200);
        fake.descriptor(0, "pipe");
        fake.waits(Some("read"), Some(0), Cause::Asleep, 1, 80_000);
        assert!(fake.ids().is_empty());
    }

    #[test]
    fn a_named_pipe_is_reported_by_its_name_whether_it_is_read_or_polled() {
        for polls in [false, true] {
            let mut fake = Fake::new(1000);
            fake.descriptor(3, "named pipe /run/samples");
            fake.calls("read", Some(3), 60, 100, 2_000);
            match polls {
                true => fake.waits(Some("poll"), None, Cause::Asleep, 60, 10_000),
                false => fake.waits(Some("read"), Some(3), Cause::Asleep, 60, 10_000),
            }
            let found = fake.findings();
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].id, FindingId::WaitingForInput);
            let named = "waited for the named pipe /run/samples for";
            assert!(found[0].statement.contains(named), "{}", found[0].statement);
            assert_eq!(found[0].place.fd, Some(3));
        }
    }

    #[test]
    fn a_named_pipe_that_the_tree_writes_itself_is_no_input() {
        let mut fake = Fake::new(1000);
        fake.descriptor(3, "named pipe /run/samples");
        fake.waits(Some("read"), Some(3), Cause::Asleep, 60, 10_000);
        fake.child(200, 0, 990, 50);
        fake.file("named pipe /run/samples", 1, 0, 0, 0);
        let written = fake.trace.files.last_mut().expect("just made");
        (written.pid, written.fd, written.writes) = (200, Some(4), 60);
        assert!(!fake.ids().contains(&"waiting-for-input"));
    }
}
