//! Detects that thousands of very small files are opened for a few bytes each.

use std::path::Path;

use crate::mechanisms::prelude::*;

/// Different files that one process opened.
struct Files<'a>(Vec<&'a FileRow>);

impl Files<'_> {
    /// Returns the files of this kind that have a path, by process; the process with the most files comes
    /// first.
    fn by_process<'a>(
        analysis: &Analysis<'a>,
        is: impl Fn(&FileRow) -> bool,
    ) -> impl Iterator<Item = Files<'a>> {
        let is = |file: &&FileRow| file.opens > 0 && file.name.text().contains('/') && is(file);
        let files = analysis.trace.files.iter().filter(is);
        let all = grouped(files.map(|file| (file.pid, file)));
        let mut all: Vec<_> = all.into_values().collect();
        all.sort_by_key(|files| std::cmp::Reverse(files.len()));
        all.into_iter().map(Files)
    }

    fn different(&self) -> u64 {
        self.0.len() as u64
    }

    fn sum(&self, of: impl Fn(&FileRow) -> u64) -> u64 {
        self.0.iter().map(|file| of(file)).sum()
    }

    fn opens(&self) -> u64 {
        self.sum(|file| file.opens)
    }

    fn are_each_opened_once(&self) -> bool {
        self.opens() < self.different() * 2
    }
}

/// The number of calls made for each of many files, for its data and its end.
const CALLS_FOR_EACH_FILE: u64 = 3;

/// Returns processes that read many files one after another, each of them once; no buffer reduces those
/// calls.
pub(crate) fn read_one_by_one(analysis: &Analysis<'_>) -> HashSet<u32> {
    let rows = analysis.calls(|row| calls::is_read(&row.name));
    let calls = totals(rows.map(|row| (row.pid, row.calls)));
    let one_by_one = |files: Files<'_>| {
        let (pid, reads) = (files.0[0].pid, files.sum(|file| file.reads));
        let few = reads <= files.opens() * CALLS_FOR_EACH_FILE;
        let most = reads * 2 > calls.get(&pid).copied().unwrap_or(0);
        (files.are_each_opened_once() && few && most).then_some(pid)
    };
    let files = Files::by_process(analysis, |file| file.reads > 0);
    files.filter_map(one_by_one).collect()
}

/// The words for files, by how they are used.
struct Words {
    used: &'static str,
    cost: &'static str,
    reason: &'static str,
    advice: &'static str,
}

/// Finds files most of which are read, or most of which are written; or files that are copied, so that each
/// one read becomes one written.
pub(crate) fn moved_files(analysis: &Analysis<'_>) -> Option<Claim> {
    let is_moved = |file: &FileRow| file.reads + file.writes > 0 && is_real(file);
    let Files(mut files) = Files::by_process(analysis, is_moved).next()?;
    let read = files.iter().filter(|file| file.reads > 0).count();
    let written = files.iter().filter(|file| file.writes > 0).count();
    let is_copied = read.min(written) * 4 >= files.len();
    if !is_copied {
        files.retain(|file| (file.reads > 0) == (read >= written));
    }
    let (used, reason) = match (is_copied, read >= written) {
        (true, _) => (
            "read or written",
            "Opening and creating them costs more than reading and writing their data.",
        ),
        (_, true) => ("read", "Opening costs more than reading."),
        _ => ("written", "Creating a file costs more than writing it."),
    };
    let words = Words {
        used,
        cost: "the calls",
        reason,
        advice: match used {
            "read" => "Keep small items together in one file or in a database, and read it once.",
            _ => "Put small items into one file (an archive, or one with records) or a database.",
        },
    };
    let (pid, files) = (files.first()?.pid, Files(files));
    if !files.are_each_opened_once() {
        return None; // Rereading.
    }
    let least = t::MANY_TINY_FILES + u64::from(is_copied) * t::MANY_TINY_FILES / 2;
    let on_file = |row: &SyscallRow, is: fn(&str) -> bool| {
        let kind = row.fd.map(|fd| analysis.descriptors.mostly(row.pid, fd));
        let streams = [WaitKind::Pipe, WaitKind::Socket, WaitKind::Terminal];
        is(&row.name) && kind.is_none_or(|kind| !streams.contains(&kind))
    };
    let part = |of: fn(&FileRow) -> u64, is: fn(&str) -> bool| {
        part_of_calls(analysis, pid, files.sum(of), |row| on_file(row, is))
    };
    let data =
        part(|file| file.reads, calls::is_read).plus(part(|file| file.writes, calls::is_write));
    let bytes = files.sum(|file| file.read_bytes + file.written_bytes);
    claim(analysis, &files, least, bytes, data, &words)
}

