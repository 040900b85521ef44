//! Shared by the rules on small reads and writes: where are they, and what do they cost?

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use fathom_model::Place;
use fathom_trace::{Cause, OffCpuRow, SyscallRow};

use super::call_cost::CallCost;
use crate::analysis::{Analysis, Tally};
use crate::calls;
use crate::descriptors::WaitKind;
use crate::runtimes::Topic;
use crate::thresholds as t;

/// Small calls on one descriptor, or on that of the same number in processes that one parent made
/// to run one program.
pub(super) struct Small {
    /// The one that made most of the calls.
    pub pid: u32,
    pub fd: i32,
    pub writes: bool,
    pub tally: Tally,
    /// All of them.
    pids: BTreeSet<u32>,
}

impl Small {
    /// What the calls cost.
    pub(super) fn cost(&self, analysis: &Analysis<'_>) -> CallCost {
        CallCost::with(&self.tally, analysis, |row| {
            is_of(row, &self.pids, self.fd, self.writes)
        })
    }

    /// What the calls cost, and where it is no file those of a reader in the tree: it gets as small
    /// pieces as are written.
    pub(super) fn cost_of_output(&self, analysis: &Analysis<'_>) -> CallCost {
        if !analysis.descriptors.is_output(self.pid, self.fd) {
            return self.cost(analysis);
        }
        let mut read: BTreeMap<u32, u64> = BTreeMap::new();
        for row in &analysis.trace.syscalls {
            let reads = row.fd == Some(0) && calls::is_read(&row.name);
            let from_pipe = reads && !self.pids.contains(&row.pid);
            if from_pipe && analysis.descriptors.waited_for(row.pid, 0) == WaitKind::Pipe {
                *read.entry(row.pid).or_default() += row.bytes;
            }
        }
        // Nothing names the two ends of a pipe; that all that was written was read shows them.
        let same = |bytes: u64| bytes.abs_diff(self.tally.bytes) * 100 <= self.tally.bytes;
        let reader = read
            .into_iter()
            .find(|(_, bytes)| *bytes > 0 && same(*bytes));
        let theirs = reader.map(|(pid, _)| {
            let reads =
                |row: &SyscallRow| row.pid == pid && row.fd == Some(0) && calls::is_read(&row.name);
            CallCost::of(analysis, reads)
        });
        self.cost(analysis).plus(theirs.unwrap_or_default())
    }

    /// Whether they are, and most of them had something to move at once.
    fn is_small(&self, analysis: &Analysis<'_>) -> bool {
        let (tally, writes) = (&self.tally, self.writes);
        // Sizes 1 to 3: 1 byte to 511; what is larger doesn't count as small however many there
        // are.
        let small: u64 = tally.sizes[1..4].iter().sum();
        let moved = tally.bytes_per_call();
        if small < t::LEAST_SMALL_CALLS || small * 10 < tally.calls * 6 || moved >= t::LINE_BYTES {
            return false;
        }
        let waits = |row: &OffCpuRow| {
            let call = row.call.as_deref().unwrap_or_default();
            row.cause == Cause::Asleep
                && self.pids.contains(&row.pid)
                && row.fd == Some(self.fd)
                && (calls::is_write(call) && writes || calls::is_read(call) && !writes)
        };
        match analysis.off(waits) {
            _ if writes => true,
            (_, Some(waits)) => (waits as f64) < t::WAITS_PER_SMALL_READ * tally.calls as f64,
            (ns, None) => ns < t::WAITS_PER_SMALL_READ * analysis.wall_ns,
        }
    }

    /// Whether a process copies what it reads in blocks of one size: they are no lines.
    pub(super) fn is_copied_in_blocks(&self, analysis: &Analysis<'_>) -> bool {
        let each = self.tally.bytes_per_call();
        if (each - each.round()).abs() * 1e3 > 1.0 || !(each.round() as u64).is_power_of_two() {
            return false;
        }
        let moved = |fd, writes| analysis.tally(|row| key(row) == Some(((self.pid, fd), writes)));
        let (read, written) = (moved(0, false), moved(self.fd, true));
        let alike = |a: u64, b: u64| a.abs_diff(b) * 100 <= a;
        self.writes && alike(read.bytes, written.bytes) && alike(read.calls, written.calls)
    }

