//! Malicious files: Fathom handles each of them within 400 MB of memory and without a crash.

use std::io::{BufWriter, Write};
use std::path::Path;

use crate::{fathom, stderr};

/// Writes a file in pieces, because this process's memory counts toward the peak of its children.
fn file(path: &Path, begin: &str, piece: &str, times: usize, end: &str) {
    let mut out = BufWriter::new(std::fs::File::create(path).unwrap());
    out.write_all(begin.as_bytes()).unwrap();
    for _ in 0..times {
        out.write_all(piece.as_bytes()).unwrap();
    }
    out.write_all(end.as_bytes()).unwrap();
    out.flush().unwrap();
}

#[test]
fn no_file_takes_more_than_400_mb_and_each_has_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let hyperfine = "{\"results\": [{\"command\": \"a\", \"stddev\": 1, \"times\": [0";
    let cases: [(&str, &str, usize, &str, &str); 7] = [
        // The maximum number of values that is parsed.
        (
            hyperfine,
            ",0.001234567890123",
            3_100_000,
            "]}]}",
            "hyperfine 1",
        ),
        (hyperfine, ",1", 20_000_000, "]}]}", "300 MB of memory"),
        (hyperfine, ",[0", 1_000_000, "", "not JSON: recursion limit"),
        (
            hyperfine,
            ",0.001234567890123",
            4_000_000,
            "]}]}",
            "larger than 64 MB",
        ),
        (
            "<!DOCTYPE l [<!ENTITY a \"aaaa\">]><testsuite>",
            "&a;",
            1000,
            "</testsuite>",
            "DTD",
        ),
        (
            "<testsuite>",
            "<testcase name='x' time='1'/>",
            1_000_000,
            "</testsuite>",
            "1,000,000 samples",
        ),
        (
            "name,value\n",
            "aaaaaaaaaaaaaaaaaaaa,1\n",
            1_000_000,
            "",
            "1,000,000 samples",
        ),
    ];
    for (number, (begin, piece, times, end, expected)) in cases.into_iter().enumerate() {
        let path = here.join(format!("{number}.data"));
        file(&path, begin, piece, times, end);
        let output = fathom(here, &["import", path.to_str().unwrap()], b"");
        let said = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            stderr(&output)
        );
        assert!(
            matches!(output.status.code(), Some(0 | 2)),
            "{number}: {said}"
        );
        assert!(said.contains(expected), "{number}: {said}");
        std::fs::remove_file(&path).unwrap();
    }
    let peak = peak_of_children();
    assert!((1 << 20..400 << 20).contains(&peak), "{} MiB", peak >> 20);
}

/// Returns the largest resident memory of an exited child, in bytes.
fn peak_of_children() -> u64 {
    // SAFETY: the structure is plain numbers; the call fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    usage.ru_maxrss as u64 * 1024
}