/// Finds files that are mapped, each no larger than a page.
pub(crate) fn mapped_files(analysis: &Analysis<'_>) -> Option<Claim> {
    let pages = 1..=t::PAGE_BYTES;
    let size = |file: &FileRow| file.size_bytes.unwrap_or(0);
    let is_mapped = |file: &FileRow| {
        file.reads + file.writes == 0 && pages.contains(&size(file)) && is_real(file)
    };
    let files = Files::by_process(analysis, is_mapped).next()?;
    let (pid, opens) = (files.0.first()?.pid, files.opens());
    let calls = |name: &str| analysis.traced_calls(|row| row.pid == pid && row.name == name);
    // Files that are opened but neither read nor mapped are only checked or locked.
    if calls("mmap").min(calls("munmap")) * 10 < opens * 9 {
        return None;
    }
    let words = Words {
        used: "mapped (`mmap`)",
        cost: "the calls and the page faults",
        reason: "Opening and mapping them costs more than using their data.",
        advice: "Keep small items together in one file, map that once, and keep the mapping.",
    };
    let part = |name| part_of_calls(analysis, pid, opens, |row| row.name == name);
    // The first access to each file is one of the page faults.
    let faults = analysis.fault_cost();
    let stretch = analysis.stretch(|row| row.pid == pid && calls::opens_file(&row.name));
    let touches = (opens as f64 * stretch).min(faults.count as f64) * faults.each_ns;
    let data = part("mmap").plus(part("munmap"));
    let data = data.plus(CallCost::of_part(TimeCategory::PageFaults, touches));
    let bytes = files.sum(|file| size(file).saturating_mul(file.opens));
    claim(analysis, &files, t::MANY_TINY_FILES, bytes, data, &words)
}

fn is_real(file: &FileRow) -> bool {
    !is_of_system(&file.name.text())
}

/// Returns the part of such calls that is for these files, as far as it was traced. The process's other calls
/// don't count.
fn part_of_calls(
    analysis: &Analysis<'_>,
    pid: u32,
    done: u64,
    is: impl Fn(&SyscallRow) -> bool,
) -> CallCost {
    let own = |row: &SyscallRow| row.pid == pid && is(row);
    let all = analysis.traced_calls(own);
    CallCost::of(analysis, own).part(part_of(done, all))
}

/// Builds a claim about these files, given their number and total size in bytes, with the cost of the calls
/// for their data.
fn claim(
    analysis: &Analysis<'_>,
    files: &Files<'_>,
    least: u64,
    bytes: u64,
    data: CallCost,
    words: &Words,
) -> Option<Claim> {
    let first = files.0.first()?;
    let opening = |row: &SyscallRow| row.pid == first.pid && calls::opens_file(&row.name);
    let (opens, each_once) = (files.opens(), files.are_each_opened_once());
    let number = match each_once {
        true => (files.different() as f64 * analysis.stretch(opening)).round() as u64,
        false => files.different(),
    };
    let bytes_each = bytes as f64 / opens.max(1) as f64;
    if number < least || bytes_each >= t::TINY_FILE_BYTES {
        return None;
    }
    let around = |row: &SyscallRow| {
        let on_fd = row.pid == first.pid && row.fd.is_some_and(|fd| fd > 2);
        on_fd && (calls::is_around_read(&row.name) || row.name == "fcntl")
    };
    let asking = |row: &SyscallRow| row.pid == first.pid && calls::asks_about_path(&row.name);
    let folder = folder(files);
    let asked = folder
        .as_ref()
        .map_or(0, |folder| asked(analysis, first.pid, folder));
    let asked = part_of_calls(analysis, first.pid, asked, asking);
    let traced = analysis.traced_calls(opening);
    let opened = CallCost::of(analysis, |row| opening(row) || around(row));
    let calls = opened.part(part_of(opens, traced)).plus(asked).plus(data);
    let waits = waits(analysis, files);
    let is_of_disk = waits.in_kernel_ns > calls.in_kernel_ns / 4.0;
    let cost = calls.plus(waits);
    let statement = format!(
        "{} files with an average size of {bytes_each:.0} bytes were opened, {} and closed{}: {}",
        count(number),
        words.used,
        if_so(!each_once, || format!(", {} times in all", count(opens))),
        match is_of_disk {
            true => "the calls and their waits for the disk",
            false => words.cost,
        },
    );
    let finding = cost.finding(FindingId::SmallFileIo, analysis, &statement);
    let finding = finding.with(words.reason).weighing(cost.in_kernel_ns);
    let finding = finding.evidence("files", number, "files");
    let finding = finding.evidence("bytes of a file", bytes_each, "bytes");
    let path = folder.unwrap_or_else(|| first.name.to_string());
    Some(finding.advice(words.advice).pid(first.pid).on(None, path))
}

