//! Which byte of which file was at the address where a thread was seen?

use std::collections::HashMap;
use std::fs;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use crate::perf::record::{Record, What};

/// A place in a thread's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub pid: u32,
    pub tid: u32,
    /// Number of its file; `None` where nothing was known to be mapped.
    pub file: Option<usize>,
    /// Byte of the file, of what is no file the address; 0 of the kernel's own pages.
    pub offset: u64,
}

/// The kernel's name of the page of calls that need no call.
pub(super) const VDSO: &str = "[vdso]";

/// Stands for all bytes of a file, where no more places are kept.
const ANY: u64 = u64::MAX;

/// Places that are kept separately: an hour of 64 CPUs sees as many.
const MOST_PLACES: usize = 1_000_000;

/// Of one process; programs have ten to some hundred.
const MOST_MAPPINGS: usize = 4_096;

/// A file that can be executed in a process.
#[derive(Clone, Copy, Debug)]
struct Mapping {
    from: u64,
    length: u64,
    offset: u64,
    file: usize,
}

impl Mapping {
    fn holds(&self, address: u64) -> bool {
        address
            .checked_sub(self.from)
            .is_some_and(|at| at < self.length)
    }

    /// Whether it lies wholly in another's place.
    fn is_covered_by(&self, over: &Mapping) -> bool {
        let end = |m: &Mapping| m.from.saturating_add(m.length);
        over.from <= self.from && end(self) <= end(over)
    }
}

/// A process of the tree.
#[derive(Clone, Debug)]
struct Space {
    /// Later ones lie over earlier ones. Shared with whom it was made by, until one of them changes
    /// it.
    mapped: Rc<Vec<Mapping>>,
    /// Threads that have not ended.
    threads: usize,
}

/// What was seen of some processes and of all that they make.
#[derive(Debug, Default)]
pub(crate) struct PcSamples {
    spaces: HashMap<u32, Space>,
    /// With their inodes.
    files: Vec<(String, u64)>,
    numbers: HashMap<(String, u64), usize>,
    counts: HashMap<Place, u64>,
    /// CPU time between two of them, ns.
    pub(super) period_ns: u64,
    /// Records that found their buffer full.
    pub(super) lost: u64,
    /// When it began.
    pub(super) since: Option<SystemTime>,
}

impl PcSamples {
    /// At these processes, and at those that they make from now on.
    pub(crate) fn at(roots: &[u32], period: Duration) -> Self {
        let space = |pid: &u32| {
            let space = Space {
                mapped: Rc::default(),
                threads: 1,
            };
            (*pid, space)
        };
        Self {
            spaces: roots.iter().map(space).collect(),
            period_ns: period.as_nanos() as u64,
            since: Some(SystemTime::now()),
            ..Self::default()
        }
    }

    /// At these processes, too, which run already, with what they have mapped; the first of them
    /// began at `since`.
    pub(crate) fn attach(&mut self, pids: impl Iterator<Item = u32>, since: SystemTime) {
        self.since = Some(since);
        for pid in pids {
            let tasks = fs::read_dir(format!("/proc/{pid}/task"));
            let threads = tasks.map_or(1, Iterator::count);
            let mapped = Rc::default();
            self.spaces.insert(pid, Space { mapped, threads });
            let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
            let maps = String::from_utf8_lossy(&maps);
            for what in maps.lines().filter_map(|line| executable(pid, line)) {
                self.take(&Record { at: 0, what });
            }
        }
    }

    /// Takes what happened next. What is not of the tree is passed over.
    pub(crate) fn take(&mut self, record: &Record) {
        match &record.what {
            What::Begun { pid, parent, .. } if pid == parent => {
                if let Some(space) = self.spaces.get_mut(pid) {
                    space.threads += 1;
                }
            }
            What::Begun { pid, parent, .. } => match self.spaces.get(parent) {
                Some(space) => {
                    let mapped = Rc::clone(&space.mapped);
                    self.spaces.insert(*pid, Space { mapped, threads: 1 });
                }
                // Its number may have been that of one of ours.
                None => {
                    self.spaces.remove(pid);
                }
            },
            What::Ended { pid, .. } => {
                if let Some(space) = self.spaces.get_mut(pid) {
                    space.threads = space.threads.saturating_sub(1);
                    if space.threads == 0 {
                        self.spaces.remove(pid);
                    }
                }
            }
            What::Named {
                pid, exec: true, ..
            } => {
                if let Some(space) = self.spaces.get_mut(pid) {
                    // Its other threads are gone.
                    (space.mapped, space.threads) = (Rc::default(), 1);
                }
            }
            What::Mapped {
                pid,
                path,
                from,
                length,
                offset,
                inode,
            } if self.spaces.contains_key(pid) => {
                let mapping = Mapping {
                    from: *from,
                    length: *length,
                    offset: *offset,
                    file: self.number(path, *inode),
                };
                self.map(*pid, mapping);
            }
            What::Sampled { pid, tid, address } => self.saw(*pid, *tid, *address),
            What::Lost(records) => {
                self.lost += records;
                // Any of them may have mapped something else: better no name than a wrong one.
                for space in self.spaces.values_mut() {
                    space.mapped = Rc::default();
                }
            }
            _ => {}
        }
    }

