//! Finds the names of functions generated at run time.
//!
//! Runtimes write `/tmp/perf-PID.map` on request: Node while it compiles with `--perf-basic-prof`, Python
//! with `-X perf`, Java when it exits with `-XX:+DumpPerfMapAtExit`, or when `jcmd` requests it. A line
//! consists of an address and a length in hexadecimal, and a name. A later line replaces an earlier one for
//! the same addresses. Nothing in the file is trusted. Format: the kernel's
//! `tools/perf/Documentation/jit-interface.txt`.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::time::SystemTime;

use crate::made_name::{JVM_INTERPRETER, MadeName};

/// The maximum number of bytes of a map that are read, enough for a million functions.
const MOST_BYTES: u64 = 128 << 20;

/// The maximum length of a line in bytes; a longer line is not part of such a map.
const LONGEST_LINE: u64 = 16 << 10;

/// Returns the names of a process's code at these addresses, from the map that the process wrote after
/// `since`; empty if it wrote no map. `inside` is its ID in its own PID namespace, which is needed after it
/// has ended.
pub(crate) fn names_at(
    pid: u32,
    inside: Option<u32>,
    addresses: &[u64],
    since: SystemTime,
) -> HashMap<u64, MadeName> {
    match open(pid, inside, since) {
        Some(file) => named(BufReader::new(file.take(MOST_BYTES)), addresses),
        None => HashMap::new(),
    }
}

/// Returns the path to which a process writes its map. `pid` is its ID in its own namespace. The path is
/// valid for a reader that sees the same `/tmp`.
pub fn map_of(pid: u32) -> PathBuf {
    PathBuf::from(format!("/tmp/perf-{pid}.map"))
}

/// Opens the map of a process, if it was written after `since` and is a regular file of this user or of the
/// process's user. Files of other users are never read, and links are not followed.
fn open(pid: u32, inside: Option<u32>, since: SystemTime) -> Option<File> {
    let process = std::fs::metadata(format!("/proc/{pid}")).ok();
    let own_number = process.as_ref().and_then(|_| number_inside(pid));
    // A process in a container writes to the container's `/tmp`, which vanishes with the last process.
    let path = match own_number {
        Some(number) => PathBuf::from(format!("/proc/{pid}/root/tmp/perf-{number}.map")),
        None => map_of(inside.unwrap_or(pid)),
    };
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .ok()?;
    let data = file.metadata().ok()?;
    // SAFETY: only reads an ID of this process.
    let user = unsafe { libc::geteuid() };
    let is_owned = data.uid() == user || process.is_some_and(|process| process.uid() == data.uid());
    let is_new = data.modified().is_ok_and(|time| time >= since);
    (data.is_file() && is_owned && is_new).then_some(file)
}

/// Returns the ID of a process inside its own PID namespace; `None` if it shares this process's namespace.
pub fn number_inside(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let numbers = status
        .lines()
        .find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers
        .split_ascii_whitespace()
        .skip(1)
        .last()?
        .parse()
        .ok()
}

fn named(mut lines: impl BufRead, addresses: &[u64]) -> HashMap<u64, MadeName> {
    let mut names: BTreeMap<u64, Option<String>> =
        addresses.iter().map(|address| (*address, None)).collect();
    let mut of_jvm = false;
    let mut line = Vec::new();
    while (&mut lines)
        .take(LONGEST_LINE)
        .read_until(b'\n', &mut line)
        .is_ok_and(|read| read > 0)
    {
        if let Some((from, to, name)) = function(&String::from_utf8_lossy(&line)) {
            of_jvm |= name == JVM_INTERPRETER;
            for (_, known) in names.range_mut(from..to) {
                *known = Some(name.to_owned());
            }
        }
        line.clear();
    }
    let named = names.into_iter();
    named
        .filter_map(|(address, name)| Some((address, MadeName::of(&name?, of_jvm))))
        .collect()
}

