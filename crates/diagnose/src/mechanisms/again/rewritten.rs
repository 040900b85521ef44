//! Finds a file that is written as a whole again and again, for example at each change of its contents.

use super::reopened::of_process;
use super::{Again, ON_WRITTEN, finding};
use crate::mechanisms::prelude::*;

/// On average, at least the final size divided by this must be written at each opening: the file may grow
/// from nothing, and may be opened to be read as often as to be written.
const PART_OF_A_FILE: u64 = 8;

/// Waits for the disk are mentioned if they are at least this fraction of the other costs.
const WORTH_A_WORD: f64 = 0.05;

/// A file that is written as a whole again and again.
struct Rewritten<'a> {
    /// The file that is written.
    written: &'a FileRow,
    /// The file that remains: the same file, or the one that it replaces.
    file: &'a FileRow,
}

impl<'a> Rewritten<'a> {
    fn of(analysis: &Analysis<'a>, written: &'a FileRow) -> Option<Self> {
        let named = written.name.text();
        let often = written.opens >= t::MANY_OPENS_OF_ONE_FILE && written.writes > 0;
        let is_plain = named.starts_with('/') && !is_of_system(&named);
        if !often || !is_plain || super::is_database(analysis, &named) {
            return None;
        }
        let replaces = |file: &&FileRow| is_for(&named, &file.name.text());
        let file = match written.size_bytes {
            Some(_) => written,
            None if is_renamed(analysis, written) => analysis.trace.files.iter().find(replaces)?,
            None => return None,
        };
        let size = file
            .size_bytes
            .filter(|size| *size >= t::LEAST_OF_A_ROUND)?;
        let each = written.written_bytes / written.opens;
        (each * PART_OF_A_FILE >= size).then_some(Self { written, file })
    }

    fn is_put_in_place(&self) -> bool {
        !std::ptr::eq(self.written, self.file)
    }
}

/// Returns whether files were renamed about as often as this one was opened, at least every second time. A
/// database's journal is removed instead.
fn is_renamed(analysis: &Analysis<'_>, written: &FileRow) -> bool {
    let renames = analysis.tally(|row| row.name.starts_with("rename"));
    renames.calls as f64 * 2.0 >= written.opens as f64
}

/// Returns whether a file has the name of a replacement for the other: `list.json.tmp`, `.list.json.swp`.
fn is_for(written: &str, file: &str) -> bool {
    let (name, of) = (file_name(written), file_name(file));
    let folder = |path: &str| path.len() - file_name(path).len();
    written != file
        && written[..folder(written)] == file[..folder(file)]
        && name.trim_start_matches('.').starts_with(of)
}

fn opens_or_places(call: &str) -> bool {
    calls::opens_file(call) || calls::changes_folder(call)
}