    fn map(&mut self, pid: u32, mapping: Mapping) {
        let Some(space) = self.spaces.get_mut(&pid) else {
            return;
        };
        let mapped = Rc::make_mut(&mut space.mapped);
        mapped.retain(|under| !under.is_covered_by(&mapping));
        if mapped.len() < MOST_MAPPINGS {
            mapped.push(mapping);
        }
    }

    fn number(&mut self, path: &str, inode: u64) -> usize {
        let key = (path.to_owned(), inode);
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        self.files.push(key.clone());
        self.numbers.insert(key, self.files.len() - 1);
        self.files.len() - 1
    }

    fn saw(&mut self, pid: u32, tid: u32, address: u64) {
        let Some(space) = self.spaces.get(&pid) else {
            return;
        };
        let mapping = space.mapped.iter().rev().find(|m| m.holds(address));
        let mut place = Place {
            pid,
            tid,
            file: mapping.map(|m| m.file),
            offset: match mapping {
                Some(m) if self.is_examined(m, address) => {
                    (address - m.from).saturating_add(m.offset)
                }
                Some(m) if !is_made_at_run_time(&self.files[m.file].0) => 0,
                _ => address,
            },
        };
        if self.counts.len() >= MOST_PLACES && !self.counts.contains_key(&place) {
            place.offset = ANY;
        }
        *self.counts.entry(place).or_default() += 1;
    }

    /// Whether functions are known of what is mapped there: of files, and of the page that this
    /// process has too, unless it is that of a 32-bit program.
    fn is_examined(&self, mapping: &Mapping, address: u64) -> bool {
        let name = &self.files[mapping.file].0;
        is_file(name) || name == VDSO && address > u64::from(u32::MAX)
    }

    /// Each place with how often somebody was seen there.
    pub(super) fn places(&self) -> impl Iterator<Item = (&Place, u64)> {
        self.counts.iter().map(|(place, count)| (place, *count))
    }

    /// The name and inode of a file by its number, empty for nothing.
    pub(super) fn file(&self, number: Option<usize>) -> (&str, u64) {
        number.map_or(("", 0), |number| {
            let (name, inode) = &self.files[number];
            (name, *inode)
        })
    }
}

/// A line of `/proc/PID/maps` of what can be executed, as the kernel would have recorded it:
/// `7f12c000-7f12d000 r-xp 00001000 08:01 1234    /lib/libc.so.6`.
fn executable(pid: u32, line: &str) -> Option<What> {
    let mut fields = line.splitn(6, ' ');
    let (from, to) = fields.next()?.split_once('-')?;
    let rights = fields.next()?;
    let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok();
    let offset = hexadecimal(fields.next()?)?;
    let inode = fields.nth(1)?.parse().ok()?;
    let path = fields.next().unwrap_or_default().trim_start();
    let from = hexadecimal(from)?;
    rights.contains('x').then_some(What::Mapped {
        pid,
        path: if path.is_empty() { "//anon" } else { path }.to_owned(),
        from,
        length: hexadecimal(to)?.checked_sub(from)?,
        offset,
        inode,
    })
}

/// See [`FunctionRow::is_made_at_run_time`](super::FunctionRow::is_made_at_run_time).
pub(super) fn is_made_at_run_time(name: &str) -> bool {
    name.is_empty()
        || name == "[heap]"
        || ["//", "[anon", "/memfd:", "/anon_hugepage"]
            .iter()
            .any(|begin| name.starts_with(begin))
}

/// Whether the kernel's name of a mapping is a path: `//anon`, `[vdso]` and what lies only in
/// memory are not.
pub(super) fn is_file(name: &str) -> bool {
    name.starts_with('/')
        && ![
            "//",
            "/memfd:",
            "/dev/",
            "/SYSV",
            "/[aio]",
            "/anon_hugepage",
        ]
        .iter()
        .any(|other| name.starts_with(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(whats: Vec<What>) -> PcSamples {
        let mut samples = PcSamples::at(&[10], Duration::from_millis(1));
        for (at, what) in whats.into_iter().enumerate() {
            let at = at as u64;
            samples.take(&Record { at, what });
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
        }
    }

    /// File, offset and count of each place, sorted.
    fn reported(samples: &PcSamples) -> Vec<(&str, u64, u64)> {
        let places = samples.places();
        let mut reported: Vec<_> = places
            .map(|(place, count)| (samples.file(place.file).0, place.offset, count))
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
        assert_eq!(samples.lost, 3);
    }

    #[test]
    fn a_line_of_the_maps_is_a_mapping_if_it_can_be_executed() {
        let of = |line| executable(10, line);
        let code = "4000-5000 r-xp 00001000 08:01 7                   /lib/a b.so";
        let expected = What::Mapped {
            pid: 10,
            path: "/lib/a b.so".to_owned(),
            from: 0x4000,
            length: 0x1000,
            offset: 0x1000,
            inode: 7,
        };
        assert_eq!(of(code), Some(expected));
        assert_eq!(of("4000-5000 r--p 00001000 08:01 7   /lib/b.so"), None);
        let made = of("4000-5000 rwxp 00000000 00:00 0 ");
        assert!(matches!(made, Some(What::Mapped { path, .. }) if path == "//anon"));
        assert_eq!(of("4000 r-xp"), None);
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
        assert!(reported(&samples).is_empty() && samples.files.is_empty());
    }
}
