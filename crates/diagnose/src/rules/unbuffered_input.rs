//! Standard input is read a few bytes a call.

use fathom_model::Finding;
use fathom_trace::{Cause, OffCpuRow};

use super::small_calls::{self, Small};
use crate::Language;
use crate::classify;
use crate::draft::{Draft, count, matters, percent, time, wait_matters};
use crate::thresholds as t;
use crate::view::View;

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let on_input = |view: &View<'_>, pid: u32, fd: i32, writes: bool| {
        !writes && view.descriptors.is_input(pid, fd)
    };
    let small = small_calls::find(view, on_input).into_iter().next()?;
    let tally = &small.tally;
    if !matters(view, tally.cost_ns) || is_paced_by_writer(view, &small) {
        return None;
    }
    let statement = format!(
        "{} reads of standard input brought {:.1} bytes each; the calls cost {}, {} of the wall time.",
        count(tally.calls),
        tally.bytes_per_call(),
        time(tally.cost_ns),
        percent(view, tally.cost_ns),
    );
    Some(
        Draft::new("unbuffered-input", view, tally.cost_ns, statement)
            .evidence("read calls", tally.calls as f64, "calls")
            .evidence("bytes per read", tally.bytes_per_call(), "bytes/call")
            .evidence("cost of a call (modelled)", tally.each_ns(), "ns")
            .advice(advice(view.language(Some(small.pid))))
            .limit(Small::limit(view))
            .place(small.place(view))
            .finish(),
    )
}

/// Whether the reads are hidden behind waits for the writer, again and again: then the command would end
/// no sooner without them. One long wait is the writer's start.
fn is_paced_by_writer(view: &View<'_>, small: &Small) -> bool {
    let waits = |row: &&OffCpuRow| {
        let reads = row.call.as_deref().is_some_and(classify::is_read);
        let here = row.pid == small.pid && row.fd == Some(small.fd);
        here && reads && row.cause == Cause::Asleep
    };
    let rows: Vec<&OffCpuRow> = view.trace.off_cpu.iter().filter(waits).collect();
    let all: u64 = rows.iter().map(|row| row.total_ns).sum();
    let Some(longest) = rows.iter().filter_map(|row| row.longest_ns).max() else {
        return false;
    };
    let waited = view.untraced(all as f64);
    wait_matters(view, waited)
        && waited * t::WAIT_THAT_HIDES >= small.tally.cost_ns
        && longest.saturating_mul(4) <= all
}

fn advice(language: Option<Language>) -> &'static str {
    match language {
        Some(Language::Rust) => {
            "Read through `stdin().lock()` or a `BufReader` instead of the bare file."
        }
        Some(Language::C) => {
            "Read blocks of 64 KiB, or use `getchar`/`fgets` without `setvbuf(_IONBF)`; in C++ call `ios::sync_with_stdio(false)`."
        }
        Some(Language::Go) => "Give the reader a `bufio.NewReader(os.Stdin)`.",
        Some(Language::Python) => {
            "Read `sys.stdin.buffer`, and leave out `buffering=0` and `os.read` of few bytes."
        }
        Some(Language::Node) => {
            "Read `process.stdin` as a stream, or `fs.readFileSync(0)`; give `fs.readSync` a buffer of 64 KiB."
        }
        Some(Language::Java) => "Wrap the stream in a `BufferedInputStream` or `BufferedReader`.",
        Some(Language::Shell) => {
            "`read` takes one byte a call from a pipe: give the lines to one `awk`, or let the shell read a file."
        }
        Some(Language::Ruby | Language::Perl) => {
            "Read by line or by block with the language's buffered calls, not `sysread`."
        }
        None => "Read through a buffer of some 64 KiB.",
    }
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::Fake;

    #[test]
    fn reads_behind_a_slow_writer_win_nothing() {
        let mut fake = Fake::new(1000);
        fake.descriptor(0, "pipe");
        fake.calls("read", Some(0), 500_000, 1, 500);
        fake.waits(Some("read"), Some(0), Cause::Asleep, 60, 5_000);
        assert_eq!(fake.ids(), ["waiting-for-input"]);
    }

    #[test]
    fn one_long_wait_hides_no_reads() {
        let mut fake = Fake::new(1000);
        fake.descriptor(0, "pipe");
        fake.calls("read", Some(0), 500_000, 1, 500);
        fake.waits(Some("read"), Some(0), Cause::Asleep, 1, 300_000);
        assert!(fake.ids().contains(&"unbuffered-input".to_owned()));
    }

    #[test]
    fn a_byte_a_read_is_told_with_its_counts() {
        let mut fake = Fake::new(1000);
        fake.calls("read", Some(0), 1_000_000, 1, 500);
        let found = fake.findings();
        assert_eq!(found[0].id, "unbuffered-input");
        assert!(found[0].statement.contains("1,000,000 reads"));
        assert_eq!(found[0].could_win_ns, 545_000_000);
    }

    #[test]
    fn blocks_are_not() {
        let mut fake = Fake::new(1000);
        fake.calls("read", Some(0), 10_000, 65_536, 50_000);
        assert!(fake.ids().is_empty());
    }

    #[test]
    fn small_reads_from_a_slow_writer_are_the_writers() {
        let mut fake = Fake::new(1000);
        fake.descriptor(0, "pipe");
        fake.calls("read", Some(0), 10_000, 8, 9_000);
        fake.waits(Some("read"), Some(0), Cause::Asleep, 10_000, 50);
        assert_eq!(fake.ids(), ["waiting-for-input"]);
    }
}
