//! Messages about wrong arguments.

use crate::world::{SECRET, World};

fn said(world: &World, arguments: &[&str]) -> String {
    let output = world.fathom(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn no_complaint_repeats_a_secret() {
    let world = World::new();
    let (env, header) = (
        format!("API_TOKEN={SECRET}"),
        format!("X-Api-Key: {SECRET}"),
    );
    let url = format!("http://joe:{SECRET}@localhost/");
    let query = format!("http://no-such-host.invalid/?token={SECRET}");
    let in_line = format!("API_TOKEN={SECRET} sh tool");
    let (blank, open) = (
        format!("API_TOKEN=a {SECRET}"),
        format!("API_TOKEN='{SECRET}"),
    );
    let path = format!("a?key={SECRET}");
    let broken = format!("{header}\n{SECRET}");
    let store = format!("postgres://joe:{SECRET}@localhost:1/d?sslmode=never&password={SECRET}");
    let other = format!("mysql://joe:{SECRET}@localhost/d");
    for wrong in [
        &["bench", "--env", &env, "--env", &env, "true"][..],
        &["bench", "--env", &blank, "true"],
        &["bench", "--env", &open, "true"],
        &["bench", &in_line],
        &["bench", "--env", &env, "sh", "-x", "tool"],
        &["serve", "-H", SECRET, "true"],
        &["serve", "-H", &broken, "true"],
        &["serve", "--path", &path, "true"],
        &["serve", "--url", &url],
        &["serve", "--url", &query],
        &["history", "--store", &store],
        &["store", "info", "--store", &other],
        &["ui", "--no-open", "--store", &store],
    ] {
        said(&world, wrong);
    }
    // The store is needed only when there is something to save.
    world.fathom(&["bench", "-r", "2", "-w", "0", "--store", &store, "true"]);
    world.search();
}

#[test]
fn advice_names_a_variable_instead() {
    let world = World::new();
    let env = format!("API_TOKEN={SECRET}");
    let twice = said(&world, &["bench", "--env", &env, "--env", "A=1", "true"]);
    assert!(
        twice.contains("--env \"'API_TOKEN=${API_TOKEN}' 'A=1'\""),
        "{twice}"
    );
    let bare = said(&world, &["bench", "--env", &env, "sh", "-x", "tool"]);
    let again = "fathom bench --env \"'API_TOKEN=${API_TOKEN}'\" -- sh -x tool";
    assert!(bare.contains(again), "{bare}");
}
