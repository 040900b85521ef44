//! `fathom ui` opens a browser without revealing the token to other users.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::FromRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Child;

use crate::live::Live;
use crate::shown::kept;
use crate::world::World;

/// A fake opener that prints its argument and describes the file that the argument names.
const OPENER: &str = r#"#!/bin/sh
{
    printf '%s\n' "$#" "$1" "$(stat -c '%a %h' "$1")" "$(stat -c %a "${1%/*}")"
    cat "$1"
} > "$SAID"
"#;

/// Returns the two ends of a terminal.
fn terminal() -> (File, File) {
    let (mut ours, mut its) = (0, 0);
    let (name, mode, size) = (std::ptr::null_mut(), std::ptr::null(), std::ptr::null());
    // SAFETY: fills two numbers; the null pointers for name, mode and size are allowed.
    let made = unsafe { libc::openpty(&raw mut ours, &raw mut its, name, mode, size) };
    assert_eq!(made, 0, "a terminal");
    // SAFETY: both descriptors were just created and have no other owner.
    unsafe { (File::from_raw_fd(ours), File::from_raw_fd(its)) }
}

/// Starts the server with a fake opener; returns the opener's output, the address, and the process.
fn opened(world: &World, session: Option<&str>) -> (Vec<String>, String, Child) {
    let tools = world.here().join("tools");
    std::fs::create_dir_all(&tools).unwrap();
    let opener = tools.join("xdg-open");
    std::fs::write(&opener, OPENER).unwrap();
    std::fs::set_permissions(&opener, PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let said = world.here().join("said");
    let made = std::process::Command::new("mkfifo").arg(&said).status();
    assert!(made.unwrap().success());
    let (ours, its) = terminal();
    let mut command = world.command(&["ui"]);
    match session {
        Some(folder) => command.env("XDG_RUNTIME_DIR", folder),
        None => command.env_remove("XDG_RUNTIME_DIR"),
    };
    let child = command
        .env("PATH", format!("{}:{path}", tools.display()))
        .env("SAID", &said)
        .env("TMPDIR", world.here())
        .stdout(its)
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    drop(command);
    let mut address = String::new();
    BufReader::new(ours).read_line(&mut address).unwrap();
    // Wait until the opener has printed everything.
    let said = std::fs::read_to_string(said).unwrap();
    let said = said.lines().map(str::to_owned).collect();
    (said, address.trim().to_owned(), child)
}

fn check(said: &[String], address: &str) -> std::path::PathBuf {
    let token = address.trim_end_matches('/').rsplit('/').next().unwrap();
    assert_eq!(token.len(), 32, "{address}");
    assert_eq!(said[0], "1");
    assert!(!said[1].contains(token), "the token is in its arguments");
    assert_eq!(said[2], "600 1");
    assert!(said[4..].join("\n").contains(&format!("url={address}")));
    said[1].clone().into()
}

#[test]
fn a_browser_gets_a_file_of_the_user_that_goes_after_use() {
    let world = kept();
    let session = world.here().join("session");
    std::fs::create_dir(&session).unwrap();
    std::fs::set_permissions(&session, PermissionsExt::from_mode(0o700)).unwrap();
    let (said, address, child) = opened(&world, session.to_str());
    let file = check(&said, &address);
    assert_eq!(file.parent(), Some(session.as_path()));
    let mut live = Live::of(child, &address);
    assert!(file.exists());
    assert!(live.own("").starts_with("HTTP/1.1 200"));
    assert!(!file.exists(), "the browser has read it");
    assert_eq!(live.interrupted(), Some(0));
}

#[test]
fn without_a_private_folder_it_makes_one_and_takes_it_away() {
    let world = kept();
    let shared = world.here().join("shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, PermissionsExt::from_mode(0o755)).unwrap();
    let (said, address, child) = opened(&world, shared.to_str());
    let file = check(&said, &address);
    let folder = file.parent().unwrap();
    assert_ne!(folder, shared);
    assert_eq!(said[3], "700");
    assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
    assert_eq!(Live::of(child, &address).interrupted(), Some(0));
    assert!(!folder.exists(), "nobody came, and it ended");
}
