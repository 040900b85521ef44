//! Detects small writes that wait for the peer's delayed acknowledgement.

use crate::mechanisms::prelude::*;

/// Returns the index of the entry of `by_length` that counts waits of this length.
fn entry(ns: f64) -> usize {
    ((ns / 1024.0).log2().floor() as usize + 1).min(63)
}

/// Returns the number of consecutive waits that are as long as the delay, and their total time; `None` if the
/// lengths are mixed.
fn stalls(row: &OffCpuRow) -> Option<(u64, f64)> {
    t::DELAYED_ACK_NS.iter().find_map(|&(least, most)| {
        let count = u64::from(*row.by_length.get(entry((least + most) / 2.0))?);
        let longer = row.by_length.iter().skip(entry(most) + 1);
        let longer: u64 = longer.map(|n| u64::from(*n)).sum();
        if count < t::LEAST_STALLS || longer * 4 > count {
            return None;
        }
        // Before the mean is computed, the most time that shorter waits can have taken is subtracted.
        let shorter: f64 = (0..entry(least))
            .map(|i| f64::from(row.by_length[i]) * 1024.0 * 2f64.powi(i as i32 - 1) * 1.4)
            .sum();
        let mean = (row.total_ns as f64 - shorter).max(0.0) / count as f64;
        let is_delay = (least * 0.97..most).contains(&mean);
        is_delay.then_some((count, mean))
    })
}

fn is_send(analysis: &Analysis<'_>, call: &SyscallRow) -> bool {
    calls::is_write(&call.name) && is_on_socket(analysis, call)
}

fn is_on_socket(analysis: &Analysis<'_>, call: &SyscallRow) -> bool {
    let descriptors = &analysis.descriptors;
    descriptors.is_socket(call.pid, call.fd, &call.name)
}

/// Returns whether the target of most sends is one on which small writes may be held back.
fn may_hold_back(analysis: &Analysis<'_>) -> bool {
    let sends = analysis.calls(|row| is_send(analysis, row));
    let most = most(sends.filter_map(|row| Some(((row.pid, row.fd?), row.calls))));
    most.is_none_or(|(pid, fd)| analysis.descriptors.may_hold_back(pid, fd))
}

/// Returns whether a peer within the command took that long to answer. It may have slept, or it may have
/// worked, in which case the critical path holds little of the waits (`stalled_ns`).
fn is_answered_late(
    analysis: &Analysis<'_>,
    row: &OffCpuRow,
    stalls: u64,
    stalled_ns: f64,
) -> bool {
    let often = |other: &&OffCpuRow| other.count * 2 >= row.count.min(stalls);
    let sleeping = analysis.asleep_in(calls::is_sleep).filter(often);
    let by_others = sleeping.filter(|other| other.pid != row.pid);
    let asleep: u64 = by_others.map(|other| other.total_ns).sum();
    let on_path = analysis.spent_on(&[
        TimeCategory::Network,
        TimeCategory::WaitingForEvents,
        TimeCategory::OtherWait,
    ]);
    asleep as f64 >= stalled_ns / 2.0 || on_path < analysis.untraced(stalled_ns) / 2.0
}

