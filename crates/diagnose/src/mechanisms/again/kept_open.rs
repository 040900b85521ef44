//! Detects files that stay open while the same data is read from them repeatedly.

use super::reopened::whole;
use super::{Again, ON_READ, finding, from_memory, is_database};
use crate::mechanisms::prelude::*;

/// Finds a file that stays open and is repeatedly read to its end; each time, one read returns nothing.
pub(crate) fn rewound(analysis: &Analysis<'_>) -> Option<Claim> {
    let files = analysis.trace.files.iter().filter(|file| stays_open(file));
    let files = files.filter_map(|file| {
        let file = whole(analysis, file);
        let fd = file.fd?;
        let on_it = reads_of(file.pid, fd);
        let rows = analysis.rows_of_process(file.pid).filter(|row| on_it(row));
        let at_end: u64 = rows.map(|row| row.sizes[0]).sum();
        let reads = analysis.tally(&on_it);
        let rounds = rounds(&file, at_end, reads.calls);
        if rounds < t::MANY_OPENS_OF_ONE_FILE {
            return None;
        }
        // A file that is polled for new data, such as a log, returns little each time.
        let whole = reads.bytes / rounds >= t::LEAST_OF_A_ROUND;
        (whole && is_alone(&file, &reads)).then_some((file, fd, reads, rounds))
    });
    let (file, fd, reads, rounds) = files.max_by(|a, b| a.2.cost_ns.total_cmp(&b.2.cost_ns))?;
    let again = 1.0 - 1.0 / rounds as f64;
    let all = analysis.tally(|row| row.pid == file.pid && calls::is_read(&row.name));
    let part = part_of(reads.bytes, all.bytes);
    let calls = CallCost::with(&reads, analysis, reads_of(file.pid, fd)).part(again);
    let repeated = Again {
        pid: file.pid,
        paths: &[file.name.to_string()],
        again,
        bytes: reads.bytes as f64,
        times: rounds as f64,
        part,
    };
    let work = (repeated.work_ns(analysis, &calls), ON_READ);
    let statement = format!(
        "`{}` was read to its end {} times, {} in all",
        file_name(&file.name.text()),
        count(rounds),
        bytes(reads.bytes as f64),
    );
    let finding = finding(FindingId::Rereading, analysis, &calls, work, &statement);
    let finding = finding.evidence("times read to the end", rounds, "calls");
    let finding = finding.evidence("reads", reads.calls, "calls");
    let finding = finding.evidence("bytes read", reads.bytes, "bytes");
    let finding = finding.advice("Read the file once and keep the parts that are needed.");
    let finding = finding.limit(from_memory(analysis, reads.bytes as f64 / rounds as f64));
    Some(on(finding, &file))
}

/// Returns how often a file was read to its end, if that many of the reads of its descriptor, also of other files that
/// had the same number, returned nothing.
fn rounds(file: &FileRow, at_end: u64, reads: u64) -> u64 {
    match file.size_bytes.filter(|size| *size > 0) {
        Some(size) => at_end.min(file.read_bytes / size),
        None => (at_end as f64 * part_of(file.reads, reads)) as u64,
    }
}

/// A file from which many times its size is read.
struct Sought {
    file: FileRow,
    reads: Tally,
    /// The size of the file in bytes.
    size: u64,
    /// Whether nearly every read follows a seek to one of many positions. Such a read fills a stream's
    /// buffer, of which only one record is used.
    by_seeks: bool,
}

impl Sought {
    fn times(&self) -> f64 {
        self.file.read_bytes as f64 / self.size as f64
    }
}

/// Returns the file that stays open, from which many times its size is read, and whose reads cost the most.
fn most_sought(analysis: &Analysis<'_>) -> Option<Sought> {
    let files = analysis.trace.files.iter();
    let files = files.filter(|file| stays_open(file) && stays_as_it_is(file));
    let files = files.filter_map(|file| {
        let size = file
            .size_bytes
            .filter(|size| *size >= t::LEAST_OF_A_ROUND)?;
        let file = whole(analysis, file);
        let fd = file.fd?;
        // The interpreter of a script can't read it in any other way.
        if fd == 0 && analysis.runtime(Some(file.pid)).has(Habit::GoesBack) {
            return None;
        }
        let often = file.read_bytes >= t::MANY_OPENS_OF_ONE_FILE * size;
        // For smaller pieces, the cost is in the calls, which are covered by another rule.
        let pieces = file.read_bytes >= t::LEAST_OF_A_ROUND * file.reads.max(1);
        if !(often && pieces) {
            return None;
        }
        let reads = analysis.tally(reads_of(file.pid, fd));
        let seeks = analysis.tally(seeks_of(file.pid, fd));
        let each = reads.bytes / reads.calls.max(1);
        let by_seeks = seeks.calls * 2 >= reads.calls
            && each <= t::BUFFER_OF_A_STREAM
            && each * t::PIECES_OF_A_FILE <= size;
        is_alone(&file, &reads).then_some(Sought {
            file,
            reads,
            size,
            by_seeks,
        })
    });
    files.max_by(|a, b| a.reads.cost_ns.total_cmp(&b.reads.cost_ns))
}

