//! Many experiments at once.

use serde_json::Value;
use tempfile::TempDir;

use crate::world::{fathom, stderr, stdout};

#[test]
fn a_catalogue_is_listed_and_run() {
    let folder = TempDir::new().expect("a folder");
    for (name, tool) in [
        ("one", "sh -c 'echo 1'"),
        ("two", "no-such-program-of-the-tests"),
    ] {
        let inner = folder.path().join(name);
        std::fs::create_dir(&inner).expect("made");
        let text = format!(
            "schema_version = 1\ntitle = \"{name}\"\n[source]\ntitle = \"s\"\nrows = [\"row-{name}\"]\n\
             [tools.t]\ncheck = \"{tool}\"\nhint = \"write it\"\n[[claims]]\nid = \"x\"\ntext = \"x\"\n\
             layer = \"arithmetic\"\nholds = \"1 < 2\"\n"
        );
        std::fs::write(inner.join("experiment.toml"), text).expect("written");
    }
    let catalogue = folder.path().display().to_string();
    let list = fathom()
        .args(["run", "--list", "--catalogue", &catalogue])
        .output()
        .expect("runs");
    let text = stdout(&list);
    assert!(
        text.starts_with(
            "1 of 2 experiments have their programs available.\n1 check was not run, because a check runs a command from the experiment's file;\n--check runs them.\n  one  one\n\nThese experiments lack"
        ),
        "{text}"
    );
    assert!(!text.contains("row-one"), "{text}");
    let all = fathom()
        .args(["run", "--list", "-v", "--catalogue", &catalogue])
        .output()
        .expect("runs");
    let text = stdout(&all);
    assert!(text.contains("covers row-one"), "{text}");
    assert!(text.contains("t is missing (write it)"), "{text}");
    assert!(text.contains("not checked: t"), "{text}");
    let checked = fathom()
        .args(["run", "--list", "--check", &catalogue])
        .output()
        .expect("runs");
    let text = stdout(&checked);
    assert!(
        text.starts_with(
            "1 of 2 experiments have everything they need.\n  one  one\n\nThese experiments lack"
        ),
        "{text}"
    );
    assert!(!folder.path().join("one/.fathom").exists());
    let list = fathom()
        .args(["run", "--list", &catalogue, "--json", "-"])
        .output()
        .expect("runs");
    let record: Value = serde_json::from_str(&stdout(&list)).expect("JSON and nothing else");
    assert_eq!(record["experiments"][0]["rows"][0], "row-one");
    assert_eq!(record["experiments"][0]["missing"], serde_json::json!([]));
    assert_eq!(record["experiments"][0]["unchecked"][0], "t");
    assert_eq!(
        record["experiments"][1]["missing"][0],
        "t is missing (write it)"
    );
    let all = fathom()
        .args(["run", "--all", "--quick", "--catalogue", &catalogue])
        .output()
        .expect("runs");
    assert_eq!(all.status.code(), Some(0), "{}", stderr(&all));
    assert!(
        stdout(&all).contains("2 experiments, 2 claims"),
        "{}",
        stdout(&all)
    );
}

/// In a folder written by someone else, such as a fresh clone, listing doesn't execute anything.
#[test]
fn a_list_of_a_hostile_folder_runs_nothing_of_it() {
    let folder = TempDir::new().expect("a folder");
    let inner = folder.path().join("experiments/one");
    std::fs::create_dir_all(&inner).expect("made");
    let program = inner.join("tool");
    std::fs::write(&program, "#!/bin/sh\ntouch ../../ran\n").expect("written");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, executable).expect("a mode");
    let text = "schema_version = 1\ntitle = \"t\"\n[tools.version]\ncheck = \"./tool --version\"\n\
                [tools.other]\ncheck = \"./tool\"\n[tools.shell]\ncheck = \"sh -c 'touch ../../ran'\"\n\
                [[claims]]\nid = \"x\"\ntext = \"x\"\nlayer = \"arithmetic\"\nholds = \"1 < 2\"\n";
    std::fs::write(inner.join("experiment.toml"), text).expect("written");
    let list = |arguments: &[&str]| {
        let mut command = fathom();
        command
            .arg("run")
            .args(arguments)
            .current_dir(folder.path());
        command.output().expect("runs")
    };
    for arguments in [
        &["--list"][..],
        &["--list", "-v", "experiments"],
        &["--list", "--json", "-"],
    ] {
        let output = list(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(!folder.path().join("ran").exists(), "{arguments:?}");
    }
    let output = list(&["--list", "--check"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(folder.path().join("ran").exists());
}

#[test]
fn outside_of_the_sources_a_list_says_where_the_catalogue_is() {
    let folder = TempDir::new().expect("a folder");
    let there = |arguments: &[&str]| {
        fathom()
            .arg("run")
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .expect("runs")
    };
    for (arguments, how) in [
        (
            &["--list"][..],
            "fathom run --list PATH/TO/fathom/experiments",
        ),
        (
            &["--all", "--quick"],
            "fathom run --all --catalogue PATH/TO/fathom/experiments",
        ),
    ] {
        let output = there(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(how), "{}", stderr(&output));
    }
    // The clone itself, its catalogue and one of its folders are all accepted.
    let inner = folder.path().join("clone/experiments/one");
    std::fs::create_dir_all(&inner).expect("made");
    let text = "schema_version = 1\ntitle = \"the one\"\n[[claims]]\nid = \"x\"\ntext = \"x\"\n\
                layer = \"arithmetic\"\nholds = \"1 < 2\"\n";
    std::fs::write(inner.join("experiment.toml"), text).expect("written");
    for path in ["clone", "clone/experiments", "clone/experiments/one"] {
        let output = there(&["--list", path]);
        assert!(
            stdout(&output).contains("the one"),
            "{path}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn several_experiments_get_a_folder_each_in_the_work_folder() {
    let folder = TempDir::new().expect("a folder");
    for name in ["one.toml", "two.toml"] {
        let file = folder.path().join(name);
        let text = "schema_version = 1\ntitle = \"t\"\n[[claims]]\nid = \"x\"\ntext = \"x\"\n\
                    layer = \"arithmetic\"\nholds = \"1 < 2\"\n";
        std::fs::write(file, text).expect("written");
    }
    let work = folder.path().join("work");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let go = |names: [&str; 2]| {
        fathom()
            .args(["run", &file(names[0]), &file(names[1]), "--work"])
            .arg(&work)
            .output()
            .expect("runs")
    };
    let output = go(["one.toml", "two.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(work.join("one/records").is_dir() && work.join("two/records").is_dir());
    assert!(!folder.path().join(".fathom").exists());
    let twice = go(["one.toml", "one.toml"]);
    assert_eq!(twice.status.code(), Some(2));
    assert!(stderr(&twice).contains("would share the folder"));
}
