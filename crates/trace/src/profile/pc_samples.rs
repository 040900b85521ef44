//! Finds the file and the offset of the address where a thread was sampled.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime};

use fathom_stacks::{Mapping, NOWHERE, VDSO, is_file, is_made_at_run_time};

use super::spaces::Spaces;
use super::spin;
use crate::perf::record::{Record, What};
use crate::stacks::{RawStack, StackCollector, StackPool};

/// A position in a thread's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub pid: u32,
    pub tid: u32,
    /// Index of its file; 0 if nothing was known to be mapped.
    pub file: u32,
    /// Offset in the file, or the address if it isn't a file; 0 for the kernel's own pages.
    pub offset: u64,
}

/// Offset that represents all bytes of a file, used when no more positions are kept.
const ANY: u64 = u64::MAX;

/// Maximum number of separate positions; an hour on 64 CPUs can produce this many.
const MOST_PLACES: usize = 1_000_000;

/// Samples of some processes and their descendants.
#[derive(Debug, Default)]
pub(crate) struct PcSamples {
    pub(super) spaces: Spaces,
    counts: HashMap<Place, u64>,
    /// Process and address of instructions in loops that wait for another thread, in code made at run time.
    pub(super) spinning: HashSet<(u32, u64)>,
    /// Stacks of the samples, and stacks copied by others; `None` if they are not wanted.
    pub(super) stacks: Option<StackCollector>,
    /// CPU time between two samples, ns.
    pub(super) period_ns: u64,
}

impl PcSamples {
    /// Creates a collector for these processes and the descendants that they create from now on.
    pub(crate) fn at(roots: &[u32], period: Duration) -> Self {
        Self {
            spaces: Spaces::of(roots),
            period_ns: period.as_nanos() as u64,
            ..Self::default()
        }
    }

    /// Also collects stacks for this pool.
    pub(crate) fn with_stacks(self, pool: Option<StackPool>) -> Self {
        Self {
            stacks: pool.map(StackCollector::new),
            ..self
        }
    }

    /// Returns the collector for stacks copied by others; `None` if stacks are not wanted.
    pub(crate) fn stacks(&mut self) -> Option<&mut StackCollector> {
        self.stacks.as_mut()
    }

    /// Adds these running processes with their current mappings; the first of them began at `since`.
    pub(crate) fn attach(&mut self, pids: impl Iterator<Item = u32>, since: SystemTime) {
        self.spaces.files.begun(since);
        pids.for_each(|pid| self.spaces.attach(pid));
    }

    /// Processes the next record. Records of other trees are ignored.
    pub(crate) fn take(&mut self, record: &mut Record) {
        self.reported_until(record.at);
        match &mut record.what {
            What::Sampled {
                pid,
                tid,
                address,
                stack,
            } => {
                let stack = stack.take();
                self.saw(*pid, *tid, *address);
                if let (Some(stacks), Some(stack)) = (&mut self.stacks, stack) {
                    let taken = RawStack::of_own_code((*pid, *tid), self.period_ns, *stack);
                    stacks.place(taken, &self.spaces);
                }
            }
            _ => self.spaces.take(record),
        }
    }

    /// Notes that all mappings before this time have been processed.
    pub(crate) fn reported_until(&mut self, at: u64) {
        if let Some(stacks) = &mut self.stacks {
            stacks.place_until(at, &self.spaces);
        }
    }

    fn saw(&mut self, pid: u32, tid: u32, address: u64) {
        let Some(mapped) = self.spaces.mapped(pid) else {
            return;
        };
        let mapping = mapped.iter().rev().find(|m| m.holds(address));
        let mut place = Place {
            pid,
            tid,
            file: mapping.map_or(NOWHERE, |m| m.file),
            offset: match mapping {
                Some(m) if self.is_examined(m, address) => {
                    (address - m.from).saturating_add(m.offset)
                }
                Some(m) if !is_made_at_run_time(self.spaces.files.name(m.file)) => 0,
                _ => address,
            },
        };
        if self.counts.len() >= MOST_PLACES && !self.counts.contains_key(&place) {
            place.offset = ANY;
        }
        let count = self.counts.entry(place).or_default();
        *count += 1;
        // Code made at run time is in no file, and only there until the process ends.
        if *count == spin::OFTEN
            && let Some(mapping) = mapping
            && is_made_at_run_time(self.spaces.files.name(mapping.file))
            && spin::spins_in(pid, address, mapping)
        {
            self.spinning.insert((pid, address));
        }
    }

    /// Returns whether functions are known for this mapping. They are for files, and for the kernel's page of
    /// functions (`[vdso]`), which this process has too, except in a 32-bit program.
    fn is_examined(&self, mapping: &Mapping, address: u64) -> bool {
        let name = self.spaces.files.name(mapping.file);
        is_file(name) || name == VDSO && address > u64::from(u32::MAX)
    }