    /// Part of the writes that ended a line; `None` where too few were checked.
    pub(super) fn lines(&self, analysis: &Analysis<'_>) -> Option<f64> {
        let rows = analysis.trace.syscalls.iter();
        let own = rows.filter(|row| is_of(row, &self.pids, self.fd, self.writes));
        let checks = own.filter_map(|row| row.lines);
        let (checked, ended) = checks.fold((0, 0), |(all, lines), more| {
            (all + more.examined, lines + more.ended)
        });
        (checked >= t::LEAST_CHECKED_FOR_LINES).then(|| ended as f64 / checked as f64)
    }

    /// `standard output`, or the file's name.
    pub(super) fn output_name(&self, analysis: &Analysis<'_>) -> String {
        match self.fd {
            _ if !analysis.descriptors.is_output(self.pid, self.fd) => {
                let name = analysis.name_of(self.pid, self.fd);
                name.unwrap_or_else(|| "a file".to_owned())
            }
            2 => "standard error".to_owned(),
            _ => "standard output".to_owned(),
        }
    }

    /// What to say of a file that is written so, and of standard output.
    pub(super) fn advice_on_output(
        &self,
        analysis: &Analysis<'_>,
        lines: bool,
    ) -> Cow<'static, str> {
        let topic = match analysis.descriptors.is_output(self.pid, self.fd) {
            true => Topic::Output {
                lines,
                by_variable: analysis.observation.python_unbuffered,
            },
            false => Topic::File {
                writes: true,
                reopened: false,
            },
        };
        analysis.runtime(Some(self.pid)).advice(topic)
    }

    pub(super) fn place(&self, analysis: &Analysis<'_>) -> Place {
        Place {
            pid: Some(self.pid),
            tid: None,
            fd: Some(self.fd),
            path: analysis.name_of(self.pid, self.fd),
        }
    }

    pub(super) fn limit(analysis: &Analysis<'_>) -> Option<String> {
        let call = analysis.observation.limits.syscall_seconds?;
        Some(format!(
            "the cheapest call takes {} here",
            crate::numbers::time(call * 1e9)
        ))
    }
}

/// Calls of a row that moved to another place of a file, or began at one.
fn moves_about(row: &SyscallRow) -> u64 {
    match row.went_on {
        Some(went_on) => row.calls.saturating_sub(went_on),
        None if row.name == "lseek" => row.calls,
        None => 0,
    }
}

/// Whether a file other than standard input and output is used as these are: it is kept open and
/// gone through from its front to its end.
pub(super) fn is_stream_of_file(analysis: &Analysis<'_>, small: &Small) -> bool {
    let &Small { pid, fd, .. } = small;
    let descriptors = &analysis.descriptors;
    if descriptors.is_input(pid, fd) || descriptors.is_output(pid, fd) {
        return false;
    }
    let opened = || {
        let opens = |row: &&SyscallRow| calls::opens_file(&row.name);
        let opening = analysis.rows_of_process(pid).filter(opens);
        opening.map(|row| row.calls).sum()
    };
    let opens: u64 = descriptors.opens(pid, fd).unwrap_or_else(opened);
    descriptors.last(pid, fd) == WaitKind::File
        && opens * CALLS_FOR_EACH_OPEN <= moves(analysis, small, small.writes)
        && !is_gone_about(analysis, small)
}

/// Whether every tenth call or more goes elsewhere in the file, or is a write among reads, or a
/// read among writes.
pub(super) fn is_gone_about(analysis: &Analysis<'_>, small: &Small) -> bool {
    let rows = analysis.rows_of_process(small.pid);
    let on_it = rows.filter(|row| row.fd == Some(small.fd));
    let elsewhere = on_it.map(moves_about).sum::<u64>() + moves(analysis, small, !small.writes);
    elsewhere * 10 > moves(analysis, small, small.writes)
}

