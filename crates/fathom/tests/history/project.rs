//! `fathom init`, and the effects of a project.

use crate::world::{World, open};
use fathom_store::Selector;

#[test]
fn init_makes_a_project_whose_suite_runs_and_is_saved() {
    let world = World::new();
    world.commit("one");
    let said = world.done(&["init"]);
    assert!(
        said.contains("fathom.toml") && said.contains("fathom run"),
        "{said}"
    );
    let ignored = std::fs::read_to_string(world.here().join(".fathom/.gitignore")).unwrap();
    assert_eq!(ignored, "*\n");
    world.done(&["run", "--quick"]);
    let mut store = open(&world.project_store());
    let record = store.records(&Selector::Last(1)).unwrap().remove(0);
    assert_eq!(record.kind, "run");
    let suite = std::fs::read_to_string(world.here().join("fathom.toml")).unwrap();
    assert!(
        suite.contains("# [gate]") && suite.contains("title = \"here\""),
        "{suite}"
    );
}

#[test]
fn init_changes_nothing_that_is_there() {
    let world = World::new();
    world.write("fathom.toml", "mine");
    std::fs::create_dir(world.here().join(".fathom")).unwrap();
    world.write(".fathom/.gitignore", "# mine\n");
    for _ in 0..2 {
        let said = world.done(&["init"]);
        assert_eq!(said.matches("is left unchanged").count(), 2, "{said}");
    }
    let read = |name: &str| std::fs::read_to_string(world.here().join(name)).unwrap();
    assert_eq!(
        (read("fathom.toml"), read(".fathom/.gitignore")),
        ("mine".into(), "# mine\n".into())
    );
}

#[test]
fn init_where_nothing_can_be_written_says_so() {
    let world = World::new();
    world.write(".fathom", "a file");
    let said = world.refused(2, &["init"]);
    assert!(
        said.contains("can't write") && said.contains(".fathom"),
        "{said}"
    );
}
