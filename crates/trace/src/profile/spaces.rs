//! Tracks which file was mapped where in each process of a tree.

use std::collections::HashMap;
use std::fs;
use std::rc::Rc;

use fathom_stacks::{Files, Mapping};

use super::areas::{Area, Areas};
use crate::perf::record::{Record, What};

/// Maximum number of processes whose mappings are read again after a loss; each takes about 0.1 ms.
const MOST_READ_AGAIN: usize = 64;

/// Maximum number of mappings per process; programs have ten to several hundred.
const MOST_MAPPINGS: usize = 4_096;

/// The mappings of a process at one time; later ones hide earlier ones.
pub(crate) type Mapped = Rc<Vec<Mapping>>;

/// A process of the tree.
#[derive(Clone, Debug)]
struct Space {
    /// The executable mappings; shared with the parent process until one of them changes.
    mapped: Mapped,
    /// All mappings, including non-executable ones if they are recorded.
    areas: Areas,
    /// Number of threads that have not ended.
    threads: usize,
}

impl Space {
    /// Returns a space without mappings.
    fn empty(threads: usize) -> Self {
        Self {
            mapped: Rc::default(),
            areas: Areas::default(),
            threads,
        }
    }
}

/// The current mappings of some processes and their descendants.
#[derive(Debug, Default)]
pub(crate) struct Spaces {
    spaces: HashMap<u32, Space>,
    pub(crate) files: Files,
    /// Number of records for which the buffer had no space.
    pub(super) lost: u64,
}

impl Spaces {
    /// Creates spaces for these processes, which have no mappings, and for the descendants that they create
    /// from now on.
    pub(crate) fn of(roots: &[u32]) -> Self {
        Self {
            spaces: roots.iter().map(|pid| (*pid, Space::empty(1))).collect(),
            ..Self::default()
        }
    }

    /// Adds this running process with its mappings.
    pub(crate) fn attach(&mut self, pid: u32) {
        let tasks = fs::read_dir(format!("/proc/{pid}/task"));
        let threads = tasks.map_or(1, Iterator::count);
        self.spaces.insert(pid, Space::empty(threads));
        read(pid)
            .into_iter()
            .for_each(|what| self.take(&Record { at: 0, what }));
    }

    /// Reads all mappings again after a loss of records, because any lost record may have changed a mapping.
    /// If the mappings of a process can't be read, they are dropped, because no name is better than a wrong
    /// one.
    fn read_again(&mut self) {
        for space in self.spaces.values_mut() {
            *space = Space::empty(space.threads);
        }
        let pids: Vec<u32> = self.spaces.keys().copied().take(MOST_READ_AGAIN).collect();
        for what in pids.into_iter().flat_map(read) {
            self.take(&Record { at: 0, what });
        }
    }

    /// Does the same if only records of non-executable mappings may be missing.
    fn read_areas_again(&mut self) {
        for (at, (pid, space)) in self.spaces.iter_mut().enumerate() {
            space.areas = Areas::default();
            let mapped = (at < MOST_READ_AGAIN).then(|| read(*pid));
            let areas = mapped.into_iter().flatten();
            areas
                .filter_map(|what| area(&what))
                .for_each(|(_, area)| space.areas.add(area));
        }
    }

    /// Returns the object that a thread of this process with this stack pointer touched at an address; see
    /// [`Areas::touched`].
    pub(crate) fn touched(&self, pid: u32, address: u64, stack: Option<u64>) -> Option<String> {
        self.spaces.get(&pid)?.areas.touched(address, stack)
    }

    /// Returns the mappings of a process; `None` if it isn't in the tree.
    pub(crate) fn mapped(&self, pid: u32) -> Option<&Mapped> {
        self.spaces.get(&pid).map(|space| &space.mapped)
    }

