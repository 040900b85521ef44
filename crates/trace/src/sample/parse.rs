//! Parses the files of a thread in `/proc`.
//!
//! The parsers cover `syscall`, `stat`, `schedstat` and `children`, as described in the kernel's
//! `Documentation/filesystems/proc.rst`.

use std::str::FromStr;

use crate::calls;

/// The content of `/proc/PID/task/TID/syscall`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// The thread is running or ready to run.
    Running,
    /// The thread is blocked in a call, with this number as reported by the tiers and this first argument.
    Call(u32, u64),
    /// The thread is blocked outside calls, for example in a page fault.
    NoCall,
}

/// Parses `running`, `-1 SP PC` or `NR ARG0 ... ARG5 SP PC`.
pub(crate) fn doing(text: &[u8]) -> Option<Doing> {
    let text = std::str::from_utf8(text).ok()?.trim_end();
    if text == "running" {
        return Some(Doing::Running);
    }
    let mut words = text.split(' ');
    let number: i64 = words.next()?.parse().ok()?;
    if number < 0 {
        return Some(Doing::NoCall);
    }
    let number = u32::try_from(number).ok()?;
    let hexadecimal = |word: &str| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok();
    let first = hexadecimal(words.next()?)?;
    // The file doesn't show which table the number belongs to. Only a 32-bit program has both its stack and
    // its code below 4 GiB.
    let mut pointers = words.skip(5).map(hexadecimal);
    let is_low = |at: Option<Option<u64>>| at.flatten().is_some_and(|at| u32::try_from(at).is_ok());
    let of_32_bits = is_low(pointers.next()) && is_low(pointers.next());
    Some(match of_32_bits && cfg!(target_arch = "x86_64") {
        true => Doing::Call(calls::through_32_bit_entry(number), first),
        false => Doing::Call(number, first),
    })
}

/// Returns the stack pointer and the instruction pointer of a blocked thread, from the same file.
pub(crate) fn pointers(text: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(text).ok()?;
    let mut last_first = text.split_whitespace().rev();
    let mut next = || u64::from_str_radix(last_first.next()?.strip_prefix("0x")?, 16).ok();
    let (instruction, stack) = (next()?, next()?);
    Some((stack, instruction))
}

/// Returns the text after a key in `/proc/PID/status`.
pub(crate) fn status_line<'a>(status: &'a str, key: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(key))
}

/// Returns the first number after a key in `/proc/PID/status`.
pub(crate) fn status_number<T: FromStr>(status: &str, key: &str) -> Option<T> {
    let mut words = status_line(status, key)?.split_whitespace();
    words.next()?.parse().ok()
}

/// Returns the text after the name in a `stat` line, from field 3 on. The name is in parentheses and may
/// contain anything, including parentheses.
pub(crate) fn behind_name(text: &[u8]) -> Option<&str> {
    let close = text.iter().rposition(|byte| *byte == b')')?;
    std::str::from_utf8(text.get(close + 2..)?).ok()
}

/// The fields of `/proc/PID/task/TID/stat` that are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// The thread's name.
    pub name: String,
    /// Its state, as the kernel's letter: `R`, `S`, `D`, `T`, `t`, `Z`, `X`, `I`.
    pub state: u8,
    /// The parent of its process.
    pub parent: u32,
    /// The kernel's `PF_` flags of the thread.
    pub flags: u64,
    /// Minor and major page faults of the thread so far.
    pub faults: (u64, u64),
    /// The CPU that it is on, or was last on.
    pub cpu: Option<usize>,
}

/// Parses a `stat` line.
pub(crate) fn stat(text: &[u8]) -> Option<Stat> {
    let open = text.iter().position(|b| *b == b'(')?;
    let close = text.iter().rposition(|b| *b == b')')?;
    let name = text.get(open + 1..close)?;
    let mut words = behind_name(text)?.split(' ');
    let state = *words.next()?.as_bytes().first()?;
    let parent = words.next()?.parse().ok()?;
    // Fields 9, 10 and 12 of the line: flags, minflt and majflt, with cminflt in between.
    let flags = words.nth(4)?.parse().ok()?;
    let minor = words.next()?.parse().ok()?;
    let major = words.nth(1)?.parse().ok()?;
    // Field 39, which is missing from some lines in tests.
    let cpu = words.nth(26).and_then(|cpu| cpu.parse().ok());
    Some(Stat {
        name: String::from_utf8_lossy(name).into_owned(),
        state,
        parent,
        flags,
        faults: (minor, major),
        cpu,
    })
}

