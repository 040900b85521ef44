//! Which function of code that was made at run time is at an address?
//!
//! Runtimes that are asked to write `/tmp/perf-PID.map` as they compile: Node with
//! `--perf-basic-prof`, Python with `-X perf`, Java with `-XX:+DumpPerfMapAtExit`. A line is an
//! address and a length in hexadecimal and a name; a later line has what an earlier one had.
//! Nothing in it is trusted. Format: the kernel's `tools/perf/Documentation/jit-interface.txt`.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use crate::demangle::LONGEST_NAME;
use crate::files;

/// Bytes of a map that are read: a million functions.
const MOST_BYTES: u64 = 128 << 20;

/// Bytes of a line; what is longer is no line of such a map.
const LONGEST_LINE: u64 = 16 << 10;

/// Names at these addresses of a process, by the map that it wrote since; empty where it wrote
/// none.
pub(crate) fn functions_at(pid: u32, addresses: &[u64], since: SystemTime) -> HashMap<u64, String> {
    let path = format!("/tmp/perf-{pid}.map");
    let Some(file) = files::open(Path::new(&path)) else {
        return HashMap::new();
    };
    // Not of a process that had this number before, nor anybody's who is no user of these programs.
    let ours = |data: &std::fs::Metadata| {
        // SAFETY: asks for a number of this process.
        let user = unsafe { libc::geteuid() };
        (user == 0 || data.uid() == user) && data.modified().is_ok_and(|time| time >= since)
    };
    match file.metadata() {
        Ok(data) if ours(&data) => named(BufReader::new(file.take(MOST_BYTES)), addresses),
        _ => HashMap::new(),
    }
}

fn named(mut lines: impl BufRead, addresses: &[u64]) -> HashMap<u64, String> {
    let mut names: BTreeMap<u64, Option<String>> =
        addresses.iter().map(|address| (*address, None)).collect();
    let mut line = Vec::new();
    while (&mut lines)
        .take(LONGEST_LINE)
        .read_until(b'\n', &mut line)
        .is_ok_and(|read| read > 0)
    {
        if let Some((from, to, name)) = function(&String::from_utf8_lossy(&line)) {
            for (_, known) in names.range_mut(from..to) {
                *known = Some(name.clone());
            }
        }
        line.clear();
    }
    let named = names.into_iter();
    named
        .filter_map(|(address, name)| Some((address, name?)))
        .collect()
}

/// From where to where it is, and its name.
fn function(line: &str) -> Option<(u64, u64, String)> {
    let mut words = line.trim_end().splitn(3, ' ');
    let mut hex = || {
        let word = words.next()?;
        u64::from_str_radix(word.trim_start_matches("0x"), 16).ok()
    };
    let (from, length) = (hex()?, hex()?);
    let name = plain(words.next()?.trim());
    let to = from.checked_add(length)?;
    (from < to && !name.is_empty()).then_some((from, to, name))
}

/// Without what V8 puts before the names of functions: their kind, and how well they are compiled.
fn plain(name: &str) -> String {
    const KINDS: [&str; 5] = ["JS:", "LazyCompile:", "Function:", "Eval:", "Script:"];
    let of_v8 = KINDS.iter().find_map(|kind| name.strip_prefix(kind));
    let name = of_v8.map_or(name, |rest| {
        rest.trim_start_matches(['*', '~', '^', '+']).trim()
    });
    name.chars().take(LONGEST_NAME).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_the_name_that_was_written_last() {
        let map = "1000 20 JS:~fib /tmp/a.js:1:13\n\
                   1020 10 py::main:/tmp/b.py\n\
                   nothing of this kind\n\
                   ffffffffffffffff 10 wraps\n\
                   1008 8 JS:*fib /tmp/a.js:1:13 again\n\
                   0x2000 8 JS:^ /tmp/a.js:9:1\n";
        let named = named(map.as_bytes(), &[0x1000, 0x1009, 0x102f, 0x1030, 0x2001]);
        let of = |address: u64| named.get(&address).map(String::as_str);
        assert_eq!(of(0x1000), Some("fib /tmp/a.js:1:13"));
        assert_eq!(of(0x1009), Some("fib /tmp/a.js:1:13 again"));
        assert_eq!(of(0x102f), Some("py::main:/tmp/b.py"));
        assert_eq!(of(0x1030), None);
        assert_eq!(of(0x2001), Some("/tmp/a.js:9:1"));
    }

    #[test]
    fn a_map_of_before_is_another_processs() {
        let pid = std::process::id();
        let path = format!("/tmp/perf-{pid}.map");
        std::fs::write(&path, "1000 10 parse\n").unwrap();
        let now = SystemTime::now();
        let ago = now - std::time::Duration::from_secs(60);
        let later = now + std::time::Duration::from_secs(60);
        let seen = functions_at(pid, &[0x1001], ago);
        let none = functions_at(pid, &[0x1001], later);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(seen.get(&0x1001).map(String::as_str), Some("parse"));
        assert!(none.is_empty());
    }

    #[test]
    fn no_map_makes_it_panic() {
        let map = "1000 20 JS:~fib /tmp/a.js:1:13\n0x2000 8 py::main:/tmp/b.py\n";
        fathom_test_memory::survives(&[map.into()], 1 << 14, |map| {
            _ = named(map, &[0, 0x1000, 0x2007, u64::MAX]);
        });
    }
}
