//! Ensures that the name maps that a runtime writes to `/tmp` on request go to the right place and are
//! removed afterwards.
//!
//! The path of a process's map is predictable, so another user may have put a link there. The map of the
//! command's own process is therefore created before the command starts, as a file that no other user can
//! replace. It is removed when the value of this module is dropped. If the tracer is killed, a separate
//! process, which sleeps until then, removes the map. That process is notified when a process of the tree is
//! first seen, so that the maps of all of them are removed too.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use fathom_stacks::{map_of, number_inside};

use crate::close_from::close_from;
use crate::spawn::pipe;

/// Name maps of one observed run.
#[derive(Debug)]
pub struct NameMaps {
    since: SystemTime,
    /// Processes whose map was created here.
    of: Mutex<Vec<u32>>,
    /// Other processes of the tree, each with its id in its own process namespace. The map of such a process
    /// belongs to this run if it was created after the run's start.
    tree: Mutex<Vec<(u32, u32)>>,
    janitor: i32,
    orders: File,
}

impl NameMaps {
    /// Starts the process that removes the maps if the tracer is killed.
    ///
    /// # Errors
    /// If no process can be created.
    pub fn begin() -> io::Result<Self> {
        let (read, write) = pipe()?;
        let since = SystemTime::now();
        let seconds = since.duration_since(SystemTime::UNIX_EPOCH);
        let seconds = seconds.map_or(0, |since| since.as_secs() as i64);
        // SAFETY: the child calls only async-signal-safe functions.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: this runs in the forked child.
            0 => unsafe { wait_for_the_end(read.as_raw_fd(), seconds) },
            janitor => Ok(Self {
                since,
                of: Mutex::default(),
                tree: Mutex::default(),
                janitor,
                orders: write.into(),
            }),
        }
    }

    /// Creates the map of a process that hasn't opened it yet.
    ///
    /// # Errors
    /// If there is a link or another user's file in its place.
    pub fn make(&self, pid: u32) -> io::Result<()> {
        let path = map_of(pid);
        let mut options = OpenOptions::new();
        // Create it only if nothing exists there, not even a link.
        options.write(true).create_new(true).mode(0o600);
        let made = options.open(&path).or_else(|error| {
            match error.kind() == io::ErrorKind::AlreadyExists && is_own_file(&path) {
                // The file is from an earlier process of this user with the same id.
                true => fs::remove_file(&path).and_then(|()| options.open(&path)),
                false => Err(error),
            }
        });
        made?;
        self.remember(pid);
        Ok(())
    }

    /// Notes that this process belongs to the tree.
    pub(crate) fn born(&self, pid: u32) {
        if lock(&self.of).contains(&pid) {
            return;
        }
        let mut tree = lock(&self.tree);
        if tree.len() < MOST && tree.iter().all(|(known, _)| *known != pid) {
            let number = number_inside(pid).unwrap_or(pid);
            tree.push((pid, number));
            self.order(-(number as i32));
        }
    }

    /// Notes that these processes belonged to the run. Returns all maps of the run.
    pub(crate) fn ran(&self, pids: impl Iterator<Item = u32>) -> Vec<PathBuf> {
        pids.for_each(|pid| self.born(pid));
        self.all()
    }

    /// Returns the ids of processes in their own namespaces. Omits an id that several processes had, because
    /// it is unknown which of them wrote the map.
    pub(crate) fn known_inside(&self) -> HashMap<u32, u32> {
        let tree = lock(&self.tree);
        let mut times: HashMap<u32, usize> = HashMap::new();
        for (_, number) in tree.iter() {
            *times.entry(*number).or_default() += 1;
        }
        let own = tree.iter().copied();
        own.filter(|(pid, number)| pid != number && times[number] == 1)
            .collect()
    }

    fn all(&self) -> Vec<PathBuf> {
        let is_new = |path: &PathBuf| {
            let data = fs::symlink_metadata(path);
            data.and_then(|data| data.created())
                .is_ok_and(|made| made >= self.since)
        };
        let made: Vec<PathBuf> = lock(&self.of).iter().map(|pid| map_of(*pid)).collect();
        let numbers: BTreeSet<u32> = lock(&self.tree).iter().map(|(_, it)| *it).collect();
        let of_tree = numbers.into_iter().map(map_of).filter(is_new);
        made.into_iter().chain(of_tree).collect()
    }

    fn remember(&self, pid: u32) {
        let mut of = lock(&self.of);
        if !of.contains(&pid) {
            of.push(pid);
            self.order(pid as i32);
        }
    }

    fn order(&self, number: i32) {
        // If the separate process is gone, it receives no orders.
        let _ = (&self.orders).write_all(&number.to_ne_bytes());
    }
}

