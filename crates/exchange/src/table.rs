//! The table of formats, one per line.

use std::io::BufRead;

use crate::collector::Collector;
use crate::error::Error;
use crate::formats::{
    action, action_data, asv, autocannon, bencher, benchmark_js, benchmarkdotnet, benchstat,
    bombardier, bombardier_text, cargo_criterion, catch2, critcmp, criterion, divan, google,
    google_csv, gotest, gotest_json, gungraun, hey, hey_csv, hyperfine, hyperfine_csv, iai, jmh,
    jmh_csv, junit, k6, k6_points, libtest, libtest_json, mitata, nanobench, nanobench_csv, oha,
    plain, pyperf, pytest_benchmark, pytest_codspeed, tinybench, vegeta, vegeta_text, vitest, wrk,
};

/// An input format for result files.
pub struct Format {
    /// Its name for `--format`.
    pub name: &'static str,
    pub(crate) tool: &'static str,
    can_read: fn(&[u8]) -> bool,
    pub(crate) reader: Reader,
}

/// How a format is read.
pub(crate) enum Reader {
    /// As a whole document of at most 64 MB.
    Document(fn(&[u8], &mut Collector) -> Result<(), Error>),
    /// Line by line, without a limit on the size.
    Lines(fn(&mut dyn BufRead, &mut Collector) -> Result<(), Error>),
}

impl Format {
    /// Returns whether the head of a file shows this format.
    pub fn can_read(&self, head: &[u8]) -> bool {
        (self.can_read)(head)
    }

    pub(crate) fn named(name: &str) -> Result<&'static Format, Error> {
        let found = FORMATS.iter().find(|format| format.name == name);
        found.ok_or_else(|| Error::NoSuchFormat(name.to_owned(), names()))
    }
}

/// Returns the valid values of `--format`, as listed in errors.
pub fn names() -> Vec<&'static str> {
    FORMATS.iter().map(|format| format.name).collect()
}

macro_rules! format {
    ($name:literal, $tool:literal, $module:ident, $kind:ident) => {
        Format {
            name: $name,
            tool: $tool,
            can_read: $module::can_read,
            reader: Reader::$kind($module::read),
        }
    };
}

/// Every format of a single file; the folders of criterion and asv are handled separately.
pub static FORMATS: &[Format] = &[
    format!("hyperfine", "hyperfine", hyperfine, Document),
    format!("hyperfine-csv", "hyperfine", hyperfine_csv, Document),
    format!("gobench", "go test", gotest, Lines),
    format!("gobench-json", "go test", gotest_json, Lines),
    format!("google-benchmark", "Google Benchmark", google, Document),
    format!(
        "google-benchmark-csv",
        "Google Benchmark", google_csv, Document
    ),
    format!("criterion", "criterion", criterion, Lines),
    format!("critcmp", "critcmp", critcmp, Document),
    format!("cargo-criterion", "cargo-criterion", cargo_criterion, Lines),
    format!(
        "pytest-benchmark",
        "pytest-benchmark", pytest_benchmark, Document
    ),
    format!(
        "pytest-codspeed",
        "pytest-codspeed", pytest_codspeed, Document
    ),
    format!("pyperf", "pyperf", pyperf, Document),
    format!("jmh", "JMH", jmh, Document),
    format!("jmh-csv", "JMH", jmh_csv, Document),
    format!("libtest", "libtest", libtest, Lines),
    format!("libtest-json", "libtest", libtest_json, Lines),
    format!("divan", "divan", divan, Lines),
    format!("benchstat-csv", "benchstat", benchstat, Document),
    format!("mitata", "mitata", mitata, Document),
    format!("tinybench", "tinybench", tinybench, Document),
    format!("vitest", "vitest", vitest, Document),
    format!("benchmark.js", "benchmark.js", benchmark_js, Lines),
    format!("catch2", "Catch2", catch2, Document),
    format!("junit", "JUnit XML", junit, Document),
    format!("nanobench", "nanobench", nanobench, Document),
    format!("nanobench-csv", "nanobench", nanobench_csv, Document),
    format!("asv", "asv", asv, Document),
    format!("k6", "k6", k6, Document),
    format!("k6-points", "k6", k6_points, Lines),
    format!("oha", "oha", oha, Document),
    format!("wrk", "wrk", wrk, Lines),
    format!("hey", "hey", hey, Lines),
    format!("hey-csv", "hey", hey_csv, Document),
    format!("vegeta", "vegeta", vegeta, Document),
    format!("vegeta-text", "vegeta", vegeta_text, Lines),
    format!("bombardier", "bombardier", bombardier, Document),
    format!("bombardier-text", "bombardier", bombardier_text, Lines),
    format!("autocannon", "autocannon", autocannon, Document),
    format!(
        "benchmarkdotnet",
        "BenchmarkDotNet", benchmarkdotnet, Document
    ),
    format!("iai", "iai", iai, Lines),
    format!("gungraun", "gungraun", gungraun, Document),
    format!("bencher", "Bencher", bencher, Document),
    format!(
        "github-action-benchmark",
        "github-action-benchmark", action, Document
    ),
    format!(
        "github-action-benchmark-data",
        "github-action-benchmark", action_data, Document
    ),
    format!("csv", "CSV", plain, Document),
];