    /// Returns each position with its number of samples.
    pub(super) fn places(&self) -> impl Iterator<Item = (&Place, u64)> {
        self.counts.iter().map(|(place, count)| (place, *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(whats: Vec<What>) -> PcSamples {
        let mut samples = PcSamples::at(&[10], Duration::from_millis(1));
        for (at, what) in whats.into_iter().enumerate() {
            let at = at as u64;
            samples.take(&mut Record { at, what });
        }
        samples
    }

    fn mapped(pid: u32, path: &str, from: u64, offset: u64) -> What {
        What::Mapped {
            pid,
            path: path.to_owned(),
            from,
            length: 0x1000,
            offset,
            inode: 7,
        }
    }

    fn sampled(pid: u32, address: u64) -> What {
        What::Sampled {
            pid,
            tid: pid,
            address,
            stack: None,
        }
    }

    /// Returns the file, the offset and the count of each position, sorted.
    fn reported(samples: &PcSamples) -> Vec<(&str, u64, u64)> {
        let places = samples.places();
        let mut reported: Vec<_> = places
            .map(|(place, count)| (samples.spaces.files.name(place.file), place.offset, count))
            .collect();
        reported.sort_unstable();
        reported
    }

    #[test]
    fn an_address_is_a_byte_of_the_file_that_was_mapped_there_last() {
        let samples = samples(vec![
            mapped(10, "/bin/a", 0x4000, 0x1000),
            sampled(10, 0x4010),
            sampled(10, 0x4010),
            mapped(10, "/lib/b", 0x4000, 0),
            sampled(10, 0x4010),
            sampled(10, 0x9000),
            mapped(10, "[vdso]", 0x7000, 0),
            sampled(10, 0x7abc),
        ]);
        let expected = [
            ("", 0x9000, 1),
            ("/bin/a", 0x1010, 2),
            ("/lib/b", 0x10, 1),
            ("[vdso]", 0, 1),
        ];
        assert_eq!(reported(&samples), expected);
    }

    #[test]
    fn children_have_what_their_parent_had_until_they_execute() {
        let begun = What::Begun {
            pid: 11,
            tid: 11,
            parent: 10,
        };
        let executes = What::Named {
            pid: 11,
            tid: 11,
            name: "b".to_owned(),
            exec: true,
        };
        let samples = samples(vec![
            mapped(10, "/bin/a", 0x4000, 0),
            begun,
            sampled(11, 0x4001),
            executes,
            sampled(11, 0x4001),
        ]);
        assert_eq!(reported(&samples), [("", 0x4001, 1), ("/bin/a", 1, 1)]);
    }

    #[test]
    fn a_number_that_another_program_has_by_now_is_not_ours() {
        let begun = |pid, parent| What::Begun {
            pid,
            tid: pid,
            parent,
        };
        let samples = samples(vec![
            mapped(10, "/bin/a", 0x4000, 0),
            begun(11, 10),
            sampled(11, 0x4001),
            What::Ended { pid: 11, tid: 11 },
            sampled(11, 0x4001),
            begun(11, 99),
            sampled(11, 0x4001),
        ]);
        assert_eq!(reported(&samples), [("/bin/a", 1, 1)]);
    }

    #[test]
    fn after_a_loss_there_is_no_name_until_something_is_mapped() {
        let samples = samples(vec![
            mapped(10, "/bin/a", 0x4000, 0),
            What::Lost(3),
            sampled(10, 0x4001),
            mapped(10, "/bin/b", 0x4000, 0),
            sampled(10, 0x4001),
        ]);
        assert_eq!(reported(&samples), [("", 0x4001, 1), ("/bin/b", 1, 1)]);
        assert_eq!(samples.spaces.lost, 3);
    }

    #[test]
    fn what_runs_already_is_sampled_with_what_it_has_mapped() {
        let own = std::process::id();
        let mut samples = PcSamples::at(&[], Duration::from_millis(1));
        samples.attach([own].into_iter(), SystemTime::now());
        let address = what_runs_already_is_sampled_with_what_it_has_mapped as *const () as u64;
        samples.saw(own, own, address);
        let (file, ..) = reported(&samples)[0];
        let exe = std::env::current_exe().expect("it has a file");
        assert_eq!(file, exe.to_str().expect("it has a name"));
    }

    #[test]
    fn other_programs_are_not_sampled() {
        let begun = What::Begun {
            pid: 31,
            tid: 31,
            parent: 30,
        };
        let samples = samples(vec![
            mapped(30, "/bin/secret", 0x4000, 0),
            begun,
            sampled(30, 0x4000),
            sampled(31, 0x4000),
        ]);
        assert!(reported(&samples).is_empty());
    }
}
