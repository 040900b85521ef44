//! The cost of the first touch of a page.

use std::time::{Duration, Instant};

use crate::context::Context;
use crate::mapping::{HUGE, Mapping, Pages};
use crate::probes::mapped_file;
use crate::result::{Estimator, Heading, ProbeResult};
use crate::samples::Agreement;
use crate::track::{Track, interleave};

const SMALL: Heading = Heading {
    id: "page_fault",
    title: "first touch of a 4 KiB page",
    unit: "ns",
    method: "first writes to 64 new pages in a row; the 10th percentile of the time per page; returning the pages is \
         not included.",
};

const HUGE_PAGE: Heading = Heading {
    id: "page_fault_huge",
    title: "first touch of a huge page",
    unit: "us",
    method: "one write to 2 MiB of new, aligned memory for which a huge page is requested; the 10th percentile; \
         clearing the page is included.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[SMALL, HUGE_PAGE];

/// Pages touched per chunk: 64 x 0.5 to 1.2 us are 30 to 80 us.
const TOUCHED: usize = 64;

/// Measures all figures.
pub(crate) fn run(context: &Context) -> Vec<ProbeResult> {
    let agreement = Agreement {
        estimator: Estimator::P10,
        tolerance: 0.1,
    };
    let (Ok(small), Ok(huge)) = (
        Mapping::new(HUGE, Pages::Small),
        Mapping::new(HUGE, Pages::Huge),
    ) else {
        let refused = |heading: Heading| heading.not_measurable("no memory");
        let mut results: Vec<ProbeResult> = HEADINGS.iter().copied().map(refused).collect();
        results.extend(mapped_file::run(&context.directory));
        return results;
    };
    // The kernel's own accounting tells whether a huge page was used.
    touch(&huge, 1);
    let granted = huge.huge_bytes().unwrap_or(0) > 0;
    let mut tracks = vec![Track::new(
        SMALL,
        agreement,
        Duration::from_millis(20),
        move || {
            small.forget();
            let start = Instant::now();
            touch(&small, TOUCHED);
            start.elapsed().as_nanos() as f64 / TOUCHED as f64
        },
    )];
    if granted {
        tracks.push(Track::new(
            HUGE_PAGE,
            agreement,
            Duration::from_millis(30),
            move || {
                huge.forget();
                let start = Instant::now();
                touch(&huge, 1);
                start.elapsed().as_nanos() as f64 / 1000.0
            },
        ));
    }
    let mut results = interleave(tracks, Duration::from_millis(400));
    if let Some(result) = results.first_mut()
        && let Some(ns) = result.value
    {
        result.add_note(format!(
            "new memory is available at {:.1} GB/s at most",
            4096.0 / ns
        ));
    }
    if !granted {
        results.push(HUGE_PAGE.not_measurable("the system granted no huge page"));
    }
    results.extend(mapped_file::run(&context.directory));
    results
}

fn touch(mapping: &Mapping, pages: usize) {
    for page in 0..pages {
        // SAFETY: 64 pages of 4 KiB lie inside the mapping of 2 MiB.
        unsafe { mapping.base().add(page * 4096).write_volatile(1) };
    }
}
