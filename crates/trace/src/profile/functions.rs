//! Which functions were the threads in?

use std::collections::{BTreeMap, HashMap};

use super::elf::Elf;
use fathom_stacks::{VDSO, is_file, is_made_at_run_time};

use super::pc_samples::Place;
use super::{FunctionRow, PcSamples, Profile, perf_map};

/// Who spins is seen at the same few instructions again and again.
const OFTEN: u64 = 5;

/// Rows that are kept: what is below is a sample each.
const MOST_ROWS: usize = 20_000;

/// Process, thread, number of the file, and function.
type Key = (u32, u32, u32, Option<String>);

impl PcSamples {
    /// Names of what programs made themselves, by process and address, as far as they wrote them
    /// down.
    fn made_at_run_time(&self, places: &[(Place, u64)]) -> HashMap<u32, HashMap<u64, String>> {
        let mut addresses: HashMap<u32, Vec<u64>> = HashMap::new();
        for (place, _) in places {
            addresses.entry(place.pid).or_default().push(place.offset);
        }
        let Some(since) = self.since else {
            return HashMap::new();
        };
        let named = addresses.into_iter();
        named
            .map(|(pid, addresses)| (pid, perf_map::functions_at(pid, &addresses, since)))
            .collect()
    }

    /// The functions by the symbols of their files as they are now. Stacks of the processes that
    /// `is_ours` accepts go to their pool.
    pub(crate) fn finish(mut self, is_ours: impl Fn(u32) -> bool) -> Profile {
        self.reported_until(u64::MAX);
        if let Some(stacks) = self.stacks.take() {
            stacks.finish(&self.spaces.files, is_ours);
        }
        self.profile()
    }

    fn profile(&self) -> Profile {
        let mut by_file: BTreeMap<u32, Vec<(Place, u64)>> = BTreeMap::new();
        for (place, count) in self.places() {
            by_file.entry(place.file).or_default().push((*place, count));
        }
        let mut rows: BTreeMap<Key, (u64, u64)> = BTreeMap::new();
        for (file, places) in by_file {
            let files = &self.spaces.files;
            let (name, inode) = (files.name(file), files.inode(file));
            let elf = match VDSO == name {
                true => Elf::of_vdso(),
                false => is_file(name).then(|| Elf::open(name, inode)).flatten(),
            };
            let offsets: Vec<u64> = places.iter().map(|(place, _)| place.offset).collect();
            let named = match &elf {
                Some(elf) => elf.functions_at(&offsets),
                None => HashMap::new(),
            };
            let made = match is_made_at_run_time(name) {
                true => self.made_at_run_time(&places),
                false => HashMap::new(),
            };
            for (place, count) in places {
                let of_process = || made.get(&place.pid)?.get(&place.offset);
                let function = named.get(&place.offset).or_else(of_process).cloned();
                let spins =
                    count >= OFTEN && elf.as_ref().is_some_and(|elf| elf.spins_at(place.offset));
                let row = rows.entry((place.pid, place.tid, file, function));
                let row = row.or_default();
                row.0 += count;
                row.1 += count * u64::from(spins);
            }
        }
        let row = |((pid, tid, file, function), (samples, spins))| FunctionRow {
            pid,
            tid,
            file: self.spaces.files.name(file).to_owned(),
            function,
            samples,
            spins,
        };
        let mut functions: Vec<FunctionRow> = rows.into_iter().map(row).collect();
        functions.sort_by_key(|row| std::cmp::Reverse(row.samples));
        functions.truncate(MOST_ROWS);
        Profile {
            period_ns: self.period_ns,
            lost: self.spaces.lost,
            functions,
        }
    }
}