    /// Processes the next record. Records of other trees are ignored.
    pub(crate) fn take(&mut self, record: &Record) {
        if let Some((pid, area)) = area(&record.what)
            && let Some(space) = self.spaces.get_mut(&pid)
        {
            space.areas.add(area);
        }
        match &record.what {
            What::Begun { pid, parent, .. } if pid == parent => {
                if let Some(space) = self.spaces.get_mut(pid) {
                    space.threads += 1;
                }
            }
            What::Begun { pid, parent, .. } => match self.spaces.get(parent) {
                Some(space) => {
                    let space = Space {
                        threads: 1,
                        ..space.clone()
                    };
                    self.spaces.insert(*pid, space);
                }
                // The child's id may have belonged to a process of this tree before.
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
                    // The process's other threads are gone.
                    *space = Space::empty(1);
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
                    file: self.files.number(path, *inode, *pid),
                };
                self.map(*pid, mapping);
            }
            What::Lost(records) => {
                self.lost += records;
                self.read_again();
            }
            What::LostData => self.read_areas_again(),
            _ => {}
        }
    }

    fn map(&mut self, pid: u32, mapping: Mapping) {
        let Some(space) = self.spaces.get_mut(&pid) else {
            return;
        };
        let mapped = Rc::make_mut(&mut space.mapped);
        mapped.retain(|under| !is_covered(under, &mapping));
        if mapped.len() < MOST_MAPPINGS {
            mapped.push(mapping);
        }
    }
}

/// Returns whether a mapping lies entirely within another.
fn is_covered(under: &Mapping, over: &Mapping) -> bool {
    let end = |m: &Mapping| m.from.saturating_add(m.length);
    over.from <= under.from && end(under) <= end(over)
}

/// Returns the mapping in a record, and the process that made it.
fn area(what: &What) -> Option<(u32, Area)> {
    let (pid, path, from, length, is_writable, is_executable) = match what {
        What::Mapped {
            pid,
            path,
            from,
            length,
            ..
        } => (pid, path, from, length, false, true),
        What::MappedData {
            pid,
            path,
            from,
            length,
            is_writable,
        } => (pid, path, from, length, *is_writable, false),
        _ => return None,
    };
    let area = Area {
        from: *from,
        length: *length,
        name: path.as_str().into(),
        is_writable,
        is_executable,
    };
    Some((*pid, area))
}

/// Returns the current mappings of a process.
fn read(pid: u32) -> Vec<What> {
    let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    let maps = String::from_utf8_lossy(&maps);
    maps.lines().filter_map(|line| mapping(pid, line)).collect()
}

/// Parses a line of `/proc/PID/maps` into the record that the kernel would have written: `7f12c000-7f12d000
/// r-xp 00001000 08:01 1234    /lib/libc.so.6`.
fn mapping(pid: u32, line: &str) -> Option<What> {
    let mut fields = line.splitn(6, ' ');
    let (from, to) = fields.next()?.split_once('-')?;
    let rights = fields.next()?;
    let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok();
    let offset = hexadecimal(fields.next()?)?;
    let inode = fields.nth(1)?.parse().ok()?;
    let path = fields.next().unwrap_or_default().trim_start();
    let path = if path.is_empty() { "//anon" } else { path }.to_owned();
    let from = hexadecimal(from)?;
    let length = hexadecimal(to)?.checked_sub(from)?;
    Some(match rights.contains('x') {
        true => What::Mapped {
            pid,
            path,
            from,
            length,
            offset,
            inode,
        },
        false => What::MappedData {
            pid,
            path,
            from,
            length,
            is_writable: rights.contains('w'),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_maps_is_a_mapping() {
        let of = |line| mapping(10, line);
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
        let data = |is_writable| What::MappedData {
            pid: 10,
            path: "/lib/b.so".to_owned(),
            from: 0x4000,
            length: 0x1000,
            is_writable,
        };
        let line = "4000-5000 r--p 00001000 08:01 7   /lib/b.so";
        assert_eq!(of(line), Some(data(false)));
        let line = "4000-5000 rw-p 00001000 08:01 7   /lib/b.so";
        assert_eq!(of(line), Some(data(true)));
        let made = of("4000-5000 rwxp 00000000 00:00 0 ");
        assert!(matches!(made, Some(What::Mapped { path, .. }) if path == "//anon"));
        assert_eq!(of("4000 r-xp"), None);
    }
}
