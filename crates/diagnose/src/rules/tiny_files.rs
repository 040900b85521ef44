//! Thousands of very small files are opened for a few bytes each.

use std::collections::{HashMap, HashSet};

use fathom_model::{FindingId, Place, TimeCategory};
use fathom_trace::{FileRow, SyscallRow};

use super::pseudo_files::is_of_system;
use crate::analysis::Analysis;
use crate::calls;
use crate::claim::Claim;
use crate::classify;
use crate::descriptors::WaitKind;
use crate::finding_builder::is_significant;
use crate::mechanisms::per_item::CallCost;
use crate::numbers::count;
use crate::thresholds as t;

/// How the files' data is had or put there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Read,
    Written,
    /// Some are read and others written, as where each becomes one.
    Moved,
    Mapped,
}

impl Way {
    /// So many different files are many; `None` if they aren't had in this way.
    fn many(self, files: &Files) -> Option<u64> {
        match self {
            // A copy makes one of each that it reads.
            Way::Moved => {
                let both = files.read.min(files.written) * 4 >= files.different;
                both.then_some(t::MANY_TINY_FILES * 3 / 2)
            }
            Way::Read | Way::Written | Way::Mapped => Some(t::MANY_TINY_FILES),
        }
    }

    /// Bytes that were had of a file in this way, or put there, if they were.
    fn bytes(self, file: &FileRow) -> Option<u64> {
        match self {
            Way::Read => (file.reads > 0).then_some(file.read_bytes),
            Way::Written => (file.reads == 0 && file.writes > 0).then_some(file.written_bytes),
            Way::Moved => {
                (file.reads + file.writes > 0).then_some(file.read_bytes + file.written_bytes)
            }
            Way::Mapped if file.reads + file.writes > 0 => None,
            Way::Mapped => file
                .size_bytes
                .filter(|size| (1..=t::PAGE_BYTES).contains(size))
                .map(|size| size.saturating_mul(file.opens)),
        }
    }
}

/// Different files that one process had or made.
struct Files {
    pid: u32,
    different: u64,
    opens: u64,
    /// Calls that moved their data.
    reads: u64,
    writes: u64,
    bytes: u64,
    /// Files that were read, and that were written.
    read: u64,
    written: u64,
    /// One of them.
    example: String,
}

impl Files {
    fn bytes_each(&self) -> f64 {
        self.bytes as f64 / self.opens.max(1) as f64
    }
}

/// Calls that are made for each of many files: its data, and its end.
const CALLS_FOR_EACH_FILE: u64 = 3;

/// Processes that read one file after another, each of them once: no buffer makes the calls fewer.
pub(crate) fn read_one_by_one(analysis: &Analysis<'_>) -> HashSet<u32> {
    let mut calls: HashMap<u32, u64> = HashMap::new();
    let rows = analysis.trace.syscalls.iter();
    for row in rows.filter(|row| calls::is_read(&row.name)) {
        *calls.entry(row.pid).or_default() += row.calls;
    }
    let is_so = |files: &Files| {
        let each_once = files.opens < files.different * 2;
        let calls = calls.get(&files.pid).copied().unwrap_or(0);
        each_once && files.reads <= files.opens * CALLS_FOR_EACH_FILE && files.reads * 2 > calls
    };
    let all = had_by_process(analysis, Way::Read, |_| true).into_iter();
    all.filter(is_so).map(|files| files.pid).collect()
}

/// What each process had of such files, most files first.
fn had_by_process(
    analysis: &Analysis<'_>,
    way: Way,
    fits: impl Fn(&FileRow) -> bool,
) -> Vec<Files> {
    let is_real = |file: &&FileRow| file.name.text().contains('/') && fits(file);
    let mut by_process: HashMap<u32, Files> = HashMap::new();
    for file in analysis.trace.files.iter().filter(is_real) {
        let Some(bytes) = way.bytes(file).filter(|_| file.opens > 0) else {
            continue;
        };
        let sum = by_process.entry(file.pid).or_insert_with(|| Files {
            pid: file.pid,
            different: 0,
            opens: 0,
            reads: 0,
            writes: 0,
            bytes: 0,
            read: 0,
            written: 0,
            example: file.name.to_string(),
        });
        sum.different += 1;
        sum.opens += file.opens;
        sum.reads += file.reads;
        sum.writes += file.writes;
        sum.read += u64::from(file.reads > 0);
        sum.written += u64::from(file.writes > 0);
        sum.bytes += bytes;
    }
    let mut all: Vec<Files> = by_process.into_values().collect();
    all.sort_by_key(|files| (std::cmp::Reverse(files.different), files.pid));
    all
}

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let ways = [Way::Read, Way::Written, Way::Moved, Way::Mapped];
    ways.into_iter().find_map(|way| one_by_one(analysis, way))
}