pub(crate) fn acknowledgements(analysis: &Analysis<'_>) -> Option<Claim> {
    let reads = |row: &OffCpuRow| {
        let call = row.call.as_deref().unwrap_or_default();
        calls::is_read(call) && analysis.descriptors.is_socket(row.pid, row.fd, call)
    };
    let rows = analysis.asleep_in(|call| calls::is_read(call) || calls::is_poll(call));
    let rows = rows.filter(|row| row.call.as_deref().is_some_and(calls::is_poll) || reads(row));
    let stalled = rows.filter_map(|row| Some((row, stalls(row)?)));
    let (row, (stalls, mean)) = stalled.max_by_key(|(_, (count, _))| *count)?;
    // There must be two or more small sends for each stall, anywhere in the tree: first the header, then the
    // body.
    let sends = analysis.tally(|call| is_send(analysis, call));
    // If only the first calls were traced, there must be two or more sends for each answer among them.
    let answers = match analysis.by_stops() {
        true => {
            let moves = |call: &SyscallRow| calls::is_read(&call.name) && call.bytes > 0;
            let answers = analysis.tally(|call| moves(call) && is_on_socket(analysis, call));
            answers.calls.min(stalls)
        }
        false => stalls,
    };
    let stalled = stalls as f64 * mean;
    // A wait without an answer lasted until its own timeout.
    let (unanswered, _) = analysis.unanswered;
    let late = is_answered_late(analysis, row, stalls, stalled);
    if !may_hold_back(analysis) || late || unanswered * 2 >= stalls {
        return None;
    }
    let several = sends.calls >= 2 && sends.calls * 2 >= answers * 3;
    let small = sends.bytes_per_call() < 1400.0 && several;
    let wait = stalled.min(analysis.timed_ns);
    if !small {
        return None;
    }
    let statement = format!(
        "{} waits of {} each on a socket, {} of the wall time: a small write waits until the other side \
         acknowledges the previous one.",
        count(stalls),
        time(mean),
        analysis.percent(wait),
    );
    Some(
        Claim::new(FindingId::DelayedAckStall, analysis, wait, statement)
            .evidence("stalls", stalls, "calls")
            .evidence("mean stall", mean, "ns")
            .evidence("sends", sends.calls, "calls")
            .evidence("bytes per send", sends.bytes_per_call(), "bytes/call")
            .advice("Send header and body in one call (`writev`, or a buffered writer that is flushed once per \
                 message), or set TCP_NODELAY.")
            .pid(row.pid)
            .tid(row.tid)
            .on(row.fd, row.fd.and_then(|fd| analysis.name_of(row.pid, fd)))
            .likely()
            .observed()
            .in_waits(analysis, wait, |other, _| std::ptr::eq(other, row)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn forty_milliseconds_fall_between_33_and_67() {
        assert_eq!(entry(40e6), 16);
        assert_eq!(entry(200e6), 18);
    }

    #[test]
    fn an_event_loop_that_sends_nothing_waits_for_something_else() {
        let mut fake = Fake::new(2100);
        fake.waits(Some("epoll_wait"), Some(3), Cause::Asleep, 10, 200_000);
        fake.trace.calls_from = Some(fathom_trace::Tier::Ptrace);
        assert!(!fake.ids().contains(&"delayed-ack-stall"));
    }

    #[test]
    fn a_time_limit_of_two_hundred_milliseconds_holds_no_write_back() {
        let reported = |by_limit: u64| {
            let mut fake = Fake::new(2000);
            fake.waits(Some("poll"), Some(3), Cause::Asleep, 10, 195_000);
            fake.calls("sendto", Some(3), 20, 40, 1_000);
            fake.descriptor(3, "inet socket");
            let polls = fake.calls("poll", Some(3), 10, 0, 195_000_000);
            polls.polls = Some(fathom_trace::PollEnds {
                by_limit,
                by_limit_ns: by_limit * 195_000_000,
                total_ns: 1_950_000_000,
            });
            fake.ids()
        };
        assert_eq!(reported(10), ["waiting-for-network"]);
        assert_eq!(reported(1), ["delayed-ack-stall"]);
    }

    #[test]
    fn two_small_sends_and_a_wait_of_forty_milliseconds_are_found() {
        let mut fake = Fake::new(1000);
        fake.calls("sendto", Some(3), 40, 20, 3_000);
        fake.waits(Some("recvfrom"), Some(3), Cause::Asleep, 20, 41_000);
        assert_eq!(fake.ids(), ["delayed-ack-stall"]);
    }

    #[test]
    fn a_socket_that_holds_nothing_back_does_not_stall() {
        let reported = |name: &str| {
            let mut fake = Fake::new(1000);
            fake.descriptor(3, name);
            fake.calls("sendto", Some(3), 40, 20, 3_000);
            fake.waits(Some("recvfrom"), Some(3), Cause::Asleep, 20, 41_000);
            fake.ids()
        };
        assert_eq!(reported("socket to 10.0.0.1:80"), ["delayed-ack-stall"]);
        assert_eq!(
            reported("socket to 10.0.0.1:80 (TCP_NODELAY)"),
            ["waiting-for-network"]
        );
        assert_eq!(reported("socket to /run/a.sock"), ["waiting-for-network"]);
    }

    #[test]
    fn a_server_of_the_same_command_that_sleeps_for_as_long_is_not() {
        let mut fake = Fake::new(1000);
        fake.calls("sendto", Some(3), 40, 20, 3_000);
        fake.waits(Some("recvfrom"), Some(3), Cause::Asleep, 20, 41_000);
        fake.child(200, 1, 999, 10);
        fake.waits_of(
            200,
            Some("clock_nanosleep"),
            None,
            Cause::Asleep,
            20,
            41_000,
        );
        assert_eq!(fake.ids(), ["waiting-for-network"]);
    }

    #[test]
    fn a_server_that_takes_its_time_is_not() {
        let mut fake = Fake::new(1000);
        fake.calls("sendto", Some(3), 20, 20, 3_000);
        fake.waits(Some("recvfrom"), Some(3), Cause::Asleep, 20, 41_000);
        assert_eq!(fake.ids(), ["waiting-for-network"]);
    }
}
