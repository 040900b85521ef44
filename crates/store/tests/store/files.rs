//! Tests stores in files: permissions, files that are not stores, and files that can't be used. Each of these
//! gives an error, and no measurement is lost.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fathom_store::{Draft, Location, Options, Selector, Store, save_or_keep};

use crate::support::{Place, draft, is_root, values};

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn a_store_is_for_its_owner_only() {
    let place = Place::file();
    place.store().save(&draft(&[("parse", 1.0)], 1)).unwrap();
    let mut store = place.store();
    assert_eq!(values(&mut store, "parse"), [1.0]); // the log exists while the store is open
    let folder = place.path().parent().unwrap();
    assert_eq!(mode(folder), 0o700);
    let files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert!(files.len() >= 2, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn what_is_no_store_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| Place::at(Location::File(folder.path().join(name)));
    let text = at("notes.txt");
    fs::write(text.path(), "dear diary, today nothing was measured").unwrap();
    let short = at("short.txt");
    fs::write(short.path(), "SQLite").unwrap();
    let other = at("other.db");
    rusqlite::Connection::open(other.path())
        .unwrap()
        .execute_batch("CREATE TABLE mail (text)")
        .unwrap();
    for (place, why) in [
        (&text, "not an SQLite file"),
        (&short, "not an SQLite file"),
        (&other, "another program"),
    ] {
        let before = fs::read(place.path()).unwrap();
        let said = place.refused();
        assert!(
            said.contains("is not a store of Fathom") && said.contains(why),
            "{said}"
        );
        assert_eq!(fs::read(place.path()).unwrap(), before);
    }
    assert!(
        Place::at(Location::File(folder.path().into()))
            .refused()
            .contains("it is a folder")
    );
    let below = at("notes.txt/store.sqlite").refused();
    assert!(below.contains("notes.txt"), "{below}");
}

#[test]
fn a_newer_store_is_refused() {
    let place = Place::file();
    drop(place.store());
    let raw = rusqlite::Connection::open(place.path()).unwrap();
    raw.execute_batch("PRAGMA user_version = 99").unwrap();
    let said = place.refused();
    assert!(
        said.contains("newer Fathom (format 99;") && said.contains("update Fathom"),
        "{said}"
    );
}

#[test]
fn a_record_that_finds_the_store_locked_is_written_beside_and_loaded_later() {
    let place = Place::file();
    drop(place.store());
    let other = rusqlite::Connection::open(place.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let folder = place.path().parent().unwrap();
    let mut lost = draft(&[("parse", 1.0)], 1);
    lost.labels = vec!["v1".into()];
    let options = Options {
        wait: Duration::from_millis(20),
        ..Default::default()
    };
    let missing = folder.join("missing");
    let kept =
        save_or_keep(&place.location, options, &lost, &[missing, folder.into()]).unwrap_err();
    let (said, file) = (kept.to_string(), kept.file.unwrap());
    assert!(said.contains("another process has been writing"), "{said}");
    assert!(
        said.contains(&format!("fathom store load {}", file.display())),
        "{said}"
    );
    assert_eq!((file.parent().unwrap(), mode(&file)), (folder, 0o600));
    // A second file doesn't overwrite the first.
    let again = save_or_keep(&place.location, options, &lost, &[folder.into()]).unwrap_err();
    assert_ne!(again.file.unwrap(), file);

    other.execute_batch("ROLLBACK").unwrap();
    let mut store = place.store();
    let loaded = store.load("kept", fs::File::open(&file).unwrap()).unwrap();
    assert_eq!(loaded.new, 1);
    let found = store.find("v1").unwrap();
    assert_eq!(found[0].revision, lost.revision);
    assert_eq!(store.record(&found[0]).unwrap(), lost.text);
}

#[test]
fn damage_is_said_wherever_it_is() {
    let place = Place::file();
    let mut store = place.store();
    let drafts: Vec<Draft> = (0..600).map(|n| draft(&[("parse", n as f64)], n)).collect();
    store.save_all(&drafts).unwrap();
    drop(store);

    // Damages a byte of a record and a byte of sealed points, which the database does not detect.
    let raw = rusqlite::Connection::open(place.path()).unwrap();
    for table in ["body", "chunk"] {
        let flip = format!(
            "UPDATE {table} SET packed = CAST(substr(packed, 1, 40) || x'5a5a' || substr(packed, 43) AS BLOB)"
        );
        raw.execute_batch(&flip).unwrap();
    }
    drop(raw);
    let mut store = place.store();
    let head = store.find("@-1").unwrap();
    let said = store.record(&head[0]).unwrap_err().to_string();
    assert!(
        said.contains(&format!("damaged (record {}", head[0].id)),
        "{said}"
    );
    let since = fathom_store::Since::Start;
    let said = store.points(1, &since).unwrap_err().to_string();
    assert!(
        said.contains("sealed points of series 1") && said.contains("fathom store load"),
        "{said}"
    );
    drop(store);

    // Damages pages in the middle, which the database detects.
    let mut bytes = fs::read(place.path()).unwrap();
    let page = 4096;
    for byte in &mut bytes[page..] {
        *byte = 0x5a;
    }
    fs::write(place.path(), bytes).unwrap();
    let said = match Store::open(&place.location) {
        Err(error) => error.to_string(),
        Ok(mut store) => store.find("@-1").unwrap_err().to_string(),
    };
    assert!(said.contains("is damaged"), "{said}");
}

#[test]
fn a_pruned_file_is_smaller() {
    let place = Place::file();
    let mut store = place.store();
    let drafts: Vec<Draft> = (0..400).map(|n| draft(&[("parse", n as f64)], n)).collect();
    store.save_all(&drafts).unwrap();
    let before = store.info().unwrap();
    let all = store.records(&Selector::All).unwrap();
    store.prune(&all).unwrap();
    let after = store.info().unwrap();
    assert_eq!((after.record_bytes, after.points), (0, before.points));
    let freed = before.bytes - after.bytes;
    assert!(
        freed >= before.record_bytes.unsigned_abs() * 9 / 10,
        "{freed} bytes were given back"
    );
    assert_eq!(place.path().metadata().unwrap().len(), after.bytes);
}

/// A separate file system, which is unmounted when it is dropped; `None` if this process may not mount one.
struct Mounted(tempfile::TempDir);

impl Mounted {
    fn new(size: &str) -> Option<Mounted> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(folder.path());
        if is_root() && mount.output().is_ok_and(|done| done.status.success()) {
            return Some(Mounted(folder));
        }
        fathom_test_log::skipped("only root can mount a file system to fill or to make read-only");
        None
    }

    fn place(&self) -> Place {
        Place::at(Location::File(self.0.path().join("store.sqlite")))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn on_a_full_disk_nothing_is_lost() {
    let Some(mounted) = Mounted::new("1m") else {
        return;
    };
    let place = mounted.place();
    place.store().save(&draft(&[("first", 1.0)], 1)).unwrap();
    let filler = mounted.0.path().join("filler");
    let _full = fs::write(&filler, vec![0; 4 << 20]).unwrap_err();

    let elsewhere = tempfile::tempdir().unwrap();
    let folders = [mounted.0.path().to_owned(), elsewhere.path().to_owned()];
    let names: Vec<String> = (0..300).map(|n| format!("benchmark {n}")).collect();
    let figures: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 2.0)).collect();
    let big = draft(&figures, 2);
    let kept = save_or_keep(&place.location, Options::default(), &big, &folders).unwrap_err();
    assert!(kept.to_string().contains("disk is full"), "{kept}");
    let file = kept.file.unwrap();
    assert_eq!(
        file.parent().unwrap(),
        elsewhere.path(),
        "not half of it on the full disk"
    );

    fs::remove_file(filler).unwrap();
    let mut store = place.store();
    assert_eq!(values(&mut store, "first"), [1.0]);
    assert_eq!(
        store
            .load("kept", fs::File::open(file).unwrap())
            .unwrap()
            .new,
        1
    );
    assert_eq!(values(&mut store, "benchmark 299"), [2.0]);
}

#[test]
fn what_is_read_only_can_be_read() {
    let Some(mounted) = Mounted::new("4m") else {
        return;
    };
    let place = mounted.place();
    place.store().save(&draft(&[("parse", 1.0)], 1)).unwrap();
    let remount = Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(mounted.0.path())
        .status()
        .unwrap();
    assert!(remount.success());
    let mut store = place.store();
    assert_eq!(values(&mut store, "parse"), [1.0]);
    let said = store
        .save(&draft(&[("parse", 2.0)], 2))
        .unwrap_err()
        .to_string();
    assert!(said.contains("read-only"), "{said}");
    let new = Place::at(Location::File(mounted.0.path().join("new.sqlite")));
    assert!(new.refused().contains("Read-only file system"));
}

#[test]
fn a_folder_without_permission_is_named() {
    if is_root() {
        fathom_test_log::skipped("root may write everywhere");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o500)).unwrap();
    let said = Place::at(Location::File(folder.path().join("store.sqlite"))).refused();
    assert!(
        said.contains(&folder.path().display().to_string()),
        "{said}"
    );
}
