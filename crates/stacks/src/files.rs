//! The files that processes execute, each once.

use std::collections::HashMap;
use std::fs::{File, Metadata, OpenOptions};
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::SystemTime;

use crate::image::{Bytes, is_native};
use crate::made_name::MadeName;
use crate::perf_map;

/// The kernel's name of the page of calls that need no call.
pub const VDSO: &str = "[vdso]";

/// Number of the file of an address where nothing is known to be mapped.
pub const NOWHERE: u32 = 0;

/// What a file was when it was first seen.
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

/// What is mapped somewhere and may be executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Key {
    name: String,
    inode: u64,
    /// Of code that a process made itself, the process: each has other code there.
    maker: Option<u32>,
}

/// What is mapped executable, by number; number 0 is [`NOWHERE`].
#[derive(Debug)]
pub struct Files {
    files: Vec<(Key, Option<Stamp>)>,
    numbers: HashMap<Key, u32>,
    since: SystemTime,
    /// Numbers of processes as they knew themselves in a namespace of their own.
    inside: HashMap<u32, u32>,
    /// What is at an address of code that a process made.
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
    /// The first of the processes began at this time: before that what bears their number is
    /// another's. Otherwise it is the time at which this was made.
    pub fn begun(&mut self, since: SystemTime) {
        self.since = since;
    }

    /// Processes knew themselves by these numbers, in a namespace of their own.
    pub fn known_inside(&mut self, numbers: HashMap<u32, u32>) {
        self.inside.extend(numbers);
    }

    /// Reads what the processes that made the code at these addresses wrote of it; what they have
    /// written is gone with them, or before.
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

    /// The name of code that a process made, where [`Files::read_maps`] found one.
    pub(crate) fn made(&self, file: u32, address: u64) -> Option<&MadeName> {
        self.made.get(&(file, address))
    }

    /// The number of what the kernel calls `name`, mapped by the process `pid`. The first call for
    /// a file looks at it, so that one that is changed later gives no wrong names.
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

    /// Takes the files of others, and says which numbers theirs have here.
    pub fn absorb(&mut self, others: &Files) -> Vec<u32> {
        self.since = self.since.min(others.since);
        let numbers = others.files.iter();
        let numbers: Vec<u32> = numbers
            .map(|(key, stamp)| match self.numbers.get(key) {
                Some(number) if self.files[*number as usize].1 == *stamp => *number,
                // Also a file that was made anew in the same place from run to run.
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

    /// The kernel's name of a file; empty for [`NOWHERE`].
    pub fn name(&self, number: u32) -> &str {
        let file = self.files.get(number as usize);
        file.map_or("", |(key, _)| &key.name)
    }

    /// Of code that a process made while it ran, the process.
    pub fn maker(&self, number: u32) -> Option<u32> {
        self.files.get(number as usize)?.0.maker
    }

    /// Whether bytes of it are known: of files, and of the page that this process has too.
    pub(crate) fn is_examined(&self, number: u32) -> bool {
        let name = self.name(number);
        is_file(name) || name == VDSO
    }

    /// The bytes of a file, as far as they are what was mapped.
    pub(crate) fn bytes(&self, number: u32) -> Option<Bytes> {
        match self.name(number) {
            VDSO => Bytes::of_vdso(),
            _ => Bytes::of(&self.open(number)?),
        }
    }

    /// The bytes of a file whose code is this machine's, as far as they are what was mapped.
    pub fn code(&self, number: u32) -> Option<impl Deref<Target = [u8]> + use<>> {
        let bytes = self.bytes(number)?;
        let parsed = object::File::parse(&*bytes).ok()?;
        is_native(&parsed).then_some(bytes)
    }

    /// Opens a file; `None` where another one has its place by now, or it was changed, or it is not
    /// in this process's view of the file system.
    pub(crate) fn open(&self, number: u32) -> Option<File> {
        let (key, stamp) = self.files.get(number as usize)?;
        let file = is_file(&key.name).then(|| open(Path::new(&key.name)))??;
        let data = file.metadata().ok()?;
        let same = data.ino() == key.inode && Some(Stamp::of(&data)) == *stamp;
        same.then_some(file)
    }
}

/// Whether the kernel's name of a mapping is one of memory into which a program can have written
/// code.
pub fn is_made_at_run_time(name: &str) -> bool {
    name.is_empty()
        || name == "[heap]"
        || ["//", "[anon", "/memfd:", "/anon_hugepage"]
            .iter()
            .any(|begin| name.starts_with(begin))
}

/// Whether the kernel's name of a mapping is a path: `//anon`, `[vdso]` and what lies only in
/// memory are not.
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

/// Opens a regular file; what is in its place by now must not hold us up.
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
        // Nor by those who take it over later.
        let mut all = Files::default();
        let numbers = all.absorb(&files);
        assert!(all.bytes(numbers[number as usize]).is_none());
        // As it is now it is another one.
        let mut next = Files::default();
        let changed = next.number(name, inode, 1);
        let numbers = all.absorb(&next);
        assert!(all.bytes(numbers[changed as usize]).is_some());
        assert_eq!(all.absorb(&next), numbers);
    }
}