pub(crate) fn rewritten(analysis: &Analysis<'_>) -> Option<Claim> {
    let files = analysis.trace.files.iter();
    let files = files.filter_map(|file| Rewritten::of(analysis, file));
    let found = files.max_by_key(|found| found.written.written_bytes)?;
    let Rewritten { written, file } = found;
    let again = 1.0 - 1.0 / written.opens as f64;
    let own = |is: fn(&str) -> bool| of_process(written.pid, is);
    let is_write = own(calls::is_write);
    let writes = analysis.tally(is_write);
    let of_bytes = part_of(written.written_bytes, writes.bytes);
    let opens = own(|name| calls::opens_file(name) || calls::is_around_read(name));
    let all_opens = analysis.tally(own(calls::opens_file));
    let mut calls = CallCost::with(&writes, analysis, is_write).part(of_bytes);
    let part_of_opens = part_of(written.opens, all_opens.calls);
    calls = calls.plus(CallCost::without_misses(analysis, opens).part(part_of_opens));
    if found.is_put_in_place() {
        let places = own(calls::changes_folder);
        let placed = analysis.tally(places);
        let part = part_of(written.opens, placed.calls);
        calls = calls.plus(CallCost::with(&placed, analysis, places).part(part));
    }
    let calls = calls.part(again);
    // A file system waits for its journal when a file is truncated or replaced.
    let is_around = |row: &OffCpuRow| {
        let call = row.call.as_deref();
        let is = |call| opens_or_places(call) || calls::is_write(call);
        let from_disk = classify::from_disk(analysis.trace, row.cause, call);
        row.pid == written.pid && from_disk && call.is_some_and(is)
    };
    let on_disk_ns = analysis.off(is_around).0 * part_of_opens * again;
    let repeated = Again {
        pid: written.pid,
        paths: &[written.name.to_string()],
        again,
        bytes: written.written_bytes as f64,
        times: written.opens as f64,
        part: of_bytes,
    };
    let work_ns = repeated.work_ns(analysis, &calls);
    let cost_ns = analysis.within_cpu(calls.ns(analysis) + work_ns);
    let by_another = if_so(found.is_put_in_place(), || {
        format!(", through `{}`", file_name(&written.name.text()))
    });
    let is_much = on_disk_ns >= WORTH_A_WORD * cost_ns && on_disk_ns > 0.0;
    let on_disk = if_so(is_much, || {
        format!(", with {} of waits for the disk", time(on_disk_ns))
    });
    let statement = format!(
        "`{}` was rewritten in full again and again{by_another}: it was opened {} times, and of the {} written in \
         all, {} remain{on_disk}",
        file_name(&file.name.text()),
        count(written.opens),
        bytes(written.written_bytes as f64),
        bytes(file.size_bytes.unwrap_or(0) as f64),
    );
    let claim = finding(
        FindingId::Rewriting,
        analysis,
        &calls,
        (work_ns, ON_WRITTEN),
        &statement,
    );
    let mut pieces = claim.pieces.clone();
    pieces.push(Piece::of_waits(analysis, on_disk_ns, |row, _| {
        is_around(row)
    }));
    let all_ns = claim.weight_ns + on_disk_ns;
    Some(
        claim
            .beside(analysis, on_disk_ns)
            .weighing(all_ns)
            .pieces(pieces)
            .evidence("opens", written.opens, "calls")
            .evidence("waits for the disk", on_disk_ns.round(), "ns")
            .evidence("bytes written", written.written_bytes, "bytes")
            .advice("Write only what has changed: append a record for each change, or save once for many changes (at \
                 the end, or at intervals). For random changes to a large file, use a database such as SQLite.")
            .pid(file.pid)
            .on(None, file.name.to_string()),
    )
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::{Fake, hold_words};

    /// Returns a run that opens a file of 20 kB 400 times and writes `written` bytes to it.
    fn store(written: u64, through: Option<&str>) -> Fake {
        let mut fake = Fake::new(1000);
        fake.calls("openat", None, 400, 0, 100_000);
        fake.calls("write", Some(3), 800, written / 800, 400_000);
        fake.file("/srv/list.json", 400, 1, 20_000, 0);
        fake.trace.files[0].size_bytes = Some(20_000);
        if let Some(through) = through {
            fake.trace.files[0].opens = 1;
            fake.calls("rename", None, 400, 0, 50_000);
            fake.file(through, 400, 0, 0, 0);
        }
        let last = fake.trace.files.last_mut().expect("a file");
        (last.writes, last.written_bytes) = (800, written);
        fake
    }

    #[test]
    fn a_file_that_is_saved_whole_for_each_change_is_found() {
        let found = store(4_000_000, None).findings();
        assert_eq!(found[0].id, FindingId::Rewriting);
        hold_words("rewritten", &found[0]);
        let begin = "`list.json` was rewritten in full again and again: it was opened 400 times, and of the 3.8 MiB";
        assert!(
            found[0].statement.starts_with(begin),
            "{}",
            found[0].statement
        );
        let name = "/srv/list.json.tmp";
        let found = store(4_000_000, Some(name)).findings();
        let words = "through `list.json.tmp`";
        assert!(found[0].statement.contains(words), "{}", found[0].statement);
        assert_eq!(found[0].place.path.as_deref(), Some("/srv/list.json"));
    }

    #[test]
    fn a_log_that_is_opened_for_each_line_and_other_files_are_not() {
        let reported = |mut fake: Fake| fake.ids().contains(&"rewriting");
        assert!(!reported(store(20_000, None)));
        assert!(!reported(store(4_000_000, Some("/srv/spool/in.tmp"))));
    }

    #[test]
    fn pages_of_a_database_and_its_journal_are_not_a_file_written_in_full() {
        let mut journal = store(4_000_000, Some("/srv/list.json-journal"));
        let row = journal.trace.syscalls.last_mut().expect("the renames");
        row.name = "unlink".to_owned();
        assert!(!journal.ids().contains(&"rewriting"));
        for end in ["-wal", "-journal"] {
            let mut pages = store(4_000_000, None);
            pages.file(&format!("/srv/list.json{end}"), 400, 0, 0, 0);
            assert!(!pages.ids().contains(&"rewriting"));
        }
    }
}
