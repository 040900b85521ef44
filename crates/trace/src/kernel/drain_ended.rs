//! Moves the rows of ended threads out of the kernel's tables.
//!
//! A build or a shell script creates thousands of short processes with about 25 rows each. Their rows are
//! moved out of the kernel's tables while the command runs, so the tables only have to hold the rows of
//! living threads.

use std::collections::{HashMap, HashSet};
use std::io;

use super::bpf::Map;
use super::layout::pace;
use super::programs::worth_a_pass;
use super::session::Session;
use crate::error::{TraceError, system};
use crate::records::{CallKey, CallTotals, OffTotals, Who};

/// Rows taken from the kernel.
#[derive(Debug)]
pub(super) struct DrainedRows {
    worth_a_pass: u64,
    /// Number of threads that had ended by the last pass.
    taken: u64,
    /// Rows of the call table.
    pub calls: HashMap<CallKey, CallTotals>,
    /// Number of these calls for which the table had no space, and which are reported without a descriptor.
    pub without_descriptor: u64,
    /// Rows of the off-CPU table.
    pub off_cpu: Vec<OffTotals>,
}

impl DrainedRows {
    /// Creates an empty value for tables with `most_rows` rows.
    pub(super) fn new(most_rows: u32) -> Self {
        Self {
            worth_a_pass: worth_a_pass(most_rows),
            taken: 0,
            calls: HashMap::new(),
            without_descriptor: 0,
            off_cpu: Vec::new(),
        }
    }

    /// Takes the rows of ended threads if there are enough of them, and returns whether it did. The caller
    /// must exclude reused thread ids. `so_far` is the number of threads that have ended since the programs
    /// were armed.
    pub(super) fn take_ended(
        &mut self,
        session: &Session,
        ended: &mut HashSet<Who>,
        so_far: u64,
    ) -> Result<bool, TraceError> {
        if so_far - self.taken < self.worth_a_pass {
            return Ok(false);
        }
        let ended = std::mem::take(ended);
        self.take(session, |who| ended.contains(&who), true)?;
        self.taken = so_far;
        let pace = &session.maps.pace;
        let set = pace.set(&pace::TAKEN.to_ne_bytes(), &so_far.to_ne_bytes());
        set.map_err(system(
            "reporting the entries removed from the kernel's tables",
        ))?;
        Ok(true)
    }

    /// Takes all rows.
    pub(super) fn take_all(&mut self, session: &Session) -> Result<(), TraceError> {
        self.take(session, |_| true, false)
    }

    fn take(
        &mut self,
        session: &Session,
        wanted: impl Fn(Who) -> bool,
        delete: bool,
    ) -> Result<(), TraceError> {
        let maps = &session.maps;
        let mut calls = wanted_rows(&maps.calls, &wanted, delete).map_err(reading)?;
        let rest = wanted_rows(&maps.calls_rest, &wanted, delete).map_err(reading)?;
        let totals = rest.iter().filter_map(|(_, row)| CallTotals::decode(row));
        self.without_descriptor += totals.map(|row| row.calls).sum::<u64>();
        calls.extend(rest);
        for (key, row) in calls {
            if let Some((key, row)) = CallKey::decode(&key).zip(CallTotals::decode(&row)) {
                // An id that was used twice has two sets of rows with the same key.
                let sum = self.calls.entry(key).or_default();
                sum.add(&row);
            }
        }
        for (key, row) in wanted_rows(&maps.off_cpu, &wanted, delete).map_err(reading)? {
            self.off_cpu.extend(OffTotals::decode(&key, &row));
        }
        Ok(())
    }
}

fn reading(error: io::Error) -> TraceError {
    system("reading a kernel table")(error)
}

type Rows = Vec<(Vec<u8>, Vec<u8>)>;

/// Returns the rows of a table whose thread is `wanted`. If `delete` is set, removes them from the table. The
/// keys of both tables begin with the thread.
fn wanted_rows(map: &Map, wanted: impl Fn(Who) -> bool, delete: bool) -> io::Result<Rows> {
    let mut rows = map.entries()?;
    rows.retain(|(key, _)| CallKey::decode(key).is_some_and(|k| wanted(k.who)));
    if delete {
        map.remove_all(rows.iter().map(|(key, _)| &key[..]))?;
    }
    Ok(rows)
}