/// The part of the files that are in a folder if the files are said to be those of the folder. A program also reads
/// its settings.
const MOST_OF_THE_FILES: f64 = 0.9;

/// Returns the innermost folder that holds most of these files.
fn folder(files: &Files<'_>) -> Option<String> {
    let names: Vec<_> = files.0.iter().map(|file| file.name.text()).collect();
    let folders = names
        .iter()
        .flat_map(|name| Path::new(&**name).ancestors().skip(1));
    let holding = totals(folders.map(|folder| (folder, 1)));
    let most = MOST_OF_THE_FILES * names.len() as f64;
    let folders = holding
        .into_iter()
        .filter(|(_, held)| f64::from(*held) >= most);
    let innermost = folders.max_by_key(|(folder, _)| folder.components().count());
    let (folder, _) = innermost.filter(|(folder, _)| folder.parent().is_some())?;
    Some(folder.display().to_string())
}

/// Returns how many calls of a process asked what is at a path in a folder.
fn asked(analysis: &Analysis<'_>, pid: u32, folder: &str) -> u64 {
    let rows = analysis.trace.paths.iter();
    let own = rows.filter(|row| row.pid == pid && calls::asks_about_path(&row.call));
    let within = own.filter(|row| Path::new(&row.path).starts_with(folder));
    within.map(|row| row.calls).sum()
}

/// Returns the disk waits: each of the files is at a different place on the disk, and so is its folder entry.
fn waits(analysis: &Analysis<'_>, files: &Files<'_>) -> CallCost {
    let (reads, writes) = (files.sum(|file| file.reads), files.sum(|file| file.writes));
    let (waited, _) = analysis.off(|row| {
        let call = row.call.as_deref().unwrap_or_default();
        let of_data = reads > 0 && calls::is_read(call) || writes > 0 && calls::is_write(call);
        let meant = of_data || calls::opens_file(call) || call == "close";
        let from_disk = classify::from_disk(analysis.trace, row.cause, Some(call));
        row.pid == files.0[0].pid && meant && from_disk
    });
    let waited = waited.min(analysis.spent_ns(TimeCategory::Disk));
    CallCost::of_part(TimeCategory::Disk, waited)
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
        // 7.5 µs for each file, plus the cost of calls outside of their timed part.
        assert!((75..79).contains(&(found[0].could_win_ns / 1_000_000)));
        let begin = "10,000 files with an average size of 46 bytes were opened, read and closed";
        assert!(
            found[0].statement.starts_with(begin),
            "{}",
            found[0].statement
        );
    }

    #[test]
    fn the_questions_about_their_paths_belong_to_the_cost() {
        let asked = |path: &str| {
            let mut fake = reads(10_000, 46);
            fake.calls("newfstatat", None, 20_000, 0, 1_000);
            fake.trace.paths = vec![fathom_trace::PathRow {
                pid: crate::fake::ROOT,
                call: "newfstatat".to_owned(),
                path: path.to_owned(),
                calls: 20_000,
                ns: 20_000_000,
                samples: 100,
            }];
            let found = fake.findings();
            let of_files = found.iter().find(|one| one.id == FindingId::SmallFileIo);
            of_files.expect("10,000 files").could_win_ns / 1_000_000
        };
        assert!((95..101).contains(&asked("/data/#.txt")));
        assert!((75..79).contains(&asked("/other")));
    }

    #[test]
    fn small_sources_that_become_small_pages_count_together() {
        let reported = |each: u64, bytes: u64| {
            let mut fake = reads(each, 300);
            fake.calls("openat", None, each, 0, 15_000);
            fake.calls("write", Some(4), each, bytes, 2_000);
            // A pipe is not a file, and its time is not part of their cost.
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
            "3,000 files with an average size of 600 bytes were opened, read or written and closed";
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
        let begin =
            "10,000 files with an average size of 551 bytes were opened, written and closed";
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
        let begin = "8,000 files with an average size of 200 bytes were opened, mapped (`mmap`) and closed, 40,000 times in all";
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
        // Faults beyond those of the files are not counted.
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
        // Files generated by the kernel can't be merged.
        let mut fake = reads(10_000, 46);
        for file in &mut fake.trace.files {
            file.name = file.name.text().replace("/data", "/proc").as_str().into();
        }
        assert!(!fake.ids().contains(&"small-file-io"));
    }
}
