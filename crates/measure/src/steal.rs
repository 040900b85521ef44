//! CPU time that the hypervisor gave to others (steal).

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Instant;

/// The minimum interval between reads of `/proc/stat`, in nanoseconds. The file counts in steps of 10 ms, and
/// reading it takes tens of microseconds: once per run of a short command would be most of the harness's own
/// cost.
const INTERVAL_NS: u128 = 50_000_000;

/// Watches the steal time of the whole machine.
#[derive(Debug)]
pub(crate) struct StealWatch {
    file: Option<File>,
    last: u64,
    read_at: Instant,
    last_delta: Option<u64>,
    tick_ns: u64,
}

impl StealWatch {
    pub(crate) fn new() -> StealWatch {
        // SAFETY: takes a constant and returns a number.
        let ticks_per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
        let mut watch = StealWatch {
            file: File::open("/proc/stat").ok(),
            last: 0,
            read_at: Instant::now(),
            last_delta: None,
            tick_ns: 1_000_000_000 / ticks_per_second,
        };
        watch.last = watch.read().unwrap_or(0);
        watch
    }

    /// Returns the steal time in nanoseconds in the current interval; `None` if the kernel doesn't report it.
    /// Runs shorter than the interval share its value.
    pub(crate) fn since_last(&mut self) -> Option<u64> {
        if self.last_delta.is_some() && self.read_at.elapsed().as_nanos() < INTERVAL_NS {
            return self.last_delta;
        }
        let now = self.read()?;
        self.read_at = Instant::now();
        let delta = now.saturating_sub(self.last).saturating_mul(self.tick_ns);
        self.last = now;
        self.last_delta = Some(delta);
        self.last_delta
    }

    fn read(&self) -> Option<u64> {
        let mut buffer = [0u8; 512];
        let length = self.file.as_ref()?.read_at(&mut buffer, 0).ok()?;
        parse(std::str::from_utf8(&buffer[..length]).ok()?)
    }
}

/// Parses the eighth number of the first line: steal, in ticks.
fn parse(stat: &str) -> Option<u64> {
    stat.lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_ascii_whitespace()
        .nth(7)?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn steal_is_the_eighth_number_of_the_line_for_all_cpus() {
        assert_eq!(
            parse("cpu  1 2 3 4 5 6 7 88 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n"),
            Some(88)
        );
        assert_eq!(parse("cpu  1 2 3\n"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn a_changed_line_has_a_steal_of_its_digits_or_none() {
        let stat = "cpu  1 2 3 4 5 6 7 88 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        for text in crate::mutated::mutated_text(stat) {
            if let Some(steal) = parse(&text) {
                assert!(text.starts_with("cpu "), "{text:?}");
                assert!(text.contains(&steal.to_string()), "{text:?}");
            }
        }
    }
}
