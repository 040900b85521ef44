//! Determines when the first byte came out of a pipe.
//!
//! A sleeping reader is woken 15 to 300 µs after the write: it needs a CPU, and a sleeping CPU must be woken
//! first. Therefore two threads of idle priority poll the pipe continuously, on two CPUs: a program that
//! writes with one thread is on at most one of them, and any other thread gets their CPU immediately
//! (`SCHED_IDLE`). They never read. The error of their timestamp is measured each time: it is the time since
//! the pipe was last seen empty.
//!
//! An ordinary reader drains the pipe. It sees the byte first when both polling threads are kept off their
//! CPUs. On a busy machine, the reader itself waits for a CPU, for milliseconds; but the kernel counts how
//! long it was ready without one, and that time is subtracted.

mod poll;
mod reader;
mod shared;
mod waits;

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use fathom_model::StampedBy;

use crate::emptying::lock;
use crate::launcher::now_ns;
use poll::{allowed_cpus, poll_while_watched, watching_cpus};
use reader::read_when_woken;
use shared::{CHUNK_BYTES, Reading, Shared, Stamp, is_mark, mark};

/// A timestamp with at most this error needs no other.
const CLOSE_NS: u64 = 20_000;
/// A woken reader gets a CPU within this time on any machine that is suitable for measuring.
const PATIENCE_WITH_READER: Duration = Duration::from_secs(2);

/// The observation of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Watched {
    /// When the first byte was seen, in `CLOCK_MONOTONIC` nanoseconds; `None` if there was none.
    pub first_byte_ns: Option<u64>,
    /// What produced the timestamp.
    pub by: Option<StampedBy>,
    /// For [`StampedBy::Watch`]: how much earlier the byte may have arrived, the time since the last poll.
    pub uncertainty_ns: Option<u64>,
    /// The number of bytes received.
    pub bytes: u64,
}

/// Watches and drains the read end of a pipe. Idle between runs.
#[derive(Debug)]
pub struct Watch {
    shared: Arc<Shared>,
    stop: OwnedFd,
    threads: Vec<JoinHandle<()>>,
    cpus: Vec<usize>,
}

impl Watch {
    /// Starts the threads. `pipe` becomes non-blocking. `avoid`: CPUs that the programs are pinned to, if
    /// any.
    ///
    /// # Errors
    /// Errors of the system, if threads or descriptors can't be created.
    pub fn start(pipe: OwnedFd, avoid: &[usize]) -> io::Result<Watch> {
        // SAFETY: an open descriptor of ours.
        if unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: takes only numbers, and returns a new descriptor.
        let stop = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
        if stop < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just created, with no other owner.
        let stop = unsafe { OwnedFd::from_raw_fd(stop) };
        let shared = Arc::new(Shared {
            pipe,
            polled_ns: AtomicU64::new(mark(0)),
            empty_ns: AtomicU64::new(0),
            taken: AtomicBool::new(false),
            reading: Mutex::new(Reading {
                bytes: 0,
                buffer: vec![0; CHUNK_BYTES],
                began: 0,
                stamp: None,
            }),
            noted: Condvar::new(),
            watched_run: AtomicU64::new(0),
            order: Mutex::default(),
            changed: Condvar::new(),
        });
        let cpus = watching_cpus(&allowed_cpus(), avoid);
        let mut threads = Vec::new();
        let thread = |name: &str| {
            std::thread::Builder::new()
                .name(name.into())
                .stack_size(128 * 1024)
        };
        for cpu in cpus.clone() {
            let shared = Arc::clone(&shared);
            threads.push(thread("watch").spawn(move || poll_while_watched(&shared, cpu))?);
        }
        let reader = Arc::clone(&shared);
        let stop_descriptor = stop.as_raw_fd();
        threads.push(thread("read").spawn(move || read_when_woken(&reader, stop_descriptor))?);
        Ok(Watch {
            shared,
            stop,
            threads,
            cpus,
        })
    }

    /// Returns the CPUs that are kept awake while a run is watched; empty on a machine with one CPU.
    pub fn cpus(&self) -> &[usize] {
        &self.cpus
    }

    /// Discards earlier results and begins to watch.
    pub fn begin(&self) {
        let mut reading = lock(&self.shared.reading);
        self.shared.empty(&mut reading);
        reading.bytes = 0;
        reading.stamp = None;
        reading.began = now_ns();
        self.shared.empty_ns.store(0, Ordering::Relaxed);
        self.shared.taken.store(false, Ordering::Release);
        drop(reading);
        let mut order = lock(&self.shared.order);
        order.last += 1;
        order.run = order.last;
        self.shared
            .polled_ns
            .store(mark(order.run), Ordering::Release);
        self.shared.watched_run.store(order.run, Ordering::Release);
        drop(order);
        self.shared.changed.notify_all();
    }

