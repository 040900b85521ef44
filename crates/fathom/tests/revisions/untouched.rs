//! The user's files stay unchanged.

use crate::world::{World, each};

#[test]
fn the_users_files_index_refs_and_worktrees_are_not_touched() {
    let world = World::new();
    world.release(100, "v1");
    world.release(200, "v2");
    // Staged, unstaged and untracked changes on a detached head.
    world.git(&["checkout", "--quiet", "--detach", "v1"]);
    std::fs::write(world.repo().join("staged"), "x").unwrap();
    world.git(&["add", "staged"]);
    std::fs::write(world.repo().join("tool"), "exit 1").unwrap();
    std::fs::write(world.repo().join("untracked"), "y").unwrap();
    let before = world.everything();
    let record = world.versions(&[
        "v1..v2",
        "--build",
        "git describe --tags > described; rm -f tool.o",
    ]);
    assert_eq!(each(&record["versions"], "state"), ["measured"; 2]);
    let notes = record["notes"].to_string();
    assert!(notes.contains("uncommitted"), "{notes}");
    assert!(before == world.everything(), "the repository has changed");
    assert_eq!(world.git(&["worktree", "list"]).lines().count(), 1);
    let found = world.bisect(&["v1", "v2"]);
    assert_eq!(found["verdict"], "found");
    assert!(before == world.everything(), "the repository has changed");
}

#[test]
fn hooks_are_not_run_and_git_works_in_a_build() {
    let world = World::new();
    world.release(100, "v1");
    world.commit(100, "between");
    world.release(100, "v2");
    for hook in ["post-checkout", "reference-transaction", "post-commit"] {
        let path = world.repo().join(".git/hooks").join(hook);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let ran = world.path("hook-ran");
        std::fs::write(&path, format!("#!/bin/sh\ntouch '{}'\n", ran.display())).unwrap();
        let allowed = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, allowed).unwrap();
    }
    let build =
        "git describe --tags >> \"$FATHOM_REPO\"/../described && git commit -q --allow-empty -m x";
    let record = world.versions(&["v1..v2", "--every", "1", "--build", build]);
    assert_eq!(each(&record["versions"], "state"), ["measured"; 3]);
    let described = world.lines("described");
    assert_eq!((described[0].as_str(), described[2].as_str()), ("v1", "v2"));
    assert!(described[1].starts_with("v1-1-g"), "{described:?}");
    assert!(!world.path("hook-ran").exists());
}

/// Uses a filter in the user's configuration, as Git LFS does. Filters that the repository names for the same
/// files don't run.
#[test]
fn files_are_checked_out_through_the_users_filters_and_no_others() {
    let world = World::new();
    let ran = world.path("ran");
    let hostile = format!("touch '{}'; cat", ran.display());
    let global = world.path("gitconfig");
    let lfs =
        "[filter \"lfs\"]\n  clean = cat\n  smudge = sed s/pointer/content/\n  required = true\n";
    std::fs::write(&global, lfs).unwrap();
    world.commit_file("large", "pointer\n", "large");
    let attributes = "large filter=lfs\nother filter=evil\ntool filter=evil\n";
    world.commit_file(".gitattributes", attributes, "attributes");
    world.commit_file("other", "as it is\n", "other");
    world.release(100, "v1");
    world.release(100, "v2");
    for filter in ["lfs", "evil"] {
        for what in ["clean", "smudge"] {
            world.git(&["config", &format!("filter.{filter}.{what}"), &hostile]);
        }
    }
    world.git(&["config", "core.sshCommand", &hostile]);
    let build = "cat large other >> \"$FATHOM_REPO\"/../seen";
    let arguments = [
        "versions", "v1..v2", "--build", build, "-r", "1", "-w", "0", "--json", "-", "--", "sh",
        "tool",
    ];
    let mut command = world.fathom_in(&world.repo(), &arguments);
    let output = command.env("GIT_CONFIG_GLOBAL", &global).output().unwrap();
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        each(&record["versions"], "state"),
        ["measured"; 2],
        "{record}"
    );
    let seen = world.lines("seen");
    assert_eq!(seen, ["content", "as it is", "content", "as it is"]);
    assert!(!ran.exists());
}

#[test]
fn submodules_have_their_files_and_those_that_are_missing_are_named() {
    let world = World::new();
    let library = world.path("library");
    std::fs::create_dir(&library).unwrap();
    world.git_in(&library, &["init", "--quiet"]);
    std::fs::write(library.join("file"), "of the library").unwrap();
    world.git_in(&library, &["add", "file"]);
    world.git_in(&library, &["commit", "--quiet", "--message", "library"]);
    world.release(100, "v1");
    let address = library.to_str().unwrap();
    world.git(&["submodule", "--quiet", "add", address, "third party"]);
    world.release(100, "v2");
    let build = "test ! -e .gitmodules || cat 'third party/file'";
    let record = world.versions(&["v1..v2", "--build", build]);
    assert_eq!(each(&record["versions"], "state"), ["measured"; 2]);
    // A clone without the submodule's files.
    let clone = world.path("clone");
    world.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
    let mut versions = world.fathom_in(
        &clone,
        &["versions", "v1..v2", "--build", build, "--json", "-"],
    );
    let output = versions
        .args(["-r", "1", "--", "sh", "tool"])
        .output()
        .unwrap();
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        each(&record["versions"], "state"),
        ["measured", "does_not_build"]
    );
    let error = record["versions"][1]["error"].as_str().unwrap();
    assert!(
        error.contains("third party; git submodule update --init"),
        "{error}"
    );
}
