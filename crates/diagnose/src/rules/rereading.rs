//! The same file is opened and read again and again, or the same folder listed.

use std::collections::BTreeMap;

use fathom_model::{Finding, Place};
use fathom_trace::{FileRow, SyscallRow};

use super::call_cost::CallCost;
use super::made_up_files::is_of_system;
use super::relisting;
use super::reread_cost::{Cost, part_of, work_ns};
use crate::Language;
use crate::classify;
use crate::draft::{bytes, count, matters, time};
use crate::thresholds as t;
use crate::view::View;

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let found = [
        reopened(view),
        rewound(view),
        sought(view),
        relisting::find(view),
    ];
    let found = found.into_iter().flatten();
    found.max_by_key(|finding| finding.could_win_ns)
}

/// A file that stays open and is read to its end again and again: each time a read brings nothing.
fn rewound(view: &View<'_>) -> Option<Finding> {
    let plain = |file: &&FileRow| {
        file.opens < t::MANY_OPENS_OF_ONE_FILE
            && file.name.starts_with('/')
            && !is_of_system(&file.name)
    };
    let files = view.trace.files.iter().filter(plain).filter_map(|file| {
        let file = whole(view, file);
        let fd = file.fd?;
        let on_it = reads_of(file.pid, fd);
        let rows = view.rows_of_process(file.pid).filter(|row| on_it(row));
        let seen: u64 = rows.map(|row| row.sizes[0]).sum();
        if seen < t::MANY_OPENS_OF_ONE_FILE {
            return None;
        }
        let reads = view.tally(&on_it);
        // What is looked at for news, as a log is, brings little each time.
        let whole = reads.bytes / reads.sizes[0].max(1) >= t::LEAST_OF_A_ROUND;
        // The number may have been one file after another, each read to its end.
        let alone = file.reads * 10 >= reads.calls * 9;
        (whole && alone).then_some((file, fd, reads))
    });
    let (file, fd, reads) = files.max_by(|a, b| a.2.cost_ns.total_cmp(&b.2.cost_ns))?;
    let rounds = reads.sizes[0];
    let again = 1.0 - 1.0 / rounds as f64;
    let all = view.tally(|row| row.pid == file.pid && classify::is_read(&row.name));
    let part = part_of(reads.bytes, all.bytes);
    let calls = CallCost::with(&reads, view, reads_of(file.pid, fd)).part(again);
    let cost = Cost {
        calls,
        work_ns: work_ns(
            view,
            file.pid,
            (reads.bytes as f64 * again, rounds as f64 * again),
            part,
            &calls,
        ),
    };
    if !matters(view, cost.ns(view)) {
        return None;
    }
    let statement = format!(
        "One file was read to its end {} times, {} in all; {}",
        count(rounds),
        bytes(reads.bytes as f64),
        cost.told(view),
    );
    Some(
        cost.draft(view, statement)
            .evidence("times read to the end", rounds as f64, "calls")
            .evidence("reads", reads.calls as f64, "calls")
            .evidence("bytes read", reads.bytes as f64, "bytes")
            .advice("Read the file once and keep what is needed of it.")
            .limit(from_memory(view, reads.bytes as f64 / rounds as f64))
            .place(Place {
                pid: Some(file.pid),
                tid: None,
                fd: file.fd,
                path: Some(file.name),
            })
            .finish(),
    )
}

