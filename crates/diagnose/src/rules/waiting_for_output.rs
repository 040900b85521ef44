//! The other end of standard output, of a named pipe or of a socket on this machine is slower than
//! the command.

use fathom_model::{FindingId, TimeCategory};

use super::peer::Peer;
use crate::analysis::Analysis;
use crate::finding_builder::{FindingBuilder, is_significant_wait, percent};
use crate::findings::Claim;
use crate::numbers::time;
use crate::thresholds as t;

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let all = analysis.spent_ns(TimeCategory::WaitingForOutput);
    if all <= 0.0 {
        return None;
    }
    let end = Peer::find(analysis, TimeCategory::WaitingForOutput, 1);
    let by_network = end
        .path
        .as_deref()
        .is_some_and(|path| path.starts_with("socket"));
    let wait = all - analysis.partners_start_ns(end.fd);
    if wait < t::LEAST_PACE_NS || !is_significant_wait(analysis, wait) {
        return None;
    }
    let statement = format!(
        "The command waited until {} was taken for {}, {} of the wall time: the reader is slower.",
        match end.in_words() {
            Some(end) => format!("what it wrote to {end}"),
            None => "its output".to_owned(),
        },
        time(wait),
        percent(analysis, wait),
    );
    Some(
        FindingBuilder::new(FindingId::WaitingForOutput, analysis, wait, statement)
            .evidence("time asleep", wait, "ns")
            .evidence("CPU time", analysis.cpu_ns, "ns")
            .advice(match by_network {
                true => "Make the reader faster, send less, or compress what is sent. The program itself is not the limit.",
                false => "Make the reader faster, or write to a file. The program itself is not the limit.",
            })
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
    fn a_slow_reader_is_found() {
        let mut fake = Fake::new(1000);
        fake.descriptor(1, "pipe");
        fake.waits(Some("write"), Some(1), Cause::Asleep, 60, 10_000);
        assert_eq!(fake.ids(), ["waiting-for-output"]);
    }

    #[test]
    fn a_disk_is_no_reader() {
        let mut fake = Fake::new(1000);
        fake.descriptor(1, "/tmp/out");
        fake.waits(Some("write"), Some(1), Cause::Disk, 60, 10_000);
        assert_eq!(fake.ids(), ["waiting-for-disk"]);
    }

    #[test]
    fn a_named_pipe_whose_reader_is_slow_is_reported_by_its_name() {
        let mut fake = Fake::new(1000);
        fake.descriptor(3, "named pipe /run/rows");
        fake.calls("write", Some(3), 60, 65_536, 2_000);
        fake.waits(Some("write"), Some(3), Cause::Asleep, 60, 10_000);
        let found = fake.findings();
        assert_eq!(found[0].id, FindingId::WaitingForOutput);
        let named = "what it wrote to the named pipe /run/rows was taken";
        assert!(found[0].statement.contains(named), "{}", found[0].statement);
    }

    #[test]
    fn a_full_socket_of_this_machine_waits_for_its_reader_and_not_for_the_network() {
        let reported = |peer: &str| {
            let mut fake = Fake::new(1000);
            fake.descriptor(3, peer);
            fake.calls("write", Some(3), 160, 32_768, 2_000).would_block = 22;
            // The number was a file before.
            fake.calls("read", Some(3), 9, 700, 2_000);
            fake.file(peer, 1, 0, 0, 0);
            let socket = fake.trace.files.last_mut().expect("just made");
            (socket.fd, socket.writes) = (Some(3), 160);
            fake.waits(Some("epoll_pwait"), Some(4), Cause::Asleep, 22, 30_000);
            fake.ids()
        };
        assert_eq!(
            reported("socket to /run/audit.sock"),
            ["waiting-for-output"]
        );
        assert_eq!(reported("socket to 10.1.2.3:80"), ["waiting-for-network"]);
    }
}
