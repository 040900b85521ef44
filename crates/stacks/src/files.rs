//! The files that processes execute, each stored once.

use std::collections::HashMap;
use std::fs::{File, Metadata, OpenOptions};
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::SystemTime;

use crate::image::{Bytes, is_native};
use crate::made_name::MadeName;
use crate::perf_map;

/// The kernel's name of the page with calls that don't enter the kernel.
pub const VDSO: &str = "[vdso]";

/// The number for addresses at which no mapping is known.
pub const NOWHERE: u32 = 0;

/// The state of a file when it was first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(data: &Metadata) -> Self {
        Self {
            bytes: data.len(),
            modified: (data.mtime(), data.mtime_nsec()),
        }
    }
}

/// An executable mapping.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Key {
    name: String,
    inode: u64,
    /// For generated code, the process that generated it. Different processes have different code at the same
    /// address.
    maker: Option<u32>,
}

/// Executable mappings by number; number 0 is [`NOWHERE`].
#[derive(Debug)]
pub struct Files {
    files: Vec<(Key, Option<Stamp>)>,
    numbers: HashMap<Key, u32>,
    since: SystemTime,
    /// The IDs of processes inside their own PID namespaces.
    inside: HashMap<u32, u32>,
    /// Names of generated code, by file number and address.
    made: HashMap<(u32, u64), MadeName>,
}

impl Default for Files {
    fn default() -> Self {
        Self {
            files: vec![(Key::default(), None)],
            numbers: HashMap::from([(Key::default(), NOWHERE)]),
            since: SystemTime::now(),
            inside: HashMap::new(),
            made: HashMap::new(),
        }
    }
}

impl Files {
    /// Sets the time at which the first process started; a map written before that belongs to an earlier
    /// process with the same ID. By default it is the time at which this value was created.
    pub fn begun(&mut self, since: SystemTime) {
        self.since = since;
    }

    /// Adds the IDs of processes inside their own PID namespaces.
    pub fn known_inside(&mut self, numbers: HashMap<u32, u32>) {
        self.inside.extend(numbers);
    }

    /// Reads the maps written by the processes that generated the code at these addresses. A map may vanish
    /// when its process ends, or earlier.
    pub fn read_maps(&mut self, places: impl IntoIterator<Item = (u32, u64)>) {
        let mut by_maker: HashMap<u32, Vec<(u32, u64)>> = HashMap::new();
        for (file, address) in places {
            let is_known = self.made.contains_key(&(file, address));
            if let Some(maker) = self.maker(file).filter(|_| !is_known) {
                by_maker.entry(maker).or_default().push((file, address));
            }
        }
        for (maker, places) in by_maker {
            let addresses: Vec<u64> = places.iter().map(|(_, address)| *address).collect();
            let names = perf_map::names_at(
                maker,
                self.inside.get(&maker).copied(),
                &addresses,
                self.since,
            );
            let named = places.into_iter();
            let named = named.filter_map(|place| Some((place, names.get(&place.1)?.clone())));
            self.made.extend(named);
        }
    }

    /// Adds the name of a method that is interpreted. It gets a place of its own, at the method's address.
    pub fn know_method(&mut self, file: u32, method: u64, name: &str) {
        let made = self.made.entry((file, method));
        made.or_insert_with(|| MadeName::of_method(name));
    }

    /// Returns the name of generated code, if [`Files::read_maps`] found one.
    pub(crate) fn made(&self, file: u32, address: u64) -> Option<&MadeName> {
        self.made.get(&(file, address))
    }

    /// Returns the number of the mapping that the kernel calls `name` in process `pid`. The first call for a
    /// file records its state: if the file changes later, it gives no names rather than wrong ones.
    pub fn number(&mut self, name: &str, inode: u64, pid: u32) -> u32 {
        let key = Key {
            name: name.to_owned(),
            inode,
            maker: (!name.is_empty() && is_made_at_run_time(name)).then_some(pid),
        };
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let data = is_file(name).then(|| std::fs::metadata(name).ok());
        let stamp = data.flatten().map(|data| Stamp::of(&data));
        self.add(key, stamp)
    }

    fn add(&mut self, key: Key, stamp: Option<Stamp>) -> u32 {
        let number = self.files.len() as u32;
        self.files.push((key.clone(), stamp));
        self.numbers.insert(key, number);
        number
    }

