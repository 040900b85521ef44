//! A writer that is killed loses no record that it had saved.

use std::io::Write;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use fathom_store::{Location, Selector, Store};

use crate::support::{Place, draft, values};

const STORE: &str = "FATHOM_STORE_OF_THE_KILLED_WRITER";

#[test]
fn a_killed_writer_loses_nothing_that_it_saved() {
    let place = Place::file();
    let mut saved = Vec::new();
    for round in 0..3 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "writers::saves_until_it_is_killed",
                "--ignored",
                "--nocapture",
            ])
            .env(STORE, place.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ids = lines.filter_map(|line| line.unwrap().strip_prefix("saved ").map(str::to_owned));
        saved.extend(ids.take(7 + round * 5));
        child.kill().unwrap(); // SIGKILL, while it saves the next ones
        child.wait().unwrap();
    }
    let mut store = place.store();
    let records = store.records(&Selector::All).unwrap();
    for id in &saved {
        let head = records
            .iter()
            .find(|head| head.id == *id)
            .expect("a saved record is there");
        assert!(store.record(head).is_ok());
    }
    assert_eq!(
        values(&mut store, "parse").len(),
        records.len(),
        "a record without its points"
    );
    let raw = rusqlite::Connection::open(place.path()).unwrap();
    let whole: String = raw
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(whole, "ok");
}

#[test]
#[ignore = "the writer that a_killed_writer_loses_nothing_that_it_saved kills"]
fn saves_until_it_is_killed() {
    let path = std::env::var_os(STORE).expect("the store");
    let mut store = Store::open(&Location::File(path.into())).unwrap();
    for n in 0..1_000_000 {
        let unique = f64::from(std::process::id()) + f64::from(n) * 1e-6;
        let id = store
            .save(&draft(&[("parse", unique)], i64::from(n)))
            .unwrap()
            .id;
        writeln!(std::io::stdout(), "\nsaved {id}").unwrap();
    }
}