impl Stat {
    /// Returns whether the thread has begun to exit.
    pub(crate) fn is_ending(&self) -> bool {
        const PF_EXITING: u64 = 4;
        matches!(self.state, b'Z' | b'X') || self.flags & PF_EXITING != 0
    }
}

/// Parses CPU time and time in the run queue in ns, the first two numbers of `schedstat`.
pub(crate) fn schedstat(text: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(text).ok()?;
    let mut words = text.split_whitespace();
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// Parses the number of times that the thread ran on a CPU, the third number of `schedstat`.
pub(crate) fn turns(text: &[u8]) -> Option<u64> {
    let turns = text.trim_ascii().rsplit(|byte| *byte == b' ').next()?;
    std::str::from_utf8(turns).ok()?.parse().ok()
}

/// Returns whether `schedstat` counts how often the thread ran on a CPU; if not, the number is always 0.
pub(crate) fn counts_turns(text: &[u8]) -> bool {
    turns(text).is_none_or(|turns| turns != 0)
}

/// Parses the process ids in a `children` file.
pub(crate) fn children(text: &[u8]) -> Vec<u32> {
    let text = String::from_utf8_lossy(text);
    text.split_whitespace()
        .filter_map(|w| w.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_call_says_its_number_and_descriptor() {
        let line = b"0 0x3 0x7ffd 0x1000 0x0 0x0 0x0 0x7ffd53b2ddc8 0x7f12c0de4992\n";
        assert_eq!(doing(line), Some(Doing::Call(0, 3)));
        assert_eq!(pointers(line), Some((0x7ffd_53b2_ddc8, 0x7f12_c0de_4992)));
        assert_eq!(pointers(b"running\n"), None);
        // `read` in a 32-bit program, on x86.
        let line = b"3 0x7 0xffd0 0x1000 0x0 0x0 0x0 0xffdc8ab0 0xf7f12549\n";
        let number = match cfg!(target_arch = "x86_64") {
            true => calls::through_32_bit_entry(3),
            false => 3,
        };
        assert_eq!(doing(line), Some(Doing::Call(number, 7)));
        assert_eq!(doing(b"running\n"), Some(Doing::Running));
        assert_eq!(doing(b"-1 0x7ffdc8 0x7f12\n"), Some(Doing::NoCall));
        assert_eq!(doing(b""), None);
        assert_eq!(doing(b"12"), None);
    }

    #[test]
    fn a_name_with_brackets_and_blanks_does_not_confuse() {
        let line = b"77 (a) R (b) D 12 77 77 0 -1 4194304 150 9 3 0 1 2 0 0 20 0 1 0";
        let got = stat(line).expect("parses");
        assert_eq!(
            (got.name.as_str(), got.state, got.parent),
            ("a) R (b", b'D', 12)
        );
        assert_eq!(got.faults, (150, 3));
        assert_eq!(stat(b"77 (cut"), None);
    }

    #[test]
    fn a_thread_that_ends_is_distinguished_from_one_that_is_refused() {
        let ends = |state: &str, flags: u64| {
            let line = format!("7 (a) b) {state} 1 7 7 0 -1 {flags} 1 0 0");
            stat(line.as_bytes()).map(|stat| stat.is_ending())
        };
        assert_eq!(ends("R", 0x40_0044), Some(true));
        assert_eq!(ends("R", 0x40_0040), Some(false));
        assert_eq!(ends("Z", 0x40_0040), Some(true));
        assert_eq!(ends("S", 0x40_0040), Some(false));
        assert_eq!(stat(b"7 (cut"), None);
    }

    #[test]
    fn numbers_are_found_in_their_places() {
        assert_eq!(schedstat(b"123456 789 3\n"), Some((123_456, 789)));
        assert_eq!(schedstat(b"123456\n"), None);
        assert!(counts_turns(b"123456 789 3\n"));
        assert!(!counts_turns(b"0 0 0\n"));
        assert_eq!(children(b"12 13 \n"), [12, 13]);
        assert!(children(b"").is_empty());
    }

    #[test]
    fn no_text_makes_the_parsers_panic() {
        let lines = [
            b"0 0x3 0x7ffd 0x1000 0x0 0x0 0x0 0x7ffd53b2ddc8 0x7f12c0de4992\n".to_vec(),
            b"12 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n".to_vec(),
            b"123456 789 12\n".to_vec(),
        ];
        fathom_test_memory::survives(&lines, 1 << 10, |text| {
            _ = doing(text);
            _ = stat(text);
            _ = schedstat(text);
            _ = counts_turns(text);
            _ = children(text);
        });
    }
}
