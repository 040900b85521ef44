//! Finds threads that do nothing but check for paths until they exist.

use crate::mechanisms::prelude::*;

/// The path doesn't exist.
pub(crate) const ENOENT: i32 = 2;

/// Lookups, all with the same kind of call, of paths that a process of the tree later opened or created.
#[derive(Debug, Default)]
pub(crate) struct Awaited<'a> {
    /// The number of lookups that didn't find the path.
    pub calls: u64,
    /// The paths.
    pub paths: Vec<&'a str>,
    /// For each path, its index and the time from its first lookup until it was opened or created, in ns.
    spans: Vec<(u32, u64, u64)>,
}

impl Awaited<'_> {
    /// Returns how long at least one of the paths was being checked for, in ns of the traced run.
    pub(crate) fn ns(&self) -> u64 {
        covered_ns(&self.spans)
    }
}

/// Returns the paths for which threads do nothing but poll, by thread and call.
pub(crate) fn awaited<'a>(analysis: &Analysis<'a>) -> BTreeMap<(u32, &'a str), Awaited<'a>> {
    let lookups = analysis.trace.failed_lookups.iter();
    let often = |row: &&LookupRow| row.errno == ENOENT && row.calls >= t::LOOKUPS_OF_A_WAIT;
    let mut often = lookups.filter(often).peekable();
    if often.peek().is_none() {
        return BTreeMap::new();
    }
    let mut opened: HashMap<&str, Vec<u64>> = HashMap::new();
    for file in analysis.trace.files.iter().filter(|file| file.opens > 0) {
        if let Some(path) = file.name.path() {
            opened.entry(path).or_default().push(file.first_ns);
        }
    }
    let until = |row: &LookupRow| {
        let times = opened.get(row.path.as_str())?.iter();
        times.copied().filter(|at| *at > row.first_ns).min()
    };
    let mut by_call: BTreeMap<&str, Awaited<'a>> = BTreeMap::new();
    for row in often {
        let Some(until) = until(row) else { continue };
        let all = by_call.entry(row.call.as_str()).or_default();
        all.calls += row.calls;
        all.spans
            .push((all.spans.len() as u32, row.first_ns, until));
        all.paths.push(&row.path);
    }
    let by_call = by_call.into_iter();
    let found =
        by_call.filter_map(|(call, all)| Some(((who_asks(analysis, call, all.calls)?, call), all)));
    found.collect()
}

/// Returns the thread that does hardly anything except make `lookups` unsuccessful calls of this kind. It
/// must be inferred, because the trace doesn't say which thread made the lookups.
fn who_asks(analysis: &Analysis<'_>, call: &str, lookups: u64) -> Option<u32> {
    if lookups < t::MANY_POLLS {
        return None;
    }
    let nearly = |part: u64, all: u64| part as f64 >= t::PART_OF_EVENTS * all as f64;
    let asks = |row: &&SyscallRow| {
        row.name == call && nearly(lookups, row.errors) && nearly(row.errors, lookups)
    };
    let all_of = |tid| analysis.rows_of(tid).map(|row| row.calls).sum();
    let mut rows = analysis.trace.syscalls.iter().filter(asks);
    Some(rows.find(|row| nearly(row.errors, all_of(row.tid)))?.tid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, ROOT};

    /// Returns the result for a thread that checks for `/spool/done` `misses` times, while files of that name
    /// are opened at these times, in ms.
    fn asked(misses: u64, others: u64, opened: &[u64]) -> Vec<(u32, u64, u64)> {
        let mut fake = Fake::new(1000);
        fake.calls("access", None, misses + 1, 0, 2_000).errors = misses;
        fake.calls("read", Some(3), others, 100, 2_000);
        fake.misses("access", "/spool/done", misses);
        fake.trace.failed_lookups[0].first_ns = 100_000_000;
        for ms in opened {
            fake.file("/spool/done", 1, 0, 0, 0);
            let file = fake.trace.files.last_mut().expect("just made");
            file.first_ns = ms * 1_000_000;
        }
        let timed = [];
        let observation = fake.observation(&timed);
        let found = awaited(&Analysis::new(&observation)).into_iter();
        let reported = found.map(|((tid, _), it)| (tid, it.calls, it.ns() / 1_000_000));
        reported.collect()
    }

    #[test]
    fn a_path_is_awaited_from_the_first_lookup_until_somebody_opens_it() {
        assert_eq!(asked(300_000, 10, &[900, 400]), [(ROOT, 300_000, 300)]);
        assert!(asked(300_000, 10, &[50]).is_empty(), "it was there before");
        assert!(asked(300_000, 10, &[]).is_empty(), "it never is");
        assert!(asked(2_000, 10, &[400]).is_empty(), "a few");
    }

    #[test]
    fn who_does_other_things_in_between_does_not_wait() {
        assert!(asked(300_000, 200_000, &[400]).is_empty());
    }

    #[test]
    fn times_that_overlap_count_once() {
        let spans = vec![(0, 5, 9), (1, 0, 6), (2, 20, 21)];
        let awaited = Awaited {
            spans,
            ..Awaited::default()
        };
        assert_eq!(awaited.ns(), 10);
    }
}