/// What the first touch of each mapping costs: a page fault, of those that there were.
fn first_touches(analysis: &Analysis<'_>, mappings: f64) -> CallCost {
    let faults = analysis.fault_cost();
    let ns = faults.each_ns * mappings.min(faults.count as f64);
    CallCost::of_part(TimeCategory::PageFaults, ns)
}

fn one_by_one(analysis: &Analysis<'_>, way: Way) -> Option<Claim> {
    let is_real = |file: &FileRow| !is_of_system(&file.name.text());
    let files = had_by_process(analysis, way, is_real).into_iter().next()?;
    let of_it = |row: &SyscallRow| row.pid == files.pid;
    let opening = |row: &SyscallRow| of_it(row) && calls::opens_file(&row.name);
    let each_once = files.opens < files.different * 2;
    let number = match each_once {
        true => (files.different as f64 * analysis.stretch(opening)).round() as u64,
        false => files.different,
    };
    // What is read more than once is another rule's, which knows nothing of what is mapped.
    let once_read = each_once || way == Way::Mapped;
    if !once_read || number < way.many(&files)? || files.bytes_each() >= t::TINY_FILE_BYTES {
        return None;
    }
    // What else the process reads and opens has no part in it, as far as it was traced.
    let part = |traced: u64, all: u64| (traced as f64 / all.max(1) as f64).min(1.0);
    let traced = |is: &dyn Fn(&SyscallRow) -> bool| {
        let rows = analysis
            .trace
            .syscalls
            .iter()
            .filter(|row| of_it(row) && is(row));
        rows.map(|row| row.calls).sum::<u64>()
    };
    let on_file = |row: &SyscallRow| {
        let kind = row.fd.map(|fd| analysis.descriptors.mostly(row.pid, fd));
        of_it(row)
            && !matches!(
                kind,
                Some(WaitKind::Pipe | WaitKind::Socket | WaitKind::Terminal)
            )
    };
    let is_read = |row: &SyscallRow| on_file(row) && calls::is_read(&row.name);
    let is_write = |row: &SyscallRow| on_file(row) && calls::is_write(&row.name);
    let is_map = |row: &SyscallRow| of_it(row) && row.name == "mmap";
    let is_unmap = |row: &SyscallRow| of_it(row) && row.name == "munmap";
    // Files that are opened and neither read nor mapped are checked, or locked.
    if way == Way::Mapped && traced(&is_map).min(traced(&is_unmap)) * 10 < files.opens * 9 {
        return None;
    }
    let around = |row: &SyscallRow| {
        let on_fd = row.fd.is_some_and(|fd| fd > 2);
        of_it(row) && on_fd && (calls::is_around_read(&row.name) || row.name == "fcntl")
    };
    let opens = CallCost::of(analysis, |row| opening(row) || around(row));
    let read = || CallCost::of(analysis, is_read).part(part(files.reads, traced(&is_read)));
    let written = || CallCost::of(analysis, is_write).part(part(files.writes, traced(&is_write)));
    let of_data = match way {
        Way::Read => read(),
        Way::Written => written(),
        Way::Moved => read().plus(written()),
        Way::Mapped => CallCost::of(analysis, is_map)
            .part(part(files.opens, traced(&is_map)))
            .plus(CallCost::of(analysis, is_unmap).part(part(files.opens, traced(&is_unmap))))
            .plus(first_touches(
                analysis,
                files.opens as f64 * analysis.stretch(opening),
            )),
    };
    // Each of them is somewhere else on the disk, and so is what the folder says of it.
    let (waited, _) = analysis.off(|row| {
        let call = row.call.as_deref().unwrap_or_default();
        let of_data = match way {
            Way::Read => calls::is_read(call),
            Way::Written => calls::is_write(call),
            Way::Moved => calls::is_read(call) || calls::is_write(call),
            Way::Mapped => false,
        };
        let meant = of_data || calls::opens_file(call) || call == "close";
        row.pid == files.pid && meant && classify::from_disk(analysis.trace, row.cause, Some(call))
    });
    let waited = waited.min(analysis.spent_ns(TimeCategory::Disk));
    let waits = CallCost::of_part(TimeCategory::Disk, waited);
    let calls = opens
        .part(part(files.opens, traced(&opening)))
        .plus(of_data);
    let in_calls = calls.in_kernel_ns;
    let cost = calls.plus(waits);
    if !is_significant(analysis, cost.in_kernel_ns)
        || analysis.share(cost.in_kernel_ns) < t::TINY_FILES_SHARE
    {
        return None;
    }
    let statement = format!(
        "{} files of {:.0} bytes each on average were opened, {} and closed{}: {} {} {}",
        count(number),
        files.bytes_each(),
        match way {
            Way::Read => "read",
            Way::Written => "written",
            Way::Moved => "read or written",
            Way::Mapped => "mapped (`mmap`)",
        },
        match each_once {
            true => String::new(),
            false => format!(", {} times in all", count(files.opens)),
        },
        match way {
            _ if waited > in_calls / 4.0 => "the calls and their waits for the disk",
            Way::Read | Way::Written | Way::Moved => "the calls",
            Way::Mapped => "the calls and the page faults",
        },
        cost.in_words(analysis),
        match way {
            Way::Read => "Opening costs more than reading.",
            Way::Written => "Making a file costs more than writing it.",
            Way::Moved => "Opening and making them costs more than their data.",
            Way::Mapped => "Opening and mapping cost more than the data.",
        },
    );
    Some(
        cost.finding(FindingId::SmallFileIo, analysis, statement)
            .evidence("files", number as f64, "files")
            .evidence("bytes of a file", files.bytes_each(), "bytes")
            .advice(match way {
                Way::Read => {
                    "Keep small items together in one file or in a database, and read it once."
                }
                Way::Written | Way::Moved => {
                    "Put small items into one file (an archive, or one with records) or a database."
                }
                Way::Mapped => {
                    "Keep small items together in one file, map that once, and keep the mapping."
                }
            })
            .limit(analysis.cheapest_call_in_words())
            .place(Place {
                pid: Some(files.pid),
                tid: None,
                fd: None,
                path: Some(files.example),
            })
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::Fake;

    fn reads(files: u64, bytes: u64) -> Fake {
        let mut fake = Fake::new(100);
        fake.calls("openat", None, files, 0, 4_000);
        fake.calls("close", Some(3), files, 0, 1_000);
        fake.calls("lseek", Some(3), files, 0, 500);
        fake.calls("read", Some(3), 2 * files, bytes / 2, 1_000);
        for i in 0..files {
            fake.file(&format!("/data/{i}.txt"), 1, 2, bytes, 0);
        }
        fake
    }

    #[test]
    fn thousands_of_tiny_files_are_found() {
        let found = reads(10_000, 46).findings();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].id, FindingId::SmallFileIo);
        // 7.5 us for each, and what calls take beside their timed part.
        assert!((75..79).contains(&(found[0].could_win_ns / 1_000_000)));
        let begin = "10,000 files of 46 bytes each on average were opened, read and closed";
        assert!(
            found[0].statement.starts_with(begin),
            "{}",
            found[0].statement
        );
    }

    #[test]
    fn small_sources_that_become_small_pages_count_together() {
        let reported = |each: u64, bytes: u64| {
            let mut fake = reads(each, 300);
            fake.calls("openat", None, each, 0, 15_000);
            fake.calls("write", Some(4), each, bytes, 2_000);
            // A pipe is no file, and what it takes is none of their cost.
            fake.descriptor(1, "pipe");
            fake.calls("write", Some(1), 20, 65_536, 2_000_000);
            for i in 0..each {
                fake.file(&format!("/site/{i}.html"), 1, 0, 0, 0);
                let file = fake.trace.files.last_mut().expect("just made");
                (file.writes, file.written_bytes) = (1, bytes);
            }
            fake.findings()
        };
        let found = &reported(1_500, 900)[0];
        assert!(found.could_win_ns < 60_000_000, "{}", found.could_win_ns);
        let begin =
            "3,000 files of 600 bytes each on average were opened, read or written and closed";
        assert!(found.statement.starts_with(begin), "{}", found.statement);
        assert!(reported(1_400, 900).is_empty());
        assert!(reported(1_500, 200_000).is_empty(), "large pages");
    }

    fn writes(files: u64, bytes: u64) -> Fake {
        let mut fake = Fake::new(300);
        fake.calls("openat", None, files, 0, 15_000);
        fake.calls("write", Some(3), files, bytes, 2_000);
        fake.calls("close", Some(3), files, 0, 1_000);
        for i in 0..files {
            fake.file(&format!("/tiles/{i}.tile"), 1, 0, 0, 0);
        }
        for file in &mut fake.trace.files {
            (file.writes, file.written_bytes) = (1, bytes);
        }
        fake
    }

    #[test]
    fn thousands_of_tiny_files_that_are_made_are_found() {
        let found = writes(10_000, 551).findings();
        assert_eq!(found[0].id, FindingId::SmallFileIo);
        let begin = "10,000 files of 551 bytes each on average were opened, written and closed";
        assert!(
            found[0].statement.starts_with(begin),
            "{}",
            found[0].statement
        );
        // 18 us for each.
        assert!(
            (180..187).contains(&(found[0].could_win_ns / 1_000_000)),
            "{found:?}"
        );
        assert!(writes(10_000, 5_000).ids().is_empty());
    }

    fn maps(files: u64, times: u64, bytes: u64, maps: u64) -> Fake {
        let mut fake = Fake::new(300);
        let opens = files * times;
        fake.calls("openat", None, opens, 0, 2_000);
        fake.calls("close", Some(3), opens, 0, 200);
        fake.calls("mmap", None, maps, 0, 2_000);
        fake.calls("munmap", None, maps, 0, 2_000);
        for i in 0..files {
            fake.file(&format!("/data/{i}.obj"), times, 0, 0, 0);
        }
        for file in &mut fake.trace.files {
            file.size_bytes = Some(bytes);
        }
        fake
    }

    #[test]
    fn thousands_of_tiny_files_that_are_mapped_are_found() {
        let found = maps(8_000, 5, 200, 40_000).findings();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].id, FindingId::SmallFileIo);
        let begin = "8,000 files of 200 bytes each on average were opened, mapped (`mmap`) and closed, 40,000 times in all";
        assert!(
            found[0].statement.starts_with(begin),
            "{}",
            found[0].statement
        );
        // 6.2 us for each.
        assert!(
            (245..262).contains(&(found[0].could_win_ns / 1_000_000)),
            "{found:?}"
        );
    }

    #[test]
    fn the_page_faults_of_mappings_are_a_part_of_their_cost() {
        let gain = |faults: u64| {
            let mut fake = maps(8_000, 1, 200, 8_000);
            fake.trace.accounts.minor_faults = faults;
            fake.trace.threads[0].minor_faults = Some(faults);
            let found = fake.findings();
            let of_files = found.iter().find(|it| it.id == FindingId::SmallFileIo);
            of_files.expect("it is found").could_win_ns
        };
        assert!(gain(8_000) > gain(0));
        // Others are not.
        assert_eq!(gain(8_000), gain(9_000));
    }

    #[test]
    fn large_files_that_are_mapped_and_tiny_ones_that_are_only_opened_are_not() {
        let small = "small-file-io";
        assert!(!maps(8_000, 5, 20_000, 40_000).ids().contains(&small));
        assert!(!maps(8_000, 5, 200, 20).ids().contains(&small));
    }

    #[test]
    fn ordinary_files_and_hundreds_are_not() {
        assert!(reads(10_000, 3_000).ids().is_empty());
        assert!(reads(900, 46).ids().is_empty());
        // Files that the kernel makes up can't be put together.
        let mut fake = reads(10_000, 46);
        for file in &mut fake.trace.files {
            file.name = file.name.text().replace("/data", "/proc").as_str().into();
        }
        assert!(!fake.ids().contains(&"small-file-io"));
    }
}
