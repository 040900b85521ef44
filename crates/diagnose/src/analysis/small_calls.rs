//! Finds descriptors that are read or written in small pieces.

use std::collections::BTreeSet;

use fathom_trace::{Cause, OffCpuRow, SyscallRow};

use super::{Analysis, Tally};
use crate::calls;
use crate::descriptors::WaitKind;
use crate::grouping::grouped;
use crate::runtimes::is_name_map;
use crate::thresholds as t;

/// The kind of stream to which the pieces belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PiecesOf {
    /// Standard input, or data from a pipe, a socket or a terminal.
    Input,
    /// The output that the command was given.
    Output,
    /// A file, or possibly a file.
    File,
}

/// Small calls on one descriptor, or on the same descriptor number in several processes that one parent
/// created to run one program.
pub(crate) struct Small {
    pub of: PiecesOf,
    /// The process that made most of the calls.
    pub pid: u32,
    pub fd: i32,
    pub writes: bool,
    pub tally: Tally,
    /// All processes that made these calls.
    pub pids: BTreeSet<u32>,
}

impl Small {
    /// Reports whether the calls are small, and most of them didn't have to wait.
    fn is_small(&self, analysis: &Analysis<'_>) -> bool {
        let (tally, writes) = (&self.tally, self.writes);
        // Sizes 1 to 3 are 1 to 511 bytes; larger calls don't count as small, however many there are.
        let small: u64 = tally.sizes[1..4].iter().sum();
        let moved = tally.bytes_per_call();
        let name = analysis.name_of(self.pid, self.fd);
        if name.is_some_and(|name| is_name_map(&name)) {
            return false;
        }
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

    /// Reports whether a process copies what it reads in blocks of a fixed size, in which case the pieces
    /// aren't lines.
    pub(crate) fn is_copied_in_blocks(&self, analysis: &Analysis<'_>) -> bool {
        let each = self.tally.bytes_per_call();
        if (each - each.round()).abs() * 1e3 > 1.0 || !(each.round() as u64).is_power_of_two() {
            return false;
        }
        let moved = |fd, writes| analysis.tally(|row| key(row) == Some(((self.pid, fd), writes)));
        let (read, written) = (moved(0, false), moved(self.fd, true));
        let alike = |a: u64, b: u64| a.abs_diff(b) * 100 <= a;
        self.writes && alike(read.bytes, written.bytes) && alike(read.calls, written.calls)
    }

    /// Returns the part of the writes that ended a line; `None` if too few were checked.
    pub(crate) fn lines(&self, analysis: &Analysis<'_>) -> Option<f64> {
        let rows = analysis.trace.syscalls.iter();
        let own = rows.filter(|row| self.holds(row));
        let checks = own.filter_map(|row| row.lines);
        let (checked, ended) = checks.fold((0, 0), |(all, lines), more| {
            (all + more.examined, lines + more.ended)
        });
        (checked >= t::LEAST_CHECKED_FOR_LINES).then(|| ended as f64 / checked as f64)
    }
}

/// Returns the number of calls of a row that moved to another position in a file, or that gave a position.
fn moves_about(row: &SyscallRow) -> u64 {
    match row.went_on {
        Some(went_on) => row.calls.saturating_sub(went_on),
        None if row.name == "lseek" => row.calls,
        None => 0,
    }
}

impl Small {
    pub(crate) fn holds(&self, row: &SyscallRow) -> bool {
        is_of(row, &self.pids, self.fd, self.writes)
    }

    /// Reports whether a file other than standard input and output is used as a stream: kept open, and
    /// processed from its beginning to its end.
    pub(crate) fn is_stream_of_file(&self, analysis: &Analysis<'_>) -> bool {
        let &Small { pid, fd, .. } = self;
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
            && opens * CALLS_FOR_EACH_OPEN <= moves(analysis, self, self.writes)
            && !self.is_gone_about(analysis)
    }

