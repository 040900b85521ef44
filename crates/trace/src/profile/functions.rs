//! The functions in which threads were sampled.

use std::collections::BTreeMap;

use fathom_stacks::functions_at;

use super::pc_samples::Place;
use super::{FunctionRow, PcSamples, Profile, spin};

/// Maximum number of rows; the rows beyond it have one sample each.
const MOST_ROWS: usize = 20_000;

/// The process, the thread, the index of the file, and the function.
type Key = (u32, u32, u32, Option<String>);

impl PcSamples {
    /// Returns the functions, by the symbols that their files have now. Stacks of the processes that
    /// `is_ours` accepts go to their pool.
    pub(crate) fn finish(mut self, is_ours: impl Fn(u32) -> bool) -> Profile {
        self.reported_until(u64::MAX);
        let places: Vec<(u32, u64)> = self.places().map(|(it, _)| (it.file, it.offset)).collect();
        self.spaces.files.read_maps(places);
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
            let named = functions_at(files, file, places.iter().map(|(place, _)| place.offset));
            let code = files.code(file);
            for (place, count) in places {
                let function = named.get(&place.offset).cloned();
                let in_file =
                    |code: &[u8]| count >= spin::OFTEN && spin::spins_at(code, place.offset);
                let spins = code.as_deref().is_some_and(in_file)
                    || self.spinning.contains(&(place.pid, place.offset));
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
