//! Tests that killing a writer loses no saved record.

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

/// Limits the size of the store's file to simulate a full disk. The limit increases by one page each time, so
/// that every write of a save fails once.
#[test]
fn wherever_the_disk_is_full_what_was_saved_is_there() {
    let place = Place::file();
    let mut refused = 0;
    for pages in 1..=48 {
        let _ = std::fs::remove_dir_all(place.path().parent().unwrap());
        let mut writer = Command::new(std::env::current_exe().unwrap());
        writer
            .args([
                "--exact",
                "writers::saves_until_the_disk_is_full",
                "--ignored",
                "--nocapture",
            ])
            .env(STORE, place.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        // SAFETY: both are system calls that are allowed between fork and exec, and their arguments are local
        // values.
        unsafe {
            use std::os::unix::process::CommandExt;
            writer.pre_exec(move || {
                let bytes = pages * 4096;
                let limit = libc::rlimit {
                    rlim_cur: bytes,
                    rlim_max: bytes,
                };
                // A write beyond the limit fails, as on a full disk, instead of killing the process.
                libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
                match libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) {
                    0 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                }
            });
        }
        let text = String::from_utf8(writer.output().unwrap().stdout).unwrap();
        let saved: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("saved "))
            .collect();
        let said: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("refused "))
            .collect();
        assert!(saved.len() == 4 || said.len() == 1, "{pages}: {text}");
        for one in &said {
            refused += 1;
            assert!(
                one.contains("file size limit") || one.contains("File too large"),
                "{pages}: {one}"
            );
        }
        // Now with enough space.
        let mut store = place.store();
        let records = store.records(&Selector::All).unwrap();
        for id in &saved {
            let head = records.iter().find(|head| head.id == *id);
            assert!(store.record(head.expect("a saved record is there")).is_ok());
        }
        if !records.is_empty() {
            assert_eq!(values(&mut store, "parse").len(), records.len(), "{pages}");
        }
        store.save(&draft(&[("parse", 9.0)], 9)).unwrap();
    }
    assert!(refused > 20, "the limit was met {refused} times");
}

#[test]
#[ignore = "the writer of wherever_the_disk_is_full_what_was_saved_is_there"]
fn saves_until_the_disk_is_full() {
    let path = std::env::var_os(STORE).expect("the store");
    let opened = Store::open(&Location::File(path.into()));
    let say = |text: String| writeln!(std::io::stdout(), "\n{text}").unwrap();
    let refused = |error: fathom_store::Error| say(format!("refused {error}"));
    let mut store = match opened {
        Ok(store) => store,
        Err(error) => return refused(error),
    };
    for n in 0..4 {
        match store.save(&draft(&[("parse", f64::from(n))], i64::from(n))) {
            Ok(saved) => say(format!("saved {}", saved.id)),
            Err(error) => return refused(error),
        }
    }
}