/// A file that stays open and of which many times its size is read, from wherever.
fn sought(view: &View<'_>) -> Option<Finding> {
    let plain = |file: &&FileRow| {
        file.opens < t::MANY_OPENS_OF_ONE_FILE
            && stays_as_it_is(file)
            && file.name.starts_with('/')
            && !is_of_system(&file.name)
    };
    let files = view.trace.files.iter().filter(plain).filter_map(|file| {
        let size = file
            .size_bytes
            .filter(|size| *size >= t::LEAST_OF_A_ROUND)?;
        let file = whole(view, file);
        let fd = file.fd?;
        // A shell's `read` goes back to the end of the line each time: its script can't read otherwise.
        if fd == 0 && view.language(Some(file.pid)) == Some(Language::Shell) {
            return None;
        }
        let often = file.read_bytes >= t::MANY_OPENS_OF_ONE_FILE * size;
        // Of smaller pieces the calls are what costs: another rule tells.
        let pieces = file.read_bytes >= t::LEAST_OF_A_ROUND * file.reads.max(1);
        if !(often && pieces) {
            return None;
        }
        let reads = view.tally(reads_of(file.pid, fd));
        let alone = file.reads * 10 >= reads.calls * 9;
        alone.then_some((file, reads, size))
    });
    let (file, reads, size) = files.max_by(|a, b| a.1.cost_ns.total_cmp(&b.1.cost_ns))?;
    let times = file.read_bytes as f64 / size as f64;
    // Of pieces that are looked up nobody knows how much of them is worked on.
    let calls = CallCost {
        in_kernel_ns: reads.cost_ns,
        library_ns: 0.0,
    };
    let cost = Cost {
        calls: calls.part(1.0 - 1.0 / times),
        work_ns: 0.0,
    };
    if !matters(view, cost.ns(view)) {
        return None;
    }
    let statement = format!(
        "{} reads brought {} of one file of {}, {} times its size; {}",
        count(reads.calls),
        bytes(file.read_bytes as f64),
        bytes(size as f64),
        count(times.round() as u64),
        cost.told(view),
    );
    Some(
        cost.draft(view, statement)
            .evidence("reads", reads.calls as f64, "calls")
            .evidence("bytes read", file.read_bytes as f64, "bytes")
            .evidence("size of the file", size as f64, "bytes")
            .advice("Keep the parts of the file that are needed again and again in memory, or map it (`mmap`).")
            .limit(from_memory(view, size as f64))
            .place(Place {
                pid: Some(file.pid),
                tid: None,
                fd: file.fd,
                path: Some(file.name),
            })
            .finish(),
    )
}

/// Reads of one descriptor.
fn reads_of(pid: u32, fd: i32) -> impl Fn(&SyscallRow) -> bool {
    move |row| row.pid == pid && row.fd == Some(fd) && classify::is_read(&row.name)
}

/// What it takes to go through as many bytes that are kept.
fn from_memory(view: &View<'_>, bytes: f64) -> Option<String> {
    let bandwidth = view.subject.limits.memory_bandwidth.filter(|b| *b > 0.0)?;
    Some(format!(
        "reading it once more from memory would take {} here ({:.1} GB/s)",
        time(bytes / bandwidth * 1e9),
        bandwidth / 1e9,
    ))
}

/// What was done with a file in all, where only the first calls were looked at.
fn whole(view: &View<'_>, file: &FileRow) -> FileRow {
    let own = |name: &dyn Fn(&str) -> bool| {
        let stretch = view.stretch(|row| row.pid == file.pid && name(&row.name));
        move |count: u64| (count as f64 * stretch).round() as u64
    };
    let (opens, reads) = (own(&is_open), own(&classify::is_read));
    FileRow {
        opens: opens(file.opens),
        reads: reads(file.reads),
        read_bytes: reads(file.read_bytes),
        ..file.clone()
    }
}

pub(super) fn is_open(name: &str) -> bool {
    name == "open" || name == "openat"
}

/// Calls that open a file, look at it before it is read, and close it.
pub(super) fn is_around_reads(name: &str) -> bool {
    let looks = ["newfstatat", "statx", "ioctl", "lseek"].contains(&name) || name.ends_with("stat");
    is_open(name) || name == "close" || looks
}

/// Whether a file is written once at most, as by a program that makes it first, and then read again and again.
fn stays_as_it_is(file: &FileRow) -> bool {
    file.written_bytes.saturating_mul(t::MANY_OPENS_OF_ONE_FILE) <= file.read_bytes
}

/// Whether each opening is for one record of many: nothing need be read twice, and another rule tells of it.
fn takes_records(file: &FileRow) -> bool {
    let each = file.read_bytes / file.opens.max(1);
    let part = |size: u64| each * t::RECORDS_OF_A_FILE <= size;
    each <= t::MOST_OF_A_RECORD && file.size_bytes.is_some_and(part)
}

