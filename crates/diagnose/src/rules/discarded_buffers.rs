//! A stream's buffer is filled anew after each seek, for one record of it.

use fathom_model::FindingId;

use crate::analysis::Analysis;
use crate::claim::Claim;
use crate::mechanisms::again::{most_sought, place, reads_of, seeks_of};
use crate::mechanisms::per_item::{CallCost, Items, Worth};
use crate::numbers::{bytes, count};

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let found = most_sought(analysis).filter(|found| found.by_seeks)?;
    let (pid, fd) = (found.file.pid, found.file.fd?);
    let reads = CallCost::with(&found.reads, analysis, reads_of(pid, fd));
    let seeks = CallCost::of(analysis, seeks_of(pid, fd));
    let name = found.file.name.text();
    let statement = format!(
        "{} reads, each after a seek, filled a buffer with {} bytes each for a record of {}, in all {} times its {}; the calls",
        count(found.reads.calls),
        count(found.reads.bytes / found.reads.calls.max(1)),
        name.rsplit('/').next().unwrap_or(&name),
        count(found.times().round() as u64),
        bytes(found.size as f64),
    );
    let items = Items {
        id: FindingId::SmallFileIo,
        cost: reads.plus(seeks),
        worth: Worth::InKernel(0.0),
        statement,
        evidence: vec![
            ("reads", found.reads.calls as f64, "calls"),
            ("bytes per call", found.reads.bytes_per_call(), "bytes/call"),
            ("size of the file", found.size as f64, "bytes"),
        ],
        advice: "A seek throws away what a stream has buffered: read the file in order, keep it in memory or map it (`mmap`), or read just the record (`pread`).".into(),
        place: place(found.file),
        likely: false,
    };
    items.claim(analysis)
}

#[cfg(test)]
mod tests {
    use crate::fake::Fake;

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
