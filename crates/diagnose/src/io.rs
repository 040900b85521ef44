//! The table of descriptors: what went through each file, pipe or socket.

use std::collections::BTreeMap;

use fathom_model::IoRow;
use fathom_trace::{Flow, SyscallRow, UseRow};

use crate::analysis::Analysis;
use crate::calls;
use crate::rows::{blocked_of, plus, time_of};
use crate::use_names::name_of_all;

/// If a descriptor was reused, each object that accounts for at least this part of its calls, bytes or time
/// gets its own row.
const PART_OF_ITS_OWN: f64 = 0.05;

/// The maximum number of such rows; the other objects share one row.
const MOST_OF_THEIR_OWN: usize = 6;

/// Calls of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Side {
    /// The traced amounts.
    flow: Flow,
    /// The time in an untraced run, ns; `None` if unknown.
    total_ns: Option<u64>,
    blocked_ns: Option<u64>,
}

impl Side {
    fn add(&mut self, analysis: &Analysis<'_>, row: &SyscallRow) {
        self.flow += Flow {
            calls: row.calls,
            bytes: row.bytes,
            errors: row.errors,
            total_ns: row.total_ns,
            blocked_ns: row.blocked_ns.unwrap_or(0),
        };
        self.total_ns = plus(self.total_ns, time_of(analysis, row));
        self.blocked_ns = plus(self.blocked_ns, blocked_of(analysis, row));
    }

    /// Returns the part that went through one object. It consists of `flow` and of the same share of the
    /// untraced time as `flow` has of the traced time.
    fn part(&self, flow: Flow) -> Self {
        let share = |all: Option<u64>, part: u64, of: u64| {
            all.map(|all| (all as f64 * part as f64 / of.max(1) as f64) as u64)
        };
        Self {
            flow,
            total_ns: share(self.total_ns, flow.total_ns, self.flow.total_ns),
            blocked_ns: share(self.blocked_ns, flow.blocked_ns, self.flow.blocked_ns),
        }
    }

    fn without(&self, part: &Self) -> Self {
        let less = |all: Option<u64>, part: Option<u64>| {
            all.map(|all| all.saturating_sub(part.unwrap_or(0)))
        };
        Self {
            flow: self.flow.since(part.flow),
            total_ns: less(self.total_ns, part.total_ns),
            blocked_ns: less(self.blocked_ns, part.blocked_ns),
        }
    }
}

/// All calls on one descriptor, or on one of its objects.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum {
    read: Side,
    /// Writes, and other calls that move bytes.
    written: Side,
    sought: Side,
}

impl Sum {
    fn add(&mut self, analysis: &Analysis<'_>, row: &SyscallRow) {
        let side = match &row.name {
            name if name == "lseek" => &mut self.sought,
            name if calls::is_read(name) => &mut self.read,
            _ => &mut self.written,
        };
        side.add(analysis, row);
    }

    fn part(&self, one: &UseRow) -> Self {
        Self {
            read: self.read.part(one.moved.read),
            written: self.written.part(one.moved.written),
            sought: self.sought.part(one.moved.sought),
        }
    }

    fn without(&self, part: &Self) -> Self {
        Self {
            read: self.read.without(&part.read),
            written: self.written.without(&part.written),
            sought: self.sought.without(&part.sought),
        }
    }

    fn sides(&self) -> [&Side; 3] {
        [&self.read, &self.written, &self.sought]
    }

    /// Returns the number of calls, the bytes and the time, as traced.
    fn sizes(&self) -> [u64; 3] {
        let sum = |of: fn(&Flow) -> u64| self.sides().iter().map(|side| of(&side.flow)).sum();
        [sum(|f| f.calls), sum(|f| f.bytes), sum(|f| f.total_ns)]
    }

    fn row(&self, pid: u32, fd: i32, name: String) -> IoRow {
        let [read, written, sought] = self.sides();
        let sum = |of: fn(&Side) -> Option<u64>| {
            let sides = self.sides().into_iter().map(of);
            sides.fold(None, plus)
        };
        IoRow {
            pid,
            fd: Some(fd),
            name,
            reads: read.flow.calls,
            read_bytes: read.flow.bytes,
            writes: written.flow.calls,
            written_bytes: written.flow.bytes,
            total_ns: sum(|side| side.total_ns),
            blocked_ns: sum(|side| side.blocked_ns),
            errors: self.sides().iter().map(|side| side.flow.errors).sum(),
            seeks: sought.flow.calls,
        }
    }
}

/// Returns descriptors with the traffic through them, those with the most time first. Listing a folder
/// doesn't count as reading its content: such calls appear among the calls, not here.
///
/// A reused descriptor has one row for each object with a part worth reporting, and one row for all the
/// others.
pub(crate) fn io_rows(analysis: &Analysis<'_>) -> Vec<IoRow> {
    let mut sums: BTreeMap<(u32, i32), Sum> = BTreeMap::new();
    for call in &analysis.trace.syscalls {
        let Some(fd) = call.fd else { continue };
        let moves = calls::is_read(&call.name)
            || calls::is_write(&call.name)
            || call.bytes > 0 && !calls::lists_folder(&call.name);
        if moves || call.name == "lseek" {
            sums.entry((call.pid, fd)).or_default().add(analysis, call);
        }
    }
    let sums = sums.into_iter();
    let mut rows: Vec<IoRow> = sums
        .flat_map(|((pid, fd), sum)| of_descriptor(analysis, pid, fd, sum))
        .collect();
    rows.sort_by_key(|row| {
        let calls = row.reads + row.writes;
        (std::cmp::Reverse((row.total_ns, calls)), row.pid, row.fd)
    });
    rows
}