/// Finds a file that stays open and from which many times its size is read, at any position.
pub(crate) fn sought(analysis: &Analysis<'_>) -> Option<Claim> {
    let found = most_sought(analysis).filter(|found| !found.by_seeks)?;
    let times = found.times();
    let Sought {
        file, reads, size, ..
    } = found;
    // If pieces are looked up, it is unknown how much of them is processed.
    let calls = CallCost::with(&reads, analysis, reads_of(file.pid, file.fd?)).without_library();
    let calls = calls.part(1.0 - 1.0 / times);
    let statement = format!(
        "{} reads fetched {} from one file of {}, {} times its size",
        count(reads.calls),
        bytes(file.read_bytes as f64),
        bytes(size as f64),
        count(times.round()),
    );
    let finding = finding(
        FindingId::Rereading,
        analysis,
        &calls,
        (0.0, ON_READ),
        &statement,
    );
    let finding = finding.evidence("reads", reads.calls, "calls");
    let finding = finding.evidence("bytes read", file.read_bytes, "bytes");
    let finding = finding.evidence("size of the file", size, "bytes");
    let finding = match is_database(analysis, &file.name.text()) {
        true => finding
            .with("It is a database, whose queries go through most of its pages each time.")
            .advice(
                "Find the query that scans a whole table (`EXPLAIN QUERY PLAN` says `SCAN`), and create an index for \
                 what it looks up, or ask for many rows at a time.",
            ),
        false => finding.advice(
            "Keep the parts of the file that are needed repeatedly in memory, or map the file (`mmap`).",
        ),
    };
    let finding = finding.limit(from_memory(analysis, size as f64));
    Some(on(finding, &file))
}

/// Finds a stream whose buffer is refilled after each seek, for the sake of one record.
pub(crate) fn refilled(analysis: &Analysis<'_>) -> Option<Claim> {
    let found = most_sought(analysis).filter(|found| found.by_seeks)?;
    let (pid, fd) = (found.file.pid, found.file.fd?);
    let reads = CallCost::with(&found.reads, analysis, reads_of(pid, fd));
    let cost = reads.plus(CallCost::of(analysis, seeks_of(pid, fd)));
    let statement = format!(
        "{} reads, each after a seek, filled a buffer with {} bytes each time to get one record of {}: in all, they \
         read {} times the file's size of {}; the calls",
        count(found.reads.calls),
        count(found.reads.bytes / found.reads.calls.max(1)),
        file_name(&found.file.name.text()),
        count(found.times().round()),
        bytes(found.size as f64),
    );
    let finding = cost.finding(FindingId::SmallFileIo, analysis, &statement);
    let finding = finding.evidence("reads", found.reads.calls, "calls");
    let each = found.reads.bytes_per_call();
    let finding = finding.evidence("bytes per call", each, "bytes/call");
    let finding = finding.evidence("size of the file", found.size, "bytes");
    let finding = finding.advice("A seek discards a stream's buffer: read the file in order, keep it in memory or map it (`mmap`), or read \
         just the record (`pread`).");
    Some(on(finding, &found.file))
}

fn on(claim: Claim, file: &FileRow) -> Claim {
    let path = file.name.to_string();
    claim.pid(file.pid).on(file.fd, path)
}

/// Reports whether a file that doesn't belong to the system is opened a few times at most.
fn stays_open(file: &FileRow) -> bool {
    file.opens < t::MANY_OPENS_OF_ONE_FILE
        && file.name.text().starts_with('/')
        && !is_of_system(&file.name.text())
}

/// Reports whether nearly all `reads` of a descriptor are of this file; the number may have been reused for
/// several files.
fn is_alone(file: &FileRow, reads: &Tally) -> bool {
    file.reads * 10 >= reads.calls * 9
}

/// Matches seeks on one descriptor.
fn seeks_of(pid: u32, fd: i32) -> impl Fn(&SyscallRow) -> bool {
    move |row| row.pid == pid && row.fd == Some(fd) && row.name == "lseek"
}

/// Matches reads of one descriptor.
fn reads_of(pid: u32, fd: i32) -> impl Fn(&SyscallRow) -> bool {
    move |row| row.pid == pid && row.fd == Some(fd) && calls::is_read(&row.name)
}

