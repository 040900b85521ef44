//! Detects that the process at the other end of one of the command's streams is slower.

use super::peer::Peer;
use crate::mechanisms::prelude::*;

/// Finds a slow process that writes the command's input.
pub(crate) fn input(analysis: &Analysis<'_>) -> Option<Claim> {
    let spent = TimeCategory::WaitingForInput;
    let end = Peer::find(analysis, spent, 0);
    let what = end
        .in_words()
        .unwrap_or_else(|| "standard input".to_owned());
    let took = analysis.time_and_share(wait_ns(analysis, spent, &end));
    let statement = format!("The command waited for {what} for {took}: its producer is slower.");
    let advice = "Make the producer faster, or give the program a file. The program itself is not the limit.";
    Some(of(FindingId::WaitingForInput, analysis, spent, end, statement).advice(advice))
}

/// Finds a slow process that reads the command's output.
pub(crate) fn output(analysis: &Analysis<'_>) -> Option<Claim> {
    let spent = TimeCategory::WaitingForOutput;
    let end = Peer::find(analysis, spent, 1);
    let what = end.in_words().map(|end| format!("what it wrote to {end}"));
    let what = what.unwrap_or_else(|| "its output".to_owned());
    let took = analysis.time_and_share(wait_ns(analysis, spent, &end));
    let statement =
        format!("The command waited {took}, for {what} to be read: the reader is slower.");
    let path = end.path.as_deref();
    let advice = match path.is_some_and(|path| path.starts_with("socket")) {
        true => {
            "Make the reader faster, send less, or compress what is sent. The program itself is not the limit."
        }
        false => "Make the reader faster, or write to a file. The program itself is not the limit.",
    };
    Some(of(FindingId::WaitingForOutput, analysis, spent, end, statement).advice(advice))
}

/// Returns how long the command waits for the other end, excluding that process's own start.
fn wait_ns(analysis: &Analysis<'_>, spent: TimeCategory, end: &Peer) -> f64 {
    (analysis.spent_ns(spent) - analysis.partners_start_ns(end.fd)).max(0.0)
}

fn of(
    id: FindingId,
    analysis: &Analysis<'_>,
    spent: TimeCategory,
    end: Peer,
    statement: String,
) -> Claim {
    let wait = wait_ns(analysis, spent, &end);
    let claim = Claim::new(id, analysis, wait, statement)
        .of_waits(analysis, |_, of| of == spent)
        .evidence("time asleep", wait, "ns")
        .evidence("CPU time", analysis.cpu_ns, "ns")
        .observed();
    claim.pid(end.pid).on(end.fd, end.path)
}

#[cfg(test)]
mod tests {
    use crate::fake::Fake;
    use fathom_model::FindingId;
    use fathom_trace::Cause;

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
        let named = "what it wrote to the named pipe /run/rows to be read";
        assert!(found[0].statement.contains(named), "{}", found[0].statement);
    }

    #[test]
    fn a_full_socket_of_this_machine_waits_for_its_reader_and_not_for_the_network() {
        let reported = |peer: &str| {
            let mut fake = Fake::new(1000);
            fake.descriptor(3, peer);
            fake.calls("write", Some(3), 160, 32_768, 2_000).would_block = 22;
            // The descriptor number belonged to a file earlier.
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
