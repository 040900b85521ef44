//! Tests corrupted input: a broken file or record is refused with a position in it, and nothing panics. The
//! inputs are the catalogue's own files, changed at random with a seed that is reported on failure.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use fathom_experiment::resolve::Scope;
use fathom_experiment::select::Selection;
use fathom_experiment::{Experiment, plan, session};
use fathom_model::{ExperimentRecord, PlanRecord, PlanStep, SCHEMA_VERSION};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The total number of bytes that are read again for each file of the catalogue, which determines the number
/// of mutations. Reading 1 MB takes a second in a debug build.
const BYTES_OF_A_FILE: u64 = 60_000;
const OF_A_RECORD: u64 = 1500;

/// Tokens that are difficult for parsers: ends and beginnings of parts, numbers at limits, and words of the
/// formulas.
const TOKENS: [&str; 20] = [
    "\"",
    "'''",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    "\\u0000",
    "é",
    "\u{1f600}",
    "\n",
    "-1",
    "1e999",
    "18446744073709551616",
    "0.0",
    "nan",
    "ratio(",
    " within ",
    "null",
    "[claims]",
];

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// Makes one to four changes. Each changes a byte, removes, duplicates or moves a piece, inserts a token, or
/// cuts off the end.
fn mutated(original: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut bytes = original.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let end = (at + 1 + random.below(40)).min(bytes.len());
        match random.below(8) {
            0 | 1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 => drop(bytes.drain(at..end)),
            3 => {
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            4 if random.below(4) == 0 => bytes.truncate(at),
            _ => {
                let token = TOKENS[random.below(TOKENS.len())];
                bytes.splice(at..at, token.bytes());
            }
        }
    }
    bytes
}

/// Runs a step on each mutation and returns how many mutations it accepts; a panic reports the input.
fn accepted(name: &str, original: &[u8], count: u64, accepts: impl Fn(&[u8]) -> bool) -> u64 {
    (0..count)
        .filter(|seed| {
            let bytes = mutated(original, *seed);
            catch_unwind(AssertUnwindSafe(|| accepts(&bytes))).unwrap_or_else(|_| {
                let text = String::from_utf8_lossy(&bytes);
                panic!("{name}, seed {seed}, makes it panic:\n{text}")
            })
        })
        .count() as u64
}

fn catalogue() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    fathom_experiment::catalogue::files(&folder).expect("the catalogue can be listed")
}

fn steps(experiment: &Experiment) -> Vec<PlanStep> {
    let folders = session::folders(experiment, Path::new("work")).expect("absolute folders");
    let scope = Scope {
        experiment,
        folders: &folders,
        quick: true,
    };
    plan::plan(&scope, &Selection::all(experiment), true).expect("a checked file has a plan")
}

/// Returns whether a text is an experiment. If it is, it must have a plan; if not, each problem must have a
/// position in the text.
fn is_experiment(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    match support::experiment(&text) {
        Ok(experiment) => {
            steps(&experiment);
            true
        }
        Err(error) => {
            assert!(!error.problems.is_empty());
            for problem in &error.problems {
                let place = text.get(problem.span.clone());
                assert!(place.is_some(), "{:?} of {}", problem.span, text.len());
            }
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

#[test]
fn a_broken_experiment_file_is_refused_with_places_in_it() {
    let (mut all, mut good) = (0, 0);
    for path in catalogue() {
        let text = std::fs::read(&path).expect("it can be read");
        assert!(is_experiment(&text), "{}", path.display());
        let count = BYTES_OF_A_FILE / text.len() as u64;
        all += count;
        good += accepted(&path.display().to_string(), &text, count, is_experiment);
    }
    // Comments and texts may contain anything; most other changes break something.
    assert!(good > 0 && good < all, "{good} of {all} are accepted");
}

/// Returns whether bytes are a record; a record that can be read must be written back unchanged.
fn is_record<R: Serialize + DeserializeOwned + PartialEq>(bytes: &[u8]) -> bool {
    let Ok(record) = serde_json::from_slice::<R>(bytes) else {
        return false;
    };
    let again = serde_json::to_vec(&record).expect("it can be written");
    assert!(serde_json::from_slice::<R>(&again).is_ok_and(|read| read == record));
    true
}

#[test]
fn a_broken_record_of_a_run_is_refused() {
    let text = include_bytes!("mutated/run.json");
    assert!(is_record::<ExperimentRecord>(text));
    let good = accepted("run.json", text, OF_A_RECORD, is_record::<ExperimentRecord>);
    assert!(good > 0 && good < OF_A_RECORD, "{good} are accepted");
}

#[test]
fn a_broken_plan_is_refused() {
    let path = &catalogue()[0];
    let experiment = fathom_experiment::read(path).expect("it is right");
    let record = PlanRecord {
        schema_version: SCHEMA_VERSION,
        kind: "plan".to_string(),
        file: path.display().to_string(),
        title: experiment.title.clone(),
        quick: true,
        steps: [
            steps(&experiment),
            vec![PlanStep {
                title: "measure".to_string(),
                commands: vec!["true".to_string(), "printf 'a b'".to_string()],
            }],
        ]
        .concat(),
    };
    let text = serde_json::to_vec(&record).expect("it can be written");
    assert!(is_record::<PlanRecord>(&text));
    let good = accepted("plan", &text, OF_A_RECORD, is_record::<PlanRecord>);
    assert!(good > 0 && good < OF_A_RECORD, "{good} are accepted");
}