/// Reports whether a file is written at most once and then read repeatedly, for instance by a program that
/// first creates it.
pub(super) fn stays_as_it_is(file: &FileRow) -> bool {
    file.written_bytes.saturating_mul(t::MANY_OPENS_OF_ONE_FILE) <= file.read_bytes
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::Fake;

    #[test]
    fn a_file_that_is_rewound_and_read_to_its_end_is_found() {
        let rewound = |bytes: u64| {
            let mut fake = Fake::new(1000);
            fake.calls("read", Some(3), 30_000, bytes, 12_000);
            fake.calls("read", Some(3), 10_000, 0, 300);
            fake.file("/etc/table.json", 1, 40_000, 30_000 * bytes, 0);
            fake.trace.files[0].fd = Some(3);
            fake.ids()
        };
        assert_eq!(rewound(4096), ["rereading"]);
        // Several files are opened one after another under the same number, as `ps` does.
        let mut fake = Fake::new(1000);
        fake.calls("read", Some(3), 30_000, 4096, 12_000);
        fake.calls("read", Some(3), 10_000, 0, 300);
        fake.file("/etc/passwd", 1, 2, 4096, 0);
        fake.trace.files[0].fd = Some(3);
        assert!(!fake.ids().contains(&"rereading"));
        // Files of modules had the same number before, and this one was read 40 times.
        let mut fake = Fake::new(1000);
        fake.calls("read", Some(3), 16_000, 4096, 30_000);
        fake.calls("read", Some(3), 66, 0, 300);
        fake.file("/etc/table.json", 40, 16_040, 16_000 * 4096, 0);
        (fake.trace.files[0].fd, fake.trace.files[0].size_bytes) = (Some(3), Some(400 * 4096));
        assert!(!fake.ids().contains(&"rereading"));
        // A log that is polled for new data.
        assert!(!rewound(100).contains(&"rereading"));
    }

    #[test]
    fn a_shell_that_goes_back_to_the_end_of_each_line_is_not() {
        let reported = |language| {
            let mut fake = Fake::new(1000);
            fake.calls("read", Some(0), 60_000, 4_096, 3_000);
            fake.file("/data/lines", 1, 60_000, 60_000 * 4_096, 0);
            fake.trace.files[0].fd = Some(0);
            fake.trace.files[0].size_bytes = Some(500_000);
            fake.language = Some(language);
            fake.ids().contains(&"rereading")
        };
        assert!(reported(crate::Language::C));
        assert!(!reported(crate::Language::Shell));
    }

    #[test]
    fn pieces_of_a_small_file_that_are_read_again_and_again_are_found() {
        let sought_beside = |size: u64, bytes: u64, missing: &str| {
            let mut fake = Fake::new(1000);
            fake.misses("access", missing, 10);
            fake.calls("pread64", Some(3), 120_000, bytes, 5_000);
            fake.file("/data/tree.db", 1, 120_000, 120_000 * bytes, 0);
            fake.trace.files[0].fd = Some(3);
            fake.trace.files[0].size_bytes = Some(size);
            fake.findings()
        };
        let sought = |size, bytes| sought_beside(size, bytes, "/data/tree.lock");
        let database = sought_beside(1 << 20, 16_384, "/data/tree.db-journal");
        assert!(database[0].advice.contains("index"), "{database:?}");
        let found = sought(1 << 20, 16_384);
        assert!(found[0].advice.contains("mmap"), "{found:?}");
        assert_eq!(found[0].id, FindingId::Rereading);
        let reported =
            "120,000 reads fetched 1.8 GiB from one file of 1.0 MiB, 1,875 times its size";
        assert!(
            found[0].statement.starts_with(reported),
            "{}",
            found[0].statement
        );
        assert!(sought(1 << 30, 16_384).is_empty(), "twice is not often");
        assert!(
            sought(1 << 16, 100)
                .iter()
                .all(|found| found.id != FindingId::Rereading)
        );
    }

    fn reported(seeks: u64, size: u64) -> Vec<&'static str> {
        let mut fake = Fake::new(1000);
        fake.calls("lseek", Some(3), seeks, 0, 300);
        fake.calls("read", Some(3), 120_000, 8_191, 2_000);
        fake.file("/data/samples.bin", 1, 120_000, 120_000 * 8_191, 0);
        fake.trace.files[0].fd = Some(3);
        fake.trace.files[0].size_bytes = Some(size);
        fake.ids()
    }

    #[test]
    fn a_buffer_that_each_seek_empties_is_found() {
        assert_eq!(reported(120_000, 3 << 20), ["small-file-io"]);
    }

    #[test]
    fn what_is_read_again_as_a_whole_is_not() {
        assert_eq!(reported(120_000, 32 << 10), ["rereading"]);
        assert_eq!(reported(100, 3 << 20), ["rereading"]);
    }
}