fn of_descriptor(analysis: &Analysis<'_>, pid: u32, fd: i32, sum: Sum) -> Vec<IoRow> {
    let uses = analysis.descriptors.uses(pid, fd);
    if uses.len() < 2 {
        let name = analysis.descriptors.describe(pid, fd).unwrap_or_default();
        return vec![sum.row(pid, fd, name)];
    }
    let all = sum.sizes();
    let has_part = |one: &&UseRow| {
        let pairs = sum.part(one).sizes().into_iter().zip(all);
        let mut pairs = pairs.filter(|(_, all)| *all > 0);
        pairs.any(|(part, all)| part as f64 >= PART_OF_ITS_OWN * all as f64)
    };
    let (mut own, mut others): (Vec<&UseRow>, Vec<&UseRow>) =
        uses.iter().copied().partition(has_part);
    others.extend(own.drain(MOST_OF_THEIR_OWN.min(own.len())..));
    let mut rest = sum;
    let mut rows = Vec::new();
    for one in own {
        let part = sum.part(one);
        rest = rest.without(&part);
        rows.push(part.row(pid, fd, one.name.to_string()));
    }
    let [calls, bytes, _] = rest.sizes();
    if calls + bytes == 0 {
        return rows;
    }
    let of_others: u64 = others.iter().map(|one| one.moved.calls()).sum();
    let last = || {
        analysis
            .descriptors
            .names(pid, fd)
            .last()
            .map(std::string::ToString::to_string)
    };
    let name = match of_others * 2 >= calls {
        true => name_of_all(&others),
        // Most of the calls aren't split by object.
        false => last(),
    };
    rows.push(rest.row(pid, fd, name.unwrap_or_default()));
    rows
}

#[cfg(test)]
mod tests {
    use fathom_trace::Moved;

    use super::*;
    use crate::fake::Fake;

    fn read(fd: i32, name: &str, calls: u64, bytes: u64) -> UseRow {
        let read = Flow {
            calls,
            bytes,
            total_ns: calls * 1000,
            ..Flow::default()
        };
        UseRow {
            pid: 100,
            fd,
            name: name.into(),
            moved: Moved {
                read,
                ..Moved::default()
            },
        }
    }

    fn rows(fake: &Fake) -> Vec<(String, u64, u64)> {
        let observation = fake.observation(&[]);
        let rows = io_rows(&Analysis::new(&observation));
        let reported = |row: IoRow| (row.name, row.reads, row.read_bytes);
        rows.into_iter().map(reported).collect()
    }

    #[test]
    fn what_a_number_was_for_a_moment_is_distinguished_from_what_was_read_for_long() {
        let mut fake = Fake::new(1000);
        fake.calls("read", Some(3), 1_000_003, 1, 200).bytes = 1_002_496;
        fake.trace.uses = vec![
            read(3, "/dev/zero", 1_000_000, 1_000_000),
            read(3, "/lib/libc.so.6", 3, 2_496),
        ];
        let reported = rows(&fake);
        let wanted = [
            ("/dev/zero", 1_000_000, 1_000_000),
            ("/lib/libc.so.6", 3, 2_496),
        ];
        let wanted = wanted.map(|(name, calls, bytes)| (name.to_owned(), calls, bytes));
        assert_eq!(reported, wanted);
        let found = fake.findings();
        let reported = &found[0].statement;
        assert!(
            reported.starts_with("1,000,000 reads of /dev/zero"),
            "{reported}"
        );
    }

    #[test]
    fn files_by_turns_have_a_row_each_and_many_share_one() {
        let mut fake = Fake::new(1000);
        fake.calls("read", Some(3), 6_000, 100, 1000);
        let uses = |many: u64| {
            (0..many).map(move |i| read(3, &format!("/data/{i}"), 6_000 / many, 600_000 / many))
        };
        fake.trace.uses = uses(2).collect();
        let reported = rows(&fake);
        assert_eq!(reported.len(), 2);
        assert!(reported.iter().all(|row| row.1 == 3_000), "{reported:?}");
        fake.trace.uses = uses(60).collect();
        let reported = rows(&fake);
        assert_eq!(reported[0].0, "60 files under /data, e.g. /data/0");
        assert_eq!((reported.len(), reported[0].1), (1, 6_000));
    }

    #[test]
    fn calls_that_no_use_is_known_of_have_the_last_name() {
        let mut fake = Fake::new(1000);
        fake.descriptor(3, "socket to 127.0.0.1:80");
        fake.calls("read", Some(3), 5, 100, 1000);
        fake.calls("recvfrom", Some(3), 1_000, 100, 1000);
        fake.trace.uses = vec![read(3, "/etc/hosts", 4, 400), read(3, "pipe", 1, 100)];
        let reported = rows(&fake);
        assert_eq!(reported[0].0, "socket to 127.0.0.1:80");
    }
}
