//! How fast a file is read from memory and from the device, and the cost of a sync.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::context::Context;
use crate::cpu_gate::CpuOf;
use crate::result::{Estimator, Heading, ProbeResult};
use crate::samples::{Agreement, judge};
use crate::track::{Track, alone, sample};

const WARM: Heading = Heading {
    id: "file_read_warm",
    title: "file read, in memory",
    unit: "GB/s",
    method: "pread of 256 KiB pieces of a 32 MiB file that was just read; the median piece.",
};

const COLD: Heading = Heading {
    id: "file_read_cold",
    title: "file read, from the device",
    unit: "GB/s",
    method: "the same file after its pages were dropped (posix_fadvise, checked by mincore), read in parts of 4 MiB; \
         the median part. In a virtual machine, the data can come from the host's memory.",
};

const SYNC: Heading = Heading {
    id: "fsync",
    title: "fsync after 4 KiB",
    unit: "us",
    method: "4 KiB written over the start of the file, followed by fsync; the median.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[WARM, COLD, SYNC];

const FILE_BYTES: usize = 32 << 20;

/// Number of parts of the file that are read cold, one figure each. Individual pieces would not work: the
/// system reads ahead, so most pieces would seem as fast as memory.
const COLD_PARTS: usize = 8;

/// A file that is deleted when dropped.
struct Scratch {
    file: File,
    path: PathBuf,
}

impl Scratch {
    fn new(directory: &Path) -> io::Result<Scratch> {
        let path = directory.join(format!("fathom-machine-{}.tmp", std::process::id()));
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)?;
        let scratch = Scratch { file, path };
        // Numbers that no file system compresses or stores as a hole.
        let mut random = crate::chase::Xorshift::new(0xf11e);
        let piece: Vec<u8> = (0..1 << 17)
            .flat_map(|_| random.next().to_le_bytes())
            .collect();
        for at in (0..FILE_BYTES).step_by(piece.len()) {
            if crate::deadline::passed() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            scratch.file.write_all_at(&piece, at as u64)?;
        }
        scratch.file.sync_all()?;
        Ok(scratch)
    }

    /// Drops the file's pages; returns true if none is left in memory.
    fn evict(&self) -> bool {
        // Pages that are still being read ahead, or are in a CPU's local list, stay: try again.
        (0..20).any(|_| {
            let fd = self.file.as_raw_fd();
            // SAFETY: the descriptor is open.
            unsafe { libc::posix_fadvise(fd, 0, 0, libc::POSIX_FADV_DONTNEED) };
            self.resident() == Some(0) || {
                std::thread::sleep(Duration::from_millis(2));
                false
            }
        })
    }

    /// Returns the number of the file's pages that are in memory (`mincore`).
    fn resident(&self) -> Option<usize> {
        // SAFETY: maps the open file for reading; the length is the file's.
        let map = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                FILE_BYTES,
                libc::PROT_READ,
                libc::MAP_SHARED,
                self.file.as_raw_fd(),
                0,
            )
        };
        if map == libc::MAP_FAILED {
            return None;
        }
        let mut pages = vec![0u8; FILE_BYTES / 4096];
        // SAFETY: one byte for each page of at least 4 KiB of the mapping made above.
        let error = unsafe { libc::mincore(map, FILE_BYTES, pages.as_mut_ptr()) };
        // SAFETY: unmaps what was mapped above.
        unsafe { libc::munmap(map, FILE_BYTES) };
        (error == 0).then(|| pages.iter().filter(|page| **page & 1 == 1).count())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Measures the three figures with a file in the context's directory.
pub(crate) fn run(context: &Context) -> Vec<ProbeResult> {
    let scratch = match Scratch::new(&context.directory) {
        Ok(scratch) => scratch,
        Err(error) => {
            let why = format!(
                "can't write a file in {}: {error}",
                context.directory.display()
            );
            return [WARM, COLD, SYNC]
                .map(|heading| heading.not_measurable(why.as_str()))
                .into();
        }
    };
    let cold = cold(&scratch);
    let sync = sync(&scratch);
    let mut results = vec![warm(scratch), cold, sync];
    if let Some(kind) = crate::mounts::of(&context.directory) {
        for result in &mut results[1..] {
            result.add_note(format!("{} on {}", kind.file_system, kind.device));
        }
    }
    results
}

fn warm(scratch: Scratch) -> ProbeResult {
    const PIECE: usize = 256 << 10;
    let mut buffer = vec![0u8; PIECE];
    for at in (0..FILE_BYTES).step_by(PIECE) {
        if scratch.file.read_exact_at(&mut buffer, at as u64).is_err() {
            return WARM.not_measurable("the file could not be read");
        }
    }
    let agreement = Agreement {
        estimator: Estimator::Median,
        tolerance: 0.15,
    };
    let mut at = 0;
    alone(Track::new(
        WARM,
        agreement,
        Duration::from_millis(30),
        move || {
            let start = Instant::now();
            let done = scratch.file.read_exact_at(&mut buffer, at as u64);
            let ns = start.elapsed().as_nanos() as f64;
            at = (at + PIECE) % FILE_BYTES;
            if done.is_ok() {
                PIECE as f64 / ns
            } else {
                f64::NAN
            }
        },
    ))
}

fn cold(scratch: &Scratch) -> ProbeResult {
    let mut buffer = vec![0u8; 1 << 20];
    let mut passes = Vec::new();
    for _ in 0..3 {
        let mut pass = crate::samples::Samples::default();
        for part in 0..COLD_PARTS {
            if crate::deadline::passed() {
                break;
            }
            if !scratch.evict() {
                let why =
                    "the file's pages stayed in memory (tmpfs, or a file system that keeps them)";
                return COLD.not_measurable(why);
            }
            let bytes = FILE_BYTES / COLD_PARTS;
            let start = Instant::now();
            let done = (0..bytes).step_by(buffer.len()).all(|at| {
                scratch
                    .file
                    .read_exact_at(&mut buffer, (part * bytes + at) as u64)
                    .is_ok()
            });
            if done {
                pass.values
                    .push(bytes as f64 / start.elapsed().as_nanos() as f64);
            }
        }
        passes.push(pass);
    }
    judge(
        COLD,
        Agreement {
            estimator: Estimator::Median,
            tolerance: 0.25,
        },
        &passes,
    )
}

fn sync(scratch: &Scratch) -> ProbeResult {
    let page = [1u8; 4096];
    let mut chunk = || {
        let start = Instant::now();
        let done = scratch
            .file
            .write_all_at(&page, 0)
            .and_then(|()| scratch.file.sync_all());
        let us = start.elapsed().as_nanos() as f64 / 1e3;
        if done.is_ok() { us } else { f64::NAN }
    };
    let mut pass = || sample(CpuOf::Nobody, Duration::from_millis(150), &mut chunk);
    let passes = [pass(), pass(), pass()];
    judge(
        SYNC,
        Agreement {
            estimator: Estimator::Median,
            tolerance: 0.25,
        },
        &passes,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_gone_afterwards() {
        let directory = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(directory.path()).unwrap();
        assert_eq!(scratch.file.metadata().unwrap().len(), FILE_BYTES as u64);
        drop(scratch);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_that_can_not_be_written_is_named() {
        let mut context = Context::bare();
        context.directory = "/proc/self".into();
        let results = run(&context);
        assert!(results.iter().all(|result| result.value.is_none()));
        assert!(results[0].note.as_ref().unwrap().contains("/proc/self"));
    }
}
