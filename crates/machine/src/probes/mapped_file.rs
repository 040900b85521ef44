//! The cost of accessing a page of a file that is already in memory, through a mapping.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::chase::Xorshift;
use crate::result::{Estimator, Heading, ProbeResult};
use crate::samples::Agreement;
use crate::track::{Track, interleave};

const WHOLE: Heading = Heading {
    id: "page_fault_file",
    title: "page of a mapped file, in memory",
    unit: "ns",
    method: "a 1 MiB file, written in one call, is mapped again; one byte of each 4 KiB page is read, in random order; \
         then the file is unmapped. The figure is the 10th percentile of the time per page, less the cost of \
         mapping and unmapping without reading. The kernel maps neighbouring pages with each fault, so most of \
         these pages do not fault.",
};

const IN_PAGES: Heading = Heading {
    id: "page_fault_file_small",
    title: "  of a file written in small pieces",
    unit: "ns",
    method: "the same for a file that was written 4 KiB at a time: the system keeps it in equally small pieces, and a \
         fault has to look up each of them.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[WHOLE, IN_PAGES];

const PAGE: usize = 4096;

/// 256 pages: at about 0.3 us each a chunk is 80 us.
const PAGES: usize = 256;

/// Creates an unnamed file, written `piece` bytes at a time; it disappears when closed, even after a crash.
fn nameless(directory: &Path, piece: usize) -> io::Result<File> {
    let path = directory.join(format!("fathom-mapped-{}.tmp", std::process::id()));
    let mut file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    std::fs::remove_file(&path)?;
    for bytes in vec![7; PAGES * PAGE].chunks(piece) {
        file.write_all(bytes)?;
    }
    Ok(file)
}

/// Returns page numbers in random order.
fn order() -> Vec<usize> {
    let mut order: Vec<usize> = (0..PAGES).collect();
    let mut random = Xorshift::new(0xfa17);
    for last in (1..PAGES).rev() {
        order.swap(last, random.below(last as u64 + 1) as usize);
    }
    order
}

/// Returns ns per page of a new mapping of `file`, including the unmapping; NaN if it can't be mapped.
fn touch(file: &File, order: &[usize]) -> f64 {
    // If the mapping that isn't read were disturbed, the pages would look faster: use the minimum of three
    // measurements.
    let unread = (0..3)
        .filter_map(|_| mapped(file, &[]))
        .min_by(f64::total_cmp);
    match unread.zip(mapped(file, order)) {
        Some((unread, read)) => (read - unread).max(0.0) / PAGES as f64,
        None => f64::NAN,
    }
}

/// Returns ns to read one byte of each of these pages of a new mapping and to unmap it; `None` if it can't be
/// mapped or the bytes differ.
fn mapped(file: &File, pages: &[usize]) -> Option<f64> {
    // SAFETY: a new shared read-only mapping of an open file doesn't touch existing memory.
    let map = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            PAGES * PAGE,
            libc::PROT_READ,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    if map == libc::MAP_FAILED {
        return None;
    }
    let base: *const u8 = map.cast();
    let start = Instant::now();
    let mut sum = 0u64;
    for page in pages {
        // SAFETY: the page lies inside the mapping, and the file is as long as the mapping: no other process
        // has its descriptor, so none can truncate it.
        sum += u64::from(unsafe { base.add(page * PAGE).read_volatile() });
    }
    // SAFETY: unmaps the mapping from above; no pointer into it is kept.
    unsafe { libc::munmap(map, PAGES * PAGE) };
    let ns = start.elapsed().as_nanos() as f64;
    (sum == 7 * pages.len() as u64).then_some(ns)
}

/// Runs the probes, with files in `directory`.
pub(crate) fn run(directory: &Path) -> Vec<ProbeResult> {
    let mut tracks = Vec::new();
    for (heading, piece) in [(WHOLE, PAGES * PAGE), (IN_PAGES, PAGE)] {
        let file = match nameless(directory, piece) {
            Ok(file) => file,
            Err(error) => {
                let why = format!("can't write a file in {}: {error}", directory.display());
                let refused = |heading: Heading| heading.not_measurable(why.clone());
                return HEADINGS.iter().copied().map(refused).collect();
            }
        };
        let order = order();
        let agreement = Agreement {
            estimator: Estimator::P10,
            tolerance: 0.1,
        };
        let chunk = Duration::from_millis(20);
        tracks.push(Track::new(heading, agreement, chunk, move || {
            touch(&file, &order)
        }));
    }
    interleave(tracks, Duration::from_millis(400))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_read_once_and_out_of_order() {
        let order = order();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..PAGES).collect::<Vec<_>>());
        assert_ne!(sorted, order);
    }

    #[test]
    fn the_bytes_that_are_read_are_those_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = nameless(folder.path(), PAGE).unwrap();
        assert!(touch(&file, &order()) > 0.0);
        // Changed content is noticed: nothing was optimised away.
        use std::os::unix::fs::FileExt;
        file.write_all_at(&[8], 0).unwrap();
        assert!(touch(&file, &order()).is_nan());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