    /// Reports whether at least every tenth call goes to another position in the file, or is a write among
    /// reads or a read among writes.
    pub(crate) fn is_gone_about(&self, analysis: &Analysis<'_>) -> bool {
        let rows = analysis.rows_of_process(self.pid);
        let on_it = rows.filter(|row| row.fd == Some(self.fd));
        let elsewhere = on_it.map(moves_about).sum::<u64>() + moves(analysis, self, !self.writes);
        elsewhere * 10 > moves(analysis, self, self.writes)
    }
}

/// Returns the number of calls by its process on its descriptor that read or, if `writes` is set, that write.
fn moves(analysis: &Analysis<'_>, small: &Small, writes: bool) -> u64 {
    let its = ((small.pid, small.fd), writes);
    let rows = analysis.rows_of_process(small.pid);
    let moving = rows.filter(|row| key(row) == Some(its));
    moving.map(|row| row.calls).sum()
}

/// The minimum number of calls per open; with fewer, the file doesn't count as kept open.
const CALLS_FOR_EACH_OPEN: u64 = 100;

impl Analysis<'_> {
    /// Returns descriptors with many calls that move fewer than [`t::LINE_BYTES`] on average, with the most
    /// expensive ones first. The caller decides whether the cost matters.
    pub(crate) fn small_calls(&self) -> &[Small] {
        self.small_calls.get_or_init(|| find(self))
    }

    /// Returns the kind of stream on this descriptor; `None` for devices and the like.
    fn pieces_of(&self, pid: u32, fd: i32, writes: bool) -> Option<PiecesOf> {
        let descriptors = &self.descriptors;
        let (is_input, is_output) = (
            descriptors.is_input(pid, fd),
            descriptors.is_output(pid, fd),
        );
        let comes = || {
            let kind = descriptors.mostly(pid, fd);
            let by = [WaitKind::Pipe, WaitKind::Socket, WaitKind::Terminal];
            is_input || by.contains(&kind)
        };
        // A file that is opened for each call is not the output that the command was given.
        let is_reopened = || descriptors.is_reopened_file(pid, fd);
        if writes && is_output && !is_reopened() {
            return Some(PiecesOf::Output);
        }
        if !writes && comes() {
            return Some(PiecesOf::Input);
        }
        let own = !(is_input || is_output) || is_reopened();
        let may_be_file = [WaitKind::File, WaitKind::Unknown].contains(&descriptors.last(pid, fd));
        (own && may_be_file).then_some(PiecesOf::File)
    }
}

fn find(analysis: &Analysis<'_>) -> Vec<Small> {
    let rows = analysis.trace.syscalls.iter();
    let keys = grouped(rows.filter_map(|row| Some((key(row)?, row))));
    // The parent that created the process, and the program that the process runs.
    let kin = |pid: u32| {
        let parent = analysis.process(pid).and_then(|process| process.parent);
        (parent, analysis.program_of(pid))
    };
    let alike = grouped(keys.into_iter().filter_map(|(((pid, fd), writes), rows)| {
        let calls: u64 = rows.iter().map(|row| row.calls).sum();
        let bytes: u64 = rows.iter().map(|row| row.bytes).sum();
        let is_small = (bytes as f64) < t::LINE_BYTES * calls as f64;
        let of = is_small.then(|| analysis.pieces_of(pid, fd, writes));
        Some(((kin(pid), fd, writes, of.flatten()?), (calls, pid)))
    }));
    // If the run was stopped at calls, only some of them were traced, and the kernel's counts tell how many
    // more there were.
    let least = match analysis.by_stops() {
        true => t::LEAST_SMALL_CALLS / 10,
        false => t::LEAST_SMALL_CALLS,
    };
    let small = |((_, fd, writes, of), made): (_, Vec<(u64, u32)>)| {
        let all: u64 = made.iter().map(|(calls, _)| calls).sum();
        let (_, pid) = *made.iter().max().filter(|_| all >= least)?;
        let pids: BTreeSet<u32> = made.into_iter().map(|(_, pid)| pid).collect();
        let mut tally = analysis.tally(|row| is_of(row, &pids, fd, writes));
        // Short uses of the descriptor number, such as for libraries at startup, don't belong to the named
        // object.
        let descriptors = &analysis.descriptors;
        for stray in pids.iter().flat_map(|pid| descriptors.strays(*pid, fd)) {
            let flow = match writes {
                true => stray.moved.written,
                false => stray.moved.read,
            };
            tally.calls = tally.calls.saturating_sub(flow.calls);
            tally.bytes = tally.bytes.saturating_sub(flow.bytes);
        }
        let small = Small {
            of,
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
    // Receiving a message takes one call however short the message is, but messages are longer than a byte or
    // two on average.
    let bytewise = !writes && row.bytes < t::BYTES_OF_A_MESSAGE * row.calls;
    let moves = (writes || calls::is_read(&row.name)) && (!sockets || bytewise);
    moves.then_some(((row.pid, row.fd?), writes))
}