    /// Adds the files of `others`, and returns the numbers that they get here.
    pub fn absorb(&mut self, others: &Files) -> Vec<u32> {
        self.since = self.since.min(others.since);
        let numbers = others.files.iter();
        let numbers: Vec<u32> = numbers
            .map(|(key, stamp)| match self.numbers.get(key) {
                Some(number) if self.files[*number as usize].1 == *stamp => *number,
                // This includes a file that was recreated at the same path between runs.
                _ => self.add(key.clone(), *stamp),
            })
            .collect();
        let made = others.made.iter();
        self.made.extend(made.map(|((file, address), name)| {
            let number = numbers.get(*file as usize).copied().unwrap_or(NOWHERE);
            ((number, *address), name.clone())
        }));
        numbers
    }

    /// Returns the kernel's name of a file; empty for [`NOWHERE`].
    pub fn name(&self, number: u32) -> &str {
        let file = self.files.get(number as usize);
        file.map_or("", |(key, _)| &key.name)
    }

    /// Returns the process that generated the code, for code generated at run time.
    pub fn maker(&self, number: u32) -> Option<u32> {
        self.files.get(number as usize)?.0.maker
    }

    /// Returns whether the bytes of a mapping can be read. This is true for files, and for the vDSO page,
    /// which this process also has.
    pub(crate) fn is_examined(&self, number: u32) -> bool {
        let name = self.name(number);
        is_file(name) || name == VDSO
    }

    /// Returns the bytes of a file, if it still is what was mapped.
    pub(crate) fn bytes(&self, number: u32) -> Option<Bytes> {
        match self.name(number) {
            VDSO => Bytes::of_vdso(),
            _ => Bytes::of(&self.open(number)?),
        }
    }

    /// Returns the bytes of a file with code for this machine, if it still is what was mapped.
    pub fn code(&self, number: u32) -> Option<impl Deref<Target = [u8]> + use<>> {
        let bytes = self.bytes(number)?;
        let parsed = object::File::parse(&*bytes).ok()?;
        is_native(&parsed).then_some(bytes)
    }

    /// Opens a file; `None` if it was replaced or changed meanwhile, or isn't in this process's view of the
    /// file system.
    pub(crate) fn open(&self, number: u32) -> Option<File> {
        let (key, stamp) = self.files.get(number as usize)?;
        let file = is_file(&key.name).then(|| open(Path::new(&key.name)))??;
        let data = file.metadata().ok()?;
        let same = data.ino() == key.inode && Some(Stamp::of(&data)) == *stamp;
        same.then_some(file)
    }
}

/// Returns whether the kernel's name of a mapping is one for memory into which a program can have written
/// code.
pub fn is_made_at_run_time(name: &str) -> bool {
    name.is_empty()
        || name == "[heap]"
        || ["//", "[anon", "/memfd:", "/anon_hugepage"]
            .iter()
            .any(|begin| name.starts_with(begin))
}

/// Returns whether the kernel's name of a mapping is a path, rather than `//anon`, `[vdso]` or the name of a
/// mapping that exists only in memory.
pub fn is_file(name: &str) -> bool {
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

/// Opens a regular file, without blocking on any other object in its place.
pub(crate) fn open(path: &Path) -> Option<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_since_it_was_first_seen_is_not_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program");
        let name = path.to_str().expect("text");
        std::fs::write(&path, "first").expect("written");
        let inode = path.metadata().expect("it is there").ino();
        let mut files = Files::default();
        let number = files.number(name, inode, 1);
        let other = files.number(name, inode + 1, 1);
        assert_eq!(files.number(name, inode, 2), number);
        assert!(files.bytes(number).is_some() && files.bytes(other).is_none());
        std::fs::write(&path, "second, longer").expect("written");
        assert!(files.bytes(number).is_none());
        // The changed file isn't read after it was absorbed either.
        let mut all = Files::default();
        let numbers = all.absorb(&files);
        assert!(all.bytes(numbers[number as usize]).is_none());
        // In its current state, it counts as a different file.
        let mut next = Files::default();
        let changed = next.number(name, inode, 1);
        let numbers = all.absorb(&next);
        assert!(all.bytes(numbers[changed as usize]).is_some());
        assert_eq!(all.absorb(&next), numbers);
    }
}
