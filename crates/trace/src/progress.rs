//! Follows how much processes have read, and the CPU time that they have taken until then.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::result::{Progress, ProgressRow};

/// The first interval between two points, in ns. Each point takes some 3 us.
const INTERVAL_NS: u64 = 10_000_000;
/// The largest number of points of a process. If it is reached, every second point is removed, and the interval
/// doubled.
const MOST_POINTS: usize = 128;
/// The largest number of processes that are followed at the same time.
const MOST_PROCESSES: usize = 32;
/// The minimum number of different amounts: with fewer, the pace of reading isn't known.
const FEWEST_AMOUNTS: usize = 8;

/// Follows the processes of a command.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    due: u64,
    processes: BTreeMap<u32, Followed>,
}

#[derive(Debug)]
struct Followed {
    /// `/proc/PID/io`; `None` if it can't be read, or not any more.
    accounts: Option<File>,
    interval: u64,
    due: u64,
    points: Vec<Progress>,
}

impl Follower {
    /// Adds a point for each of these living processes for which one is due. `now` and `start`, when the trace
    /// began, are times of `CLOCK_MONOTONIC` in ns.
    pub(crate) fn follow(&mut self, living: impl Iterator<Item = u32>, now: u64, start: u64) {
        if now < self.due {
            return;
        }
        self.due = now + INTERVAL_NS;
        for pid in living.take(MOST_PROCESSES) {
            let one = self.processes.entry(pid).or_insert_with(|| Followed {
                accounts: File::open(format!("/proc/{pid}/io")).ok(),
                interval: INTERVAL_NS,
                due: now,
                points: Vec::new(),
            });
            if now >= one.due && one.accounts.is_some() {
                match one.point(pid, now - start) {
                    Some(point) => one.add(point, now),
                    None => one.accounts = None,
                }
            }
        }
    }

    /// Returns the processes that read often enough, ordered by number.
    pub(crate) fn finish(self) -> Vec<ProgressRow> {
        let rows = self.processes.into_iter().map(|(pid, one)| ProgressRow {
            pid,
            points: one.points,
        });
        rows.filter(|row| {
            let changes = row.points.windows(2);
            changes.filter(|pair| pair[0].read < pair[1].read).count() >= FEWEST_AMOUNTS
        })
        .collect()
    }
}

impl Followed {
    fn point(&self, pid: u32, at_ns: u64) -> Option<Progress> {
        let mut text = [0; 32];
        let length = self.accounts.as_ref()?.read_at(&mut text, 0).ok()?;
        Some(Progress {
            at_ns,
            cpu_ns: cpu_ns(pid)?,
            read: bytes_read(&text[..length])?,
        })
    }

    fn add(&mut self, point: Progress, now: u64) {
        self.points.push(point);
        if self.points.len() == MOST_POINTS {
            let mut at = 0;
            self.points.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.interval *= 2;
        }
        self.due = now + self.interval;
    }
}

/// Returns the bytes of all reads, which the first line has (`rchar: 4521`).
fn bytes_read(accounts: &[u8]) -> Option<u64> {
    let line = accounts.strip_prefix(b"rchar: ")?;
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit());
    digits.into_iter().try_fold(0_u64, |sum, digit| {
        sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    })
}

/// Returns the CPU time of all threads of a process, in ns; `None` if it has ended.
fn cpu_ns(pid: u32) -> Option<u64> {
    let mut clock: libc::clockid_t = 0;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: both calls write to the live variables that they are given.
    let failed = unsafe {
        libc::clock_getcpuclockid(pid as libc::pid_t, &raw mut clock) != 0
            || libc::clock_gettime(clock, &raw mut time) != 0
    };
    (!failed).then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_followed_and_one_that_has_ended_is_not() {
        let mut follower = Follower::default();
        for round in 0..1_000 {
            // Reads at least one byte.
            assert!(std::fs::read("/proc/self/stat").is_ok());
            let living = [std::process::id(), u32::MAX >> 1].into_iter();
            follower.follow(living, 5 + round * INTERVAL_NS, 5);
        }
        let rows = follower.finish();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].pid, std::process::id());
        let points = &rows[0].points;
        assert!((MOST_POINTS / 2..MOST_POINTS).contains(&points.len()));
        assert_eq!(points[0].at_ns, 0);
        assert!(
            points
                .last()
                .is_some_and(|last| last.at_ns > 900 * INTERVAL_NS)
        );
        let grows = |pair: &[Progress]| {
            pair[0].at_ns < pair[1].at_ns
                && pair[0].cpu_ns <= pair[1].cpu_ns
                && pair[0].read < pair[1].read
        };
        assert!(points.windows(2).all(grows));
    }

    #[test]
    fn accounts_of_another_form_are_not_read() {
        assert_eq!(bytes_read(b"rchar: 4521\nwchar: 9"), Some(4521));
        assert_eq!(bytes_read(b"wchar: 4521\n"), None);
        assert_eq!(bytes_read(b"rchar: 99999999999999999999999"), None);
    }
}
