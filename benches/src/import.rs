//! Measures how fast `fathom import` is, and how much memory the worst files take.

use std::ffi::OsStr;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Result;
use crate::options::Options;
use crate::table::{Table, mib, result};
use crate::tools::{Tools, median};

/// Size of the Go text in bytes.
const TEXT: usize = 100_000_000;
/// Required time for importing it, in seconds.
const ASKED_SECONDS: f64 = 2.0;
/// Required memory limit for any file.
const ASKED_BYTES: f64 = 400e6;
const TIMES: usize = 5;

/// Writes, imports and removes the files.
///
/// # Errors
/// If a file can't be written, or Fathom doesn't start.
pub(crate) fn measure(tools: &Tools, options: &Options) -> Result<Table> {
    let headers = [
        "file",
        "size",
        "answer",
        "wall",
        "peak memory",
        "asked",
        "result",
    ];
    let mut table = Table::new("Import: time and memory of fathom import", &headers);
    let path = tools.scratch_folder().join("import.data");
    let said = |error: std::io::Error| format!("{}: {error}", path.display());
    for case in cases(options.scaled(TEXT)) {
        write(&path, &case).map_err(said)?;
        let size = std::fs::metadata(&path).map_err(said)?.len();
        let times = if case.is_timed { TIMES } else { 1 };
        let mut walls = Vec::new();
        for _ in 0..times {
            let begun = Instant::now();
            let status = Command::new(&tools.fathom)
                .arg("import")
                .arg(&path)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .map_err(said)?;
            walls.push(begun.elapsed().as_secs_f64());
            let fits = status.code() == Some(if case.is_read { 0 } else { 2 });
            if !fits {
                return Err(format!("fathom import of {}: {status}", case.name));
            }
        }
        let words: [&OsStr; 2] = ["import".as_ref(), path.as_os_str()];
        // The meter reports nothing for an import that fails; a test checks the peak of those.
        let peak = match case.is_read {
            true => Some(tools.run(&tools.fathom, &words)?.peak_bytes),
            false => None,
        };
        let wall = median(&walls);
        let within = peak.is_none_or(|peak| peak <= ASKED_BYTES);
        let in_time = !case.is_timed || wall <= ASKED_SECONDS;
        table.row([
            case.name.to_owned(),
            format!("{:.0} MB", size as f64 / 1e6),
            if case.is_read { "read" } else { "refused" }.to_owned(),
            format!("{wall:.2} s"),
            peak.map(mib).unwrap_or_default(),
            match case.is_timed {
                true => format!("{ASKED_SECONDS} s, 400 MB"),
                false => "400 MB".to_owned(),
            },
            result(within && in_time),
        ]);
    }
    std::fs::remove_file(&path).map_err(said)?;
    Ok(table)
}

struct Case {
    name: &'static str,
    begin: &'static str,
    /// Text that is written repeatedly, with `#` replaced by a counter.
    piece: &'static str,
    times: usize,
    end: &'static str,
    is_read: bool,
    is_timed: bool,
}

/// Returns the cases. The text that is timed has 1,000 benchmarks; the others have the maximum size that is
/// read.
fn cases(text: usize) -> [Case; 5] {
    const GO: &str = "BenchmarkSortOfSomething/n=#-2    \t   10000\t     59571.5 ns/op\t  1504 B/op\t  49 allocs/op\n";
    const TIMES: &str = "{\"results\": [{\"command\": \"a\", \"stddev\": 1, \"times\": [0";
    let case = |name, begin, piece, times, end| Case {
        name,
        begin,
        piece,
        times,
        end,
        is_read: true,
        is_timed: false,
    };
    let numbers = ",0.001234567890123";
    [
        Case {
            is_timed: true,
            ..case("Go text", "pkg: p\n", GO, text / (GO.len() + 2), "")
        },
        case(
            "JSON of 3 million numbers",
            TIMES,
            numbers,
            3_100_000,
            "]}]}",
        ),
        Case {
            is_read: false,
            ..case(
                "JSON of 4 million numbers",
                TIMES,
                numbers,
                4_000_000,
                "]}]}",
            )
        },
        case(
            "JUnit of 990,000 cases",
            "<testsuite>",
            "<testcase name='x#' time='1'/>",
            990_000,
            "</testsuite>",
        ),
        case(
            "CSV of 200,000 benchmarks",
            "name,value\n",
            "benchmark-#,1.5\n",
            2_000_000,
            "",
        ),
    ]
}

fn write(path: &Path, case: &Case) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::fs::File::create(path)?);
    out.write_all(case.begin.as_bytes())?;
    for number in 0..case.times {
        match case.piece.split_once('#') {
            Some((before, after)) => {
                // Go's text has several samples per name; in the other cases, all names are different.
                let number = if case.is_timed { number % 1000 } else { number };
                write!(out, "{before}{number}{after}")?;
            }
            None => out.write_all(case.piece.as_bytes())?,
        }
    }
    out.write_all(case.end.as_bytes())?;
    out.flush()
}
