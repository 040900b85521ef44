//! Broken stores and repositories: each produces a sentence with a command to type, and no measurement is
//! lost.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fathom_store::{Draft, Selector, date};

use crate::world::{World, open, stderr, stdout};

const BENCH: [&str; 7] = ["bench", "-N", "-r", "3", "-w", "0", "/bin/true"];

/// A user who is not root.
const NOBODY: u32 = 65534;

/// Checks that the measurement succeeded although its record could not be saved, and that the output reports
/// the problem and names the bundle written instead. Returns the path of the bundle.
fn kept_beside(output: &Output, why: &str) -> PathBuf {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(stdout(output).contains("/bin/true"), "the result is shown");
    assert!(said.contains("not saved: ") && said.contains(why), "{said}");
    let file = said.split("fathom store load ").nth(1).unwrap();
    let file = PathBuf::from(file.lines().next().unwrap());
    assert!(file.is_file(), "{said}");
    file
}

fn loads(world: &World, bundle: &Path) {
    let store = world.here().join("loaded.sqlite");
    let (bundle, place) = (bundle.to_str().unwrap(), store.to_str().unwrap());
    world.done(&["store", "load", bundle, "--store", place]);
    let head = open(&store).records(&Selector::Last(1)).unwrap().remove(0);
    assert_eq!(head.command, "/bin/true");
}

fn is_root() -> bool {
    // SAFETY: the call takes no arguments and can't fail.
    unsafe { libc::geteuid() == 0 }
}

#[test]
fn a_store_that_is_read_only() {
    let world = World::project();
    world.done(&BENCH);
    let (folder, store) = (world.here().join(".fathom"), world.project_store());
    let mut command = world.command(&BENCH);
    if is_root() {
        // Root can write anywhere.
        for path in [&world.here(), &folder, &store] {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let outer = world.here().parent().unwrap().to_path_buf();
        fs::set_permissions(outer, Permissions::from_mode(0o755)).unwrap();
        command.uid(NOBODY).gid(NOBODY);
    }
    fs::set_permissions(&store, Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o555)).unwrap();
    let output = command.output().unwrap();
    let bundle = kept_beside(&output, "read-only");
    assert_eq!(
        bundle.parent(),
        Some(world.here().as_path()),
        "the next folder takes it"
    );
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    loads(&world, &bundle);
}

#[test]
fn a_disk_that_is_full() {
    let world = World::project();
    let folder = world.here().join(".fathom");
    if !is_root() {
        fathom_test_log::skipped("only root can mount a small file system");
        return;
    }
    // Use a private mount namespace, so that nothing is left behind.
    let script = "mount -t tmpfs -o size=48k none .fathom && \
                  { cat /dev/zero > .fathom/filled 2> /dev/null; exec \"$@\"; }";
    let fathom = env!("CARGO_BIN_EXE_fathom");
    let mounted = |words: &[&str]| {
        let mut command = world.command(&[]);
        let environment: Vec<_> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        command = Command::new("unshare");
        command
            .args(["-m", "sh", "-c", script, "sh"])
            .args(words)
            .envs(environment)
            .current_dir(world.here())
            .output()
    };
    if !mounted(&["true"]).is_ok_and(|output| output.status.success()) {
        fathom_test_log::skipped("no file system can be mounted here");
        return;
    }
    let mut words = vec![fathom];
    words.extend(BENCH);
    let output = mounted(&words).unwrap();
    let bundle = kept_beside(&output, "its disk is full");
    assert_ne!(bundle.parent(), Some(folder.as_path()));
    loads(&world, &bundle);
}

#[test]
fn a_limit_on_the_size_of_files() {
    let world = World::project();
    world.done(&BENCH);
    world.done(&["store", "bundle", "one.bundle"]);
    let mut command = world.command(&["store", "load", "one.bundle", "--store", "new.sqlite"]);
    // SAFETY: between fork and exec only two calls are made, both allowed there.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            let limit = libc::rlimit {
                rlim_cur: 16384,
                rlim_max: 16384,
            };
            libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit);
            Ok(())
        });
    }
    let output = command.output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("new.sqlite can't grow: ") && said.contains("ulimit -f"),
        "{said}"
    );
    loads(&world, &world.here().join("one.bundle"));
}