/// Calls of the process of these on their descriptor that read, or write.
fn moves(analysis: &Analysis<'_>, small: &Small, writes: bool) -> u64 {
    let its = ((small.pid, small.fd), writes);
    let rows = analysis.rows_of_process(small.pid);
    let moving = rows.filter(|row| key(row) == Some(its));
    moving.map(|row| row.calls).sum()
}

/// A file that is opened for fewer calls than this is not kept open.
const CALLS_FOR_EACH_OPEN: u64 = 100;

/// Descriptors with so many calls of fewer than [`t::LINE_BYTES`] on average, most
/// cost first; whether the cost matters is the caller's to decide.
pub(crate) fn find(
    analysis: &Analysis<'_>,
    fits: impl Fn(&Analysis<'_>, u32, i32, bool) -> bool,
) -> Vec<Small> {
    let mut keys: BTreeMap<(u32, i32, bool), (u64, u64)> = BTreeMap::new();
    for row in &analysis.trace.syscalls {
        if let Some((key, writes)) = key(row) {
            let sums = keys.entry((key.0, key.1, writes)).or_default();
            sums.0 += row.calls;
            sums.1 += row.bytes;
        }
    }
    // Made by whom to run what.
    let kin = |pid: u32| {
        let parent = analysis.process(pid).and_then(|process| process.parent);
        (parent, analysis.program_of(pid))
    };
    let mut alike: BTreeMap<_, Vec<(u64, u32)>> = BTreeMap::new();
    for ((pid, fd, writes), (calls, bytes)) in keys {
        if (bytes as f64) < t::LINE_BYTES * calls as f64 && fits(analysis, pid, fd, writes) {
            let kin = alike.entry((kin(pid), fd, writes)).or_default();
            kin.push((calls, pid));
        }
    }
    // Of those that were stopped at, a part; the kernel's counts say how many more there were.
    let least = match analysis.by_stops() {
        true => t::LEAST_SMALL_CALLS / 10,
        false => t::LEAST_SMALL_CALLS,
    };
    let small = |((_, fd, writes), made): (_, Vec<(u64, u32)>)| {
        let all: u64 = made.iter().map(|(calls, _)| calls).sum();
        let (_, pid) = *made.iter().max().filter(|_| all >= least)?;
        let pids: BTreeSet<u32> = made.into_iter().map(|(_, pid)| pid).collect();
        let mut tally = analysis.tally(|row| is_of(row, &pids, fd, writes));
        // What the number was for a moment, as libraries at the start, isn't the thing that is
        // named.
        let strays = pids
            .iter()
            .flat_map(|pid| analysis.descriptors.strays(*pid, fd));
        for stray in strays {
            let flow = match writes {
                true => stray.moved.written,
                false => stray.moved.read,
            };
            tally.calls = tally.calls.saturating_sub(flow.calls);
            tally.bytes = tally.bytes.saturating_sub(flow.bytes);
        }
        let small = Small {
            pid,
            fd,
            writes,
            tally,
            pids,
        };
        small.is_small(analysis).then_some(small)
    };
    let mut found: Vec<Small> = alike.into_iter().filter_map(small).collect();
    found.sort_by(|a, b| b.tally.cost_ns.total_cmp(&a.tally.cost_ns));
    found
}

fn is_of(row: &SyscallRow, pids: &BTreeSet<u32>, fd: i32, writes: bool) -> bool {
    key(row)
        .is_some_and(|((pid, at), is_write)| at == fd && is_write == writes && pids.contains(&pid))
}

fn key(row: &SyscallRow) -> Option<((u32, i32), bool)> {
    let writes = calls::is_write(&row.name);
    let sockets = calls::is_message(&row.name);
    // A message is taken by one call however short it is, but no message is a byte or two on
    // average.
    let bytewise = !writes && row.bytes < t::BYTES_OF_A_MESSAGE * row.calls;
    let moves = (writes || calls::is_read(&row.name)) && (!sockets || bytewise);
    moves.then_some(((row.pid, row.fd?), writes))
}
