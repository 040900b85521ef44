//! Tests for the differences between the recorded pairs of the corpus. A pair consists of `slow`, a program
//! with one known cause, and `fast`, its repaired twin.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use fathom_diagnose::Observation;
use fathom_diagnose::difference::{Side, difference};
use fathom_model::{Difference, OF_WALL, TimeAccount};
use flate2::read::GzDecoder;

fn read(path: &Path) -> Observation {
    let file = File::open(path).expect("a recorded trace can be opened");
    serde_json::from_reader(GzDecoder::new(file)).expect("a recorded trace is an observation")
}

/// Returns the paths of `fast` and `slow`, keyed by the name that they share.
fn pairs(kind: &str) -> BTreeMap<String, [PathBuf; 2]> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let entries = fs::read_dir(&folder).expect("traces are recorded");
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let ending = format!(".slow.{kind}.json.gz");
    let names = names.filter_map(|name| name.strip_suffix(&ending).map(str::to_owned));
    let path = |name: &str, side: &str| folder.join(format!("{name}.{side}.{kind}.json.gz"));
    names
        .map(|name| {
            let both = ["fast", "slow"].map(|side| path(&name, side));
            (name, both)
        })
        .collect()
}

fn between(a: &Observation, b: &Observation) -> (Difference, [TimeAccount; 2]) {
    let side = |one| Side {
        observations: std::slice::from_ref(one),
    };
    difference(side(a), side(b)).expect("an observation of each")
}

fn ns(milliseconds: f64) -> i64 {
    (milliseconds * 1e6).round() as i64
}

/// Asserts that the rows of the wall time plus the unexplained part are exactly the difference of the
/// medians.
fn assert_adds_up(name: &str, difference: &Difference, accounts: &[TimeAccount; 2]) {
    let rows: i64 = difference.parts().map(|row| ns(row.milliseconds)).sum();
    let whole = accounts[1].wall_ns as i64 - accounts[0].wall_ns as i64;
    assert_eq!(ns(difference.wall.milliseconds), whole, "{name}");
    assert_eq!(rows + ns(difference.not_explained), whole, "{name}");
    for account in accounts {
        let parts: u64 = account.parts.iter().map(|part| part.ns).sum();
        assert_eq!(parts, account.wall_ns, "{name}");
    }
}

/// Asserts that each row is clear and within its interval, and belongs to the wall time or to a part that is
/// shown.
fn assert_rows_are_known(name: &str, difference: &Difference) {
    for row in &difference.rows {
        assert!(row.is_clear(), "{name}: {row:?}");
        assert!(
            row.low <= row.milliseconds && row.milliseconds <= row.high,
            "{name}: {row:?}"
        );
        assert!(
            row.of == OF_WALL || difference.parts().any(|part| part.part == row.of),
            "{name}: {row:?}"
        );
    }
}

/// Checks every `every`th pair, because all pairs take a minute in a debug build.
fn check(kind: &str, every: usize) {
    for (name, paths) in pairs(kind).into_iter().step_by(every) {
        let [fast, slow] = paths.map(|path| read(&path));
        let (there, accounts) = between(&fast, &slow);
        assert_adds_up(&name, &there, &accounts);
        assert_rows_are_known(&name, &there);
        // In the other direction every value is negated, to the nanosecond.
        let (back, _) = between(&slow, &fast);
        let values = |difference: &Difference| {
            let rows = difference.rows.iter();
            let mut rows: Vec<_> = rows
                .map(|row| (row.of.clone(), row.part.clone(), ns(row.milliseconds)))
                .collect();
            rows.sort();
            rows
        };
        let back = values(&back).into_iter();
        let mut opposite: Vec<_> = back.map(|(of, part, ns)| (of, part, -ns)).collect();
        opposite.sort();
        assert_eq!(values(&there), opposite, "{name}");
    }
}

#[test]
fn the_rows_of_recorded_pairs_add_up() {
    check("kernel", 3);
    check("sample", 5);
    check("unprivileged", 5);
}

#[test]
fn a_command_differs_in_nothing_from_itself() {
    for (name, [fast, _]) in pairs("kernel").into_iter().step_by(40) {
        let fast = read(&fast);
        let (difference, accounts) = between(&fast, &fast);
        assert_adds_up(&name, &difference, &accounts);
        assert_eq!(difference.rows, [], "{name}");
        assert_eq!(difference.not_explained, 0.0, "{name}");
        assert!(!difference.wall.is_clear(), "{name}");
    }
}
