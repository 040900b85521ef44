//! Mounts that only one process and its descendants see, which end with these processes, and other control
//! groups.

use crate::files::{AT_FDCWD, open};
use crate::system::{call, call3, number};

const CLONE_NEWNS: usize = 0x2_0000;
const CLONE_NEWUSER: usize = 0x1000_0000;
const MS_BIND: usize = 0x1000;
const MS_REC: usize = 0x4000;
const MS_PRIVATE: usize = 0x4_0000;
const O_WRONLY: usize = 1;

/// Strings that follow each other, each ending with zero.
struct Strings {
    at: usize,
}

impl Strings {
    /// Returns the address of the next string; `None` if it is empty.
    fn next(&mut self) -> Option<usize> {
        let start = self.at;
        let length = length(start);
        self.at = start + length + 1;
        (length > 0).then_some(start)
    }
}

fn length(string: usize) -> usize {
    let mut length = 0;
    // SAFETY: a string in the shared memory that ends with zero.
    while unsafe { core::ptr::read_volatile((string + length) as *const u8) } != 0 {
        length += 1;
    }
    length
}

/// Moves this process to other control groups, whose `cgroup.procs` are at these paths. Returns a negative
/// error number on failure.
pub(crate) fn move_to(groups: usize) -> isize {
    let mut groups = Strings { at: groups };
    let mut done = 0;
    while done >= 0 {
        let Some(group) = groups.next() else { break };
        done = write(group, c"0".as_ptr() as usize);
    }
    done
}

/// Writes a string to a file that exists. Returns a negative error number on failure.
fn write(path: usize, text: usize) -> isize {
    let file = open(AT_FDCWD, path, O_WRONLY);
    if file < 0 {
        return file;
    }
    // SAFETY: a string that ends with zero, and an open descriptor.
    unsafe {
        let written = call3(number::WRITE, file as usize, text, length(text));
        call3(number::CLOSE, file as usize, 0, 0);
        written
    }
}

/// Gives this process its own mounts, as [`Job::mounts`](crate::shared::Job::mounts) describes them; `strings`
/// is their address. Returns a negative error number on failure.
pub fn make(strings: usize) -> isize {
    let mut strings = Strings { at: strings };
    let (users, groups, directory) = (strings.next(), strings.next(), strings.next());
    let own = match users {
        None => CLONE_NEWNS,
        Some(_) => CLONE_NEWNS | CLONE_NEWUSER,
    };
    // SAFETY: takes a number.
    let mut done = unsafe { call3(number::UNSHARE, own, 0, 0) };
    if let (Some(users), Some(groups)) = (users, groups) {
        // A process without privileges may map its group only if it can't drop other groups.
        for (path, text) in [
            (c"/proc/self/setgroups", c"deny".as_ptr() as usize),
            (c"/proc/self/uid_map", users),
            (c"/proc/self/gid_map", groups),
        ] {
            if done >= 0 {
                done = write(path.as_ptr() as usize, text);
            }
        }
    }
    if done >= 0 {
        // Otherwise the mounts would appear outside too.
        done = mount(0, c"/".as_ptr() as usize, 0, MS_REC | MS_PRIVATE, 0);
    }
    while done >= 0 {
        let Some(source) = strings.next() else { break };
        let target = strings.next().unwrap_or(0);
        let kind = strings.next();
        let options = strings.next();
        done = match kind {
            None => mount(source, target, 0, MS_BIND, 0),
            Some(kind) => mount(source, target, kind, 0, options.unwrap_or(0)),
        };
    }
    match directory {
        // The directory from before isn't the one that is mounted there now.
        // SAFETY: a string that ends with zero.
        Some(directory) if done >= 0 => unsafe { call3(number::CHDIR, directory, 0, 0) },
        _ => done,
    }
}

fn mount(source: usize, target: usize, kind: usize, flags: usize, options: usize) -> isize {
    // SAFETY: strings that end with zero, or 0.
    unsafe { call(number::MOUNT, [source, target, kind, flags, options, 0]) }
}
