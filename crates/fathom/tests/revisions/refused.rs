//! Requests that can't be fulfilled are refused with the command to type instead.

use crate::world::World;

fn two() -> World {
    let world = World::new();
    world.release(100, "v1");
    world.release(100, "v2");
    world
}

/// Checks that the call exits with this code and prints this message.
fn refused(world: &World, arguments: &[&str], code: i32, said: &str) {
    let (exit, text) = world.refusal(arguments);
    assert!(text.contains(said), "{arguments:?}: {text}");
    assert_eq!(exit, code, "{text}");
}

#[test]
fn a_range_that_is_none_is_answered_with_one() {
    let world = two();
    let versions = |range: &'static str, said| {
        refused(&world, &["versions", range, "--", "sh", "tool"], 2, said);
    };
    refused(
        &world,
        &["versions", "--", "sh", "tool"],
        2,
        "no range of versions; try: fathom versions",
    );
    refused(
        &world,
        &["versions", "v1..v2"],
        2,
        "no command; write it after --",
    );
    versions("v1", "write FROM..TO, such as v1.0..v2.0");
    versions("v1...v2", "write FROM..TO");
    versions("..v2", "write FROM..TO");
    versions("v1..v9", "no revision \"v9\"; git log --oneline lists them");
    versions(
        "v2..v1",
        "v2 comes after v1; name the older one first: fathom versions v1..v2 -- ",
    );
    versions("v1..v1", "the same revision");
    refused(
        &world,
        &["versions", "--of", "1.0", "--", "x-{version}"],
        2,
        "two or more versions",
    );
    refused(
        &world,
        &["versions", "--of", "1.0,1.1", "--", "x"],
        2,
        "write {version} where the version goes",
    );
    refused(
        &world,
        &["versions", "v1..v2", "--metric", "speed", "--", "x"],
        2,
        "the metrics are wall,",
    );
    refused(
        &world,
        &["versions", "v1..v2", "--cache-size", "big", "--", "x"],
        2,
        "500M",
    );
    let same = [
        "versions", "v1..v2", "--input", "tool", "--output", "tool", "--", "cat",
    ];
    refused(&world, &same, 2, "is both --input and --output");
    let zero = [
        "versions",
        "v1..v2",
        "--metric",
        "written_bytes",
        "--",
        "true",
    ];
    refused(
        &world,
        &zero,
        2,
        "written_bytes is 0 or unknown in these versions",
    );
}

#[test]
fn a_branch_that_parted_is_answered_with_where_to_begin() {
    let world = two();
    let base = world.git(&["rev-parse", "v1"]);
    world.git(&["checkout", "--quiet", "-b", "side", "v1"]);
    world.commit(100, "on the side");
    let begin = format!(
        "their last common revision is {0}; start there: fathom versions {0}..side",
        &base[..10]
    );
    refused(
        &world,
        &["versions", "v2..side", "--", "sh", "tool"],
        2,
        &begin,
    );
    let begin = format!("start there: fathom bisect {} side", &base[..10]);
    refused(
        &world,
        &["bisect", "v2", "side", "--", "sh", "tool"],
        2,
        &begin,
    );
    refused(
        &world,
        &["bisect", "v2", "v1", "--", "sh", "tool"],
        2,
        "fathom bisect v1 v2",
    );
}

#[test]
fn a_build_that_fails_everywhere_is_shown_with_the_end_of_its_words() {
    let world = two();
    let build = ["versions", "v1..v2", "--build", "echo no compiler; exit 9"];
    let arguments = [&build[..], &["--", "sh", "tool"]].concat();
    refused(
        &world,
        &arguments,
        3,
        "none of the 2 versions builds. v2: exit code 9\nno compiler\n",
    );
    refused(
        &world,
        &["versions", "v1..v2", "--", "no-such-tool"],
        3,
        "none of the 2 versions runs the command.",
    );
    let bisect = [
        "bisect", "v1", "v2", "--build", "exit 9", "--", "sh", "tool",
    ];
    refused(
        &world,
        &bisect,
        3,
        "v1 does not build: exit code 9; it wrote nothing",
    );
    refused(
        &world,
        &["bisect", "v1", "v2", "--", "sh", "-c", "exit 4"],
        3,
        "can't be run on v1",
    );
}

#[test]
fn ends_that_are_missing_or_the_same_are_no_search() {
    let world = two();
    refused(
        &world,
        &["bisect", "v1", "--", "sh", "tool"],
        2,
        "bisect takes two revisions, GOOD and BAD; try:",
    );
    refused(
        &world,
        &["bisect", "v1", "v1", "--", "sh", "tool"],
        2,
        "are the same revision",
    );
    refused(&world, &["bisect", "v1", "v2"], 2, "no command");
}

#[test]
fn a_shallow_clone_a_folder_without_a_repository_and_a_machine_without_git_are_named() {
    let world = two();
    let clone = world.path("clone");
    let address = format!("file://{}", world.repo().display());
    world.git(&[
        "clone",
        "--quiet",
        "--depth",
        "1",
        &address,
        clone.to_str().unwrap(),
    ]);
    let said = |mut command: std::process::Command| {
        let output = command.args(["--", "sh", "tool"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let shallow = said(world.fathom_in(&clone, &["versions", "v1..HEAD"]));
    assert!(
        shallow.contains("git fetch --unshallow --tags"),
        "{shallow}"
    );
    std::fs::create_dir(world.path("elsewhere")).unwrap();
    let none = said(world.fathom_in(&world.path("elsewhere"), &["versions", "v1..v2"]));
    assert!(
        none.contains("is not in a git repository") && none.contains("--of"),
        "{none}"
    );
    let mut command = world.fathom_in(&world.repo(), &["bisect", "v1", "v2"]);
    command.env("PATH", "/no/such/folder");
    let no_git = said(command);
    assert!(no_git.contains("git is not installed"), "{no_git}");
}