    /// Reads what is still in the pipe, and ends the watch.
    pub fn finish(&self) -> Watched {
        lock(&self.shared.order).run = 0;
        self.shared.watched_run.store(0, Ordering::Release);
        let polled = self.shared.polled_ns.load(Ordering::Acquire);
        let polled = if is_mark(polled) { 0 } else { polled };
        let empty = self.shared.empty_ns.load(Ordering::Acquire);
        let gap = (polled != 0 && empty != 0).then(|| polled.saturating_sub(empty));
        let mut reading = lock(&self.shared.reading);
        if gap.is_none_or(|gap| gap > CLOSE_NS) && (reading.bytes > 0 || self.shared.has_bytes()) {
            // The reader was woken and knows how late it is, so it is worth waiting for.
            let waiting =
                self.shared
                    .noted
                    .wait_timeout_while(reading, PATIENCE_WITH_READER, |reading| {
                        reading.stamp.is_none()
                    });
            reading = waiting.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        let left = self.shared.empty(&mut reading);
        let (first, by) = first_of(polled, gap, reading.stamp, left.then(now_ns)).unzip();
        Watched {
            // When the pipe was seen empty, no byte had arrived yet.
            first_byte_ns: first.map(|at: u64| at.max(empty)),
            by,
            uncertainty_ns: gap.filter(|_| by == Some(StampedBy::Watch)),
            bytes: reading.bytes,
        }
    }
}

/// Returns the best timestamp: that of a polling thread if it is precise, otherwise the reader's minus its
/// wait, otherwise the earlier one.
fn first_of(
    polled: u64,
    gap: Option<u64>,
    reader: Option<Stamp>,
    left_over: Option<u64>,
) -> Option<(u64, StampedBy)> {
    if gap.is_some_and(|gap| gap <= CLOSE_NS) {
        return Some((polled, StampedBy::Watch));
    }
    let reader = reader.map(|stamp| match stamp.waited_ns {
        Some(waited) => (stamp.at - waited.min(stamp.at), StampedBy::WokenReader),
        None => (stamp.at, StampedBy::LateReader),
    });
    let watch = (polled != 0).then_some((polled, StampedBy::Watch));
    let late = left_over.map(|at| (at, StampedBy::LateReader));
    [reader, watch, late]
        .into_iter()
        .flatten()
        .min_by_key(|(at, _)| *at)
}

impl Drop for Watch {
    fn drop(&mut self) {
        lock(&self.shared.order).over = true;
        self.shared.watched_run.store(0, Ordering::Release);
        self.shared.changed.notify_all();
        let one = 1u64.to_ne_bytes();
        // SAFETY: writes eight bytes to our own eventfd.
        unsafe { libc::write(self.stop.as_raw_fd(), one.as_ptr().cast(), one.len()) };
        for thread in self.threads.drain(..) {
            // The threads panic only because of a bug, which can't be handled here.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn watched_pipe() -> (Watch, io::PipeWriter) {
        let (reader, writer) = io::pipe().unwrap();
        (Watch::start(reader.into(), &[]).unwrap(), writer)
    }

    #[test]
    fn the_first_byte_is_seen_after_it_was_written_and_before_the_end() {
        let (watch, mut writer) = watched_pipe();
        for _ in 0..20 {
            watch.begin();
            let before = now_ns();
            writer.write_all(b"hello").unwrap();
            writer.write_all(b"again").unwrap();
            let watched = watch.finish();
            let after = now_ns();
            // The scheduler's clock, which counts the reader's wait, has a resolution of some microseconds.
            let seen = watched.first_byte_ns.unwrap() + 1_000_000;
            assert!(
                before <= seen && seen <= after + 1_000_000,
                "{before} {seen} {after}"
            );
            assert_eq!(watched.bytes, 10);
        }
    }

    #[test]
    fn a_run_that_writes_nothing_has_no_stamp_and_does_not_inherit_one() {
        let (watch, mut writer) = watched_pipe();
        watch.begin();
        writer.write_all(b"x").unwrap();
        assert!(watch.finish().first_byte_ns.is_some());
        writer.write_all(b"late").unwrap();
        watch.begin();
        assert_eq!(
            watch.finish(),
            Watched {
                bytes: 0,
                ..Watched::default()
            }
        );
    }

    #[test]
    fn output_larger_than_the_pipe_does_not_hold_up_the_writer() {
        let (watch, mut writer) = watched_pipe();
        watch.begin();
        writer.write_all(&vec![7; 3 << 20]).unwrap();
        assert_eq!(watch.finish().bytes, 3 << 20);
    }

    #[test]
    fn what_the_reader_was_woken_by_before_a_run_is_no_part_of_it() {
        let mut reading = Reading {
            bytes: 0,
            buffer: Vec::new(),
            began: 1000,
            stamp: None,
        };
        reading.note(900, Some(10));
        assert!(reading.stamp.is_none());
        reading.note(1500, Some(600));
        let stamp = reading.stamp.unwrap();
        assert_eq!((stamp.at, stamp.waited_ns), (1500, None));
        reading.note(1600, Some(1));
        assert_eq!(reading.stamp.unwrap().at, 1500);
    }

    #[test]
    fn a_late_reader_is_set_right_by_its_wait_and_a_close_poll_comes_first() {
        let reader = |at, waited_ns| Some(Stamp { at, waited_ns });
        let best = |polled, gap, reader| first_of(polled, gap, reader, None);
        assert_eq!(
            best(900, Some(300), reader(5000, Some(4500))),
            Some((900, StampedBy::Watch))
        );
        assert_eq!(
            best(
                9_000_000,
                Some(8_000_000),
                reader(7_000_000, Some(6_000_000))
            ),
            Some((1_000_000, StampedBy::WokenReader))
        );
        assert_eq!(
            best(0, None, reader(7_000_000, None)),
            Some((7_000_000, StampedBy::LateReader))
        );
        assert_eq!(best(0, None, None), None);
    }
}