/// Files that one process opens and reads again and again, together.
fn reopened_files(view: &View<'_>) -> Option<(FileRow, usize)> {
    let often =
        view.trace.files.iter().filter(|f| {
            f.opens >= t::MANY_OPENS_OF_ONE_FILE && f.read_bytes > 0 && stays_as_it_is(f)
        });
    let own = often.filter(|f| {
        let named = !f.name.contains("socket") && !f.name.starts_with("pipe");
        named && !is_of_system(&f.name) && !takes_records(f)
    });
    let size = |file: &FileRow| file.read_bytes + 4096 * file.opens;
    let mut by_process: BTreeMap<u32, (Vec<&FileRow>, u64)> = BTreeMap::new();
    for file in own {
        let (files, sum) = by_process.entry(file.pid).or_default();
        files.push(file);
        *sum += size(file);
    }
    let (files, _) = by_process.into_values().max_by_key(|(_, sum)| *sum)?;
    let largest = files.iter().max_by_key(|file| size(file))?;
    let sum = |of: fn(&FileRow) -> u64| files.iter().map(|file| of(file)).sum();
    let together = FileRow {
        opens: sum(|file| file.opens),
        reads: sum(|file| file.reads),
        read_bytes: sum(|file| file.read_bytes),
        ..(*largest).clone()
    };
    Some((whole(view, &together), files.len()))
}