#[test]
fn a_page_that_is_corrupt() {
    let world = World::project();
    world.done(&BENCH);
    world.done(&BENCH);
    drop(open(&world.project_store())); // writes the log back
    let mut bytes = fs::read(world.project_store()).unwrap();
    let from = 2 * 4096;
    bytes[from..].fill(0xa5);
    fs::write(world.project_store(), bytes).unwrap();
    let said = world.refused(2, &["history"]);
    assert!(
        said.contains("is damaged (") && said.contains("fathom store load"),
        "{said}"
    );
    let bundle = kept_beside(&world.fathom(&BENCH), "is damaged (");
    loads(&world, &bundle);
}

#[test]
fn a_server_that_cannot_be_reached() {
    let world = World::new();
    // Nothing listens on the first port, so it receives no connection.
    let address = "postgres://joe:s3cret@127.0.0.1:1/perf";
    let mut words = BENCH.to_vec();
    words.extend(["--store", address]);
    let output = world.fathom(&words);
    let bundle = kept_beside(&output, "can't be reached");
    assert!(!stderr(&output).contains("s3cret"), "{}", stderr(&output));
    loads(&world, &bundle);
    let said = world.refused(2, &["history", "--store", address]);
    assert!(
        said.contains("can't be reached") && !said.contains("s3cret"),
        "{said}"
    );
}

#[test]
fn a_clock_that_jumps_back() {
    let world = World::project();
    world.done(&BENCH);
    let mut store = open(&world.project_store());
    let head = store.records(&Selector::Last(1)).unwrap().remove(0);
    let text = store.record(&head).unwrap();
    let later = date::text(head.time + 86_400_000);
    let mut record: serde_json::Value = serde_json::from_str(&text).unwrap();
    record["started_at"] = later.clone().into();
    store.save(&Draft::of(record.to_string()).unwrap()).unwrap();
    let output = world.fathom(&BENCH);
    let said = stderr(&output);
    assert!(
        said.contains("the clock was set back") && said.contains("timedatectl"),
        "{said}"
    );
    assert!(said.contains("saved as "), "{said}");
    // Points are in the order of saving: the last measurement is the last point, regardless of its clock.
    let history = world.json(&["history", "--metric", "wall"]);
    let points = history["series"][0]["points"].as_array().unwrap();
    assert_eq!(
        (points.len(), points[1]["time"].as_str()),
        (3, Some(later.as_str()))
    );
}

#[test]
fn repositories_that_know_less() {
    let said = |world: &World| {
        let output = world.fathom(&BENCH);
        let said = stderr(&output);
        assert!(said.contains("saved as "), "{said}");
        said
    };
    let world = World::project();
    world.commit("one");
    world.commit("two");
    assert!(!said(&world).contains("note:"));
    world.git(&["checkout", "-q", "--detach"]);
    assert!(said(&world).contains("HEAD is detached"));
    let shallow = World::new();
    let source = format!("file://{}", world.here().display());
    shallow.git(&["clone", "-q", "--depth", "1", &source, "."]);
    fs::create_dir(shallow.here().join(".fathom")).unwrap();
    assert!(said(&shallow).contains("git fetch --unshallow --tags"));
    let output = shallow.fathom(&["compare", "HEAD~1", "HEAD"]);
    assert_eq!(output.status.code(), Some(2));
    let asked = stderr(&output);
    assert!(
        asked.contains("HEAD~1") && asked.contains("unshallow"),
        "{asked}"
    );
    let empty = World::project();
    empty.git(&["init", "-q"]);
    assert!(said(&empty).contains("no commits yet"));
    let outside = World::project();
    assert!(said(&outside).contains("in no git repository"));
    let output = outside
        .command(&BENCH)
        .env("PATH", "/no/such/folder")
        .output()
        .unwrap();
    assert!(
        stderr(&output).contains("git is not installed"),
        "{}",
        stderr(&output)
    );
    // A measurement with an explicit name needs no repository.
    let mut words = BENCH.to_vec();
    words.extend(["--label", "v1"]);
    assert!(!stderr(&outside.fathom(&words)).contains("note:"));
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let world = World::new();
    let fifo = world.here().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    world.write("own.json", "{}");
    // No process ever writes to the FIFO.
    for (path, what) in [
        ("fifo", "a FIFO"),
        ("/dev/zero", "a device"),
        ("/dev/tty", ""),
    ] {
        for words in [
            &["history", "--store", path][..],
            &["store", "load", path],
            &["import", path],
            &["compare", path, "own.json"],
            &["report", path, "--html", "x.html"],
        ] {
            let output = world.fathom(words);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
            // `compare` and `report` treat a word that is not a file as the name of a measurement or a
            // benchmark.
            let is_name = ["compare", "report"].contains(&words[0]);
            assert!(is_name || said.contains(what), "{words:?}: {said}");
        }
    }
}
