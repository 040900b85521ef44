//! Maps of names that a runtime is asked to write to `/tmp`: who sees to it that they go where they
//! should, and are gone afterwards?
//!
//! Where a process writes its map everybody may guess, and may have put a link there. So the file of
//! the command's own process is made before that is let go, as one that nobody else can replace. It
//! is removed with this value; if the tracer is killed a process of its own does that, which sleeps
//! until then.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use fathom_stacks::map_of;

use crate::spawn::pipe;

/// Maps of one observed run.
#[derive(Debug)]
pub struct NameMaps {
    since: SystemTime,
    /// Processes whose map is this run's.
    of: Mutex<Vec<u32>>,
    janitor: i32,
    orders: File,
}

impl NameMaps {
    /// Starts who removes them if the tracer is killed.
    ///
    /// # Errors
    /// When no process can be made.
    pub fn begin() -> io::Result<Self> {
        let (read, write) = pipe()?;
        // SAFETY: the child calls only async-signal-safe functions.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: in the forked child.
            0 => unsafe { wait_for_the_end(read.as_raw_fd()) },
            janitor => Ok(Self {
                since: SystemTime::now(),
                of: Mutex::default(),
                janitor,
                orders: write.into(),
            }),
        }
    }

    /// Makes the map of a process that hasn't opened it yet.
    ///
    /// # Errors
    /// When another user's file or a link is in its place.
    pub fn make(&self, pid: u32) -> io::Result<()> {
        let path = map_of(pid);
        let mut options = OpenOptions::new();
        // Only if nothing is there, not even a link.
        options.write(true).create_new(true).mode(0o600);
        let made = options.open(&path).or_else(|error| {
            match error.kind() == io::ErrorKind::AlreadyExists && is_own_file(&path) {
                // Of one of this user's that had the same number.
                true => fs::remove_file(&path).and_then(|()| options.open(&path)),
                false => Err(error),
            }
        });
        made?;
        self.remember(pid);
        Ok(())
    }

    /// These processes were of the run, too: what they wrote since it began is removed with the rest.
    pub(crate) fn ran(&self, pids: impl Iterator<Item = u32>) {
        let is_new = |pid: &u32| {
            let data = fs::symlink_metadata(map_of(*pid));
            data.and_then(|data| data.created())
                .is_ok_and(|made| made >= self.since)
        };
        pids.filter(is_new).for_each(|pid| self.remember(pid));
    }

    fn remember(&self, pid: u32) {
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        if !of.contains(&pid) {
            of.push(pid);
            // One that is gone takes no orders.
            let _ = (&self.orders).write_all(&(pid as i32).to_ne_bytes());
        }
    }
}

impl Drop for NameMaps {
    fn drop(&mut self) {
        let of = self.of.get_mut().unwrap_or_else(PoisonError::into_inner);
        for path in of.iter().map(|pid| map_of(*pid)) {
            if is_own_file(&path) {
                let _ = fs::remove_file(path);
            }
        }
        let _ = self.orders.write_all(&0i32.to_ne_bytes());
        // SAFETY: our own child, which ends as soon as it has read the zero.
        unsafe { libc::waitpid(self.janitor, std::ptr::null_mut(), 0) };
    }
}

/// Whether a process has written a map, or somebody else has put something in its place.
pub fn has_name_map(pid: u32) -> bool {
    fs::symlink_metadata(map_of(pid)).is_ok()
}

fn is_own_file(path: &Path) -> bool {
    // SAFETY: asks for a number of this process.
    let user = unsafe { libc::geteuid() };
    fs::symlink_metadata(path).is_ok_and(|data| data.is_file() && data.uid() == user)
}

/// Maps that are remembered: a build may run a program some hundred times.
const MOST: usize = 4_096;
/// What is killed with the tracer may be about to open its map.
const PAUSE_MS: i32 = 200;

/// # Safety
/// Only in a forked child.
unsafe fn wait_for_the_end(pipe: i32) -> ! {
    // SAFETY: async-signal-safe calls on the frame's own memory.
    unsafe {
        // Out of the terminal's group: Ctrl-C must not end it before the tracer.
        libc::setsid();
        libc::dup2(pipe, 0);
        // Nothing of the tracer's may be kept open, pipes to other programs least of all.
        libc::syscall(libc::SYS_close_range, 1u32, u32::MAX, 0u32);
        let mut known = [0i32; MOST];
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
            remove(*pid);
        }
        libc::_exit(0)
    }
}

/// Removes the map of a process, if it is this user's file.
///
/// # Safety
/// Allocates nothing, so that it may be called in a forked child.
unsafe fn remove(pid: i32) {
    let (path, length) = path_of(pid.unsigned_abs());
    let Some(path) = path.get(..=length) else {
        return;
    };
    // SAFETY: the path ends with a zero byte, and an all-zero `stat` is valid.
    unsafe {
        let mut data: libc::stat = std::mem::zeroed();
        let there = libc::lstat(path.as_ptr().cast(), &raw mut data) == 0;
        let is_file = data.st_mode & libc::S_IFMT == libc::S_IFREG;
        if there && is_file && data.st_uid == libc::geteuid() {
            libc::unlink(path.as_ptr().cast());
        }
    }
}

/// `/tmp/perf-PID.map`, ended by a zero byte, and its length, without memory of its own.
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

    /// Numbers that no process has.
    fn unused(kind: u32) -> u32 {
        8_000_000 + std::process::id() * 8 + kind
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
        // Times of files are those of the kernel's last tick.
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
}