fn reopened(view: &View<'_>) -> Option<Finding> {
    let (file, files) = reopened_files(view)?;
    let is_own =
        |is: fn(&str) -> bool| move |row: &SyscallRow| row.pid == file.pid && is(&row.name);
    let (is_read, is_opened) = (is_own(classify::is_read), is_own(is_open));
    let (all_reads, all_opens) = (view.tally(is_read), view.tally(is_opened));
    let of_bytes = part_of(file.read_bytes, all_reads.bytes);
    let of_reads = of_bytes.max(part_of(file.reads, all_reads.calls));
    let of_opens = part_of(file.opens, all_opens.calls);
    let reads = CallCost::with(&all_reads, view, is_read);
    let around = CallCost::of(view, is_own(is_around_reads));
    let again = 1.0 - files as f64 / file.opens.max(files as u64) as f64;
    let calls = reads.part(of_reads).plus(around.part(of_opens));
    let calls = calls.part(again);
    let again_bytes = file.read_bytes as f64 * again;
    let cost = Cost {
        calls,
        work_ns: work_ns(
            view,
            file.pid,
            (again_bytes, file.opens as f64 * again),
            of_bytes,
            &calls,
        ),
    };
    if !matters(view, cost.ns(view)) {
        return None;
    }
    let name = file.name.rsplit('/').next().unwrap_or(&file.name);
    let who = match files {
        1 => format!("`{name}` was"),
        n => format!("{n} files such as `{name}` were"),
    };
    let statement = format!(
        "{who} opened {} times and read {} from; {}",
        count(file.opens),
        bytes(file.read_bytes as f64),
        cost.told(view),
    );
    Some(
        cost.draft(view, statement)
            .evidence("opens", file.opens as f64, "calls")
            .evidence("reads", file.reads as f64, "calls")
            .evidence("bytes read", file.read_bytes as f64, "bytes")
            .advice(match files {
                1 => "Read the file once and keep what is needed of it.",
                _ => "Read each file once and keep what is needed of it.",
            })
            .limit(from_memory(
                view,
                files as f64 * file.read_bytes as f64 / file.opens as f64,
            ))
            .place(Place {
                pid: Some(file.pid),
                tid: None,
                fd: None,
                path: Some(file.name.clone()),
            })
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use crate::fake::Fake;

    #[test]
    fn a_record_of_each_opening_is_not_read_again() {
        for (size, told) in [(65_536, false), (160, true)] {
            let mut fake = Fake::new(1000);
            fake.calls("openat", None, 100_000, 0, 5_000);
            fake.calls("read", Some(3), 100_000, 64, 1_000);
            fake.file("/srv/table.dat", 100_000, 100_000, 6_400_000, 0);
            fake.trace.files[0].size_bytes = Some(size);
            assert_eq!(fake.ids().contains(&"rereading".to_owned()), told);
        }
    }

    #[test]
    fn a_file_read_for_each_item_is_told() {
        // Also where the program made it first, but not where it writes as much as it reads.
        for (written, told) in [(0, true), (16_000, true), (160_000_000, false)] {
            let mut fake = Fake::new(1000);
            fake.calls("openat", None, 10_000, 0, 5_000);
            fake.calls("read", Some(3), 20_000, 8_000, 10_000);
            fake.file("/etc/table.json", 10_000, 20_000, 160_000_000, 0);
            fake.trace.files[0].written_bytes = written;
            assert_eq!(fake.ids().contains(&"rereading".to_owned()), told);
        }
    }

    #[test]
    fn the_work_on_what_is_read_again_counts_as_far_as_the_bytes_explain_it() {
        let told = |others: u64| {
            let mut fake = Fake::new(1000);
            fake.language = Some(crate::Language::Python);
            fake.calls("openat", None, 300, 0, 10_000);
            fake.calls("read", Some(3), 600, 50_000, 20_000);
            fake.calls("read", Some(4), others, 100_000, 10_000);
            fake.file("/etc/table.json", 300, 600, 30_000_000, 0);
            fake.findings()
        };
        // 15 ms of calls, and 15 ns for each of 30 MB.
        let found = &told(0)[0];
        assert_eq!(found.id, "rereading");
        let win = found.could_win_ns / 1_000_000;
        assert!((440..480).contains(&win), "{win} ms");
        let words = "in the kernel and up to 448 ms of work on what was read";
        assert!(found.statement.contains(words), "{}", found.statement);
        // It is a tenth of what the program reads.
        assert!(told(2_700).iter().all(|found| found.id != "rereading"));
    }

    #[test]
    fn files_of_settings_are_taken_apart_more_slowly() {
        let mut fake = Fake::new(1000);
        fake.language = Some(crate::Language::Python);
        fake.calls("openat", None, 300, 0, 10_000);
        fake.calls("read", Some(3), 600, 10_000, 20_000);
        fake.file("/etc/app.ini", 300, 600, 6_000_000, 0);
        // 60 ns for each of 6 MB.
        let found = &fake.findings()[0];
        let words = "and up to 359 ms of work on what was read";
        assert!(found.statement.contains(words), "{}", found.statement);
    }

    #[test]
    fn who_has_no_time_to_take_the_bytes_apart_only_gives_their_memory_back() {
        let told = |language| {
            let mut fake = Fake::new(1000);
            fake.language = Some(language);
            fake.calls("openat", None, 300, 0, 10_000);
            fake.calls("read", Some(3), 600, 5_000_000, 1_000_000);
            fake.file("/etc/table.json", 300, 600, 3_000_000_000, 0);
            let found = fake.findings().remove(0);
            assert_eq!(found.id, "rereading");
            found.statement
        };
        // 0.4 s of its own code are 0.13 ns for each of 3 GB.
        let python = told(crate::Language::Python);
        assert!(
            python.contains("besides the work on what was read"),
            "{python}"
        );
        let go = told(crate::Language::Go);
        assert!(go.contains("of work on what was read"), "{go}");
    }

    #[test]
    fn memory_for_what_is_read_again_is_no_cause_of_its_own() {
        let told = |again: bool| {
            let mut fake = Fake::new(1000);
            fake.language = Some(crate::Language::Python);
            fake.trace.threads[0].minor_faults = Some(800_000);
            fake.calls("openat", None, 300, 0, 10_000);
            fake.calls("read", Some(3), 600, 50_000, 20_000);
            if again {
                fake.file("/etc/table.json", 300, 600, 30_000_000, 0);
            }
            fake.ids()
        };
        assert_eq!(told(false), ["page-fault-heavy"]);
        assert_eq!(told(true), ["rereading"]);
    }

    #[test]
    fn several_files_are_told_together() {
        let mut fake = Fake::new(1000);
        fake.calls("openat", None, 10_000, 0, 5_000);
        fake.calls("read", Some(3), 20_000, 8_000, 10_000);
        for name in ["head", "foot"] {
            fake.file(&format!("/site/{name}.html"), 5_000, 10_000, 80_000_000, 0);
        }
        let found = &fake.findings()[0];
        let begin = "2 files such as `foot.html` were opened 10,000 times and read 152.6 MiB from";
        assert!(found.statement.starts_with(begin), "{}", found.statement);
        let calls = found
            .evidence
            .iter()
            .find(|e| e.name == "cost of the calls");
        let calls = calls.map_or(0.0, |calls| calls.value / 1e6);
        assert!((240.0..260.0).contains(&calls), "{calls} ms");
    }

    #[test]
    fn a_file_that_is_rewound_and_read_to_its_end_is_told() {
        let rewound = |bytes: u64| {
            let mut fake = Fake::new(1000);
            fake.calls("read", Some(3), 30_000, bytes, 12_000);
            fake.calls("read", Some(3), 10_000, 0, 300);
            fake.file("/etc/table.json", 1, 40_000, 30_000 * bytes, 0);
            fake.trace.files[0].fd = Some(3);
            fake.ids()
        };
        assert_eq!(rewound(4096), ["rereading"]);
        // One file after another under the same number, as `ps` reads them.
        let mut fake = Fake::new(1000);
        fake.calls("read", Some(3), 30_000, 4096, 12_000);
        fake.calls("read", Some(3), 10_000, 0, 300);
        fake.file("/etc/passwd", 1, 2, 4096, 0);
        fake.trace.files[0].fd = Some(3);
        assert!(!fake.ids().contains(&"rereading".to_owned()));
        // A log that is looked at for news.
        assert!(!rewound(100).contains(&"rereading".to_owned()));
    }

    #[test]
    fn a_shell_that_goes_back_to_the_end_of_each_line_is_not() {
        let told = |language| {
            let mut fake = Fake::new(1000);
            fake.calls("read", Some(0), 60_000, 4_096, 3_000);
            fake.file("/data/lines", 1, 60_000, 60_000 * 4_096, 0);
            fake.trace.files[0].fd = Some(0);
            fake.trace.files[0].size_bytes = Some(500_000);
            fake.language = Some(language);
            fake.ids().contains(&"rereading".to_owned())
        };
        assert!(told(crate::Language::C));
        assert!(!told(crate::Language::Shell));
    }

    #[test]
    fn pieces_of_a_small_file_that_are_read_again_and_again_are_told() {
        let sought = |size: u64, bytes: u64| {
            let mut fake = Fake::new(1000);
            fake.calls("pread64", Some(3), 120_000, bytes, 5_000);
            fake.file("/data/tree.db", 1, 120_000, 120_000 * bytes, 0);
            fake.trace.files[0].fd = Some(3);
            fake.trace.files[0].size_bytes = Some(size);
            fake.findings()
        };
        let found = sought(1 << 20, 16_384);
        assert_eq!(found[0].id, "rereading");
        let told = "120,000 reads brought 1.8 GiB of one file of 1.0 MiB, 1,875 times its size";
        assert!(
            found[0].statement.starts_with(told),
            "{}",
            found[0].statement
        );
        assert!(sought(1 << 30, 16_384).is_empty(), "twice is not often");
        assert!(
            sought(1 << 16, 100)
                .iter()
                .all(|found| found.id != "rereading")
        );
    }

    #[test]
    fn memory_is_the_limit_that_rereading_is_held_against() {
        let mut fake = Fake::new(1000);
        fake.limits.memory_bandwidth = Some(8e9);
        fake.calls("openat", None, 10_000, 0, 5_000);
        fake.calls("read", Some(3), 20_000, 8_000, 10_000);
        fake.file("/etc/table.json", 10_000, 20_000, 160_000_000, 0);
        let limit = fake.findings()[0].limit.clone().expect("a limit");
        assert!(
            limit.contains("2.00 µs") && limit.contains("8.0 GB/s"),
            "{limit}"
        );
    }

    #[test]
    fn many_files_read_once_are_not() {
        let mut fake = Fake::new(1000);
        fake.calls("openat", None, 10_000, 0, 5_000);
        fake.calls("read", Some(3), 20_000, 8_000, 10_000);
        for i in 0..1000 {
            fake.file(&format!("/src/{i}.c"), 1, 2, 16_000, 0);
        }
        assert!(fake.ids().is_empty());
    }
}
