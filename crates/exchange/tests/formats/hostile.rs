//! Tests that truncated, damaged or malicious files give an error or a bounded result.

use std::io::{BufReader, Cursor, Read};

use fathom_exchange::{Entry, Error, FORMATS, read, read_folder, walk};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::mutation::{mutated, sound};
use crate::{folder, sample, text};

#[test]
fn mutations_of_every_sample_are_refused_or_sound() {
    for entry in walk(&folder()).unwrap() {
        let formats = FORMATS
            .iter()
            .filter(|format| format.can_read(&entry.bytes))
            .collect::<Vec<_>>();
        for format in formats {
            // Each entry starts with its own seed, so that adding a sample doesn't change the others.
            let mut random = SmallRng::seed_from_u64(41 + entry.bytes.len() as u64);
            let mut read_ones = 0;
            for _ in 0..60 {
                let bytes = mutated(&entry.bytes, &mut random);
                // The input is read by format name, so that input that is no longer recognised is read as
                // well.
                if let Ok(imported) = read(&bytes[..], "mutated", Some(format.name)) {
                    sound(&imported);
                    read_ones += 1;
                }
                if let Ok(imported) = read(&bytes[..], "mutated", None) {
                    sound(&imported);
                }
            }
            assert!(
                read_ones > 0,
                "{}: no mutation is read: the test tests one error only",
                format.name
            );
        }
    }
}

#[test]
fn mutated_folders_are_refused_or_sound() {
    let mut random = SmallRng::seed_from_u64(42);
    for tree in ["criterion", "asv"] {
        let entries = walk(&folder().join(tree)).unwrap();
        for _ in 0..60 {
            let mut entries: Vec<Entry> = entries.clone();
            let at = random.random_range(0..entries.len());
            entries[at].bytes = mutated(&entries[at].bytes, &mut random);
            let read = read_folder(&entries, tree, None);
            read.imported.iter().for_each(sound);
            assert!(!read.imported.is_empty() || !read.refused.is_empty());
        }
    }
}

#[test]
fn unknown_versions_are_refused_with_a_sentence() {
    let refused = |text: &str| {
        crate::text(text)
            .map_err(|error| error.to_string())
            .unwrap_err()
    };
    let newer = String::from_utf8(sample("hyperfine-hf2.json"))
        .unwrap()
        .replace("\"schema_version\": 2", "\"schema_version\": 3");
    assert_eq!(
        refused(&newer),
        "hyperfine: form 3 is not known (known: 1 and 2)"
    );
    let newer = String::from_utf8(sample("pyperf.json"))
        .unwrap()
        .replace("\"version\":\"1.0\"", "\"version\":\"2.0\"");
    assert_eq!(
        refused(&newer),
        "pyperf: form 2.0 is not known (known: 1.0)"
    );
    let newer = String::from_utf8(sample("jmh.json"))
        .unwrap()
        .replace("\"1.37\"", "\"2.0\"");
    assert_eq!(refused(&newer), "JMH: form 2.0 is not known (known: 1.x)");
}

#[test]
fn what_could_be_two_formats_asks() {
    let both = "name,iterations,real_time,cpu_time,time_unit,value\nx,1,2,3,ns,4\n";
    let error = text(both).unwrap_err();
    assert_eq!(
        error.to_string(),
        "could be google-benchmark-csv or csv; say which with --format"
    );
    assert!(read(both.as_bytes(), "f", Some("csv")).is_ok());
    assert!(matches!(
        text("nothing of the kind").unwrap_err(),
        Error::Unknown(_)
    ));
    assert!(matches!(
        read(&b"x"[..], "f", Some("nosuch")).unwrap_err(),
        Error::NoSuchFormat(..)
    ));
}

#[test]
fn odd_numbers_are_counted() {
    let json = "{\"results\": [{\"command\": \"a\", \"stddev\": NaN, \"times\": [1.5, NaN, -Infinity, inf]}]}";
    let imported = text(json).unwrap();
    assert_eq!(crate::samples(&imported.benchmarks[0]), [1.5]);
    assert_eq!(crate::left_out(&imported, "a", "no finite number"), 3);
    assert!(text(&json.replace("1.5", "1e999")).is_err());
}

#[test]
fn nesting_and_entities_are_bounded() {
    for format in FORMATS {
        for deep in [
            "[".repeat(1 << 20),
            "{\"results\":".repeat(1 << 17),
            "<a>".repeat(1 << 18),
        ] {
            let result = read(deep.as_bytes(), "deep", Some(format.name));
            assert!(
                result.is_err() || result.unwrap().benchmarks.is_empty(),
                "{}",
                format.name
            );
        }
    }
    let bomb = "<!DOCTYPE l [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><testsuite><testcase name=\"&b;\"/></testsuite>";
    assert!(
        text(bomb).unwrap_err().to_string().contains("DTD"),
        "{:?}",
        text(bomb)
    );
    let cases = format!("<testsuite>{}", "<testcase name=\"x\">".repeat(100_000));
    assert!(text(&cases).is_err());
}

#[test]
fn memory_is_bounded_before_parsing() {
    // 20 MB of these would take 1.6 GB of maps.
    let maps = format!(
        "{{\"results\":[{}{{}}],\"command\":\"stddev\"}}",
        "{\"a\":0},".repeat(2_500_000)
    );
    assert!(matches!(
        read(maps.as_bytes(), "maps", Some("hyperfine")).unwrap_err(),
        Error::TooLarge(_)
    ));
    let endless =
        BufReader::new(Cursor::new(b"{\"results\": [".to_vec()).chain(std::io::repeat(b' ')));
    let error = read(endless, "endless", Some("hyperfine")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "hyperfine: larger than 64 MB; it can't be read in parts"
    );
    let line = BufReader::new(std::io::repeat(b'B'));
    assert!(
        read(line, "line", Some("gobench"))
            .unwrap_err()
            .to_string()
            .contains("longer than 1 MB")
    );
}

#[test]
fn a_million_benchmarks_are_counted() {
    let lines = (0..250_000).map(|number| format!("BenchmarkX{number} 1 5 ns/op\n"));
    let imported = text(&lines.collect::<String>()).unwrap();
    assert_eq!(imported.benchmarks.len(), 200_000);
    assert_eq!(
        crate::left_out(&imported, "benchmarks", "more than 200000"),
        50_000
    );
}

#[test]
fn lines_are_streamed() {
    // An unbounded input: 20 MB of the same two lines.
    let lines = b"BenchmarkA/n=1-2 10 5 ns/op 3 B/op\nBenchmarkB-2 10 7 ns/op\n";
    let input = BufReader::new(Repeated {
        bytes: lines,
        at: 0,
        left: lines.len() * 400_000,
    });
    let imported = read(input, "long", None).unwrap();
    let lengths = imported
        .benchmarks
        .iter()
        .map(|one| crate::samples(one).len())
        .collect::<Vec<_>>();
    assert_eq!(lengths, [400_000; 3]);
}

struct Repeated {
    bytes: &'static [u8],
    at: usize,
    left: usize,
}

impl Read for Repeated {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(self.bytes.len() - self.at).min(self.left);
        buffer[..length].copy_from_slice(&self.bytes[self.at..self.at + length]);
        self.at = (self.at + length) % self.bytes.len();
        self.left -= length;
        Ok(length)
    }
}
