//! Tests that stores from older versions of Fathom stay readable. `tests/fixtures` has one store for each
//! schema version. These files never change: a new version adds a file.

use std::io::{Read, Write};

use fathom_store::{Draft, Location, Prune, Selector, Store};

use crate::server::{Places as _, Server};
use crate::support::{Place, draft, values};

/// Fills a store with sealed points, a pruned record, a renamed benchmark, a label, and two environments.
fn fill(store: &mut Store) {
    let drafts: Vec<Draft> = (0..450).map(|n| draft(&[("old", n as f64)], n)).collect();
    store.save_all(&drafts).unwrap();
    let all_but_one = store
        .prunable(&Prune {
            keep: Some(1),
            ..Prune::default()
        })
        .unwrap();
    store.prune(&all_but_one).unwrap();
    store.rename("old", "new").unwrap();
    let mut last = draft(&[("new", 450.0)], 450);
    last.labels = vec!["v1".into()];
    store.save(&last).unwrap();
}

fn check(store: &mut Store) {
    assert_eq!(
        values(store, "old"),
        (0..451).map(f64::from).collect::<Vec<_>>()
    );
    let records = store.records(&Selector::All).unwrap();
    assert_eq!(
        records.iter().filter(|head| head.pruned.is_some()).count(),
        449
    );
    for head in records.iter().filter(|head| head.pruned.is_none()) {
        assert!(store.record(head).unwrap().contains("\"kind\":\"bench\""));
    }
    assert_eq!(
        store.find("v1").unwrap()[0].revision,
        draft(&[], 450).revision
    );
    let saved = store.save(&draft(&[("old", 451.0)], 451)).unwrap();
    assert!(saved.new);
    assert_eq!(values(store, "new").len(), 452);
}

fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed)
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

const FILES: [&[u8]; 2] = [
    include_bytes!("../fixtures/form-1.sqlite.gz"),
    include_bytes!("../fixtures/form-2.sqlite.gz"),
];
const SERVERS: [&[u8]; 2] = [
    include_bytes!("../fixtures/form-1.postgresql.sql.gz"),
    include_bytes!("../fixtures/form-2.postgresql.sql.gz"),
];

#[test]
fn files_of_every_form_are_read() {
    for packed in FILES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        std::fs::write(&path, unpacked(packed)).unwrap();
        check(&mut Store::open(&Location::File(path)).unwrap());
    }
}

#[test]
fn servers_of_every_form_are_read() {
    let Some(server) = Server::start() else {
        return;
    };
    for packed in SERVERS {
        let dump = unpacked(packed);
        let mut client = server.client();
        client
            .batch_execute(std::str::from_utf8(&dump).unwrap())
            .unwrap();
        check(&mut server.place("form").store());
        server
            .client()
            .batch_execute("DROP SCHEMA form CASCADE")
            .unwrap();
    }
}

/// Uses the statements with which a Fathom of version 1 saves. Such a Fathom may have the store open while
/// this one migrates it; its records are ordered by their time.
#[test]
fn a_fathom_that_has_the_store_open_meanwhile_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    std::fs::write(&path, unpacked(FILES[0])).unwrap();
    let older = rusqlite::Connection::open(&path).unwrap();
    let mut store = Store::open(&Location::File(path)).unwrap();
    let time = crate::support::hour(200) + 1;
    older
        .execute_batch(&format!(
            "BEGIN IMMEDIATE;
             INSERT INTO record (hash, kind, time, environment, revision, branch, dirty, command, inputs, seed,
                 fathom_version) VALUES ('{}', 'bench', {time}, 1, NULL, NULL, 0, 'old', '[]', NULL, '0.1.0');
             INSERT INTO tail (series, record, environment, time, value, low, high, runs)
                 SELECT 1, MAX(id), 1, {time}, 1e6, 1e6, 1e6, 1 FROM record;
             COMMIT;",
            "e".repeat(64)
        ))
        .unwrap();
    let values = values(&mut store, "new");
    assert_eq!((values[200], values[201], values[202]), (200.0, 1e6, 201.0));
}

#[test]
#[ignore = "writes the fixtures of this form into FATHOM_FIXTURES; for a new form only"]
fn write_fixtures() {
    let folder =
        std::path::PathBuf::from(std::env::var_os("FATHOM_FIXTURES").expect("FATHOM_FIXTURES"));
    let write = |name: &str, bytes: &[u8]| {
        let file = std::fs::File::create(folder.join(name)).unwrap();
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::best());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap();
    };
    let place = Place::file();
    let mut store = place.store();
    fill(&mut store);
    let form = store.info().unwrap().form;
    drop(store);
    write(
        &format!("form-{form}.sqlite.gz"),
        &std::fs::read(place.path()).unwrap(),
    );

    let server = Server::start().expect("a server");
    fill(&mut server.place("form").store());
    let dump = std::process::Command::new("pg_dump")
        .args([
            "--inserts",
            "--rows-per-insert=200",
            "--no-owner",
            "-n",
            "form",
            "-U",
            "fathom",
            "-d",
            "postgres",
        ])
        .args(["-p", &server.port.to_string()])
        .arg("-h")
        .arg(server.socket())
        .output()
        .unwrap();
    assert!(
        dump.status.success(),
        "{}",
        String::from_utf8_lossy(&dump.stderr)
    );
    let text = String::from_utf8(dump.stdout).unwrap();
    let plain: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with('\\'))
        .collect(); // skips psql's meta-commands
    write(
        &format!("form-{form}.postgresql.sql.gz"),
        plain.join("\n").as_bytes(),
    );
}

#[test]
fn a_newer_fathom_that_changes_the_store_meanwhile_is_noticed() {
    let place = Place::file();
    let mut store = place.store();
    store.save(&draft(&[("parse", 1.0)], 1)).unwrap();
    let newer = rusqlite::Connection::open(place.path()).unwrap();
    newer.execute_batch("PRAGMA user_version = 99").unwrap();
    let said = store.save(&draft(&[("parse", 2.0)], 2)).unwrap_err();
    let said = said.to_string();
    assert!(
        said.contains("newer Fathom (format 99; this one reads up to 2)"),
        "{said}"
    );
    assert!(place.refused().contains("format 99"));
    newer.execute_batch("PRAGMA user_version = 2").unwrap();
    assert_eq!(values(&mut store, "parse"), [1.0]);
}
