//! Signals that the tree sent, and servers that refused its connections.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// Maximum number of rows of each kind: a tree has few receivers and servers.
const MOST: usize = 10_000;

/// Signals of one kind that one process sent to another, by `kill` or through a pidfd.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalRow {
    /// The sender.
    pub pid: u32,
    /// The receiving process, or the group with this id; `None` if the receiver wasn't seen, or if it was
    /// more than one group.
    pub target: Option<u32>,
    /// Number of the signal; 0 means that the call only checked whether the process exists.
    pub signal: i32,
    /// Number of successful calls.
    pub calls: u64,
    /// When the first call returned.
    pub first_ns: u64,
    /// When the last call returned.
    pub last_ns: u64,
}

/// Failed connections to one address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedRow {
    /// The process that tried to connect.
    pub pid: u32,
    /// The address, in the form of [`SocketEnd::To`](crate::SocketEnd::To).
    pub address: String,
    /// The error number, such as 111 for `ECONNREFUSED`.
    pub errno: i32,
    /// Number of attempts.
    pub calls: u64,
    /// When the first attempt failed.
    pub first_ns: u64,
    /// When the last attempt failed.
    pub last_ns: u64,
}

/// Collects signals and refused connections.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    sent: HashMap<(u32, Option<u32>, i32), SignalRow>,
    refused: HashMap<(u32, String, i32), RefusedRow>,
    /// The processes that descriptors refer to.
    watched: HashMap<(u32, i32), u32>,
}

impl Signals {
    /// Notes that `kill(to, signal)` of `pid` succeeded.
    pub(crate) fn sent(&mut self, pid: u32, to: i32, signal: i32, time: u64) {
        // 0 is the sender's own group, -1 every process.
        let target = (to != 0 && to != -1).then(|| to.unsigned_abs());
        self.add(pid, target, signal, time);
    }

    /// Notes that `fd` of `pid` refers to the process `process`.
    pub(crate) fn watches(&mut self, pid: u32, fd: i32, process: u32) {
        if self.watched.len() < MOST {
            self.watched.insert((pid, fd), process);
        }
    }

    /// Notes that `pidfd_send_signal(fd, signal)` of `pid` succeeded.
    pub(crate) fn sent_through(&mut self, pid: u32, fd: i32, signal: i32, time: u64) {
        let target = self.watched.get(&(pid, fd)).copied();
        self.add(pid, target, signal, time);
    }

    fn add(&mut self, pid: u32, target: Option<u32>, signal: i32, time: u64) {
        let (key, room) = ((pid, target, signal), self.sent.len() < MOST);
        if !room && !self.sent.contains_key(&key) {
            return;
        }
        let row = self.sent.entry(key).or_insert_with(|| SignalRow {
            pid,
            target,
            signal,
            first_ns: time,
            ..SignalRow::default()
        });
        row.calls += 1;
        row.last_ns = time;
    }

    /// Notes that `connect` of `pid` failed.
    pub(crate) fn refused(&mut self, pid: u32, address: String, errno: i32, time: u64) {
        let (key, room) = ((pid, address, errno), self.refused.len() < MOST);
        if !room && !self.refused.contains_key(&key) {
            return;
        }
        let address = key.1.clone();
        let row = self.refused.entry(key).or_insert_with(|| RefusedRow {
            pid,
            address,
            errno,
            first_ns: time,
            ..RefusedRow::default()
        });
        row.calls += 1;
        row.last_ns = time;
    }

    /// Returns the rows of both, ordered by when they began.
    pub(crate) fn rows(self) -> (Vec<SignalRow>, Vec<RefusedRow>) {
        let mut sent: Vec<SignalRow> = self.sent.into_values().collect();
        sent.sort_by_key(|row| (row.first_ns, row.pid, row.target, row.signal));
        let mut refused: Vec<RefusedRow> = self.refused.into_values().collect();
        refused
            .sort_by(|a, b| (a.first_ns, a.pid, &a.address).cmp(&(b.first_ns, b.pid, &b.address)));
        (sent, refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_added_up_by_receiver_and_number() {
        let mut signals = Signals::default();
        signals.sent(1, 20, 15, 5);
        signals.sent(1, -20, 15, 9);
        signals.sent(1, 20, 9, 12);
        signals.sent(1, 0, 15, 13);
        signals.watches(1, 4, 30);
        signals.sent_through(1, 4, 15, 14);
        signals.sent_through(1, 5, 15, 15);
        let (sent, _) = signals.rows();
        let reported =
            |row: &SignalRow| (row.target, row.signal, row.calls, row.first_ns, row.last_ns);
        let wanted = [
            (Some(20), 15, 2, 5, 9),
            (Some(20), 9, 1, 12, 12),
            (None, 15, 2, 13, 15),
            (Some(30), 15, 1, 14, 14),
        ];
        assert_eq!(sent.iter().map(reported).collect::<Vec<_>>(), wanted);
    }
}
