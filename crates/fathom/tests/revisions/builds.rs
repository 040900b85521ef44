//! Builds are made only once, kept, resumed and removed.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

use crate::world::{World, each, stderr};

/// A build that appends a line each time it runs.
const COUNTED: &str = "echo built >> \"$FATHOM_REPO\"/../builds";

fn two() -> World {
    let world = World::new();
    world.release(100, "v1");
    world.release(100, "v2");
    world
}

#[test]
fn each_version_is_built_once_for_each_command() {
    let world = two();
    world.versions(&["v1..v2", "--build", COUNTED]);
    world.versions(&["v1..v2", "--build", COUNTED]);
    assert_eq!(world.lines("builds").len(), 2);
    world.bisect(&["v1", "v2", "--build", COUNTED]);
    assert_eq!(world.lines("builds").len(), 2);
    world.versions(&["v1..v2", "--build", &format!("{COUNTED}; true")]);
    assert_eq!(world.lines("builds").len(), 4);
    world.versions(&["v1..v2", "--build", COUNTED, "--rebuild"]);
    assert_eq!(world.lines("builds").len(), 6);
}

#[test]
fn a_failure_is_remembered_until_it_is_to_be_built_again() {
    let world = two();
    world.release(100, "v3");
    let build =
        format!("{COUNTED}; test -e \"$FATHOM_REPO\"/../library || test \"$(git describe)\" != v2");
    let states = |arguments: &[&str]| {
        let record = world.versions(&[&["v1..v3", "--build", &build], arguments].concat());
        let states = each(&record["versions"], "state").into_iter();
        states.map(str::to_owned).collect::<Vec<_>>()
    };
    // `git describe` ignores lightweight tags, so replace them with annotated ones.
    let build_fails = "does_not_build";
    for tag in ["v1", "v2", "v3"] {
        let id = world.git(&["rev-parse", tag]);
        world.git(&["tag", "--force", "--annotate", "--message", tag, tag, &id]);
    }
    assert_eq!(states(&[])[1], build_fails);
    File::create(world.path("library")).unwrap();
    assert_eq!(states(&[])[1], build_fails);
    assert_eq!(world.lines("builds").len(), 3);
    assert_eq!(states(&["--rebuild"])[1], "measured");
}

#[test]
fn two_at_once_build_each_version_once() {
    let world = two();
    let start = || {
        let arguments = [
            "versions", "v1..v2", "--build", COUNTED, "-r", "1", "--", "sh", "tool",
        ];
        let mut command = world.fathom_in(&world.repo(), &arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let both = [start(), start(), start()];
    for one in both {
        let output = one.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    assert_eq!(world.lines("builds").len(), 2);
}

#[test]
fn what_was_killed_amid_a_build_is_taken_up_again() {
    let world = two();
    for name in ["begun", "go-on"] {
        let made = Command::new("mkfifo").arg(world.path(name)).status();
        assert!(made.unwrap().success());
    }
    // The first build leaves a file, signals that it has begun, and blocks forever.
    let build = "B=\"$FATHOM_REPO\"/..; echo built >> $B/builds; \
                 test -e half || { touch half; echo > $B/begun; read word < $B/go-on; }";
    let arguments = [
        "versions", "v1..v2", "--build", build, "-r", "1", "--json", "-",
    ];
    let arguments = [&arguments[..], &["--", "sh", "tool"]].concat();
    let mut killed = world.fathom_in(&world.repo(), &arguments).spawn().unwrap();
    let mut begun = String::new();
    let mut pipe = File::open(world.path("begun")).unwrap();
    pipe.read_to_string(&mut begun).unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let before = world.everything();
    // The second version blocks in the same way until it receives input.
    let again = world
        .fathom_in(&world.repo(), &arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = File::open(world.path("begun")).unwrap();
    pipe.read_to_string(&mut begun).unwrap();
    std::fs::write(world.path("go-on"), "go on\n").unwrap();
    let output = again.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(each(&record["versions"], "state"), ["measured"; 2]);
    assert_eq!(world.lines("builds").len(), 3);
    assert!(before == world.everything(), "the repository has changed");
}

#[test]
fn ctrl_c_ends_the_build_and_all_that_it_started() {
    let world = two();
    let made = Command::new("mkfifo").arg(world.path("begun")).status();
    assert!(made.unwrap().success());
    // A background process holds the pipe open while it lives.
    let build = "sh -c 'exec 3> \"$FATHOM_REPO\"/../begun; echo >&3; sleep 1000' & wait";
    let mut fathom = world
        .fathom_in(&world.repo(), &["versions", "v1..v2", "--build", build])
        .args(["--", "sh", "tool"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = File::open(world.path("begun")).unwrap();
    pipe.read_exact(&mut [0]).unwrap();
    // SAFETY: takes numbers; the process is our own child.
    unsafe { libc::kill(fathom.id() as libc::pid_t, libc::SIGINT) };
    assert_eq!(fathom.wait().unwrap().code(), Some(130));
    assert_eq!(pipe.read(&mut [0]).unwrap(), 0, "nobody writes any more");
}

#[test]
fn what_there_is_no_room_for_is_removed_when_it_was_used() {
    let world = two();
    let record = world.versions(&["v1..v2", "--build", COUNTED, "--cache-size", "1"]);
    assert_eq!(each(&record["versions"], "state"), ["measured"; 2]);
    assert_eq!(world.kept(), 0);
    let build = format!("{COUNTED}; mkdir -p locked; touch locked/file; chmod 500 locked");
    world.versions(&["v1..v2", "--build", &build]);
    assert_eq!(world.kept(), 2);
    // There is space for one worktree: the other is removed, although one of its folders can't be written.
    world.versions(&["v1..v2", "--every", "1", "--cache-size", "1"]);
    assert_eq!(world.kept(), 0);
}
