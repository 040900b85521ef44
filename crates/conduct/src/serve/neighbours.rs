//! Measures how much CPU time other programs took.

use std::collections::HashMap;
use std::fs;

use fathom_load::Address;
use fathom_load::clock::{now, process_cpu};
use fathom_measure::server::{listening, owner};
use fathom_trace::{allowed_cpus, busy_ns};

/// A snapshot of the total CPU time at one moment.
pub(super) struct Busy {
    at: u64,
    busy_ns: u64,
    own_ns: u64,
    cpus: Vec<usize>,
    /// The first process of a measured server that Fathom didn't start, and the CPU time of that process's
    /// tree.
    measured: Option<(u32, u64)>,
}

impl Busy {
    /// Takes a snapshot. `address` is the address of a server that is already running. If that server is on
    /// this machine and visible, its CPU time isn't attributed to other programs.
    pub(super) fn now(address: Option<&Address>) -> Busy {
        let listener = address.and_then(listener);
        let measured = listener.map(|pid| (pid, tree_ns(pid)));
        // All CPUs of the machine: servers may use other CPUs than this thread.
        let cpus = machine_cpus();
        Busy {
            at: now(),
            busy_ns: busy_ns(&cpus).unwrap_or(0),
            own_ns: process_cpu(),
            cpus,
            measured,
        }
    }

    /// Returns the CPU time of this process since the snapshot.
    pub(super) fn own_since(&self) -> u64 {
        process_cpu().saturating_sub(self.own_ns)
    }

    /// Returns the CPU time used since the snapshot by everything except this measurement, which used
    /// `own_ns`, as a share of the time of all CPUs.
    pub(super) fn others_since(&self, own_ns: u64) -> f64 {
        let busy = busy_ns(&self.cpus).map_or(0, |busy| busy.saturating_sub(self.busy_ns));
        let time = now().saturating_sub(self.at) * self.cpus.len() as u64;
        let measured = self
            .measured
            .map_or(0, |(pid, before)| tree_ns(pid).saturating_sub(before));
        busy.saturating_sub(own_ns + measured) as f64 / time.max(1) as f64
    }
}

/// Returns the process that listens on the address.
fn listener(address: &Address) -> Option<u32> {
    let Address::Tcp(address) = address else {
        return None;
    };
    let listening = listening().ok()?;
    let is_it = |at: std::net::SocketAddr| {
        at.port() == address.port() && (at.ip() == address.ip() || at.ip().is_unspecified())
    };
    let socket = listening.iter().find(|socket| is_it(socket.address))?;
    Some(owner(socket.inode)?.0)
}

/// Returns the CPU time of a process and all its descendants, including ended ones, with the resolution of
/// kernel ticks.
fn tree_ns(root: u32) -> u64 {
    let listing = fs::read_dir("/proc").into_iter().flatten();
    let pids = listing.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let all: HashMap<u32, (u32, u64)> = pids.filter_map(|pid| Some((pid, stat(pid)?))).collect();
    let belongs = |pid: u32| {
        let parent = |pid: &u32| all.get(pid).map(|(parent, _)| *parent);
        std::iter::successors(Some(pid), parent)
            .take(all.len() + 1)
            .any(|pid| pid == root)
    };
    let own = all.iter().filter(|(pid, _)| belongs(**pid));
    own.map(|(_, (_, ticks))| ticks * 10_000_000).sum()
}

/// Returns the process's parent, and its ticks including those of the children it reaped.
fn stat(pid: u32) -> Option<(u32, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain any characters, including spaces and parentheses.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let ticks = fields
        .get(11..15)?
        .iter()
        .filter_map(|one| one.parse::<u64>().ok());
    Some((fields.get(1)?.parse().ok()?, ticks.sum()))
}

fn machine_cpus() -> Vec<usize> {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let numbers = text.lines().filter_map(|line| {
        let word = line.split_ascii_whitespace().next()?;
        word.strip_prefix("cpu")?.parse().ok()
    });
    let all: Vec<usize> = numbers.collect();
    match all.is_empty() {
        true => allowed_cpus(),
        false => all,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn who_listens_on_this_machine_is_found_and_is_no_neighbour() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::Tcp(socket.local_addr().unwrap());
        assert_eq!(listener(&address), Some(std::process::id()));
        let before = tree_ns(std::process::id());
        let busy = Busy::now(Some(&address));
        let (pid, at) = busy.measured.unwrap();
        assert_eq!(pid, std::process::id());
        assert!(at >= before);
        drop(socket);
        assert_eq!(Busy::now(None).measured, None);
    }
}
