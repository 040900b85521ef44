//! The materials from which an experiment is built.

use crate::world::{experiment, run, stderr, stdout};

#[test]
fn a_debian_package_is_unpacked_into_the_run_s_folder() {
    let folder = experiment(
        "schema_version = 1\ntitle = \"t\"\n[tools.t]\ncheck = \"no-such-program-of-the-tests\"\n\
         apt = \"no-such-package another\"\n[subjects.a]\ncommand = \"a\"\nneeds = [\"t\"]\n\
         [[measure]]\nid = \"m\"\nhow = \"bench\"\n",
    );
    let output = run(folder.path(), &["--plan"]);
    let text = stdout(&output);
    assert!(text.contains("only with --install"), "{text}");
    assert!(text.contains("apt-get download"), "{text}");
    assert!(
        text.contains(".fathom/experiment/tools/t no-such-package another"),
        "{text}"
    );
}

#[test]
fn a_crate_of_the_experiment_s_own_is_built_from_its_folder_and_from_nowhere_else() {
    let with = |package: &str| {
        experiment(&format!(
            "schema_version = 1\ntitle = \"t\"\n[tools.t]\ncheck = \"no-such-program-of-the-tests\"\n\
             cargo = \"{package}\"\n[subjects.a]\ncommand = \"a\"\nneeds = [\"t\"]\n\
             [[measure]]\nid = \"m\"\nhow = \"bench\"\n"
        ))
    };
    let folder = with("./inner");
    let text = stdout(&run(folder.path(), &["--plan"]));
    let path = folder.path().join("inner").display().to_string();
    assert!(text.contains(&format!("--path {path}")), "{text}");
    for package in ["./../outer", "../outer", "/outer", "./a/b"] {
        let output = run(with(package).path(), &["--plan"]);
        assert_eq!(output.status.code(), Some(2), "{package}");
        assert!(
            stderr(&output).contains("experiment.toml:5:9"),
            "{}",
            stderr(&output)
        );
    }
}