/// Parses a line. Returns where the function begins and ends, and its name.
fn function(line: &str) -> Option<(u64, u64, &str)> {
    let mut words = line.trim_end().splitn(3, ' ');
    let mut hex = || {
        let word = words.next()?;
        u64::from_str_radix(word.trim_start_matches("0x"), 16).ok()
    };
    let (from, length) = (hex()?, hex()?);
    let name = words.next()?.trim();
    let to = from.checked_add(length)?;
    (from < to && !name.is_empty()).then_some((from, to, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::time::Duration;

    #[test]
    fn an_address_has_the_name_that_was_written_last() {
        let map = "1000 20 JS:~fib /tmp/a.js:1:13\n\
                   1020 10 py::main:/tmp/b.py\n\
                   nothing of this kind\n\
                   ffffffffffffffff 10 wraps\n\
                   1008 8 JS:*fib2 /tmp/a.js:1:13\n\
                   0x2000 8 JS:^ /tmp/a.js:9:1\n";
        let named = named(map.as_bytes(), &[0x1000, 0x1009, 0x102f, 0x1030, 0x2001]);
        let of = |address: u64| named.get(&address).map(MadeName::short);
        assert_eq!(of(0x1000).as_deref(), Some("fib a.js:1"));
        assert_eq!(of(0x1009).as_deref(), Some("fib2 a.js:1"));
        assert_eq!(of(0x102f).as_deref(), Some("main b.py"));
        assert_eq!(of(0x1030), None);
        assert_eq!(of(0x2001).as_deref(), Some("(anonymous) a.js:9"));
    }

    /// Returns an unused process ID.
    fn unused() -> u32 {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(1);
        let next = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        // The kernel's largest ID is 4,194,304.
        5_000_000 + std::process::id() * 8 + next
    }

    fn seen(pid: u32, since: SystemTime) -> bool {
        names_at(pid, None, &[0x1001], since).contains_key(&0x1001)
    }

    #[test]
    fn a_map_of_before_is_another_processs() {
        let pid = unused();
        fs::write(map_of(pid), "1000 10 parse\n").unwrap();
        let now = SystemTime::now();
        let found = [now - Duration::from_secs(60), now + Duration::from_secs(60)]
            .map(|since| seen(pid, since));
        fs::remove_file(map_of(pid)).unwrap();
        assert_eq!(found, [true, false]);
    }

    #[test]
    fn one_that_ended_in_a_namespace_of_its_own_has_the_map_of_its_number_there() {
        let (outside, inside) = (unused(), unused());
        fs::write(map_of(inside), "1000 10 parse\n").unwrap();
        let since = SystemTime::now() - Duration::from_secs(60);
        let found = [None, Some(inside)]
            .map(|number| !names_at(outside, number, &[0x1001], since).is_empty());
        fs::remove_file(map_of(inside)).unwrap();
        assert_eq!(found, [false, true]);
    }

    #[test]
    fn what_a_link_leads_to_and_what_is_no_file_is_not_read() {
        let (link, folder) = (unused(), unused());
        let real = tempfile::NamedTempFile::new().unwrap();
        fs::write(real.path(), "1000 10 parse\n").unwrap();
        std::os::unix::fs::symlink(real.path(), map_of(link)).unwrap();
        fs::create_dir(map_of(folder)).unwrap();
        let since = SystemTime::now() - Duration::from_secs(60);
        let found = [link, folder].map(|pid| seen(pid, since));
        fs::remove_file(map_of(link)).unwrap();
        fs::remove_dir(map_of(folder)).unwrap();
        assert_eq!(found, [false, false]);
    }

    #[test]
    fn the_map_of_another_user_is_not_read() {
        let pid = unused();
        fs::write(map_of(pid), "1000 10 parse\n").unwrap();
        let given = std::os::unix::fs::chown(map_of(pid), Some(65_534), None);
        let found = seen(pid, SystemTime::now() - Duration::from_secs(60));
        fs::remove_file(map_of(pid)).unwrap();
        match given {
            Ok(()) => assert!(!found),
            Err(_) => fathom_test_log::skipped("only root may give a file away"),
        }
    }

    #[test]
    fn no_map_makes_it_panic() {
        let map = "1000 20 JS:~fib /tmp/a.js:1:13\n0x2000 8 py::main:/tmp/b.py\n\
                   3000 9 int A.f(int)\n4000 9 Interpreter\n";
        fathom_test_memory::survives(&[map.into()], 1 << 14, |map| {
            _ = named(map, &[0, 0x1000, 0x2007, 0x3001, u64::MAX]);
        });
    }
}
