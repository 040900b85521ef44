//! A file is gone about for a record a call, or opened for each; or files are tiny.

use fathom_model::FindingId;
use fathom_trace::SyscallRow;

use super::call_cost::CallCost;
use super::pseudo_files::is_pseudo;
use super::small_io::{self, Small};
use super::{discarded_buffers, tiny_files};
use crate::analysis::{Analysis, Tally};
use crate::calls;
use crate::descriptors::WaitKind;
use crate::findings::Claim;
use crate::numbers::count;
use crate::runtimes::{Habit, Topic};

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    tiny_files::find(analysis)
        .or_else(|| small_calls_on_one(analysis))
        .or_else(|| discarded_buffers::find(analysis))
}

fn small_calls_on_one(analysis: &Analysis<'_>) -> Option<Claim> {
    let on_file = |analysis: &Analysis<'_>, pid: u32, fd: i32, _: bool| {
        let standard =
            analysis.descriptors.is_input(pid, fd) || analysis.descriptors.is_output(pid, fd);
        let kind = analysis.descriptors.last(pid, fd);
        let own = !standard || analysis.descriptors.is_reopened_file(pid, fd);
        // No buffer makes a file of the kernel shorter.
        let pseudo = analysis
            .name_of(pid, fd)
            .is_some_and(|name| is_pseudo(&name));
        own && !pseudo && matches!(kind, WaitKind::File | WaitKind::Unknown)
    };
    let by_file = tiny_files::read_one_by_one(analysis);
    let one_by_one = |small: &Small| !small.writes && by_file.contains(&small.pid);
    let small = small_io::find(analysis, on_file);
    let own = |small: &Small| !one_by_one(small) && !small_io::is_stream_of_file(analysis, small);
    let small = small.into_iter().find(own)?;
    let tally = &small.tally;
    let around = opening_costs(analysis, small.pid, tally);
    let cost = small.cost(analysis).plus(around.cost);
    if !cost.is_significant(analysis) {
        return None;
    }
    let what = if small.writes {
        "writes to"
    } else {
        "reads of"
    };
    let opened = match around.calls {
        0 => String::new(),
        n => format!(", with {} calls to open and close around them", count(n)),
    };
    let path = analysis.name_of(small.pid, small.fd);
    let runtime = analysis.runtime(Some(small.pid));
    // A shell goes back after each line; what is opened for each record has first to be kept open.
    let is_scattered = !small.writes
        && around.calls == 0
        && !runtime.has(Habit::GoesBack)
        && small_io::is_gone_about(analysis, &small);
    let statement = format!(
        "{} {what} {} moved {:.1} bytes each{opened}; the calls {}",
        count(tally.calls),
        path.as_deref().unwrap_or("a file"),
        tally.bytes_per_call(),
        cost.in_words(analysis),
    );
    Some(
        cost.finding(FindingId::SmallFileIo, analysis, statement)
            .evidence("calls", tally.calls as f64, "calls")
            .evidence("bytes per call", tally.bytes_per_call(), "bytes/call")
            .evidence("cost of a call (modelled)", tally.each_ns(), "ns")
            .advice(match is_scattered {
                true => SCATTERED.into(),
                false => runtime.advice(Topic::File {
                    writes: small.writes,
                    reopened: around.calls > 0,
                }),
            })
            .limit(Small::limit(analysis))
            .place(small.place(analysis))
            .finish(),
    )
}

/// What to say where each record is read somewhere else.
const SCATTERED: &str = "Read the file, or large parts of it, once and take the records from memory; map it (`mmap`); or ask for them in the order in which they lie, through a buffer. Where a database reads them: one transaction for many questions.";

/// Calls that open and close files.
#[derive(Default)]
struct Opening {
    calls: u64,
    cost: CallCost,
}

/// A file that is opened for each small call costs the opening too, and not the lookups of it where
/// it isn't.
fn opening_costs(analysis: &Analysis<'_>, pid: u32, small: &Tally) -> Opening {
    let opens = |row: &SyscallRow| row.pid == pid && calls::redirects(&row.name);
    let all = analysis.tally(opens);
    let calls = all.calls - all.errors.min(all.calls);
    if calls < small.calls {
        return Opening::default();
    }
    Opening {
        calls,
        cost: CallCost::with(&all, analysis, opens).part(calls as f64 / all.calls.max(1) as f64),
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::Fake;

    #[test]
    fn records_that_are_read_here_and_there_are_reported_with_the_file() {
        let reported = |went_on| {
            let mut fake = Fake::new(1000);
            fake.descriptor(3, "/tmp/records");
            let reads = fake.calls("pread64", Some(3), 500_000, 16, 400);
            reads.went_on = Some(went_on);
            fake.findings().remove(0)
        };
        let found = reported(200);
        assert_eq!(found.id, FindingId::SmallFileIo);
        assert_eq!(found.place.path.as_deref(), Some("/tmp/records"));
        assert!(found.advice.contains("mmap"));
        // One after the other they need no more than a buffer.
        assert_eq!(reported(499_990).id, FindingId::UnbufferedInput);
    }

    #[test]
    fn a_redirection_for_each_line_is_no_output_of_the_command() {
        let mut fake = Fake::new(1000);
        fake.descriptor(1, "/tmp/log");
        fake.calls("write", Some(1), 20_000, 2, 1_000);
        fake.calls("openat", None, 20_000, 0, 5_000);
        fake.calls("dup2", Some(3), 20_000, 0, 400);
        fake.file("/tmp/log", 20_000, 0, 0, 0);
        let file = fake.trace.files.last_mut().expect("just made");
        (file.fd, file.writes) = (Some(1), 20_000);
        let found = fake.findings();
        assert_eq!(found[0].id, FindingId::SmallFileIo);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].place.path.as_deref(), Some("/tmp/log"));
    }

    #[test]
    fn opening_for_each_record_counts_too() {
        let mut fake = Fake::new(1000);
        fake.descriptor(3, "/tmp/log");
        fake.calls("write", Some(3), 20_000, 11, 1_000);
        fake.calls("openat", None, 20_000, 0, 5_000);
        let found = fake.findings();
        assert_eq!(
            (found[0].id.as_str(), found[0].could_win_ns),
            ("small-file-io", 121_800_000)
        );
    }

    #[test]
    fn lookups_of_files_that_are_not_there_are_no_opening() {
        let mut fake = Fake::new(1000);
        fake.descriptor(3, "/src/a.h");
        fake.calls("read", Some(3), 6_000, 33, 1_000);
        fake.calls("openat", None, 540_000, 0, 800).errors = 534_000;
        fake.misses("openat", "/inc/d88/h287.h", 534_000);
        assert_eq!(fake.ids()[0], "missing-file-lookups");
    }

    #[test]
    fn advice_to_keep_a_file_open_is_given_where_it_is_not() {
        let reported = |opens: u64| {
            let mut fake = Fake::new(1000);
            fake.language = Some(crate::Language::Perl);
            fake.descriptor(3, "/tmp/log");
            fake.calls("write", Some(3), 200_000, 11, 1_000);
            fake.calls("openat", None, opens, 0, 5_000);
            fake.findings()[0].advice.clone()
        };
        assert!(reported(200_000).starts_with("Keep the file open. Leave out `autoflush`"));
        assert!(reported(1).starts_with("Leave out `autoflush`"));
    }
}