fn lock<T>(list: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for NameMaps {
    fn drop(&mut self) {
        for path in self.all() {
            if is_own_file(&path) {
                let _ = fs::remove_file(path);
            }
        }
        let _ = self.orders.write_all(&0i32.to_ne_bytes());
        // SAFETY: waits for our own child, which exits as soon as it has read the zero.
        unsafe { libc::waitpid(self.janitor, std::ptr::null_mut(), 0) };
    }
}

/// Returns whether a process has written a map, or whether another user has put something in its place.
pub fn has_name_map(pid: u32) -> bool {
    fs::symlink_metadata(map_of(pid)).is_ok()
}

fn is_own_file(path: &Path) -> bool {
    // SAFETY: geteuid only returns this process's user id.
    let user = unsafe { libc::geteuid() };
    fs::symlink_metadata(path).is_ok_and(|data| data.is_file() && data.uid() == user)
}

/// Maximum number of maps that are stored: a build may run a program several hundred times.
const MOST: usize = 4_096;
/// Time in ms to wait before the removal: a process killed together with the tracer may be about to open its
/// map.
const PAUSE_MS: i32 = 200;

/// Receives the ids of processes whose maps must be removed. A positive id is that of a process whose map was
/// created here. A negative one is that of another process of the tree, whose map was created after `since`.
/// 0 means that nothing is left to do.
///
/// # Safety
/// Must only be called in a forked child.
unsafe fn wait_for_the_end(pipe: i32, since: i64) -> ! {
    // SAFETY: makes only async-signal-safe calls on memory of this frame.
    unsafe {
        // Leave the terminal's group: Ctrl-C must not end this process before the tracer.
        libc::setsid();
        libc::dup2(pipe, 0);
        // Keep none of the tracer's descriptors open, least of all pipes to other programs.
        close_from(1);
        let mut known = [0i32; 2 * MOST];
        let mut count = 0;
        loop {
            let mut pid = 0i32;
            match libc::read(0, (&raw mut pid).cast(), 4) {
                4 if pid == 0 => libc::_exit(0),
                4 => {
                    if let Some(next) = known.get_mut(count) {
                        *next = pid;
                        count += 1;
                    }
                }
                -1 if *libc::__errno_location() == libc::EINTR => {}
                _ => break,
            }
        }
        libc::poll(std::ptr::null_mut(), 0, PAUSE_MS);
        for pid in known.iter().take(count) {
            remove(pid.unsigned_abs(), if *pid < 0 { since } else { 0 });
        }
        libc::_exit(0)
    }
}

/// Removes the map of a process, if it is this user's file and was written after `since`.
///
/// # Safety
/// None for the caller to ensure: it allocates nothing, so it may be called in a forked child.
unsafe fn remove(pid: u32, since: i64) {
    let (path, length) = path_of(pid);
    let Some(path) = path.get(..=length) else {
        return;
    };
    // SAFETY: the path ends with a zero byte, and an all-zero `stat` is valid.
    unsafe {
        let mut data: libc::stat = std::mem::zeroed();
        let there = libc::lstat(path.as_ptr().cast(), &raw mut data) == 0;
        let is_file = data.st_mode & libc::S_IFMT == libc::S_IFREG;
        let is_new = data.st_mtime >= since;
        if there && is_file && is_new && data.st_uid == libc::geteuid() {
            libc::unlink(path.as_ptr().cast());
        }
    }
}

/// Returns `/tmp/perf-PID.map`, terminated by a zero byte, and its length, without allocating.
fn path_of(mut pid: u32) -> ([u8; 32], usize) {
    let mut digits = [0u8; 10];
    let mut from = digits.len();
    loop {
        from -= 1;
        digits[from] = b'0' + (pid % 10) as u8;
        pid /= 10;
        if pid == 0 {
            break;
        }
    }
    let mut path = [0u8; 32];
    let mut length = 0;
    for part in [&b"/tmp/perf-"[..], &digits[from..], b".map"] {
        path[length..length + part.len()].copy_from_slice(part);
        length += part.len();
    }
    (path, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_path_is_that_of_the_map() {
        for pid in [1, 70, 4_194_304, u32::MAX] {
            let (path, length) = path_of(pid);
            assert_eq!(map_of(pid).as_os_str().as_encoded_bytes(), &path[..length]);
            assert_eq!(path[length], 0);
        }
    }

    /// Returns an id that no process has.
    fn unused(kind: u32) -> u32 {
        8_000_000 + std::process::id() * 16 + kind
    }

    #[test]
    fn a_map_is_there_while_it_lasts_and_a_link_is_refused() {
        let maps = NameMaps::begin().unwrap();
        let (own, linked, stale) = (unused(0), unused(1), unused(2));
        let target = tempfile::NamedTempFile::new().unwrap();
        std::os::unix::fs::symlink(target.path(), map_of(linked)).unwrap();
        fs::write(map_of(stale), "of another").unwrap();
        maps.make(own).unwrap();
        maps.make(stale).unwrap();
        assert!(maps.make(linked).is_err());
        assert!(is_own_file(&map_of(own)));
        assert_eq!(fs::read(map_of(stale)).unwrap(), b"");
        drop(maps);
        assert!(!map_of(own).exists() && !map_of(stale).exists());
        assert!(map_of(linked).is_symlink() && target.path().exists());
        fs::remove_file(map_of(linked)).unwrap();
    }

    #[test]
    fn a_map_of_before_the_run_stays() {
        let (before, since) = (unused(3), unused(4));
        fs::write(map_of(before), "").unwrap();
        // A file's time is that of the kernel's last tick.
        while fs::write(map_of(since), "").is_ok()
            && fs::metadata(map_of(since)).unwrap().created().unwrap()
                <= fs::metadata(map_of(before)).unwrap().created().unwrap()
        {
            fs::remove_file(map_of(since)).unwrap();
        }
        let mut maps = NameMaps::begin().unwrap();
        maps.since = fs::metadata(map_of(since)).unwrap().created().unwrap();
        maps.ran([before, since].into_iter());
        drop(maps);
        assert!(map_of(before).exists() && !map_of(since).exists());
        fs::remove_file(map_of(before)).unwrap();
    }

    #[test]
    fn where_the_tracer_is_killed_maps_of_its_tree_go_and_older_ones_stay() {
        let maps = NameMaps::begin().unwrap();
        let (own, child, older) = (unused(5), unused(6), unused(7));
        maps.make(own).unwrap();
        fs::write(map_of(child), "").unwrap();
        let before = File::create(map_of(older)).unwrap();
        before
            .set_modified(maps.since - std::time::Duration::from_secs(60))
            .unwrap();
        maps.born(child);
        maps.born(older);
        let janitor = maps.janitor;
        // SAFETY: the descriptor isn't used after this. To the other process, closing it looks as if this
        // process had ended.
        unsafe { libc::close(maps.orders.as_raw_fd()) };
        std::mem::forget(maps);
        // SAFETY: waits for a child of this process.
        unsafe { libc::waitpid(janitor, std::ptr::null_mut(), 0) };
        let left = [own, child, older].map(|pid| map_of(pid).exists());
        fs::remove_file(map_of(older)).unwrap();
        assert_eq!(left, [false, false, true]);
    }
}
