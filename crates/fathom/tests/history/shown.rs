//! `fathom report`: saved records as pages.

use crate::read::{record, save};
use crate::world::World;

pub(crate) fn kept() -> World {
    let world = World::project();
    for (hour, revision, value) in [(0, "a1", 1.0), (1, "b2", 1.1), (2, "c3", 1.2)] {
        let text = record(
            &[("parse", value), ("zip </script>", 0.25)],
            hour,
            "Linux 1",
        );
        save(&world, text, Some((revision, false)), &[]);
    }
    world
}

#[test]
fn one_page_holds_the_store_and_names_are_only_text() {
    let world = kept();
    let page = world.done(&["report", "--html", "-"]);
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"),
        "{page}"
    );
    assert!(page.contains("zip &lt;/<wbr>script&gt;") && !page.contains("zip </script>"));
    assert!(
        page.contains("1.200 s") || page.contains("1.20 s"),
        "the last value"
    );
    assert_eq!(
        world.done(&["report", "--html", "-"]),
        page,
        "the same store, the same page"
    );
    let one = world.done(&["report", "parse", "--html", "-"]);
    assert!(one.contains("parse") && !one.contains("zip"));
}

#[test]
fn a_site_is_written_again_where_it_changed() {
    let world = kept();
    let said = world.done(&["report", "--site", "site"]);
    assert_eq!(said, "3 files in site, 3 changed\n");
    assert_eq!(
        world.done(&["report", "--site", "site"]),
        "3 files in site, 0 changed\n"
    );
    let text = record(&[("parse", 1.3)], 3, "Linux 1");
    save(&world, text, Some(("d4", false)), &[]);
    assert_eq!(
        world.done(&["report", "--site", "site"]),
        "3 files in site, 2 changed\n",
        "the index and one page"
    );
}

#[test]
fn record_files_need_no_store() {
    let world = World::new();
    world.write("before.json", &record(&[("parse", 1.0)], 0, "Linux 1"));
    world.write("after.json", &record(&[("parse", 2.0)], 1, "Linux 1"));
    let page = world.done(&["report", "before.json", "after.json", "--html", "-"]);
    assert!(page.contains("1 of 1 benchmark slower"), "{page}");
}

#[test]
fn wrong_words_are_answered() {
    let world = kept();
    for (said, arguments) in [
        (
            "nope.json does not exist; name a record file",
            vec!["report", "nope.json", "--html", "x"],
        ),
        (
            "no benchmark is named \"nope\"; similar names: ",
            vec!["report", "nope", "--html", "x"],
        ),
        (
            "--base \"v9\": no measurement has that label",
            vec!["report", "--base", "v9", "--html", "x"],
        ),
        (
            "--metric \"wal\" is unknown; these benchmarks have ",
            vec!["report", "--metric", "wal", "--html", "x"],
        ),
        ("--html <FILE>", vec!["report"]),
        ("no benchmark is named \"nope\"", vec!["ui", "nope"]),
        (
            "does not exist yet",
            vec!["ui", "--store", "nowhere.sqlite"],
        ),
        ("invalid value '99999'", vec!["ui", "--port", "99999"]),
    ] {
        let answer = world.refused(2, &arguments);
        assert!(answer.contains(said), "{arguments:?}: {answer}");
    }
    world.write("text.json", "[1, 2]");
    let answer = world.refused(2, &["report", "text.json", "--html", "x"]);
    assert!(
        answer.contains("text.json is not a record written by Fathom"),
        "{answer}"
    );
    assert!(!world.here().join("x").exists());
}
