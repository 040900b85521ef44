//! Tests git queries on repositories created here.

use std::path::Path;
use std::process::Command;

use fathom_store::git::{self, GitError};

fn run(folder: &Path, script: &str) {
    let done = Command::new("sh")
        .args(["-ec", script])
        .current_dir(folder)
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "a")))
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "a@b")))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// Creates three commits on `main`, and a branch from the second.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    run(
        folder.path(),
        "git init -q -b main .
         for n in 1 2 3; do echo $n > file; git add file; git commit -qm $n; git tag v$n; done
         git checkout -q -b side v2; echo side > other; git add other; git commit -qm side; git tag s
         git checkout -q main",
    );
    folder
}

#[test]
fn the_state_is_that_of_tracked_files() {
    let folder = repository();
    let at = folder.path();
    let clean = git::state(at).unwrap();
    assert_eq!(
        clean.revision().unwrap().id,
        git::resolve(at, "v3").unwrap()
    );
    assert_eq!(
        (clean.branch.as_deref(), clean.dirty, clean.shallow),
        (Some("main"), false, false)
    );
    assert!(clean.notes().is_empty() && clean.root == at.canonicalize().unwrap());
    run(at, "echo new > untracked; mkdir below");
    assert!(!git::state(&at.join("below")).unwrap().dirty);
    run(at, "echo changed > file; git checkout -q --detach");
    let detached = git::state(at).unwrap();
    assert!(detached.dirty && detached.branch.is_none());
    assert!(detached.notes()[0].contains("detached"));
}

/// The configuration names a filter, a file watcher and a program for fetching, also in a submodule. There is
/// a bare repository inside.
#[test]
fn no_program_of_a_hostile_configuration_is_run() {
    let folder = repository();
    let at = folder.path();
    let ran = at.join("ran");
    let mark = format!("touch {}", ran.display());
    let hostile = format!(
        "for name in evil a=b; do
           git config filter.$name.clean '{mark}; cat'
           git config filter.$name.process '{mark}'
           git config filter.$name.required true
         done
         git config core.fsmonitor '{mark}; false'
         git config core.sshCommand '{mark}; false'"
    );
    // The file changes within the same second and keeps its length: only the content differs.
    let changed = "echo \"* filter=evil\" > .git/info/attributes; touch -d '2020-01-01' file";
    run(
        at,
        "git init -q -b main below; cd below; echo 1 > file; git add file; git commit -qm 1; cd ..
         git -c protocol.file.allow=always submodule --quiet add ./below module; git commit -qm module",
    );
    run(at, &format!("{hostile}; {changed}"));
    let module =
        "echo '* filter=a=b' > ../.git/modules/module/info/attributes; touch -d '2020-01-01' file";
    run(&at.join("module"), &format!("{hostile}; {module}"));
    assert!(!git::state(at).unwrap().dirty);
    assert!(!ran.exists());
    run(&at.join("module"), "echo 2 > file");
    assert!(git::state(at).unwrap().dirty);
    // Missing objects are not fetched.
    run(
        at,
        "git config extensions.partialClone origin; git config core.repositoryFormatVersion 1
         git config remote.origin.promisor true; git config remote.origin.url ssh://localhost/none
         git config protocol.ssh.allow always",
    );
    let missing = "0123456789012345678901234567890123456789";
    assert!(git::resolve(at, missing).is_err());
    assert!(!ran.exists());
    run(
        at,
        &format!("git init -q --bare inner; cd inner; {hostile}"),
    );
    let inner = git::state(&at.join("inner"));
    assert!(matches!(inner, Err(GitError::NoRepository(_))), "{inner:?}");
    assert!(!ran.exists());
    // Plain git would have run them.
    run(at, "git status || true");
    assert!(ran.exists());
}

#[test]
fn no_program_of_the_repository_is_run() {
    let folder = repository();
    let at = folder.path();
    run(
        at,
        "printf '#!/bin/sh\\ntouch ran' > watch; chmod +x watch; git config core.fsmonitor ./watch",
    );
    git::state(at).unwrap();
    git::since(at, "v1").unwrap();
    assert!(!at.join("ran").exists());
    run(at, "git status"); // which would have run it
    assert!(at.join("ran").exists());
}

#[test]
fn a_commit_is_later_than_its_parent_whatever_the_clocks_said() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // The second commit has the same time as the first, the third is a day earlier, and the last is in order
    // again.
    run(
        at,
        "git init -q -b main .
         for seconds in 1795219200 1795219200 1795132800 1795219300; do
             echo $seconds >> file; git add file
             GIT_COMMITTER_DATE=\"$seconds +0000\" git commit -qm $seconds
         done",
    );
    let ids = ["HEAD~3", "HEAD~2", "HEAD~1", "HEAD"].map(|name| git::resolve(at, name).unwrap());
    let asked = ids
        .clone()
        .into_iter()
        .chain(["e".repeat(40), "--all".to_owned()]);
    let places = git::places(at, &asked.collect()).unwrap();
    let first = 1_795_219_200_000;
    let expected = [first, first + 1, first + 2, first + 100_000];
    assert_eq!(ids.each_ref().map(|id| places[id]), expected);
    assert_eq!(places.len(), 4);
    for (id, place) in ids.iter().zip(expected) {
        let one = git::places(at, &[id.clone()].into()).unwrap();
        assert_eq!(one[id], place, "asked for alone");
    }
}

#[test]
fn revisions_have_an_order() {
    let folder = repository();
    let at = folder.path();
    let ids = ["v1", "v2", "v3", "s"].map(|name| git::resolve(at, name).unwrap());
    assert_eq!(git::between(at, "v1", "main").unwrap(), ids[..3]);
    assert_eq!(git::between(at, "v2", "v2").unwrap(), ids[1..2]);
    assert_eq!(
        git::since(at, "v2").unwrap(),
        ids[1..].iter().cloned().collect()
    );
    assert_eq!(
        git::since(at, "v3").unwrap(),
        ids[2..3].iter().cloned().collect()
    );
    let backwards = git::between(at, "v3", "s").unwrap_err().to_string();
    assert!(backwards.contains("does not descend"), "{backwards}");
    for wrong in ["v9", "--all", ""] {
        assert_eq!(
            git::resolve(at, wrong),
            Err(GitError::NoRevision(wrong.to_owned()))
        );
    }
}

#[test]
fn where_git_has_no_answer_it_is_said_why() {
    let folder = repository();
    let outside = tempfile::tempdir().unwrap();
    let none = git::state(outside.path()).unwrap_err();
    assert!(matches!(none, GitError::NoRepository(_)) && none.to_string().contains("--label"));

    run(outside.path(), "git init -q .");
    let unborn = git::state(outside.path()).unwrap();
    assert!(unborn.revision().is_none() && unborn.notes()[0].contains("no commits yet"));

    let clone = tempfile::tempdir().unwrap();
    run(
        clone.path(),
        &format!(
            "git clone -q --depth 1 file://{} .",
            folder.path().display()
        ),
    );
    let shallow = git::state(clone.path()).unwrap();
    assert!(shallow.shallow && shallow.notes()[0].contains("--unshallow"));
    let cut = git::resolve(clone.path(), "v1").unwrap_err();
    assert!(matches!(cut, GitError::Shallow(_)) && cut.to_string().contains("--unshallow"));
}
