//! Tests with servers as real processes: listening is detected, and started processes are gone afterwards.

use std::ffi::{OsStr, OsString};

use super::*;
use crate::{Input, Output};

const SOON: u64 = 20_000_000_000;

fn python(script: &str) -> CommandLine {
    CommandLine {
        arguments: ["python3", "-c", script].map(OsString::from).to_vec(),
        program: crate::lookup::find(
            OsStr::new("python3"),
            &std::env::var_os("PATH").unwrap_or_default(),
            None,
        )
        .expect("python3 is here"),
        directory: None,
        variables: Vec::new(),
        input: Input::Null,
        output: Output::Null,
        expect: None,
        without: crate::Without::default(),
    }
}

fn start(script: &str) -> Server {
    Server::start(&python(script), &StartOptions::default()).unwrap()
}

fn next(server: &mut Server) -> ServerEvent {
    server.wait(now() + SOON).expect("something happens")
}

fn is_there(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

const LISTENS: &str = "import socket,time
s=socket.socket(); s.bind(('127.0.0.1',0)); s.listen(); time.sleep(60)";

#[test]
fn listening_is_reported_with_its_address_and_the_server_is_gone_after_stop() {
    let mut server = start(LISTENS);
    assert!(server.listening_is_reported());
    let ServerEvent::Listens(listening) = next(&mut server) else {
        panic!("no listening");
    };
    assert_eq!(listening.seen_by, SeenBy::Kernel);
    let Place::Tcp(address) = listening.place else {
        panic!("{listening:?}");
    };
    assert!(address.port() > 0 && address.ip().is_loopback());
    assert!(server.launched() <= server.executed() && server.executed() <= listening.at);
    // The server has only just been allowed to continue, so its `listen` call may not have ended.
    let until = now() + SOON;
    let socket = loop {
        let there = super::listening().unwrap();
        match there.into_iter().find(|socket| socket.address == address) {
            None if now() < until => {}
            socket => break socket.expect("it listens"),
        }
    };
    assert!(server.sockets().contains(&socket.inode));
    assert!(server.usage().cpu_ns > 0);
    let pid = server.pid();
    let stopped = server.stop(SOON).unwrap();
    assert_eq!((stopped.killed, stopped.left), (0, 0));
    assert!(!is_there(pid));
    assert!(
        super::listening()
            .unwrap()
            .iter()
            .all(|s| s.address != address)
    );
}

#[test]
fn a_grandchild_listens_at_a_path_and_dies_with_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let script = format!(
        "import os,socket,time
if os.fork()==0:
    if os.fork()==0:
        os.setsid()
        s=socket.socket(socket.AF_UNIX); s.bind({path:?}); s.listen()
    time.sleep(60)
time.sleep(60)"
    );
    let mut server = start(&script);
    let ServerEvent::Listens(listening) = next(&mut server) else {
        panic!("no listening");
    };
    assert_eq!(listening.place, Place::Unix(path));
    let pids = server.processes();
    assert_eq!(pids.len(), 3);
    drop(server);
    assert!(pids.into_iter().all(|pid| !is_there(pid)));
}

#[test]
fn a_daemon_is_found_and_what_ignores_sigterm_is_killed() {
    let script = "import os,signal,socket,time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork(): os._exit(0)
os.setsid()
s=socket.socket(); s.bind(('127.0.0.1',0)); s.listen(); time.sleep(60)";
    let mut server = start(script);
    let (mut ended, mut listens) = (false, false);
    while !(ended && listens) {
        match next(&mut server) {
            ServerEvent::Ended(exit) => ended = exit.is_success(),
            ServerEvent::Listens(_) => listens = true,
            other => panic!("{other:?}"),
        }
    }
    server.keep().unwrap();
    let pids = server.processes();
    assert_eq!(pids.len(), 1);
    let stopped = server.stop(1_000_000).unwrap();
    assert_eq!((stopped.killed, stopped.left), (1, 0));
    assert!(!is_there(pids[0]));
}

#[test]
fn a_death_is_reported_with_the_end_of_its_standard_error() {
    let mut server = start("import sys; sys.stderr.write('no such table\\n'); sys.exit(3)");
    assert_eq!(next(&mut server), ServerEvent::Ended(Exit::Code(3)));
    assert_eq!(server.stderr_tail(), b"no such table\n");
    assert_eq!(server.ended(), Some(Exit::Code(3)));
    assert_eq!(server.stop(SOON).unwrap().killed, 0);
}

#[test]
fn a_line_that_is_waited_for_is_seen_on_either_output() {
    for stream in ["stdout", "stderr"] {
        let script = format!(
            "import sys,time
sys.{stream}.write('one\\nready to serve\\n'); sys.{stream}.flush(); time.sleep(60)"
        );
        let options = StartOptions {
            wanted_line: Some("ready".to_string()),
            variables: vec![("PORT".into(), "1".into())],
            ..StartOptions::default()
        };
        let mut server = Server::start(&python(&script), &options).unwrap();
        assert!(
            matches!(next(&mut server), ServerEvent::WroteLine(_)),
            "{stream}"
        );
    }
}

#[test]
fn what_cannot_be_executed_is_refused_with_the_reason() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let command = CommandLine {
        program: file.path().to_path_buf(),
        ..python("")
    };
    let error = Server::start(&command, &StartOptions::default())
        .err()
        .unwrap();
    assert!(
        matches!(error, MeasureError::NotExecutable { .. }),
        "{error}"
    );
    let command = CommandLine {
        directory: Some("/nowhere".into()),
        ..python("")
    };
    let error = Server::start(&command, &StartOptions::default())
        .err()
        .unwrap();
    assert!(matches!(error, MeasureError::Directory { .. }), "{error}");
}

#[test]
fn without_the_filter_listening_is_looked_for() {
    let mut server = start(LISTENS);
    // Act as if the kernel had no such filter; the call itself must still be allowed to continue.
    let calls = match &mut server.running {
        Running::Watched(watch) => watch.pipes.calls.take(),
        _ => None,
    };
    let calls = calls.unwrap();
    let mut polled = [libc::pollfd {
        fd: calls.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    }];
    // SAFETY: one live entry.
    assert_eq!(unsafe { libc::poll(polled.as_mut_ptr(), 1, 20_000) }, 1);
    assert!(filter::next(&calls).is_some());
    let ServerEvent::Listens(listening) = next(&mut server) else {
        panic!("no listening");
    };
    assert!(matches!(listening.seen_by, SeenBy::Look(ns) if ns > 0));
}
