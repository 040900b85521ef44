//! No measured time may depend on the wall clock, which users and NTP set forward and back. It is used only
//! for dates in records and ages of files.

use std::fs;
use std::path::{Path, PathBuf};

/// Names through which the wall clock is read.
const OF_THE_CLOCK: [&str; 4] = [
    "SystemTime",
    "CLOCK_REALTIME",
    "gettimeofday",
    "libc::time(",
];

/// Files that may use the wall clock: for dates, seeds, ages of files, and names of calls.
const MAY: [&str; 8] = [
    "conduct/src/bench/earlier.rs",
    "conduct/src/interventions/slope/delayed.rs",
    "conduct/src/gate/journal.rs",
    "measure/src/date.rs",
    "conduct/src/seed.rs",
    "launcher/src/joining/lookups.rs",
    "conduct/src/worktrees/cache.rs",
    "machine/src/remembered.rs",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|it| it == "rs") => found.push(path),
            false => {}
        }
    }
}

#[test]
fn only_dates_come_from_the_clock_that_can_be_set() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for room in ["launcher", "measure", "load", "stats", "machine", "conduct"] {
        let mut files = Vec::new();
        sources(&crates.join(room).join("src"), &mut files);
        assert!(files.len() > 5, "{room}");
        for file in files {
            let name = file.strip_prefix(crates).unwrap();
            let text = fs::read_to_string(&file).unwrap();
            let named = OF_THE_CLOCK.iter().find(|clock| text.contains(*clock));
            assert!(
                named.is_none() || MAY.iter().any(|one| name == Path::new(one)),
                "{}: {named:?}",
                name.display()
            );
        }
    }
}
