//! Detects files that are opened and read repeatedly.

use super::kept_open::stays_as_it_is;
use super::{Again, ON_READ, ReopenedFile, finding, from_memory};
use crate::mechanisms::prelude::*;

/// Reports whether each opening is for one of many records. If so, nothing is read twice, and another rule
/// applies.
fn takes_records(file: &FileRow) -> bool {
    let each = file.read_bytes / file.opens.max(1);
    let part = |size: u64| each * t::RECORDS_OF_A_FILE <= size;
    each <= t::MOST_OF_A_RECORD && file.size_bytes.is_some_and(part)
}

/// Reports whether the whole file is read each time it is opened.
fn is_read_again(file: &FileRow) -> bool {
    let named = !matches!(
        file.name,
        DescriptorKind::Socket(_) | DescriptorKind::SocketPair | DescriptorKind::Pipe(_)
    );
    let meant = named && !is_of_system(&file.name.text()) && !takes_records(file);
    meant && file.read_bytes > 0 && stays_as_it_is(file)
}

pub(crate) fn reopened(analysis: &Analysis<'_>) -> Option<Claim> {
    let files = ReopenedFile::most(analysis, is_read_again, |file| {
        file.read_bytes + 4096 * file.opens
    })?;
    let file = &files.together;
    let is_read = files.own(calls::is_read);
    let all_reads = analysis.tally(is_read);
    let of_bytes = part_of(file.read_bytes, all_reads.bytes);
    let of_reads = of_bytes.max(part_of(file.reads, all_reads.calls));
    let reads = CallCost::with(&all_reads, analysis, is_read).part(of_reads);
    let again = files.again();
    let collecting = CallCost::of_collectors(analysis).part(of_bytes);
    let calls = reads.plus(files.cost_of_opening(analysis)).plus(collecting);
    let calls = calls.part(again);
    let repeated = Again {
        pid: file.pid,
        paths: &files.paths,
        again,
        bytes: file.read_bytes as f64,
        times: file.opens as f64,
        part: of_bytes,
    };
    let work = (repeated.work_ns(analysis, &calls), ON_READ);
    let name = file.name.text();
    let name = file_name(&name);
    let statement = format!(
        "{} opened {} times, and {} were read",
        files.subject("files", name),
        count(file.opens),
        bytes(file.read_bytes as f64),
    );
    let once = files.different as f64 * file.read_bytes as f64 / file.opens as f64;
    let finding = finding(FindingId::Rereading, analysis, &calls, work, &statement);
    let finding = finding.evidence("opens", file.opens, "calls");
    let finding = finding.evidence("reads", file.reads, "calls");
    let finding = finding.evidence("bytes read", file.read_bytes, "bytes");
    let finding = finding.advice(match files.different {
        1 => "Read the file once and keep the parts that are needed.",
        _ => "Read each file once and keep the parts that are needed.",
    });
    let finding = finding.limit(from_memory(analysis, once));
    Some(files.claimed(finding))
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::Fake;

    #[test]
    fn a_record_of_each_opening_is_not_read_again() {
        for (size, reported) in [(65_536, false), (160, true)] {
            let mut fake = Fake::new(1000);
            fake.calls("openat", None, 100_000, 0, 5_000);
            fake.calls("read", Some(3), 100_000, 64, 1_000);
            fake.file("/srv/table.dat", 100_000, 100_000, 6_400_000, 0);
            fake.trace.files[0].size_bytes = Some(size);
            assert_eq!(fake.ids().contains(&"rereading"), reported);
        }
    }

    #[test]
    fn a_file_read_for_each_item_is_found() {
        // The finding is also reported if the program first created the file, but not if it writes as much as
        // it reads.
        for (written, reported) in [(0, true), (16_000, true), (160_000_000, false)] {
            let mut fake = Fake::new(1000);
            fake.calls("openat", None, 10_000, 0, 5_000);
            fake.calls("read", Some(3), 20_000, 8_000, 10_000);
            fake.file("/etc/table.json", 10_000, 20_000, 160_000_000, 0);
            fake.trace.files[0].written_bytes = written;
            assert_eq!(fake.ids().contains(&"rereading"), reported);
        }
    }

    #[test]
    fn the_work_on_what_is_read_again_counts_as_far_as_the_bytes_explain_it() {
        let reported = |others: u64| {
            let mut fake = Fake::new(1000);
            fake.language = Some(crate::Language::Python);
            fake.calls("openat", None, 300, 0, 10_000);
            fake.calls("read", Some(3), 600, 50_000, 20_000);
            fake.calls("read", Some(4), others, 100_000, 10_000);
            fake.file("/etc/table.json", 300, 600, 30_000_000, 0);
            fake.findings()
        };
        // 15 ms of calls, plus 15 ns for each of 30 MB.
        let found = &reported(0)[0];
        assert_eq!(found.id, FindingId::Rereading);
        let saving = found.could_win_ns / 1_000_000;
        assert!((440..480).contains(&saving), "{saving} ms");
        let words = "in the kernel and up to 448 ms of work on the data read";
        assert!(found.statement.contains(words), "{}", found.statement);
        // This is a tenth of what the program reads.
        assert!(
            reported(2_700)
                .iter()
                .all(|found| found.id != FindingId::Rereading)
        );
    }

    #[test]
    fn work_in_the_function_that_opens_a_file_counts_by_its_samples() {
        use fathom_stacks::Frame;
        use fathom_trace::Activity;
        let frame = |binary: &str, name: &str| Frame {
            binary: binary.to_owned(),
            function: Some(name.to_owned()),
            ..Frame::default()
        };
        let main = || frame("/bin/program", "main");
        let load = || frame("/usr/lib/libcerts.so", "load_bundle");
        let saved = |opened_by: &dyn Fn() -> Frame| {
            let mut fake = Fake::new(1000);
            fake.calls("openat", None, 60, 0, 10_000);
            fake.calls("read", Some(3), 3_000, 4_096, 1_000);
            fake.file("/etc/bundle.pem", 60, 3_000, 12_288_000, 0);
            fake.stack(Activity::OwnCode, None, [main(), load()], 900);
            fake.stack(Activity::OwnCode, None, [main()], 90);
            fake.stack(Activity::Call, Some("openat"), [main(), opened_by()], 1);
            let stacks = fake.trace.stacks.as_mut().expect("made by `stack`");
            stacks.rows[2].path = Some("/etc/bundle.pem".to_owned());
            let found = fake.findings();
            let again = found.iter().find(|it| it.id == FindingId::Rereading);
            again.map_or(0, |it| it.could_win_ns / 1_000_000)
        };
        let by_load = saved(&load);
        assert!((860..920).contains(&by_load), "{by_load} ms");
        let by_another = saved(&|| frame("/usr/lib/libc.so.6", "fopen"));
        assert!(by_another < 300, "{by_another} ms");
    }

    #[test]
    fn files_of_settings_are_parsed_more_slowly() {
        let mut fake = Fake::new(1000);
        fake.language = Some(crate::Language::Python);
        fake.calls("openat", None, 300, 0, 10_000);
        fake.calls("read", Some(3), 600, 10_000, 20_000);
        fake.file("/etc/app.ini", 300, 600, 6_000_000, 0);
        // 60 ns for each of 6 MB.
        let found = &fake.findings()[0];
        let words = "and up to 359 ms of work on the data read";
        assert!(found.statement.contains(words), "{}", found.statement);
    }

    #[test]
    fn who_has_no_time_to_parse_the_bytes_only_gives_their_memory_back() {
        let reported = |language| {
            let mut fake = Fake::new(1000);
            fake.language = Some(language);
            fake.calls("openat", None, 300, 0, 10_000);
            fake.calls("read", Some(3), 600, 5_000_000, 1_000_000);
            fake.file("/etc/table.json", 300, 600, 3_000_000_000, 0);
            let found = fake.findings().remove(0);
            assert_eq!(found.id, FindingId::Rereading);
            found.statement
        };
        // The program's own code takes 0.4 s, which is 0.13 ns for each byte of 3 GB.
        let python = reported(crate::Language::Python);
        assert!(
            python.contains("besides the work on the data read"),
            "{python}"
        );
        let go = reported(crate::Language::Go);
        assert!(go.contains("of work on the data read"), "{go}");
    }

    #[test]
    fn memory_for_what_is_read_again_is_no_cause_of_its_own() {
        let reported = |again: bool| {
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
        assert_eq!(reported(false), ["page-fault-heavy"]);
        assert_eq!(reported(true), ["rereading"]);
    }

    #[test]
    fn several_files_are_reported_together() {
        let mut fake = Fake::new(1000);
        fake.calls("openat", None, 10_000, 0, 5_000);
        fake.calls("read", Some(3), 20_000, 8_000, 10_000);
        for name in ["head", "foot"] {
            fake.file(&format!("/site/{name}.html"), 5_000, 10_000, 80_000_000, 0);
        }
        let found = &fake.findings()[0];
        let begin = "2 files such as `foot.html` were opened 10,000 times, and 152.6 MiB were read";
        assert!(found.statement.starts_with(begin), "{}", found.statement);
        let calls = found
            .evidence
            .iter()
            .find(|e| e.name == "cost of the calls");
        let calls = calls.map_or(0.0, |calls| calls.value / 1e6);
        assert!((240.0..260.0).contains(&calls), "{calls} ms");
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
    fn questions_about_what_is_not_there_open_nothing() {
        let saved = |failed: u64| {
            let mut fake = Fake::new(1000);
            fake.calls("openat", None, 10_000, 0, 5_000);
            fake.calls("read", Some(3), 20_000, 8_000, 10_000);
            fake.calls("stat", None, 10_000 + failed, 0, 1_000).errors = failed;
            fake.file("/etc/table.json", 10_000, 20_000, 160_000_000, 0);
            let found = fake.findings();
            let found = found.iter().find(|found| found.id == FindingId::Rereading);
            found.map_or(0, |found| found.could_win_ns)
        };
        let (none, many) = (saved(0), saved(200_000));
        assert!(none.abs_diff(many) < none / 50, "{none} {many}");
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
